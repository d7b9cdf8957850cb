"""A trained model looked into: numbers by layer and head, effects of patches, and feature directions."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from softlookup_course.figures.marks import draw_arrow, one_panel
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
    """Draw numbers from 0 to 1, (layers, columns) by title, as heat maps, the lowest layer at the bottom."""
    layers = max(len(table) for table in maps.values())
    width = min(6.4, (0.45 * len(columns) + 0.9) * len(maps) + 0.3)
    figure = Figure(figsize=(width, max(0.155, 0.28 - 0.01 * layers) * layers + 0.8))
    figure.set_layout_engine("constrained")
    for axes, (title, table) in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps.items(), strict=True):
        values = np.asarray(table, dtype=float)
        _draw_shares(axes, values, palette)
        for i, j in np.argwhere(np.abs(values) >= numbered):
            value_text = f"{values[i, j]:.1f}".replace("-", "\N{MINUS SIGN}")
            axes.text(j + 0.5, i + 0.46, value_text, ha="center", va="center", size=8, color=palette.ink)
        axes.set_xticks(np.arange(len(columns)) + 0.5, columns)
        _number(axes.set_yticks, len(values), first=1)
        axes.set(xlabel=across, ylabel="layer")
        axes.set_title(title, size=9.5)
    description = "; ".join(f"{title}: {_largest(np.asarray(table), columns)}" for title, table in maps.items())
    rows = f"a row for each layer, a column for each {across}"
    figure.set_label(f"Heat maps of {what}: {rows}. Largest: {description}.")
    return figure


def layers_by_word(values: np.ndarray, words: Sequence[str], what: str, *, palette: Palette) -> Figure:
    """Draw one number, 0 to 1, for each number of layers passed and each word of a text: (layers + 1, words)."""
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
        + "; ".join(f"{token}: {_stretch(column)}" for token, column in zip(words, np.asarray(values).T, strict=True))
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


def feature_directions(directions: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw feature directions (features, 2) by title, the most important first, and a circle of radius 1."""
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
        for index, ((x, y), length) in enumerate(zip(rows_M2, lengths, strict=True), 1):
            if length < 0.35:
                axes.plot(x, y, "o", color=palette.muted, markersize=3)
                continue
            color = palette.series[(index - 1) % 4]
            draw_arrow(axes, (0, 0), (x, y), color, 1.6)
            axes.text(1.24 * x / length * max(length, 0.9), 1.24 * y / length * max(length, 0.9), str(index),
                      ha="center", va="center", size=8.5, color=palette.ink)  # fmt: skip
        descriptions.append(f"{title}: {(lengths >= 0.35).sum()} of {len(lengths)} have a direction")
    for axes in panels[len(directions) :]:
        axes.set_axis_off()
    figure.set_label(f"Arrows of feature directions in two dimensions. {'; '.join(descriptions)}.")
    return figure


def weight_and_effect(
    weights: np.ndarray, effects: np.ndarray, names: Mapping[tuple[int, int], str], target: str, *, palette: Palette
) -> Figure:
    """Draw each head's weight on ``target`` and the recovered fraction when it is patched, (layers, heads)."""
    figure, axes = one_panel(5.6, 3.3)
    axes.axhline(0, color=palette.muted, linewidth=0.8)
    axes.plot(np.ravel(weights), np.ravel(effects), "o", color=palette.muted, alpha=0.55, markersize=4)
    descriptions = []
    for head, name in names.items():
        x, y = float(weights[head]), float(effects[head])
        axes.plot(x, y, "o", color=palette.key, markersize=6)
        axes.text(x - 0.02 if x > 0.5 else x + 0.025, y + 0.05, name, ha="right" if x > 0.5 else "left", va="bottom")
        descriptions.append(f"{name} at {x:.2f} and {y:.2f}")
    axes.set(xlim=(-0.03, 1.0), ylim=(min(-0.35, float(np.min(effects)) - 0.05), 1.08))
    axes.set(xlabel=f"attention weight on {target}", ylabel="share that comes back")
    axes.grid(axis="y")
    figure.set_label(
        f"A point for each of {np.size(weights)} heads: its attention weight on {target}, and the share of the answer "
        f"that comes back when it is patched alone. {'; '.join(descriptions)}."
    )
    return figure
