"""Tasks on keeping keys and values: positions of the newest tokens, a longer cache, attention with one, a layer."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference import switches
from softlookup.checks.inference.page import PAGE, Flags
from softlookup.checks.known import ATTENTIONS, known
from softlookup.checks.task import Case, Task


def _position_cases(rng: Rng, for_padding: int) -> list[Case]:
    def real(lengths: list[int], total: int) -> np.ndarray:
        return np.arange(total) >= total - np.array(lengths)[:, None]

    return [
        Case("three texts of 5, 2 and 4, one new token", (real([5, 2, 4], 5), 1)),
        Case("the prompt itself: all of it is new", (real([3, 6], 6), 6)),
        Case("three new tokens behind a kept prompt", (real([7, 5, 4, 6], 7), 3)),
        Case("no padding, two new tokens", (real([6, 6], 6), 2)),
        Case("as many texts as tokens", (real([1, 3, 2], 3), 2)),
    ]


def _positions(real: Any, n_new: int, for_padding: int) -> Any:
    """Row by row: a column's place, less the padding in front."""
    import torch

    s = real.shape[1]
    fronts = [s - int(row.sum()) for row in real]
    columns = range(s - n_new, s)
    return torch.tensor([[c - front if c >= front else for_padding for c in columns] for front in fronts])


def positions(flags: Flags, real: np.ndarray, n_new: int, for_padding: int) -> np.ndarray:
    """Positions of the newest tokens, with mistakes."""
    counted = real[:, -n_new:] if "cache-forgotten" in flags else real
    if "padding-counted" in flags:
        counted = np.ones_like(counted)
    places = counted.cumsum(1) - ("starts-at-one" not in flags)
    if "below-zero" not in flags:
        filled = real[:, -n_new:] if "cache-forgotten" in flags else real
        places = np.where(filled, places, for_padding)
    if "all-returned" in flags:
        return places
    return places[:, :n_new] if "oldest-returned" in flags else places[:, -n_new:]


POSITIONS = Task(
    id="10.positions",
    name="newest_positions",
    title="Where the newest tokens stand",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="inference-positions",
    returns=("positions",),
    cases=_position_cases,
    oracle=_positions,
    mistaken=positions,
    variants=({"for_padding": 0}, {"for_padding": 1}),
    mistakes=(
        known(
            "cache-forgotten",
            ("real.cumsum", "real[:, -n_new:].cumsum"),
            ("masked_fill(~real", "masked_fill(~real[:, -n_new:]"),
            says="The newest tokens are counted from 0: those whose keys are kept come before them, so position 0 is "
            "taken.",
            number=70,
        ),
        known(
            "padding-counted",
            ("real.cumsum", "torch.ones_like(real).cumsum"),
            says="The padding on the left is counted: the first real token stands at position 0, however long the "
            "other texts of the batch are.",
            number=73,
        ),
        known(
            "starts-at-one",
            ("real.cumsum(dim=1) - 1", "real.cumsum(dim=1)"),
            says="The first token stands at position 1: positions begin at 0.",
            number=29,
        ),
        known(
            "below-zero",
            (".masked_fill(~real, for_padding)", ""),
            says="Padding gets the position -1, and no table has such a row: give it the one that is asked for.",
            number=73,
        ),
        known(
            "all-returned",
            ("return positions[:, -n_new:]", "return positions"),
            says="The positions of all tokens come back: only the newest are asked for.",
        ),
        known(
            "oldest-returned",
            ("[:, -n_new:]", "[:, :n_new]"),
            says="These are the positions of the FIRST columns: the newest tokens are the last ones.",
            number=70,
        ),
    ),
)


def _append_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, m: int, heads: int, s: int, t: int, h: int, hv: int, rows: list[int]) -> Case:
        kept = normal(rng, b, heads, s, h), normal(rng, b, heads, s, hv)
        return Case(label, (*kept, normal(rng, m, heads, t, h), normal(rng, m, heads, t, hv), np.array(rows)))

    return [
        case("B = M = 3, K = 2, S = 4, T = 1, H = 5", 3, 3, 2, 4, 1, 5, 5, [2, 0, 2]),
        case("all sizes 3", 3, 3, 3, 3, 3, 3, 3, [1, 2, 0]),
        case("four texts become two", 4, 2, 1, 3, 1, 2, 4, [3, 1]),
        case("the first step of a beam: one text becomes three", 1, 3, 2, 5, 1, 4, 4, [0, 0, 0]),
        case("an empty cache and a prompt", 2, 2, 3, 0, 4, 2, 2, [0, 1]),
        case("several new tokens", 2, 2, 2, 3, 2, 3, 3, [1, 0]),
    ]


def _append(k: Any, v: Any, new_k: Any, new_v: Any, rows: Any) -> Any:
    """Written into an empty tensor of the right size."""
    import torch

    results = []
    for old, new in ((k, new_k), (v, new_v)):
        m, heads, t, h = new.shape
        s = old.shape[2]
        longer = torch.empty(m, heads, s + t, h, dtype=old.dtype)
        longer[:, :, :s], longer[:, :, s:] = old.index_select(0, rows), new
        results.append(longer)
    return tuple(results)


JOINED_K, JOINED_V = "torch.cat((k[rows], new_k), dim=2)", "torch.cat((v[rows], new_v), dim=2)"

APPEND = Task(
    id="10.append",
    name="extend_cache",
    title="A longer cache",
    points=2,
    minutes=6,
    difficulty=1,
    page=PAGE,
    anchor="inference-cache",
    returns=("k", "v"),
    cases=_append_cases,
    oracle=_append,
    mistaken=switches.extend,
    mistakes=(
        known(
            "not-reordered",
            ("k[rows]", "k"),
            ("v[rows]", "v"),
            says="The old rows stay in their old order: after a step of beam search row i continues row rows[i], and "
            "its keys and values have to come along, or texts go on with the memory of others.",
            number=72,
        ),
        known(
            "values-not-reordered",
            ("v[rows]", "v"),
            says="Only the keys are put in the new order: the values belong to the same texts.",
            number=72,
        ),
        known(
            "along-heads",
            ("dim=2", "dim=1"),
            says="It grows along the heads (axis 1): tokens are on axis 2.",
            number=72,
        ),
        known(
            "along-width",
            ("dim=2", "dim=-1"),
            says="It grows along the head width (the last axis): tokens are on axis 2.",
            number=72,
        ),
        known(
            "along-batch",
            ("dim=2", "dim=0"),
            says="It grows along the batch (axis 0): tokens are on axis 2.",
            number=72,
        ),
        known(
            "new-in-front",
            (JOINED_K, "torch.cat((new_k, k[rows]), dim=2)"),
            (JOINED_V, "torch.cat((new_v, v[rows]), dim=2)"),
            says="The newest keys stand in front: they belong behind the old ones.",
            number=72,
        ),
        known(
            "stale",
            (JOINED_K, "k[rows]"),
            (JOINED_V, "v[rows]"),
            says="The newest keys and values are not kept: the cache stays as long as it was.",
            number=72,
        ),
        known(
            "old-forgotten",
            (JOINED_K, "new_k"),
            (JOINED_V, "new_v"),
            says="Only the newest keys and values come back: those before them are what the cache is for.",
            number=72,
        ),
        known(
            "values-from-keys",
            (JOINED_V, JOINED_K),
            says="The keys are kept twice: the second result holds the values.",
            number=13,
        ),
    ),
)


def _attend_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, n: int, kv: int, t: int, s: int, h: int, part: str = "core") -> Case:
        drawn = normal(rng, b, n, t, h), normal(rng, b, kv, s, h), normal(rng, b, kv, s, h)
        return Case(label, drawn, part=part)

    return [
        case("one new token behind five, N = K = 3", 2, 3, 3, 1, 6, 4),
        case("two new tokens behind three", 2, 2, 2, 2, 5, 3),
        case("all sizes 3, nothing kept", 3, 3, 3, 3, 3, 3),
        case("the very first token", 1, 2, 2, 1, 1, 5),
        case("four query heads share two key-value heads", 2, 4, 2, 2, 6, 3, "groups"),
        case("six query heads share one, one new token", 1, 6, 1, 1, 4, 2, "groups"),
        case("six share three, a prompt", 1, 6, 3, 4, 4, 4, "groups"),
    ]


def _attend(q: Any, k: Any, v: Any) -> Any:
    """Query by query with torch's own attention, on what it may see."""
    import torch

    n, t, s = q.shape[1], q.shape[2], k.shape[2]
    group = n // k.shape[1]
    attention = torch.nn.functional.scaled_dot_product_attention
    heads = []
    for i in range(n):
        own = i // group
        seen = [s - t + j + 1 for j in range(t)]
        rows = [attention(q[:, i, j : j + 1], k[:, own, :m], v[:, own, :m]) for j, m in enumerate(seen)]
        heads.append(torch.cat(rows, dim=1))
    return torch.stack(heads, dim=1)


QUERIES, MAY = "torch.arange(n_all - n_new, n_all)", "may = keys[None, :] <= queries[:, None]"

ATTEND = Task(
    id="10.attend",
    name="attend",
    title="The newest tokens look back",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="inference-cache",
    returns=("z",),
    cases=_attend_cases,
    oracle=_attend,
    mistaken=switches.attend,
    parts={"core": 0.7, "groups": 0.3},
    forbids=ATTENTIONS,
    mistakes=(
        known(
            "top-left",
            (QUERIES, "torch.arange(n_new)"),
            says="The mask hangs at the top left, as if the newest tokens were the first: one new query would see the "
            "oldest key alone. Query t stands at position S - T + t.",
            number=71,
        ),
        known(
            "no-mask",
            ('s.masked_fill(~may, float("-inf"))', "s"),
            says="There is no mask: of several new tokens, earlier ones may not look at later ones.",
        ),
        known(
            "one-ahead",
            ("<= queries[:, None]", "<= queries[:, None] + 1"),
            says="Each query sees one token of the future: it may look at itself and back.",
            number=54,
        ),
        known(
            "newest-only",
            (MAY, "may = (keys[None, :] <= queries[:, None]) & (keys[None, :] >= n_all - n_new)"),
            says="Only the newest keys are looked at: the kept ones are what the cache is for.",
            number=72,
        ),
        known("no-sqrt", (" / math.sqrt(q.shape[-1])", "")),
        known(
            "tiled",
            ("k.repeat_interleave(shared, dim=1)", "k.repeat(1, shared, 1, 1)"),
            ("v.repeat_interleave(shared, dim=1)", "v.repeat(1, shared, 1, 1)"),
            says="The key-value heads are tiled (0, 1, 0, 1): neighbouring query heads share one (0, 0, 1, 1).",
            number=26,
        ),
        known(
            "keys-as-values",
            ("dim=-1) @ v", "dim=-1) @ k"),
        ),
        known("over-queries", ("dim=-1) @ v", "dim=-2) @ v")),
    ),
)
