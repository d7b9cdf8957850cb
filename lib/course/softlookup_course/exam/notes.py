"""Write numbers, rows and matrices as formulas, exactly where that can be done."""

from fractions import Fraction
from typing import Any

import numpy as np

LARGEST_DENOMINATOR = 5000
TOO_LONG = 10**12
"""From here on numbers are written with a power of ten."""


def exact(value: Any) -> Fraction | None:
    """The fraction behind a number of floating point, or None if none with a small denominator is there.

    >>> exact(0.125), exact(2**0.5)
    (Fraction(1, 8), None)
    """
    fraction = Fraction(float(value)).limit_denominator(LARGEST_DENOMINATOR)
    return fraction if abs(float(fraction) - float(value)) <= 1e-9 * max(1.0, abs(float(value))) else None


def tex(value: Any) -> str:
    r"""Write a truth value, a number, a text, a tuple of numbers or an array with one or two axes in TeX.

    Without dollar signs. Numbers that are fractions with small denominators are written as such.

    >>> tex(0.75), tex((2, 3)), tex(65536)
    ('\\tfrac{3}{4}', '(2,\\ 3)', '65{,}536')
    """
    if isinstance(value, bool | np.bool_):
        return r"\text{true}" if value else r"\text{false}"
    if isinstance(value, str):
        return rf"\text{{{value}}}"
    if isinstance(value, tuple | list):
        return "(" + r",\ ".join(tex(entry) for entry in value) + ")"
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tex(tuple(value))
    if isinstance(value, np.ndarray) and value.ndim == 2:
        rows = r" \\ ".join(" & ".join(tex(entry) for entry in row) for row in value)
        return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
    return _number(value)


def _number(value: Any) -> str:
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return r"-\infty" if value < 0 else r"\infty"
    if abs(value) >= TOO_LONG:
        power = len(str(int(abs(value)))) - 1
        return rf"{tex(float(value) / 10**power)} \cdot 10^{{{power}}}"
    fraction = value if isinstance(value, Fraction) else exact(value)
    if fraction is None:
        return f"{float(value):.4g}"
    sign, size = ("-" if fraction < 0 else ""), abs(fraction)
    if size.denominator == 1:
        return sign + f"{size.numerator:,}".replace(",", "{,}")
    return rf"{sign}\tfrac{{{size.numerator}}}{{{size.denominator}}}"


def logs(numbers: Any) -> str:
    r"""Write scores as logarithms, whose powers of e are these whole numbers.

    >>> logs([1, 5])
    '(0,\\ \\ln 5)'
    """
    return "(" + r",\ ".join("0" if n == 1 else rf"\ln {n}" for n in numbers) + ")"


def same(first: Any, second: Any) -> bool:
    """Whether two answers say the same: equal texts, or equal numbers in equal shapes."""
    if isinstance(first, str) or isinstance(second, str):
        return isinstance(first, str) and isinstance(second, str) and first == second
    if isinstance(first, tuple | list) and any(isinstance(part, np.ndarray | str | tuple | list) for part in first):
        return (
            isinstance(second, tuple | list)
            and len(first) == len(second)
            and all(same(a, b) for a, b in zip(first, second, strict=True))
        )
    first_array, second_array = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    return first_array.shape == second_array.shape and bool(
        np.allclose(first_array, second_array, rtol=1e-9, atol=1e-12, equal_nan=True)
    )
