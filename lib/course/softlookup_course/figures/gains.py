"""The gain of one model over another, task by task, in two comparisons."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def gains_by_task(tasks: Sequence[str], gains: Mapping[str, np.ndarray], framed: str, *, palette: Palette) -> Figure:
    """Draw two gains, in points, for each task, as bars to both sides of 0.

    ``gains`` is what two comparisons say, by their names, which stand beside the bars of ``framed``, the task to look
    at, printed in bold. Another number is a ValueError: "two comparisons are drawn, but got N".
    """
    if len(gains) != 2:
        raise ValueError(f"two comparisons are drawn, but got {len(gains)}")
    figure = Figure(figsize=(6.6, 0.42 * len(tasks) + 0.7))
    axes = figure.subplots()
    here = list(tasks).index(framed)
    for offset, color, (name, values) in zip((-0.19, 0.19), (palette.key, palette.query), gains.items(), strict=True):
        places = np.arange(len(tasks)) + offset
        axes.barh(places, values, height=0.34, color=color)
        side = 1 if values[here] >= 0 else 0
        write_beside(axes, name, (max(values[here], 0.0) if side else 0.0, places[here]), (5, 0), size=9, color=color)
    axes.axvline(0, color=palette.muted, linewidth=0.8)
    axes.set_yticks(range(len(tasks)), tasks)
    axes.get_yticklabels()[here].set_fontweight("bold")
    axes.set(xlabel="gain, in points", ylim=(len(tasks) - 0.5, -0.5))
    axes.set_xlim(right=1.28 * max(float(np.max(values)) for values in gains.values()))
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "right", "top"]].set_visible(False)
    first, second = (f"{name} {values[here]:+.1f}" for name, values in gains.items())
    figure.set_label(f"Gains on {len(tasks)} tasks in two comparisons. On {framed}: {first}; {second}.")
    return figure
