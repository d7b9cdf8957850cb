"""Questions on gradients: one by hand in numpy, and two steps downhill with autograd."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import AUTOGRAD
from softlookup_judge.data.published import described

OPTIMISERS = ("torch.optim", "torch.optim.SGD")
"""A step is to be written out; besides, torch's first optimiser loads its compiler, for seconds on a busy machine."""


def _gradient_cases(rng: Rng) -> list[Case]:
    def case(label: str, batch: int, width: int) -> Case:
        x, w, y = (normal(rng, *shape, dtype="float64") for shape in ((batch, width), (width,), (batch,)))
        return Case(label, (x, w, y), frame="numpy", tolerance=1e-6)

    return [
        case("five rows, D = 3", 5, 3),
        case("four rows, D = 4", 4, 4),
        case("one row, D = 2", 1, 2),
        case("six rows, D = 1", 6, 1),
    ]


def _gradient(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> np.ndarray:
    import torch

    leaf = torch.from_numpy(w).requires_grad_(True)
    torch.nn.functional.mse_loss(torch.from_numpy(x) @ leaf, torch.from_numpy(y)).backward()
    assert leaf.grad is not None
    return leaf.grad.numpy()


GRADIENT = described("00.gradient", cases=_gradient_cases, oracle=_gradient, frame="numpy", forbids=AUTOGRAD)


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


def _descent(w: Any, x: Any, y: Any, rate: float) -> Any:
    """The closed form: away from the best weights, one step is a product with a matrix."""
    import torch

    step = torch.eye(len(w), dtype=w.dtype) - 2 * rate / len(y) * x.mT @ x
    moved = 2 * rate / len(y) * x.mT @ y
    return step @ (step @ w + moved) + moved


DESCENT = described("00.descent", cases=_descent_cases, oracle=_descent, forbids=OPTIMISERS)
