"""Arrays, products, slopes and logarithms: the figures of the mathematics that readers need first."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.marks import bare, draw_arrow, draw_box, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette


def reading_order(rows: int, columns: int, *, palette: Palette) -> Figure:
    """Draw a table, its memory, and the two tables that `transpose` and `reshape` make of it."""
    table = np.arange(1, rows * columns + 1).reshape(rows, columns)
    tables = [
        (f"x, shape ({rows}, {columns})", table),
        (f"x.transpose(0, 1), shape ({columns}, {rows})", table.T),
        (f"x.reshape({columns}, {rows})", table.reshape(columns, rows)),
    ]
    figure, axes = one_panel(6.6, 0.1 + 0.29 * (columns + 4.1))
    wide = 7.6
    for k, (name, numbers) in enumerate(tables):
        x = k * wide + (wide - 1.6 - numbers.shape[1]) / 2
        axes.text(k * wide + (wide - 1.6) / 2, -0.25, name, ha="center", va="bottom", size=9.5, color=palette.ink)
        _draw(axes, x, 0.0, numbers, columns, palette)
    strip = table.reshape(1, -1)
    middle = (3 * wide - 1.6) / 2
    below = columns + 1.5
    axes.text(middle, below - 0.25, "memory: one row", ha="center", va="bottom", size=9.5, color=palette.muted)
    _draw(axes, middle - strip.size / 2, below, strip, columns, palette)
    bare(axes, xlim=(-0.6, 3 * wide - 1.0), ylim=(below + 1.3, -1.3), aspect="equal")
    figure.set_label(
        f"A table of {rows} by {columns} numbers lies in memory row after row. After a transpose, its rows become "
        f"columns: {table.T.tolist()}. After a reshape, the numbers stay in order and the rows mix: "
        f"{table.reshape(columns, rows).tolist()}. The first row is coloured in all of them."
    )
    return figure


def _draw(axes: Axes, x: float, y: float, numbers: np.ndarray, first: int, palette: Palette) -> None:
    """A table as boxes; the numbers up to ``first`` are coloured."""
    for (i, j), value in np.ndenumerate(numbers):
        in_first = value <= first
        face = palette.query if in_first else palette.key
        box = Rectangle((x + j, y + i), 1, 1, facecolor=face, alpha=0.3 if in_first else 0.1, edgecolor="none")
        axes.add_patch(box)
        axes.add_patch(Rectangle((x + j, y + i), 1, 1, fill=False, edgecolor=palette.paper, linewidth=2))
        weight = "bold" if in_first else "normal"
        axes.text(x + j + 0.5, y + i + 0.5, str(value), ha="center", va="center", size=10, weight=weight)


def stretched(column: np.ndarray, row: np.ndarray, *, palette: Palette) -> Figure:
    """Draw a column (T, 1) minus a row (S,): both are repeated to one shape, and a table (T, S) comes out."""
    column, row = np.asarray(column, dtype=float).ravel(), np.asarray(row, dtype=float).ravel()
    t, s = len(column), len(row)
    wide, high = 2 * s + 1.9, 2 * t + 3.3
    figure, axes = one_panel(0.48 * wide, 0.48 * high)
    left_x, right_x, middle, lower = 0.0, s + 1.5, (s + 1.5) / 2, t + 1.6
    for i in range(t):
        for j in range(s):
            _cell(axes, left_x + j, i, column[i], palette.query if j == 0 else "", palette)
            _cell(axes, right_x + j, i, row[j], palette.key if i == 0 else "", palette)
            _cell(axes, middle + j, lower + i, column[i] - row[j], palette.mixed, palette)
    for x, y, text, color in (
        (left_x, 0, f"column, shape ({t}, 1)", palette.query),
        (right_x, 0, f"row, shape ({s},)", palette.key),
        (middle, lower, f"difference, shape ({t}, {s})", palette.mixed),
    ):
        axes.text(x + s / 2 - 0.5, y - 0.6, text, ha="center", va="bottom", color=color, size=10)
    for x, y, sign in ((right_x - 1.25, 0, "\N{MINUS SIGN}"), (middle - 1.1, lower, "=")):
        axes.text(x, y + (t - 1) / 2, sign, ha="center", va="center", size=14, color=palette.ink)
    bare(axes, xlim=(-0.7, right_x + s - 0.3), ylim=(lower + t - 0.4, -1.3), aspect="equal")
    figure.set_label(
        f"A column of {t} numbers, repeated {s} times to the right, minus a row of {s} numbers, repeated {t} times "
        f"downwards, is a table of {t} by {s} numbers: every number of the column combined with "
        "every number of the row. The copies are faint."
    )
    return figure


def _cell(axes: Axes, x: float, y: float, value: float, color: str, palette: Palette) -> None:
    """One number in a box; a copy has a dashed outline and no colour."""
    is_original = bool(color)
    style: dict[str, Any] = {"fc": "none", "ec": palette.faint, "linestyle": (0, (3, 2))}
    style = {"fc": color, "ec": "none", "alpha": 0.2} if is_original else style
    draw_box(axes, (x - 0.4, y - 0.4), 0.8, 0.8, 0.12, **style)
    text = f"{value:g}".replace("-", "\N{MINUS SIGN}")
    axes.text(x, y, text, ha="center", va="center", size=10, color=palette.ink if is_original else palette.muted)


def open_product(
    x_TD: np.ndarray, w_DV: np.ndarray, rows: Sequence[str], columns: Sequence[str], *, palette: Palette
) -> Figure:
    """Draw matrices of whole numbers (T, D) and (D, V), and their product with a question mark in every cell."""
    n_rows, n_columns = len(x_TD), w_DV.shape[1]
    figure, (x_axes, w_axes, product_axes) = several_panels(6.3, 2.1, 1, 3)
    rows_in_words = "; ".join(f"{name} {' '.join(f'{n:g}' for n in row)}" for name, row in zip(rows, x_TD, strict=True))
    weights = "; ".join(f"{name} {' '.join(f'{n:g}' for n in row)}" for name, row in zip(columns, w_DV.T, strict=True))
    figure.set_label(f"The rows of X: {rows_in_words}. The columns of W: {weights}. Their product is to be found.")
    draw_grid(x_axes, x_TD, palette, title="$X$", rows=rows, decimals=0)
    draw_grid(w_axes, w_DV, palette, title="$W$", columns=columns, decimals=0)
    for t in range(n_rows):
        for v in range(n_columns):
            product_axes.add_patch(Rectangle((v, t), 1, 1, fill=False, edgecolor=palette.faint, linewidth=0.8))
            product_axes.text(v + 0.5, t + 0.52, "?", ha="center", va="center", size=10, color=palette.ink)
    product_axes.set(xlim=(-0.03, n_columns + 0.03), ylim=(n_rows + 0.03, -0.03), aspect="equal", title="scores $XW$")
    product_axes.set_xticks(np.arange(n_columns) + 0.5, columns)
    product_axes.set_yticks(np.arange(n_rows) + 0.5, rows)
    product_axes.tick_params(length=0, labelsize=9)
    product_axes.xaxis.tick_top()
    product_axes.spines[:].set_visible(False)
    return figure


def chain(w: float, x: float, t: float, *, palette: Palette) -> Figure:
    """Draw L = (w x - t)^2 as a chain of steps: numbers on the way down, slopes back up."""
    y, error = w * x, w * x - t
    boxes = [("w", w), ("y = w x", y), ("r = y \N{MINUS SIGN} t", error), ("L = r²", error**2)]
    slopes = [("× x", x), ("× 1", 1.0), ("× 2r", 2 * error)]
    gathered = [2 * error * x, 2 * error, 2 * error, 1.0]
    figure, axes = one_panel(4.2, 4.1)
    for i, ((name, value), back) in enumerate(zip(boxes, gathered, strict=True)):
        text = f"{name} = {_short(value)}"
        box = {"boxstyle": "round,pad=0.45", "facecolor": palette.paper, "edgecolor": palette.query}
        axes.text(0, -2.0 * i, text, ha="center", va="center", size=11, color=palette.ink, bbox=box)
        beside = f"dL/d{name[0]} = {_short(back)}"
        axes.text(2.0, -2.0 * i, beside, ha="left", va="center", size=10.5, color=palette.key, weight="bold")
    for i, (name, slope) in enumerate(slopes):
        start, end = -2.0 * i - 0.5, -2.0 * i - 1.5
        draw_arrow(axes, (0, start), (0, end), palette.query, 1.0)
        draw_arrow(axes, (2.5, end), (2.5, start), palette.key, 1.0)
        text = name if name.endswith(_short(slope)) else f"{name} = {_short(slope)}"
        axes.text(2.75, -2.0 * i - 1, text, ha="left", va="center", size=9.5, color=palette.key)
    axes.text(0, 0.75, "down: forward pass", ha="center", size=9.5, color=palette.query)
    axes.text(2.0, 0.75, "up: backward pass", ha="left", size=9.5, color=palette.key)
    bare(axes, xlim=(-1.6, 5.0), ylim=(-6.6, 1.2))
    figure.set_label(
        f"A chain from top to bottom: w = {_short(w)}, y = w x = {_short(y)}, r = y minus t = {_short(error)}, L = r "
        f"squared = {_short(error**2)}. Backwards, the slopes are multiplied (chain rule): dL/dr = "
        f"{_short(2 * error)}, dL/dy = {_short(2 * error)}, dL/dw = {_short(2 * error * x)}."
    )
    return figure


def _short(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def surprise(marks: Mapping[str, float], *, palette: Palette) -> Figure:
    """Draw minus the logarithm of a probability, with some events on the curve."""
    figure, axes = one_panel(5.4, 2.9)
    p = np.linspace(0.01, 1.0, 300)
    axes.plot(p, -np.log(p), color=palette.query)
    descriptions = []
    for name, at in marks.items():
        height = abs(np.log(at))  # not -log: that is -0.0 at 1
        axes.plot(at, height, "o", color=palette.key, markersize=7)
        text = f"{name}: {height:.2f}"
        corner = at > 0.9
        write_beside(axes, text, (at, height), (-4 if corner else 9, 9 if corner else 5), size=9.5)
        descriptions.append(f"{name} has probability {at:g} and surprise {height:.2f}")
    axes.set(xlabel="probability p", ylabel="surprise, \N{MINUS SIGN}ln p", xlim=(0, 1.03), ylim=(-0.15, 4.8))
    figure.set_label(f"A curve that falls from high up at p = 0 to 0 at p = 1. {'; '.join(descriptions)}.")
    return figure
