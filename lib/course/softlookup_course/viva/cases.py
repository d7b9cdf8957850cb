"""Small inputs for tasks: arrays of two or three rows with one-digit numbers, worked through by hand in two minutes.

The inputs of a check are large and have many digits. Here each task has a few lines that draw its arguments under the
published convention; what cannot be drawn small is no matter for paper.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from softlookup_inside.asking.case import CORE, Case
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.questions import HOME_SEED, draw

Rng = np.random.Generator
Arguments = tuple[Any, ...]

_WHOLE_LENGTHS = np.array([[3, 4], [4, 3], [0, 2], [5, 0], [0, 1], [2, 0]], dtype="float32")
_WHOLE_NORMS = np.array([[1, 7], [7, 1], [2, 2], [7, 17], [3, -3]], dtype="float32")
_EVEN_GAPS = np.array([[0, 4], [6, 2], [1, 3], [5, 1], [2, 8]], dtype="float32")
"""Rows whose length, root mean square or standard deviation is a whole number."""

_QUARTERS = np.array([[1, 3], [2, 2], [3, 1], [0, 4]], dtype="float32") / 4
_TENTHS = np.array([0.4, 0.3, 0.2, 0.1])
_DRAWS = np.array([0.1, 0.4, 0.6, 0.9])
_AVERAGING = tuple(np.array(w, "float32") for w in ([[0, 0], [0, 0]], [[1], [2]], [[1], [-1]], [[1, 1], [2, 0]]))
"""Weights of an attention that gives all tokens the same weight: its queries are 0."""

_SHEARS = np.array([[[1, 0], [1, 1]], [[1, 1], [0, 1]], [[0, 1], [1, 1]], [[1, 1], [1, 0]]], dtype="float32")


def small_cases(variant: Variant, rng: Rng) -> list[Case]:
    """Draw small, round inputs of a task; none where the task has no small inputs."""
    make_arguments = _SMALL.get(variant.task.id)
    ordinary = (case for case in draw(variant, HOME_SEED) if case.part == CORE and not case.gradients)
    usual = next(ordinary, None) if make_arguments is not None else None
    if make_arguments is None or usual is None or usual.frame == "text":
        return []
    cases = [replace(usual, label="small", args=args, tolerance=1e-4) for args in make_arguments(rng)]
    return cases if variant.convention is None else [variant.convention.convert_case(case) for case in cases]


def _digits(rng: Rng, *shape: int, low: int = 0, high: int = 3) -> np.ndarray:
    """One-digit numbers, not all of them alike."""
    numbers = rng.integers(low, high + 1, size=shape).astype("float32")
    if numbers.size > 1 and np.ptp(numbers) == 0:
        numbers.flat[0] += 1
    return numbers


def _different_rows(rng: Rng, rows: int, columns: int, low: int = 0, high: int = 3) -> np.ndarray:
    """A matrix that its transpose, and an exchange of its rows, would change."""
    for _ in range(50):
        matrix = _digits(rng, rows, columns, low=low, high=high)
        unlike = len(np.unique(matrix, axis=0)) == rows and len(np.unique(matrix, axis=1).T) == columns
        if unlike and (rows != columns or not np.array_equal(matrix, matrix.T)):
            return matrix
    return matrix


def _scores_of(rng: Rng, rows: int, keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys of width 4, each with two numbers that are not 0, whose scores differ within every row."""
    for _ in range(500):
        both = np.zeros((rows + keys, 4), dtype="float32")
        for row in both:
            row[rng.choice(4, 2, replace=False)] = rng.choice([1, 2, 2, 3], 2)
        q, k = both[:rows], both[rows:]
        scores = q @ k.T
        if all(len(set(row)) == keys for row in scores.tolist()) and np.ptp(scores) <= 9:
            break
    return q, k


def _causal(size: int) -> np.ndarray:
    return np.tril(np.ones((size, size), dtype=bool))


def _mask(rng: Rng, rows: int, keys: int, blind: bool = False) -> np.ndarray:
    """A mask that hides one key of every query, each another one; the last query sees nothing if it is blind."""
    mask = np.ones((rows, keys), dtype=bool)
    for row, hidden in zip(mask, np.resize(rng.permutation(keys), rows), strict=True):
        row[hidden] = keys < 3 and blind
    if blind:
        mask[-1] = False
    return mask


def _logarithms(rng: Rng, *rows: tuple[int, ...]) -> np.ndarray:
    """Logarithms of whole numbers, so that a softmax is a quotient of such numbers."""
    return np.log(np.stack([rng.permutation(row) for row in rows]).astype("float32"))


_SMALL: dict[str, Callable[[Rng], list[Arguments]]] = {
    "02.mix": lambda rng: [(_digits(rng, 2, 2, low=1, high=4), _different_rows(rng, 2, 2))],
    "02.similarity": lambda rng: [(_WHOLE_LENGTHS[rng.choice(6, 2, False)], _WHOLE_LENGTHS[rng.choice(6, 3, False)])],
    "02.weights": lambda rng: [(_logarithms(rng, (1, 2), (1, 3)), 2.0), (_logarithms(rng, (1, 4), (4, 9)), 0.5)],
    "02.lookup": lambda rng: [(*(_different_rows(rng, 2, 2) for _ in range(2)), _different_rows(rng, 2, 2, high=4))],
    "02.limit": lambda rng: [(_logarithms(rng, (1, 3), (1, 4)), _different_rows(rng, 2, 2))],
    "04.project": lambda rng: [tuple(_different_rows(rng, 2, 2, high=high) for high in (3, 2, 2, 2))],
    "04.scores": lambda rng: [(_different_rows(rng, 2, 2), _different_rows(rng, rows, 2)) for rows in (2, 3)],
    "04.scale": lambda rng: [(2 * _different_rows(rng, 2, 2, high=4), 4), (_different_rows(rng, 2, 2, high=8), 16)],
    "04.softmax": lambda rng: [(_logarithms(rng, (1, 3), (2, 8)),), (_logarithms(rng, (1, 2, 5))[0],)],
    "04.column": lambda rng: [
        (*(part[0] if at == 0 else part for at, part in enumerate(_scores_of(rng, 1, 2))), _different_rows(rng, 2, 2))
    ],
    "04.weights": lambda rng: [
        _scores_of(rng, 2, 3),
        (*_scores_of(rng, 2, 2), _causal(2)),
        (*_scores_of(rng, 2, 3), _mask(rng, 2, 3, blind=True)),
    ],
    "04.attention": lambda rng: [
        (*_scores_of(rng, 2, 2), _different_rows(rng, 2, 2, high=4), *mask)
        for mask in ((), (_causal(2),), (_mask(rng, 2, 2, blind=True),))
    ],
    "04.softmax-backward": lambda rng: [(np.array([[0.25, 0.75], [0.5, 0.5]]), _different_rows(rng, 2, 2, high=4))],
    "05.dropout": lambda rng: [
        (
            _QUARTERS[rng.choice(4, 2, False)],
            _different_rows(rng, 2, 2, high=8),
            rng.permutation(_DRAWS).reshape(2, 2),
            0.5,
            True,
        )
    ],
    "05.multi-head": lambda rng: [
        (2, 2, 1, 1, *_AVERAGING, _different_rows(rng, 3, 2, high=4)[None]),
        (2, 2, 1, 1, *_AVERAGING, _different_rows(rng, 2, 2, high=4)[None], _causal(2)),
    ],
    "06.relative": lambda rng: [(3, 3, 0), (2, 4, 1)],
    "06.add": lambda rng: [(_different_rows(rng, 2, 4)[None], _different_rows(rng, 4, 4, high=9), 1)],
    "07.residual": lambda rng: [
        (_different_rows(rng, 2, 2, low=-1), np.stack([_different_rows(rng, 2, 2, low=-1, high=2) for _ in range(2)]))
    ],
    "07.layer-norm": lambda rng: [(_EVEN_GAPS[rng.choice(5, 2, False)], np.arange(1.0, 3), np.arange(2.0), 0.0)],
    "07.rms-norm": lambda rng: [(_WHOLE_NORMS[rng.choice(5, 2, False)], np.array([1.0, 2.0]), 0.0)],
    "07.feed-forward": lambda rng: [
        tuple(_digits(rng, 2, low=-2) if bias else _different_rows(rng, 2, 2, low=-1) for bias in (0, 0, 1, 0, 1))
    ],
    "07.pooling": lambda rng: [
        (2 * _different_rows(rng, 3, 2, high=9)[None], np.array([rng.permutation([True, True, False])]))
    ],
    "08.causal": lambda rng: [(3, 3), (2, 3), (2, 4)],
    "08.masked-softmax": lambda rng: [
        (_logarithms(rng, (1, 3, 6), (2, 3, 5)), _mask(rng, 2, 3, blind)) for blind in (False, True)
    ],
    "08.leak": lambda rng: [(np.stack([_causal(3), _causal(3)]),), (np.stack([_mask(rng, 3, 3), _causal(3)]),)],
    "08.cross-attention": lambda rng: [
        (*(_different_rows(rng, 2, 2)[None] for _ in range(2)), *rng.permutation(_SHEARS), heads) for heads in (1, 2)
    ],
    "08.labels": lambda rng: [([rng.integers(11, 20, size=n).tolist() for n in (2, 1)], 1, 2, 0)],
    "09.shift": lambda rng: [(np.concatenate([rng.integers(1, 10, (2, 3)), [[0], [4]]], axis=1), 0)],
    "09.accumulate": lambda rng: [
        (np.array([10.0, 10.0]), 2 * _different_rows(rng, 3, 2, high=6), np.array([2.0, 2.0, 1.0]), 2, 1.0)
    ],
    "09.dropout": lambda rng: [(_different_rows(rng, 2, 2, high=9), rng.permutation(_DRAWS).reshape(2, 2), 0.5, True)],
    "10.next": lambda rng: [(rng.permutation(12).reshape(2, 2, 3).astype("float32"), rng.permutation([1, 2]))],
    "10.temperature": lambda rng: [(_logarithms(rng, (1, 9), (4, 16)), 2.0), (_digits(rng, 2, 3, high=5), 0)],
    "10.top-k": lambda rng: [(_logarithms(rng, (1, 3, 4, 9), (1, 2, 6, 8)), 2)],
    "10.top-p": lambda rng: [
        (np.stack([rng.permutation(_TENTHS) for _ in range(rows)]), limit) for rows, limit in ((1, 0.6), (2, 0.8))
    ],
    "10.draw": lambda rng: [
        (np.stack([rng.permutation(_TENTHS) for _ in range(2)]), rng.choice([0.25, 0.45, 0.65, 0.85], 2, replace=False))
    ],
    "10.score": lambda rng: [
        (-_digits(rng, 2, 4, low=1, high=4), np.array([[3, 1, 2, 5], [4, 5, 1, 3]]), end, 0.0) for end in (2, 5)
    ],
    "10.beam-step": lambda rng: [
        (-rng.permutation([1.0, 3.0]), -rng.permutation([1, 2, 4, 6, 9, 12]).reshape(2, 3) / 2, n) for n in (2, 3)
    ],
    **dict.fromkeys(
        ("05.heads", "10.attend"),
        lambda rng: [
            tuple(x[None, None] for x in (*_scores_of(rng, 2, keys), _different_rows(rng, keys, 2, high=8)))
            for keys in (3, 3, 2)
        ],
    ),
    "10.append": lambda rng: [(*(_digits(rng, 2, 1, 1, 2, high=9) for _ in range(4)), np.array([1, 0]))],
    "10.positions": lambda rng: [(np.array([[False, *rng.permutation([False, True]), True], 4 * [True]]), 2)],
    "13.frames": lambda rng: [(rng.permutation(np.arange(1, 8))[None].astype("float32"), 3, 2)],
    "13.rollout": lambda rng: [(np.stack([_QUARTERS[rng.choice(4, 2, False)][None] for _ in range(2)]),)],
    "15.accept": lambda rng: [(rng.permutation(_TENTHS)[None], rng.permutation(_TENTHS)[None])],
}

TASKS = tuple(_SMALL)
"""Ids of the tasks that have small inputs."""
