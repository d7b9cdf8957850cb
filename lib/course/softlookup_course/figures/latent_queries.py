"""Why rotary positions stop a matrix from moving to the query: each distance makes another latent query."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette


def latent_queries(
    without: Sequence[float] | np.ndarray, rotated: Sequence[Sequence[float]] | np.ndarray, *, palette: Palette
) -> Figure:
    """Draw latent queries in the plane, without positions (an arrow) and with the rotation of each distance.

    ``rotated`` is (distances, 2), for keys at the distances 0, 1, 2, ...: an arrow for each, with its number at the
    tip. Two panels on one scale; a ValueError if they are no points of the plane.
    """
    single, fan = np.asarray(without, dtype=float), np.asarray(rotated, dtype=float)
    if single.shape != (2,) or fan.ndim != 2 or fan.shape[1] != 2 or not len(fan):
        raise ValueError(f"shapes {single.shape} and {fan.shape}; wanted two numbers, and two for each distance")
    figure = Figure(figsize=(6.2, 2.0))
    left, right = figure.subplots(1, 2)
    size = 1.3 * float(np.hypot(*fan.T).max())
    left.set_title("without positions")
    _arrow(left, single, "every distance", palette.query)
    right.set_title("with rotary positions")
    for distance, tip in enumerate(fan):
        _arrow(right, tip, str(distance), palette.series[distance % 4])
    for axes in (left, right):
        axes.plot(0, 0, "o", color=palette.muted, markersize=4)
        axes.axhline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.axvline(0, color=palette.faint, linewidth=0.8, zorder=0)
        low, high = min(0.0, float(fan[:, 1].min())), float(max(fan[:, 1].max(), single[1]))
        axes.set(xlim=(-size, size), ylim=(low - 0.12 * size, high + 0.28 * size), aspect="equal")
        axes.set_axis_off()
    figure.set_label(
        "Latent queries as arrows in the plane. Without positions a single arrow serves the keys at every distance. "
        f"With rotary positions there are {len(fan)} arrows, one for each of the distances 0 to {len(fan) - 1}."
    )
    return figure


def _arrow(axes: Axes, tip: np.ndarray, words: str, color: str) -> None:
    draw_arrow(axes, (0, 0), (tip[0], tip[1]), color, 1.6)
    x, y = 1.07 * tip
    side = "left" if tip[0] > 0.3 * abs(tip[1]) else "right" if tip[0] < -0.3 * abs(tip[1]) else "center"
    axes.text(x, y, words, ha=side, va="bottom", size=9, color=color)
