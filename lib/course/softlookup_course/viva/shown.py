"""How code, inputs and results stand on paper: short, aligned, and with nothing in them but what can be seen."""

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.data.variant import Variant

MOST_ENTRIES, WIDEST = 24, 44
"""Entries of a result, and characters of a line, that fit into an option."""

_ROUNDING = 1e-4
"""By what float32 may miss a number that is whole, or a half."""

STOPS = "It stops with an exception."


def result_text(arrays: Arrays, names: tuple[str, ...]) -> str:
    """A result as an option shows it; empty where it is too large, or is text. No arrays mean an exception."""
    if not arrays:
        return STOPS
    if any(array.size > MOST_ENTRIES or array.size == 0 or array.dtype.kind not in "biuf" for array in arrays):
        return ""
    blocks = [array_text(array) for array in arrays]
    if len(blocks) > 1:
        blocks = [_beside(f"{name} = ", block) for name, block in zip(names, blocks, strict=True)]
    text = "\n".join(blocks)
    return text if max(map(len, text.split("\n"))) <= WIDEST else ""


def array_text(array: np.ndarray) -> str:
    """An array in rows, as Python writes lists; numbers with two decimals where they are not whole.

    >>> print(array_text(np.array([[0.5, 2], [1, -np.inf]])))
    [[0.50, 2.00],
     [1.00, -inf]]
    """
    if array.dtype.kind == "b":
        entries = [str(bool(entry)) for entry in array.flat]
    else:
        numbers = array.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        whole = bool((np.abs(finite - np.round(finite)) < _ROUNDING).all())
        entries = [_number_text(value, whole) for value in numbers.flat]
    return entries[0] if array.ndim == 0 else _in_rows(entries, array.shape)


def _number_text(value: float, whole: bool) -> str:
    """A number rounded as by hand, a half upwards; no zero has a sign."""
    if not np.isfinite(value):
        return f"{value:.0f}"
    cents = np.floor(abs(value) * 100 + 0.5 + _ROUNDING)
    return f"{np.copysign(cents, value) / 100 + 0.0:.{0 if whole else 2}f}"


def _in_rows(entries: list[str], shape: tuple[int, ...]) -> str:
    width = max(map(len, entries))
    return _nested(np.array([entry.rjust(width) for entry in entries], dtype=object).reshape(shape))


def _nested(entries: np.ndarray, indent: int = 0) -> str:
    if entries.ndim == 1:
        return f"[{', '.join(entries)}]"
    rows = [_nested(row, indent + 1) for row in entries]
    return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"


def _beside(name: str, block: str) -> str:
    return name + block.replace("\n", "\n" + " " * len(name))


def inputs_text(variant: Variant, case: Case) -> tuple[str, ...]:
    """The arguments of a call, each with its name."""
    pairs = zip(variant.input_names(case), case.args, strict=True)
    return tuple(_beside(f"{name} = ", _argument(value)) for name, value in pairs)


def _argument(value: object) -> str:
    if isinstance(value, np.ndarray):
        return _with_logarithms(value) or array_text(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _with_logarithms(array: np.ndarray) -> str:
    """An array of logarithms of whole numbers as such, so that a softmax needs no calculator; empty for others."""
    if array.dtype.kind != "f":
        return ""
    powers = np.exp(array.astype(np.float64))
    if (array == 0).all() or not (np.isfinite(powers) & (np.abs(powers - np.round(powers)) < _ROUNDING)).all():
        return ""
    entries = ["0" if power == 1 else f"ln {power:.0f}" for power in np.round(powers).flat]
    return _in_rows(entries, array.shape)


def apart(first: Arrays, second: Arrays, least: float = 0.08) -> bool:
    """Whether two results differ so much that nobody needs a calculator to tell them apart; an exception has none."""
    if [array.shape for array in first] != [array.shape for array in second]:
        return True
    for a, b in zip(first, second, strict=True):
        x, y = a.astype(np.float64), b.astype(np.float64)
        both = np.isfinite(x) & np.isfinite(y)
        if (~both & ~((x == y) | (np.isnan(x) & np.isnan(y)))).any():
            return True
        if (np.abs(x[both] - y[both]) > least).any():
            return True
    return False
