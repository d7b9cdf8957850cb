"""Arrays and probabilities as an evaluation takes them in: what does not fit is refused with a sentence."""

import numpy as np
from numpy.typing import ArrayLike


def row_of_numbers(values: ArrayLike, name: str) -> np.ndarray:
    """Take something as an array (P,) of finite numbers, one or more.

    Args:
        values: A list or an array.
        name: What it is called in a message.

    Returns:
        The numbers (P,), float64.

    Raises:
        ValueError: If it has not one axis, is empty, or holds NaN or infinity.
    """
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1 or row.size == 0:
        raise ValueError(f"{name} has the shape {row.shape}; wanted is (P,) with P at least 1")
    if not np.isfinite(row).all():
        place = int(np.argmin(np.isfinite(row)))
        raise ValueError(f"{name}[{place}] is {row[place]}; wanted are finite numbers")
    return row


def pair_of_rows(first: ArrayLike, second: ArrayLike, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Take two things as arrays (P,) of finite numbers with the same P.

    Args:
        first: A list or an array.
        second: Another one.
        names: What they are called in a message.

    Returns:
        Both as float64.

    Raises:
        ValueError: If one of them is no such array, or they differ in length.
    """
    rows = row_of_numbers(first, names[0]), row_of_numbers(second, names[1])
    if len(rows[0]) != len(rows[1]):
        raise ValueError(
            f"{names[0]} has {len(rows[0])} entries and {names[1]} {len(rows[1])}; wanted are as many of both"
        )
    return rows


def check_range(value: float, name: str, low: float, high: float) -> None:
    """Refuse a number outside of a range whose ends do not belong to it.

    Args:
        value: The number.
        name: What it is called in a message.
        low: The lower end.
        high: The upper end.

    Raises:
        ValueError: If it is not between the two.
    """
    if not low < value < high:
        raise ValueError(f"{name} is {value}; wanted is a number between {low:g} and {high:g}")


def check_at_least(value: int, name: str, least: int) -> None:
    """Refuse a count that is too small.

    Args:
        value: The count.
        name: What it is called in a message.
        least: The smallest that will do.

    Raises:
        ValueError: If it is smaller.
    """
    if value < least:
        raise ValueError(f"{name} is {value}; wanted is a whole number, {least} or more")
