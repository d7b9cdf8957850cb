"""Why a reshape alone does not split into heads: the same twelve numbers, cut rightly and wrongly."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup.figures.theme import Palette
from softlookup.reference import split_heads

_T, _N, _H = 3, 2, 2


def splitting(*, palette: Palette) -> Figure:
    """Draw a projection of three tokens, its split into two heads, and what a reshape alone makes of it.

    Args:
        palette: The colours to draw in.

    Returns:
        One panel. Each cell is named by its token and its column; its colour says whose column it is.
    """
    # Token t's number in column m is 10t + m, so that every cell can be followed by its name.
    x_TM = 10 * np.arange(_T)[:, None] + np.arange(_N * _H)
    right_NTH, wrong_NTH = split_heads(x_TM, _N), x_TM.reshape(_N, _T, _H)
    figure = Figure(figsize=(4.4, 4.3))
    figure.set_label(
        "A table of three tokens by four columns, two columns for each of two heads. Split correctly, head 0 holds the "
        "first two columns of all three tokens. A reshape alone gives head 0 all four numbers of token 0 and half of "
        "token 1."
    )
    axes = figure.subplots()
    _table(axes, 3.95, 6.6, x_TM, "projected  (T, N·H)", palette)
    for x, cut, title in (
        (0.0, right_NTH, "columns split,\naxes swapped"),
        (7.0, wrong_NTH, "reshape alone:\nwrong"),
    ):
        color = palette.ink if cut is right_NTH else palette.alarm
        axes.text(x + 2.45, -0.35, title, ha="center", va="top", size=10.5, weight="bold", color=color)
        arrow = {"arrowstyle": "-|>", "color": palette.muted}
        axes.annotate("", (x + 2.45, 4.1), (5.95 + (x - 3.5) / 4, 6.4), arrowprops=arrow)
        for head in range(_N):
            _table(axes, x + 2.9 * head, 0.0, cut[head].astype(int), f"head {head}", palette)
    axes.set(xlim=(-0.1, 12.0), ylim=(-2.1, 10.6), aspect="equal")
    axes.set_axis_off()
    return figure


def _table(axes: Axes, x: float, y: float, cells: np.ndarray, title: str, palette: Palette) -> None:
    """Draw one table of cells; the second digit of a cell says whose column it is."""
    rows, columns = cells.shape
    for i in range(rows):
        for j in range(columns):
            head = cells[i, j] % 10 // _H
            color = (palette.query, palette.key)[head]
            corner = (x + j, y + rows - 1 - i)
            axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, alpha=0.22, edgecolor="none"))
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=color, linewidth=0.9))
            axes.text(corner[0] + 0.5, corner[1] + 0.47, f"{cells[i, j]:02d}", ha="center", va="center", size=10)
    axes.text(x + columns / 2, y + rows + 0.15, title, ha="center", va="bottom", size=9, color=palette.muted)
