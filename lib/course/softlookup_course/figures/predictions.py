"""Predicted beside measured times: errors of predictions, streams by their size, floors under short times."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette

Row = tuple[str, float, float, float, float]
"""Name; operations per byte; measured over predicted time: median, lower and upper quartile."""

NAME_SIZE = 8.0
"""Of the names of outliers, in points."""

PANEL = 346.0, 230.0
"""Width and height of the panel without its axes, in points, as near as names need it."""

FAR = 8.0
"""Points above or below its mark from which on a name has a thin line to it."""

Name = tuple[str, tuple[float, float], str]
"""A name, the point of the axes that it belongs to, and its colour."""

SIDES = (
    ("left", "center", 6.0, 0.0),
    ("right", "center", -6.0, 0.0),
    ("left", "bottom", 4.0, 4.0),
    ("right", "bottom", -4.0, 4.0),
    ("left", "top", 4.0, -4.0),
    ("right", "top", -4.0, -4.0),
    ("right", "top", -8.0, -14.0),
    ("left", "top", 8.0, -14.0),
    ("center", "bottom", 0.0, 16.0),
    ("left", "bottom", 18.0, 16.0),
    ("right", "bottom", -18.0, 16.0),
    ("center", "bottom", 0.0, 30.0),
)
"""Where a name may stand beside its mark, best first: its alignment, and how far away it is, in points. From far away a
thin line leads to the mark."""


def prediction_errors(groups: Mapping[str, Sequence[Row]], *, palette: Palette) -> Figure:
    """Draw measured over predicted times against the intensity; marks far from 1 have names."""
    within = 0.15  # of the shaded band; marks outside have names
    figure, axes = one_panel(5.6, 3.9)
    descriptions = []
    for (group, rows), color, marker in zip(groups.items(), palette.series, "os^D", strict=False):
        for _, at, _, low, high in rows:
            axes.plot([at, at], [low, high], color=color, linewidth=1.8, alpha=0.5, solid_capstyle="round")
        intensities, middles = [row[1] for row in rows], [row[2] for row in rows]
        axes.plot(intensities, middles, marker, color=color, markersize=5, alpha=0.85, zorder=3)
        worst = max(rows, key=lambda row: row[2])
        descriptions.append(
            f"{group}: {len(rows)} computations, median error {100 * np.median(np.abs(np.array(middles) - 1)):.1f} %, "
            f"slowest against its prediction {worst[0]} with {worst[2]:.2f} times"
        )
    figure.set_label(f"Measured time over predicted time. {'; '.join(descriptions)}.")
    every = [row for rows in groups.values() for row in rows]
    span = min(row[1] for row in every) / 1.6, 2.5 * max(row[1] for row in every)
    reach = 0.94 * min(1 - within, *(row[3] for row in every)), 1.15 * max(1 + within, *(row[4] for row in every))
    axes.set(xscale="log", yscale="log", xlim=span, ylim=reach)
    axes.axhspan(1 - within, 1 + within, color=palette.faint, alpha=0.55, linewidth=0, zorder=0)
    axes.axhline(1, color=palette.ink, linewidth=1, zorder=1)
    name_marks(axes, groups, within, palette)
    powers = range(int(np.ceil(np.log10(span[0]))), int(np.floor(np.log10(span[1]))) + 1)
    axes.set_xticks([10.0**p for p in powers], [f"{10.0**p:g}" for p in powers])
    ticks = [tick for tick in (0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10) if reach[0] <= tick <= reach[1]]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set(xlabel="arithmetic intensity (FLOP/byte)", ylabel="measured / predicted time")
    return figure


def name_marks(axes: Axes, groups: Mapping[str, Sequence[Row]], within: float, palette: Palette) -> None:
    """Write each kind at its highest bar, and the names of the marks outside the band, where they cover nothing."""
    size = np.array(PANEL)
    low, high = np.log([(axes.get_xlim()[i], axes.get_ylim()[i]) for i in (0, 1)])

    def spot(at: float, ratio: float) -> tuple[float, float]:
        x, y = (np.log((at, ratio)) - low) / (high - low) * size
        return float(x), float(y)

    group_names, outside = [], []
    for (group, rows), color in zip(groups.items(), palette.series, strict=False):
        highest = max(rows, key=lambda row: row[4])
        group_names.append((group, (highest[1], highest[4]), color))
        outside += [(row[0], row[1:3], color) for row in rows if abs(row[2] - 1) > within]
    outside.sort(key=lambda outlier: abs(outlier[1][1] - 1))  # the nearest to the band have the least room
    names = group_names + outside
    marks = [spot(at, ratio) for rows in groups.values() for _, at, *ratios in rows for ratio in ratios]
    sides = place_names([name for name, *_ in names], [spot(*at) for _, at, _ in names], marks, float(size[0]))
    write_names(axes, names, sides, bold=groups)


def write_names(
    axes: Axes,
    names: Sequence[Name],
    sides: Sequence[tuple[str, str, float, float]],
    size: float = NAME_SIZE,
    bold: Container[str] = (),
) -> None:
    """Write names beside their marks, on the sides that ``place_names`` chose; a thin line leads to those far away."""
    for (name, at, color), (across, upright, dx, dy) in zip(names, sides, strict=True):
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 2}
        weight, shaft = "bold" if name in bold else "normal", line if abs(dy) > FAR else None
        style: dict[str, Any] = {"ha": across, "va": upright, "arrowprops": shaft, "weight": weight}
        write_beside(axes, name, at, (dx, dy), color=color, size=size, **style)


def place_names(
    names: Sequence[str], spots: Sequence[tuple[float, float]], marks: Sequence[tuple[float, float]], width: float
) -> list[tuple[str, str, float, float]]:
    """Choose for each name a side (of SIDES) of its mark where it covers no mark and no other name, if there is one."""
    occupied = [(x - 3.5, y - 3.5, x + 3.5, y + 3.5) for x, y in marks]
    chosen = []
    for name, (x, y) in zip(names, spots, strict=True):
        wide, high = 0.6 * NAME_SIZE * len(name), 1.2 * NAME_SIZE
        boxes = []
        for across, upright, dx, dy in SIDES:
            left = x + dx - {"left": 0.0, "center": wide / 2, "right": wide}[across]
            bottom = y + dy - {"bottom": 0.0, "center": high / 2, "top": high}[upright]
            boxes.append((left, bottom, left + wide, bottom + high))
        free = [
            index
            for index, (left, bottom, right, top) in enumerate(boxes)
            if left >= 0
            and right <= width
            and all(right <= box[0] or box[2] <= left or top <= box[1] or box[3] <= bottom for box in occupied)
        ]
        index = free[0] if free else 0
        occupied.append(boxes[index])
        chosen.append(SIDES[index])
    return chosen


def stream_sizes(
    n_bytes: Sequence[float], rates: Sequence[float], roof: float, cache: float | None, *, palette: Palette
) -> Figure:
    """Draw bytes a second of a stream against the bytes that it touches, the memory's roof and the last cache."""
    figure, axes = one_panel(4.6, 3.0)
    best = int(np.argmax(rates))
    figure.set_label(
        f"Bytes per second of an addition against the bytes that it reads and writes. {rates[0] / 1e9:.0f} GB/s at "
        f"{size_words(n_bytes[0])}, a maximum of {rates[best] / 1e9:.0f} GB/s, at {size_words(n_bytes[best])}, and "
        f"{rates[-1] / 1e9:.0f} GB/s at {size_words(n_bytes[-1])}, where the memory's roof is {roof / 1e9:.0f} GB/s."
    )
    axes.semilogx(n_bytes, np.array(rates) / 1e9, "o-", color=palette.query, markersize=5)
    axes.axhline(roof / 1e9, color=palette.key, linewidth=1.5)
    axes.text(n_bytes[2], 0.97 * roof / 1e9, "memory bandwidth roof", color=palette.key, size=9, va="top")
    if cache:
        axes.axvline(cache, color=palette.muted, linewidth=1, linestyle=":")
        axes.text(cache * 1.1, max(rates) / 1e9, "last\ncache", color=palette.muted, size=9, va="top")
    axes.set_xticks(n_bytes[::2], [size_words(size) for size in n_bytes[::2]], size=8.5)
    axes.minorticks_off()
    axes.set(xlabel="bytes read and written", ylabel="GB/s", ylim=(0, 1.08 * max(rates) / 1e9))
    axes.grid(axis="y")
    return figure


def size_words(n_bytes: float) -> str:
    """Write a size with a binary prefix.

    >>> size_words(49152), size_words(3 << 20)
    ('48 KiB', '3 MiB')
    """
    for power, prefix in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if n_bytes >= 1 << power:
            return f"{n_bytes / (1 << power):.3g} {prefix}"
    return f"{n_bytes:.0f} B"


def launch_floor(
    machines: Mapping[str, Sequence[tuple[float, float]]], launches: Mapping[str, float], *, palette: Palette
) -> Figure:
    """Draw measured over least times of operations, a panel for each machine, and the floor of its launch, all in s."""
    figure, panels = several_panels(6.8, 3.1, 1, len(machines))
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


def moved_floor(
    measured: Mapping[str, Mapping[str, tuple[float, float]]],
    floors: Mapping[str, float],
    bandwidth: float,
    *,
    palette: Palette,
) -> Figure:
    """Draw what a layer takes for a token: (bytes, seconds) by way and model, and the larger of floor and bytes."""
    figure, axes = one_panel(6.4, 3.6)
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
