"""Parallel programs: their order, the memory sectors that they fetch, and the numbers of their threads."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.grid import draw_cell
from softlookup_course.figures.marks import bare, one_panel, several_panels
from softlookup_course.figures.theme import Palette


def program_order(
    orders: Mapping[str, Sequence[tuple[int, int]]], shape: tuple[int, int], *, palette: Palette
) -> Figure:
    """Draw which strips of two matrices the first programs of each order read for their tiles (row, column)."""
    figure, panels = several_panels(2.15 * len(orders), 2.75, 1, len(orders))
    descriptions = []
    for axes, (name, order) in zip(panels, orders.items(), strict=True):
        rows, columns = {row for row, _ in order}, {column for _, column in order}
        _draw_panel(axes, order, shape, palette)
        count = f"{len(rows)} + {len(columns)} = {len(rows) + len(columns)} strips"
        axes.set_title(f"{name}:\n{count}", fontsize=10)
        descriptions.append(
            f"{name}, {len(order)} programs read strips of rows: {len(rows)}, of columns: {len(columns)}"
        )
    figure.set_label(f"A product of {shape[0]} x {shape[1]} tiles. {'; '.join(descriptions)}.")
    return figure


def _draw_panel(axes: Axes, order: Sequence[tuple[int, int]], shape: tuple[int, int], palette: Palette) -> None:
    height, width = shape
    axes.add_patch(Rectangle((0, 0), width, height, fill=False, edgecolor=palette.muted, linewidth=0.8))
    for row in range(height):
        _strip(axes, (-2.2, row), 1.6, 1, palette.query, any(row == tile_index for tile_index, _ in order), palette)
    for column in range(width):
        _strip(axes, (column, -2.2), 1, 1.6, palette.key, any(column == tile_index for _, tile_index in order), palette)
    for program, (row, column) in enumerate(order):
        draw_cell(axes, column, row, str(program), True, palette.mixed, palette)
    for name, x, y in (("a", -1.4, -0.6), ("b", -0.6, -1.4), ("c", width / 2, 0.75 * height)):
        axes.text(x, y, name, ha="center", va="center", size=10, color=palette.ink)
    bare(axes, xlim=(-2.4, width + 0.1), ylim=(height + 0.1, -2.4), aspect="equal")


def _strip(
    axes: Axes, corner: tuple[float, float], width: float, height: float, color: str, is_read: bool, palette: Palette
) -> None:
    style = {"facecolor": color, "alpha": 0.55} if is_read else {"facecolor": "none"}
    axes.add_patch(Rectangle(corner, width, height, linewidth=0, **style))
    axes.add_patch(Rectangle(corner, width, height, fill=False, edgecolor=palette.muted, linewidth=0.6))


_PER_ROW = 4
"""Sectors that are drawn side by side."""


def sectors(strides: Sequence[int], *, palette: Palette) -> Figure:
    """Draw the sectors of memory that a warp fetches when its threads read with each of several strides."""
    threads, number_bytes, sector_bytes = 32, 4, 32
    slots = sector_bytes // number_bytes
    most = -(-threads * max(strides) // slots)
    lines = -(-most // _PER_ROW)
    figure, panels = several_panels(4.0, len(strides) * (0.45 + 0.16 * lines), len(strides), 1)
    descriptions = []
    for axes, stride in zip(panels, strides, strict=True):
        addresses = [thread * stride for thread in range(threads)]
        fetched = sorted({address // slots for address in addresses})
        for sector in range(lines * _PER_ROW):
            x, top = sector % _PER_ROW * slots, sector // _PER_ROW
            if sector in fetched:
                axes.add_patch(Rectangle((x, top), slots, 0.8, facecolor=palette.key, alpha=0.25, linewidth=0))
            axes.add_patch(Rectangle((x, top), slots, 0.8, fill=False, edgecolor=palette.muted, linewidth=0.7))
        for address in addresses:
            x, top = address % (_PER_ROW * slots), address // (_PER_ROW * slots)
            axes.add_patch(Rectangle((x + 0.1, top + 0.1), 0.8, 0.6, facecolor=palette.key, linewidth=0))
        used, moved = threads * number_bytes, len(fetched) * sector_bytes
        axes.set_title(f"stride {stride}: {len(fetched)} sectors, {used} of {moved:,} bytes used", fontsize=10)
        bare(axes, xlim=(-0.1, _PER_ROW * slots + 0.1), ylim=(lines, -0.1))
        descriptions.append(f"with stride {stride} they lie in {len(fetched)} sectors, {moved:,} bytes")
    figure.set_label(
        f"{threads} threads read a number of {number_bytes} bytes each, {threads * number_bytes} bytes in all: "
        f"{'; '.join(descriptions)}."
    )
    return figure


_HEIGHT = 0.84
"""Of a line; the rest of 1 is the gap to the next."""
_BETWEEN = 0.5
"""What that gap has more before the first warp begins again."""


def warps(
    numbers: int, per_thread: int, threads: int, warps: int, outlined: tuple[int, int] = (1, 4), *, palette: Palette
) -> Figure:
    """Draw how a tile of ``numbers`` is divided among the threads of up to four warps, one of them outlined."""
    line = per_thread * threads
    warp, thread = outlined
    tops = [at + at // warps * _BETWEEN for at in range(numbers // line)]
    figure, axes = one_panel(5.2, 0.2 * (tops[-1] + 1) + 0.35)
    spans = []
    for at, top in enumerate(tops):
        color = palette.series[at % warps]
        axes.add_patch(Rectangle((0, top), line, _HEIGHT, facecolor=color, linewidth=0))
        middle = top + _HEIGHT / 2
        axes.text(-2, middle, f"warp {at % warps}", ha="right", va="center", size=9, color=color)
        first = at * line
        axes.text(line + 2, middle, f"{first:,} to {first + line - 1:,}", va="center", size=9, color=palette.muted)
        if at % warps == warp:
            corner = (thread * per_thread, top)
            style: dict[str, Any] = {"edgecolor": palette.ink, "linewidth": 1.8, "zorder": 2}
            axes.add_patch(Rectangle(corner, per_thread, _HEIGHT, fill=False, **style))
            spans.append(f"{first + corner[0]:,} to {first + corner[0] + per_thread - 1:,}")
    for x in range(1, line):  # across all lines at once, which keeps the drawing small
        width = 0.4 if x % per_thread else 1.6
        axes.plot([x, x], [0, tops[-1] + _HEIGHT], color=palette.paper, linewidth=width, zorder=1.5)
    axes.set_title(f"thread {thread} of warp {warp}: numbers {' and '.join(spans)}", fontsize=10)
    bare(axes, xlim=(-0.5, line + 0.5), ylim=(tops[-1] + 1, -0.2))
    again = f", and the pattern repeats after {line * warps:,} numbers" if len(tops) > warps else ""
    figure.set_label(
        f"A tile of {numbers:,} numbers, divided among {warps} warps of {threads} threads. A warp has {line:,} "
        f"neighbouring numbers, a thread {per_thread} of them{again}. Outlined: thread {thread} of warp {warp}, "
        f"numbers {' and '.join(spans)}."
    )
    return figure
