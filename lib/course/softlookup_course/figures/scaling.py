"""Why scores are divided by the square root of the head width: their spread grows with it."""

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def variance(head_widths: np.ndarray, unscaled: np.ndarray, scaled: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the variance of dot products, q·k and q·k / sqrt(H), measured, against the head widths H.

    Both axes are logarithmic; the line "variance = H" stands behind the points.
    """
    widths = np.asarray(head_widths, dtype=float)
    figure = Figure(figsize=(4.4, 2.9))
    figure.set_label(
        f"Variance of scores against head width, both axes logarithmic. Without the divisor it rises "
        f"along the line variance = H, from {unscaled[0]:.1f} at {widths[0]:.0f} to {unscaled[-1]:.0f} "
        f"at {widths[-1]:.0f}. Divided by the square root of H it stays at 1, between "
        f"{np.min(scaled):.2f} and {np.max(scaled):.2f}."
    )
    axes = figure.subplots()
    axes.loglog(widths, widths, color=palette.query, linewidth=1.2)
    axes.loglog(widths, np.ones_like(widths), color=palette.key, linewidth=1.2)
    axes.loglog(widths, unscaled, "o", color=palette.query, markersize=6.5)
    axes.loglog(widths, scaled, "s", color=palette.key, markersize=6)
    middle = widths[len(widths) // 2]
    axes.text(middle, middle * 1.9, r"$q \cdot k$: the variance is $H$", color=palette.query, ha="right")
    axes.text(middle, 1.45, r"$q \cdot k \, / \sqrt{H}$: the variance is 1", color=palette.key, ha="center")
    axes.set(xlabel="head width $H$", ylabel="variance of a score")
    axes.set_xticks(widths, [f"{width:.0f}" for width in widths])
    decades = 10 ** np.arange(np.floor(np.log10(np.max(unscaled))) + 1)
    axes.set_yticks(decades, [f"{decade:.0f}" for decade in decades])
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure


def saturation(unscaled_S: np.ndarray, scaled_S: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the weights of one query over its keys (S), without the scale 1 / sqrt(H) and with it.

    Two panels of bars, one above the other, on the same axes.
    """
    figure = Figure(figsize=(4.4, 3.8))
    figure.set_label(
        f"Two bar charts of the weights of one query over {len(scaled_S)} keys. Without the divisor the "
        f"largest weight is {np.max(unscaled_S):.2f}; with it the largest is {np.max(scaled_S):.2f} and "
        f"the smallest {np.min(scaled_S):.2f}."
    )
    panels = figure.subplots(2, 1, sharex=True)
    for axes, weights_S, title, color in (
        (panels[0], unscaled_S, "softmax of $q \\cdot k$", palette.query),
        (panels[1], scaled_S, r"softmax of $q \cdot k \, / \sqrt{H}$", palette.key),
    ):
        bars = axes.bar(np.arange(1, len(weights_S) + 1), weights_S, color=color, width=0.72)
        axes.bar_label(bars, [f"{weight:.2f}" for weight in weights_S], size=8.5, padding=2)
        axes.set(title=title, ylabel="weight", ylim=(0, 1.15))
        axes.set_xticks(np.arange(1, len(weights_S) + 1))
        axes.set_yticks([0.0, 0.5, 1.0])
    panels[1].set_xlabel("key")
    return figure


def gradient_size(
    spreads: np.ndarray, means: np.ndarray, medians: np.ndarray, marks: dict[str, float], *, palette: Palette
) -> Figure:
    """Draw how much gradient a softmax lets through, against the spread of its scores.

    ``spreads`` are standard deviations, increasing, on a logarithmic axis; means and medians are of the size of the
    softmax's Jacobian (Frobenius norm). Both curves carry their names; ``marks`` are words to put on that of medians,
    each with the spread where they belong.
    """
    figure = Figure(figsize=(4.4, 3.1))
    figure.set_label(
        f"Size of the softmax Jacobian against the standard deviation of its scores. The median is "
        f"{medians[0]:.2f} at {spreads[0]:.2g}, {np.max(medians):.2f} at its highest, and {medians[-1]:.2f} at "
        f"{spreads[-1]:.0f}; the mean falls later, to {means[-1]:.2f}."
    )
    axes = figure.subplots()
    axes.semilogx(spreads, means, color=palette.key, base=2, linestyle="--", linewidth=1.6)
    axes.semilogx(spreads, medians, color=palette.mixed, base=2)
    for words, spread in marks.items():
        size = float(np.interp(np.log(spread), np.log(spreads), medians))
        axes.plot(spread, size, "o", color=palette.mixed, markersize=7)
        write_beside(axes, words, (spread, size), (-9, 7), size=9)
    for name, curve, color, place in (("mean", means, palette.key, 0.78), ("median", medians, palette.mixed, 0.62)):
        at = round(place * (len(spreads) - 1))
        side = (8, 4, "left", "bottom") if name == "mean" else (-7, -3, "right", "top")
        write_beside(axes, name, (spreads[at], curve[at]), side[:2], ha=side[2], va=side[3], color=color)  # fmt: skip
    axes.set(xlabel="standard deviation of the scores", ylabel="size of the Jacobian", ylim=(0, None))
    axes.margins(y=0.18)
    axes.set_xticks(spreads[::4], [f"{spread:g}" for spread in spreads[::4]], size=9)
    axes.minorticks_off()
    axes.grid(axis="y")
    return figure
