"""Attention maps of several heads on one sentence, side by side."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette, ramp


def head_maps(weights_NTS: np.ndarray, tokens: Sequence[str], titles: Sequence[str], *, palette: Palette) -> Figure:
    """Draw one map for each head: rows look, columns are looked at.

    Args:
        weights_NTS: The weights of N heads over one sentence, T = S.
        tokens: One word for each position.
        titles: One title for each head.
        palette: The colours to draw in.

    Returns:
        As many panels as heads, two in a row, on one scale from 0 to 1. The words stand at the left and below.

    Raises:
        ValueError: If there is not a title for each head, or a token for each position; the message counts both.
    """
    n, t, s = weights_NTS.shape
    if len(titles) != n or len(tokens) != t or t != s:
        raise ValueError(f"weights of shape {weights_NTS.shape} with {len(titles)} titles and {len(tokens)} tokens")
    rows = (n + 1) // 2
    figure = Figure(figsize=(4.3, 0.6 + 1.95 * rows))  # as wide as a phone
    described = []
    panels = np.atleast_1d(figure.subplots(rows, 2, sharex=True, sharey=True)).ravel()
    for axes, weights_TS, title in zip(panels, weights_NTS, titles, strict=False):
        axes.pcolormesh(weights_TS, cmap=ramp(palette), vmin=0, vmax=1, edgecolors=palette.faint, linewidth=0.4)
        most = weights_TS.argmax(axis=1)
        axes.plot(most + 0.5, np.arange(t) + 0.5, "o", color=palette.ink, markersize=2.4)
        axes.set_title(title, size=9.5)
        axes.set(aspect="equal", xlim=(0, s), ylim=(t, 0))
        axes.set_xticks(np.arange(s) + 0.5, tokens, rotation=90)
        axes.set_yticks(np.arange(t) + 0.5, tokens)
        axes.tick_params(length=0, labelsize=7.8, pad=2)
        for spine in axes.spines.values():
            spine.set_visible(False)
        described.append(f"{title}: " + f"{(most == np.arange(t)).sum()} of {t} look most at themselves")
    for axes in panels[n:]:
        axes.set_axis_off()
    figure.set_label(
        f"{n} heat maps of attention weights over {t} tokens. A dot marks each row's largest weight. "
        f"{'; '.join(described)}."
    )
    return figure
