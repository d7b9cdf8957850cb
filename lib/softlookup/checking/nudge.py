"""A nudge: what a wrong answer has in common with the right one, and in which questions it goes wrong.

Every sentence is computed from the answers and holds for them. None says which mistake was made.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from softlookup.checking.compare import Asked, close, is_right, tolerance
from softlookup.checking.inside.case import SINGLE, Arrays, Case
from softlookup.checking.variant import Variant
from softlookup.checking.words import number, shape

MOST_LABELS = 3
"""So many questions are named where more have something in common."""


def size(case: Case) -> int:
    """How many numbers a question hands over."""
    return sum(arg.size if isinstance(arg, np.ndarray) else 1 for arg in case.args)


def smallest_failed(rounds: Asked) -> int | None:
    """Which question to look at: the one with the fewest numbers among those that have a wrong answer.

    Questions with an answer go before those with an exception, and those with an axis cut to length 1 come last.

    Returns:
        Its position; None if all answers are right.
    """

    def rank(number: int) -> tuple[bool, bool, int]:
        case, answer, _ = rounds[number]
        return answer.arrays is None, case.part == SINGLE, size(case)

    return min((n for n, answered in enumerate(rounds) if not is_right(*answered)), key=rank, default=None)


def nudge(variant: Variant, rounds: Asked) -> str:
    """Say what can be seen of a wrong answer without naming the mistake.

    Args:
        variant: What was asked.
        rounds: The questions, the answers, the right answers.

    Returns:
        One to three sentences; empty if all answers are right.
    """
    if smallest_failed(rounds) is None:
        return ""
    return " ".join(filter(None, (_where(rounds), relation(variant, rounds))))


def relation(variant: Variant, rounds: Asked) -> str:
    """Say what the smallest wrong answer has in common with the right one.

    Args:
        variant: What was asked.
        rounds: The questions, the answers, the right answers.

    Returns:
        A sentence; empty if nothing was found, or all answers are right.
    """
    at = smallest_failed(rounds)
    if at is None or not variant.task.reveals:
        return ""
    case, answer, _ = rounds[at]
    return _relation(variant, rounds, at) if answer.arrays is not None and case.frame != "text" else ""


def _where(rounds: Asked) -> str:
    """In which questions it goes wrong."""
    right = [answered[0].label for answered in rounds if is_right(*answered)]
    wrong = [answered[0].label for answered in rounds if not is_right(*answered)]
    if not right:
        return f"All {len(rounds)} questions go wrong." if len(rounds) > 1 else ""
    few, which = (wrong, "go wrong") if len(wrong) <= len(right) else (right, "are right")
    named = _listed(list(dict.fromkeys(few)))
    if len(few) == 1:
        which = {"go wrong": "goes wrong", "are right": "is right"}[which]
    rest = "All others are right: what is different there?" if few is wrong else "All others go wrong."
    return f"{len(few)} of {len(rounds)} questions {which}: {named}. {rest}"


def _listed(labels: Sequence[str]) -> str:
    shown = [f'"{label}"' for label in labels[:MOST_LABELS]]
    return ", ".join(shown) + (f" and {len(labels) - MOST_LABELS} more" if len(labels) > MOST_LABELS else "")


@np.errstate(all="ignore")
def _relation(variant: Variant, rounds: Asked, at: int) -> str:
    """What the smallest wrong answer has in common with the right one."""
    case, answer, expected = rounds[at]
    got = answer.arrays or ()
    looked = f'In the question "{case.label}"'
    names, results = variant.input_names(case), variant.result_names(case)
    for index, (g, w) in enumerate(zip(got, expected, strict=True)):
        if case.is_recorded and index == len(expected) - 1:
            continue  # bytes beyond the limits have their own sentence
        subject = f"`{results[index]}`" if len(expected) > 1 else "your result"
        other = next((m for m, right in enumerate(expected) if m != index and _equal(g, right, case)), None)
        if _equal(g, w, case):
            continue
        if other is not None:
            return f"{looked}, {subject} is what `{results[other]}` should be."
        likes = [(other, right) for other, _, right in rounds if other.gradients == case.gradients]
        rights = [array for other, right in likes for array in _by_name(other, right, index)]
        for predicate in _predicates(_pairs(rounds, index, case), rights, case, names, g, w):
            return f"{looked}, {subject} {predicate}."
    return ""


Pairs = Sequence[tuple[Case, np.ndarray, np.ndarray]]
"""Questions with what came and what was wanted as one of their results, as floats."""


def _pairs(rounds: Asked, result: int, like: Case) -> Pairs:
    """One result of all questions that ask for the same as one of them; empty where some cannot be compared."""
    pairs: list[tuple[Case, np.ndarray, np.ndarray]] = []
    for case, answer, right in rounds:
        if case.gradients != like.gradients:
            continue
        if answer.arrays is None:
            return ()
        both = _by_name(case, answer.arrays, result), _by_name(case, right, result)
        if any(g.shape != w.shape for g, w in zip(*both, strict=True)):
            return ()
        if case.world:
            got, expected = (np.concatenate([array.ravel() for array in arrays]) for arrays in both)
        else:
            ((got,), (expected,)) = both
        pairs.append((case, got, expected))
    return pairs


def _by_name(case: Case, arrays: Arrays, result: int) -> Arrays:
    """The result of a question that has the same name as one of another question: of a parallel program each rank's."""
    if not case.world:
        return arrays[result : result + 1]
    # A world of another size has another number of results, so the name's place among a rank's is what counts.
    count = (len(arrays) - 1) // case.world
    return arrays[result % count : -1 : count]


def _predicates(
    pairs: Pairs, rights: Sequence[np.ndarray], case: Case, names: Sequence[str], got: np.ndarray, expected: np.ndarray
) -> Iterator[str]:
    for look in (_an_input, _another_shape, _not_numbers):
        yield from look(case, names, got, expected)
    # A single number is always some multiple of another, and sometimes its square: that alone says nothing.
    if len({float(n) for _, _, right in pairs for n in right.flat}) > 1:
        as_everywhere = ", as in all other questions" if len(pairs) > 1 else ""
        for predicate in (*_multiple(pairs, names), *_function_of(pairs)):
            yield predicate + as_everywhere
    for look in (_shifted, _moved):
        yield from look(case, names, got, expected)
    yield from _sums(rights, got, expected)
    yield from _only(case, names, got, expected)


def _equal(got: np.ndarray, expected: np.ndarray, case: Case) -> bool:
    return got.shape == expected.shape and bool(close(got, expected, tolerance(got, case), case).all())


def _an_input(case: Case, names: Sequence[str], got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    for name, arg in zip(names, case.args, strict=False):
        if isinstance(arg, np.ndarray) and arg.size > 1 and arg.dtype.kind == got.dtype.kind and _equal(got, arg, case):
            yield f"is the input `{name}` unchanged"


def _another_shape(case: Case, names: Sequence[str], got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    if got.shape == expected.shape:
        return
    if got.ndim >= 2 and _equal(np.swapaxes(got, -2, -1), expected, case):
        yield "is the right one with its last two axes exchanged"
    elif got.size == expected.size and _equal(got.reshape(expected.shape), expected, case):
        yield f"has the right numbers in the right order, in the shape {shape(got)} instead of {shape(expected)}"
    elif got.ndim and expected.ndim and got.size and expected.size:
        yield from _longer(case, got, expected)


def _longer(case: Case, got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    off = [axis for axis in range(got.ndim) if got.ndim == expected.ndim and got.shape[axis] != expected.shape[axis]]
    if len(off) != 1:
        return
    axis = off[0]
    n = min(got.shape[axis], expected.shape[axis])
    many, few = (got, expected) if got.shape[axis] > expected.shape[axis] else (expected, got)
    what = "too many" if many is got else "missing"
    extra = many.shape[axis] - n
    for part, where in ((slice(n), "at the end"), (slice(extra, None), "at the beginning")):
        index = tuple(part if a == axis else slice(None) for a in range(got.ndim))
        if _equal(many[index], few, case) if many is got else _equal(few, many[index], case):
            yield f"agrees with the right one where both have numbers; {extra} along axis {axis} {what} {where}"


def _not_numbers(case: Case, names: Sequence[str], got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    if got.shape != expected.shape or got.dtype.kind != "f" or expected.dtype.kind != "f":
        return
    bad = ~np.isfinite(got) & np.isfinite(expected)
    if bad.any() and not bad.all() and _equal(np.where(bad, expected, got), expected, case):
        yield f"is right but for {int(bad.sum())} of {got.size} numbers, which are NaN or infinite"


def _multiple(pairs: Pairs, names: Sequence[str]) -> Iterator[str]:
    """One factor for all numbers of all questions, or one that comes from the same input in each of them."""
    factors = []
    for case, got, expected in pairs:
        if not {got.dtype.kind, expected.dtype.kind} <= set("fiu") or not got.size:
            return
        g, w = got.astype(np.float64), expected.astype(np.float64)
        top = np.unravel_index(np.abs(w).argmax(), w.shape)
        factor = float(g[top] / w[top])
        if not np.isfinite(factor) or not factor or not _near(g, factor * w, got, case):
            return
        factors.append(factor)
    if np.allclose(factors, factors[0], rtol=1e-5, atol=0):
        yield "is the right one " + (
            "with the sign changed" if abs(factors[0] + 1) < 1e-6 else f"times {number(factors[0])}"
        )
        return
    inputs = [_numbers(case, names) for case, _, _ in pairs]
    for name in set.intersection(*map(set, inputs)):
        values = np.array([numbers[name] for numbers in inputs])
        for power, says in ((1.0, "{}"), (0.5, "√{}"), (-1.0, "1/{}"), (-0.5, "1/√{}")):
            if np.allclose(factors, values**power, rtol=1e-5, atol=0):
                yield f"is the right one times {says.format(name)}"


def _numbers(case: Case, names: Sequence[str]) -> dict[str, float]:
    """The numbers of a question that a factor may come from: ranks, lengths of axes, and numbers among the inputs."""
    numbers: dict[str, float] = {"the number of ranks": float(case.world)} if case.world else {}
    # Another question may be handed fewer inputs, or more, where some have defaults.
    for name, arg in zip(names, case.args, strict=False):
        if isinstance(arg, np.ndarray):
            numbers |= {f"`{name}.shape[{axis - arg.ndim}]`": float(n) for axis, n in enumerate(arg.shape)}
        elif isinstance(arg, int | float) and not isinstance(arg, bool) and arg > 0:
            numbers[f"`{name}`"] = float(arg)
    return numbers


def _shifted(case: Case, names: Sequence[str], got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    """One number added to all cells."""
    if got.shape != expected.shape or not {got.dtype.kind, expected.dtype.kind} <= set("fiu"):
        return
    g, w = got.astype(np.float64), expected.astype(np.float64)
    if not (np.isfinite(g).all() and np.isfinite(w).all()) or np.unique(w).size < 2:
        return
    gap = float((g - w).flat[0])
    if gap and _near(g, w + gap, got, case):
        yield f"is the right one {'plus' if gap > 0 else 'minus'} {number(abs(gap))} everywhere"


def _near(got: np.ndarray, expected: np.ndarray, dtype_of: np.ndarray, case: Case) -> bool:
    return bool(close(got, expected, 10 * tolerance(dtype_of, case), case).all())


_FUNCTIONS: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("the logarithm of the right one", np.log),
    ("the exponential of the right one", np.exp),
    ("the square of the right one", np.square),
    ("the square root of the right one", np.sqrt),
    ("one over the right one", lambda w: 1 / w),
    ("one minus the right one", lambda w: 1 - w),
    ("the right one without its signs", np.abs),
)


def _function_of(pairs: Pairs) -> Iterator[str]:
    """One function of the right numbers, in all questions."""
    if all(got.dtype.kind == expected.dtype.kind == "b" and (got == ~expected).all() for _, got, expected in pairs):
        yield "is True where it should be False, and the other way round"
    if not all(got.dtype.kind == "f" and np.isfinite(got).any() for _, got, _ in pairs):
        return
    for phrase, function in _FUNCTIONS:
        if all(_near(got, function(expected.astype(np.float64)), got, case) for case, got, expected in pairs):
            yield f"is {phrase}"


def _moved(case: Case, names: Sequence[str], got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    """The right numbers at other places."""
    if got.shape != expected.shape or got.size < 2 or got.ndim == 0:
        return
    if got.ndim >= 2 and got.shape[-1] == got.shape[-2] and _equal(np.swapaxes(got, -2, -1), expected, case):
        yield "is the right one with its last two axes exchanged"
    for axis in range(got.ndim):
        if got.shape[axis] < 2:
            continue
        if _equal(np.flip(got, axis), expected, case):
            yield f"is the right one in reverse order along axis {axis}"
        for by in (1, -1):
            inner = slice(1, None) if by == 1 else slice(None, -1)
            index = tuple(inner if a == axis else slice(None) for a in range(got.ndim))
            if got.shape[axis] > 2 and _equal(got[index], np.roll(expected, by, axis)[index], case):
                yield f"is the right one moved by one along axis {axis}, {'forwards' if by == 1 else 'backwards'}"
    g, w = np.sort(got, axis=None), np.sort(expected, axis=None)
    if _equal(g, w, case) and np.unique(w).size > 2:
        yield "has the right numbers in another order"


def _only(case: Case, names: Sequence[str], got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    """Which cells are wrong, where they have something in common."""
    if got.shape != expected.shape or got.size < 2:
        return
    off = ~close(got, expected, tolerance(got, case), case)
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


def _sums(rights: Sequence[np.ndarray], got: np.ndarray, expected: np.ndarray) -> Iterator[str]:
    """Rows of the right one, or its columns, sum to 1 in every question (or to 0: nothing is seen), and others do not.

    In a single question they may sum to 1 by chance.
    """
    if got.shape != expected.shape or not got.ndim or got.dtype.kind != "f" or not np.isfinite(got).all():
        return
    lines = {-1: "rows", -2: "columns"} if got.ndim > 1 else {-1: "numbers"}
    axis = next((candidate for candidate in lines if all(_sum_to_one(right, candidate) for right in rights)), 0)
    if axis and not np.allclose(got.sum(axis)[expected.sum(axis) > 0.5], 1, atol=1e-4):
        other = -3 - axis
        turned = got.ndim > 1 and np.allclose(got.sum(other), 1, atol=1e-4)
        yield (
            f"has {lines[other]} that sum to 1, where {lines[axis]} should"
            if turned
            else f"has {lines[axis]} that do not sum to 1, as they should"
        )


def _sum_to_one(right: np.ndarray, axis: int) -> bool:
    """Whether all sums along an axis are 1, or 0."""
    if right.dtype.kind != "f" or right.ndim < -axis:
        return False
    sums = right.sum(axis)
    return bool((np.isclose(sums, 1) | (sums == 0)).all())
