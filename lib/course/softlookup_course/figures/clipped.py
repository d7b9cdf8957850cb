"""Two gradients as one arrow, clipped by their common norm and each by its own."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from softlookup_course.figures.marks import draw_arrow, write_beside
from softlookup_course.figures.theme import Palette


def clipped(gradients: Sequence[float], bound: float, *, palette: Palette) -> Figure:
    """Draw the gradients of two weights as an arrow in the plane, before and after clipping.

    The arrow as it was, clipped by the common norm, and with each gradient clipped by its own. A ValueError if there
    are not two gradients above zero, or none exceeds the bound, the largest norm that is allowed.
    """
    whole = np.asarray(gradients, float)
    if whole.shape != (2,) or whole.min() <= 0 or not 0 < bound < whole.max():
        raise ValueError(f"got gradients {gradients} and the bound {bound}; wanted two above 0, one above the bound")
    together = whole * bound / np.linalg.norm(whole)
    apart = np.minimum(whole, bound)
    figure = Figure(figsize=(6.0, 3.0))
    axes = figure.subplots()
    axes.add_patch(Arc((0, 0), 2 * bound, 2 * bound, theta1=0, theta2=90, color=palette.muted, linestyle=":"))
    axes.text(0.03, 1.02 * bound, f"norm {bound:g}", color=palette.muted, size=9, va="bottom")
    arrows = (
        (whole, palette.muted, "as it was", (6, 0), "left"),
        (apart, palette.alarm, "each by its own norm", (0, 9), "center"),
        (together, palette.query, "by the common norm", (14, -8), "left"),
    )
    for (x, y), color, name, offset, side in arrows:
        tip = float(x), float(y)
        draw_arrow(axes, (0, 0), tip, color, 2, shrinkB=0)
        degrees = np.degrees(np.arctan2(tip[1], tip[0]))
        write_beside(axes, f"{name}: {degrees:.0f}°", tip, offset, ha=side, va="center", size=10, color=color)
    axes.set(xlabel="gradient of one weight", ylabel="gradient of another", aspect="equal")
    axes.set(xlim=(0, 1.4 * whole[0]), ylim=(0, 1.3 * max(whole[1], bound)))
    turned = [np.degrees(np.arctan2(tip[1], tip[0])) for tip in (whole, together, apart)]
    figure.set_label(
        f"Two gradients, {whole[0]:g} and {whole[1]:g}, as one arrow at {turned[0]:.0f} degrees. Clipped by the common "
        f"norm to {bound:g}, it points the same way, {turned[1]:.0f} degrees. With each gradient clipped by its own "
        f"norm it is turned, to {turned[2]:.0f} degrees."
    )
    return figure
