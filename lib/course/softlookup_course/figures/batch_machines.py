"""What a larger batch gains on several machines: roofs as lines, the clock's answers as marks."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.roofs import rate_words
from softlookup_course.figures.theme import Palette

Rates = Sequence[tuple[int, float]]
"""Batch and operations per second, the batch increasing."""
_CROWDED = 6.0
"""A line with another so few times as high above it has its name below its end."""


def batch_machines(panels: Mapping[str, Mapping[str, tuple[Rates, Rates]]], *, palette: Palette) -> Figure:
    """Draw operations per second over the batch for several machines: predicted as a line, measured as marks.

    For each part of a layer ``panels`` has up to four machines by name, the same in every panel; each has what is
    predicted and what was measured, an empty list if nothing was. Panels stand side by side with common axes, both
    logarithmic; machines are named in the last.
    """
    figure = Figure(figsize=(6.8, 3.5))
    columns = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    texts = []
    for axes, (title, machines) in zip(columns, panels.items(), strict=True):
        described = []
        for (name, (predicted, measured)), color, marker in zip(machines.items(), palette.series, "os^D", strict=False):
            axes.loglog(*zip(*predicted, strict=True), "--", color=color, linewidth=1.5)
            summary = f"{name} predicted {rate_words(predicted[0][1])} to {rate_words(predicted[-1][1])}"
            if measured:
                axes.loglog(*zip(*measured, strict=True), marker, color=color, markersize=5.5)
                summary += f", measured {rate_words(measured[0][1])} to {rate_words(measured[-1][1])}"
            described.append(summary)
        axes.set(title=title, xlabel="sequences in a batch $B$")
        texts.append(f"{title}: {'; '.join(described)}")
    every = [points for machines in panels.values() for pair in machines.values() for points in pair]
    rates = [rate for points in every for _, rate in points]
    span = 10.0 ** np.floor(np.log10(min(rates))), 10.0 ** np.ceil(np.log10(max(rates)))
    lines = {name: predicted for name, (predicted, _) in list(panels.values())[-1].items()}
    for (name, predicted), color in zip(lines.items(), palette.series, strict=False):
        crowded = any(1 < other[0][1] / predicted[0][1] < _CROWDED for other in lines.values())
        end, away, side = (predicted[-1], -5, "right") if crowded else (predicted[0], 5, "left")
        write_beside(columns[-1], name, end, (0, away), ha=side, color=color, size=8.5)
    powers = 10.0 ** np.arange(round(np.log10(span[0])), round(np.log10(span[1])) + 1)
    batches = sorted({batch for points in every for batch, _ in points})
    for axes in columns:
        axes.set_ylim(*span)
        axes.set_yticks(powers, [rate_words(power) for power in powers], size=8.5)
        axes.set_xticks(batches[::2], [str(batch) for batch in batches[::2]], size=8.5)
        axes.minorticks_off()
        axes.grid(axis="y")
    columns[0].set_ylabel("operations per second")
    figure.set_label(
        "Operations per second against the batch on several machines, both axes logarithmic; lines are predicted, "
        f"marks measured. {'. '.join(texts)}."
    )
    return figure
