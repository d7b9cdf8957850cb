"""Broadcasting: what a missing axis, or one of size 1, is taken for."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_box
from softlookup_course.figures.theme import Palette


def stretched(column: np.ndarray, row: np.ndarray, *, palette: Palette) -> Figure:
    """Draw a column (T, 1) minus a row (S,): both are repeated until they have one shape, and a table (T, S) comes out.

    The column has faint copies to its right, the row has faint copies below, and beneath the two is the table. It is
    narrow enough for a phone.
    """
    column, row = np.asarray(column, dtype=float).ravel(), np.asarray(row, dtype=float).ravel()
    t, s = len(column), len(row)
    wide, high = 2 * s + 1.9, 2 * t + 3.3
    figure = Figure(figsize=(0.48 * wide, 0.48 * high))
    axes = figure.subplots()
    left, right, middle, lower = 0.0, s + 1.5, (s + 1.5) / 2, t + 1.6
    for i in range(t):
        for j in range(s):
            _cell(axes, left + j, i, column[i], palette.query if j == 0 else "", palette)
            _cell(axes, right + j, i, row[j], palette.key if i == 0 else "", palette)
            _cell(axes, middle + j, lower + i, column[i] - row[j], palette.mixed, palette)
    for x, y, text, color in (
        (left, 0, f"column, shape ({t}, 1)", palette.query),
        (right, 0, f"row, shape ({s},)", palette.key),
        (middle, lower, f"difference, shape ({t}, {s})", palette.mixed),
    ):
        axes.text(x + s / 2 - 0.5, y - 0.6, text, ha="center", va="bottom", color=color, size=10)
    for x, y, sign in ((right - 1.25, 0, "\N{MINUS SIGN}"), (middle - 1.1, lower, "=")):
        axes.text(x, y + (t - 1) / 2, sign, ha="center", va="center", size=14, color=palette.ink)
    axes.set(xlim=(-0.7, right + s - 0.3), ylim=(lower + t - 0.4, -1.3), aspect="equal")
    axes.set_axis_off()
    figure.set_label(
        f"A column of {t} numbers, repeated {s} times to the right, minus a row of {s} numbers, repeated {t} times "
        f"downwards, is a table of {t} by {s} numbers: every number of the column combined with "
        "every number of the row. The copies are faint."
    )
    return figure


def _cell(axes: Axes, x: float, y: float, number: float, color: str, palette: Palette) -> None:
    """One number in a box; a copy has a dashed outline and no colour."""
    is_original = bool(color)
    look: dict[str, Any] = {"fc": "none", "ec": palette.faint, "linestyle": (0, (3, 2))}
    look = {"fc": color, "ec": "none", "alpha": 0.2} if is_original else look
    draw_box(axes, (x - 0.4, y - 0.4), 0.8, 0.8, 0.12, **look)
    text = f"{number:g}".replace("-", "\N{MINUS SIGN}")
    axes.text(x, y, text, ha="center", va="center", size=10, color=palette.ink if is_original else palette.muted)
