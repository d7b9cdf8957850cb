"""What changes with the number of heads when the width of all together stays: the memory of the scores alone."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.cost import with_unit
from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def cost_by_heads(
    heads: Sequence[int],
    parameters: Sequence[int],
    flops: Sequence[int],
    score_bytes: Sequence[int],
    *,
    palette: Palette,
) -> Figure:
    """Draw parameters, operations and memory of the scores against the number of heads, each as a ratio to the first.

    ``heads`` increase. Both axes are logarithmic, the lines named where they end.
    """
    figure = Figure(figsize=(4.4, 3.3))
    axes = figure.subplots()
    x = np.asarray(heads, dtype=float)
    # The first two lie on each other: one is dotted and wider, so that both can be seen.
    axes.plot(x, np.asarray(parameters) / parameters[0], "o:", color=palette.query, linewidth=5, markersize=0)
    axes.plot(x, np.asarray(flops) / flops[0], "s-", color=palette.value, linewidth=1.6, markersize=5)
    axes.plot(x, np.asarray(score_bytes) / score_bytes[0], "o-", color=palette.mixed, markersize=6)
    span = f"scores: {with_unit(score_bytes[0])} to {with_unit(score_bytes[-1])}"
    write_beside(axes, span, (x[-1], score_bytes[-1] / score_bytes[0]), (-10, 0), color=palette.mixed)
    for away, text, color in (
        (9, f"parameters: {parameters[0]:,}", palette.query),
        (-9, f"operations of the matrix products: {flops[0]:,}", palette.value),
    ):
        write_beside(axes, text, (x[-1], 1.0), (0, away), ha="right", color=color)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(x, [str(n) for n in heads])
    top = max(score_bytes) / score_bytes[0]
    ticks = 2.0 ** np.arange(0, np.log2(top) + 1, 1)
    axes.set_yticks(ticks, [f"×{tick:g}" for tick in ticks])
    axes.set(xlabel="heads N, with N·H = D", ylim=(0.55, top * 1.35))
    figure.set_label(
        f"Against the number of heads, {heads[0]} to {heads[-1]}, parameters and operations stay constant, while "
        f"the memory of the scores grows from {with_unit(score_bytes[0])} to {with_unit(score_bytes[-1])}."
    )
    return figure
