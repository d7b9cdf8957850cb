"""Draw one matrix as a grid of numbered cells; the heat maps are made of these."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette, ink_on, ramp


def draw_grid(
    axes: Axes,
    values: np.ndarray,
    palette: Palette,
    *,
    title: str,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    bounds: tuple[float, float] | None = None,
    decimals: int = 2,
    marked: np.ndarray | None = None,
    hidden: np.ndarray | None = None,
) -> None:
    """Draw a matrix as coloured cells with their numbers inside; limits and ticks of the axes are set here."""
    values = np.asarray(values, dtype=float)
    if values.ndim != 2:
        raise ValueError(f"a grid shows a matrix, but got shape {values.shape}")
    n_rows, n_columns = values.shape
    marked = np.zeros(values.shape, bool) if marked is None else np.asarray(marked, bool)
    hidden = np.zeros(values.shape, bool) if hidden is None else np.asarray(hidden, bool)
    low, high = bounds if bounds is not None else (float(values[~hidden].min()), float(values[~hidden].max()))
    scale = Normalize(low, high if high > low else low + 1.0, clip=True)
    colors = ramp(palette)
    for i in range(n_rows):
        for j in range(n_columns):
            if hidden[i, j]:
                cell = Rectangle((j, i), 1, 1, fill=False, edgecolor=palette.faint, hatch="////", linewidth=0)
                axes.add_patch(cell)
                continue
            face = colors(scale(values[i, j]))[:3]
            axes.add_patch(Rectangle((j, i), 1, 1, facecolor=face, edgecolor=palette.mesh, linewidth=0.6))
            weight = "bold" if marked[i, j] else "normal"
            text = f"{values[i, j]:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
            style: dict[str, Any] = {"size": 9.0, "weight": weight, "color": ink_on(face)}
            axes.text(j + 0.5, i + 0.52, text, ha="center", va="center", **style)
    for i, j in np.argwhere(marked):
        frame = Rectangle((j + 0.06, i + 0.06), 0.88, 0.88, fill=False, edgecolor=palette.alarm, lw=1.8)
        axes.add_patch(frame)
    axes.set(xlim=(-0.03, n_columns + 0.03), ylim=(n_rows + 0.03, -0.03), aspect="equal", title=title)
    axes.set_xticks(np.arange(len(columns)) + 0.5, columns)
    axes.set_yticks(np.arange(len(rows)) + 0.5, rows)
    axes.tick_params(length=0, labelsize=9)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)


def draw_cell(axes: Axes, x: float, y: float, text: str, full: bool, color: str, palette: Palette) -> None:
    """Draw one box with a word in it; (x, y) is its upper left corner, and ``full`` fills it with the colour."""
    alpha = 0.35 if full else 0.0
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=color, alpha=alpha, edgecolor="none"))
    axes.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor=palette.muted, linewidth=0.8))
    axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", size=9)


def draw_ruled(
    axes: Axes, x: float, y: float, rows: int, columns: int, color: str, alpha: float = 0.2, width: float = 0.8
) -> None:
    """Draw a matrix as a tinted box ruled into cells; (x, y) is its lower left corner."""
    axes.add_patch(Rectangle((x, y), columns, rows, facecolor=color, alpha=alpha, edgecolor="none"))
    # One path for all lines of the grid: a rectangle for each cell would make the page four times as heavy.
    across = [[x, x + columns, np.nan, y + i, y + i, np.nan] for i in range(rows + 1)]
    down = [[x + j, x + j, np.nan, y, y + rows, np.nan] for j in range(columns + 1)]
    lines = np.array(across + down, dtype=float)
    axes.plot(lines[:, :3].ravel(), lines[:, 3:].ravel(), color=color, linewidth=width, solid_capstyle="projecting")
