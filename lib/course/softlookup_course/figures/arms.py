"""Runs of several kinds beside each other: each seed a point, the median a bar."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def shares_by_arm(shares: Mapping[str, Sequence[float]], *, palette: Palette) -> Figure:
    """Draw a share, per cent, for each seed of several kinds of runs: kinds as rows, shares along.

    Nothing to draw is a ValueError: "no runs".
    """
    if not shares or not all(len(numbers) for numbers in shares.values()):
        raise ValueError("no runs")
    figure = Figure(figsize=(5.6, 0.9 + 0.55 * len(shares)))
    axes = figure.subplots()
    described = []
    for row, (name, accuracies) in enumerate(shares.items()):
        color = palette.series[row % 2]
        middle = float(np.median(accuracies))
        axes.plot(accuracies, [row] * len(accuracies), "o", color=color, markersize=5, alpha=0.65)
        axes.plot([middle, middle], [row - 0.28, row + 0.28], color=color, linewidth=3)
        axes.text(middle, row - 0.34, f"{middle:.1f} %", color=color, size=9, ha="center", va="bottom")
        described.append(f"{name} {middle:.1f} %")
    axes.set_yticks(range(len(shares)), list(shares))
    axes.set_ylim(len(shares) - 0.55, -0.75)
    everything = [number for numbers in shares.values() for number in numbers]
    axes.set_xlim(min(everything) - 1.5, min(100.5, max(everything) + 1.5))
    axes.set_xlabel("accuracy, in per cent")
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    figure.set_label(f"Accuracy in per cent, a point for each seed. Medians: {', '.join(described)}.")
    return figure
