"""The task on perplexity: from the losses of batches to one number for a whole set."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.task import Case, Task
from softlookup.checks.training.page import PAGE


def _perplexity_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, dtype: str = "float32") -> Case:
        return Case(label, (rng.uniform(0.2, 3, n).astype(dtype), rng.integers(1, 90, size=n)))

    return [
        Case("a long batch and a short one", (np.array([1.0, 4.0], "float32"), np.array([90, 10]))),
        case("five batches", 5),
        case("one batch", 1),
        case("four batches, float64", 4, "float64"),
    ]


def _perplexity(losses: Any, tokens: Any) -> Any:
    return (losses.exp() ** (tokens / tokens.sum().double())).prod()


PERPLEXITY = Task(
    id="09.perplexity",
    name="perplexity",
    title="Perplexity of a whole set",
    points=2,
    minutes=5,
    difficulty=1,
    page=PAGE,
    anchor="training-perplexity",
    returns=("perplexity",),
    cases=_perplexity_cases,
    oracle=_perplexity,
    forbids=("softlookup.model",),
)
