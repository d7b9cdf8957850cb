"""Memory and chip as two boxes, with the bytes of one computation between them."""

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from softlookup.figures.theme import Palette


def memory_and_chip(
    reads: Mapping[str, int], writes: Mapping[str, int], operations: int, *, palette: Palette
) -> Figure:
    """Draw what one computation moves between memory and chip, and what it does there.

    Args:
        reads: Bytes of each array that goes to the chip.
        writes: Bytes of each array that comes back.
        operations: What the chip computes with them.
        palette: The colours to draw in.

    Returns:
        Two boxes with an arrow for each array, the sum of the bytes below, and the operations in the chip.

    Raises:
        ValueError: If nothing moves: "no array moves between memory and chip".
    """
    arrows = [(name, size, True) for name, size in reads.items()]
    arrows += [(name, size, False) for name, size in writes.items()]
    if not arrows:
        raise ValueError("no array moves between memory and chip")
    moved = sum(size for _, size, _ in arrows)
    figure = Figure(figsize=(5.6, 0.5 * len(arrows) + 0.9))
    descriptions = [f"{name}, {size:,} bytes, {'to' if there else 'from'} the chip" for name, size, there in arrows]
    figure.set_label(
        f"Memory and chip as two boxes. Between them: {'; '.join(descriptions)}. "
        f"The chip does {operations:,} operations for {moved:,} bytes."
    )
    axes = figure.subplots()
    high = len(arrows)
    for x, words, color in (
        (0.0, "memory", palette.query),
        (7.2, f"chip\n{operations:,} operations", palette.key),
    ):
        box = FancyBboxPatch((x, 0), 2.8, high, boxstyle="round,pad=0,rounding_size=0.2", fc=color, ec="none")
        axes.add_patch(box)
        axes.text(x + 1.4, high / 2, words, ha="center", va="center", size=10, color=palette.paper, linespacing=1.6)
    for row, (name, size, there) in enumerate(arrows):
        y = high - row - 0.62
        start, end = (2.95, 7.05) if there else (7.05, 2.95)
        style = {"arrowstyle": "-|>", "color": palette.ink, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (end, y), (start, y), arrowprops=style)
        axes.text(5, y + 0.1, f"{name}, {size:,} bytes", ha="center", va="bottom", size=9.5)
    axes.text(5, -0.35, f"{moved:,} bytes in all", ha="center", va="center", size=9.5, color=palette.muted)
    axes.set(xlim=(-0.1, 10.1), ylim=(-0.65, high + 0.1))
    axes.axis("off")
    return figure
