"""A nudge: what all wrong answers have in common with the right ones, computed from them, without the mistake."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from softlookup_inside.asking.case import SINGLE, Arrays, Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.data.compare import Asked, close, is_right, tolerance
from softlookup_judge.data.variant import Variant
from softlookup_judge.data.words import number_text

MOST_LABELS = 3
"""So many questions are named where more have something in common."""

ENOUGH = 3
"""Different numbers, or cells, that have to bear a sentence out: fewer do so by chance."""


def size(case: Case) -> int:
    """How many numbers a question hands over."""
    return sum(arg.size if isinstance(arg, np.ndarray) else 1 for arg in case.args)


def smallest_failed(rounds: Asked) -> int | None:
    """The index of the wrong answer to look at: one that came, of an uncut question, with the fewest numbers."""

    def rank(index: int) -> tuple[bool, bool, int]:
        case, answer, _ = rounds[index]
        return answer.arrays is None, case.part == SINGLE, size(case)

    return min((n for n, answered in enumerate(rounds) if not is_right(*answered)), key=rank, default=None)


def nudge(variant: Variant, rounds: Asked) -> str:
    """Say what can be seen of a wrong answer in one to three sentences; empty if all answers are right."""
    if smallest_failed(rounds) is None:
        return ""
    return " ".join(filter(None, (_where(rounds), relation(variant, rounds))))


@np.errstate(all="ignore")
def relation(variant: Variant, rounds: Asked) -> str:
    """Say what all wrong answers of the smallest one's kind have in common with the right ones, if anything."""
    at = smallest_failed(rounds)
    like = rounds[at][0] if at is not None else None
    if like is None or not variant.task.reveals or like.frame == "text":
        return ""
    alike = [answered for answered in rounds if answered[0].gradients == like.gradients]
    alike.sort(key=lambda answered: size(answered[0]))
    names = variant.task.returns if like.world else variant.result_names(like)
    for index, name in enumerate(names[:-1] if like.is_recorded else names):  # bytes beyond limits are worded elsewhere
        wrong = [each for answered in alike for each in _wrong(variant, names, index, *answered)]
        rights = [
            array
            for case, _, expected in alike
            for array in expected[index : len(expected) - case.is_recorded : _stride(case, expected)]
        ]
        subject = f"`{name}`" if len(names) - like.is_recorded > 1 else "your result"
        subject = name if like.gradients else subject
        for predicate in _predicates(wrong, rights) if wrong else ():
            return f"{_scope(wrong, subject)} {predicate}."
    return ""


class _Wrong(NamedTuple):
    """A wrong result: its question, the names of the inputs, what came, what is right, and other right results."""

    case: Case
    names: Sequence[str]
    got: np.ndarray
    expected: np.ndarray
    others: dict[str, np.ndarray]


_Evidence = set[float | tuple[int, int]]
_Said = Iterator[tuple[str, _Evidence]]
"""What may be said of a wrong result, and what bears it out there."""


def _stride(case: Case, arrays: Arrays) -> int:
    """How far apart results of one name are: those of a parallel program come rank by rank, and the traffic last."""
    return (len(arrays) - 1) // case.world if case.world else len(arrays)


def _wrong(
    variant: Variant, names: Sequence[str], index: int, case: Case, answer: Answer, expected_arrays: Arrays
) -> Iterator[_Wrong]:
    """The wrong results of one name in a question: of a parallel program up to one for each rank."""
    stride = _stride(case, expected_arrays)
    arrays = answer.arrays or ()
    for first in range(0, stride * max(1, case.world) if arrays else 0, stride):
        got, expected = arrays[first + index], expected_arrays[first + index]
        others = {name: expected_arrays[first + at] for at, name in enumerate(names[:stride]) if at != index}
        if not _equal(got, expected, case):
            yield _Wrong(case, variant.input_names(case), got, expected, others)


def _scope(wrong: Sequence[_Wrong], subject: str) -> str:
    """Of which results a sentence is true, and its subject."""
    if wrong[0].case.world:
        return f"On all ranks where {subject} is wrong, it"
    if len(wrong) == 1:
        return f'In the question "{wrong[0].case.label}", {subject}'
    return f"In all questions where {subject} is wrong, it"


def _predicates(wrong: Sequence[_Wrong], rights: Sequence[np.ndarray]) -> Iterator[str]:
    """What holds for all wrong results of one name, on enough evidence; ``rights`` are those of all questions."""
    axis = next((axis for axis in (-1, -2) if all(_sum_to_one(expected, axis) for expected in rights)), 0)
    finders: list[Callable[[_Wrong], _Said]] = [_another_result, _an_input, _exchanged, _another_shape, _not_numbers]
    finders += [_constants(wrong), _multiple, _function_of, _moved, partial(_sums, axis=axis), _only]
    for finder in finders:
        shared = dict(finder(wrong[0]))
        for other in wrong[1:]:
            also = dict(finder(other)) if shared else {}
            shared = {says: evidence | also[says] for says, evidence in shared.items() if says in also}
        yield from (says for says, evidence in shared.items() if len(evidence) >= ENOUGH)


def _different(entries: np.ndarray, case: Case) -> _Evidence:
    """The different numbers of a result, to two digits or three; four truth values count as one, zeros as none."""
    if entries.dtype.kind == "b" or not np.isfinite(entries).all():
        return _cells(case, entries.size // 4)
    numbers = entries[np.abs(entries) > 10 * tolerance(entries, case)]
    mantissas, exponents = np.frexp(numbers.astype(np.float64))
    return {*np.unique(np.ldexp(np.round(mantissas, 2), exponents)).tolist()}


def _cells(case: Case, count: int) -> _Evidence:
    return {(id(case), n) for n in range(count)}


def numbers_off(got: np.ndarray, expected: np.ndarray, case: Case) -> _Evidence:
    """The different numbers among those of a result that are not right."""
    is_alike = got.shape == expected.shape
    return _different(got[~close(got, expected, tolerance(got, case), case)] if is_alike else got, case)


def _off(wrong: _Wrong) -> _Evidence:
    return numbers_off(wrong.got, wrong.expected, wrong.case)


def _equal(got: np.ndarray, expected: np.ndarray, case: Case) -> bool:
    return got.shape == expected.shape and bool(close(got, expected, tolerance(got, case), case).all())


def _another_result(wrong: _Wrong) -> _Said:
    for name, other in wrong.others.items():
        if _equal(wrong.got, other, wrong.case):
            yield f"is what `{name}` should be", _off(wrong)


def _an_input(wrong: _Wrong) -> _Said:
    got, case = wrong.got, wrong.case
    for name, arg in zip(wrong.names, case.args, strict=False):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == got.dtype.kind and _equal(got, arg, case):
            yield f"is the input `{name}` unchanged", _off(wrong)


def _exchanged(wrong: _Wrong) -> _Said:
    got = wrong.got
    if got.ndim >= 2 and _equal(np.swapaxes(got, -2, -1), wrong.expected, wrong.case):
        yield "is the right one with its last two axes exchanged", _off(wrong) if min(got.shape[-2:]) > 1 else set()


def _another_shape(wrong: _Wrong) -> _Said:
    case, _, got, expected, _ = wrong
    if got.shape == expected.shape:
        return
    if got.size == expected.size and _equal(got.reshape(expected.shape), expected, case):
        yield "has the right numbers in the right order, in another shape", _off(wrong)
    elif got.ndim == expected.ndim and got.size and expected.size:
        yield from _longer(wrong)


def _longer(wrong: _Wrong) -> _Said:
    case, _, got, expected, _ = wrong
    off = [axis for axis in range(got.ndim) if got.shape[axis] != expected.shape[axis]]
    if len(off) != 1:
        return
    axis = off[0]
    n = min(got.shape[axis], expected.shape[axis])
    for part, where in ((slice(n), "at the end"), (slice(-n, None), "at the beginning")):
        index = tuple(part if a == axis else slice(None) for a in range(got.ndim))
        both, other = (got[index], expected) if got.shape[axis] > n else (got, expected[index])
        if _equal(both, other, case):
            what = f"{'some missing' if both is got else 'too many'} along axis {axis - got.ndim} {where}"
            yield f"agrees with the right one where both have numbers, with {what}", _different(both, case)


def _not_numbers(wrong: _Wrong) -> _Said:
    case, _, got, expected, _ = wrong
    if got.shape != expected.shape or got.dtype.kind != "f" or expected.dtype.kind != "f":
        return
    bad = ~np.isfinite(got) & np.isfinite(expected)
    if bad.any() and _equal(np.where(bad, expected, got), expected, case):
        yield "is right but for the numbers that are NaN or infinite", _different(got[~bad], case)


def _as_floats(wrong: _Wrong) -> tuple[np.ndarray, np.ndarray] | None:
    """Both results as floats, None where they cannot be compared cell by cell."""
    got, expected = wrong.got, wrong.expected
    if got.shape != expected.shape or not got.size or not {got.dtype.kind, expected.dtype.kind} <= set("fiu"):
        return None
    return got.astype(np.float64), expected.astype(np.float64)


def _right_cells(wrong: _Wrong, got: np.ndarray, expected: np.ndarray | None = None) -> np.ndarray:
    """Where a wrong result would be right, with what was done to it undone; or would be what is expected."""
    expected = wrong.expected if expected is None else expected.astype(wrong.expected.dtype)
    return close(got, expected, tolerance(wrong.got, wrong.case), wrong.case)


def _factor(got: np.ndarray, expected: np.ndarray) -> float:
    top = np.unravel_index(np.abs(expected).argmax(), expected.shape)
    return float(got[top] / expected[top])


def _constants(wrong: Sequence[_Wrong]) -> Callable[[_Wrong], _Said]:
    """Look for the factor, and the addend, of the result whose tolerance is the smallest."""
    both = _as_floats(min(wrong, key=lambda each: tolerance(each.got, each.case)))
    if both is None:
        return lambda each: iter(())
    return partial(_constant, factor=_factor(*both), addend=float((both[0] - both[1]).flat[np.abs(both[1]).argmin()]))


def _constant(wrong: _Wrong, factor: float, addend: float) -> _Said:
    both = _as_floats(wrong)
    if both is None:
        return
    noise = 10 * tolerance(wrong.got, wrong.case)
    if factor and np.isfinite(factor) and number_text(factor) != "1" and abs(factor - 1) > noise:
        if _right_cells(wrong, both[0] / factor).all():
            times = "with the sign changed" if number_text(factor) == "-1" else f"times {number_text(factor)}"
            yield f"is the right one {times}", _off(wrong)
    # Large numbers have room for more than a small addend: with the tolerance alone it would hold for any difference.
    even = np.abs(both[0] - both[1] - addend) <= abs(addend) / 10
    even |= (both[0] == both[1]) & np.isinf(both[1])
    if abs(addend) > noise and even.all() and _right_cells(wrong, both[0] - addend).all():
        yield f"is the right one {'plus' if addend > 0 else 'minus'} {number_text(abs(addend))} everywhere", _off(wrong)


def _multiple(wrong: _Wrong) -> _Said:
    """A factor that comes from an input."""
    both = _as_floats(wrong)
    factor = 0.0 if both is None else _factor(*both)
    if both is None or not factor or not np.isfinite(factor):
        return
    for name, value in _numbers(wrong.case, wrong.names).items():
        for power, says in ((1.0, "{}"), (0.5, "√{}"), (-1.0, "1/{}"), (-0.5, "1/√{}")):
            if np.isclose(factor, value**power, rtol=1e-3) and _right_cells(wrong, both[0] / value**power).all():
                yield f"is the right one times {says.format(name)}", _off(wrong)


def _numbers(case: Case, names: Sequence[str]) -> dict[str, float]:
    """The numbers of a question that a factor may come from: ranks, lengths of axes, and numbers among the inputs."""
    numbers: dict[str, float] = {"the number of ranks": float(case.world)} if case.world else {}
    # Another question may be handed fewer inputs, or more, where some have defaults.
    for name, arg in zip(names, case.args, strict=False):
        if isinstance(arg, np.ndarray) and arg.size:
            numbers |= {f"`{name}.shape[{axis - arg.ndim}]`": float(n) for axis, n in enumerate(arg.shape)}
        elif isinstance(arg, int | float) and not isinstance(arg, bool) and arg > 0:
            numbers[f"`{name}`"] = float(arg)
    return numbers


_Function = Callable[[np.ndarray], np.ndarray]
_FUNCTIONS: tuple[tuple[str, _Function, _Function | None], ...] = (
    ("the logarithm of the right one", np.log, np.exp),
    ("the exponential of the right one", np.exp, np.log),
    ("the square of the right one", np.square, None),
    ("the square root of the right one", np.sqrt, np.square),
    ("one over the right one", np.reciprocal, np.reciprocal),
    ("one minus the right one", lambda w: 1 - w, lambda g: 1 - g),
    ("the right one without its signs", np.abs, None),
)
"""What is said, the function, and what undoes it, None where nothing does."""


def _function_of(wrong: _Wrong) -> _Said:
    got, expected = wrong.got, wrong.expected
    if got.dtype.kind == expected.dtype.kind == "b" and got.shape == expected.shape and (got == ~expected).all():
        flips = _off(wrong) if got.any() and not got.all() else set()
        yield "is True where it should be False, and the other way round", flips
    if got.dtype.kind != "f" or (both := _as_floats(wrong)) is None:
        return
    got, expected = both
    finite = np.isfinite(got)
    evidence = numbers_off(wrong.got[finite], wrong.expected[finite], wrong.case)
    for phrase, function, undone in _FUNCTIONS:
        image = function(expected)
        matches = _right_cells(wrong, got, image)
        if undone is not None:  # where a function is steep, its result is less sure than what it is of
            matches |= _right_cells(wrong, undone(got)) & np.isclose(got, image, 0.01, 0.01)
        if matches.all():
            yield f"is {phrase}", evidence


def _moved(wrong: _Wrong) -> _Said:
    """The right numbers at other places."""
    case, _, got, expected, _ = wrong
    if got.shape != expected.shape or not got.ndim:
        return
    for axis in range(-got.ndim, 0):
        n = got.shape[axis]
        evidence = _off(wrong) if n > 2 else set()  # of two numbers one may be the other's by chance
        if _equal(np.flip(got, axis), expected, case):
            yield f"is the right one in reverse order along axis {axis}", evidence
        inner = [tuple(part if a == axis else slice(None) for a in range(-got.ndim, 0)) for part in _INNER]
        for (to, by), direction in zip((inner, inner[::-1]), ("forwards", "backwards"), strict=True):
            if n > 1 and _equal(got[to], expected[by], case):
                evidence = numbers_off(got[to], expected[to], case) if n > 2 else set()
                yield f"is the right one moved by one along axis {axis}, {direction}", evidence
    if _equal(np.sort(got, axis=None), np.sort(expected, axis=None), case):
        yield "has the right numbers in another order", _off(wrong)


_INNER = slice(1, None), slice(None, -1)


def _sums(wrong: _Wrong, axis: int) -> _Said:
    """Which sums along an axis are not 1 as they should be; ``axis`` is 0 where no axis of all right ones sums to 1."""
    got, expected = wrong.got, wrong.expected
    if not axis or got.shape != expected.shape or got.dtype.kind != "f" or not np.isfinite(got).all():
        return
    off = ~np.isclose(got.sum(axis)[expected.sum(axis) > 0.5], 1, 0, max(1e-4, 10 * tolerance(got, wrong.case)))
    if not off.any():
        return
    evidence = _cells(wrong.case, int(off.sum()))
    for names in (*[("numbers", "")] * (got.ndim == 1), ("rows", "columns")):
        yield f"has {names[axis == -2]} that do not sum to 1, as they should", evidence
    if got.ndim > 1 and np.allclose(got.sum(-3 - axis), 1, atol=1e-4):
        yield f"has {names[axis == -1]} that sum to 1, where {names[axis == -2]} should", evidence


def _sum_to_one(expected: np.ndarray, axis: int) -> bool:
    """Whether all sums along an axis are 1, or 0."""
    if expected.dtype.kind != "f" or expected.ndim < -axis:
        return False
    sums = expected.sum(axis)
    return bool((np.isclose(sums, 1) | (sums == 0)).all())


def _only(wrong: _Wrong) -> _Said:
    """Which cells are wrong, where they have something in common."""
    case, names, got, expected, _ = wrong
    if got.shape != expected.shape:
        return
    off = ~close(got, expected, tolerance(got, case), case)
    count = int(off.sum())
    for name, arg in zip(names, case.args, strict=False):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "b" and arg.ndim:
            try:
                mask = np.broadcast_to(arg, got.shape)
            except ValueError:
                continue
            for value in (False, True):
                others = mask != value
                if not (off & others).any():
                    yield f"is wrong only where `{name}` is {value}", _cells(case, min(count, int(others.sum())))
    for axis in range(-got.ndim, 0):
        n = got.shape[axis]
        off_in = off.sum(axis=tuple(a for a in range(-got.ndim, 0) if a != axis))
        per_line = off.size // n if n > 2 else 0  # lines of an axis of two are told apart by chance
        for only, lines in (("wrong", off_in > 0), ("right throughout", off_in == 0)):
            if lines.sum() == 1:
                at = int(lines.argmax())
                evidence = _cells(case, min(count, per_line * (n - 1 if only == "wrong" else 1)))
                for index in (at, at - n):
                    yield f"is {only} only at index {index} of axis {axis}", evidence


def _where(rounds: Asked) -> str:
    """In which questions it goes wrong."""
    right_labels = [answered[0].label for answered in rounds if is_right(*answered)]
    wrong = [answered[0].label for answered in rounds if not is_right(*answered)]
    if not right_labels:
        return f"All {len(rounds)} questions go wrong." if len(rounds) > 1 else ""
    few, which = (wrong, "go wrong") if len(wrong) <= len(right_labels) else (right_labels, "are right")
    label_text = _listed(list(dict.fromkeys(few)))
    if len(few) == 1:
        which = {"go wrong": "goes wrong", "are right": "is right"}[which]
    others = "All others are right: what is different there?" if few is wrong else "All others go wrong."
    return f"{len(few)} of {len(rounds)} questions {which}: {label_text}. {others}"


def _listed(labels: Sequence[str]) -> str:
    quoted = [f'"{label}"' for label in labels[:MOST_LABELS]]
    return ", ".join(quoted) + (f" and {len(labels) - MOST_LABELS} more" if len(labels) > MOST_LABELS else "")
