"""Questions on gradients: one by hand in numpy, and two steps downhill with autograd."""

from typing import Any

import numpy as np

from softlookup.checks.before_you_start.refreshers import PAGE, slip
from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import AUTOGRAD
from softlookup.checks.task import Case, Task

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


BY_HAND = "2 * x.T @ error / len(y)"

GRADIENT = Task(
    id="00.gradient",
    name="gradient_by_hand",
    title="A gradient by hand",
    points=1,
    minutes=3,
    difficulty=2,
    page=PAGE,
    anchor="before-gradients",
    returns=("dL/dw",),
    cases=_gradient_cases,
    oracle=_gradient,
    frame="numpy",
    forbids=AUTOGRAD,
    mistakes=(
        slip(
            "gradients",
            "sum-for-mean",
            (BY_HAND, "2 * x.T @ error"),
            says="This is the gradient of the sum of squares: the loss is their mean, so divide by B.",
        ),
        slip(
            "derivatives",
            "no-two",
            (BY_HAND, "x.T @ error / len(y)"),
            says="The factor 2 is missing: the derivative of a square is twice what was squared.",
        ),
        slip(
            "derivatives",
            "inner-missing",
            (BY_HAND, "2 * error / len(y)"),
            says="The chain rule has a second factor: how each error moves with `w`, which is its row of `x`. So the "
            "gradient has the shape of `w`.",
        ),
        slip(
            "gradients",
            "not-turned",
            (BY_HAND, "2 * x @ error / len(y)"),
            says="This is `x @ error`; it is the transpose that brings the errors back to the places of `w`: "
            "`x.T @ error`.",
        ),
        slip(
            "gradients",
            "not-added",
            (BY_HAND, "2 * x * error[:, None] / len(y)"),
            says="There is one row for each example of the batch: all rows pull at the same `w`, so add them up.",
        ),
        slip(
            "gradients",
            "by-the-width",
            ("len(y)", "x.shape[1]"),
            says="It was divided by D, the length of `w`: the mean runs over the batch, so divide by B.",
        ),
        slip(
            "derivatives",
            "sign-flipped",
            ("x @ w - y", "y - x @ w"),
            says="The sign is the wrong way round. The gradient points uphill, and the error is `x @ w - y`.",
        ),
        slip(
            "derivatives",
            "target-forgotten",
            ("x @ w - y", "x @ w"),
            says="The target `y` is missing in the error.",
        ),
    ),
)


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


LOSS = "loss = ((x @ w - y) ** 2).mean()"
MOVE = "w -= rate * w.grad"
CLEAR = "w.grad = None"

DESCENT = Task(
    id="00.descent",
    name="two_steps",
    title="Two steps downhill",
    points=1,
    minutes=4,
    difficulty=2,
    page=PAGE,
    anchor="before-autograd",
    returns=("w",),
    cases=_descent_cases,
    oracle=_descent,
    forbids=OPTIMISERS,
    mistakes=(
        slip(
            "autograd",
            "not-cleared",
            (CLEAR, "pass"),
            says="The second step still holds the gradient of the first: `backward` adds to `.grad`. Clear it after "
            "each step.",
        ),
        slip(
            "autograd",
            "old-place",
            ("w = w.clone().requires_grad_()", "w = w.clone().requires_grad_()\n    start = w.detach().clone()"),
            (LOSS, "w.data, here = start.clone(), w.data\n        loss = ((x @ w - y) ** 2).mean()"),
            ("loss.backward()", "loss.backward()\n        w.data = here"),
            says="Both steps used the gradient of the first place. Compute loss and gradient anew where the first step "
            "has led.",
        ),
        slip("autograd", "one-step", ("range(2)", "range(1)"), says="This is one step: two are asked for."),
        slip(
            "derivatives",
            "uphill",
            (MOVE, "w += rate * w.grad"),
            says="These steps go uphill: the gradient points to where the loss grows, so subtract it.",
        ),
        slip(
            "autograd",
            "rate-forgotten",
            (MOVE, "w -= w.grad"),
            says="The rate is missing: a step is the rate times the gradient.",
        ),
        slip(
            "derivatives",
            "no-two",
            (MOVE, "w -= rate * w.grad / 2"),
            says="These steps are half as long as they should be: the derivative of a square is twice what was "
            "squared.",
        ),
        slip(
            "axes",
            "sum-for-mean",
            (LOSS, "loss = ((x @ w - y) ** 2).sum()"),
            says="The loss is the mean of the squares, and this is their sum: the steps come out B times as long.",
        ),
        slip(
            "autograd",
            "slope-returned",
            (CLEAR, "slope = w.grad.clone()\n        w.grad = None"),
            ("return w.detach()", "return slope"),
            says="This is the last gradient: the weights after the two steps are asked for.",
        ),
        slip(
            "autograd",
            "given-changed",
            ("w = w.clone().requires_grad_()", "w.requires_grad_()"),
            says="These steps are taken with the caller's own `w`, which is to stay as it was: its numbers, and no "
            "`requires_grad` or `.grad` on it. Begin with a copy, `w.clone()`.",
            symptom="inputs-changed",
        ),
    ),
)
