"""How code, inputs and results stand on paper: short, aligned, and with nothing in them but what can be seen."""

import numpy as np

from softlookup.checking.inside.case import Arrays, Case
from softlookup.checking.variant import Variant

MOST_ENTRIES = 24
"""Entries of a result that fits into an option."""

WIDEST = 44
"""Characters of a line of an option."""

STOPS = "It stops with an exception."


def result_text(arrays: Arrays | None, names: tuple[str, ...]) -> str:
    """A result as an option shows it; empty where it is too large, or is text.

    Args:
        arrays: The results; None where there was an exception.
        names: What they are called.
    """
    if arrays is None:
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
        numbers = np.round(array.astype(np.float64), 2) + 0.0
        finite = numbers[np.isfinite(numbers)]
        whole = bool((finite == np.round(finite)).all())
        entries = [f"{number:.0f}" if whole or not np.isfinite(number) else f"{number:.2f}" for number in numbers.flat]
    width = max(map(len, entries))
    if array.ndim == 0:
        return entries[0]
    return _nested(np.array([entry.rjust(width) for entry in entries], dtype=object).reshape(array.shape))


def _nested(entries: np.ndarray, indent: int = 0) -> str:
    if entries.ndim == 1:
        return f"[{', '.join(entries)}]"
    rows = [_nested(row, indent + 1) for row in entries]
    return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"


def _beside(name: str, block: str) -> str:
    return name + block.replace("\n", "\n" + " " * len(name))


def inputs_text(variant: Variant, case: Case) -> tuple[str, ...]:
    """The arguments of a call, each with its name."""
    return tuple(
        _beside(f"{name} = ", _argument(value))
        for name, value in zip(variant.input_names(case), case.args, strict=True)
    )


def shapes_text(variant: Variant, case: Case) -> tuple[str, ...]:
    """The shapes of the arguments of a call, each with its name; numbers as they are."""
    parts = []
    for name, value in zip(variant.input_names(case), case.args, strict=True):
        parts.append(
            f"{name} has the shape {tuple(value.shape)}" if isinstance(value, np.ndarray) else f"{name} = {value}"
        )
    return tuple(parts)


def _argument(value: object) -> str:
    if isinstance(value, np.ndarray):
        return array_text(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def apart(first: Arrays | None, second: Arrays | None, least: float = 0.08) -> bool:
    """Whether two results differ so much that nobody needs a calculator to tell them apart."""
    if first is None or second is None:
        return first is not second
    if len(first) != len(second) or any(a.shape != b.shape for a, b in zip(first, second, strict=True)):
        return True
    for a, b in zip(first, second, strict=True):
        x, y = a.astype(np.float64), b.astype(np.float64)
        both = np.isfinite(x) & np.isfinite(y)
        if (~both & ~((x == y) | (np.isnan(x) & np.isnan(y)))).any():
            return True
        if both.any() and (np.abs(x[both] - y[both]) > least).any():
            return True
    return False
