"""A trained model looked into: numbers by layer, what each part adds to a logit, features that share dimensions."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette, ramp


def layer_maps(
    maps: Mapping[str, np.ndarray],
    columns: Sequence[str],
    across: str,
    what: str,
    *,
    numbered: float = 0.1,
    palette: Palette,
) -> Figure:
    """Draw one number, 0 to 1, for each layer and head as heat maps side by side.

    A map is (layers, columns), by title, the lowest layer first, which is drawn at the bottom, as layer 1. All share
    the names of the columns, each of which stands for ``across``; ``what`` is what the numbers are. Cells from
    ``numbered`` on show their number as well. A ValueError if a map has another number of columns than there are names.
    """
    for title, table in maps.items():
        if np.ndim(table) != 2 or np.shape(table)[1] != len(columns):
            raise ValueError(f"the map {title!r} has shape {np.shape(table)}; wanted {len(columns)} columns")
    layers = max(len(table) for table in maps.values())
    width = min(6.4, (0.45 * len(columns) + 0.9) * len(maps) + 0.3)
    figure = Figure(figsize=(width, max(0.155, 0.28 - 0.01 * layers) * layers + 0.8))
    figure.set_layout_engine("constrained")
    for axes, (title, table) in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps.items(), strict=True):
        values = np.asarray(table, dtype=float)
        _draw_shares(axes, values, palette)
        for i, j in np.argwhere(np.abs(values) >= numbered):
            number = f"{values[i, j]:.1f}".replace("-", "\N{MINUS SIGN}")
            axes.text(j + 0.5, i + 0.46, number, ha="center", va="center", size=8, color=palette.ink)
        axes.set_xticks(np.arange(len(columns)) + 0.5, columns)
        _number(axes.set_yticks, len(values), first=1)
        axes.set(xlabel=across, ylabel="layer")
        axes.set_title(title, size=9.5)
    description = "; ".join(f"{title}: {_largest(np.asarray(table), columns)}" for title, table in maps.items())
    rows = f"a row for each layer, a column for each {across}"
    figure.set_label(f"Heat maps of {what}: {rows}. Largest: {description}.")
    return figure


def layers_by_word(values: np.ndarray, words: Sequence[str], what: str, *, palette: Palette) -> Figure:
    """Draw one number, 0 to 1, for each number of layers passed and each word of a text.

    ``values`` are (layers + 1, words), or it is a ValueError; ``what`` is what they are. A row for each word, the
    layers from left to right, and the scale of the colours.
    """
    if np.ndim(values) != 2 or np.shape(values)[1] != len(words):
        raise ValueError(f"the values have shape {np.shape(values)}; wanted {len(words)} columns")
    figure = Figure(figsize=(6.2, 0.34 * len(words) + 0.7))
    figure.set_layout_engine("constrained")
    axes = figure.subplots()
    shades = _draw_shares(axes, np.asarray(values, dtype=float).T, palette)
    figure.colorbar(shades, ax=axes, ticks=(0, 0.5, 1), fraction=0.04, pad=0.02)
    axes.set_yticks(np.arange(len(words)) + 0.5, words)
    axes.set_ylim(len(words), 0)
    _number(axes.set_xticks, len(values))
    axes.set_xlabel("layers passed")
    figure.set_label(
        f"Heat map of {what}: a row for each of {len(words)} words, a column for each number of layers passed. "
        + "; ".join(f"{word}: {_stretch(column)}" for word, column in zip(words, np.asarray(values).T, strict=True))
        + "."
    )
    return figure


def _draw_shares(axes: Axes, values: np.ndarray, palette: Palette) -> QuadMesh:
    mesh = axes.pcolormesh(values, cmap=ramp(palette), vmin=0, vmax=1, edgecolors=palette.mesh, linewidth=0.3)
    axes.tick_params(length=0, labelsize=9, pad=2)
    axes.spines[:].set_visible(False)
    return mesh


def _number(ticks: Callable[..., object], n: int, first: int = 0) -> None:
    every = range(0, n, 1 if n <= 8 else 5)
    ticks([i + 0.5 for i in every], [str(i + first) for i in every])


def _largest(values: np.ndarray, columns: Sequence[str]) -> str:
    order = np.argsort(values, axis=None)[::-1][:5]
    largest = [(*np.unravel_index(i, values.shape), values.flat[i]) for i in order]
    return ", ".join(f"layer {i + 1}, {columns[j]}: {value:.2f}" for i, j, value in largest)


def _stretch(column: np.ndarray) -> str:
    above = np.flatnonzero(column > 0.5)
    return f"above one half from {above[0]} to {above[-1]} layers" if len(above) else "below one half everywhere"


def contributions(parts: Mapping[str, float], total: float, what: str, *, palette: Palette) -> Figure:
    """Draw what the parts of a sum add to it, largest first, and all others together.

    Horizontal bars, to the right what raises the sum and to the left what lowers it. What is left over of ``total`` is
    drawn as "all others"; ``what`` is what is added up.
    """
    bars = dict(parts) | {"all others": total - sum(parts.values())}
    figure = Figure(figsize=(5.2, 0.27 * len(bars) + 0.8))
    axes = figure.subplots()
    for row, (name, value) in enumerate(bars.items()):
        color = palette.muted if name == "all others" else palette.query if value >= 0 else palette.key
        axes.barh(row, value, color=color, height=0.68)
        number = f"{value:+.1f}".replace("-", "\N{MINUS SIGN}")
        side = 1 if value >= 0 else -1
        axes.text(value + 0.06 * side, row, number, ha="left" if side > 0 else "right", va="center", size=8.5)
    low, high = min(0, *bars.values()), max(bars.values())
    axes.set_xlim(low - 0.16 * (high - low), high + 0.16 * (high - low))
    axes.set_yticks(range(len(bars)), bars)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.axvline(0, color=palette.muted, linewidth=0.8)
    axes.set_xlabel(what)
    axes.tick_params(axis="y", length=0)
    description = ", ".join(f"{name} {value:+.2f}" for name, value in bars.items())
    figure.set_label(f"Bars of what parts add to the {what} of {total:.2f}: {description}.")
    return figure


def feature_directions(directions: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw the directions of features that share two dimensions: by title, (features, 2), the most important first.

    Three panels in a row, with an arrow for each feature, numbered from 1, and a circle of radius 1; a feature without
    a direction has a dot in the middle.
    """
    rows = -(-len(directions) // 3)
    figure = Figure(figsize=(5.4, 2.0 * rows))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(rows, 3, squeeze=False).ravel()
    descriptions = []
    for axes, (title, rows_M2) in zip(panels, directions.items(), strict=False):
        axes.set(xlim=(-1.62, 1.62), ylim=(-1.62, 1.62), aspect="equal")
        axes.set_title(title, size=9.5)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_color(palette.faint)
        axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=palette.faint, linewidth=1.2))
        lengths = np.linalg.norm(rows_M2, axis=1)
        for number, ((x, y), length) in enumerate(zip(rows_M2, lengths, strict=True), 1):
            if length < 0.35:
                axes.plot(x, y, "o", color=palette.muted, markersize=3)
                continue
            color = palette.series[(number - 1) % 4]
            draw_arrow(axes, (0, 0), (x, y), color, 1.6)
            axes.text(1.24 * x / length * max(length, 0.9), 1.24 * y / length * max(length, 0.9), str(number),
                      ha="center", va="center", size=8.5, color=palette.ink)  # fmt: skip
        descriptions.append(f"{title}: {(lengths >= 0.35).sum()} of {len(lengths)} have a direction")
    for axes in panels[len(directions) :]:
        axes.set_axis_off()
    figure.set_label(f"Arrows of feature directions in two dimensions. {'; '.join(descriptions)}.")
    return figure
