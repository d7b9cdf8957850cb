"""A processor as a kitchen: cooks, a counter at arm's length, and a van that fetches crates from a warehouse."""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle

from softlookup_course.figures.marks import draw_arrow, draw_box
from softlookup_course.figures.theme import Palette

_WAREHOUSE, _KITCHEN, _END = 2.6, 6.7, 10.6
"""Where the warehouse ends, where the kitchen begins and where it ends."""
_WALL = 3.1
"""Height of both buildings' walls."""


def kitchen(reads: Mapping[str, int], writes: Mapping[str, int], operations: int, *, palette: Palette) -> Figure:
    """Draw what one computation fetches from memory and sends back, as a van between a warehouse and a kitchen.

    ``reads`` and ``writes`` are bytes of each array. A warehouse (memory), a kitchen with cooks (the processor's units,
    which do the operations) at a counter (cache, registers), and between them a van (bandwidth) with a crate for each
    array and the sum of the bytes. If nothing moves, it is a ValueError: "the van has no array to move".
    """
    if not reads and not writes:
        raise ValueError("the van has no array to move")
    moved = sum(reads.values()) + sum(writes.values())
    figure = Figure(figsize=(6.2, 2.95))
    brought, taken = (", ".join(f"{name}, {size:,} bytes" for name, size in way.items()) for way in (reads, writes))
    figure.set_label(
        "A warehouse, which is the memory, and a kitchen, where three cooks, the processor's units, stand at a small "
        f"counter, the cache and registers. A van between them brings {brought or 'nothing'} and takes back "
        f"{taken or 'nothing'}: {moved:,} bytes for {operations:,} operations."
    )
    axes = figure.subplots()
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
    axes.set(xlim=(-0.1, _END + 0.1), ylim=(-1.5, 4.15), aspect="equal")
    axes.set_axis_off()
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
