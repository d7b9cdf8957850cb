"""What a larger vocabulary buys, and what it costs."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import ArrayLike

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def vocabulary_size(
    sizes: ArrayLike, lengths: ArrayLike, characters: float, words: float, width: int, *, palette: Palette
) -> Figure:
    """Draw tokens per sentence and parameters of the table against the size V of the vocabulary.

    ``lengths`` are mean tokens per sentence, ``characters`` the mean of the longest that it can get, ``words`` (and
    marks) the shortest; ``width`` is D. One panel below the other: the sequence becomes shorter, ever more slowly; the
    table grows steadily.
    """
    sizes_, lengths_ = np.asarray(sizes, dtype=float), np.asarray(lengths, dtype=float)
    figure = Figure(figsize=(4.2, 5.4), layout="constrained")  # a phone's width
    left, right = figure.subplots(2, 1)
    left.plot(sizes_, lengths_, "o-", color=palette.query, markersize=4)
    for height, name in ((characters, "characters"), (words, "words and marks")):
        left.axhline(height, color=palette.muted, linewidth=1, linestyle="--")
        place: dict[str, Any] = {"ha": "right", "xycoords": ("axes fraction", "data")}
        write_beside(left, f"{name} {height:.1f}", (1, height), (0, -3), size=8.5, color=palette.muted, **place)
    middle, look = len(sizes_) // 2, {"va": "baseline", "size": 9}
    write_beside(left, "byte pairs", (sizes_[middle], lengths_[middle]), (4, 8), color=palette.query, **look)
    left.set(title="tokens per sentence", ylim=(0, 1.08 * characters))
    table = sizes_ * width
    right.plot(sizes_, table, "o-", color=palette.key, markersize=4)
    write_beside(right, f"V × {width}", (sizes_[middle], table[middle]), (-6, 6), color=palette.key, **look)
    right.set(title="parameters in the table", xlabel="vocabulary V", ylim=(0, 1.08 * table.max()))
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:,.0f}k" if value else "0"))
    for axes in (left, right):
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    figure.set_label(
        f"Two curves against the size of the vocabulary, {sizes_[0]:,.0f} to {sizes_[-1]:,.0f}. Tokens per "
        f"sentence fall from {lengths_[0]:.1f} to {lengths_[-1]:.1f}, steeply at first, then slowly; the parameters "
        f"in the table grow linearly to {table[-1]:,.0f}."
    )
    return figure
