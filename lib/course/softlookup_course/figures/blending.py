"""The output matrix: heads side by side meet their own rows, and the shares add up."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def blending(n_tokens: int, d_model: int, n_heads: int, head_width: int, *, palette: Palette) -> Figure:
    """Draw the heads side by side, the output matrix cut into their rows, and the output, one cell for each number.

    Sizes are T, D, N and H. The output matrix stands above the output, so that the picture is narrow. Each head has a
    colour of its own: more than 4 are a ValueError, "N heads are too many for this picture; it has 4 colours".
    """
    if n_heads > len(palette.series):
        raise ValueError(f"{n_heads} heads are too many for this picture; it has {len(palette.series)} colours")
    wide = n_heads * head_width
    figure = Figure(figsize=(4.4, 3.8))
    figure.set_label(
        f"The outputs of {n_heads} heads side by side, {n_tokens} by {wide}, times the output matrix, {wide} by "
        f"{d_model}, give the output, {n_tokens} by {d_model}. The columns of head i are multiplied "
        "by the rows of head i in the output matrix."
    )
    axes = figure.subplots()
    left = wide + 2.5  # where the output matrix begins, and below it the output: a row of Z stands beside its row of Y
    low = n_tokens + 3.0
    for i, color in enumerate(palette.series[:n_heads]):
        _block(axes, i * head_width, 0, n_tokens, head_width, color)
        center = (i + 0.5) * head_width
        axes.text(center, n_tokens + 0.3, f"$Z^{{{i}}}$", ha="center", va="bottom", color=color, size=12)
        bottom = low + wide - (i + 1) * head_width
        _block(axes, left, bottom, head_width, d_model, color)
        middle = bottom + head_width / 2
        axes.text(left - 0.5, middle, f"$W_O^{{{i}}}$", ha="right", va="center", color=color, size=12)
    _block(axes, left, 0, n_tokens, d_model, palette.ink)
    center = left + d_model / 2
    axes.text(wide + 1.25, n_tokens / 2, "→", ha="center", va="center", size=14)
    axes.text(center, low - 0.4, "↓", ha="center", va="top", size=14)
    words: dict[str, Any] = {"size": 10, "color": palette.muted}
    axes.text(0, -0.5, f"side by side (T, N·H) = ({n_tokens}, {wide})", ha="left", va="top", **words)
    axes.text(center, -0.5, f"$Y$ (T, D)\n= ({n_tokens}, {d_model})", ha="center", va="top", **words)
    top = low + wide
    axes.text(left - 2.9, top, f"$W_O$ (N·H, D)\n= ({wide}, {d_model})", ha="right", va="top", **words)
    axes.set(xlim=(-0.4, left + d_model + 0.8), ylim=(-3.0, top + 0.4), aspect="equal")
    axes.set_axis_off()
    return figure


def _block(axes: Axes, x: float, y: float, rows: int, columns: int, color: str) -> None:
    axes.add_patch(Rectangle((x, y), columns, rows, facecolor=color, alpha=0.2, edgecolor="none"))
    # One path for all lines of the grid keeps the page light.
    across = [[x, x + columns, np.nan, y + i, y + i, np.nan] for i in range(rows + 1)]
    down = [[x + j, x + j, np.nan, y, y + rows, np.nan] for j in range(columns + 1)]
    lines = np.array(across + down, dtype=float)
    axes.plot(lines[:, :3].ravel(), lines[:, 3:].ravel(), color=color, linewidth=0.8, solid_capstyle="projecting")
