"""Tasks that go backwards by hand, in numpy: through the softmax, and through one head."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.draws import Rng, normal, softmax
from softlookup_judge.chapters.forbidden import AUTOGRAD
from softlookup_judge.data.published import described


def _soft_cases(rng: Rng) -> list[Case]:
    def case(label: str, *shape: int) -> Case:
        a = softmax(normal(rng, *shape, dtype="float64"))
        return Case(label, (a, normal(rng, *shape, dtype="float64")), frame="numpy", tolerance=1e-6)

    return [
        case("three rows of five", 3, 5),
        case("four rows of four", 4, 4),
        case("two sequences", 2, 3, 4),
        case("one row", 1, 6),
        case("one axis", 5),
        case("four axes", 2, 2, 3, 4),
    ]


def _autograd_softmax(a: np.ndarray, da: np.ndarray) -> np.ndarray:
    """Torch's own derivative: log a are scores that give these weights."""
    import torch

    scores = torch.from_numpy(np.log(a)).requires_grad_(True)
    torch.softmax(scores, dim=-1).backward(torch.from_numpy(da))
    assert scores.grad is not None
    return scores.grad.numpy()


SOFTMAX_BACKWARD = described(
    "04.softmax-backward", cases=_soft_cases, oracle=_autograd_softmax, frame="numpy", forbids=AUTOGRAD
)


def _backward_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, s: int, h: int, hv: int) -> Case:
        qkv = draws.qkv(rng, (), t, s, h, hv, dtype="float64")
        return Case(label, (*qkv, normal(rng, t, hv, dtype="float64")), frame="numpy", tolerance=1e-6)

    big = tuple(a.astype("float64") for a in draws.large_logits(rng, 3, 4))
    outside = (normal(rng, 4, 2, dtype="float64"), normal(rng, 3, 2, dtype="float64"))
    return [
        case("three queries, five keys, H = 4", 3, 5, 4, 2),
        case("four tokens of width four", 4, 4, 4, 4),
        case("one query", 1, 3, 2, 5),
        Case("scores in the thousands", (*big, *outside), frame="numpy", part="large", tolerance=1e-6),
    ]


def _autograd_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, dz: np.ndarray) -> tuple[np.ndarray, ...]:
    import torch

    leaves: list[Any] = [torch.from_numpy(a).requires_grad_(True) for a in (q, k, v)]
    torch.nn.functional.scaled_dot_product_attention(*leaves).backward(torch.from_numpy(dz))
    return tuple(leaf.grad.numpy() for leaf in leaves)


BACKWARD = described(
    "04.backward",
    cases=_backward_cases,
    oracle=_autograd_attention,
    frame="numpy",
    forbids=AUTOGRAD,
    parts={"core": 0.9, "large": 0.1},
)
