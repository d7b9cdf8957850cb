"""Tasks that look for what made a table: the candidate that explains most cells, and how values were mixed."""

import math
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch14_find_the_error.printing import near, round_to, slipped
from softlookup_judge.chapters.draws import Rng, softmax
from softlookup_judge.data.published import described


def _hypothesis_cases(rng: Rng) -> list[Case]:
    x, w = rng.standard_normal((5, 3)), rng.standard_normal((3, 3))
    turned = np.stack([x @ w, x @ w.T, x[:, :2] @ w[:2]])
    mixed = round_to(np.where(np.arange(15).reshape(5, 3) % 3 == 1, turned[1], turned[2]), 2)
    true = rng.standard_normal((4, 6))
    # The second explains ten cells of 24 and misses the others by much, the first is close everywhere, and wrong.
    close, half = true + 0.012, np.where(np.arange(24).reshape(4, 6) < 10, true, true + 9.0)
    drawn = rng.standard_normal((4, 3, 5))
    which = int(rng.integers(1, 4))
    tables = (
        ("a matrix and its transpose", round_to(turned[1], 2), turned, 2),
        ("a table of two recipes", mixed, turned, 2),
        ("close everywhere, or right in places", round_to(true, 2), np.stack([close, half]), 2),
        ("two that explain as much", round_to(drawn[2], 2), np.stack([drawn[0], drawn[2], drawn[2], drawn[1]]), 2),
        ("four drawn at random", slipped(rng, round_to(drawn[which], 1), 1), drawn, 1),
        ("the first of them", round_to(drawn[0], 3), np.stack([drawn[0], drawn[0] + 0.004]), 3),
        ("the second of two that are close", round_to(drawn[1], 3), np.stack([drawn[1] + 0.004, drawn[1]]), 3),
        ("in the millions", round_to(1e6 * drawn[0], 0), 1e6 * np.stack([drawn[0] + 3e-6, drawn[0]]), 0),
        ("nothing fits", round_to(drawn[0] + 50.0, 2), drawn[1:], 2),
    )
    return [Case(label, (shown, made, places), frame="numpy") for label, shown, made, places in tables]


def _best(printed: np.ndarray, candidates: np.ndarray, places: int) -> tuple[int, int]:
    best, most = 0, -1
    for i, candidate in enumerate(candidates):
        count = int(near(printed, candidate, places).sum())
        if count > most:
            best, most = i, count
    return best, most


HYPOTHESIS = described("14.hypothesis", cases=_hypothesis_cases, oracle=_best, frame="numpy")


def _mixed(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    scores = q @ k.T
    scaled = scores / math.sqrt(q.shape[1])
    ways = (softmax(scaled), softmax(scores), softmax(scaled, axis=0), np.full_like(scores, 1 / len(k)))
    return [weights @ v for weights in ways]


def _uniform_cases(rng: Rng) -> list[Case]:
    def drawn(t: int, s: int, h: int, width: int = 3) -> tuple[np.ndarray, ...]:
        q, k = 1.5 * rng.standard_normal((t, h)), 1.5 * rng.standard_normal((s, h))
        return q, k, 3 * rng.standard_normal((s, width))

    named = ("softmax of scaled scores", "softmax of unscaled scores", "softmax down the columns", "equal weights")
    cases: list[tuple[Any, ...]] = []
    for way, label in enumerate(named):
        args = drawn(4, 6, 3)
        cases.append((label, *args, round_to(_mixed(*args)[way], 2), 2))
        args = drawn(5, 5, 2)
        cases.append((f"{label}, as many queries as keys", *args, round_to(_mixed(*args)[way], 3), 3))
    q, k, v = drawn(4, 5, 3)
    finely = round_to(_mixed(q, k, v)[0], 4)
    finely[1, 2] += 2e-4
    slip = round_to(_mixed(q, k, v)[0], 2)
    slip[2, 1] += 0.05
    spoilt = round_to(_mixed(q, k, v)[3], 2)
    spoilt[0] = round_to(_mixed(q, k, v)[1], 2)[0]
    late = round_to(_mixed(q, k, v)[0], 2)
    late[0] += 50.0
    cases += [
        ("scaled scores but for the first row", q, k, v, late, 2),
        ("scaled scores, and a slip in one cell", q, k, v, round_to(slip, 2), 2),
        ("a slip of two units in the fourth place", q, k, v, round_to(finely, 4), 4),
        ("unscaled scores, one place", q, k, v, round_to(_mixed(q, k, v)[1], 1), 1),
        ("equal weights but for the first row", q, k, v, spoilt, 2),
        ("equal values: every mean is the same", q, k, np.ones((5, 2)), np.ones((4, 2)), 2),
        ("a head of width one", *(narrow := drawn(3, 4, 1)), round_to(_mixed(*narrow)[0], 2), 2),
    ]
    return [Case(label, tuple(args), frame="numpy") for label, *args in cases]


def _uniform(q: np.ndarray, k: np.ndarray, v: np.ndarray, printed: np.ndarray, places: int) -> int:
    """With torch's own attention where it can."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention as attention

    queries, keys, values = (torch.from_numpy(array) for array in (q, k, v))
    columns = torch.softmax(keys @ queries.T / math.sqrt(q.shape[1]), dim=1).T
    ways = (
        attention(queries, keys, values),
        attention(queries, keys, values, scale=1.0),
        columns @ values,
        values.mean(dim=0).expand(len(q), -1),
    )
    for number, made in enumerate(ways):
        if bool(near(printed, made.numpy(), places).all()):
            return number
    return 4


UNIFORM = described("14.uniform", cases=_uniform_cases, oracle=_uniform, frame="numpy")
