"""How far back a gradient reaches."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.layer_costs import layer_colors
from softlookup_course.figures.theme import Palette


def gradient_reach(distances: np.ndarray, sizes: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw how much the last output still feels of a token, against how many tokens back it was, increasing.

    For each of up to four layers, by name, the size of the gradient at each distance, relative to the nearest one's.
    The vertical axis is logarithmic, each curve named at its end.
    """
    distances = np.asarray(distances)
    figure = Figure(figsize=(4.4, 3.4))
    ends = "; ".join(f"{name} {_power(curve[-1])}" for name, curve in sizes.items())
    figure.set_label(
        f"Norm of the gradient of the last output against the distance of the token, on a logarithmic scale. Each "
        f"curve is divided by its own value at distance {distances[0]}. At distance {distances[-1]}: {ends}."
    )
    axes = figure.subplots()
    taken: list[float] = []
    colors = layer_colors(sizes, palette)
    for name, curve in sizes.items():
        color = colors[name]
        axes.semilogy(distances, curve, "--" if "," in name else "-", color=color)
        place = float(np.log10(curve[-1]))
        while any(abs(place - other) < 1.1 for other in taken):  # names do not lie on each other
            place += 0.3
        taken.append(place)
        axes.text(distances[-1] * 1.03, 10**place, name, color=color, va="center")
    axes.set(xlabel="distance in tokens", ylabel="norm of the gradient, nearest = 1")
    axes.set_xlim(0, distances[-1] * 1.58)
    axes.set_xticks([t for t in axes.get_xticks() if t <= distances[-1]])
    axes.grid(axis="y")
    return figure


def _power(value: float) -> str:
    return f"{value:.2g}" if value >= 0.01 else f"{value:.0e}"
