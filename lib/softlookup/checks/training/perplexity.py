"""The task on perplexity: from the losses of batches to one number for a whole set."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
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


WEIGHED = "mean = (losses * tokens).sum() / tokens.sum()"
RAISED = "return torch.exp(mean)"

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
    mistakes=(
        known(
            "mean-of-means",
            (WEIGHED, "mean = losses.mean()"),
            says="All batches weigh alike: a batch of ten tokens counts as much as one of ninety. Weigh each by its "
            "tokens.",
            number=63,
        ),
        known(
            "mean-of-perplexities",
            (WEIGHED, "mean = (losses.exp() * tokens).sum() / tokens.sum()"),
            (RAISED, "return mean"),
            says="Perplexities are averaged: average the losses, and raise once. (The mean of powers is larger than "
            "the power of the mean.)",
            number=63,
        ),
        known(
            "not-weighed",
            (WEIGHED, "mean = losses.sum() / tokens.sum()"),
            says="The losses are divided by the tokens, but they are means already: multiply each by its tokens first.",
            number=63,
        ),
        known(
            "by-batches",
            (WEIGHED, "mean = (losses * tokens).sum() / len(losses)"),
            says="The sum over tokens is divided by the number of batches: divide by the number of tokens.",
            number=63,
        ),
        known(
            "two-for-e",
            (RAISED, "return 2.0**mean"),
            says="2 is raised to the loss: that is right for bits. These losses are in nats: e.",
        ),
        known("not-raised", (RAISED, "return mean"), says="This is the mean loss: perplexity is e raised to it."),
        known(
            "inverted",
            (RAISED, "return torch.exp(-mean)"),
            says="It is turned over: this is the (geometric) mean probability of the right word; perplexity is one "
            "over it.",
        ),
        known(
            "summed",
            (WEIGHED, "mean = (losses * tokens).sum()"),
            says="The sum of all losses is raised: divide by the number of tokens first.",
        ),
    ),
)
