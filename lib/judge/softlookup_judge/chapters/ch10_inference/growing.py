"""Tasks on writing one token after the other: the last position's logits, and greedy writing that stops."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


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


def _next(logits: Any, lengths: Any) -> Any:
    import torch

    return torch.stack([row[: int(n)][-1].topk(1).indices[0] for row, n in zip(logits, lengths, strict=True)])


NEXT = described("10.next", cases=_next_cases, oracle=_next)


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


def _greedy(table: Any, ids: Any, end_id: int, limit: int) -> Any:
    """The same by following a row of successors, and cutting behind the first end."""
    import torch

    follows = table.topk(1, dim=1).indices[:, 0].tolist()
    walk: list[int] = []
    while len(walk) < limit:
        walk.append(follows[walk[-1] if walk else int(ids[-1])])
    cut = walk.index(end_id) + 1 if end_id in walk else limit
    return torch.tensor([*ids.tolist(), *walk[:cut]])


GREEDY = described("10.greedy", cases=_greedy_cases, oracle=_greedy)
