"""Tasks on keeping keys and values: a longer cache, and attention with one."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import LARGE_TOLERANCE, Rng, far_below, hidden_far_above, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described


def _append_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, m: int, heads: int, s: int, t: int, h: int, hv: int, rows: list[int]) -> Case:
        cached = normal(rng, b, heads, s, h), normal(rng, b, heads, s, hv)
        return Case(label, (*cached, normal(rng, m, heads, t, h), normal(rng, m, heads, t, hv), np.array(rows)))

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


APPEND = described("10.append", cases=_append_cases, oracle=_append)


def _attend_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, n: int, kv: int, t: int, s: int, h: int, part: str = "core") -> Case:
        drawn = normal(rng, b, n, t, h), normal(rng, b, kv, s, h), normal(rng, b, kv, s, h)
        return Case(label, drawn, part=part)

    q, k = normal(rng, 2, 2, 2, 4), normal(rng, 2, 2, 4, 4)
    k[:, :, -1] = 300 * q[:, :, 0] / (q[:, :, 0] ** 2).sum(-1, keepdims=True)  # the last key, for the query before it
    low_q, low_k = far_below(normal(rng, 2, 2, 2, 4), normal(rng, 2, 2, 4, 4))
    last = np.broadcast_to(np.arange(4) == 3, low_k.shape[:-1])  # which one of the two queries may not see
    low = low_q, hidden_far_above(low_k, last), normal(rng, 2, 2, 4, 4)
    return [
        case("one new token behind five, N = K = 3", 2, 3, 3, 1, 6, 4),
        case("two new tokens behind three", 2, 2, 2, 2, 5, 3),
        case("all sizes 3, nothing kept", 3, 3, 3, 3, 3, 3),
        case("the very first token", 1, 2, 2, 1, 1, 5),
        case("four query heads share two key-value heads", 2, 4, 2, 2, 6, 3, "groups"),
        case("six query heads share one, one new token", 1, 6, 1, 1, 4, 2, "groups"),
        case("six share three, a prompt", 1, 6, 3, 4, 4, 4, "groups"),
        Case("a hidden score far above the others", (q, k, normal(rng, 2, 2, 4, 4)), part="large", tolerance=1e-3),
        Case("all scores far below zero", low, part="large", tolerance=LARGE_TOLERANCE),
    ]


def _attend(q: Any, k: Any, v: Any) -> Any:
    """Query by query with torch's own attention, on what it may see."""
    import torch

    n, t, s = q.shape[1], q.shape[2], k.shape[2]
    group = n // k.shape[1]
    attention = torch.nn.functional.scaled_dot_product_attention
    heads = []
    for i in range(n):
        kv_head = i // group
        seen = [s - t + j + 1 for j in range(t)]
        rows = [attention(q[:, i, j : j + 1], k[:, kv_head, :m], v[:, kv_head, :m]) for j, m in enumerate(seen)]
        heads.append(torch.cat(rows, dim=1))
    return torch.stack(heads, dim=1)


ATTEND = described(
    "10.attend",
    cases=_attend_cases,
    oracle=_attend,
    parts={"core": 0.6, "groups": 0.3, "large": 0.1},
    forbids=ATTENTIONS,
)
