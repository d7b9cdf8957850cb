"""What a machine does for a computation: what it fetches and sends back, and the least time that this takes."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle
from matplotlib.patheffects import withStroke

from softlookup_course.figures.marks import bare, draw_arrow, draw_box, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette

_WAREHOUSE, _KITCHEN, _END = 2.6, 6.7, 10.6
"""Where the warehouse ends, where the kitchen begins and where it ends."""
_WALL = 3.1
"""Height of both buildings' walls."""


def kitchen(reads: Mapping[str, int], writes: Mapping[str, int], operations: int, *, palette: Palette) -> Figure:
    """Draw the bytes that a computation reads and writes, as a van between a warehouse and a kitchen."""
    moved = sum(reads.values()) + sum(writes.values())
    figure, axes = one_panel(6.2, 2.95)
    brought, sent_back = (", ".join(f"{name}, {size:,} bytes" for name, size in way.items()) for way in (reads, writes))
    figure.set_label(
        "A warehouse, which is the memory, and a kitchen, where three cooks, the processor's units, stand at a small "
        f"counter, the cache and registers. A van between them brings {brought or 'nothing'} and takes back "
        f"{sent_back or 'nothing'}: {moved:,} bytes for {operations:,} operations."
    )
    _draw_warehouse(axes, palette)
    _draw_kitchen(axes, palette)
    axes.plot([_WAREHOUSE + 0.05, _KITCHEN - 0.05], [0, 0], color=palette.muted, linewidth=1.2)
    _draw_van(axes, palette)
    for way, y, there in ((reads, 2.62, True), (writes, 1.72, False)):
        if way:
            _draw_load(axes, way, y, there, palette)
    for x, name, term, last in (
        (_WAREHOUSE / 2, "warehouse", "memory", ""),
        ((_WAREHOUSE + _KITCHEN) / 2, "van", "bandwidth: bytes a second", f"here {moved:,} bytes"),
        ((_KITCHEN + _END) / 2, "kitchen", "peak: operations a second", f"here {operations:,} operations"),
    ):
        axes.text(x, -0.3, name, ha="center", va="top", size=10, weight="bold")
        axes.text(x, -0.68, term, ha="center", va="top", size=9, color=palette.muted)
        axes.text(x, -1.06, last, ha="center", va="top", size=9)
    bare(axes, xlim=(-0.1, _END + 0.1), ylim=(-1.5, 4.15), aspect="equal")
    return figure


def _draw_warehouse(axes: Axes, palette: Palette) -> None:
    """Draw a large building with shelves full of crates."""
    color = palette.query
    outline = [(0, 0), (_WAREHOUSE, 0), (_WAREHOUSE, _WALL), (_WAREHOUSE / 2, 4.0), (0, _WALL)]
    axes.add_patch(Polygon(outline, facecolor=color, alpha=0.16, edgecolor="none"))
    axes.add_patch(Polygon(outline, fill=False, edgecolor=color, linewidth=1.3))
    for shelf in range(4):
        y = 0.22 + 0.72 * shelf
        axes.plot([0.25, _WAREHOUSE - 0.25], [y, y], color=color, linewidth=1.2)
        for crate in range(5):
            axes.add_patch(Rectangle((0.32 + 0.4 * crate, y + 0.04), 0.32, 0.34, fc=color, ec="none", alpha=0.75))


def _draw_kitchen(axes: Axes, palette: Palette) -> None:
    """Draw a building with three cooks behind a counter that holds a few crates."""
    color, middle = palette.key, (_KITCHEN + _END) / 2
    outline = [(_KITCHEN, 0), (_END, 0), (_END, _WALL), (_KITCHEN, _WALL)]
    axes.add_patch(Polygon(outline, facecolor=color, alpha=0.14, edgecolor="none"))
    axes.add_patch(Polygon(outline, fill=False, edgecolor=color, linewidth=1.3))
    for cook in (-1, 0, 1):
        x = middle + 1.15 * cook
        draw_box(axes, (x - 0.3, 0.9), 0.6, 0.62, 0.2, fc=color, ec="none")
        axes.add_patch(Circle((x, 1.72), 0.2, facecolor=palette.paper, edgecolor=palette.ink, linewidth=1.1))
        axes.add_patch(Rectangle((x - 0.17, 1.87), 0.34, 0.17, fc=palette.paper, ec=palette.ink, linewidth=1.1))
        draw_box(axes, (x - 0.24, 2.04), 0.48, 0.2, 0.1, fc=palette.paper, ec=palette.ink, linewidth=1.1)
    axes.text(middle, 2.68, "cooks: the units", ha="center", va="center", size=9)
    axes.add_patch(Rectangle((_KITCHEN + 0.25, 0.12), _END - _KITCHEN - 0.5, 0.78, fc=palette.paper, ec=palette.ink))
    axes.text(middle, 0.5, "counter: cache, registers", ha="center", va="center", size=9)


def _draw_van(axes: Axes, palette: Palette) -> None:
    """Draw a van on the way to the kitchen."""
    x, color = (_WAREHOUSE + _KITCHEN) / 2 - 0.95, palette.value
    axes.add_patch(Rectangle((x, 0.2), 1.3, 0.92, facecolor=color, edgecolor="none"))
    cab = [(x + 1.36, 0.2), (x + 1.9, 0.2), (x + 1.9, 0.58), (x + 1.68, 0.94), (x + 1.36, 0.94)]
    axes.add_patch(Polygon(cab, facecolor=color, edgecolor="none"))
    window = [(x + 1.44, 0.6), (x + 1.79, 0.6), (x + 1.63, 0.86), (x + 1.44, 0.86)]
    axes.add_patch(Polygon(window, facecolor=palette.paper, edgecolor="none"))
    for wheel in (0.35, 1.5):
        axes.add_patch(Circle((x + wheel, 0.18), 0.18, facecolor=palette.ink, edgecolor=palette.paper, linewidth=1.2))


def _draw_load(axes: Axes, arrays: Mapping[str, int], y: float, there: bool, palette: Palette) -> None:
    """Draw an arrow to or from the kitchen, and above it what the van carries that way."""
    ends = (_WAREHOUSE + 0.2, _KITCHEN - 0.2)
    start, end = ends if there else ends[::-1]
    draw_arrow(axes, (start, y), (end, y), palette.ink, 1.2, shrinkA=0, shrinkB=0)
    words = "    ".join(f"{name}: {size:,} bytes" for name, size in arrays.items())
    axes.text(sum(ends) / 2, y + 0.1, words, ha="center", va="bottom", size=9)


Pass = tuple[str, Sequence[str], Sequence[str]]
"""What the pass computes, the arrays it reads, the arrays it writes."""


def loop_passes(programs: Sequence[tuple[str, Sequence[Pass]]], arrays: Sequence[str], *, palette: Palette) -> Figure:
    """Draw which arrays each pass of each program, by title, reads and writes, and bytes per element."""
    rows: list[Pass | str] = []
    descriptions = []
    for title, steps in programs:
        moved = 4 * sum(len(read) + len(written) for _, read, written in steps)
        rows += [f"{title}: {moved} bytes per element", *steps]
        each = (f"{what} reads {', '.join(read)} and writes {', '.join(written)}" for what, read, written in steps)
        descriptions.append(f"{title}: {moved} bytes per element, {'; '.join(each)}")
    figure, axes = one_panel(0.62 * len(arrays) + 1.9, 0.42 * len(rows) + 0.5)
    figure.set_label(f"Arrays that each pass reads and writes. {'. '.join(descriptions)}.")
    for index, row in enumerate(rows):
        y = -index
        if isinstance(row, str):
            axes.text(-2.35, y - 0.1, row, va="center", weight="bold", size=9.5)
            continue
        what, read, written = row
        axes.text(-2.35, y, what, va="center", size=9.5)
        axes.plot([-0.45, len(arrays) - 0.55], [y, y], color=palette.faint, linewidth=1, zorder=0)
        for name in (*read, *written):
            x = arrays.index(name)
            color = palette.query if name in read else palette.key
            draw_box(axes, (x - 0.38, y - 0.28), 0.76, 0.56, 0.1, fc=color, ec="none")
            axes.text(x, y, "read" if name in read else "write", ha="center", va="center", size=8, color=palette.paper)
    for x, name in enumerate(arrays):
        axes.text(x, 0.95, name, ha="center", va="center", size=9.5, color=palette.muted)
    bare(axes, xlim=(-2.4, len(arrays) - 0.4), ylim=(-len(rows) + 0.4, 1.3))
    return figure


_T, _D, _F = 3, 6, 5
"""Sides of the box that is drawn, in cells."""
_SLANT = np.array([0.52, 0.44])
"""Where a step along F leads on the paper."""


def product_box(
    rows: Sequence[int] | np.ndarray,
    computing_s: Sequence[float] | np.ndarray,
    moving_s: Sequence[float] | np.ndarray,
    *,
    palette: Palette,
) -> Figure:
    """Draw (T, D) @ (D, F) as a box of multiply-adds, and against T the seconds of operations and of bytes."""
    rows, computing_s, moving_s = (np.asarray(numbers, dtype=float) for numbers in (rows, computing_s, moving_s))
    figure, (box, time) = several_panels(6.3, 2.8, 1, 2, width_ratios=[1.1, 1])
    _draw_box(box, palette)
    least_us = 1e6 * np.maximum(computing_s, moving_s)
    time.loglog(rows, 1e6 * moving_s, color=palette.key, linewidth=1.3, linestyle="--")
    time.loglog(rows, 1e6 * computing_s, color=palette.value, linewidth=1.3, linestyle="--")
    time.loglog(rows, least_us, color=palette.ink, linewidth=2.6)
    enough = np.flatnonzero(computing_s >= moving_s)
    crossing = "bytes take longer at every T"
    if enough.size:
        at = enough[0]
        crossing = f"operations take longer from T = {rows[at]:,.0f} on"
        time.plot(rows[at], least_us[at], "o", color=palette.ink, markersize=6.5)
        write_beside(time, f"{rows[at]:,.0f} rows", (rows[at], least_us[at]), (-5, 6), va="baseline", size=9)
    write_beside(time, "moving bytes", (rows[0], 1e6 * moving_s[0]), (4, -5), color=palette.key, size=9)
    middle = len(rows) // 3
    write_beside(time, "computing", (rows[middle], 1e6 * computing_s[middle]), (7, -3), color=palette.value, size=9)
    time.set(xlabel="rows $T$", title="least time, µs")
    for axis in (time.xaxis, time.yaxis):
        low, high = np.log10(axis.get_view_interval())
        powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
        axis.set_ticks([10.0**p for p in powers], [f"{10.0**p:,g}" for p in powers], size=8.5)
    time.minorticks_off()
    time.grid(alpha=0.6)
    time.set_axisbelow(True)
    figure.set_label(
        "Left, a product as a box with sides T, D and F, a cell for each multiply-add; its faces are the rows X, the "
        "matrix W and the result Y. Right, the least time against T, both axes logarithmic: "
        f"{least_us[0]:.3g} µs at T = {rows[0]:,.0f}, {least_us[-1]:.3g} µs at T = {rows[-1]:,.0f}; {crossing}."
    )
    return figure


def _draw_box(axes: Axes, palette: Palette) -> None:
    """Draw the three faces that are seen, ruled into cells, with their matrices' names and the sides' letters."""

    def at(d: float, f: float, t: float) -> np.ndarray:
        return np.array([d, t]) + f * _SLANT

    front = (lambda a, b: at(a, 0, b)), _D, _T, palette.query, "$X$", "rows in"
    top = (lambda a, b: at(a, b, _T)), _D, _F, palette.key, "$W$", "columns in"
    side = (lambda a, b: at(_D, a, b)), _F, _T, palette.mixed, "$Y$", "result"
    for at_corner, wide, high, color, name, role in (front, top, side):
        corners = [at_corner(0, 0), at_corner(wide, 0), at_corner(wide, high), at_corner(0, high)]
        axes.add_patch(Polygon(corners, facecolor=color, alpha=0.2, edgecolor="none"))
        for a in range(wide + 1):
            axes.plot(*zip(at_corner(a, 0), at_corner(a, high), strict=True), color=color, linewidth=0.8, alpha=0.5)
        for b in range(high + 1):
            axes.plot(*zip(at_corner(0, b), at_corner(wide, b), strict=True), color=color, linewidth=0.8, alpha=0.5)
        x, y = at_corner(wide / 2, high / 2)
        words = axes.text(x, y, f"{name}\n{role}", ha="center", va="center", size=9.5, weight="bold", color=palette.ink)
        words.set_path_effects([withStroke(linewidth=2.5, foreground=palette.paper, alpha=0.75)])
    for letter, (x, y), across in (
        ("$T$", at(0, 0, _T / 2), "right"),
        ("$D$", at(_D / 2, 0, 0), "center"),
        ("$F$", at(_D, _F / 2, 0), "left"),
    ):
        down = {"right": 0.0, "center": 0.3, "left": 0.35}[across]
        aside = {"right": -0.2, "center": 0.0, "left": 0.15}[across]
        axes.text(x + aside, y - down, letter, ha=across, va="center" if across == "right" else "top", size=10.5)
    axes.set(xlim=(-0.7, _D + _F * _SLANT[0] + 0.2), ylim=(-1.2, _T + _F * _SLANT[1] + 0.2), aspect="equal")
    axes.set_title("cells: multiply-adds, faces: numbers")
    axes.set_axis_off()


Times = Sequence[tuple[float, float | None]]
"""For each computation the least time and the measured one in seconds, None where nobody measured."""


def machine_times(computations: Sequence[str], machines: Mapping[str, Times], *, palette: Palette) -> Figure:
    """Draw least (hollow) and measured times of computations on up to four machines."""
    figure, axes = one_panel(6.2, 0.9 + 0.62 * len(computations))
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
