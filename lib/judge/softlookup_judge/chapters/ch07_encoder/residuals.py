"""Tasks that put parts together: residual connections, and one sublayer with its norm."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described

LAYERS = ("torch.nn.TransformerEncoderLayer", "torch.nn.TransformerEncoder", "torch.nn.Transformer")
"""What must not be called where a sublayer is to be written."""

WHOLE_LAYERS = (*LAYERS, *ATTENTIONS)
"""What must not be called where a layer is to be written."""


def _residual_cases(rng: Rng) -> list[Case]:
    def args(n_layers: int, *shape: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
        d = shape[-1]
        return normal(rng, *shape, dtype=dtype), normal(rng, n_layers, d, d, dtype=dtype, scale=d**-0.5)

    double = args(3, 2, 3, 4, dtype="float64")
    return [
        Case("three layers, B = 2, T = 3, D = 5", args(3, 2, 3, 5)),
        Case("L = T = D = 4", args(4, 4, 4)),
        Case("two layers, T = 5, D = 3", args(2, 5, 3)),
        Case("one layer", args(1, 2, 3, 4)),
        Case(
            "gradients of tokens and weights",
            double,
            gradients=(0, 1),
            upstream=normal(rng, 2, 3, 4, dtype="float64"),
            part="gradient",
        ),
    ]


def _residual(x: Any, w: Any) -> Any:
    """The sum of the start and of what every layer adds, kept apart until the end."""
    import torch

    added = [x]
    for w_l in w.unbind(0):
        state = torch.stack(added).sum(dim=0)
        added.append(torch.nn.functional.linear(state, w_l.mT).clamp(min=0))
    return torch.stack(added).sum(dim=0)


RESIDUAL = described("07.residual", cases=_residual_cases, oracle=_residual, parts={"core": 0.8, "gradient": 0.2})


def hidden_weights(rng: Rng, d: int, f: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    """The weights of a feed-forward network: w_1 (D, F), b_1 (F), w_2 (F, D), b_2 (D)."""
    return (
        normal(rng, d, f, dtype=dtype, scale=d**-0.5),
        normal(rng, f, dtype=dtype, scale=0.5),
        normal(rng, f, d, dtype=dtype, scale=f**-0.5),
        normal(rng, d, dtype=dtype, scale=0.5),
    )


def norm_weights(rng: Rng, n: int, d: int, dtype: str = "float32") -> np.ndarray:
    """Gains near 1.3 and shifts, one row after the other."""
    rows = normal(rng, n, d, dtype=dtype, scale=0.5)
    rows[::2] += rows.dtype.type(1.3)
    return rows


def _sublayer_cases(rng: Rng, norm_first: bool, asked: str) -> list[Case]:
    def args(*shape: int, f: int, dtype: str = "float32", scale: float = 1.0) -> tuple[np.ndarray, ...]:
        d = shape[-1]
        gain, shift = norm_weights(rng, 2, d, dtype)
        return normal(rng, *shape, dtype=dtype, scale=scale), *hidden_weights(rng, d, f, dtype), gain, shift

    double = args(2, 3, 5, f=7, dtype="float64")
    return [
        Case("B = 2, T = 3, D = 5, F = 11", args(2, 3, 5, f=11)),
        Case("B = T = D = F = 4", args(4, 4, 4, f=4)),
        Case("small sizes: T = 8, D = 4, F = 16", args(8, 4, f=16)),
        Case("tokens of small numbers", args(3, 5, f=6, scale=3e-3)),
        Case("float64", double, keeps_dtype=True, part="dtype"),
        Case(
            "gradients of tokens, weights, gain and shift",
            double,
            gradients=(0, 1, 3, 5, 6),
            upstream=normal(rng, 2, 3, 5, dtype="float64"),
            part="gradient",
        ),
    ]


def _sublayer(
    x: Any, w_1: Any, b_1: Any, w_2: Any, b_2: Any, gain: Any, shift: Any, norm_first: bool, asked: str
) -> Any:
    import torch.nn.functional as F

    inside = F.layer_norm(x, gain.shape, gain, shift) if norm_first else x
    y = F.linear(F.linear(inside, w_1.mT, b_1).relu(), w_2.mT, b_2).add(x)
    return y if norm_first else F.layer_norm(y, gain.shape, gain, shift)


SUBLAYER = described(
    "07.sublayer",
    cases=_sublayer_cases,
    oracle=_sublayer,
    parts={"core": 0.8, "gradient": 0.1, "dtype": 0.1},
    forbids=LAYERS,
    variants=(
        {"norm_first": False, "asked": "**norm after the sum** (post-LN)"},
        {"norm_first": True, "asked": "**norm before the sublayer** (pre-LN)"},
    ),
)
