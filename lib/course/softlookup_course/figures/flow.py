"""One head from end to end, and a latent cache, with every matrix drawn to its shape."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette

_T, _D, _H = 5, 4, 3  # small, and all different, so that no two shapes are alike


def pipeline(*, palette: Palette) -> Figure:
    """Draw the road from X to Z through one head, with a shape on every matrix.

    Each has as many cells as it has numbers, for T = S = 5, D = 4 and H = 3.
    """
    figure = Figure(figsize=(6.6, 4.0))
    figure.set_label(
        f"Matrices drawn to scale, joined by arrows. X ({_T} by {_D}) becomes Q, K and V ({_T} by "
        f"{_H} each). Q and K give the scores ({_T} by {_T}); the divisor and softmax give the weights "
        f"A. A and V give Z ({_T} by {_H})."
    )
    axes = figure.subplots()
    _matrix(axes, 0.0, 8.2, _T, _D, palette.ink, "$X$", "(T, D)", palette)
    for y, name, size, color in (
        (16.4, "$Q$", "(T, H)", palette.query),
        (8.2, "$K$", "(S, H)", palette.key),
        (0.0, "$V$", "(S, H)", palette.value),
    ):
        _matrix(axes, 8.0, y, _T, _H, color, name, size, palette)
        _arrow(axes, (_D + 0.3, 10.7), (7.7, y + _T / 2), palette)
    for y, text, color in (
        (16.4, "$W_Q$", palette.query),
        (11.3, "$W_K$", palette.key),
        (4.9, "$W_V$", palette.value),
    ):
        axes.text(5.7, y, text, ha="center", va="center", color=color, size=10.5)
    _matrix(axes, 15.0, 12.3, _T, _T, palette.ink, "$R = Q K^T$", "(T, S)", palette)
    _arrow(axes, (11.3, 18.9), (14.7, 15.4), palette)
    _arrow(axes, (11.3, 10.7), (14.7, 14.1), palette)
    _matrix(axes, 24.6, 12.3, _T, _T, palette.mixed, "$A$", "(T, S)", palette)
    _arrow(axes, (20.3, 14.8), (24.3, 14.8), palette)
    axes.text(22.3, 15.2, r"$\div\sqrt{H}$", ha="center", va="bottom", size=10.5)
    axes.text(22.3, 14.4, "softmax\nby row", ha="center", va="top", size=9)
    _matrix(axes, 25.6, 0.0, _T, _H, palette.ink, "$Z = A V$", "(T, H)", palette)
    _arrow(axes, (27.1, 10.6), (27.1, 7.3), palette)
    _arrow(axes, (11.3, 2.5), (25.3, 2.5), palette)
    axes.text(18.3, 3.0, "mixed by the weights", ha="center", va="bottom", size=9)
    axes.set(xlim=(-0.4, 30.4), ylim=(-1.6, 23.4), aspect="equal")
    axes.set_axis_off()
    return figure


def latent_scores(*, palette: Palette) -> Figure:
    """Draw the scores of one query on a latent cache, once with the keys made and once with the matrix on its side.

    One panel above the other; each matrix has as many cells as it has numbers, for S = 6, R = 5 and H = 4.
    """
    s, r, h = 6, 5, 4
    figure = Figure(figsize=(6.2, 5.6))
    figure.set_label(
        f"Two ways to the {s} scores of a query. Expanded: the cache C ({s} by {r}) times U gives keys ({s} by {h}) "
        f"for every head, and each has a dot product with the query ({h} numbers). Absorbed: the query times U "
        f"transposed gives a latent query ({r} numbers), which has dot products with the cache itself."
    )
    made, absorbed = figure.subplots(2, 1)
    made.set_title("expanded: keys are made, for each head")
    _matrix(made, 0.0, 0.0, s, r, palette.mixed, "$C$, cached", "(S, R)", palette)
    _arrow(made, (5.3, 3.0), (9.4, 3.0), palette)
    made.text(7.3, 3.4, "$U_n$", ha="center", va="bottom", color=palette.key, size=10.5)
    _matrix(made, 9.7, 0.0, s, h, palette.key, "$K_n$", "(S, H)", palette)
    _arrow(made, (14.0, 3.0), (20.7, 3.0), palette)
    _matrix(made, 15.4, 5.6, 1, h, palette.query, "$q_n$", "(H)", palette)
    _arrow(made, (17.4, 4.2), (17.4, 3.3), palette)
    _matrix(made, 21.0, 0.0, s, 1, palette.ink, "scores", "(S)", palette)
    absorbed.set_title("absorbed: the matrix goes to the query, and no key is made")
    _matrix(absorbed, 0.0, 0.0, s, r, palette.mixed, "$C$, cached", "(S, R)", palette)
    _arrow(absorbed, (5.3, 1.4), (20.7, 1.4), palette)
    _matrix(absorbed, 7.2, 5.6, 1, h, palette.query, "$q_n$", "(H)", palette)
    _arrow(absorbed, (11.5, 6.1), (14.6, 6.1), palette)
    absorbed.text(13.0, 6.5, "$U_n^T$", ha="center", va="bottom", color=palette.key, size=10.5)
    _matrix(absorbed, 14.9, 5.6, 1, r, palette.query, "latent query", "(R)", palette)
    _arrow(absorbed, (17.4, 4.2), (17.4, 1.7), palette)
    _matrix(absorbed, 21.0, 0.0, s, 1, palette.ink, "scores", "(S)", palette)
    for axes in (made, absorbed):
        axes.set(xlim=(-0.4, 23.4), ylim=(-1.4, 8.4), aspect="equal")
        axes.set_axis_off()
    return figure


def _matrix(
    axes: Axes,
    x: float,
    y: float,
    rows: int,
    columns: int,
    color: str,
    name: str,
    size: str,
    palette: Palette,
) -> None:
    """Draw a matrix as a box of cells, its name above and its shape below."""
    axes.add_patch(Rectangle((x, y), columns, rows, facecolor=color, alpha=0.16, edgecolor="none"))
    # One path for all lines of the grid: a rectangle for each cell would make the page four times as heavy.
    across = [[x, x + columns, np.nan, y + i, y + i, np.nan] for i in range(rows + 1)]
    down = [[x + j, x + j, np.nan, y, y + rows, np.nan] for j in range(columns + 1)]
    lines = np.array(across + down)
    axes.plot(lines[:, :3].ravel(), lines[:, 3:].ravel(), color=color, linewidth=0.7, solid_capstyle="projecting")
    center = x + columns / 2
    axes.text(center, y + rows + 0.3, name, ha="center", va="bottom", color=color, size=11)
    axes.text(center, y - 0.25, size, ha="center", va="top", color=palette.muted, size=8.5)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], palette: Palette) -> None:
    draw_arrow(axes, start, end, palette.muted, 1.2)
