"""What tiled attention reads, keeps on the chip and writes: one block of queries, and the tiles that pass by."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def numbers_moved(n_queries: int, n_keys: int, width: int, block: int) -> tuple[int, int]:
    """Count the numbers that one head moves between the large memory and the chip, for T queries and S keys of width H.

    In tiles: queries and outputs once, keys and values once for each block of queries, which stays on the chip while
    they pass by. And with the score matrix stored: beside queries, keys, values and outputs, T*S scores are written and
    read, and as many weights.
    """
    ends = 2 * n_queries * width
    passing = 2 * n_keys * width
    return ends + n_queries // block * passing, ends + passing + 4 * n_queries * n_keys


def numbers_kept(width: int, block: int, tile: int) -> int:
    """Count the numbers on the chip: a block of queries, a tile of keys and values, its scores, and m, l and z."""
    return block * width + 2 * tile * width + block * tile + block * (width + 2)


def tile_flow(n_queries: int, n_keys: int, width: int, tile: int, *, palette: Palette) -> Figure:
    """Draw the flow of data of tiled attention between the large memory, above, and the chip, below.

    Sizes are T, S and H; a tile has ``tile`` keys, and a block as many queries. Arrows are what is read and written. If
    tiles do not fill the text, it is a ValueError: "tiles of N do not divide T queries and S keys".
    """
    if tile < 1 or n_queries % tile or n_keys % tile:
        raise ValueError(f"tiles of {tile} do not divide {n_queries} queries and {n_keys} keys")
    tiled, stored = numbers_moved(n_queries, n_keys, width, tile)
    on_chip = numbers_kept(width, tile, tile)
    figure = Figure(figsize=(4.3, 5.2))
    axes = figure.subplots()
    _room(axes, 6.9, 4.3, "large, slow memory", palette)
    _room(axes, 0.2, 4.7, "on the chip: small, fast memory", palette)
    for left, name, color in _COLUMNS:
        color = getattr(palette, color)
        axes.text(left + 0.8, 10.25, name, ha="center", va="bottom", size=9, color=color)
        _stack(axes, left, color)
        middle = left + 0.8
        upward = name == "$Z$"
        ends = ((middle, 4.2), (middle, 7.1)) if upward else ((middle, 7.1), (middle, 4.2))
        _arrow(axes, *ends, color)
        axes.text(
            middle, 5.65, _SAID[name], ha="center", va="center", size=7.8, color=palette.ink, bbox=_paper(palette)
        )
    size = f"{tile} × {width}"
    _box(axes, 0.5, 3.3, 1.6, f"$q$\n{size}", palette.query)
    _box(axes, 2.9, 3.3, 1.6, f"$k$\n{size}", palette.key)
    _box(axes, 5.3, 3.3, 1.6, f"$v$\n{size}", palette.value)
    _box(axes, 7.7, 3.3, 1.8, "$m, l, z$", palette.mixed)
    _box(axes, 2.3, 1.35, 3.0, f"scores of one tile\n{tile} × {tile}", palette.muted)
    axes.text(3.8, 1.2, "then discarded", ha="center", va="top", size=7.8, color=palette.ink)
    axes.text(8.6, 3.15, "kept on chip\nfor all tiles", ha="center", va="top", size=7.8, color=palette.ink)
    for begin, end, color in (
        ((1.6, 3.3), (2.9, 2.15), palette.query),
        ((3.7, 3.3), (3.7, 2.15), palette.key),
        ((5.3, 1.75), (7.7, 3.4), palette.muted),
        ((6.5, 3.3), (6.9, 2.85), palette.value),
    ):
        _arrow(axes, begin, end, color)
    text = f"numbers moved for one head: {_short(tiled)}\n(with the score matrix stored: {_short(stored)})"
    axes.text(5, -0.05, text, ha="center", va="top", size=8.5, color=palette.ink)
    axes.set(xlim=(0, 10), ylim=(-0.95, 11.8))
    axes.set_axis_off()
    figure.set_label(
        f"Large memory above, the chip below. A block of {tile} of {n_queries:,} queries is read once and stays on the "
        f"chip; tiles of {tile} of {n_keys:,} keys and values are read in turn; their scores are discarded; m, l and z "
        f"stay; outputs are written once. On the chip: {on_chip:,} numbers. Moved: {_short(tiled)} numbers, "
        f"{_short(stored)} with the score matrix."
    )
    return figure


_COLUMNS = ((0.5, "$Q$", "query"), (2.9, "$K$", "key"), (5.3, "$V$", "value"), (7.8, "$Z$", "mixed"))
_SAID = {
    "$Q$": "read once",
    "$K$": "read for\neach block",
    "$V$": "read for\neach block",
    "$Z$": "$z / l$ written\nonce",
}
_STRIPS = 6
"""How many blocks or tiles are drawn, whatever their number is."""
_SHOWN = 1
"""Which of them is on the chip, from the top."""


def _short(number: int) -> str:
    """Write a count in millions, or in full where it is small."""
    return f"{number / 1e6:.1f} million" if number >= 1e6 else f"{number:,}"


def _paper(palette: Palette) -> dict[str, Any]:
    return {"facecolor": palette.paper, "edgecolor": "none", "pad": 1.5}


def _room(axes: Axes, bottom: float, height: float, name: str, palette: Palette) -> None:
    axes.add_patch(Rectangle((0.1, bottom), 9.8, height, fill=False, edgecolor=palette.muted, linewidth=1.2))
    at = bottom + height + 0.1 if bottom > 5 else bottom + 0.12  # above the upper room, inside the lower one
    axes.text(0.3, at, name, ha="left", va="bottom", size=8.5, color=palette.ink, weight="bold")


def _stack(axes: Axes, left: float, color: str) -> None:
    """Draw a matrix as strips, one of them filled."""
    height = 2.9 / _STRIPS
    for strip in range(_STRIPS):
        bottom = 10.1 - (strip + 1) * height
        box = Rectangle((left, bottom), 1.6, height, edgecolor=color, linewidth=1.1)
        box.set_facecolor(color if strip == _SHOWN else "none")
        axes.add_patch(box)


def _box(axes: Axes, left: float, bottom: float, width: float, name: str, color: str) -> None:
    axes.add_patch(Rectangle((left, bottom), width, 0.8, fill=False, edgecolor=color, linewidth=1.6))
    axes.text(left + width / 2, bottom + 0.4, name, ha="center", va="center", size=7.8, color=color)


def _arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float], color: str) -> None:
    style = {"arrowstyle": "-|>", "color": color, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=begin, arrowprops=style)
