"""Learning rates over a run."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette


def rate_curves(steps: np.ndarray, rates: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw learning rates against the step, with the highest one marked.

    Args:
        steps: The steps, from 1.
        rates: For each name one rate a step; four at most.
        palette: The colours to draw in.

    Returns:
        One panel; each line has its name and its peak on it, the fourth is dashed.
    """
    figure = Figure(figsize=(6.4, 3.0))
    axes = figure.subplots()
    said = []
    for (name, rate), color, style in zip(rates.items(), palette.series, ("-", "-", "-", "--"), strict=False):
        top = int(np.argmax(rate))
        axes.plot(steps, rate, style, color=color)
        axes.plot(steps[top], rate[top], "o", color=color, markersize=5)
        axes.annotate(
            f"{name}: {rate[top]:.2e}",
            (steps[top], rate[top]),
            xytext=(9, 3),
            textcoords="offset points",
            size=9,
            color=color,
            bbox={"facecolor": palette.paper, "edgecolor": "none", "pad": 1, "alpha": 0.85},
            zorder=5,
        )
        said.append(f"{name} is highest at step {steps[top]:,}, with {rate[top]:.2e}")
    axes.set(xlabel="step", ylabel="learning rate", xlim=(0, None), ylim=(0, None))
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    figure.set_label(f"Learning rate against step: {'; '.join(said)}.")
    return figure
