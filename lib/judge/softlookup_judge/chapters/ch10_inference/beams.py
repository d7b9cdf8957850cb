"""Tasks on beam search: one step, all of it in a table model, and ranking texts of different lengths."""

from itertools import product
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


def log_shares(x: np.ndarray) -> np.ndarray:
    """Logarithms of the softmax of each row."""
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def _step_cases(rng: Rng) -> list[Case]:
    def case(label: str, w: int, v: int, beams: int) -> Case:
        totals = -np.abs(doubles(rng, w, scale=2.0)) - 1.0
        return Case(label, (totals, log_shares(doubles(rng, w, v, scale=1.5)), beams))

    first = np.array([-0.25]), log_shares(doubles(rng, 1, 6)), 3
    # The likeliest text has the two best continuations, and another one none at all.
    totals = np.array([-1.0, -6.0, -2.0])
    log_p = np.log(np.array([[0.5, 0.3, 0.15, 0.05], [0.9, 0.05, 0.03, 0.02], [0.6, 0.2, 0.15, 0.05]]))
    return [
        case("W = 3, V = 7, four are kept", 3, 7, 4),
        case("W = V = 4, four are kept", 4, 4, 4),
        Case("a single text is open", first),
        Case("a text that nothing comes of", (totals, log_p, 3)),
        case("everything is kept", 2, 3, 6),
        case("one is kept: greedy", 1, 5, 1),
        case("W = 2, V = 300, forty are kept", 2, 300, 40),
    ]


@graded("10.beam-step", _step_cases)
def _step(totals: Any, log_p: Any, beams: int) -> Any:
    """All continuations in a list, sorted."""
    w, v = log_p.shape
    continuations = sorted(
        ((float(totals[i] + log_p[i, j]), i, j) for i, j in product(range(w), range(v))), reverse=True
    )
    kinds = torch.float64, torch.int64, torch.int64  # a stand-in's parents and tokens are looked up with
    return tuple(
        torch.tensor([continuation[n] for continuation in continuations[:beams]], dtype=dtype)
        for n, dtype in enumerate(kinds)
    )


def _renamed(table: np.ndarray, start_id: int, end_id: int) -> tuple[np.ndarray, int, int]:
    """The same table with other ids for the tokens 0 and 1, which begin and end a text."""
    others = [i for i in range(len(table)) if i not in (start_id, end_id)]
    ids = [start_id, end_id, *others]
    renamed = np.empty_like(table)
    renamed[np.ix_(ids, ids)] = table
    return renamed, start_id, end_id


def _tables(rng: Rng, v: int, beams: int, limit: int, alpha: float, *, end_bias: float = 0.0) -> Case:
    """A table whose best text is far enough ahead of the next, so that rounding decides nothing."""
    table = doubles(rng, v, v, scale=1.6)
    table[:, 1] += end_bias
    table[0, 1] -= 2.0  # hardly any text ends at once
    label = f"V = {v}, beam of {beams}, at most {limit} tokens, alpha = {alpha:g}"
    ids = [int(i) for i in rng.permutation(v)[:2]]
    return Case(label, (*_renamed(log_shares(table), *ids), beams, limit, alpha))


def _garden_path(rng: Rng) -> np.ndarray:
    """Greedy takes token 2 and is then lost among equals; 3 leads on to sure things."""
    p = rng.uniform(0.015, 0.025, size=(6, 6))
    p[0, [2, 3]] = 0.5, 0.42
    p[2] = [0.01, 0.25, 0.04, 0.05, 0.33, 0.32]
    p[3, 4] = p[4, 5] = 0.9
    p[5, 1] = 0.9
    return np.log(p / p.sum(1, keepdims=True))


def _early_end(rng: Rng) -> np.ndarray:
    """A short text ends at once; the best one goes on as the second of two."""
    p = rng.uniform(0.005, 0.01, size=(6, 6))
    p[0] = [0.05, 0.42, 0.4, 0.05, 0.04, 0.04]
    p[2, [3, 4]] = 0.5, 0.45
    p[3] = [0.05, 0.06, 0.15, 0.24, 0.26, 0.25]
    p[4, 5] = p[5, 1] = 0.97
    return np.log(p / p.sum(1, keepdims=True))


def _rows(rng: Rng, rows: dict[int, dict[int, float]]) -> np.ndarray:
    """A table of six tokens with a few likely ones in each row; the rest is shared out unevenly."""
    p = rng.uniform(0.005, 0.01, size=(6, 6))
    for row, likely in rows.items():
        p[row, list(likely)] = list(likely.values())
    return np.log(p / p.sum(1, keepdims=True))


def _ends_take_places(rng: Rng) -> np.ndarray:
    """The end is among the two likeliest at first; 3 would lead on to sure things, if it were kept in its place."""
    return _rows(rng, {0: {2: 0.4, 1: 0.34, 3: 0.24}, 2: {4: 0.3, 1: 0.25, 5: 0.2, 0: 0.2}, 3: {5: 0.95}, 5: {1: 0.95}})


def _two_end_early(rng: Rng) -> np.ndarray:
    """Two texts have ended while the best one is still open."""
    return _rows(rng, {0: {2: 0.45, 1: 0.36}, 2: {3: 0.51, 1: 0.45}, 3: {4: 0.95}, 4: {1: 0.95}})


def _lost_at_the_second_step(rng: Rng) -> np.ndarray:
    """3, 4 and the end is the likeliest text of all; after two steps two others are ahead of its beginning."""
    likely: dict[int, dict[int, float]] = {
        0: {2: 0.5, 3: 0.46},
        2: {5: 0.52, 0: 0.44},
        3: {4: 0.42, 2: 0.4, 0: 0.14},
        4: {1: 0.97},
        5: {1: 0.3, 0: 0.2, 2: 0.18, 3: 0.15, 5: 0.1},
    }
    return _rows(rng, likely)


def _more_than_tokens(rng: Rng) -> np.ndarray:
    """What leads on to sure things is the seventh of all continuations, and there are six tokens."""
    spread = {2: 0.34, 3: 0.33, 4: 0.31}
    likely = {
        0: {2: 0.38, 3: 0.34, 4: 0.26},
        2: spread,
        3: spread,
        4: {5: 0.34, 2: 0.22, 3: 0.22, 4: 0.2},
        5: {1: 0.97},
    }
    return _rows(rng, likely)


def _beam_cases(rng: Rng) -> list[Case]:
    return [
        Case("a text that ends takes a place, beam of 2", (*_renamed(_ends_take_places(rng), 4, 2), 2, 5, 2.0)),
        Case("two texts end while a better one is open", (*_renamed(_two_end_early(rng), 3, 0), 2, 6, 2.0)),
        Case("a beam wider than the table, V = 6, beam of 8", (*_renamed(_more_than_tokens(rng), 1, 5), 8, 4, 0.5)),
        Case("the best text of all is dropped at the second step", (_lost_at_the_second_step(rng), 0, 1, 2, 5, 0.5)),
        Case("a limit of one token, beam of 3", (_garden_path(rng), 0, 1, 3, 1, 1.0)),
        Case("two tokens in all, beam of 1", (log_shares(np.array([[1.0, 0.2], [0.0, 0.0]])), 0, 1, 1, 3, 1.0)),
        Case("a garden path, beam of 2", (_garden_path(rng), 0, 1, 2, 6, 0.6)),
        Case("a garden path, cut off after 3 tokens", (_garden_path(rng), 0, 1, 3, 3, 1.0)),
        Case("a garden path, beam of 1: greedy", (_garden_path(rng), 0, 1, 1, 6, 0.0)),
        Case("a short text ends at once, beam of 2", (_early_end(rng), 0, 1, 2, 5, 2.0)),
        _tables(rng, 6, 4, 5, 1.0),
        _tables(rng, 5, 3, 6, 2.0, end_bias=0.5),
        _tables(rng, 7, 5, 4, 0.6, end_bias=1.0),
        _tables(rng, 4, 4, 4, 0.0),
        _tables(rng, 4, 20, 3, 1.5, end_bias=0.5),
    ]


@graded("10.beam", _beam_cases, cuts=False)
def _beam(table: Any, start_id: int, end_id: int, beams: int, limit: int, alpha: float) -> Any:
    """The same with tuples and sorting: texts as keys, finished ones put aside."""
    open_texts: dict[tuple[int, ...], float] = {(): 0.0}
    finished: dict[tuple[int, ...], float] = {}
    while open_texts:
        longer = {
            (*text, token): total + float(table[(text or (start_id,))[-1], token])
            for text, total in open_texts.items()
            for token in range(len(table))
        }
        best = sorted(longer, key=longer.__getitem__, reverse=True)[:beams]
        done = [text for text in best if text[-1] == end_id or len(text) == limit]
        finished |= {text: longer[text] / ((5 + len(text)) / 6) ** alpha for text in done}
        open_texts = {text: longer[text] for text in best if text not in done}
    winner = max(finished, key=finished.__getitem__)
    return torch.tensor(winner), torch.tensor(finished[winner], dtype=torch.float64)


def _score_cases(rng: Rng, base: int, below: int) -> list[Case]:
    def case(label: str, lengths: list[int], m: int, end: int, alpha: float) -> Case:
        """Texts of these lengths, the end token counted; 0 stands for one without an end."""
        free = [n for n in range(9) if n != end]
        ids = rng.choice(free, size=(len(lengths), m))
        for row, n in zip(ids, lengths, strict=True):
            if n:
                row[n - 1] = end
                # Behind the end stands whatever it was filled up with, mostly the end token again.
                row[n:] = rng.choice([end, end, free[0]], size=m - n)
        log_p = -np.abs(normal(rng, len(lengths), m, scale=1.5)) - np.float32(0.1)
        return Case(label, (log_p, ids, end, alpha))

    return [
        case("three texts, alpha = 0.6", [2, 4, 5], 6, 3, 0.6),
        case("as many texts as tokens, alpha = 1", [1, 3, 2, 4], 4, 0, 1.0),
        case("one of them has no end token", [3, 0], 5, 7, 0.8),
        case("alpha = 0: no penalty", [2, 5, 3], 5, 1, 0.0),
        case("a text of the end token alone", [1], 3, 2, 1.3),
        case("long texts, alpha = 0.7", [8, 13, 0], 14, 4, 0.7),
        case("texts of some hundred tokens, alpha = 0.6", [140, 0, 150], 160, 5, 0.6),
    ]


@graded(
    "10.score", _score_cases, variants=tuple({"base": base, "below": base + 1} for base in (5, 2, 1, 3, 4, 6, 7, 8, 9))
)
def _score(log_p: Any, ids: Any, end_id: int, alpha: float, base: int, below: int) -> Any:
    """Text by text, cut at its first end."""
    scores = []
    for row, text in zip(log_p, ids.tolist(), strict=True):
        n = text.index(end_id) + 1 if end_id in text else len(text)
        scores.append(row[:n].sum() * ((base + n) / below) ** -alpha)
    return torch.stack(scores)
