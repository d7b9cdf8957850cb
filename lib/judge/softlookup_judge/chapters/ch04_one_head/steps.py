"""Tasks of one step each: project, score, scale, mix."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _project_cases(rng: Rng) -> list[Case]:
    def weights(d: int, h: int) -> tuple[np.ndarray, ...]:
        return normal(rng, d, h), normal(rng, d, h), normal(rng, d, h)

    return [
        Case("two sequences of three tokens, D = 5, H = 4", (normal(rng, 2, 3, 5), *weights(5, 4))),
        Case("four tokens, D = H = 4", (normal(rng, 4, 4), *weights(4, 4))),
        Case("one token, D = 3, H = 2", (normal(rng, 1, 3), *weights(3, 2))),
        Case("four axes", (normal(rng, 2, 3, 4, 5), *weights(5, 2))),
    ]


def _project(x: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    import torch

    linear = torch.nn.functional.linear
    return linear(x, w_q.mT), linear(x, w_k.mT), linear(x, w_v.mT)


PROJECT = described("04.project", cases=_project_cases, oracle=_project)


def _scores_cases(rng: Rng) -> list[Case]:
    return [
        Case("three queries, five keys", draws.qkv(rng, (), 3, 5, 4, 1)[:2]),
        Case("two sequences", draws.qkv(rng, (2,), 3, 5, 4, 1)[:2]),
        Case("four tokens of width four", draws.qkv(rng, (), 4, 4, 4, 1)[:2]),
        Case("four axes (B, N, T, H)", draws.qkv(rng, (2, 3), 5, 4, 6, 1)[:2]),
        Case("four axes of equal sizes", draws.qkv(rng, (3, 3), 3, 3, 3, 1)[:2]),
    ]


def _scores(q: Any, k: Any) -> Any:
    import torch

    return torch.einsum("...th,...sh->...ts", q, k)


SCORES = described("04.scores", cases=_scores_cases, oracle=_scores)


def _scale_cases(rng: Rng, tau: float) -> list[Case]:
    return [
        Case("three queries, five keys, H = 7", (normal(rng, 3, 5), 7)),
        Case("two sequences, H = 64", (normal(rng, 2, 4, 3, scale=8), 64)),
        Case("four axes, H = 16", (normal(rng, 2, 3, 4, 6, scale=4), 16)),
    ]


def _scale(scores: Any, head_width: int, tau: float) -> Any:
    return scores * (head_width**-0.5 / tau)


SCALE = described(
    "04.scale",
    cases=_scale_cases,
    oracle=_scale,
    variants=tuple({"tau": tau} for tau in (1.0, 2.0, 0.5, 4.0, 0.25, 3.0, 0.75, 1.5, 5.0)),
)


def _mix_cases(rng: Rng) -> list[Case]:
    def weights(*shape: int) -> np.ndarray:
        e = np.exp(rng.standard_normal(shape))
        return (e / e.sum(axis=-1, keepdims=True)).astype("float32")

    blind = weights(3, 5)
    blind[1] = 0.0
    return [
        Case("three queries, five values", (weights(3, 5), normal(rng, 5, 4))),
        Case("four tokens of width four", (weights(4, 4), normal(rng, 4, 4))),
        Case("two sequences", (weights(2, 3, 5), normal(rng, 2, 5, 4))),
        Case("four axes", (weights(2, 3, 4, 6), normal(rng, 2, 3, 6, 5))),
        Case("a row of weights that is all 0", (blind, normal(rng, 5, 4))),
    ]


def _mix(weights: Any, v: Any) -> Any:
    import torch

    return torch.einsum("...ts,...sh->...th", weights, v)


MIX = described("04.mix", cases=_mix_cases, oracle=_mix)
