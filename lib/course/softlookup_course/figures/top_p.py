"""Where top-p cuts a distribution: the likeliest tokens, their growing sum, and the one that crosses."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def top_p(tokens: Sequence[str], probabilities: ArrayLike, p: float, *, palette: Palette) -> Figure:
    """Draw the likeliest tokens, likeliest first, as steps of a growing sum, and the line p that it crosses.

    A bar for each token stands on the sum of those before it. A ValueError if probabilities rise, or the tokens shown
    do not reach p.
    """
    shares = np.asarray(probabilities, dtype=float)
    if shares.shape != (len(tokens),) or (np.diff(shares) > 0).any():
        raise ValueError(f"wanted {len(tokens)} probabilities, likeliest first; got {shares.tolist()}")
    sums, rounding = shares.cumsum(), 1e-6  # six probabilities of 0.1 in float32 need not add up to 0.6
    if sums[-1] < p - rounding:
        raise ValueError(f"the tokens shown hold {sums[-1]:.3f}, less than p = {p}")
    before = np.concatenate([[0.0], sums[:-1]])
    crossing = int(np.flatnonzero(before < p - rounding)[-1]) if p > rounding else 0
    figure = Figure(figsize=(max(4.4, 0.5 * len(tokens) + 0.9), 3.1))
    axes = figure.subplots()
    for i, (low, share) in enumerate(zip(before, shares, strict=True)):
        color = palette.faint if i > crossing else palette.key if i == crossing else palette.query
        axes.bar(i, share, bottom=low, width=0.8, color=color)
        axes.text(i, low + share + 0.015, f"{share:.2f}", ha="center", va="bottom", size=8.5, color=palette.ink)
    axes.axhline(p, color=palette.ink, linewidth=1.2, linestyle="--")
    axes.text(-0.45, p + 0.012, f"p = {p:g}", ha="left", va="bottom", color=palette.ink)
    at = (crossing + 0.4, before[crossing] + shares[crossing] / 4)
    write_beside(axes, "crosses p: kept", at, (4, 0), size=9, color=palette.key)
    axes.set(ylim=(0, 1.08), xlim=(-0.55, len(tokens) - 0.45), ylabel="sum of the probabilities")
    axes.set_xticks(range(len(tokens)), tokens, rotation=40, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0)
    described = ", ".join(f"{token} {share:.2f}" for token, share in zip(tokens, shares, strict=True))
    figure.set_label(
        f"The likeliest next tokens, each bar standing on the sum of those before it: {described}. The sum reaches "
        f"p = {p:g} within {tokens[crossing]}, which is kept; what follows is dropped."
    )
    return figure
