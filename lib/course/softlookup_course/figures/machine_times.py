"""The least time of the same computations on several machines, and beside it what was measured."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette

Times = Sequence[tuple[float, float | None]]
"""For each computation the least time and the measured one in seconds, None where nobody measured."""


def machine_times(computations: Sequence[str], machines: Mapping[str, Times], *, palette: Palette) -> Figure:
    """Draw least and measured times of computations on up to four machines, on one logarithmic axis.

    A row for each computation, from top to bottom: hollow marks are the least times, filled ones the measured, and a
    line joins the two of a machine. The machines are named in the first row. One with another number of times is a
    ValueError: "NAME has N times for M computations".
    """
    for name, times in machines.items():
        if len(times) != len(computations):
            raise ValueError(f"{name} has {len(times)} times for {len(computations)} computations")
    figure = Figure(figsize=(6.2, 0.9 + 0.62 * len(computations)))
    axes = figure.subplots()
    lanes = np.linspace(-0.2, 0.2, len(machines)) if len(machines) > 1 else [0.0]
    descriptions = []
    for (name, times), color, mark, lane in zip(machines.items(), palette.series, "os^D", lanes, strict=False):
        for row, (least, measured) in enumerate(times):
            y = row + lane
            axes.plot(
                1e6 * least, y, mark, color=color, markerfacecolor=palette.paper, markersize=9, markeredgewidth=1.5
            )
            if measured is not None:
                axes.plot([1e6 * least, 1e6 * measured], [y, y], color=color, linewidth=1.6)
                axes.plot(1e6 * measured, y, mark, color=color, markersize=5)
        last = max(time for time in times[0] if time is not None)
        write_beside(axes, name, (1e6 * last, lane), (9, 0), color=color, size=9)
        descriptions.append(f"{name} {_described(times)}")
    for row in range(1, len(computations)):
        axes.axhline(row - 0.5, color=palette.faint, linewidth=0.8, zorder=0)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set(xlim=(low / 1.3, high * 2), ylim=(len(computations) - 0.5, -0.5))
    axes.set_xlabel("time: hollow at least, filled measured")
    powers = [p for p in range(-3, 10) if low / 1.3 <= 10.0**p <= high * 2]
    axes.set_xticks([10.0**p for p in powers], [_words(1e-6 * 10.0**p) for p in powers], size=8.5)
    axes.set_yticks(range(len(computations)), list(computations), size=9)
    axes.tick_params(axis="y", length=0)
    axes.minorticks_off()
    axes.grid(axis="x", alpha=0.6)
    axes.set_axisbelow(True)
    figure.set_label(f"Least and measured times of {len(computations)} computations: {'; '.join(descriptions)}.")
    return figure


def _described(times: Times) -> str:
    """Say the range of the least times, and how many times longer the measured ones are."""
    bounds = [least for least, _ in times]
    longer = [measured / least for least, measured in times if measured is not None]
    span = f"at least {_words(min(bounds))} to {_words(max(bounds))}"
    return f"{span}, measured {min(longer):.2f} to {max(longer):.2f} times that" if longer else f"{span}, not measured"


def _words(seconds: float) -> str:
    """Write a time with three digits and a fitting unit.

    >>> _words(4.7e-5), _words(0.0456)
    ('47 µs', '45.6 ms')
    """
    for power, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * power:
            return f"{seconds / power:.3g} {unit}"
    return f"{seconds * 1e6:.2g} µs"
