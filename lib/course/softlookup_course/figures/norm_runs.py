"""Runs of training with the norm in either place: what each ended with."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def norm_runs(record: Mapping[str, Any], *, palette: Palette) -> Figure:
    """Draw the final loss of every run of the record of ``softlookup bench norms``.

    Panels in a grid: rates in rows, warm-ups in columns. Each run is a point, the medians are joined.
    """
    rates, warmups, depths = record["rates"], record["warmups"], record["depths"]
    figure = Figure(figsize=(6.4, 2.3 * len(rates)))
    panels = figure.subplots(len(rates), len(warmups), sharex=True, sharey=True, squeeze=False)
    descriptions = []
    for row, rate in zip(panels, rates, strict=True):
        for axes, warmup in zip(row, warmups, strict=True):
            chosen = [run for run in record["runs"] if (run["rate"], run["warmup"]) == (rate, warmup)]
            warm = f"{warmup} steps of warm-up" if warmup else "no warm-up"
            axes.set_title(f"rate {rate:g}, {warm}")
            ends = _panel(axes, chosen, depths, float(record["guessing"]), palette)
            descriptions.append(f"rate {rate:g}, {warm}: post-LN {ends['post']:.2f}, pre-LN {ends['pre']:.2f}")
    for axes in panels[-1]:
        axes.set_xlabel("layers")
    for row in panels:
        row[0].set_ylabel("final loss")
    figure.set_label(
        f"Final training loss against the number of layers. At {depths[-1]} layers: {'; '.join(descriptions)}."
    )
    return figure


def _panel(
    axes: Axes, runs: Sequence[Mapping[str, Any]], depths: Sequence[int], guessing: float, palette: Palette
) -> dict[str, float]:
    axes.axhline(guessing, color=palette.muted, linewidth=1, linestyle=":")
    axes.text(0.0, guessing * 1.03, "knows only the position", size=8, color=palette.muted, va="bottom")
    ends = {}
    for order, color, mark, aside in (("post", palette.key, "s", -0.06), ("pre", palette.query, "o", 0.06)):
        medians = []
        for place, depth in enumerate(depths):
            losses = [run["loss"] for run in runs if (run["order"], run["depth"]) == (order, depth)]
            axes.plot([place + aside] * len(losses), losses, mark, color=color, markersize=4, alpha=0.6)
            medians.append(float(np.median(losses)))
        axes.plot(np.arange(len(depths)) + aside, medians, "-", color=color, linewidth=1.8)
        write_beside(axes, f"{order}-LN", (len(depths) - 1 + aside, medians[-1]), (7, 0), color=color, size=9)
        ends[order] = medians[-1]
    axes.set_yscale("log")
    axes.set_xticks(range(len(depths)), [str(depth) for depth in depths])
    axes.set_yticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
    axes.minorticks_off()
    axes.set_xlim(-0.3, len(depths) - 0.3)
    return ends
