"""Questions on losses: the mean squared error, where broadcasting lurks, and the cross-entropy."""

from typing import Any

import numpy as np

from softlookup.checks.before_you_start.refreshers import PAGE, slip
from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import GRADIENT_CUT
from softlookup.checks.task import Case, Task


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
            part="gradient",
            gradients=(0,),
            upstream=np.array(float(rng.uniform(0.5, 2))),
        ),
    ]


def _error(predicted: Any, target: Any) -> Any:
    import torch

    return torch.nn.functional.mse_loss(predicted.squeeze(1), target)


DIFFERENCE = "difference = predicted[:, 0] - target"
RETURN_MEAN = "return (difference**2).mean()"

ERROR = Task(
    id="00.error",
    name="mean_square",
    title="The mean squared error",
    points=1,
    minutes=3,
    difficulty=2,
    page=PAGE,
    anchor="before-broadcasting",
    returns=("error",),
    cases=_error_cases,
    oracle=_error,
    parts={"core": 0.5, "gradient": 0.5},
    mistakes=(
        slip(
            "broadcasting",
            "every-with-every",
            (DIFFERENCE, "difference = predicted - target"),
            says="Every prediction was compared with every target: (B, 1) minus (B,) is a table (B, B). Give "
            "both the same shape first.",
        ),
        slip(
            "axes",
            "sum-for-mean",
            (RETURN_MEAN, "return (difference**2).sum()"),
            says="This is the sum of the squares: it grows with the batch. Take the mean.",
        ),
        slip(
            "axes",
            "not-averaged",
            (RETURN_MEAN, "return difference**2"),
            says="These are the squares, one for each prediction: their mean is asked for, a single number.",
        ),
        slip(
            "broadcasting",
            "not-squared",
            (RETURN_MEAN, "return difference.mean()"),
            says="The differences are not squared, so those above the target and those below cancel each other.",
        ),
        slip(
            "broadcasting",
            "absolute",
            (RETURN_MEAN, "return difference.abs().mean()"),
            says="This is the mean distance, not the mean square: square the differences.",
        ),
        slip(
            "broadcasting",
            "root",
            (RETURN_MEAN, "return (difference**2).mean().sqrt()"),
            says="The root was taken of the mean square: it is not asked for.",
        ),
        slip(
            "broadcasting",
            "halved",
            (RETURN_MEAN, "return (difference**2).mean() / 2"),
            says="This is half of the mean square. Some books put a half there; it is not asked for.",
        ),
        slip(
            "autograd",
            GRADIENT_CUT,
            (RETURN_MEAN, "return torch.tensor((difference**2).mean().item())"),
            says="The number is right, but no gradient flows back to the predictions: somewhere the tensor leaves the "
            "record (`detach`, `.item()`, numpy, `torch.no_grad`, `torch.tensor(...)`).",
            symptom="no-gradient",
        ),
    ),
)


def _entropy_cases(rng: Rng) -> list[Case]:
    def case(label: str, batch: int, vocabulary: int) -> Case:
        logits = normal(rng, batch, vocabulary, scale=2.0)
        return Case(label, (logits, rng.integers(0, vocabulary, size=batch).astype("int64")))

    # The last row's target is its least likely token: the best guess and the target are never all the same.
    drawn = [case("four rows over six tokens", 4, 6), case("five rows over five tokens", 5, 5), case("one row", 1, 3)]
    for one in drawn:
        logits, target = one.args
        target[-1] = logits[-1].argmin()
    return drawn


def _entropy(logits: Any, target: Any) -> Any:
    import torch

    return torch.nn.functional.cross_entropy(logits, target)


LOG_P = "log_p = torch.log_softmax(logits, dim=-1)"
PICKED = "picked = log_p[torch.arange(len(target)), target]"

CROSS_ENTROPY = Task(
    id="00.cross-entropy",
    name="cross_entropy",
    title="How surprised the model is",
    points=1,
    minutes=3,
    difficulty=2,
    page=PAGE,
    anchor="before-logs",
    returns=("loss",),
    cases=_entropy_cases,
    oracle=_entropy,
    mistakes=(
        slip(
            "logs",
            "sum-for-mean",
            ("-picked.mean()", "-picked.sum()"),
            says="This is the sum over the batch: the mean is asked for.",
            number=63,
        ),
        slip(
            "axes",
            "not-averaged",
            ("-picked.mean()", "-picked"),
            says="These are the surprises, one for each row: their mean is asked for, a single number.",
        ),
        slip(
            "logs",
            "log-of-mean",
            ("-picked.mean()", "-picked.exp().mean().log()"),
            says="The probabilities were averaged first, and the logarithm taken of their mean. It is the logarithms "
            "that are averaged.",
        ),
        slip(
            "logs",
            "minus-forgotten",
            ("-picked.mean()", "picked.mean()"),
            says="The sign is missing: logarithms of shares are negative, and a surprise is not.",
        ),
        slip(
            "logs",
            "no-logarithm",
            (LOG_P, "log_p = torch.softmax(logits, dim=-1)"),
            says="The shares were averaged without their logarithm.",
        ),
        slip(
            "softmax",
            "no-softmax",
            (LOG_P, "log_p = logits"),
            says="The logits were used as if they were logarithms of shares: they go through a softmax first.",
        ),
        slip(
            "logs",
            "softmax-before",
            (LOG_P, "log_p = torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)"),
            says="Softmax ran twice: `cross_entropy` and `log_softmax` of torch take the logits themselves.",
            number=64,
        ),
        slip(
            "axes",
            "over-the-batch",
            ("dim=-1", "dim=0"),
            says="The softmax ran down the batch: each row shares out its own 1 over the tokens.",
            number=8,
        ),
        slip(
            "logs",
            "every-token",
            (PICKED, "picked = log_p"),
            says="All tokens were averaged: only the logarithm at the target counts.",
        ),
        slip(
            "logs",
            "every-target",
            (PICKED, "picked = log_p[:, target]"),
            says="`[:, target]` takes every target in every row, a table (B, B). Row b goes with target b alone: "
            "`[torch.arange(len(target)), target]`.",
        ),
        slip(
            "logs",
            "best-guess",
            (PICKED, "picked = log_p.amax(dim=-1)"),
            says="This is the surprise at the model's best guess: what counts is the target.",
        ),
        slip(
            "logs",
            "powers-of-two",
            (LOG_P, LOG_P + " / math.log(2)"),
            says="This is counted in bits, with logarithms to the base 2: the natural logarithm is asked for.",
        ),
    ),
)
