"""Which sectors of memory a warp fetches for the numbers that its threads read."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette

_PER_ROW = 4
"""Sectors that are drawn side by side."""


def sectors(
    strides: Sequence[int], threads: int = 32, number_bytes: int = 4, sector_bytes: int = 32, *, palette: Palette
) -> Figure:
    """Draw what a warp fetches when its threads read numbers that lie one, two or more places apart: a panel for each.

    ``sector_bytes``, a multiple of ``number_bytes``, are fetched together. A box is a sector, read line by line; what
    threads read is full, what is fetched beside it is faint, and a sector that nobody reads is empty. A ValueError if
    there is no stride, one is below 1, or numbers do not fill a sector.
    """
    if not strides or min(strides) < 1 or sector_bytes % number_bytes:
        raise ValueError(
            f"strides {list(strides)}, numbers of {number_bytes} bytes in sectors of {sector_bytes}; wanted strides "
            "from 1 and sectors that numbers fill"
        )
    slots = sector_bytes // number_bytes
    most = -(-threads * max(strides) // slots)
    lines = -(-most // _PER_ROW)
    figure = Figure(figsize=(4.0, len(strides) * (0.45 + 0.16 * lines)))
    panels = figure.subplots(len(strides), 1, squeeze=False)[:, 0]
    descriptions = []
    for axes, stride in zip(panels, strides, strict=True):
        numbers = [thread * stride for thread in range(threads)]
        fetched = sorted({number // slots for number in numbers})
        for sector in range(lines * _PER_ROW):
            left, top = sector % _PER_ROW * slots, sector // _PER_ROW
            if sector in fetched:
                axes.add_patch(Rectangle((left, top), slots, 0.8, facecolor=palette.key, alpha=0.25, linewidth=0))
            axes.add_patch(Rectangle((left, top), slots, 0.8, fill=False, edgecolor=palette.muted, linewidth=0.7))
        for number in numbers:
            left, top = number % (_PER_ROW * slots), number // (_PER_ROW * slots)
            axes.add_patch(Rectangle((left + 0.1, top + 0.1), 0.8, 0.6, facecolor=palette.key, linewidth=0))
        used, moved = threads * number_bytes, len(fetched) * sector_bytes
        axes.set_title(f"stride {stride}: {len(fetched)} sectors, {used} of {moved:,} bytes used", fontsize=10)
        axes.set(xlim=(-0.1, _PER_ROW * slots + 0.1), ylim=(lines, -0.1))
        axes.set_axis_off()
        descriptions.append(f"with stride {stride} they lie in {len(fetched)} sectors, {moved:,} bytes")
    figure.set_label(
        f"{threads} threads read a number of {number_bytes} bytes each, {threads * number_bytes} bytes in all: "
        f"{'; '.join(descriptions)}."
    )
    return figure
