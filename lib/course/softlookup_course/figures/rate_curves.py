"""Learning rates over a run."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.ends import kept_apart
from softlookup_course.figures.theme import Palette


def rate_curves(steps: np.ndarray, rates: Mapping[str, np.ndarray], *, palette: Palette) -> Figure:
    """Draw learning rates, one a step for each of four names at most, against the steps, from 1.

    Each line has its name and its peak beside it, where no line passes: the highest one above its peak, the others at
    their right ends. Each has a line style of its own, so that equal rates show both.
    """
    figure = Figure(figsize=(6.4, 3.2))
    axes = figure.subplots()
    tops = {name: int(np.argmax(rate)) for name, rate in rates.items()}
    peaks = {name: float(rate[tops[name]]) for name, rate in rates.items()}
    highest = max(peaks, key=lambda name: peaks[name])
    others = [name for name in rates if name != highest]
    heights = kept_apart([float(rates[name][-1]) for name in others], 0.07 * peaks[highest])
    ends = dict(zip(others, heights, strict=True))
    descriptions = []
    for (name, rate), color, style in zip(rates.items(), palette.series, ("-", "--", "-.", ":"), strict=False):
        top = tops[name]
        axes.plot(steps, rate, style, color=color)
        axes.plot(steps[top], rate[top], "o", color=color, markersize=5)
        x, y = (1.02 * steps[-1], ends[name]) if name in ends else (steps[top], 1.03 * rate[top])
        side = "center" if name in ends else "bottom"
        axes.text(x, y, f"{name}: peak {rate[top]:.2e}", va=side, size=9, color=color)
        descriptions.append(f"{name} is highest at step {steps[top]:,}, with {rate[top]:.2e}")
    axes.set(xlabel="step", ylabel="learning rate", xlim=(0, 1.42 * steps[-1]), ylim=(0, 1.14 * peaks[highest]))
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= steps[-1]])
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    figure.set_label(f"Learning rate against step: {'; '.join(descriptions)}.")
    return figure
