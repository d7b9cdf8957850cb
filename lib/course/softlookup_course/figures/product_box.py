"""A matrix product as a box: operations fill it, bytes cover it; and what that means for the time of few rows."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette

_T, _D, _F = 3, 6, 5
"""Sides of the box that is drawn, in cells."""
_SLANT = np.array([0.52, 0.44])
"""Where a step along F leads on the paper."""


def product_box(
    rows: Sequence[int] | np.ndarray,
    computing_s: Sequence[float] | np.ndarray,
    moving_s: Sequence[float] | np.ndarray,
    *,
    palette: Palette,
) -> Figure:
    """Draw (T, D) @ (D, F) as a box of multiply-adds with its three matrices as faces, and its time against T.

    ``rows`` are T, increasing; all rows up to the first that is compute-bound have to be there for it to be exact. For
    each, the seconds that the operations take at the peak, and the bytes at the bandwidth; other lengths are a
    ValueError, "N rows, but M and K times". Both times stand on logarithmic axes with the longer one drawn thick; the
    first T whose operations take as long as its bytes has a dot.
    """
    rows, computing_s, moving_s = (np.asarray(numbers, dtype=float) for numbers in (rows, computing_s, moving_s))
    if not len(rows) == len(computing_s) == len(moving_s):
        raise ValueError(f"{len(rows)} rows, but {len(computing_s)} and {len(moving_s)} times")
    figure = Figure(figsize=(6.3, 2.8))
    box, time = figure.subplots(1, 2, width_ratios=[1.1, 1])
    _draw_box(box, palette)
    least_us = 1e6 * np.maximum(computing_s, moving_s)
    time.loglog(rows, 1e6 * moving_s, color=palette.key, linewidth=1.3, linestyle="--")
    time.loglog(rows, 1e6 * computing_s, color=palette.value, linewidth=1.3, linestyle="--")
    time.loglog(rows, least_us, color=palette.ink, linewidth=2.6)
    enough = np.flatnonzero(computing_s >= moving_s)
    crossing = "bytes take longer at every T"
    if enough.size:
        at = enough[0]
        crossing = f"operations take longer from T = {rows[at]:,.0f} on"
        time.plot(rows[at], least_us[at], "o", color=palette.ink, markersize=6.5)
        write_beside(time, f"{rows[at]:,.0f} rows", (rows[at], least_us[at]), (-5, 6), va="baseline", size=9)
    write_beside(time, "moving bytes", (rows[0], 1e6 * moving_s[0]), (4, -5), color=palette.key, size=9)
    middle = len(rows) // 3
    write_beside(time, "computing", (rows[middle], 1e6 * computing_s[middle]), (7, -3), color=palette.value, size=9)
    time.set(xlabel="rows $T$", title="least time, µs")
    for axis in (time.xaxis, time.yaxis):
        low, high = np.log10(axis.get_view_interval())
        powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
        axis.set_ticks([10.0**p for p in powers], [f"{10.0**p:,g}" for p in powers], size=8.5)
    time.minorticks_off()
    time.grid(alpha=0.6)
    time.set_axisbelow(True)
    figure.set_label(
        "Left, a product as a box with sides T, D and F, a cell for each multiply-add; its faces are the rows X, the "
        "matrix W and the result Y. Right, the least time against T, both axes logarithmic: "
        f"{least_us[0]:.3g} µs at T = {rows[0]:,.0f}, {least_us[-1]:.3g} µs at T = {rows[-1]:,.0f}; {crossing}."
    )
    return figure


def _draw_box(axes: Axes, palette: Palette) -> None:
    """Draw the three faces that are seen, ruled into cells, with their matrices' names and the sides' letters."""

    def at(d: float, f: float, t: float) -> np.ndarray:
        return np.array([d, t]) + f * _SLANT

    front = (lambda a, b: at(a, 0, b)), _D, _T, palette.query, "$X$", "rows in"
    top = (lambda a, b: at(a, b, _T)), _D, _F, palette.key, "$W$", "columns in"
    right = (lambda a, b: at(_D, a, b)), _F, _T, palette.mixed, "$Y$", "result"
    for place, wide, high, color, name, role in (front, top, right):
        corners = [place(0, 0), place(wide, 0), place(wide, high), place(0, high)]
        axes.add_patch(Polygon(corners, facecolor=color, alpha=0.2, edgecolor="none"))
        for a in range(wide + 1):
            axes.plot(*zip(place(a, 0), place(a, high), strict=True), color=color, linewidth=0.8, alpha=0.5)
        for b in range(high + 1):
            axes.plot(*zip(place(0, b), place(wide, b), strict=True), color=color, linewidth=0.8, alpha=0.5)
        x, y = place(wide / 2, high / 2)
        words = axes.text(x, y, f"{name}\n{role}", ha="center", va="center", size=9.5, weight="bold", color=palette.ink)
        words.set_path_effects([withStroke(linewidth=2.5, foreground=palette.paper, alpha=0.75)])
    for letter, (x, y), across in (
        ("$T$", at(0, 0, _T / 2), "right"),
        ("$D$", at(_D / 2, 0, 0), "center"),
        ("$F$", at(_D, _F / 2, 0), "left"),
    ):
        down = {"right": 0.0, "center": 0.3, "left": 0.35}[across]
        aside = {"right": -0.2, "center": 0.0, "left": 0.15}[across]
        axes.text(x + aside, y - down, letter, ha=across, va="center" if across == "right" else "top", size=10.5)
    axes.set(xlim=(-0.7, _D + _F * _SLANT[0] + 0.2), ylim=(-1.2, _T + _F * _SLANT[1] + 0.2), aspect="equal")
    axes.set_title("cells: multiply-adds, faces: numbers")
    axes.set_axis_off()
