"""The task on perplexity: from the losses of batches to one number for a whole set."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task
from softlookup.checks.training.page import PAGE, Flags


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


def perplexity(flags: Flags, losses: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Perplexity over batches, with mistakes."""

    def raised(x: Any) -> Any:
        x = -x if "inverted" in flags else x
        return x if "not-raised" in flags else np.exp2(x) if "two-for-e" in flags else np.exp(x)

    tokens = tokens.astype(losses.dtype)
    if "mean-of-perplexities" in flags:
        weights = np.ones_like(tokens) if "mean-of-means" in flags else tokens
        return np.asarray((raised(losses) * weights).sum() / weights.sum())
    if "mean-of-means" in flags:
        return np.asarray(raised(losses.mean()))
    total = losses.sum() if "not-weighed" in flags else (losses * tokens).sum()
    count = len(losses) if "by-batches" in flags else tokens.sum()
    return np.asarray(raised(total if "summed" in flags else (total / count).astype(losses.dtype)))


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
    mistaken=perplexity,
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
