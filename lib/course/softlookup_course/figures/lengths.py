"""How long embeddings and positions are, and what the scale does to that."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator
from numpy.typing import ArrayLike

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def vector_lengths(
    widths: ArrayLike, rows: ArrayLike, scaled: ArrayLike, positions: ArrayLike, *, palette: Palette
) -> Figure:
    """Draw the length of a table's row, of the row times the root of D, and of a position, against the widths D.

    Rows are means, positions are sinusoidal. Both axes are logarithmic; the lines are the lengths that theory gives,
    the points were measured.
    """
    d = np.asarray(widths, dtype=float)
    figure = Figure(figsize=(4.2, 3.2))  # a phone's width: the names stand on the lines
    axes = figure.subplots()
    ends = []
    for measured, line, name, color, above in (
        (np.asarray(scaled), np.sqrt(d), "row × √D", palette.query, True),
        (np.asarray(positions), np.sqrt(d / 2), "position", palette.key, False),
        (np.asarray(rows), np.ones_like(d), "row", palette.value, True),
    ):
        axes.plot(d, line, color=color, linewidth=1.4)
        axes.plot(d, measured, "o", color=color, markersize=5)
        end, away = (d[-1], line[-1]), 8 if above else -22
        write_beside(axes, f"{name} {measured[-1]:.1f}", end, (4, away), ha="right", size=9, color=color)
        ends.append(f"{name} {measured[-1]:.1f}")
    axes.set(xscale="log", yscale="log", xlabel="width D", ylabel="length", xlim=(d[0] * 0.85, d[-1] * 1.2))
    axes.set_ylim(top=2 * max(np.sqrt(d[-1]), float(np.max(scaled))))
    axes.set_xticks(d, [f"{value:.0f}" for value in d])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    figure.set_label(
        f"Lengths of vectors against the width D, {d[0]:.0f} to {d[-1]:.0f}. A row of the table keeps its length; a "
        f"position grows like the square root of D, and so does a row multiplied by that root. At the right end: "
        f"{', '.join(ends)}."
    )
    return figure
