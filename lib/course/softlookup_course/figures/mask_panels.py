"""Masks as grids: a filled cell may be attended to, an empty one is hidden, a framed one should have been hidden."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def mask_panels(
    masks: Sequence[np.ndarray],
    titles: Sequence[str],
    rows: Sequence[Sequence[str]] | None = None,
    columns: Sequence[Sequence[str]] | None = None,
    wrong: Sequence[np.ndarray | None] | None = None,
    *,
    palette: Palette,
) -> Figure:
    """Draw masks (T, S) side by side; True = may attend.

    ``rows`` and ``columns`` are names of each mask's queries and keys; numbers where left out. Where ``wrong`` is True,
    a cell is framed: it lets something through that should be hidden. Widths follow the number of keys. If a mask is no
    boolean matrix, or titles are missing, a ValueError names it.
    """
    grids = [np.asarray(mask) for mask in masks]
    if len(grids) != len(titles):
        raise ValueError(f"{len(grids)} masks, but {len(titles)} titles")
    for grid, title in zip(grids, titles, strict=True):
        if grid.ndim != 2 or grid.dtype != np.bool_:
            raise ValueError(f"{title!r} is no boolean matrix: shape {grid.shape}, dtype {grid.dtype}")
    marks = list(wrong) if wrong is not None else [None] * len(grids)
    tall = max(grid.shape[0] for grid in grids)
    named = rows is not None or columns is not None
    width = sum(0.3 * grid.shape[1] + (1.15 if named else 0.5) for grid in grids)
    height = 0.3 * tall + (1.35 if columns is not None else 0.75)
    figure = Figure(figsize=(max(width, 3.2), height), layout="compressed")
    panels = figure.subplots(1, len(grids), squeeze=False, width_ratios=[grid.shape[1] + 1.0 for grid in grids])[0]
    for index, (axes, grid, title) in enumerate(zip(panels, grids, titles, strict=True)):
        _draw(axes, grid, marks[index], palette, title)
        if rows is not None and rows[index]:
            axes.set_yticks(np.arange(grid.shape[0]) + 0.5, rows[index])
        if columns is not None and columns[index]:
            axes.set_xticks(np.arange(grid.shape[1]) + 0.5, columns[index], rotation=90)
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
