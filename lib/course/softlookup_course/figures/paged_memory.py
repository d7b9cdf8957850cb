"""The memory of a server as blocks, and the tables of its guests that point into it."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette

Guests = Mapping[str, tuple[Sequence[int], int]]
"""For each guest the numbers of its blocks, in the order of its text, and how many tokens it has."""
_SLOT, _ENTRY, _BETWEEN = 0.66, 0.9, 1.9


def paged_memory(guests: Guests, blocks: int, size: int, *, palette: Palette) -> Figure:
    """Draw the block tables of up to six guests around the memory, in blocks of ``size`` tokens, to which they point.

    The memory is in the middle, a column for each block and a cell for each token, filled where there is one and
    hatched where a guest's last block is empty; tables stand above and below, each entry joined to its block. Each
    token has its guest's first letter; the blocks and joins of the tables below are dashed. A block of several guests
    has a colour of its own, and the letters of all. A ValueError if there are no guests or more than six, a number of
    tokens does not fit its blocks, or a block is not in memory.
    """
    if not 1 <= len(guests) <= 6:
        raise ValueError(f"{len(guests)} guests; wanted one to six")
    filled, users = [0] * blocks, [""] * blocks
    for name, (table, tokens) in guests.items():
        if not (len(table) - 1) * size < tokens <= len(table) * size or not all(0 <= b < blocks for b in table):
            raise ValueError(f"{name}: {tokens} tokens in the blocks {list(table)} of {size}, of {blocks} in memory")
        for at, b in enumerate(table):
            filled[b], users[b] = min(size, tokens - at * size), users[b] + name[0]
    figure = Figure(figsize=(6.8, 3.5))
    axes = figure.subplots()
    bottom = -size * _SLOT - 1.0
    colors = dict(zip(guests, (palette.query, palette.key, palette.value) * 2, strict=False))
    names = list(guests)
    half = (len(names) + 1) // 2
    for row, top, edge in ((names[:half], _BETWEEN, 0.0), (names[half:], bottom - _BETWEEN - 1.0, bottom)):
        wide = [_ENTRY * len(guests[name][0]) for name in row]
        gap = (blocks - sum(wide)) / max(len(row), 1)
        x = gap / 2
        for name, width in zip(row, wide, strict=True):
            table, tokens = guests[name]
            above = edge == 0.0
            for at, b in enumerate(table):
                color = palette.mixed if len(users[b]) > 1 else colors[name]
                left = x + at * _ENTRY
                _cell(axes, left, top, _ENTRY, 1.0, color, palette, filled=True)
                axes.text(left + _ENTRY / 2, top + 0.47, str(b), ha="center", va="center", size=9)
                ends = [top if above else top + 1.0, edge]
                way = "-" if above else (0, (4, 2))
                axes.plot([left + _ENTRY / 2, b + 0.5], ends, color=color, linewidth=1.2, linestyle=way, alpha=0.8)
            y, side = (top + 1.25, "bottom") if above else (top - 0.25, "top")
            words = f"{name}: {tokens} tokens"
            axes.text(x + width / 2, y, words, ha="center", va=side, size=9.5, color=colors[name])
            x += width + gap
    for b in range(blocks):
        owner = next((name for name in names if users[b] == name[0]), "")
        color = colors.get(owner, palette.mixed if users[b] else palette.faint)
        way = (0, (4, 2)) if owner in names[half:] else "-"
        axes.add_patch(Rectangle((b, bottom), 1, -bottom, fc=palette.paper, ec=color, linewidth=1.2, linestyle=way))
        axes.text(b + 0.5, -0.52, str(b), ha="center", va="center", size=8.5, color=palette.muted)
        for slot in range(size):
            y = -1.0 - (slot + 1) * _SLOT
            box = b + 0.08, y + 0.05, 0.84, _SLOT - 0.1
            _cell(axes, *box, color, palette, filled=slot < filled[b])
            if slot < filled[b]:
                axes.text(b + 0.5, y + _SLOT / 2 - 0.03, users[b], ha="center", va="center", size=8, zorder=4)
            if users[b] and slot >= filled[b]:
                axes.add_patch(
                    Rectangle(box[:2], *box[2:], fill=False, ec=palette.muted, hatch="/////", lw=0, zorder=3)
                )
        if not users[b]:
            axes.text(b + 0.5, 0.25, "free", ha="center", va="bottom", size=8.5, color=palette.muted)
    axes.set(xlim=(-0.1, blocks + 0.1), ylim=(bottom - _BETWEEN - 2.2, _BETWEEN + 2.2))
    axes.set_axis_off()
    shared = [b for b in range(blocks) if len(users[b]) > 1]
    each = "; ".join(f"{name} {tokens} in {list(table)}" for name, (table, tokens) in guests.items())
    figure.set_label(
        f"A memory of {blocks} blocks of {size} tokens. Tokens and blocks of the guests: {each}. Shared: {shared}. "
        f"Empty cells in their last blocks: {sum(size - n for n, who in zip(filled, users, strict=True) if who)}."
    )
    return figure


def _cell(
    axes: Axes, x: float, y: float, width: float, height: float, color: str, palette: Palette, *, filled: bool
) -> None:
    """A box: filled in a light tint of its colour, or empty with a faint edge."""
    if filled:
        axes.add_patch(Rectangle((x, y), width, height, facecolor=palette.paper, edgecolor="none", zorder=2))
        axes.add_patch(Rectangle((x, y), width, height, facecolor=color, alpha=0.35, edgecolor="none", zorder=2))
    edge = color if filled else palette.faint
    axes.add_patch(Rectangle((x, y), width, height, fill=False, edgecolor=edge, linewidth=0.9, zorder=2))
