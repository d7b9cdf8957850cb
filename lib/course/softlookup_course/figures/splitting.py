"""Why a reshape alone does not split into heads: the same numbers, cut rightly and wrongly."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup.reference import split_heads
from softlookup_course.figures.theme import Palette

_T, _N, _H = 3, 4, 2


def splitting(*, palette: Palette) -> Figure:
    """Draw a projection of three tokens, its split into four heads, and what a reshape alone makes of it.

    Each cell is named by its token and its column; its colour says whose column it is.
    """
    # Token t's number in column m is 10t + m, so that every cell can be followed by its name.
    x_TM = 10 * np.arange(_T)[:, None] + np.arange(_N * _H)
    right_NTH, wrong_NTH = split_heads(x_TM, _N), x_TM.reshape(_N, _T, _H)
    figure = Figure(figsize=(4.6, 5.5))
    figure.set_label(
        "A table of three tokens by eight columns, two columns for each of four heads. Split correctly, head 0 holds "
        "the first two columns of all three tokens. A reshape alone gives head 0 six of the eight numbers of token 0, "
        "and nothing of any other token."
    )
    axes = figure.subplots()
    width = (_N - 1) * 2.9 + _H
    _table(axes, (width - _N * _H) / 2, 10.9, x_TM, "projected  (T, N·H)", palette)
    arrow = {"arrowstyle": "-|>", "color": palette.muted}
    for y, cut, title in (
        (5.6, right_NTH, "columns split, axes exchanged"),
        (0.0, wrong_NTH, "reshape alone: wrong"),
    ):
        color = palette.ink if cut is right_NTH else palette.alarm
        axes.text(width / 2, y + 4.15, title, ha="center", va="bottom", size=10.5, weight="bold", color=color)
        for head in range(_N):
            _table(axes, 2.9 * head, y, cut[head].astype(int), f"head {head}", palette)
    axes.annotate("", (width / 2, 10.2), (width / 2, 10.85), arrowprops=arrow)
    axes.set(xlim=(-0.1, width + 0.1), ylim=(-0.1, 15.0), aspect="equal")
    axes.set_axis_off()
    return figure


def _table(axes: Axes, x: float, y: float, cells: np.ndarray, title: str, palette: Palette) -> None:
    """Draw one table of cells; the second digit of a cell says whose column it is."""
    rows, columns = cells.shape
    for i in range(rows):
        for j in range(columns):
            head = cells[i, j] % 10 // _H
            color = palette.series[head]
            corner = (x + j, y + rows - 1 - i)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, alpha=0.22, edgecolor="none"))
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=color, linewidth=0.9))
            axes.text(corner[0] + 0.5, corner[1] + 0.47, f"{cells[i, j]:02d}", ha="center", va="center", size=10)
    axes.text(x + columns / 2, y + rows + 0.15, title, ha="center", va="bottom", size=9, color=palette.muted)
