"""The task of new tokens behind kept keys: where a cache's offset enters."""

from typing import Any

from softlookup.checks.draws import Rng, normal
from softlookup.checks.known import ATTENTIONS, known
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


BOTH = "q, k = rotate(q, start), rotate(k, 0)"
HIDDEN = 's = s.masked_fill(j > i, float("-inf"))'
SCALED = " / math.sqrt(q.shape[-1])"
MIX = "return torch.softmax(s, dim=-1) @ v"
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
        known(
            "keys-one-late",
            (BOTH, "q, k = rotate(q, start), rotate(k, 1)"),
            says="The keys are one position too late: they stand at positions 0, 1, 2, …, and a token's query and its "
            "key at the same one.",
            number=36,
        ),
        known(
            "queries-from-the-end",
            (BOTH, "q, k = rotate(q, n_keys), rotate(k, 0)"),
            says="The new queries are turned as if they stood behind all keys: their own keys are among the S, so the "
            "first new one stands at position S - T.",
            number=70,
        ),
        known(
            "queries-from-the-last",
            (BOTH, "q, k = rotate(q, n_keys - 1), rotate(k, 0)"),
            says="The first new query is turned as if it were the last: that is right for one new token. The first of "
            "T stands at position S - T.",
            number=70,
        ),
        known(
            "starts-exchanged",
            (BOTH, "q, k = rotate(q, 0), rotate(k, start)"),
            says="The offset is given to the keys: they stand at 0, 1, 2, …, and the new queries begin at S - T.",
            number=70,
        ),
        known(
            "own-key-hidden",
            (HIDDEN, HIDDEN.replace("j > i", "j >= i")),
            says="A token's own key is hidden too: a query sees all keys up to its own position, that one included.",
            number=53,
        ),
        known(
            "one-leaks",
            (HIDDEN, HIDDEN.replace("j > i", "j > i + 1")),
            says="One token too many is seen: the key right after the query's position is in the future already.",
            number=54,
        ),
        known(
            "mask-inverted",
            (HIDDEN, HIDDEN.replace("j > i", "j <= i")),
            says="The mask is the wrong way round: what comes before is hidden, and what comes after is seen.",
        ),
        known("masked-to-zero", (HIDDEN, HIDDEN.replace('float("-inf")', "0.0"))),
        known(
            "mask-after-softmax",
            (HIDDEN, "pass"),
            (MIX, "return torch.softmax(s, dim=-1).masked_fill(j > i, 0.0) @ v"),
        ),
        known("over-queries", (MIX, MIX.replace("dim=-1", "dim=-2"))),
        known("no-sqrt", (SCALED, "")),
        known("divided-by-width", (SCALED, " / q.shape[-1]")),
        known("sqrt-of-model-width", (SCALED, " / math.sqrt(q.shape[1] * q.shape[-1])")),
        known(
            "sqrt-of-value-width",
            (SCALED, " / math.sqrt(v.shape[-1])"),
            says="The root is taken of the values' width: dot products run over the width of queries and keys.",
        ),
    ),
)
