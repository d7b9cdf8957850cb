"""Tasks of one step each (project, score, scale, mix), of numbers by hand, and backwards through softmax and head."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.cases import LARGE, graded, variants_by
from softlookup_judge.chapters.draws import Rng, doubles, large_logits, normal, softmax
from softlookup_judge.chapters.forbidden import ATTENTIONS, AUTOGRAD
from softlookup_judge.chapters.oracles import torch


def _project_cases(rng: Rng) -> list[Case]:
    def weights(d: int, h: int) -> tuple[np.ndarray, ...]:
        return normal(rng, d, h), normal(rng, d, h), normal(rng, d, h)

    return [
        Case("two sequences of three tokens, D = 5, H = 4", (normal(rng, 2, 3, 5), *weights(5, 4))),
        Case("four tokens, D = H = 4", (normal(rng, 4, 4), *weights(4, 4))),
        Case("one token, D = 3, H = 2", (normal(rng, 1, 3), *weights(3, 2))),
        Case("four axes", (normal(rng, 2, 3, 4, 5), *weights(5, 2))),
    ]


@graded("04.project", _project_cases)
def _project(x: Any, w_q: Any, w_k: Any, w_v: Any) -> Any:
    linear = torch.nn.functional.linear
    return linear(x, w_q.mT), linear(x, w_k.mT), linear(x, w_v.mT)


def _scores_cases(rng: Rng) -> list[Case]:
    return [
        Case("three queries, five keys", draws.qkv(rng, (), 3, 5, 4, 1)[:2]),
        Case("two sequences", draws.qkv(rng, (2,), 3, 5, 4, 1)[:2]),
        Case("four tokens of width four", draws.qkv(rng, (), 4, 4, 4, 1)[:2]),
        Case("four axes (B, N, T, H)", draws.qkv(rng, (2, 3), 5, 4, 6, 1)[:2]),
        Case("four axes of equal sizes", draws.qkv(rng, (3, 3), 3, 3, 3, 1)[:2]),
    ]


@graded("04.scores", _scores_cases)
def _scores(q: Any, k: Any) -> Any:
    return torch.einsum("...th,...sh->...ts", q, k)


def _scale_cases(rng: Rng, tau: float) -> list[Case]:
    return [
        Case("three queries, five keys, H = 7", (normal(rng, 3, 5), 7)),
        Case("two sequences, H = 64", (normal(rng, 2, 4, 3, scale=8), 64)),
        Case("four axes, H = 16", (normal(rng, 2, 3, 4, 6, scale=4), 16)),
    ]


@graded("04.scale", _scale_cases, variants=variants_by(tau=(1.0, 2.0, 0.5, 4.0, 0.25, 3.0, 0.75, 1.5, 5.0)))
def _scale(scores: Any, head_width: int, tau: float) -> Any:
    return scores * (head_width**-0.5 / tau)


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


@graded("04.mix", _mix_cases)
def _mix(weights: Any, v: Any) -> Any:
    return torch.einsum("...ts,...sh->...th", weights, v)


EXAMPLE_TWO = np.array([[1.0, 0.5, 0.2], [0.8, 1.2, 0.3], [0.6, 0.9, 1.1], [1.1, 0.4, 0.7], [0.9, 0.7, 0.8]])
"""The token vectors of the second worked example; projections are the identity there."""


def _by_hand_cases(rng: Rng, token: int, ordinal: str) -> list[Case]:
    return [Case("the five rows of X", (), tolerance=0.0051, absolute=True)]


@graded(
    "04.by-hand",
    _by_hand_cases,
    frame="plain",
    reveals=False,
    variants=tuple({"token": i, "ordinal": str(i + 1)} for i in range(5)),
)
def _by_hand(token: int, ordinal: str) -> np.ndarray:
    return np.einsum("d,sd->s", EXAMPLE_TWO[token], EXAMPLE_TWO) * 3**-0.5


def _column_cases(rng: Rng) -> list[Case]:
    def case(label: str, s: int, h: int, hv: int) -> Case:
        return Case(label, (normal(rng, h), normal(rng, s, h), normal(rng, s, hv)))

    q_big, k_big = large_logits(rng, 3, 5)
    return [
        case("five keys of width four", 5, 4, 3),
        case("three keys, H = 64", 3, 64, 2),
        case("four keys of width four, values as wide", 4, 4, 4),
        case("one key", 1, 3, 3),
        *(
            Case(label, (query, k_big, normal(rng, 5, 2)), **LARGE)
            for label, query in (("scores in the thousands", q_big[0]), ("and most of them below 0", q_big[-1]))
        ),
    ]


@graded("04.column", _column_cases, parts={"core": 0.9, "large": 0.1}, forbids=ATTENTIONS)
def _column(q: Any, k: Any, v: Any) -> Any:
    return torch.nn.functional.scaled_dot_product_attention(q[None], k, v)[0]


def _spread_cases(rng: Rng) -> list[Case]:
    widths = (1, 3, 16, 64, int(rng.integers(5, 100)))
    return [
        Case(
            f"H = {h}",
            (h, float(np.round(rng.uniform(0.3, 3), 3)), float(np.round(rng.uniform(0.3, 3), 3))),
            tolerance=1e-6,
        )
        for h in widths
    ]


@graded("04.spread", _spread_cases, frame="plain")
def _spread(head_width: int, sigma_q: float, sigma_k: float) -> float:
    return float(np.linalg.norm(np.full(head_width, sigma_q * sigma_k)))


def _cost_cases(rng: Rng) -> list[Case]:
    sizes = ((1, 5, 5, 4), (1, 1000, 1000, 2), (8, 128, 77, 2), (3, 1, 4096, 1))
    random_sizes = tuple(int(n) for n in rng.integers(2, 50, size=3))
    return [Case(f"(batch, T, S, bytes) = {args}", args) for args in (*sizes, (*random_sizes, 8))]


@graded("04.cost", _cost_cases, frame="plain")
def _cost(batch: int, n_queries: int, n_keys: int, bytes_per_number: int) -> int:
    return int(np.prod([batch, n_queries, n_keys, bytes_per_number]))


def _soft_cases(rng: Rng) -> list[Case]:
    def case(label: str, *shape: int) -> Case:
        a = softmax(doubles(rng, *shape))
        return Case(label, (a, doubles(rng, *shape)), tolerance=1e-6)

    return [
        case("three rows of five", 3, 5),
        case("four rows of four", 4, 4),
        case("two sequences", 2, 3, 4),
        case("one row", 1, 6),
        case("one axis", 5),
        case("four axes", 2, 2, 3, 4),
    ]


@graded("04.softmax-backward", _soft_cases, frame="numpy", forbids=AUTOGRAD)
def _autograd_softmax(a: np.ndarray, da: np.ndarray) -> np.ndarray:
    """Torch's own derivative: log a are scores that give these weights."""
    scores = torch.from_numpy(np.log(a)).requires_grad_(True)
    torch.softmax(scores, dim=-1).backward(torch.from_numpy(da))
    assert scores.grad is not None
    return scores.grad.numpy()


def _backward_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, s: int, h: int, hv: int) -> Case:
        qkv = draws.qkv(rng, (), t, s, h, hv, dtype="float64")
        return Case(label, (*qkv, doubles(rng, t, hv)), tolerance=1e-6)

    big = tuple(a.astype("float64") for a in draws.large_logits(rng, 3, 4))
    outside = (doubles(rng, 4, 2), doubles(rng, 3, 2))
    return [
        case("three queries, five keys, H = 4", 3, 5, 4, 2),
        case("four tokens of width four", 4, 4, 4, 4),
        case("one query", 1, 3, 2, 5),
        Case("scores in the thousands", (*big, *outside), part="large", tolerance=1e-6),
    ]


@graded("04.backward", _backward_cases, frame="numpy", forbids=AUTOGRAD, parts={"core": 0.9, "large": 0.1})
def _autograd_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, dz: np.ndarray) -> tuple[np.ndarray, ...]:
    leaves: list[Any] = [torch.from_numpy(a).requires_grad_(True) for a in (q, k, v)]
    torch.nn.functional.scaled_dot_product_attention(*leaves).backward(torch.from_numpy(dz))
    return tuple(leaf.grad.numpy() for leaf in leaves)
