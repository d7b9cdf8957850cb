"""Numbers, shapes, names and differences as they stand in a sentence, and what must hold of attention weights."""

import numpy as np

from softlookup_inside.asking import texts
from softlookup_inside.asking.case import Case
from softlookup_judge.data.compare import Asked, Difference, same
from softlookup_judge.data.limits import excess_in_words


def number_text(value: float) -> str:
    """A number with six significant digits, as short as it goes."""
    value = float(value)
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "+inf" if value > 0 else "-inf"
    return f"{value:.6g}"


def shape(array: np.ndarray) -> str:
    """A shape in words: "(2, 3)", or "a single number"."""
    return "a single number" if array.ndim == 0 else str(tuple(int(n) for n in array.shape))


_PREPOSITIONS = {"by", "for", "from", "in", "of", "to", "with", "without"}


def quoted_name(result: str) -> str:
    """The name of a result as it stands in a sentence: as code where it begins with a preposition, as "with zeros"."""
    return f"`{result}`" if result.split()[0] in _PREPOSITIONS else result


def which(difference: Difference, names: tuple[str, ...]) -> str:
    """Which result a difference is in, empty where the task has one only."""
    name = name_of(difference, names)
    return f" of {name}" if name else ""


def name_of(difference: Difference, names: tuple[str, ...]) -> str:
    """The name of the result that a difference is in, empty where the task has one only."""
    return quoted_name(names[difference.result]) if len(names) > 1 and difference.result < len(names) else ""


_NAN_IN_KERNELS = (
    "NaN may mean that a place is never stored, that masked numbers count, or that an infinity was subtracted from "
    "itself or multiplied by 0."
)


def difference_text(
    case: Case, difference: Difference, names: tuple[str, ...], reveals: bool, rounds: Asked = ()
) -> str:
    """Where an answer first differs from the right one: got, tolerance, and what is wanted if it may be revealed."""
    prefix = f'Case "{case.label}"'
    if difference.kind == "text":
        name = name_of(difference, names)
        message = texts.difference(difference.got, difference.expected, reveals)
        return f"{prefix}: {name + ': ' if name else ''}{message}."
    if difference.kind == "shape":
        message = f"{prefix}: the shape{which(difference, names)} is {shape(difference.got)}, "
        message += f"wanted is {shape(difference.expected)}."
        if difference.got.shape[1:] == difference.expected.shape and difference.got.ndim:
            message += f" There is one axis too many in front{_what_to_take(case, difference, rounds)}"
        return message
    if case.is_recorded and difference.result == len(names) - 1:
        return f"{prefix}: every value is right, and the {excess_in_words(case, difference.got)}."
    if difference.kind == "kind":
        return f"{prefix}: {_kinds(difference.got.dtype, difference.expected.dtype, which(difference, names))}"
    index = difference.index or ()
    cell = f"cell {list(index)}{which(difference, names)}" if index else _single(difference, names)
    got, expected = _pair(difference.got[index], difference.expected[index])
    total = difference.got.size
    count = f" {difference.count} of {total} cells differ." if total > 1 else ""
    wanted_part = f", wanted is {expected}" if reveals else ", which is not right"
    exact = not reveals or _are_whole(difference.got[index], difference.expected[index])
    tolerance = float(f"{difference.tolerance:.0e}")  # one digit says enough
    allowed = "" if exact else f" (tolerance {tolerance:g})"
    unwritten = f" {_NAN_IN_KERNELS}" if case.grid and got == "NaN" else ""
    return f"{prefix}: {cell} is {got}{wanted_part}{allowed}.{count}{unwritten}"


def _what_to_take(case: Case, difference: Difference, rounds: Asked) -> str:
    """The end of a sentence on an axis too many in front: what is right along it in every question that has it."""
    at = difference.result
    pairs = [
        (other, answer.arrays[at], expected[at])
        for other, answer, expected in rounds
        if answer.arrays is not None and (other.gradients, other.world) == (case.gradients, case.world)
    ]
    longer = [(other, got, expected) for other, got, expected in pairs if got.ndim and got.shape[1:] == expected.shape]
    is_single = all(len(got) == 1 for _, got, _ in longer)
    if not case.world and all(len(got) and same((got[0],), (expected,), other) for other, got, expected in longer):
        return ": take `[0]`." if is_single else ": did you return several results? The first of them is right."
    if not difference.expected.ndim:
        return ": one number is asked for."
    return "." if is_single else ": did you return several results?"


def _single(difference: Difference, names: tuple[str, ...]) -> str:
    """A result that is a single number, as the subject of a sentence."""
    return f"`{names[difference.result]}`" if len(names) > 1 and difference.result < len(names) else "the result"


def _are_whole(*values: float) -> bool:
    """Whether these are whole numbers that a float holds exactly: then there is nothing to round, or to tolerate."""
    return all(np.isfinite(v) and abs(float(v)) < 2**53 and float(v).is_integer() for v in values)


def _pair(got: float, expected: float) -> tuple[str, str]:
    """Both numbers, with as many digits as it takes to tell them apart; counts in full."""
    if isinstance(expected, np.bool_) and got in (0, 1):
        return str(bool(got)), str(bool(expected))
    if _are_whole(got, expected):
        return f"{got:,.0f}", f"{expected:,.0f}"
    for digits in (6, 10, 17):
        pair = tuple(number_text(v) if not np.isfinite(v) else f"{float(v):.{digits}g}" for v in (got, expected))
        if pair[0] != pair[1]:
            break
    return pair[0], pair[1]


def _kinds(got: np.dtype, expected: np.dtype, name: str) -> str:
    """A sentence about right values of another kind than is asked for."""
    came = "True and False" if got.kind == "b" else f"{'floats' if got.kind == 'f' else 'whole numbers'} ({got})"
    values = f"the values{name} are right, but they are {came}, "
    if expected.kind == "b":
        return values + "where True and False are asked for: `~mask` would go wrong. Return booleans."
    if expected.kind == "i" and got.kind in "iu":
        return values + f"and {got} does not hold larger ones: return int64."
    if expected.kind == "i":
        return values + "where whole numbers are asked for, which can be used as indices. Return int64."
    return values + "where floats are asked for, which can be multiplied with other floats. Return floats."


def rows_sum_to_one(case: Case, arrays: tuple[np.ndarray, ...]) -> str | None:
    """A property of attention weights: each row sums to 1, or to 0 where the query sees nothing."""
    weights = arrays[0]
    if weights.ndim == 0 or not np.isfinite(weights.astype(np.float64)).all():
        return None
    with np.errstate(all="ignore"):
        sums = weights.astype(np.float64).sum(axis=-1)
    bad = (np.abs(sums - 1) > 1e-3) & (np.abs(sums) > 1e-3)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    row = f"Row {list(index)}" if index else "The row"
    return f"{row} of your weights sums to {number_text(sums[index])}; a row of weights sums to 1."


def masked_cells_are_zero(case: Case, arrays: tuple[np.ndarray, ...]) -> str | None:
    """A property of masked weights: 0 where the mask, the last argument if there is one, says False."""
    mask = case.args[-1]
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        return None
    try:
        visible = np.broadcast_to(mask, arrays[0].shape)
    except ValueError:
        return None
    bad = ~visible & (arrays[0] != 0)
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.argwhere(bad)[0])
    return f"Cell {list(index)} is masked and has the weight {number_text(arrays[0][index])}: it must be 0."
