"""The task that puts it together: a layer of self-attention with a cache."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.forbidden import ATTENTIONS
from softlookup_judge.data.published import described


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


def _step(
    x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int, n_kv_heads: int, k: Any, v: Any
) -> tuple[Any, Any, Any]:
    """Query by query, head by head, by torch's own attention."""
    import torch

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


STEP = described("10.step", cases=_step_cases, oracle=_step, parts={"core": 0.75, "groups": 0.25}, forbids=ATTENTIONS)
