"""The task of new tokens behind kept keys: where a cache's offset enters."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import ATTENTIONS, known
from softlookup.checks.positions import switches
from softlookup.checks.positions.circles import ROUNDED
from softlookup.checks.positions.page import PAGE
from softlookup.checks.positions.rotations import rotary_oracle
from softlookup.checks.task import Case, Task


def _cached_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, n: int, t: int, s: int, h: int, hv: int, **how: Any) -> Case:
        q, k, v = (normal(rng, b, n, *shape) for shape in ((t, h), (s, h), (s, hv)))
        return Case(label, (q, k, v), tolerance=ROUNDED, **how)

    return [
        case("the whole sequence at once: T = S = 5", 2, 3, 5, 5, 4, 4),
        case("one new token behind seven kept ones", 2, 2, 1, 8, 6, 6),
        case("three new tokens behind four", 1, 2, 3, 7, 4, 4),
        case("values of another width", 2, 1, 2, 6, 4, 2),
        case("all sizes 4", 4, 4, 4, 4, 4, 4),
    ]


def _cached(q: Any, k: Any, v: Any) -> Any:
    """Both turned as one whole sequence, whose last rows alone are kept."""
    import torch

    t, s = q.shape[2], k.shape[2]
    whole = torch.cat([k.new_zeros(*k.shape[:2], s - t, k.shape[-1]), q], dim=2)
    turned, keys = rotary_oracle(whole, 0), rotary_oracle(k, 0)
    fused = torch.nn.functional.scaled_dot_product_attention
    return fused(turned, keys, v, is_causal=True)[:, :, s - t :]


def _cached_mistaken(flags: switches.Flags, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    t, s = q.shape[2], k.shape[2]
    start = s - t
    own: switches.Flags = frozenset()
    if "queries-not-turned" not in flags:
        begin = 0 if "queries-from-zero" in flags else start + ("queries-one-late" in flags)
        q = switches.rotary(own, q, begin)
    if "keys-not-turned" not in flags:
        k = switches.rotary(own, k, 0)
    if "values-turned" in flags:
        v = switches.rotary(own, v, 0)
    scores = q @ np.swapaxes(k, -2, -1)
    scores = scores if "no-sqrt" in flags else scores / q.dtype.type(np.sqrt(q.shape[-1]))
    i = np.arange(t)[:, None] + (0 if "mask-from-the-top" in flags else start)
    hidden = np.arange(s)[None, :] > i
    if "no-mask" in flags:
        hidden = np.zeros_like(hidden)
    scores = np.where(hidden, -np.inf, scores)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(q.dtype) @ v


BOTH = "q, k = rotate(q, start), rotate(k, 0)"
HIDDEN = 's = s.masked_fill(j > i, float("-inf"))'
QUERIES = "i = torch.arange(n_queries)[:, None] + start"

CACHED = Task(
    id="06.cached",
    name="cached_attention",
    title="New tokens and kept keys",
    points=4,
    minutes=15,
    difficulty=3,
    page=PAGE,
    anchor="positions-cache",
    returns=("z",),
    cases=_cached_cases,
    oracle=_cached,
    mistaken=_cached_mistaken,
    forbids=ATTENTIONS,
    mistakes=(
        known(
            "queries-from-zero",
            (BOTH, "q, k = rotate(q, 0), rotate(k, 0)"),
            says="The new queries are turned as if they stood at the beginning: behind S - T kept tokens, "
            "the first new one stands at position S - T.",
            number=70,
        ),
        known(
            "queries-one-late",
            (BOTH, "q, k = rotate(q, start + 1), rotate(k, 0)"),
            says="The queries are one position too late: a token's query and its key stand at the same position.",
            number=36,
        ),
        known(
            "values-turned",
            (BOTH, BOTH + "\n    v = rotate(v, 0)"),
            says="The values are turned as well: positions decide who looks at whom, and that is up to "
            "queries and keys alone.",
            number=37,
        ),
        known(
            "keys-not-turned",
            (BOTH, "q = rotate(q, start)"),
            says="Only the queries are turned: scores know the distance only if the keys are turned as well.",
        ),
        known(
            "queries-not-turned",
            (BOTH, "k = rotate(k, 0)"),
            says="Only the keys are turned: scores know the distance only if the queries are turned as well.",
        ),
        known(
            "mask-from-the-top",
            (QUERIES, "i = torch.arange(n_queries)[:, None]"),
            says="The causal mask counts the queries from 0, so a new token sees only as many keys as there "
            "are new ones: query t stands at position S - T + t, and sees all keys up to there.",
            number=71,
        ),
        known(
            "no-mask",
            (HIDDEN, "pass"),
            says="Tokens see what comes after them: key j is hidden where j is larger than the query's position.",
        ),
        known("no-sqrt", (" / math.sqrt(q.shape[-1])", "")),
    ),
)
