"""A decoder: its masks, its parts and its cross-attention."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from softlookup_course.figures.marks import bare, draw_arrow, one_panel
from softlookup_course.figures.theme import Palette, ramp


def mask_panels(
    masks: Sequence[np.ndarray],
    titles: Sequence[str],
    rows: Sequence[Sequence[str]] | None = None,
    columns: Sequence[Sequence[str]] | None = None,
    wrong: Sequence[np.ndarray | None] | None = None,
    *,
    palette: Palette,
) -> Figure:
    """Draw masks (T, S) side by side, True = may attend; cells of ``wrong`` are crossed, they should be hidden."""
    grids = [np.asarray(mask) for mask in masks]
    marks = list(wrong) if wrong is not None else [None] * len(grids)
    tall = max(grid.shape[0] for grid in grids)
    has_names = rows is not None or columns is not None
    width = sum(0.3 * grid.shape[1] + (1.15 if has_names else 0.5) for grid in grids)
    height = 0.3 * tall + (1.35 if columns is not None else 0.75)
    figure = Figure(figsize=(max(width, 3.2), height))
    figure.set_layout_engine("compressed", w_pad=0.1)  # names of rows keep clear of the panel before
    panels = figure.subplots(1, len(grids), squeeze=False, width_ratios=[grid.shape[1] + 0.06 for grid in grids])[0]
    for index, (axes, grid, title) in enumerate(zip(panels, grids, titles, strict=True)):
        _draw(axes, grid, marks[index], palette, title)
        if rows is not None and rows[index]:
            axes.set_yticks(np.arange(grid.shape[0]) + 0.5, rows[index])
        if columns is not None and columns[index]:
            axes.set_xticks(np.arange(grid.shape[1]) + 0.5, columns[index], rotation=90)
        else:
            axes.set_ylim(tall + 0.03, -0.03)  # cells as large as those of the tallest, and tops in a line
    counts = [
        f"{title}: {int(grid.sum())} of {grid.size} pairs are allowed"
        + (f", {int(np.sum(mark))} of them wrongly" if mark is not None and np.any(mark) else "")
        for grid, title, mark in zip(grids, titles, marks, strict=True)
    ]
    figure.set_label("Masks, a row for each query and a column for each key. " + ". ".join(counts) + ".")
    return figure


def _draw(axes: Axes, grid: np.ndarray, mark: np.ndarray | None, palette: Palette, title: str) -> None:
    t, s = grid.shape
    for i, j in np.ndindex(t, s):
        if grid[i, j]:
            axes.add_patch(Rectangle((j + 0.05, i + 0.05), 0.9, 0.9, facecolor=palette.query, linewidth=0))
        else:
            axes.add_patch(
                Rectangle((j + 0.05, i + 0.05), 0.9, 0.9, fill=False, edgecolor=palette.faint, linewidth=0.7)
            )
        if mark is not None and mark[i, j]:
            axes.add_patch(Rectangle((j + 0.1, i + 0.1), 0.8, 0.8, fill=False, edgecolor=palette.paper, linewidth=2.6))
            axes.plot([j + 0.28, j + 0.72], [i + 0.28, i + 0.72], color=palette.paper, linewidth=1.8)
            axes.plot([j + 0.28, j + 0.72], [i + 0.72, i + 0.28], color=palette.paper, linewidth=1.8)
    axes.set(xlim=(-0.03, s + 0.03), ylim=(t + 0.03, -0.03), aspect="equal", title=title)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(length=0, labelsize=9)
    axes.xaxis.tick_bottom()
    axes.spines[:].set_visible(False)


_PARTS = (("self-attention", "causal mask"), ("cross-attention", "source's padding mask"), ("feed-forward", "no mask"))


def decoder_parts(*, palette: Palette) -> Figure:
    """Draw a pre-LN decoder layer as three sums, from the bottom up, with the encoder's output from the side."""
    figure, axes = one_panel(6.4, 4.6)
    figure.set_label(
        "A decoder layer from bottom to top: the target's vectors pass a norm and causal self-attention, then a norm "
        "and cross-attention, then a norm and a feed-forward network; each result is added to what came in. The "
        "encoder's output enters cross-attention alone, as keys and values, under the source's padding mask."
    )
    axes.plot([1.2, 1.2], [0.3, 7.6], color=palette.ink, linewidth=2.2)
    draw_arrow(axes, (1.2, 7.5), (1.2, 8.0), palette.ink, 2.2)
    for level, (part, mask) in enumerate(_PARTS):
        y = 1.35 + 2.3 * level
        color = (palette.query, palette.key, palette.value)[level]
        _box(axes, 2.1, y - 0.35, 0.9, "norm", palette.muted)
        _box(axes, 3.6, y - 0.35, 2.5, part, color)
        draw_arrow(axes, (1.2, y), (2.05, y), palette.muted)
        draw_arrow(axes, (3.05, y), (3.55, y), palette.muted)
        axes.plot([4.85, 4.85, 1.35], [y + 0.4, y + 0.95, y + 0.95], color=palette.muted, linewidth=1.4)
        disc = {"boxstyle": "circle,pad=0.12", "facecolor": palette.ink, "edgecolor": "none"}
        axes.text(1.2, y + 0.95, "+", ha="center", va="center", size=13, color=palette.paper, bbox=disc)
        axes.text(4.85, y - 0.47, mask, ha="center", va="top", size=8.5, color=palette.muted)
    _box(axes, 7.4, 3.3, 2.2, "encoder's\noutput", palette.key, height=0.9)
    draw_arrow(axes, (7.35, 3.65), (6.15, 3.65), palette.key)
    axes.text(6.75, 3.78, "keys,\nvalues", ha="center", va="bottom", size=8.5, color=palette.key)
    axes.text(3.3, 4.14, "queries", ha="center", va="bottom", size=8.5, color=palette.query)
    axes.text(1.2, 0.18, "target, shifted right", ha="center", va="top", size=9)
    axes.text(1.2, 8.1, "(B, T, D), to the next layer", ha="center", va="bottom", size=9)
    axes.text(8.5, 3.1, "(B, S, D), the same\nfor every layer", ha="center", va="top", size=8.5, color=palette.muted)
    bare(axes, xlim=(-0.6, 9.8), ylim=(-0.4, 8.6))
    return figure


def _box(axes: Axes, x: float, y: float, width: float, text: str, color: str, height: float = 0.7) -> None:
    style: dict[str, Any] = {"boxstyle": "round,pad=0.05,rounding_size=0.12", "fill": False, "linewidth": 1.6}
    axes.add_patch(FancyBboxPatch((x, y), width, height, edgecolor=color, **style))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", size=10)


def cross_map(
    weights: np.ndarray, written: Sequence[str], read: Sequence[str], title: str, *, palette: Palette
) -> Figure:
    """Draw attention weights (T, S) of the tokens ``written`` over those ``read``; a dot marks a row's largest."""
    weights = np.asarray(weights, dtype=float)
    figure, axes = one_panel(0.3 * len(read) + 1.6, 0.3 * len(written) + 1.5)  # ten are as wide as a phone
    colors = ramp(palette)
    for t, s in np.ndindex(*weights.shape):
        axes.add_patch(Rectangle((s, t), 1, 1, facecolor=colors(weights[t, s]), edgecolor=palette.mesh, linewidth=0.5))
    best = weights.argmax(axis=1)
    axes.plot(best + 0.5, np.arange(len(written)) + 0.5, "o", color=palette.ink, markersize=3.5)
    axes.set(xlim=(-0.03, len(read) + 0.03), ylim=(len(written) + 0.03, -0.03), aspect="equal", title=title)
    axes.set_xticks(np.arange(len(read)) + 0.5, read, rotation=90)
    axes.set_yticks(np.arange(len(written)) + 0.5, written)
    axes.set(xlabel="source token (key)", ylabel="token to be written (query)")
    axes.tick_params(length=0, labelsize=9)
    axes.spines[:].set_visible(False)
    pairs = "; ".join(f"{token} attends most to {read[s]}" for token, s in zip(written, best, strict=True))
    figure.set_label(f"Attention weights of {title}: a row for each token to be written. {pairs}.")
    return figure
