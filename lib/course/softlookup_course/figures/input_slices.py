"""Splitting the input instead of the projection: a matrix that is zero outside its blocks."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def input_slices(d_model: int, n_heads: int, head_width: int, *, palette: Palette) -> Figure:
    """Draw one projection for all heads twice: as it is, and as it becomes when each head gets a slice of the input.

    Cells that hold a weight are tinted in their head's colour, the others are empty and say 0. A width D that is not a
    multiple of N is a ValueError: "a width of D cannot be sliced for N heads".
    """
    if d_model % n_heads:
        raise ValueError(f"a width of {d_model} cannot be sliced for {n_heads} heads")
    figure = Figure(figsize=(4.4, 2.9))
    full, sliced = figure.subplots(1, 2)
    weights = d_model * n_heads * head_width
    figure.set_label(
        f"Two matrices of {d_model} rows and {n_heads * head_width} columns. When the projection is split, all "
        f"{weights} cells hold weights. When the input is split, only the blocks on the diagonal do, "
        f"{weights // n_heads} cells; all others are 0."
    )
    _matrix(full, d_model, n_heads, head_width, palette, sliced=False)
    _matrix(sliced, d_model, n_heads, head_width, palette, sliced=True)
    full.set_title(f"project, then split:\n{weights} weights")
    sliced.set_title(f"split the input:\n{weights // n_heads} weights")
    return figure


def _matrix(axes: Axes, d_model: int, n_heads: int, head_width: int, palette: Palette, *, sliced: bool) -> None:
    rows_each = d_model // n_heads
    for d in range(d_model):
        for m in range(n_heads * head_width):
            head = m // head_width
            color = palette.series[head % 4]
            corner = (m, d_model - 1 - d)
            there = not sliced or d // rows_each == head
            if there:
                axes.add_patch(Rectangle(corner, 1, 1, facecolor=color, alpha=0.25, edgecolor="none"))
            else:
                axes.text(m + 0.5, corner[1] + 0.5, "0", ha="center", va="center", size=10, color=palette.muted)
            edge = color if there else palette.faint
            axes.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=edge, linewidth=1.0))
    for head in range(n_heads):
        center = head * head_width + head_width / 2
        axes.text(center, -0.15, f"head {head}", ha="center", va="top", size=9.5, color=palette.series[head % 4])
    for d in range(d_model):
        axes.text(-0.2, d_model - 0.5 - d, f"$x_{d}$", ha="right", va="center", size=10)
    axes.set(xlim=(-0.9, n_heads * head_width + 0.1), ylim=(-0.8, d_model + 0.1), aspect="equal")
    axes.set_axis_off()
