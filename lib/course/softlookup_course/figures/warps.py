"""Which threads and warps of a program have which numbers of its tile."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette

_HEIGHT = 0.84
"""Of a line; the rest of 1 is the gap to the next."""
_BETWEEN = 0.5
"""What that gap has more before the first warp begins again."""


def warps(
    numbers: int, per_thread: int, threads: int, warps: int, outlined: tuple[int, int] = (1, 4), *, palette: Palette
) -> Figure:
    """Draw how a tile in one dimension is divided among the threads of a program.

    ``numbers`` in the tile, ``per_thread`` neighbouring ones of a thread, ``threads`` of a warp, up to four ``warps``
    of the program; ``outlined`` are a warp and a thread of it, whose numbers are outlined. A line is a warp's, by
    colour and name, and a box in it is a thread, with its numbers side by side. Below the last warp the first begins
    again. A ValueError if there are more than four warps, they do not fill the tile, or the outlined thread is not
    there.
    """
    line = per_thread * threads
    if not 1 <= warps <= 4 or min(numbers, line) < 1 or numbers % (line * warps):
        raise ValueError(
            f"{numbers} numbers, {warps} warps of {threads} threads with {per_thread} neighbours each; wanted one to "
            "four warps that fill the tile exactly"
        )
    warp, thread = outlined
    if not (0 <= warp < warps and 0 <= thread < threads):
        raise ValueError(
            f"thread {thread} of warp {warp} is outlined; wanted one of {warps} warps of {threads} threads"
        )
    tops = [at + at // warps * _BETWEEN for at in range(numbers // line)]
    figure = Figure(figsize=(5.2, 0.2 * (tops[-1] + 1) + 0.35))
    axes = figure.subplots()
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
            look: dict[str, Any] = {"edgecolor": palette.ink, "linewidth": 1.8, "zorder": 2}
            axes.add_patch(Rectangle(corner, per_thread, _HEIGHT, fill=False, **look))
            spans.append(f"{first + corner[0]:,} to {first + corner[0] + per_thread - 1:,}")
    for place in range(1, line):  # across all lines at once, which keeps the drawing small
        width = 0.4 if place % per_thread else 1.6
        axes.plot([place, place], [0, tops[-1] + _HEIGHT], color=palette.paper, linewidth=width, zorder=1.5)
    axes.set_title(f"thread {thread} of warp {warp}: numbers {' and '.join(spans)}", fontsize=10)
    axes.set(xlim=(-0.5, line + 0.5), ylim=(tops[-1] + 1, -0.2))
    axes.set_axis_off()
    again = f", and the pattern repeats after {line * warps:,} numbers" if len(tops) > warps else ""
    figure.set_label(
        f"A tile of {numbers:,} numbers, divided among {warps} warps of {threads} threads. A warp has {line:,} "
        f"neighbouring numbers, a thread {per_thread} of them{again}. Outlined: thread {thread} of warp {warp}, "
        f"numbers {' and '.join(spans)}."
    )
    return figure
