"""Which numbers may come in a task's arguments: a sentence for its text, and questions with numbers at the ends."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from softlookup_inside.asking.case import CORE, Case

Ends: TypeAlias = float | Sequence[float]
"""The least and the largest number, either of which may be infinite, or the largest size of numbers of both signs."""

_ROUNDING = 16
"""Roundings of the largest number that a right answer may be away."""


def _pair(ends: Ends) -> tuple[float, float]:
    low, high = (-ends, ends) if isinstance(ends, int | float) else ends
    return low, high


def in_words(ranges: Mapping[str, Ends]) -> str:
    """A sentence on the numbers that may come, by the argument's name; empty where nothing is said of any."""
    clauses = [f"`{name}` {_clause(ends)}" for name, ends in ranges.items()]
    return f"Numbers that may come: {'; '.join(clauses)}." if clauses else ""


def _clause(ends: Ends) -> str:
    low, high = _pair(ends)
    if isinstance(ends, int | float):
        return f"up to {ends:,.12g} in size"
    if math.isinf(high):
        return f"{low:,.12g} or more"
    return f"from {low:,.12g} to {high:,.12g}"


def at_ends(ranges: Mapping[str, Ends], names: Sequence[str], has_large: bool, cases: Sequence[Case]) -> Iterator[Case]:
    """The first core question with one argument at, or stretched to, each end of its range."""
    for name, ends in ranges.items():
        at = names.index(name)
        base = next((case for case in cases if _can_be_base(case, at)), None)
        if base is None:
            raise ValueError(f"no core question hands over numbers as {name!r}, so that it needs no range")
        value = base.args[at]
        is_single = _is_single(value)
        for end in dict.fromkeys(_pair(ends)):
            if math.isinf(end) or (not is_single and end <= 0):
                continue
            changed = end if is_single else _stretched(value, end / _largest(value))
            large = has_large and not is_single and end > 1
            yield replace(
                base,
                label=f"`{name}` = {end:,.12g}" if is_single else f"numbers in `{name}` up to {end:,.12g}",
                args=(*base.args[:at], changed, *base.args[at + 1 :]),
                part="large" if large else CORE,
                tolerance=base.tolerance if is_single else _tolerance(base, end),
            )


def _can_be_base(case: Case, at: int) -> bool:
    is_asked = case.part == CORE and not case.gradients and len(case.args) > at
    return is_asked and (_is_single(case.args[at]) or _largest(case.args[at]) > 0)


def _is_single(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _largest(value: Any) -> float:
    """The largest size of the floats in an argument."""
    if isinstance(value, list | tuple):
        return max(map(_largest, value), default=0.0)
    if isinstance(value, np.ndarray):
        return float(np.abs(value).max(initial=0.0)) if value.dtype.kind == "f" else 0.0
    return abs(value) if isinstance(value, float) else 0.0


def _stretched(value: Any, factor: float) -> Any:
    if isinstance(value, list | tuple):
        return type(value)([_stretched(item, factor) for item in value])
    if isinstance(value, np.ndarray):
        return (value * factor).astype(value.dtype) if value.dtype.kind == "f" else value
    return value * factor if isinstance(value, float) else value


def _tolerance(base: Case, end: float) -> float | None:
    """What rounding of large numbers may cost; None where the usual tolerance has room for it."""
    dtypes = [a.dtype for a in base.args if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
    rounding = max((_ROUNDING * end * float(np.finfo(dtype).eps) for dtype in dtypes), default=0.0)
    return rounding if rounding > (base.tolerance or 1e-5) else base.tolerance
