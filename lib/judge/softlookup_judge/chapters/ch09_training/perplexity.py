"""The task on perplexity: from the losses of batches to one number for a whole set."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _perplexity_cases(rng: Rng) -> list[Case]:
    def case(label: str, n: int, dtype: str = "float32") -> Case:
        # torch divides whole numbers in float32.
        tolerance = 1e-6 if dtype == "float64" else None
        return Case(label, (rng.uniform(0.2, 3, n).astype(dtype), rng.integers(1, 90, size=n)), tolerance=tolerance)

    return [
        Case("a long batch and a short one", (np.array([1.0, 4.0], "float32"), np.array([90, 10]))),
        case("five batches", 5),
        case("one batch", 1),
        case("four batches, float64", 4, "float64"),
    ]


def _perplexity(losses: Any, tokens: Any) -> Any:
    return (losses.exp() ** (tokens / tokens.sum().double())).prod()


PERPLEXITY = described("09.perplexity", cases=_perplexity_cases, oracle=_perplexity, forbids=("softlookup.model",))
