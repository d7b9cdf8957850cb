"""Slopes: the chain rule as a walk back along a chain, and how a logarithm measures surprise."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_arrow, write_beside
from softlookup_course.figures.theme import Palette


def chain(w: float, x: float, t: float, *, palette: Palette) -> Figure:
    """Draw L = (w x - t)^2 as a chain of steps: numbers on the way down, slopes back up.

    It is narrow enough for a phone: four boxes beneath each other with their values, each arrow down with its own
    slope, and beside each box the product of the slopes that has gathered there on the way back up.
    """
    y, error = w * x, w * x - t
    boxes = [("w", w), ("y = w x", y), ("r = y \N{MINUS SIGN} t", error), ("L = r²", error**2)]
    slopes = [("× x", x), ("× 1", 1.0), ("× 2r", 2 * error)]
    gathered = [2 * error * x, 2 * error, 2 * error, 1.0]
    figure = Figure(figsize=(4.2, 4.1))
    axes = figure.subplots()
    for i, ((name, value), back) in enumerate(zip(boxes, gathered, strict=True)):
        text = f"{name} = {_short(value)}"
        axes.text(
            0,
            -2.0 * i,
            text,
            ha="center",
            va="center",
            size=11,
            color=palette.ink,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": palette.paper, "edgecolor": palette.query},
        )
        beside = f"dL/d{name[0]} = {_short(back)}"
        axes.text(2.0, -2.0 * i, beside, ha="left", va="center", size=10.5, color=palette.key, weight="bold")
    for i, (name, slope) in enumerate(slopes):
        start, end = -2.0 * i - 0.5, -2.0 * i - 1.5
        draw_arrow(axes, (0, start), (0, end), palette.query, 1.0)
        draw_arrow(axes, (2.5, end), (2.5, start), palette.key, 1.0)
        text = name if name.endswith(_short(slope)) else f"{name} = {_short(slope)}"
        axes.text(2.75, -2.0 * i - 1, text, ha="left", va="center", size=9.5, color=palette.key)
    axes.text(0, 0.75, "down: forward pass", ha="center", size=9.5, color=palette.query)
    axes.text(2.0, 0.75, "up: backward pass", ha="left", size=9.5, color=palette.key)
    axes.set(xlim=(-1.6, 5.0), ylim=(-6.6, 1.2))
    axes.set_axis_off()
    figure.set_label(
        f"A chain from top to bottom: w = {_short(w)}, y = w x = {_short(y)}, r = y minus t = {_short(error)}, L = r "
        f"squared = {_short(error**2)}. Backwards, the slopes are multiplied (chain rule): dL/dr = "
        f"{_short(2 * error)}, dL/dy = {_short(2 * error)}, dL/dw = {_short(2 * error * x)}."
    )
    return figure


def _short(number: float) -> str:
    return f"{number:g}".replace("-", "\N{MINUS SIGN}")


def surprise(marks: Mapping[str, float], *, palette: Palette) -> Figure:
    """Draw minus the logarithm of a probability, with some events on the curve.

    Probability to the right, surprise upwards.
    """
    figure = Figure(figsize=(5.4, 2.9))
    axes = figure.subplots()
    p = np.linspace(0.01, 1.0, 300)
    axes.plot(p, -np.log(p), color=palette.query)
    descriptions = []
    for name, at in marks.items():
        height = abs(np.log(at))  # not -log: that is -0.0 at 1
        axes.plot(at, height, "o", color=palette.key, markersize=7)
        text = f"{name}: {height:.2f}"
        corner = at > 0.9
        write_beside(axes, text, (at, height), (-4 if corner else 9, 9 if corner else 5), size=9.5)
        descriptions.append(f"{name} has probability {at:g} and surprise {height:.2f}")
    axes.set(xlabel="probability p", ylabel="surprise, \N{MINUS SIGN}ln p", xlim=(0, 1.03), ylim=(-0.15, 4.8))
    figure.set_label(f"A curve that falls from high up at p = 0 to 0 at p = 1. {'; '.join(descriptions)}.")
    return figure
