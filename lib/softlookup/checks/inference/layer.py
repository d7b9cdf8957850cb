"""The task that puts it together: a layer of self-attention with a cache."""

from typing import Any

import numpy as np

from softlookup.checks.draws import Rng, normal
from softlookup.checks.inference.page import PAGE
from softlookup.checks.known import ATTENTIONS, known
from softlookup.checks.task import Case, Task


def weights(rng: Rng, d: int, wide: int, narrow: int, dtype: str = "float32") -> tuple[np.ndarray, ...]:
    """Weights of a layer of attention, of a size that makes the softmax neither flat nor hard."""
    shapes = (d, wide), (d, narrow), (d, narrow), (wide, d)
    return tuple(normal(rng, *shape, dtype=dtype, scale=1.5 * shape[0] ** -0.5) for shape in shapes)


def _step_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, t: int, s: int, d: int, n: int, kv: int, h: int, part: str = "core") -> Case:
        kept = normal(rng, b, kv, s, h), normal(rng, b, kv, s, h)
        return Case(label, (normal(rng, b, t, d), *weights(rng, d, n * h, kv * h), n, kv, *kept), part=part)

    return [
        case("one new token behind four, N = K = 2", 2, 1, 4, 5, 2, 2, 3),
        case("three new tokens behind two", 2, 3, 2, 6, 3, 3, 2),
        case("B = T = S = N = K = H = 3, D = 9", 3, 3, 3, 9, 3, 3, 3),
        case("a prompt, and an empty cache", 2, 4, 0, 6, 2, 2, 3),
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
        own = slice(i * h, i * h + h)
        head = i * n_kv_heads // n_heads
        for j in range(t):
            m = k.shape[2] + j + 1
            z = torch.nn.functional.scaled_dot_product_attention(
                x[:, j : j + 1] @ w_q[:, own], all_k[:, head, :m], all_v[:, head, :m]
            )
            y[:, j : j + 1] += z @ w_o[own]
    return y, all_k, all_v


LONGER = "k, v = extend_cache(k, v, new_k, new_v, torch.arange(len(x)))"
LOOKED = "z = attend(q, k, v)"
RETURNED = "return merge_heads(z) @ w_o, k, v"

STEP = Task(
    id="10.step",
    name="cached_attention",
    title="A layer that remembers",
    points=4,
    minutes=12,
    difficulty=3,
    page=PAGE,
    anchor="inference-cache",
    returns=("y", "k", "v"),
    cases=_step_cases,
    oracle=_step,
    parts={"core": 0.75, "groups": 0.25},
    forbids=ATTENTIONS,
    mistakes=(
        known(
            "old-cache-returned",
            (LONGER, f"old_k, old_v = k, v\n    {LONGER}"),
            (RETURNED, RETURNED.replace("k, v", "old_k, old_v")),
            says="The cache comes back as it went in: without the newest keys and values the next token forgets them.",
            number=72,
        ),
        known(
            "new-alone-returned",
            (RETURNED, RETURNED.replace("k, v", "new_k, new_v")),
            says="Only the newest keys and values come back: the next token needs those before them too.",
            number=72,
        ),
        known(
            "cache-not-read",
            (LOOKED, "z = attend(q, new_k, new_v)"),
            says="The newest tokens look at each other alone: it is the whole cache that they look at.",
            number=72,
        ),
        known(
            "new-in-front",
            (LONGER, "k, v = extend_cache(new_k, new_v, k, v, torch.arange(len(x)))"),
            says="The newest keys stand in front of the old ones: they belong behind them.",
            number=72,
        ),
        known(
            "exchanged",
            (RETURNED, RETURNED.replace("k, v", "v, k")),
            says="Keys and values have changed places in what comes back: the keys come first.",
            number=13,
        ),
        known(
            "shared-out-and-kept",
            (
                RETURNED,
                "n = n_heads // n_kv_heads\n"
                "    return merge_heads(z) @ w_o, k.repeat_interleave(n, dim=1), v.repeat_interleave(n, dim=1)",
            ),
            says="What comes back has N heads: the K key-value heads are kept, and shared out anew at every step. "
            "That is what makes the cache small.",
            number=83,
        ),
        known(
            "tiled",
            (LOOKED, "n = n_heads // n_kv_heads\n    z = attend(q, k.repeat(1, n, 1, 1), v.repeat(1, n, 1, 1))"),
            says="The key-value heads are tiled (0, 1, 0, 1): neighbouring query heads share one (0, 0, 1, 1).",
            number=26,
        ),
        known(
            "reshape-alone",
            ("split_heads(x @ w_q, n_heads)", "(x @ w_q).reshape(len(x), n_heads, x.shape[1], -1)"),
            ("split_heads(x @ w_k, n_kv_heads)", "(x @ w_k).reshape(len(x), n_kv_heads, x.shape[1], -1)"),
            ("split_heads(x @ w_v, n_kv_heads)", "(x @ w_v).reshape(len(x), n_kv_heads, x.shape[1], -1)"),
            says="The heads are split by a reshape alone, which mixes tokens and heads: split the width first, then "
            "exchange the axes.",
        ),
        known(
            "merged-without-transpose",
            ("merge_heads(z)", "z.reshape(len(x), x.shape[1], -1)"),
            says="The heads are merged without exchanging the axes back, which mixes tokens and heads.",
        ),
        known(
            "residual-added",
            ("return merge_heads(z) @ w_o", "return x + merge_heads(z) @ w_o"),
            says="x is added to the output: this layer is attention alone, and the residual comes later.",
        ),
        known(
            "last-alone",
            ("return merge_heads(z) @ w_o", "return (merge_heads(z) @ w_o)[:, -1:]"),
            says="Only the last token's output comes back: of several new ones each has an output.",
        ),
        known(
            "top-left",
            (
                LOOKED,
                "n = n_heads // n_kv_heads\n    s = q @ k.repeat_interleave(n, 1).mT / math.sqrt(q.shape[-1])\n"
                "    may = torch.ones(s.shape[-2:]).tril().bool()\n"
                "    z = torch.softmax(s.masked_fill(~may, -torch.inf), dim=-1) @ v.repeat_interleave(n, 1)",
            ),
            says="The mask hangs at the top left, as if the newest tokens were the first: one new query would see the "
            "oldest key alone. Query t stands at position S - T + t.",
            number=71,
        ),
        known(
            "no-mask",
            (
                LOOKED,
                "n = n_heads // n_kv_heads\n    s = q @ k.repeat_interleave(n, 1).mT / math.sqrt(q.shape[-1])\n"
                "    z = torch.softmax(s, dim=-1) @ v.repeat_interleave(n, 1)",
            ),
            says="There is no mask: of several new tokens, earlier ones may not look at later ones.",
        ),
        known(
            "values-from-keys",
            ("x @ w_v", "x @ w_k"),
            says="The values are made with w_k: keys decide the weights, values have a matrix of their own.",
            number=13,
        ),
        known(
            "output-missing",
            (" @ w_o", ""),
            says="The output matrix is missing: the heads lie side by side, and w_o blends them.",
            number=23,
        ),
    ),
)
