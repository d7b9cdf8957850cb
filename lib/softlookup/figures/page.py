"""What pages need besides figures: matrices written small, and numbers for their sentences."""

from typing import Any

import numpy as np


def grid(text: str) -> np.ndarray:
    """Read a matrix as a person writes it in one line.

    Args:
        text: Numbers parted by spaces, rows parted by semicolons.

    Returns:
        The matrix, float64.

    Raises:
        ValueError: If a row is longer or shorter than the first: "row R has N numbers, the first has M".

    >>> grid("1 .5; 0 2")
    array([[1. , 0.5],
           [0. , 2. ]])
    """
    rows = [[float(number) for number in row.split()] for row in text.split(";")]
    for index, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ValueError(f"row {index} has {len(row)} numbers, the first has {len(rows[0])}")
    return np.array(rows)


def say(**numbers: Any) -> None:
    """Keep computed numbers under names, for sentences to show with the ``glue:text`` role.

    Args:
        **numbers: Numbers or words, each under the name that the sentence will use.

    Raises:
        TypeError: If something else comes: "NAME is a KIND; sentences show an int, a float or a str".
    """
    # It comes with the book extra; the rest of the library does without.
    from myst_nb import glue

    for name, number in numbers.items():
        # numpy's own numbers print as "np.float64(...)", which no sentence wants.
        plain = number.item() if isinstance(number, np.generic) else number
        if not isinstance(plain, int | float | str):
            raise TypeError(f"{name} is a {type(number).__name__}; sentences show an int, a float or a str")
        glue(name, plain, display=False)
