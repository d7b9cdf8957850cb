"""A table of sinusoids as stripes: short waves on the left, long ones on the right."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def position_stripes(table: np.ndarray, *, palette: Palette) -> Figure:
    """Draw rows of sinusoids (T, D), from -1 to 1, one cell a number.

    Positions downwards, columns to the right, with the two ends of the scale named. If it is no table, it is a
    ValueError: "wanted a table (T, D), but got shape SHAPE".
    """
    table = np.asarray(table, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"wanted a table (T, D), but got shape {table.shape}")
    length, width = table.shape
    figure = Figure(figsize=(6.2, 3.5))
    figure.set_label(
        f"A table of {length} positions by {width} columns of sinusoids. The columns on the left change from row to "
        "row, those in the middle are waves of some tens of rows, those on the right hardly change at all."
    )
    axes = figure.subplots()
    colors = LinearSegmentedColormap.from_list(f"two-{palette.name}", [palette.key, palette.paper, palette.query])
    image = axes.imshow(table, cmap=colors, vmin=-1, vmax=1, aspect="auto", interpolation="none")
    axes.set(xlabel="column", ylabel="position")
    axes.set_xticks([0, width // 4, width // 2, 3 * width // 4, width - 1])
    bar = figure.colorbar(image, ax=axes, shrink=0.8, pad=0.02)
    bar.set_ticks([-1, 0, 1], labels=["−1", "0", "1"])
    bar.outline.set_visible(False)
    return figure
