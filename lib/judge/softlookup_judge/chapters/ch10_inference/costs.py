"""Tasks that count: the bytes of a cache, and what writing costs with one and without."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _bytes_cases(rng: Rng) -> list[Case]:
    drawn = [int(n) for n in rng.integers(2, 9, size=4)]
    sizes = (
        (2, 4, 2, 3, 5, 7, 4),
        (drawn[0], 6, 3, drawn[1], drawn[2], 10 * drawn[3] + 1, 2),
        (32, 32, 8, 128, 1, 8192, 2),
        (12, 12, 12, 64, 8, 1024, 4),
        (80, 64, 8, 128, 16, 4096, 1),
        (3, 5, 1, 4, 2, 6, 8),
    )
    return [Case(f"(L, N, K, H, B, S, bytes) = {args}", args, frame="plain") for args in sizes]


def _bytes(
    n_layers: int, n_heads: int, n_kv_heads: int, head_width: int, batch: int, n_tokens: int, bytes_each: int
) -> int:
    """A tensor of keys and values on the device that holds no numbers."""
    import torch

    kind = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[bytes_each]
    cache = torch.empty(n_layers, 2, batch, n_kv_heads, n_tokens, head_width, dtype=kind, device="meta")
    return cache.numel() * cache.element_size()


CACHE_BYTES = described("10.cache-bytes", cases=_bytes_cases, oracle=_bytes, frame="plain")


def _cost_cases(rng: Rng) -> list[Case]:
    p, m = (int(n) for n in rng.integers(4, 30, size=2))
    sizes = ((2, 3), (1, 1), (1, 6), (10, 1), (5, 5), (p, m), (128, 128))
    return [Case(f"a prompt of {p}, {m} new tokens", (p, m), frame="plain") for p, m in sizes]


def _cost(n_prompt: int, n_new: int) -> Any:
    """Counted one by one, as a program would run them."""
    again = [list(range(length)) for length in range(n_prompt, n_prompt + n_new)]
    fed = [list(range(n_prompt)), *([length] for length in range(n_prompt, n_prompt + n_new - 1))]
    tokens = [sum(map(len, steps)) for steps in (again, fed)]
    scores = [sum(place + 1 for step in steps for place in step) for steps in (again, fed)]
    return tuple(np.array(n) for n in (tokens[0], tokens[1], scores[0], scores[1]))


COST = described("10.cost", cases=_cost_cases, oracle=_cost, frame="plain")
