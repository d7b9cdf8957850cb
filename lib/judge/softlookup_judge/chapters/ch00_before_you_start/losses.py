"""Questions on losses: the mean squared error, where broadcasting lurks, and the cross-entropy."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


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


ERROR = described("00.error", cases=_error_cases, oracle=_error, parts={"core": 0.5, "gradient": 0.5})


def _entropy_cases(rng: Rng) -> list[Case]:
    def case(label: str, batch: int, vocabulary: int) -> Case:
        logits = normal(rng, batch, vocabulary, scale=2.0)
        return Case(label, (logits, rng.integers(0, vocabulary, size=batch).astype("int64")))

    # The last row's target is its least likely token: the best guess and the target are never all the same.
    drawn = [case("four rows over six tokens", 4, 6), case("five rows over five tokens", 5, 5), case("one row", 1, 3)]
    for drawn_case in drawn:
        logits, target = drawn_case.args
        target[-1] = logits[-1].argmin()
    return drawn


def _entropy(logits: Any, target: Any) -> Any:
    import torch

    return torch.nn.functional.cross_entropy(logits, target)


CROSS_ENTROPY = described("00.cross-entropy", cases=_entropy_cases, oracle=_entropy)
