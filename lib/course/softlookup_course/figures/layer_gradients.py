"""How large the gradient is in each layer before anything is learned."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def gradient_by_layer(curves: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw gradient norms against the layer, from layer 1, for up to four ways to build the stack.

    The vertical axis begins at 0; each curve is named at its end.
    """
    figure = Figure(figsize=(5.8, 3.3))
    axes = figure.subplots()
    descriptions = []
    length = max(len(curve) for curve in curves.values())
    for (name, curve), color, mark in zip(curves.items(), palette.series, "os^D", strict=False):
        layers = np.arange(1, len(curve) + 1)
        axes.plot(layers, curve, f"{mark}-", color=color, markersize=5)
        write_beside(axes, name, (layers[-1], curve[-1]), (8, 0), color=color, size=9.5)
        descriptions.append(f"{name}: {curve[0]:.2g} in layer 1, {curve[-1]:.2g} in layer {len(curve)}")
    axes.set(xlabel="layer", ylabel="norm of the gradient")
    axes.set_xlim(0.5, length * 1.38)
    axes.set_ylim(bottom=0)
    axes.set_xticks(np.arange(1, length + 1, max(1, length // 6)))
    axes.grid(axis="y")
    figure.set_label(
        f"Norm of the gradient of the loss with respect to the weights of each layer. {'; '.join(descriptions)}."
    )
    return figure
