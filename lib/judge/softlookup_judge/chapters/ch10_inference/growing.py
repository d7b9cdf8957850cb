"""Tasks on writing token by token: the last logits, greedy writing, positions of new tokens, and what it costs."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized, variants_by
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.oracles import torch


def _next_cases(rng: Rng) -> list[Case]:
    def case(label: str, b: int, t: int, v: int, lengths: list[int]) -> Case:
        return Case(label, (normal(rng, b, t, v, scale=2.0), np.array(lengths)))

    many = case("B = 2, T = 3, V = 300", 2, 3, 300, [3, 1])
    many.args[0][..., -9:] += 20.0
    low = case("B = 2, T = 3, V = 6, logits below zero, near to each other", 2, 3, 6, [1, 3])
    low.args[0][...] = rng.permuted(np.tile(np.arange(6), (2, 3, 1)), axis=-1) / 50 - 20.0
    return [
        case("B = 3, T = 5, V = 7, lengths 2, 4, 3", 3, 5, 7, [2, 4, 3]),
        case("all sizes 4, lengths 3, 2, 1, 3", 4, 4, 4, [3, 2, 1, 3]),
        case("one text of full length", 1, 6, 9, [6]),
        case("texts of length 1", 2, 1, 5, [1, 1]),
        case("B = 2, T = 4, V = 12, one of them full", 2, 4, 12, [4, 2]),
        many,
        low,
    ]


@graded("10.next", _next_cases)
def _next(logits: Any, lengths: Any) -> Any:
    return torch.stack([row[: int(n)][-1].topk(1).indices[0] for row, n in zip(logits, lengths, strict=True)])


def _chain(rng: Rng, v: int, path: list[int]) -> np.ndarray:
    """A table in which each token of a path is followed by the next one, if the likeliest is taken."""
    table = normal(rng, v, v)
    for token, following in zip(path, path[1:], strict=False):
        table[token, following] = table[token].max() + 1.5
    return table


def _greedy_cases(rng: Rng) -> list[Case]:
    def case(label: str, v: int, path: list[int], prompt_length: int, limit: int) -> Case:
        return Case(label, (_chain(rng, v, path), np.array(path[:prompt_length]), path[-1], limit))

    def order(v: int) -> list[int]:
        return [int(i) for i in rng.permutation(v)]

    cycle = order(5)
    end = cycle[-1]
    endless = _chain(rng, 5, [*cycle[:4], cycle[0]])
    begins, low = order(6), order(7)
    below = (0.05 * _chain(rng, 7, low[:6]) - 20.0).astype("float32")
    return [
        case("the end comes after four tokens", 8, order(8)[:6], 2, 7),
        case("the end comes at once", 5, order(5)[:4], 3, 4),
        case("the limit comes first", 9, order(9)[:8], 1, 3),
        Case("a circle that never ends", (endless, np.array(cycle[:2]), end, 6)),
        Case("logits below zero, near to each other", (below, np.array(low[:2]), low[5], 6)),
        case("a limit of one token", 4, order(4), 1, 1),
        case("a limit of 0: nothing is generated", 5, order(5), 2, 0),
        Case(
            "the end token stands in the middle of what is given",
            (_chain(rng, 6, begins[:5]), np.array([begins[1], begins[4], begins[0]]), begins[4], 5),
        ),
        Case(
            "what is given begins with the end token, as GPT-2's texts do",
            (_chain(rng, 6, [begins[0], begins[1], begins[2], begins[0]]), np.array([begins[0]]), begins[0], 5),
        ),
    ]


@graded("10.greedy", _greedy_cases)
def _greedy(table: Any, ids: Any, end_id: int, limit: int) -> Any:
    """The same by following a row of successors, and cutting behind the first end."""
    follows = table.topk(1, dim=1).indices[:, 0].tolist()
    walk: list[int] = []
    while len(walk) < limit:
        walk.append(follows[walk[-1] if walk else int(ids[-1])])
    cut = walk.index(end_id) + 1 if end_id in walk else limit
    return torch.tensor([*ids.tolist(), *walk[:cut]])


def _position_cases(rng: Rng, for_padding: int) -> list[Case]:
    def real(lengths: list[int], total: int) -> np.ndarray:
        return np.arange(total) >= total - np.array(lengths)[:, None]

    return [
        Case("three texts of 5, 2 and 4, one new token", (real([5, 2, 4], 5), 1)),
        Case("the prompt itself: all of it is new", (real([3, 6], 6), 6)),
        Case("three new tokens behind a kept prompt", (real([7, 5, 4, 6], 7), 3)),
        Case("no padding, two new tokens", (real([6, 6], 6), 2)),
        Case("as many texts as tokens", (real([1, 3, 2], 3), 2)),
        Case("a text of 300 tokens", (real([300, 7], 300), 2)),
    ]


@graded("10.positions", _position_cases, variants=variants_by(for_padding=(0, 1, 2, 3, 4, 5, 7, 9, 11)))
def _positions(real: Any, n_new: int, for_padding: int) -> Any:
    """Row by row: a column's place, less the padding in front."""
    s = real.shape[1]
    fronts = [s - int(row.sum()) for row in real]
    columns = range(s - n_new, s)
    return torch.tensor([[c - front if c >= front else for_padding for c in columns] for front in fronts])


def _bytes_cases(rng: Rng) -> list[Case]:
    random_sizes = [int(n) for n in rng.integers(2, 9, size=4)]
    return sized(
        "L, N, K, H, B, S, bytes",
        (2, 4, 2, 3, 5, 7, 4),
        (random_sizes[0], 6, 3, random_sizes[1], random_sizes[2], 10 * random_sizes[3] + 1, 2),
        (32, 32, 8, 128, 1, 8192, 2),
        (12, 12, 12, 64, 8, 1024, 4),
        (80, 64, 8, 128, 16, 4096, 1),
        (3, 5, 1, 4, 2, 6, 8),
    )


@graded("10.cache-bytes", _bytes_cases, frame="plain")
def _bytes(
    n_layers: int, n_heads: int, n_kv_heads: int, head_width: int, batch: int, n_tokens: int, bytes_each: int
) -> int:
    """A tensor of keys and values on the device that holds no numbers."""
    dtype = {1: torch.int8, 2: torch.float16, 4: torch.float32, 8: torch.float64}[bytes_each]
    cache = torch.empty(n_layers, 2, batch, n_kv_heads, n_tokens, head_width, dtype=dtype, device="meta")
    return cache.numel() * cache.element_size()


def _cost_cases(rng: Rng) -> list[Case]:
    p, m = (int(n) for n in rng.integers(4, 30, size=2))
    sizes = ((2, 3), (1, 1), (1, 6), (10, 1), (5, 5), (p, m), (128, 128))
    return [Case(f"a prompt of {p}, {m} new tokens", (p, m)) for p, m in sizes]


@graded("10.cost", _cost_cases, frame="plain")
def _cost(n_prompt: int, n_new: int) -> Any:
    """Counted one by one, as a program would run them."""
    again = [list(range(length)) for length in range(n_prompt, n_prompt + n_new)]
    fed = [list(range(n_prompt)), *([length] for length in range(n_prompt, n_prompt + n_new - 1))]
    tokens = [sum(map(len, steps)) for steps in (again, fed)]
    scores = [sum(position + 1 for step in steps for position in step) for steps in (again, fed)]
    return tuple(np.array(n) for n in (tokens[0], tokens[1], scores[0], scores[1]))
