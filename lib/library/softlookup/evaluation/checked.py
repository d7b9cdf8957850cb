"""Arrays and probabilities as an evaluation takes them in: what does not fit is refused with a sentence."""

import numpy as np
from numpy.typing import ArrayLike


def row_of_numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Take something as an array (P,) of finite numbers, one or more.

    In float64. ``name`` stands in the message of the ValueError if it has not one axis, is empty, or holds NaN or
    infinity.
    """
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f"{name} has the shape {row.shape}; wanted is (P,) with P at least 1")
    if not np.isfinite(row).all():
        position = int(np.argmin(np.isfinite(row)))
        raise ValueError(f"{name}[{position}] is {row[position]}; wanted are finite numbers")
    return row


def pair_of_rows(first: ArrayLike, second: ArrayLike, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Take two things as arrays (P,) of finite numbers with the same P.

    In float64. ``names`` stand in the message of the ValueError if one is no such array or they differ in length.
    """
    rows = row_of_numbers(first, names[0]), row_of_numbers(second, names[1])
    if len(rows[0]) != len(rows[1]):
        raise ValueError(
            f"{names[0]} has {len(rows[0])} entries and {names[1]} {len(rows[1])}; wanted are as many of both"
        )
    return rows


def check_range(value: float, name: str, low: float, high: float) -> None:
    """Refuse a number that is not above low and below high, with a ValueError that calls it ``name``."""
    if not low < value < high:
        raise ValueError(f"{name} is {value}; wanted is a number between {low:g} and {high:g}")


def check_at_least(value: int, name: str, least: int) -> None:
    """Refuse a count below ``least``, with a ValueError that calls it ``name``."""
    if value < least:
        raise ValueError(f"{name} is {value}; wanted is a whole number, {least} or more")
