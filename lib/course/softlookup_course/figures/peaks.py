"""Small runs at several peaks of the learning rate, with and without a warm-up."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def peaks(record: Mapping[str, Any], *, palette: Palette) -> Figure:
    """Draw the final loss of every run of the record of ``softlookup bench schedules`` against the peak.

    A point for each run, a line through the means; runs that ended without a number are left out, and the label says
    how many.
    """
    figure = Figure(figsize=(6.2, 3.2))
    axes = figure.subplots()
    descriptions, lost = [], 0
    for warmup, color, mark in zip(record["warmups"], (palette.key, palette.query), "so", strict=True):
        means = []
        for peak in record["peaks"]:
            ended = [run["loss"] for run in record["runs"] if (run["warmup"], run["peak"]) == (warmup, peak)]
            losses = [loss for loss in ended if loss is not None]
            lost += len(ended) - len(losses)
            axes.plot([peak] * len(losses), losses, mark, color=color, markersize=4, alpha=0.6)
            means.append(float(np.mean(losses)) if losses else np.nan)
        name = f"{warmup} steps of warm-up" if warmup else "no warm-up"
        axes.plot(record["peaks"], means, color=color)
        write_beside(axes, name, (record["peaks"][-1], means[-1]), (6, 0), size=9, color=color)  # fmt: skip
        descriptions.append(
            f"{name}: " + ", ".join(f"{p:g} gives {m:.2f}" for p, m in zip(record["peaks"], means, strict=True))
        )
    axes.set_xscale("log")
    axes.set_xticks(record["peaks"], [f"{peak:g}" for peak in record["peaks"]])
    axes.minorticks_off()
    axes.set(xlabel="peak learning rate", ylabel="loss on unseen sentences", ylim=(0, None))
    axes.set_xlim(None, record["peaks"][-1] * 6)
    ended_badly = f" {lost} {'run' if lost == 1 else 'runs'} diverged (loss not a number)." if lost else ""
    figure.set_label(f"Final loss against the peak learning rate. {'; '.join(descriptions)}.{ended_badly}")
    return figure
