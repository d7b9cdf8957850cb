"""A nudge: what a wrong answer has in common with the right one, and in which questions it goes wrong.

Every sentence is computed from the answers and holds for them. None says which mistake was made.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from softlookup.checking.compare import close, inputs_of, tolerance
from softlookup.checking.diagnose import Asked, is_right
from softlookup.checking.inside.case import SINGLE, Arrays, Case
from softlookup.checking.task import Task
from softlookup.checking.words import number, shape

MOST_LABELS = 3
"""So many questions are named where more have something in common."""


def size(case: Case) -> int:
    """How many numbers a question hands over."""
    return sum(arg.size if isinstance(arg, np.ndarray) else 1 for arg in case.args)


def smallest_failed(asked: Asked) -> int | None:
    """Which question to look at: the one with the fewest numbers among those that have a wrong answer.

    Questions with an answer go before those with an exception, and those with an axis cut to length 1 come last.

    Returns:
        Its position; None if all answers are right.
    """

    def rank(number: int) -> tuple[bool, bool, int]:
        case, answer, _ = asked[number]
        return answer.arrays is None, case.part == SINGLE, size(case)

    return min((n for n, one in enumerate(asked) if not is_right(*one)), key=rank, default=None)


def nudge(task: Task, asked: Asked) -> str:
    """Say what can be seen of a wrong answer without naming the mistake.

    Args:
        task: The task.
        asked: The questions, the answers, the right answers.

    Returns:
        One to three sentences; empty if all answers are right.
    """
    at = smallest_failed(asked)
    if at is None:
        return ""
    sentences = [_where(asked)]
    case, answer, right = asked[at]
    if task.reveals and answer.arrays is not None and case.frame != "text":
        sentences.append(_relation(task, case, answer.arrays, right))
    return " ".join(filter(None, sentences))


def _where(asked: Asked) -> str:
    """In which questions it goes wrong."""
    right = [one[0].label for one in asked if is_right(*one)]
    wrong = [one[0].label for one in asked if not is_right(*one)]
    if not right:
        return f"All {len(asked)} questions go wrong." if len(asked) > 1 else ""
    few, which = (wrong, "go wrong") if len(wrong) <= len(right) else (right, "are right")
    named = _listed(list(dict.fromkeys(few)))
    if len(few) == 1:
        which = {"go wrong": "goes wrong", "are right": "is right"}[which]
    rest = "All others are right: what is different there?" if few is wrong else "All others go wrong."
    return f"{len(few)} of {len(asked)} questions {which}: {named}. {rest}"


def _listed(labels: Sequence[str]) -> str:
    shown = [f'"{label}"' for label in labels[:MOST_LABELS]]
    return ", ".join(shown) + (f" and {len(labels) - MOST_LABELS} more" if len(labels) > MOST_LABELS else "")


@np.errstate(all="ignore")
def _relation(task: Task, case: Case, got: Arrays, wanted: Arrays) -> str:
    """What the smallest wrong answer has in common with the right one."""
    looked = f'In the question "{case.label}"'
    names, results = task.input_names(case), task.result_names(case)
    for at, (g, w) in enumerate(zip(got, wanted, strict=True)):
        own = f"`{results[at]}`" if len(wanted) > 1 else "your result"
        other = next((m for m, one in enumerate(wanted) if m != at and _equal(g, one, case)), None)
        if _equal(g, w, case):
            continue
        if other is not None:
            return f"{looked}, {own} is what `{results[other]}` should be."
        for look in _LOOKS:
            for said in look(case, names, g, w):
                return f"{looked}, {own} {said}."
    return ""


def _equal(got: np.ndarray, wanted: np.ndarray, case: Case) -> bool:
    return got.shape == wanted.shape and bool(close(got, wanted, _tolerance(got, case), case).all())


def _tolerance(got: np.ndarray, case: Case) -> float:
    return tolerance(got, inputs_of(case), case.tolerance)


def _an_input(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    for name, arg in zip(names, case.args, strict=False):
        if isinstance(arg, np.ndarray) and arg.size > 1 and arg.dtype.kind == got.dtype.kind and _equal(got, arg, case):
            yield f"is the input `{name}` unchanged"


def _another_shape(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    if got.shape == wanted.shape:
        return
    if got.ndim >= 2 and _equal(np.swapaxes(got, -2, -1), wanted, case):
        yield "is the right one with its last two axes exchanged"
    elif got.size == wanted.size and _equal(got.reshape(wanted.shape), wanted, case):
        yield f"has the right numbers in the right order, in the shape {shape(got)} instead of {shape(wanted)}"
    elif got.ndim and wanted.ndim and got.size and wanted.size:
        yield from _longer(case, got, wanted)


def _longer(case: Case, got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    off = [axis for axis in range(got.ndim) if got.ndim == wanted.ndim and got.shape[axis] != wanted.shape[axis]]
    if len(off) != 1:
        return
    axis = off[0]
    n = min(got.shape[axis], wanted.shape[axis])
    many, few = (got, wanted) if got.shape[axis] > wanted.shape[axis] else (wanted, got)
    what = "too many" if many is got else "missing"
    extra = many.shape[axis] - n
    for part, where in ((slice(n), "at the end"), (slice(extra, None), "at the beginning")):
        index = tuple(part if a == axis else slice(None) for a in range(got.ndim))
        if _equal(many[index], few, case) if many is got else _equal(few, many[index], case):
            yield f"agrees with the right one where both have numbers; {extra} along axis {axis} {what} {where}"


def _not_numbers(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    if got.shape != wanted.shape or got.dtype.kind != "f" or wanted.dtype.kind != "f":
        return
    bad = ~np.isfinite(got) & np.isfinite(wanted)
    if bad.any() and _equal(np.where(bad, wanted, got), wanted, case):
        yield f"is right but for {int(bad.sum())} of {got.size} numbers, which are NaN or infinite"


def _scaled(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    """One factor, or one number added, for all cells."""
    if got.shape != wanted.shape or not {got.dtype.kind, wanted.dtype.kind} <= set("fiu") or not got.size:
        return
    g, w = got.astype(np.float64), wanted.astype(np.float64)
    if not (np.isfinite(g).all() and np.isfinite(w).all()) or (np.unique(w).size < 2 and w.ndim):
        return
    top = np.unravel_index(np.abs(w).argmax(), w.shape)
    if w[top] and g[top]:
        factor = float(g[top] / w[top])
        if _near(g, factor * w, got, case):
            turned = abs(factor + 1) < 1e-6
            how = "with the sign changed" if turned else f"times {number(factor)}{_known(factor, names, case)}"
            yield f"is the right one {how}"
    gap = float(g[top] - w[top])
    if gap and w.ndim and _near(g, w + gap, got, case):
        yield f"is the right one {'plus' if gap > 0 else 'minus'} {number(abs(gap))} everywhere"


def _near(got: np.ndarray, wanted: np.ndarray, dtype_of: np.ndarray, case: Case) -> bool:
    return bool(close(got, wanted, 10 * _tolerance(dtype_of, case), case).all())


def _known(factor: float, names: Sequence[str], case: Case) -> str:
    """Where a factor may come from: the length of an axis or a number among the inputs, its root, or one over it."""
    for name, arg in zip(names, case.args, strict=False):
        if isinstance(arg, np.ndarray):
            numbers = [(float(n), f"`{name}` has an axis of length {n}") for n in arg.shape]
        elif isinstance(arg, int | float) and not isinstance(arg, bool):
            numbers = [(float(arg), f"`{name}` is {arg:g}")]
        else:
            continue
        for value, where in numbers:
            if value <= 1 or not np.isfinite(value):
                continue
            for made, says in ((value, "{}"), (value**0.5, "√{}"), (1 / value, "1/{}"), (value**-0.5, "1/√{}")):
                if abs(factor / made - 1) < 1e-5:
                    return f", which is {says.format(number(value))}: {where}"
    return ""


_FUNCTIONS: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("the logarithm of the right one", np.log),
    ("the exponential of the right one", np.exp),
    ("the square of the right one", np.square),
    ("the square root of the right one", np.sqrt),
    ("one over the right one", lambda w: 1 / w),
    ("one minus the right one", lambda w: 1 - w),
    ("the right one without its signs", np.abs),
)


def _function_of(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    if got.dtype.kind == wanted.dtype.kind == "b" and got.shape == wanted.shape and (got == ~wanted).all():
        yield "is True where it should be False, and the other way round"
    if got.shape != wanted.shape or got.dtype.kind != "f" or not np.isfinite(got).any():
        return
    w = wanted.astype(np.float64)
    for said, function in _FUNCTIONS:
        made = function(w)
        if np.isfinite(made).any() and _near(got.astype(np.float64), made, got, case):
            yield f"is {said}"


def _moved(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    """The right numbers at other places."""
    if got.shape != wanted.shape or got.size < 2 or got.ndim == 0:
        return
    if got.ndim >= 2 and got.shape[-1] == got.shape[-2] and _equal(np.swapaxes(got, -2, -1), wanted, case):
        yield "is the right one with its last two axes exchanged"
    for axis in range(got.ndim):
        if got.shape[axis] < 2:
            continue
        if _equal(np.flip(got, axis), wanted, case):
            yield f"is the right one in reverse order along axis {axis}"
        for by in (1, -1):
            inner = slice(1, None) if by == 1 else slice(None, -1)
            index = tuple(inner if a == axis else slice(None) for a in range(got.ndim))
            if got.shape[axis] > 2 and _equal(got[index], np.roll(wanted, by, axis)[index], case):
                yield f"is the right one moved by one along axis {axis}, {'forwards' if by == 1 else 'backwards'}"
    g, w = np.sort(got, axis=None), np.sort(wanted, axis=None)
    if _equal(g, w, case) and np.unique(w).size > 2:
        yield "has the right numbers in another order"


def _only(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    """Which cells are wrong, where they have something in common."""
    if got.shape != wanted.shape or got.size < 2:
        return
    off = ~close(got, wanted, _tolerance(got, case), case)
    for name, arg in zip(names, case.args, strict=False):
        if isinstance(arg, np.ndarray) and arg.dtype.kind == "b" and arg.ndim and 0 < arg.mean() < 1:
            try:
                hidden = ~np.broadcast_to(arg, got.shape)
            except ValueError:
                continue
            if (off <= hidden).all():
                yield f"is wrong only where `{name}` is False"
            elif (off <= ~hidden).all():
                yield f"is wrong only where `{name}` is True"
    for axis in range(got.ndim):
        others = tuple(a for a in range(got.ndim) if a != axis)
        lines = off.any(axis=others)
        if lines.sum() == 1 and lines.size > 1:
            at = int(lines.argmax())
            yield f"is wrong only at index {at} of axis {axis}, which has {lines.size}"
        elif (~lines).sum() == 1 and lines.size > 2:
            yield f"is right only at index {int((~lines).argmax())} of axis {axis}, which has {lines.size}"


def _sums(case: Case, names: Sequence[str], got: np.ndarray, wanted: np.ndarray) -> Iterator[str]:
    """Rows of the right one sum to 1 and others do not."""
    if got.shape != wanted.shape or not got.ndim or got.shape[-1] < 2 or not np.isfinite(got.astype(float)).all():
        return
    if wanted.dtype.kind == "f" and np.allclose(wanted.sum(-1), 1) and not np.allclose(got.sum(-1), 1, atol=1e-4):
        down = got.ndim > 1 and np.allclose(got.sum(-2), 1, atol=1e-4)
        yield (
            "has columns that sum to 1, where rows should" if down else "has rows that do not sum to 1, as they should"
        )


_LOOKS = (_an_input, _another_shape, _not_numbers, _scaled, _function_of, _moved, _sums, _only)
