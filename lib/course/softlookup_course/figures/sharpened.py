"""The next token at several temperatures."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from softlookup_course.figures.theme import Palette


def sharpened(
    tokens: Sequence[str], temperatures: Sequence[float], probabilities: ArrayLike, *, palette: Palette
) -> Figure:
    """Draw the probabilities (n, tokens) of some tokens, likeliest first, a panel for each of n temperatures.

    Panels stand side by side, with one axis of tokens. A ValueError if the shape does not fit.
    """
    table = np.asarray(probabilities, dtype=float)
    if table.shape != (len(temperatures), len(tokens)):
        raise ValueError(f"probabilities have shape {table.shape}, wanted {(len(temperatures), len(tokens))}")
    figure = Figure(figsize=(4.3, 0.3 * len(tokens) + 0.9))
    panels = figure.subplots(1, len(temperatures), sharey=True, squeeze=False)[0]
    places = np.arange(len(tokens))
    for axes, tau, row in zip(panels, temperatures, table, strict=True):
        axes.barh(places, row, color=palette.query, height=0.72)
        for place, share in zip(places, row, strict=True):
            axes.text(share + 0.02, place, f"{share:.2f}", va="center", size=9, color=palette.ink)
        axes.set(title=f"τ = {tau:g}", xlim=(0, 1.35), ylim=(len(tokens) - 0.5, -0.5))
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines["bottom"].set_visible(False)
    panels[0].set_yticks(places, tokens)
    described = "; ".join(
        f"at temperature {tau:g}: " + ", ".join(f"{t} {s:.2f}" for t, s in zip(tokens, row, strict=True))
        for tau, row in zip(temperatures, table, strict=True)
    )
    figure.set_label(f"Probabilities of the next token, {described}.")
    return figure
