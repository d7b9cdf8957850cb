"""Where a model's answer stands in the ranking of all tokens, had the model stopped after fewer layers."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from softlookup_course.figures.theme import Palette


def rank_by_layer(ranks: Sequence[int], word: str, layer: int, name: str, *, palette: Palette) -> Figure:
    """Draw the rank of a token after no layer, one layer, and so on, rank 1, the most likely, at the top.

    The axis is logarithmic. ``layer``, counted from 0, is pointed out, with ``name`` beside it; what it does shows
    between that many layers and one more. A ValueError if a rank is below 1, or there is no such layer.
    """
    if min(ranks) < 1 or not 0 <= layer < len(ranks) - 1:
        raise ValueError(
            f"wanted ranks from 1 and a layer of {len(ranks) - 1}; got a rank {min(ranks)} and layer {layer}"
        )
    figure = Figure(figsize=(6.2, 2.7))
    axes = figure.subplots()
    axes.axvspan(layer, layer + 1, color=palette.mixed, alpha=0.25, linewidth=0)
    axes.plot(np.arange(len(ranks)), ranks, "-o", color=palette.query, linewidth=1.7, markersize=3.5)
    axes.set_yscale("log")
    axes.set(ylim=(max(ranks) * 1.7, 0.75), xlim=(-0.5, len(ranks) - 0.5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda rank, _: f"{rank:,.0f}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.text(layer - 0.3, 3, name, color=palette.ink, ha="right", va="center")
    axes.set(xlabel="layers passed", ylabel=f"rank of {word}")
    axes.grid(axis="y")
    figure.set_label(
        f"The rank of {word} among all tokens after 0 to {len(ranks) - 1} layers: {ranks[0]:,} before the first, "
        f"{ranks[layer]:,} before layer {layer + 1} ({name}), {ranks[layer + 1]:,} after it, {ranks[-1]:,} at the end."
    )
    return figure
