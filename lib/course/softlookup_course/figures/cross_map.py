"""Which tokens each token attends to: those of a source, or those before it."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette, ramp


def cross_map(
    weights: np.ndarray,
    written: Sequence[str],
    read: Sequence[str],
    title: str,
    *,
    row: str = "token to be written",
    column: str = "source token",
    palette: Palette,
) -> Figure:
    """Draw attention weights (T, S) with more columns than rows: cross-attention, or the last rows of a causal map.

    Rows write the tokens ``written``, columns are the tokens ``read`` of the source; ``row`` and ``column`` say what
    one stands for. A dot marks each row's largest weight. A ValueError if the weights have another shape than the
    tokens.
    """
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (len(written), len(read)):
        raise ValueError(f"weights have shape {weights.shape}; wanted {(len(written), len(read))}")
    figure = Figure(figsize=(0.42 * len(read) + 1.6, 0.36 * len(written) + 1.5))
    axes = figure.subplots()
    colors = ramp(palette)
    for t, s in np.ndindex(*weights.shape):
        axes.add_patch(Rectangle((s, t), 1, 1, facecolor=colors(weights[t, s]), edgecolor=palette.mesh, linewidth=0.5))
    best = weights.argmax(axis=1)
    axes.plot(best + 0.5, np.arange(len(written)) + 0.5, "o", color=palette.ink, markersize=3.5)
    axes.set(xlim=(-0.03, len(read) + 0.03), ylim=(len(written) + 0.03, -0.03), aspect="equal", title=title)
    axes.set_xticks(np.arange(len(read)) + 0.5, read, rotation=90)
    axes.set_yticks(np.arange(len(written)) + 0.5, written)
    axes.set(xlabel=f"{column} (key)", ylabel=f"{row} (query)")
    axes.tick_params(length=0, labelsize=9)
    axes.spines[:].set_visible(False)
    pairs = "; ".join(f"{word} attends most to {read[s]}" for word, s in zip(written, best, strict=True))
    figure.set_label(f"Attention weights of {title}: a row for each {row}. {pairs}.")
    return figure
