"""The task that counts the products of a layer as it is today."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch12_counting.counts import plain, product_flops
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described

Shapes = tuple[int, ...]


def _layer_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(3, 9))
    return plain(
        "T, S, D, N, K, H, F, gated, causal",
        (3, 3, 4, 2, 2, 2, 16, False, False),
        (1, 1000, 4096, 32, 32, 128, 11008, True, False),
        (1, 1000, 4096, 32, 8, 128, 14336, True, True),
        (5, 9, 10, 6, 2, 7, 30, True, True),
        (8, 8, 12, 4, 4, 3, 48, False, True),
        (5, 9, 10, 6, 3, 7, 31, True, False),
        (t, t + int(rng.integers(1, 20)), int(rng.integers(10, 40)), 6, 3, 11, 50, False, True),
    )


def _layer(
    n_tokens: int,
    context: int,
    d_model: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    d_hidden: int,
    gated: bool,
    causal: bool,
) -> int:
    """The products of shapes; under a causal mask one query after the other, with the keys that it may see."""
    into = [
        ((n_tokens, d_model), (d_model, width))
        for width in (n_heads * head_width, n_kv_heads * head_width, n_kv_heads * head_width)
    ]
    pairs: list[tuple[Shapes, Shapes]] = [*into, ((n_tokens, n_heads * head_width), (n_heads * head_width, d_model))]
    for seen, queries in (
        [(context - n_tokens + i + 1, 1) for i in range(n_tokens)] if causal else [(context, n_tokens)]
    ):
        maps = (n_heads, queries, seen)
        pairs += [((n_heads, queries, head_width), (n_heads, head_width, seen)), (maps, (n_heads, seen, head_width))]
    pairs += [((n_tokens, d_model), (d_model, d_hidden))] * (2 if gated else 1) + [
        ((n_tokens, d_hidden), (d_hidden, d_model))
    ]
    return product_flops(*pairs)


LAYER = described("12.layer", cases=_layer_cases, oracle=_layer, frame="plain")
