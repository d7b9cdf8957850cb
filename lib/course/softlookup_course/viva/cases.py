"""Small inputs for tasks: arrays of two or three rows with one-digit numbers, worked through by hand in two minutes.

The inputs of a check are large and have many digits. Here each task has a few lines that draw its arguments under the
published convention; what cannot be drawn small is no matter for paper.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from softlookup_inside.asking.case import CORE, Case
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import HOME_SEED, draw

Rng = np.random.Generator
Arguments = tuple[Any, ...]

_PLAIN = (
    "All norms have gain 1 and bias 0. An attention gives all tokens that it may attend to the same weight, and "
    "returns the mean of their vectors. The feed-forward network returns max(x, 0)."
)
WEIGHTS_IN_WORDS = dict.fromkeys(("07.encoder-layer", "07.encoder", "08.decoder-layer"), _PLAIN)
"""What small inputs say of a layer's weights, which would fill a page."""

_UNSHOWN = frozenset(("attention", "w_1", "b_1", "w_2", "b_2", "norms"))
"""Arguments that are weights, where a layer is a function."""

SMALL, SHAPES, HIDDEN = "small", "shapes", "hidden"
"""Labels: an input whose numbers are shown, one of which the shapes alone are, and one that is not shown."""

HEAD_WIDTH = 4
"""A head width whose root is a whole number."""


def small_cases(variant: Variant, rng: Rng) -> list[Case]:
    """Draw small inputs of a task, each with a right answer.

    Args:
        variant: What is asked.
        rng: Draws the numbers.

    Returns:
        Questions as the task's own, with fewer and rounder numbers, and last one of the task's own; none
        where the task has no small inputs.
    """
    drawn = _SMALL.get(variant.task.id)
    if drawn is None:
        return []
    usual = _usual(variant)
    if usual is None or usual.frame == "text":
        return []
    cases = []
    for args in drawn(rng):
        case = replace(usual, label=SMALL, args=args, tolerance=1e-4)
        case = case if variant.convention is None else variant.convention.convert_case(case)
        if _has_an_answer(variant, case):
            cases.append(case)
    has_shapes = any(isinstance(arg, np.ndarray) and arg.ndim > 1 for arg in usual.args)
    has_shapes = has_shapes and variant.task.id not in _AS_LONG_AS_NUMBERS_SAY
    usual = replace(usual, label=SHAPES if has_shapes else HIDDEN)
    return [*cases, usual] if cases else []


def shown_inputs(variant: Variant, case: Case) -> list[tuple[str, Any]]:
    """The arguments that are shown, each with its name: all but weights that are said in words, or have no numbers."""
    pairs = zip(variant.input_names(case), case.args, strict=True)
    in_words = variant.task.id in WEIGHTS_IN_WORDS
    weights = {*case.parameters} if in_words or case.label != SMALL else set()
    weights |= _UNSHOWN if in_words else set()
    return [(name, value) for name, value in pairs if name not in weights]


@lru_cache(maxsize=256)
def _usual(variant: Variant) -> Case | None:
    """The first ordinary question of a task's check."""
    return next((case for case in draw(variant, HOME_SEED) if case.part == CORE and not case.gradients), None)


def _has_an_answer(variant: Variant, case: Case) -> bool:
    try:
        right = expected_results(variant, case)
    except Exception:  # a course's own variant of the task may take other arguments
        return False
    return all(array.size and not np.isnan(array.astype(np.float64)).any() for array in right)


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


def _sparse(rng: Rng, rows: int) -> np.ndarray:
    """Vectors of the head width with two numbers that are not 0, so that a dot product is soon done."""
    while True:
        matrix = np.zeros((rows, HEAD_WIDTH), dtype="float32")
        for row in matrix:
            row[rng.choice(HEAD_WIDTH, 2, replace=False)] = rng.choice([1, 2, 2, 3], 2)
        if len(np.unique(matrix, axis=0)) == rows:
            return matrix


def _whole_lengths(rng: Rng, rows: int) -> np.ndarray:
    """Vectors whose lengths are whole numbers."""
    vectors = np.array([[3, 4], [4, 3], [0, 2], [5, 0], [0, 1], [2, 0]], dtype="float32")
    return vectors[rng.choice(len(vectors), rows, replace=False)]


def _scores_of(rng: Rng, rows: int, keys: int) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys whose scores differ within every row, by no more than a few."""
    for _ in range(200):
        q, k = _sparse(rng, rows), _sparse(rng, keys)
        scores = q @ k.T
        if all(len(set(row)) == keys for row in scores.tolist()) and np.ptp(scores) <= 9:
            return q, k
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


def _weights(rng: Rng, rows: int, keys: int) -> np.ndarray:
    """Rows of quarters with sum 1, no two alike."""
    for _ in range(50):
        weights = rng.multinomial(4, np.full(keys, 1 / keys), size=rows).astype("float32") / 4
        if len(np.unique(weights, axis=0)) == rows and (weights.sum(0) != 1).any():
            return weights
    return weights


def _sure_weights(rng: Rng) -> np.ndarray:
    """Two rows of weights, none of them 0."""
    first = rng.permutation([1, 2, 3])[:2] / 4
    return np.stack([first, 1 - first], axis=-1)


def _probabilities(rng: Rng) -> np.ndarray:
    """Four probabilities in tenths, no two alike, in any order."""
    return rng.permutation([0.4, 0.3, 0.2, 0.1])


def _attention(rng: Rng) -> list[Arguments]:
    return [
        (*_scores_of(rng, 2, 2), _different_rows(rng, 2, 2, high=4)),
        (*_scores_of(rng, 2, 2), _different_rows(rng, 2, 2, high=4), _causal(2)),
        (*_scores_of(rng, 2, 2), _different_rows(rng, 2, 2, high=4), _mask(rng, 2, 2, blind=True)),
    ]


def _weighing(rng: Rng) -> list[Arguments]:
    return [
        _scores_of(rng, 2, 3),
        (*_scores_of(rng, 2, 2), _causal(2)),
        (*_scores_of(rng, 2, 3), _mask(rng, 2, 3, blind=True)),
    ]


def _masked_softmax(rng: Rng) -> list[Arguments]:
    scores = _logarithms(rng, (1, 3, 6), (2, 3, 5))
    return [(scores, _mask(rng, 2, 3)), (scores, _mask(rng, 2, 3, blind=True)), (scores[:, :2], _causal(2))]


def _padded(rng: Rng, rows: int, length: int) -> np.ndarray:
    ids = rng.integers(1, 10, size=(rows, length))
    for row in ids:
        row[int(rng.integers(2, length)) :] = 0
    return ids


def _hidden_tokens(rng: Rng) -> list[Arguments]:
    ids, other = (rng.integers(11, 50, size=(1, 5)) for _ in range(2))
    special = np.array([[True, False, False, False, False]])
    u = np.array([[0.1, *rng.permutation([0.3, 0.43, 0.48, 0.7])]])
    return [(ids, special, u, other, 4, 0.5)]


def _texts(rng: Rng) -> list[Arguments]:
    ids = np.array([[3, 1, 2, 5], [4, 5, 1, 3]])
    log_p = -_digits(rng, 2, 4, low=1, high=4)
    return [(log_p, ids, 2, 0.0), (log_p, ids, 5, 0.0)]


def _beams(rng: Rng) -> list[Arguments]:
    totals = -rng.permutation([1, 3]).astype("float32")
    log_p = -rng.permutation([1, 2, 4, 6, 9, 12]).reshape(2, 3).astype("float32") / 2
    return [(totals, log_p, 2), (totals, log_p, 3)]


def _lookups(rng: Rng) -> list[Arguments]:
    return [(_different_rows(rng, 2, 2), _different_rows(rng, 2, 2), _different_rows(rng, 2, 2, high=4))]


def _projected(rng: Rng) -> list[Arguments]:
    return [(_different_rows(rng, 2, 2), *(_different_rows(rng, 2, 2, high=2) for _ in range(3)))]


def _logarithms(rng: Rng, *rows: tuple[int, ...]) -> np.ndarray:
    """Logarithms of whole numbers, so that a softmax is a quotient of such numbers."""
    return np.log(np.stack([rng.permutation(row) for row in rows]).astype("float32"))


def _real(rng: Rng) -> np.ndarray:
    real = np.ones((2, 4), dtype=bool)
    real[0, : int(rng.integers(1, 3))] = False
    return real


def _logits_rows(rng: Rng) -> np.ndarray:
    return _logarithms(rng, (1, 3, 4, 9), (1, 2, 6, 8))


def _dropped(rng: Rng) -> tuple[np.ndarray, float, bool]:
    """Draws of which a quarter to a half falls below the share that is dropped."""
    return rng.permutation([0.1, 0.4, 0.6, 0.9]).reshape(2, 2), 0.5, True


def _rows_of_norm(rng: Rng) -> np.ndarray:
    """Rows of two numbers whose root mean square is a whole number."""
    rows = np.array([[1, 7], [7, 1], [2, 2], [7, 17], [3, -3]], dtype="float32")
    return rows[rng.choice(len(rows), 2, replace=False)]


def _layer_normed(rng: Rng) -> list[Arguments]:
    rows = np.array([[0, 4], [6, 2], [1, 3], [5, 1], [2, 8]], dtype="float32")[rng.choice(5, 2, replace=False)]
    return [(rows, np.array([1.0, 2.0]), np.array([0.0, 1.0]), 0.0)]


def _fed_forward(rng: Rng) -> list[Arguments]:
    x, w_1, w_2 = (_different_rows(rng, 2, 2, low=-1, high=2) for _ in range(3))
    return [(x, w_1, _digits(rng, 2, low=-2, high=1), w_2, _digits(rng, 2, low=0, high=2))]


def _accumulated(rng: Rng) -> list[Arguments]:
    gradients = _different_rows(rng, 3, 2, high=6)
    return [(np.array([10.0, 10.0]), 2 * gradients, np.array([2.0, 2.0, 1.0]), 2, 1.0)]


def _heads(rng: Rng) -> list[Arguments]:
    forms = np.array([[[1, 0], [1, 1]], [[1, 1], [0, 1]], [[0, 1], [1, 1]], [[1, 1], [1, 0]]], dtype="float32")
    weights = forms[rng.permutation(4)]
    return [(_different_rows(rng, 2, 2)[None], _different_rows(rng, 2, 2)[None], *weights, heads) for heads in (1, 2)]


def _new_queries(rng: Rng) -> list[Arguments]:
    q, k = _scores_of(rng, 2, 3)
    return [(q[None, None], k[None, None], _different_rows(rng, 3, 2, high=8)[None, None])]


def _grown(rng: Rng) -> list[Arguments]:
    table = -np.stack([rng.permutation([1, 2, 3, 4]) for _ in range(4)]).astype("float64")
    return [(table, 0, 3, beams, 2, 0.0) for beams in (1, 2)]


def _backward(rng: Rng) -> list[Arguments]:
    """Keys whose scores are the same for every query: all weights are halves."""
    q, k = np.eye(2, 4) * rng.permutation([2.0, 4.0])[:, None], np.zeros((2, 4))
    k[:, :2], k[:, 2:] = 2 * int(rng.integers(1, 3)), rng.permutation([[2, 0], [4, 2]])
    return [(q, k, _different_rows(rng, 2, 2), _different_rows(rng, 2, 2, high=4))]


def _plain_layers(heads: int, hidden: int) -> tuple[np.ndarray, ...]:
    """Weights of one layer as ``WEIGHTS_IN_WORDS`` says them: of its attention, feed-forward network and norms."""
    unit, zero = np.eye(hidden, dtype="float32"), np.zeros(hidden, dtype="float32")
    attention = np.stack([0 * unit, 0 * unit, unit, unit])
    return attention, unit, zero, unit, zero, np.stack([1 + zero, zero, 1 + zero, zero])


def _tokens(rng: Rng, rows: int) -> np.ndarray:
    """A sequence of vectors of two numbers that a norm makes 1 and -1, in another order in some rows."""
    for _ in range(50):
        x = _different_rows(rng, rows, 2, high=5)
        larger = x[:, 0] - x[:, 1]
        if (larger > 0).any() and (larger < 0).any() and (larger != 0).all():
            return x[None]
    return np.resize(np.array([[3, 1], [0, 2]], dtype="float32"), (1, rows, 2))


def _encoder_layers(rng: Rng) -> list[Arguments]:
    layer, mask = _plain_layers(1, 2), np.array([rng.permutation([True, True, False])])
    return [(_tokens(rng, 3), *layer, 1, pre_norm, mask) for pre_norm in (True, False)]


def _stacks(rng: Rng) -> list[Arguments]:
    """One layer, with the norm behind the sum: that is how the ordinary question is."""
    layer, mask = _plain_layers(1, 2), np.array([rng.permutation([True, True, False])])
    return [(2, 1, 2, 2, False, *(np.stack([part, part]) for part in layer), _tokens(rng, 3), mask)]


def _decoder_layers(rng: Rng) -> list[Arguments]:
    unit, zero = np.eye(2, dtype="float32"), np.zeros(2, dtype="float32")
    weights = [*2 * (0 * unit, 0 * unit, unit, unit), unit, zero, unit, zero, *3 * (1 + zero, zero)]
    memory_mask = np.array([[[[True, True, False]]]])
    return [
        (2, 1, 2, *weights, _tokens(rng, 2), _tokens(rng, rows), _causal(2), memory_mask[..., -rows:])
        for rows in (2, 3)
    ]


def _multi_head(rng: Rng) -> list[Arguments]:
    """Queries of zeros: all tokens get the same weight."""
    unit, w_q = np.eye(2, dtype="float32"), np.zeros((2, 2), dtype="float32")
    w_k, w_v = _different_rows(rng, 2, 1, high=2), np.array([[1], [int(rng.choice([-1, 2]))]], dtype="float32")
    tokens = _different_rows(rng, 3, 2, high=4)[None]
    return [
        (2, 2, 1, 1, w_q, w_k, w_v, unit[::-1] + unit[:1], *rest) for rest in ((tokens,), (tokens[:, :2], _causal(2)))
    ]


def _written(rng: Rng) -> list[Arguments]:
    embedding = _different_rows(rng, 3, 2, low=-1, high=2)
    return [(embedding, *(np.eye(2, dtype="float32") for _ in range(4)), 1, np.array([1]), 0, 2)]


_SMALL: dict[str, Callable[[Rng], list[Arguments]]] = {
    "02.mix": lambda rng: [(_digits(rng, 2, 2, low=1, high=4), _different_rows(rng, 2, 2))],
    "02.similarity": lambda rng: [(_whole_lengths(rng, 2), _whole_lengths(rng, 3))],
    "02.weights": lambda rng: [(_logarithms(rng, (1, 2), (1, 3)), 2.0), (_logarithms(rng, (1, 4), (4, 9)), 0.5)],
    "02.lookup": _lookups,
    "02.limit": lambda rng: [(_logarithms(rng, (1, 3), (1, 4)), _different_rows(rng, 2, 2))],
    "04.project": _projected,
    "04.scores": lambda rng: [
        (_different_rows(rng, 2, 2), _different_rows(rng, 2, 2)),
        (_different_rows(rng, 2, 2), _different_rows(rng, 3, 2)),
    ],
    "04.scale": lambda rng: [(2 * _different_rows(rng, 2, 2, high=4), 4), (_different_rows(rng, 2, 2, high=8), 16)],
    "04.softmax": lambda rng: [(_logarithms(rng, (1, 3), (2, 8)),), (_logarithms(rng, (1, 2, 5))[0],)],
    "04.mix": lambda rng: [(_weights(rng, 2, 2), _different_rows(rng, 2, 2, high=8))],
    "04.column": lambda rng: [
        (*(part[0] if at == 0 else part for at, part in enumerate(_scores_of(rng, 1, 2))), _different_rows(rng, 2, 2))
    ],
    "04.weights": _weighing,
    "04.attention": _attention,
    "04.spread": lambda rng: [(int(rng.choice([4, 9, 16])), 1.0, float(rng.choice([2, 3])))],
    "04.cost": lambda rng: [(2, int(rng.choice([3, 5])), int(rng.choice([4, 10])), 2)],
    "04.softmax-backward": lambda rng: [(_sure_weights(rng), _different_rows(rng, 2, 2, high=4))],
    "04.backward": _backward,
    "05.dropout": lambda rng: [(_weights(rng, 2, 2), _different_rows(rng, 2, 2, high=8), *_dropped(rng))],
    "05.init": lambda rng: [(16, 4, 2), (4, 10, 2)],
    "05.parameters": lambda rng: [(10, 5, 1, 2, False), (4, 3, 1, 2, True)],
    "05.cost": lambda rng: [(1, 5, 10, 3, 1, 2)],
    "05.cache": lambda rng: [(1, 10, 3, 20, 5, 4, 2)],
    "06.relative": lambda rng: [(3, 3, 0), (2, 4, 1)],
    "06.add": lambda rng: [(_different_rows(rng, 2, 4)[None], _different_rows(rng, 4, 4, high=9), 1)],
    "07.residual": lambda rng: [
        (_different_rows(rng, 2, 2, low=-1), np.stack([_different_rows(rng, 2, 2, low=-1, high=2) for _ in range(2)]))
    ],
    "07.layer-norm": _layer_normed,
    "07.rms-norm": lambda rng: [(_rows_of_norm(rng), np.array([1.0, 2.0]), 0.0)],
    "07.feed-forward": _fed_forward,
    "05.multi-head": _multi_head,
    "07.encoder-layer": _encoder_layers,
    "07.encoder": _stacks,
    "07.pooling": lambda rng: [
        (2 * _different_rows(rng, 3, 2, high=9)[None], np.array([rng.permutation([True, True, False])]))
    ],
    "08.causal": lambda rng: [(3, 3), (2, 3), (2, 4)],
    "08.padding": lambda rng: [(_padded(rng, 2, 4), 0)],
    "08.combine": lambda rng: [(_padded(rng, 1, 3), 0)],
    "08.convert": lambda rng: [(_digits(rng, 2, 3), _mask(rng, 2, 3))],
    "08.masked-softmax": _masked_softmax,
    "08.leak": lambda rng: [(np.stack([_causal(3), _causal(3)]),), (np.stack([_mask(rng, 3, 3), _causal(3)]),)],
    "08.cross-attention": _heads,
    "08.decoder-layer": _decoder_layers,
    "08.labels": lambda rng: [([rng.integers(11, 20, size=n).tolist() for n in (2, 1)], 1, 2, 0)],
    "08.masked-tokens": _hidden_tokens,
    "09.shift": lambda rng: [(_padded(rng, 2, 4), 0)],
    "09.accumulate": _accumulated,
    "09.dropout": lambda rng: [(_different_rows(rng, 2, 2, high=9), *_dropped(rng))],
    "10.next": lambda rng: [(rng.permutation(12).reshape(2, 2, 3).astype("float32"), rng.permutation([1, 2]))],
    "10.greedy": lambda rng: [
        (np.stack([rng.permutation(4) for _ in range(4)]).astype("float32"), np.array([0]), 3, 3),
    ],
    "10.temperature": lambda rng: [(_logarithms(rng, (1, 9), (4, 16)), 2.0), (_digits(rng, 2, 3, high=5), 0)],
    "10.top-k": lambda rng: [(_logits_rows(rng), 2)],
    "10.top-p": lambda rng: [
        (_probabilities(rng)[None], 0.6),
        (np.stack([_probabilities(rng), _probabilities(rng)]), 0.8),
    ],
    "10.draw": lambda rng: [
        (np.stack([_probabilities(rng), _probabilities(rng)]), rng.choice([0.25, 0.45, 0.65, 0.85], 2, replace=False))
    ],
    "10.score": _texts,
    "10.beam-step": _beams,
    "10.beam": _grown,
    "10.attend": _new_queries,
    "10.write": _written,
    "10.append": lambda rng: [
        (*(_digits(rng, 2, 1, 1, 2, high=9) for _ in range(4)), np.array([1, 0])),
    ],
    "10.positions": lambda rng: [(_real(rng), 2)],
    "13.frames": lambda rng: [(rng.permutation(np.arange(1, 8))[None].astype("float32"), 3, 2)],
    "13.rollout": lambda rng: [(np.stack([_weights(rng, 2, 2)[None], _weights(rng, 2, 2)[None]]),)],
    "15.accept": lambda rng: [(_probabilities(rng)[None], _probabilities(rng)[None])],
    "10.cache-bytes": lambda rng: [(3, 20, 5, 4, 1, 10, 2)],
    "10.cost": lambda rng: [(int(rng.choice([2, 3])), 3)],
}

_AS_LONG_AS_NUMBERS_SAY = ("10.beam", "10.write")
"""Tasks whose results have a length that the shapes of the inputs do not tell."""

TASKS = tuple(_SMALL)
"""Ids of the tasks that have small inputs."""
