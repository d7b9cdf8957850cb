"""Tasks on the KV cache: appending, attention, a layer, and a small model that writes with it."""

from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import LARGE, graded
from softlookup_judge.chapters.draws import Rng, far_below, hidden_far_above, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.chapters.oracles import torch
from softlookup_judge.data.published import described
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results


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


@graded("10.append", _append_cases)
def _append(k: Any, v: Any, new_k: Any, new_v: Any, rows: Any) -> Any:
    """Written into an empty tensor of the right size."""
    results = []
    for old, new in ((k, new_k), (v, new_v)):
        m, heads, t, h = new.shape
        s = old.shape[2]
        longer = torch.empty(m, heads, s + t, h, dtype=old.dtype)
        longer[:, :, :s], longer[:, :, s:] = old.index_select(0, rows), new
        results.append(longer)
    return tuple(results)


def _attend_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, n: int, kv: int, t: int, s: int, h: int, part: str = "core") -> Case:
        tensors = normal(rng, b, n, t, h), normal(rng, b, kv, s, h), normal(rng, b, kv, s, h)
        return Case(label, tensors, part=part)

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
        Case("all scores far below zero", low, **LARGE),
    ]


@graded("10.attend", _attend_cases, parts={"core": 0.6, "groups": 0.3, "large": 0.1}, forbids=ATTENTIONS)
def _attend(q: Any, k: Any, v: Any) -> Any:
    """Query by query with torch's own attention, on what it may see."""
    n, t, s = q.shape[1], q.shape[2], k.shape[2]
    group = n // k.shape[1]
    attention = torch.nn.functional.scaled_dot_product_attention
    heads = []
    for i in range(n):
        kv_head = i // group
        visible_counts = [s - t + j + 1 for j in range(t)]
        rows = [
            attention(q[:, i, j : j + 1], k[:, kv_head, :m], v[:, kv_head, :m]) for j, m in enumerate(visible_counts)
        ]
        heads.append(torch.cat(rows, dim=1))
    return torch.stack(heads, dim=1)


def weights(rng: Rng, d: int, wide: int, narrow: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    """Weights of a layer of attention, of a size that makes the softmax neither flat nor hard."""
    shapes = (d, wide), (d, narrow), (d, narrow), (wide, d)
    return tuple(normal(rng, *shape, dtype=dtype, scale=1.5 * shape[0] ** -0.5) for shape in shapes)


def _step_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, b: int, t: int, s: int, d: int, n: int, kv: int, h: int, part: str = "core", **large: Any
    ) -> Case:
        cached = normal(rng, b, kv, s, h, **large), normal(rng, b, kv, s, h, **large)
        dtype = cached[0].dtype.name
        args = (normal(rng, b, t, d, **large), *weights(rng, d, n * h, kv * h, dtype), n, kv, *cached)
        return Case(label, args, part=part, tolerance=1e-8 if large else None)

    return [
        case("one new token behind four, N = K = 2", 2, 1, 4, 5, 2, 2, 3),
        case("three new tokens behind two", 2, 3, 2, 6, 3, 3, 2),
        case("B = T = S = N = K = H = 3, D = 9", 3, 3, 3, 9, 3, 3, 3),
        case("a prompt, and an empty cache", 2, 4, 0, 6, 2, 2, 3),
        case("large numbers, float64", 2, 2, 3, 6, 2, 2, 3, dtype="float64", scale=40.0),
        case("four query heads, two key-value heads", 2, 2, 3, 8, 4, 2, 2, "groups"),
        case("one key-value head, one token", 1, 1, 5, 6, 3, 1, 2, "groups"),
    ]


@graded("10.step", _step_cases, parts={"core": 0.75, "groups": 0.25}, forbids=ATTENTIONS)
def _step(
    x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int, n_kv_heads: int, k: Any, v: Any
) -> tuple[Any, Any, Any]:
    """Query by query, head by head, by torch's own attention."""
    b, t, _ = x.shape
    h = w_q.shape[1] // n_heads
    new_k, new_v = (torch.stack([x @ w[:, i * h : i * h + h] for i in range(n_kv_heads)], dim=1) for w in (w_k, w_v))
    all_k, all_v = torch.cat((k, new_k), dim=-2), torch.cat((v, new_v), dim=-2)
    y = torch.zeros_like(x)
    for i in range(n_heads):
        head_slice = slice(i * h, i * h + h)
        q = x @ w_q[:, head_slice]
        head = i * n_kv_heads // n_heads
        for j in range(t):
            m = k.shape[2] + j + 1
            z = torch.nn.functional.scaled_dot_product_attention(
                q[:, j : j + 1], all_k[:, head, :m], all_v[:, head, :m]
            )
            y[:, j : j + 1] += z @ w_o[head_slice]
    return y, all_k, all_v


def _model(rng: Rng, v: int, d: int, dtype: str) -> tuple[np.ndarray, ...]:
    """A small model; its states are far enough apart that no two logits compete."""
    w_q, w_k, w_v, w_o = weights(rng, d, d, d, dtype)
    return normal(rng, v, d, dtype=dtype), w_q, w_k, 1.6 * w_v, 1.6 * w_o


def _write_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, v: int, d: int, n: int, prompt: int, limit: int, end_after: int, dtype: str = "float64"
    ) -> Case:
        """A model that writes at least three different tokens; the end token is the one it writes after so many."""
        end_given = "given" in label
        for _ in range(200):
            prompt_ids = rng.integers(0, v, size=prompt)
            args: Any = (*_model(rng, v, d, dtype), n, prompt_ids, -1, limit)
            written, logits = expected_results(variant_of(WRITE.task), Case("", args))
            two = np.sort(logits, axis=1)[:, -2:]
            ids = [int(i) for i in written]
            new_there = end_after > limit or ids[end_after - 1] not in ids[: end_after - 1]
            if end_given and ids[end_after - 1] not in prompt_ids[:-1]:
                continue
            if new_there and (two[:, 1] - two[:, 0]).min() > 1e-3:
                break
        end = ids[end_after - 1] if end_after <= limit else v - 1
        while end_after > limit and end in ids:
            end = (end + 1) % v
        return Case(label, (*args[:-2], end, limit), part="core" if dtype == "float64" else "dtype")

    prompt, limit = 6, 5
    fed = case("what is fed is counted: a prompt of six, five tokens", 9, 8, 2, prompt, limit, 9)
    return [
        case("the end comes at once", 8, 4, 1, 5, 3, 1),  # first, since all pairs of mistakes are tried on it
        case("the end comes after three tokens, V = 9, D = 6, N = 2", 9, 6, 2, 4, 6, 3),
        case("the limit comes first", 11, 8, 4, 3, 5, 9),
        case("a prompt of one token", 7, 6, 3, 1, 4, 4),
        case("V = D = 8, eight tokens", 8, 8, 2, 6, 8, 9),
        case("the end token stands in what is given", 7, 6, 2, 5, 5, 3),
        case("everything in float32", 9, 6, 2, 3, 4, 9, "float32"),
        # One vector and one pass more than it takes: the last token may be fed in, though nobody asks what follows.
        replace(fed, fed=(1, prompt + limit, limit + 1)),
    ]


def _write(
    embedding: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int, prompt: Any, end_id: int, limit: int
) -> tuple[Any, Any]:
    """Everything computed again for every token: no cache, so nothing in it can be wrong."""
    d = embedding.shape[1]
    h = d // n_heads
    angles = torch.arange(len(prompt) + limit)[:, None] / 10000 ** (2 * torch.arange(d // 2).double() / d)
    position = torch.zeros(len(angles), d, dtype=torch.float64)
    position[:, ::2], position[:, 1::2] = angles.sin(), angles.cos()
    ids: list[int] = prompt.tolist()
    chosen_from: list[Any] = []
    while len(chosen_from) < limit and (not chosen_from or ids[-1] != end_id):
        x = embedding[ids] + position[: len(ids)]
        q, k, v = ((x @ w).reshape(len(ids), n_heads, h).transpose(0, 1) for w in (w_q, w_k, w_v))
        z = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        state = x + z.transpose(0, 1).reshape(len(ids), d) @ w_o
        chosen_from.append(embedding @ state[-1])
        ids.append(int(chosen_from[-1].argmax()))
    return torch.tensor(ids[len(prompt) :]), torch.stack(chosen_from)


WRITE = described("10.write", _write_cases, _write, parts={"core": 0.9, "dtype": 0.1}, forbids=ATTENTIONS)
