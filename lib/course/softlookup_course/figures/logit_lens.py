"""What a model would write if it stopped after each layer."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.theme import Palette


def logit_lens(words: Sequence[str], shares: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the probability of each word that was written, had the model stopped after fewer layers.

    ``shares`` are after no layer, one layer, and so on: (words, layers + 1), or it is a ValueError. A row for each
    word, a column for each layer.
    """
    shares = np.asarray(shares, dtype=float)
    if shares.ndim != 2 or shares.shape[0] != len(words):
        raise ValueError(f"shares have shape {shares.shape}; wanted a row for each of the {len(words)} words")
    layers = shares.shape[1] - 1
    figure = Figure(figsize=(4.3, 0.8 + 0.34 * len(words)))  # as wide as a phone
    begun, ended = max(float(shares[:, 0].max()), 0.01), shares[:, -1]
    figure.set_label(
        f"Logit lens: probability of each written word after 0 to {layers} layers. Before the first layer all are "
        f"at {begun:.2f} or below; after the last they lie between {ended.min():.2f} and {ended.max():.2f}."
    )
    axes = figure.subplots()
    columns = [str(i) for i in range(layers + 1)]
    draw_grid(axes, shares, palette, title="", rows=words, columns=columns, bounds=(0.0, 1.0))
    axes.set_xlabel("number of layers passed")
    axes.xaxis.set_label_position("top")
    axes.set_aspect("auto")
    return figure
