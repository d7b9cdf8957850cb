"""The whole soft lookup, for many queries at once."""

from typing import Any

import numpy as np

from softlookup.checks.draws import LARGE_TOLERANCE, Rng, large_logits, normal
from softlookup.checks.known import ATTENTIONS, known
from softlookup.checks.soft_lookup.page import ONE_MAX, PAGE
from softlookup.checks.task import Case, Task


def _lookup_cases(rng: Rng, tau: float) -> list[Case]:
    def case(label: str, t: int, s: int, h: int, w: int) -> Case:
        drawn = tuple(normal(rng, *shape, dtype="float64") for shape in ((t, h), (s, h), (s, w)))
        return Case(label, drawn, frame="numpy", tolerance=1e-9)

    q, k = (a.astype("float64") for a in large_logits(rng, 3, 5))
    return [
        case("three queries, five keys of width four, values of width two", 3, 5, 4, 2),
        case("four queries, keys and values of width four", 4, 4, 4, 4),
        case("two queries, three keys, values as wide as keys", 2, 3, 5, 5),
        case("three queries, six keys of width seven", 3, 6, 7, 3),
        case("one query", 1, 4, 3, 2),
        case("one key", 3, 1, 2, 4),
        Case(
            "scores in the thousands",
            (q, k, normal(rng, 5, 3, dtype="float64")),
            frame="numpy",
            part="large",
            tolerance=LARGE_TOLERANCE,
        ),
    ]


def _lookup(q: np.ndarray, k: np.ndarray, v: np.ndarray, tau: float) -> Any:
    import torch

    queries, keys, values = (torch.as_tensor(one)[None, None] for one in (q, k, v))
    attended = torch.nn.functional.scaled_dot_product_attention(queries, keys, values, scale=1 / tau)
    return attended[0, 0].numpy()


DOTS = "scores = q @ k.T"
WEIGHED = "lookup_weights(scores, tau)"
MADE = f"weights = {WEIGHED}"
MIXED = "return weights @ v"

LOOKUP = Task(
    id="02.lookup",
    name="soft_lookup",
    title="A soft lookup, whole",
    points=4,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="soft-lookup-whole",
    returns=("answers",),
    cases=_lookup_cases,
    oracle=_lookup,
    frame="numpy",
    parts={"core": 0.8, "large": 0.2},
    forbids=ATTENTIONS,
    variants=({"tau": 0.5}, {"tau": 3.0}, {"tau": 0.25}, {"tau": 1.5}),
    mistakes=(
        known(
            "tau-ignored",
            (WEIGHED, "lookup_weights(scores, 1.0)"),
            says="The temperature has no effect: this task asks for one that is not 1.",
        ),
        known(
            "tau-multiplied",
            (WEIGHED, "lookup_weights(scores, 1 / tau)"),
            says="The scores are multiplied by the temperature: they are divided by it.",
            number=75,
        ),
        known(
            "scaled",
            (DOTS, f"{DOTS} / np.sqrt(q.shape[-1])"),
            says="The scores are divided by sqrt(H) as well: that is attention's own temperature, and comes in "
            "chapter 4. Here only tau is asked for.",
        ),
        known(
            "cosine-for-dot",
            (DOTS, "scores = similarity(q, k)"),
            says="The scores are cosines: this task asks for plain dot products, whose size counts.",
        ),
        known(
            "keys-as-values",
            (MIXED, "return weights @ k"),
        ),
        known(
            "compared-with-values",
            (DOTS, "scores = q @ v.T"),
            says="The queries are compared with the values: they are compared with the keys; values only speak.",
        ),
        known(
            "keys-and-values-exchanged",
            (DOTS, "k, v = v, k\n    scores = q @ k.T"),
            says="Keys and values have changed places: the query meets the keys, and the values are mixed.",
        ),
        known("queries-with-queries", (DOTS, "scores = q @ q.T")),
        known(
            "swapped",
            (DOTS, "scores = k @ q.T"),
            says="Query and key have changed places: row t belongs to query t, so the product is q times k transposed.",
        ),
        known("over-queries", (WEIGHED, "lookup_weights(scores.T, tau).T")),
        known("whole-matrix", (WEIGHED, "lookup_weights(scores.ravel(), tau).reshape(scores.shape)")),
        known("hard-argmax", (WEIGHED, "(scores == scores.max(axis=-1, keepdims=True)).astype(float)")),
        known("no-softmax", (WEIGHED, "scores / tau")),
        known("softmax-twice", (WEIGHED, f"lookup_weights({WEIGHED}, 1.0)")),
        known("not-normalised", (WEIGHED, "np.exp(scores / tau - (scores / tau).max(axis=-1, keepdims=True))")),
        known("no-max", (WEIGHED, "np.exp(scores / tau) / np.exp(scores / tau).sum(axis=-1, keepdims=True)")),
        known(
            "one-max-for-all",
            (
                MADE,
                "u = scores / tau\n    e = np.exp(u - u.max())\n    weights = e / e.sum(axis=-1, keepdims=True)",
            ),
            says=ONE_MAX,
        ),
        known(
            "keepdim-forgotten",
            (
                MADE,
                "u = scores / tau\n    e = np.exp(u - u.max(axis=-1, keepdims=True))\n    weights = e / e.sum(axis=-1)",
            ),
            says="The sums lost their axis (keepdims=True is missing), so each column is divided by another row's sum.",
        ),
        known("weights-transposed", (MIXED, "return weights.T @ v")),
        known(
            "plain-mean",
            (MIXED, "return np.full_like(weights, 1 / weights.shape[-1]) @ v"),
            says="Every answer is the mean of the values: the weights were not used.",
        ),
    ),
)
