"""An output is a weighted mean: it lies among the values that it is made of."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.ticker import MultipleLocator

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def weighted_mean(
    sentences: Sequence[tuple[Sequence[str], np.ndarray, np.ndarray]],
    axis_names: tuple[str, str],
    *,
    palette: Palette,
) -> Figure:
    """Draw, for each sentence, the values of its words and the output of one of them, all on the same axes.

    A sentence is the words, their values (S, 2), and the weights of one query over them (S); the axes' names are what
    the two numbers of a value stand for. A line from the output to each value is as thick as its weight; the shaded
    area holds every mean that non-negative weights can make.
    """
    alone = len(sentences) == 1
    figure = Figure(figsize=(4.2 if alone else 6.4, 3.5))  # one panel on a phone is seen at once
    descriptions = []
    panels = np.atleast_1d(figure.subplots(1, len(sentences), sharex=True, sharey=True))
    for axes, (words, values_S2, weights_S) in zip(panels, sentences, strict=True):
        values_S2 = np.asarray(values_S2, dtype=float)
        z = weights_S @ values_S2
        axes.add_patch(Polygon(_hull(values_S2), facecolor=palette.value, alpha=0.13, edgecolor="none"))
        at: dict[tuple[float, float], list[str]] = {}
        for word, value, weight in zip(words, values_S2, weights_S, strict=True):
            axes.plot(*np.stack([z, value]).T, color=palette.mixed, linewidth=9 * weight, alpha=0.55, zorder=1)
            at.setdefault((float(value[0]), float(value[1])), []).append(f"{word} {weight:.2f}")
        for (x, y), names in at.items():
            axes.plot(x, y, "o", color=palette.value, markersize=8, zorder=2)
            away = 9 if y > z[1] else -9  # on the side that the line does not come from
            write_beside(axes, "\n".join(names), (x, y), (0, away), size=9)
        axes.plot(*z, "D", color=palette.mixed, markersize=8, zorder=3)
        result = f"z = ({z[0]:.2f}, {z[1]:.2f})"
        corner = {"ha": "right", "va": "top", "transform": axes.transAxes}
        axes.text(0.98, 0.98, f"\N{BLACK DIAMOND} {result}", color=palette.mixed, **corner)
        descriptions.append(f"'{' '.join(words)}' gives {result}")
        axes.set(title="" if alone else " ".join(words), xlabel=axis_names[0], aspect="equal")
        axes.margins(0.25)
        axes.xaxis.set_major_locator(MultipleLocator(1))  # the panels share an edge, where halves ran together
        axes.yaxis.set_major_locator(MultipleLocator(1))
    panels[0].set_ylabel(axis_names[1])
    figure.set_label(
        f"Planes with the axes {axis_names[0]} and {axis_names[1]}: the values of the words as points, "
        f"and one output inside their convex hull. {'; '.join(descriptions)}."
    )
    return figure


def _hull(points: np.ndarray) -> np.ndarray:
    """Walk round the outermost points of a plane (Andrew's monotone chain)."""
    ordered = [np.array(point) for point in sorted(map(tuple, np.unique(points, axis=0)))]

    def half(walk: list[np.ndarray]) -> list[np.ndarray]:
        corners: list[np.ndarray] = []
        for point in walk:
            while len(corners) >= 2 and _turn(corners[-2], corners[-1], point) <= 0:
                corners.pop()
            corners.append(point)
        return corners[:-1]

    return np.array(half(ordered) + half(ordered[::-1])) if len(ordered) > 1 else np.array(ordered)


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Tell a left turn (positive) from a right turn (negative) on the way from a over b to c."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
