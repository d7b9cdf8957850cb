"""What pages need besides figures: matrices written small, tables, and numbers for their sentences."""

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np


def grid(text: str) -> np.ndarray:
    """Read a matrix, in float64, as a person writes it in one line: spaces between numbers, semicolons between rows.

    >>> grid("1 .5; 0 2")
    array([[1. , 0.5],
           [0. , 2. ]])
    """
    rows = [[float(cell) for cell in row.split()] for row in text.split(";")]
    for index, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise ValueError(f"row {index} has {len(row)} numbers, the first has {len(rows[0])}")
    return np.array(rows)


def table(columns: Mapping[str, Iterable[Any]], formats: Mapping[str, str] | None = None) -> None:
    """Show results as a table, with numbers aligned to the right; a heading may hold a formula.

    ``formats`` is how to write the numbers of a column, by its heading, as in f-strings; else whole numbers get commas
    between thousands, and other numbers three decimals.
    """
    from IPython.display import Markdown, display

    cells = {name: list(column) for name, column in columns.items()}
    rows = len(next(iter(cells.values()), []))
    for name, column in cells.items():
        if len(column) != rows:
            raise ValueError(f"column {name!r} has {len(column)} cells, the first has {rows}")
    for name in formats or {}:
        if name not in cells:
            raise ValueError(f"no column {name!r}; there are {', '.join(map(repr, cells))}")
    written = {name: [_cell(cell, (formats or {}).get(name)) for cell in column] for name, column in cells.items()}
    aligned = ["---:" if all(_is_number(cell) for cell in column) else "---" for column in cells.values()]
    lines = [list(cells), aligned, *map(list, zip(*written.values(), strict=True))]
    display(Markdown("\n".join(f"| {' | '.join(line)} |" for line in lines)))


def _is_number(cell: Any) -> bool:
    return isinstance(cell, Real) and not isinstance(cell, bool | np.bool_)


def _cell(cell: Any, form: str | None) -> str:
    if not _is_number(cell):
        return str(cell).replace("|", r"\|")
    return format(cell, form or ("," if isinstance(cell, Integral) else ".3f")).replace("-", "\N{MINUS SIGN}")


def say(**numbers: Any) -> None:
    """Keep computed numbers or words under names, for sentences to show with the ``glue:text`` role."""
    # It comes with the book extra; the rest of the library does without.
    from myst_nb import glue

    for name, value in numbers.items():
        # numpy's own numbers print as "np.float64(...)", which no sentence wants.
        plain = value.item() if isinstance(value, np.generic) else value
        if not isinstance(plain, int | float | str):
            raise TypeError(f"{name} is a {type(value).__name__}; sentences show an int, a float or a str")
        glue(name, plain, display=False)
