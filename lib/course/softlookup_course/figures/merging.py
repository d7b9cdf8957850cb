"""How a word comes to its tokens: one row for each merge, from single letters to the longest piece."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_box
from softlookup_course.figures.theme import Palette

_GAP = 0.12


def merging(passes: Sequence[Sequence[str]], learned: Mapping[str, int] | None = None, *, palette: Palette) -> Figure:
    """Draw a word's pieces after each merge, each above the letters that it is made of.

    ``passes`` is what ``BytePairTokenizer.steps`` returns: the letters first, then the pieces after each merge.
    ``learned`` is the number of the merge that makes each token, to stand before its row; without it rows are counted.
    Rows run downwards, and what a merge has just made is filled. A ValueError if there are no passes, or they do not
    all spell the same word.
    """
    words = {"".join(row) for row in passes}
    if len(words) != 1:
        raise ValueError(f"passes spell {sorted(words)}; wanted the steps of one word")
    letters = len(next(iter(words)))
    figure = Figure(figsize=(0.39 * (letters + 2.7), 0.36 * len(passes) + 0.5))  # a phone's width for eight letters
    axes = figure.subplots()
    merges: list[str] = []
    for number, row in enumerate(passes):
        before = _spans(passes[number - 1]) if number else _spans(row)
        step_name = "letters" if number == 0 else f"merge {number}"
        for begin, end in _spans(row):
            new = (begin, end) not in before
            piece = "".join(passes[0][begin:end])
            _box(axes, begin, end, -number, piece, new, palette)
            if new and learned is not None:
                step_name = f"merge {learned[piece]:,}"
                merges.append(f"{step_name} makes {piece}")
        axes.text(-0.35, -number, step_name, ha="right", va="center", size=8.5, color=palette.muted)
    axes.set(xlim=(-2.6, letters + 0.1), ylim=(-len(passes) + 0.45, 0.55))
    axes.set_axis_off()
    figure.set_label(
        f"Rows of boxes from top to bottom. The first holds the letters {' '.join(passes[0])}; each row merges two "
        f"neighbours of the row above; the last one is {' '.join(passes[-1])}."
        + (f" By the numbers of the merges: {', '.join(merges)}." if merges else "")
    )
    return figure


def _spans(row: Sequence[str]) -> list[tuple[int, int]]:
    """Where each piece begins and ends, in letters."""
    spans, begin = [], 0
    for piece in row:
        spans.append((begin, begin + len(piece)))
        begin += len(piece)
    return spans


def _box(axes: Axes, begin: int, end: int, y: float, piece: str, new: bool, palette: Palette) -> None:
    look: dict[str, Any] = {"fc": "none", "ec": palette.faint}
    look = {"fc": palette.query, "ec": palette.query, "alpha": 0.22} if new else look
    draw_box(axes, (begin + _GAP / 2, y - 0.34), end - begin - _GAP, 0.68, 0.12, linewidth=1.2, **look)
    axes.text((begin + end) / 2, y, piece, ha="center", va="center", size=9.5, color=palette.ink)
