"""Which arrays cross the road to memory, pass by pass."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_box
from softlookup_course.figures.theme import Palette

Pass = tuple[str, Sequence[str], Sequence[str]]
"""What the pass computes, the arrays it reads, the arrays it writes."""


def loop_passes(
    programs: Sequence[tuple[str, Sequence[Pass]]], arrays: Sequence[str], number_bytes: int = 4, *, palette: Palette
) -> Figure:
    """Draw for each pass of each program, which has a title, which arrays are read and which are written.

    A row for each pass, a box where an array, a column in the order of ``arrays``, is read or written, bytes per
    element at the end. A pass that names another array is a ValueError: "PASS names X; the columns are ...".
    """
    rows: list[Pass | str] = []
    descriptions = []
    for title, steps in programs:
        moved = number_bytes * sum(len(read) + len(written) for _, read, written in steps)
        rows += [f"{title}: {moved} bytes per element", *steps]
        each = (f"{what} reads {', '.join(read)} and writes {', '.join(written)}" for what, read, written in steps)
        descriptions.append(f"{title}: {moved} bytes per element, {'; '.join(each)}")
    figure = Figure(figsize=(0.62 * len(arrays) + 1.9, 0.42 * len(rows) + 0.5))
    figure.set_label(f"Arrays that each pass reads and writes. {'. '.join(descriptions)}.")
    axes = figure.subplots()
    for place, row in enumerate(rows):
        y = -place
        if isinstance(row, str):
            axes.text(-2.35, y - 0.1, row, va="center", weight="bold", size=9.5)
            continue
        what, read, written = row
        axes.text(-2.35, y, what, va="center", size=9.5)
        axes.plot([-0.45, len(arrays) - 0.55], [y, y], color=palette.faint, linewidth=1, zorder=0)
        for name in (*read, *written):
            if name not in arrays:
                raise ValueError(f"{what} names {name}; the columns are {', '.join(arrays)}")
            x = arrays.index(name)
            color = palette.query if name in read else palette.key
            draw_box(axes, (x - 0.38, y - 0.28), 0.76, 0.56, 0.1, fc=color, ec="none")
            axes.text(x, y, "read" if name in read else "write", ha="center", va="center", size=8, color=palette.paper)
    for x, name in enumerate(arrays):
        axes.text(x, 0.95, name, ha="center", va="center", size=9.5, color=palette.muted)
    axes.set(xlim=(-2.4, len(arrays) - 0.4), ylim=(-len(rows) + 0.4, 1.3))
    axes.axis("off")
    return figure
