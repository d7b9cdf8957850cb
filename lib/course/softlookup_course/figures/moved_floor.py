"""Time a layer takes for one token over the bytes that it reads, and the floor under it, before and after a graph."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def moved_floor(
    measured: Mapping[str, Mapping[str, tuple[float, float]]],
    floors: Mapping[str, float],
    bandwidth: float,
    *,
    palette: Palette,
) -> Figure:
    """Draw what a layer's share of a token takes, as models were timed, and as the larger of floor and bytes.

    ``measured`` has for each way of writing, for each model, (bytes that a layer reads, seconds that it takes);
    ``floors`` for each way, or it is a ValueError, the seconds that a layer takes at least, however few its bytes;
    ``bandwidth`` is the memory's, bytes per second. On logarithmic axes a line for each way, level and then rising with
    the bytes, and a mark for each model.
    """
    if measured.keys() != floors.keys():
        raise ValueError(f"floors are given for {', '.join(floors)}; wanted {', '.join(measured)}")
    figure = Figure(figsize=(6.4, 3.6))
    axes = figure.subplots()
    x = np.geomspace(5e6, 1e10, 300)
    bytes_us = 1e6 * x / bandwidth
    leftmost = min(n_bytes for models in measured.values() for n_bytes, _ in models.values())
    for (way, models), color in zip(measured.items(), palette.series, strict=False):
        floor_us = 1e6 * floors[way]
        axes.plot(x / 1e6, np.maximum(floor_us, bytes_us), color=color, linewidth=1.6)
        text = f"{way}: {floor_us:.0f} µs, until {bandwidth * floors[way] / 1e6:,.0f} MB"
        write_beside(axes, text, (1.15 * leftmost / 1e6, floor_us), (4, 5), va="baseline", color=color, size=9)
        for n_bytes, seconds in models.values():
            axes.plot(n_bytes / 1e6, 1e6 * seconds, "o", color=color, markersize=6)
    lowest = min(1e6 * seconds for models in measured.values() for _, seconds in models.values())
    for name, (n_bytes, _) in next(iter(measured.values())).items():
        axes.axvline(n_bytes / 1e6, color=palette.muted, linewidth=0.8, linestyle=":")
        write_beside(axes, name, (n_bytes / 1e6, lowest), (3, -22), va="baseline", color=palette.ink, size=9)
    axes.set(xscale="log", yscale="log", xlim=(x[0] / 1e6, x[-1] / 1e6), ylim=(0.4 * lowest, 1.1 * bytes_us[-1]))
    axes.set_xlabel("MB that a layer reads for a token")
    axes.set_ylabel("µs that it takes")
    axes.minorticks_off()
    axes.grid(alpha=0.5)
    axes.set_axisbelow(True)
    levels = "; ".join(
        f"{way}: a floor of {1e6 * floor:.0f} microseconds until {bandwidth * floor / 1e6:,.0f} megabytes"
        for way, floor in floors.items()
    )
    figure.set_label(f"Microseconds of a layer over the bytes that it reads. {levels}.")
    return figure
