"""Tasks on tokens that are no words: patches, frames of sound, and the sequence that an encoder gets."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch

ORDERS = ((0, 2, 4, 1, 3, 5), (0, 2, 4, 3, 5, 1))
"""For each variant: the axes of what stands inside a patch come last, channel by channel or pixel by pixel."""
NAMED = (
    "channel by channel, in each channel row by row",
    "pixel by pixel, row by row, the channels of a pixel side by side",
)


def _patch_cases(rng: Rng, order: tuple[int, ...], wording: str) -> list[Case]:
    return [
        Case("two pictures of 3 channels, 4 x 6 pixels, patches of 2", (normal(rng, 2, 3, 4, 6), 2)),
        Case("three pictures of 3 channels, 9 x 9 pixels, patches of 3", (normal(rng, 3, 3, 9, 9), 3)),
        Case("one channel, 8 x 8 pixels, patches of 2, as the digits", (normal(rng, 2, 1, 8, 8), 2)),
        Case("two channels, 4 x 4 pixels, patches of 2", (normal(rng, 2, 2, 4, 4), 2)),
        Case("one patch is the whole picture", (normal(rng, 2, 2, 3, 3), 3)),
        Case("a patch is a pixel", (normal(rng, 1, 2, 2, 5), 1)),
        Case("higher than wide", (normal(rng, 1, 2, 8, 4), 4)),
    ]


@graded(
    "13.patches",
    _patch_cases,
    variants=tuple({"order": order, "wording": wording} for order, wording in zip(ORDERS, NAMED, strict=True)),
)
def _patches(images: Any, patch: int, order: tuple[int, ...], wording: str) -> Any:
    """Torch's unfold, which gives patches as columns."""
    rows = torch.nn.functional.unfold(images, patch, stride=patch).transpose(1, 2)
    if order == ORDERS[0]:
        return rows
    return rows.unflatten(-1, (images.shape[1], patch * patch)).transpose(-1, -2).flatten(-2)


def _kernel_cases(rng: Rng) -> list[Case]:
    upstream = doubles(rng, 4, 3, 2, 2)
    return [
        Case("C = 3, P = 2, D = 5", (normal(rng, 12, 5), 3, 2)),
        Case("C = 1, P = 3, D = 4", (normal(rng, 9, 4), 1, 3)),
        Case("C = 2, P = 2, D = 8: a square of weights", (normal(rng, 8, 8), 2, 2)),
        Case("C = P = D = 3", (normal(rng, 27, 3), 3, 3)),
        Case("C = P = 2, D = 3", (normal(rng, 8, 3), 2, 2)),
        Case("the gradient", (doubles(rng, 12, 4), 3, 2), **backward(upstream, 0)),
    ]


@graded("13.kernel", _kernel_cases, parts={"core": 0.85, "gradient": 0.15})
def _kernel(w: Any, channels: int, patch: int) -> Any:
    """Number by number: where a pixel's row stands in w."""
    rows = [[[w[(c * patch + i) * patch + j] for j in range(patch)] for i in range(patch)] for c in range(channels)]
    return torch.stack([torch.stack([torch.stack(row) for row in plane]) for plane in rows]).movedim(-1, 0)


def _frame_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sounds of 10 samples, frames of 4, a hop of 2", (normal(rng, 2, 10), 4, 2)),
        Case("an end that fills no frame: 12 samples, frames of 5, a hop of 3", (normal(rng, 3, 12), 5, 3)),
        Case("frames side by side: 12 samples, frames of 3, a hop of 3", (normal(rng, 1, 12), 3, 3)),
        Case("gaps between them: 11 samples, frames of 2, a hop of 4", (normal(rng, 2, 11), 2, 4)),
        Case("B = 4, frames of 4, a hop of 1, 7 samples: T = 4", (normal(rng, 4, 7), 4, 1)),
        Case("one frame, and nothing is left", (normal(rng, 2, 6), 6, 2), part="one"),
    ]


@graded("13.frames", _frame_cases, parts={"core": 0.9, "one": 0.1})
def _frames(samples: Any, width: int, hop: int) -> Any:
    return samples.unfold(-1, width, hop)


def _token_args(rng: Rng, b: int, t: int, m: int, d: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    shapes = ((b, t, m), (m, d), (d,), (d,), (t + 1, d))
    return tuple(normal(rng, *shape, dtype=dtype) for shape in shapes)


def _token_cases(rng: Rng) -> list[Case]:
    upstream = doubles(rng, 2, 4, 5)
    return [
        Case("B = 2, T = 6, M = 12, D = 5", _token_args(rng, 2, 6, 12, 5)),
        Case("the digits' sizes: T = 16, M = 4, D = 8", _token_args(rng, 3, 16, 4, 8)),
        Case("B = 4, T = 3, M = D = 6", _token_args(rng, 4, 3, 6, 6)),
        Case("B = T + 1 = 4, D = 4", _token_args(rng, 4, 3, 2, 4)),
        Case("one patch", _token_args(rng, 2, 1, 3, 4)),
        Case("one picture of one patch, M = 1", _token_args(rng, 1, 1, 1, 3)),
        Case("one picture, D = 1", _token_args(rng, 1, 3, 2, 1)),
        Case("gradients of all five", _token_args(rng, 2, 3, 4, 5, "float64"), **backward(upstream, 0, 1, 2, 3, 4)),
    ]


@graded("13.tokens", _token_cases, parts={"core": 0.85, "gradient": 0.15}, cuts=False)
def _tokens(patches: Any, w: Any, b: Any, class_token: Any, positions: Any) -> Any:
    """Into a table of the right size: linear first, then one row in front."""
    projections = torch.nn.functional.linear(patches, w.T, b)
    first = torch.stack([class_token] * len(patches))[:, None]
    return torch.stack([torch.vstack([f, rows]).add(positions) for f, rows in zip(first, projections, strict=True)])
