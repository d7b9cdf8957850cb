"""Measured times of operations over their least times by the roof, and the floor that a launch puts under them."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def launch_floor(
    machines: Mapping[str, Sequence[tuple[float, float]]], launches: Mapping[str, float], *, palette: Palette
) -> Figure:
    """Draw each operation's measured time over its least time, a panel for each machine.

    ``machines`` has (least, measured) seconds of its operations, ``launches`` the seconds of a launch, one for each
    machine or it is a ValueError; 0 draws no floor. Axes are logarithmic: a line where both times are equal, level from
    the launch downwards.
    """
    if machines.keys() != launches.keys():
        raise ValueError(f"launches are given for {', '.join(launches)}; wanted {', '.join(machines)}")
    figure = Figure(figsize=(6.8, 3.1))
    panels = figure.subplots(1, len(machines), squeeze=False)[0]
    descriptions = []
    for axes, (name, times), color in zip(panels, machines.items(), palette.series, strict=False):
        least, measured = 1e6 * np.array(times).T
        low, high = 0.6 * min(least.min(), measured.min()), 1.7 * max(least.max(), measured.max())
        launch = 1e6 * launches[name]
        line = np.geomspace(low, high, 200)
        axes.plot(line, line, color=palette.muted, linewidth=1.0, linestyle=":")
        axes.plot(line, np.maximum(line, launch), color=palette.ink, linewidth=1.4)
        axes.plot(least, measured, "o", color=color, markersize=4, alpha=0.75, markeredgewidth=0)
        if launch > 0:
            name_look = {"va": "baseline", "size": 9, "color": palette.ink}
            write_beside(axes, f"launch {launch:.0f} µs", (low, launch), (4, -12), **name_look)
        axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("least by the roofline, µs")
        axes.minorticks_off()
        axes.grid(alpha=0.6)
        axes.set_axisbelow(True)
        level = f"a floor of {launch:.0f} µs" if launch > 0 else "no floor"
        longer = np.median(measured / np.maximum(least, launch))
        descriptions.append(f"{name}: {len(times)} operations, {level}, median {longer:.2f} of the line")
    panels[0].set_ylabel("measured, µs")
    figure.set_label(f"Measured over least times. {'; '.join(descriptions)}.")
    return figure
