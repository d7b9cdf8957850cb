"""Tasks that make masks, join them, convert them, and find what leaks."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters import draws
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.oracles import torch


def _causal_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(2, 5))
    sizes = ((5, 5, "core"), (8, 8, "core"), (1, 1, "core"), (1, 6, "offset"), (3, 7, "offset"))
    cases = [Case(f"T = {t}, S = {s}", (t, s), part=part) for t, s, part in sizes]
    random_sizes = t, t + int(rng.integers(2, 6))
    return [*cases, Case(f"T = {random_sizes[0]}, S = {random_sizes[1]}", random_sizes, part="offset")]


@graded("08.causal", _causal_cases, frame="plain", parts={"core": 0.6, "offset": 0.4})
def causal(n_queries: int, n_keys: int) -> Any:
    """Numpy's triangle."""
    return np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool)


def drawn_ids(rng: Rng, lengths: tuple[int, ...], total: int, pad_id: int, *, pads_left: bool = False) -> np.ndarray:
    """Rows of ids, filled up with pad_id behind (or before) so many real ones; 0 is real where it is not the pad."""
    real = [n for n in range(20) if n != pad_id]
    ids = np.full((len(lengths), total), pad_id)
    for row, n in zip(ids, lengths, strict=True):
        begin = total - n if pads_left else 0
        row[begin : begin + n] = rng.choice(real, size=n)
        if n > 1 and pad_id != 0:
            row[begin + 1] = 0
    return ids.astype(np.int64)


def _padding_cases(rng: Rng) -> list[Case]:
    return [
        Case("two rows, the pad is 0", (drawn_ids(rng, (5, 3), 5, 0), 0)),
        Case("the pad is 7, and 0 is a word", (drawn_ids(rng, (2, 4, 6), 6, 7), 7)),
        Case("as many rows as tokens", (drawn_ids(rng, (3, 2, 1), 3, 0), 0)),
        Case("filled up on the left", (drawn_ids(rng, (2, 4), 5, 9, pads_left=True), 9)),
        Case("no padding", (drawn_ids(rng, (4, 4), 4, 1), 1)),
        Case("a row of nothing but padding", (drawn_ids(rng, (0, 3), 4, 5), 5)),
    ]


@graded("08.padding", _padding_cases)
def padding(ids: Any, pad_id: int) -> Any:
    """True where a token is real."""
    return torch.ne(ids, pad_id).view(ids.shape[0], 1, 1, ids.shape[1])


def _combine_cases(rng: Rng) -> list[Case]:
    return [
        Case("three words, two pads", (np.array([[11, 12, 13, 0, 0]]), 0)),
        Case("three rows of six", (drawn_ids(rng, (6, 4, 2), 6, 0), 0)),
        Case("as many rows as tokens", (drawn_ids(rng, (3, 2, 1), 3, 7), 7)),
        Case("filled up on the left: some see nothing", (drawn_ids(rng, (2, 5), 5, 3, pads_left=True), 3)),
        Case("one token", (drawn_ids(rng, (1, 1), 1, 2), 2)),
    ]


@graded("08.combine", _combine_cases)
def _combine(ids: Any, pad_id: int) -> Any:
    t = ids.shape[1]
    hidden = torch.ones(t, t).triu(1).bool() | ids.eq(pad_id)[:, None, :]
    return hidden.logical_not().unsqueeze(1)


def _convert_cases(rng: Rng) -> list[Case]:
    def case(label: str, shape: tuple[int, ...], mask: np.ndarray, dtype: str, part: str = "core") -> Case:
        scores = normal(rng, *shape, dtype=dtype)
        scores.flat[-1] = -np.inf  # their numbers do not matter: some may be hidden already
        return Case(label, (scores, mask), part=part, keeps_dtype=True)

    def hidden(*shape: int) -> np.ndarray:
        return ~draws.seeing_mask(rng, *shape)

    return [
        case("four queries, five keys", (4, 5), hidden(4, 5), "float32"),
        case("a batch with heads, one mask for all", (2, 3, 4, 4), hidden(4, 4), "float32"),
        case("padding: a mask (B, 1, 1, S)", (2, 3, 4, 5), hidden(2, 1, 1, 5), "float32"),
        case("one query", (1, 4), hidden(1, 4), "float32"),
        case("one key", (3, 1), np.array([[False], [True], [False]]), "float32"),
        case("a mask of one axis, for all queries", (2, 4, 5), hidden(5), "float32"),
        case("nothing is hidden", (3, 3), np.zeros((3, 3), dtype=bool), "float32"),
        case("float64", (3, 6), hidden(3, 6), "float64", "dtype"),
        case("half precision", (3, 4), hidden(3, 4), "float16", "dtype"),
    ]


@graded("08.convert", _convert_cases, parts={"core": 0.8, "dtype": 0.2})
def _convert(scores: Any, mask: Any) -> Any:
    return torch.where(mask, -torch.inf, torch.zeros_like(scores))


def _reach_cases(rng: Rng) -> list[Case]:
    def random(n: int, t: int) -> np.ndarray:
        return rng.random((n, t, t)) < 1.6 / t

    past = np.tri(5, dtype=bool)
    leaky = np.stack([past, np.tri(5, k=1, dtype=bool), past])
    far = np.stack([np.eye(6, dtype=bool)] * 2)
    far[1, 1, 4] = True
    window = np.stack([np.tri(7, dtype=bool) & ~np.tri(7, k=-2, dtype=bool)] * 3)
    one_way = np.zeros((2, 4, 4), dtype=bool)
    one_way[0, 1, 0] = one_way[1, 2, 1] = one_way[0, 3, 2] = True
    return [
        Case("three causal layers", (np.stack([past] * 3),)),
        Case("one layer lets one token of the future through", (leaky,)),
        Case("two leaky layers", (leaky[1:2].repeat(2, axis=0),)),
        Case("a token attends to the third one behind it", (far,)),
        Case("a window of two, three layers", (window,)),
        Case("a path that needs both layers in their order", (one_way,)),
        Case("one layer, drawn", (random(1, 5),)),
        Case("three layers, drawn", (random(3, 6),)),
        Case("two layers, drawn, many tokens", (random(2, 9),)),
        # Paths between any two tokens: 4 to the power of 11, with the own path of each. 8 and 16 bits hold 0 of them.
        Case("twelve layers in which everybody sees all others", (np.stack([~np.eye(4, dtype=bool)] * 12),)),
        Case("nobody may attend to anything", (np.zeros((2, 3, 3), dtype=bool),)),
    ]


@graded("08.leak", _reach_cases)
def _reach(masks: Any) -> Any:
    """Follow each input on its own: which tokens know of it after each layer."""
    n = masks.shape[-1]
    columns = []
    for source in range(n):
        knows = {source}
        for layer in masks.tolist():
            knows = knows | {t for t in range(n) if any(layer[t][s] for s in knows)}
        columns.append([t in knows for t in range(n)])
    reached = torch.tensor(columns).T
    return reached, torch.tensor(any(reached[t, s] for t in range(n) for s in range(t + 1, n)))
