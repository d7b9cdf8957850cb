"""Questions on tensors, losses and gradients: along which axis, what broadcasting does, and two steps downhill."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import backward, graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.forbidden import AUTOGRAD
from softlookup_judge.chapters.oracles import torch


def _share_cases(rng: Rng) -> list[Case]:
    def case(label: str, *shape: int) -> Case:
        counts = rng.integers(0, 9, size=shape)
        counts[..., -1] += 1  # so that no row is empty
        return Case(label, (counts.astype("int64"),))

    return [
        case("three rows of five", 3, 5),
        case("four rows of four", 4, 4),
        case("two tables", 2, 3, 4),
        case("three tables of three rows of three", 3, 3, 3),
        case("four axes", 2, 3, 2, 5),
        case("one row", 1, 6),
        case("rows of one number", 4, 1),
    ]


@graded("00.shares", _share_cases)
def _shares(counts: Any) -> Any:
    return torch.nn.functional.normalize(counts.double(), p=1.0, dim=-1)


def _transpose_cases(rng: Rng) -> list[Case]:
    return [
        Case("two sentences of three tokens, D = 4", (normal(rng, 2, 3, 4),)),
        Case("equal sizes", (normal(rng, 3, 3, 3),)),
        Case("as many sentences as tokens", (normal(rng, 4, 4, 5),)),
        Case("as many tokens as numbers", (normal(rng, 2, 4, 4),)),
        Case("float64", (doubles(rng, 3, 2, 5),), keeps_dtype=True),
    ]


@graded("00.transpose", _transpose_cases)
def _transpose(x: Any) -> Any:
    return torch.einsum("btd->bdt", x)


def _error_cases(rng: Rng) -> list[Case]:
    def case(label: str, batch: int, dtype: str = "float32") -> Case:
        return Case(label, (normal(rng, batch, 1, dtype=dtype), normal(rng, batch, dtype=dtype)))

    return [
        case("five predictions", 5),
        case("three predictions", 3),
        case("one prediction", 1),
        case("seven predictions in float64", 7, "float64"),
        Case(
            "the gradient for four predictions",
            (normal(rng, 4, 1), normal(rng, 4)),
            **backward(np.array(float(rng.uniform(0.5, 2))), 0),
        ),
    ]


@graded("00.error", _error_cases, parts={"core": 0.5, "gradient": 0.5})
def _error(predicted: Any, target: Any) -> Any:
    return torch.nn.functional.mse_loss(predicted.squeeze(1), target)


def _entropy_cases(rng: Rng) -> list[Case]:
    def case(label: str, batch: int, vocabulary: int) -> Case:
        logits = normal(rng, batch, vocabulary, scale=2.0)
        return Case(label, (logits, rng.integers(0, vocabulary, size=batch).astype("int64")))

    # The last row's target is its least likely token: the best guess and the target are never all the same.
    cases = [case("four rows over six tokens", 4, 6), case("five rows over five tokens", 5, 5), case("one row", 1, 3)]
    for drawn_case in cases:
        logits, target = drawn_case.args
        target[-1] = logits[-1].argmin()
    return cases


@graded("00.cross-entropy", _entropy_cases)
def _entropy(logits: Any, target: Any) -> Any:
    return torch.nn.functional.cross_entropy(logits, target)


OPTIMISERS = ("torch.optim", "torch.optim.SGD")
"""A step is to be written out; besides, torch's first optimiser loads its compiler, for seconds on a busy machine."""


def _gradient_cases(rng: Rng) -> list[Case]:
    def case(label: str, batch: int, width: int) -> Case:
        x, w, y = (doubles(rng, *shape) for shape in ((batch, width), (width,), (batch,)))
        return Case(label, (x, w, y), tolerance=1e-6)

    return [
        case("five rows, D = 3", 5, 3),
        case("four rows, D = 4", 4, 4),
        case("one row, D = 2", 1, 2),
        case("six rows, D = 1", 6, 1),
    ]


@graded("00.gradient", _gradient_cases, frame="numpy", forbids=AUTOGRAD)
def _gradient(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> np.ndarray:
    leaf = torch.from_numpy(w).requires_grad_(True)
    torch.nn.functional.mse_loss(torch.from_numpy(x) @ leaf, torch.from_numpy(y)).backward()
    assert leaf.grad is not None
    return leaf.grad.numpy()


def _descent_cases(rng: Rng) -> list[Case]:
    def case(label: str, batch: int, width: int, dtype: str = "float32") -> Case:
        x, w, y = (normal(rng, *shape, dtype=dtype) for shape in ((batch, width), (width,), (batch,)))
        return Case(label, (w, x, y, float(np.round(rng.uniform(0.05, 0.3), 3))))

    return [
        case("five rows, D = 3", 5, 3),
        case("four rows, D = 4, float64", 4, 4, "float64"),
        case("one row, D = 2", 1, 2),
        case("six rows, D = 1, float64", 6, 1, "float64"),
    ]


@graded("00.descent", _descent_cases, forbids=OPTIMISERS)
def _descent(w: Any, x: Any, y: Any, rate: float) -> Any:
    """The closed form: away from the best weights, one step is a product with a matrix."""
    step = torch.eye(len(w), dtype=w.dtype) - 2 * rate / len(y) * x.mT @ x
    moved = 2 * rate / len(y) * x.mT @ y
    return step @ (step @ w + moved) + moved
