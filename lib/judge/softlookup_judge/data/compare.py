"""Comparing and scoring: shapes come before numbers, so that an answer costs no more memory than the right one."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from softlookup_inside.asking.case import CORE, SINGLE, Arrays, Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.data.limits import cost_names
from softlookup_judge.data.task import Task

Asked = Sequence[tuple[Case, Answer, Arrays]]
"""Cases with the student's answer and the right one."""

TOLERANCE = {"float64": 1e-10, "float32": 1e-5, "float16": 2e-3}
"""Absolute and relative, by dtype. A result is held to the coarser of its own dtype and the inputs'."""

WHOLE = 1e-15
"""Relative, of a float that stands for a whole number: what a few roundings move. A count of billions is exact, too."""


@dataclass(frozen=True)
class Difference:
    """Where and how a result differs: kind "shape", "nan", "value", "kind" or "text"; the first cell, how many.

    ``costs`` says what the entries of a result count that holds costs beyond limits.
    """

    kind: str
    result: int
    got: np.ndarray
    expected: np.ndarray
    index: tuple[int, ...] | None
    tolerance: float
    count: int
    costs: tuple[str, ...] = ()


def tolerance(got: np.ndarray, case: Case) -> float:
    """The tolerance for one result; a case's own goes first."""
    if case.tolerance is not None:
        # An answer that went through float32 is held to what float32 can do, however strict the case is; but not one
        # of messages, whose bytes count: float32 in place of float64 halves them.
        is_lenient = got.dtype.type is np.float32 and not case.world
        return max(case.tolerance, TOLERANCE["float32"]) if is_lenient else case.tolerance
    kinds = [a.dtype for a in inputs_of(case) if a.dtype.kind == "f"]
    if got.dtype.type is np.float32:
        # A right answer that went through float32 somewhere is held to what float32 can do.
        kinds.append(got.dtype)
    return max(map(_tolerance_of, kinds), default=1e-10)


@functools.cache
def _tolerance_of(dtype: np.dtype) -> float:
    return TOLERANCE.get(dtype.name, 1e-10)  # numpy takes longer for the name than for a small comparison


def close(got: np.ndarray, expected: np.ndarray, tol: float, case: Case) -> np.ndarray:
    """Cell by cell: equal within the tolerance; NaN equals NaN and infinities of one sign are equal."""
    if got.dtype.kind in "iu" and expected.dtype.kind in "iu":
        return np.asarray(got == expected)
    with np.errstate(all="ignore"):
        room = _room(expected, tol, case)
        got, expected = got.astype(np.float64), expected.astype(np.float64)
        near = np.abs(got - expected) <= room
    near &= np.isfinite(expected)  # a share of infinity would let every number pass for it
    if case.exact_zeros:
        near &= (expected != 0) | (got == 0)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    return np.asarray(near | same)


def _room(expected: np.ndarray, tol: float, case: Case) -> np.ndarray:
    """How far from the right numbers an answer may be, cell by cell."""
    relative = WHOLE if expected.dtype.kind in "iu" else tol
    return tol + (0.0 if case.absolute else relative) * np.abs(expected, dtype=np.float64)


@np.errstate(all="ignore")
def first_difference(got: Arrays, expected: Arrays, case: Case) -> Difference | None:
    """Find what differs first: a shape, then a NaN, then a value, then the kind of numbers; None if all agree."""
    for i, (g, w) in enumerate(zip(got, expected, strict=True)):
        if case.frame == "text":
            if not _same_bytes(g, w):
                return Difference("text", i, g, w, None, 0.0, 1)
            continue
        if g.shape != w.shape:
            return Difference("shape", i, g, w, None, 0.0, 0)
    for difference_kind in ("nan", "value"):
        for i, (g, w) in enumerate(zip(got, expected, strict=True)):
            tol = tolerance(g, case)
            if difference_kind == "nan":
                bad = np.isnan(g.astype(np.float64)) & ~np.isnan(w.astype(np.float64))
            else:
                bad = ~close(g, w, tol, case)
            if bad.any():
                index = tuple(int(j) for j in np.argwhere(bad)[0])
                allowed = float(_room(w[index], tol, case)) if np.isfinite(w[index]) else tol
                costs = cost_names(case) if i == len(expected) - 1 else ()
                return Difference(difference_kind, i, g, w, index, allowed, int(bad.sum()), costs)
    for i, (g, w) in enumerate(zip(got, expected, strict=True)):
        if another_kind(g, w, case):
            return Difference("kind", i, g, w, None, 0.0, 0)
    return None


def another_kind(got: np.ndarray, expected: np.ndarray, case: Case) -> bool:
    """Whether numbers are of another kind than the task asks for, however right their values are.

    A mask is made of booleans: ``~mask`` differs for 0 and 1. Ids, labels and positions are whole numbers of 32 bits at
    least: floats are no indices. A tensor of other numbers holds floats, to be multiplied with floats. Single truth
    values may be 0 and 1; single counts in numpy, and all in plain Python, may be floats (4096.0).
    """
    if case.frame == "text" or (expected.dtype.kind == "b" and expected.ndim == 0):
        return False
    if expected.dtype.kind == "b":
        return got.dtype.kind != "b"
    if expected.dtype.kind == "i" and (case.frame == "torch" or (case.frame == "numpy" and expected.ndim)):
        return got.dtype.kind != "i" or got.dtype.itemsize < 4
    return got.dtype.kind != "f" if case.frame == "torch" else expected.dtype.kind == "i" and got.dtype.kind == "b"


def _same_bytes(got: np.ndarray, expected: np.ndarray) -> bool:
    return got.dtype == expected.dtype and np.array_equal(got, expected)


def identical(before: Arrays, after: Arrays) -> bool:
    """Whether arrays are the same to the byte."""
    return len(before) == len(after) and all(
        a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
        for a, b in zip(before, after, strict=True)
    )


@np.errstate(all="ignore")
def same(got: Arrays, expected: Arrays, case: Case) -> bool:
    """Whether all results agree in shape and within the case's tolerance, NaN included; texts byte for byte."""
    if case.frame == "text":
        return len(got) == len(expected) and all(map(_same_bytes, got, expected))
    return len(got) == len(expected) and all(
        g.shape == w.shape and _all_close(g, w, case) for g, w in zip(got, expected, strict=True)
    )


def _all_close(got: np.ndarray, expected: np.ndarray, case: Case) -> bool:
    """Whether ``close`` says so of every cell; most arrays hold finite numbers alone, and those need less."""
    tol = tolerance(got, case)
    if got.dtype.kind == expected.dtype.kind == "f":
        gap = np.abs(np.subtract(got, expected, dtype=np.float64))
        if np.isfinite(gap).all():
            zeros = not case.exact_zeros or not got[expected == 0].any()
            return zeros and bool((gap <= _room(expected, tol, case)).all())
    return bool(close(got, expected, tol, case).all())


def inputs_of(case: Case) -> Arrays:
    """The arrays among a case's arguments."""
    args = chain.from_iterable(arg if case.world and isinstance(arg, list) else [arg] for arg in case.args)
    return tuple(a for a in args if isinstance(a, np.ndarray))


def is_right(case: Case, answer: Answer, expected: Arrays) -> bool:
    """Whether there is an answer, and it agrees with the right one."""
    if answer.arrays is None or not same(answer.arrays, expected, case):
        return False
    return not any(another_kind(g, w, case) for g, w in zip(answer.arrays, expected, strict=True))


@dataclass(frozen=True)
class RoundOutcome:
    """What a round of questions came to: verdict, points, which answers are right, and the one to show."""

    verdict: str
    points: float
    rounds: Asked
    are_right: Sequence[bool]
    failed: tuple[Case, Answer, Arrays] | None
    forbidden: str = ""


def score(task: Task, rounds: Asked) -> RoundOutcome:
    """Compare: points and verdict, and the case to show."""
    are_right = [is_right(*answered) for answered in rounds]
    failed = [answered for answered, is_so in zip(rounds, are_right, strict=True) if not is_so]
    if not failed:
        return RoundOutcome("pass", task.points, rounds, are_right, None)
    for answered in failed:
        failure = answered[1].failure
        if failure and failure.kind == "shortcut":
            return RoundOutcome("wrong", 0.0, rounds, are_right, answered, failure.message)
    lost = {case.part for case, _, _ in failed}
    earned = (
        0.0 if lost & {CORE, SINGLE} else sum(fraction for part, fraction in task.parts.items() if part not in lost)
    )
    # A picture tells more than an exception: show an answer that there is, in the core part if it can be.
    # A lost dtype goes before what follows from it. A rank alone sends nothing, so that it tells less.
    failed.sort(
        key=lambda answered: (
            answered[0].part != CORE,
            not (answered[1].failure and answered[1].failure.kind == "dtype"),
            answered[1].arrays is None or answered[0].world == 1,
        )
    )
    kinds = [(case.part, answer.failure.kind if answer.failure else "") for case, answer, _ in failed]
    if (CORE, "blank") in kinds:
        verdict = "blank"
    elif earned:
        verdict = "partial"
    elif {failure_kind for _, failure_kind in kinds} == {"raised"}:
        verdict = "error"
    else:
        verdict = "wrong"
    return RoundOutcome(verdict, round(task.points * earned, 4), rounds, are_right, failed[0])
