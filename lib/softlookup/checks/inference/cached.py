"""Tasks on keeping keys and values: a longer cache, and attention with one."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import ATTENTIONS, known
from softlookup.checks.task import Case, Task


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
            "new-chosen-too",
            (JOINED_K, "torch.cat((k, new_k), dim=2)[rows]"),
            (JOINED_V, "torch.cat((v, new_v), dim=2)[rows]"),
            says="The rows are chosen after the newest were put behind the old ones: the newest are in the new order "
            "already, so choose first.",
            number=72,
        ),
        known(
            "other-way-round",
            ("k[rows]", "k[rows.argsort(stable=True)]"),
            ("v[rows]", "v[rows.argsort(stable=True)]"),
            says="The old rows move the other way round: new text i continues old text rows[i], which is k[rows].",
            number=72,
        ),
        known(
            "keys-not-reordered",
            ("k[rows]", "k"),
            says="Only the values are put in the new order: the keys belong to the same texts.",
            number=72,
        ),
        known(
            "values-stale",
            (JOINED_V, "v[rows]"),
            says="The newest keys are kept, the newest values are not: both caches grow.",
            number=72,
        ),
        known(
            "exchanged",
            (f"return {JOINED_K}, {JOINED_V}", f"return {JOINED_V}, {JOINED_K}"),
            says="Keys and values have changed places: the keys come first.",
            number=13,
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

    q, k = normal(rng, 2, 2, 2, 4), normal(rng, 2, 2, 4, 4)
    k[:, :, -1] = 300 * q[:, :, 0] / (q[:, :, 0] ** 2).sum(-1, keepdims=True)  # the last key, for the query before it
    return [
        case("one new token behind five, N = K = 3", 2, 3, 3, 1, 6, 4),
        case("two new tokens behind three", 2, 2, 2, 2, 5, 3),
        case("all sizes 3, nothing kept", 3, 3, 3, 3, 3, 3),
        case("the very first token", 1, 2, 2, 1, 1, 5),
        case("four query heads share two key-value heads", 2, 4, 2, 2, 6, 3, "groups"),
        case("six query heads share one, one new token", 1, 6, 1, 1, 4, 2, "groups"),
        case("six share three, a prompt", 1, 6, 3, 4, 4, 4, "groups"),
        Case("a hidden score far above the others", (q, k, normal(rng, 2, 2, 4, 4)), part="large", tolerance=1e-3),
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


WEIGHTS = 'torch.softmax(s.masked_fill(~may, float("-inf")), dim=-1)'
AFTER = "a = torch.softmax(s, dim=-1) * may"
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
    parts={"core": 0.6, "groups": 0.3, "large": 0.1},
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
            "values-tiled",
            ("v.repeat_interleave(shared, dim=1)", "v.repeat(1, shared, 1, 1)"),
            says="The values are tiled (0, 1, 0, 1), the keys are not: neighbouring heads share both.",
            number=26,
        ),
        known(
            "first-for-all",
            ("k.repeat_interleave(shared, dim=1)", "k[:, :1].expand(-1, q.shape[1], -1, -1)"),
            ("v.repeat_interleave(shared, dim=1)", "v[:, :1].expand(-1, q.shape[1], -1, -1)"),
            says="Every query head looks at the first key-value head: each group of N/K neighbours has one of its own.",
        ),
        known(
            "own-hidden",
            ("<= queries[:, None]", "< queries[:, None]"),
            says="No query sees its own token: it may look at itself and at all before it.",
            number=54,
        ),
        known("mask-inverted", ("masked_fill(~may", "masked_fill(may")),
        known("masked-to-zero", ('float("-inf")', "0.0")),
        known("mask-after-softmax", (WEIGHTS, "(torch.softmax(s, dim=-1) * may)")),
        known(
            "mask-renormalised",
            (f"return {WEIGHTS}", f"{AFTER}\n    return a / a.sum(dim=-1, keepdim=True)"),
        ),
        known("divided-by-width", ("math.sqrt(q.shape[-1])", "q.shape[-1]")),
        known("sqrt-of-tokens", ("math.sqrt(q.shape[-1])", "math.sqrt(n_all)")),
        known("sqrt-of-model-width", ("math.sqrt(q.shape[-1])", "math.sqrt(q.shape[1] * q.shape[-1])")),
        known(
            "keys-as-values",
            ("dim=-1) @ v", "dim=-1) @ k"),
        ),
        known("over-queries", ("dim=-1) @ v", "dim=-2) @ v")),
    ),
)
