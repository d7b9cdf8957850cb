"""The output matrix: heads side by side meet their own rows, and the shares add up."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup.figures.theme import Palette


def blending(n_tokens: int, d_model: int, n_heads: int, head_width: int, *, palette: Palette) -> Figure:
    """Draw the heads side by side, the output matrix cut into their rows, and the output.

    Args:
        n_tokens: T, rows of the heads' results.
        d_model: D, columns of the output.
        n_heads: N, at most 8 for a picture that can be read.
        head_width: H, columns of one head.
        palette: The colours to draw in.

    Returns:
        One panel, one cell for each number.

    Raises:
        ValueError: If there are more than 8 heads: "N heads are too many for this picture; it takes 8".
    """
    if n_heads > 8:
        raise ValueError(f"{n_heads} heads are too many for this picture; it takes 8")
    wide = n_heads * head_width
    figure = Figure(figsize=(6.6, 3.9))
    figure.set_label(
        f"The results of {n_heads} heads side by side, {n_tokens} by {wide}, times the output matrix, {wide} by "
        f"{d_model}, make the output, {n_tokens} by {d_model}. The columns of head i meet the rows of head i in the "
        "output matrix."
    )
    axes = figure.subplots()
    colors = [palette.series[i % 4] for i in range(n_heads)]
    middle = wide / 2
    for i, color in enumerate(colors):
        _block(axes, i * head_width, middle - n_tokens / 2, n_tokens, head_width, color)
        center = i * head_width + head_width / 2
        axes.text(center, middle + n_tokens / 2 + 0.3, f"$Z_{{{i}}}$", ha="center", va="bottom", color=color, size=11)
        top = wide - (i + 1) * head_width
        _block(axes, wide + 3, top, head_width, d_model, color)
        axes.text(
            wide + 3 + d_model + 0.4, top + head_width / 2, f"rows of head {i}", va="center", size=8.5, color=color
        )
    right = wide + d_model + 11.5
    _block(axes, right, middle - n_tokens / 2, n_tokens, d_model, palette.ink)
    axes.text(wide + 1.5, middle, "×", ha="center", va="center", size=14)
    axes.text(right - 1.5, middle, "=", ha="center", va="center", size=14)
    low: dict[str, Any] = {"ha": "center", "va": "top", "size": 9, "color": palette.muted}
    axes.text(wide / 2, middle - n_tokens / 2 - 0.4, f"(T, N·H) = ({n_tokens}, {wide})", **low)
    axes.text(wide + 3 + d_model / 2, -0.4, f"$W_O$ (N·H, D) = ({wide}, {d_model})", **low)
    axes.text(right + d_model / 2, middle - n_tokens / 2 - 0.4, f"(T, D) = ({n_tokens}, {d_model})", **low)
    axes.text(right + d_model / 2, middle + n_tokens / 2 + 0.3, "$Y$", ha="center", va="bottom", size=11)
    axes.set(xlim=(-0.4, right + d_model + 1.6), ylim=(-2.2, wide + 0.6), aspect="equal")
    axes.set_axis_off()
    return figure


def _block(axes: Axes, x: float, y: float, rows: int, columns: int, color: str) -> None:
    axes.add_patch(Rectangle((x, y), columns, rows, facecolor=color, alpha=0.2, edgecolor="none"))
    # One path for all lines of the grid keeps the page light.
    across = [[x, x + columns, np.nan, y + i, y + i, np.nan] for i in range(rows + 1)]
    down = [[x + j, x + j, np.nan, y, y + rows, np.nan] for j in range(columns + 1)]
    lines = np.array(across + down, dtype=float)
    axes.plot(lines[:, :3].ravel(), lines[:, 3:].ravel(), color=color, linewidth=0.8, solid_capstyle="projecting")
