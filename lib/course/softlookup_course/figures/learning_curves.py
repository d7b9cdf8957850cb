"""Losses against the step, for one run or for several side by side."""

from collections.abc import Mapping, Sequence
from math import ceil

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.ends import kept_apart
from softlookup_course.figures.theme import Palette

_MOST = 3
_TRAINING = "training"
_PAIR = {_TRAINING, "validation"}
Curves = Mapping[str, Sequence[Sequence[float]]]
"""For each name of a loss its (step, loss) pairs."""


def learning_curves(runs: Mapping[str, Curves], *, palette: Palette) -> Figure:
    """Draw learning curves: a panel for each run, by title, a line for each of its one to three losses.

    Panels stand in rows of two, all on one scale; a single run may have the empty title. Each line has its name and its
    last loss at its end. The loss called "training" is dashed, all others are solid; "training" and "validation" side
    by side are one run, in one colour. A ValueError if there is no run, or one has no loss or more than three.
    """
    if not runs or any(not 0 < len(curves) <= _MOST for curves in runs.values()):
        raise ValueError(f"wanted at least one run, each with 1 to {_MOST} losses")
    columns = min(2, len(runs))
    rows = ceil(len(runs) / columns)
    tall = 3.0 if rows == 1 else 2.3
    figure = Figure(figsize=(6.6, tall * rows))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    top = max(loss for curves in runs.values() for points in curves.values() for _, loss in points)
    least = 0.15 / (tall - 0.8) * top  # a line of letters, in units of the loss
    descriptions = []
    for axes, (title, curves) in zip(panels.flat, runs.items(), strict=False):
        _draw(axes, title, curves, least, palette, wide=columns == 1)
        ends = ", ".join(f"{name} {points[0][1]:.2f} to {points[-1][1]:.2f}" for name, points in curves.items())
        descriptions.append(f"{title}: {ends}" if title else ends)
    for axes in panels.flat[len(runs) :]:
        axes.set_axis_off()
    for axes in panels[-1]:
        axes.set_xlabel("step")
    for row in panels:
        row[0].set_ylabel("loss (nats per token)")
    panels[0, 0].set_ylim(0, 1.1 * top)
    figure.set_label(f"Loss against the step, from first to last. {'; '.join(descriptions)}.")
    return figure


def _draw(axes: Axes, title: str, curves: Curves, least: float, palette: Palette, *, wide: bool) -> None:
    last = max(points[-1][0] for points in curves.values())
    heights = kept_apart([points[-1][1] for points in curves.values()], least)
    colors = [palette.query] * 2 if set(curves) == _PAIR else palette.series
    for (name, points), height, color in zip(curves.items(), heights, colors, strict=False):
        steps, losses = np.asarray(points, dtype=float).T
        dashed = name == _TRAINING
        axes.plot(steps, losses, "--" if dashed else "-", linewidth=1.5 if dashed else 2.0, color=color)
        axes.text(1.03 * last, height, f"{name} {losses[-1]:.2f}", va="center", size=9, color=color)
    axes.set_xlim(0, (1.35 if wide else 1.6) * last)
    axes.set_xticks(np.linspace(0, last, 3), [f"{step:,.0f}" for step in np.linspace(0, last, 3)])
    axes.set_title(title)
