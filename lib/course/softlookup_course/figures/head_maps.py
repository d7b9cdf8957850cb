"""Attention maps of several heads on one sentence, side by side."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette, ramp


def head_maps(
    weights_NTS: np.ndarray,
    tokens: Sequence[str] | Sequence[Sequence[str]],
    titles: Sequence[str],
    query: int | None = None,
    *,
    palette: Palette,
) -> Figure:
    """Draw one map for each head: a row for each query, a column for each key.

    The weights are of N heads over one sentence, or of one head over N of equal length, with a list of words for each;
    T = S. Two panels stand in a row, on one scale, 0 to 1, with a bar; the words stand at the left and below. The row
    of ``query`` is framed. If there is not a title for each head, or a token for each position, a ValueError counts
    both.
    """
    n, t, s = weights_NTS.shape
    one_sentence = all(isinstance(token, str) for token in tokens)
    sentences = [tokens] * n if one_sentence else tokens
    lengths = {len(words) for words in sentences}
    if {len(titles), len(sentences)} != {n} or lengths != {t} or t != s:
        counted = " and ".join(map(str, sorted(lengths)))
        raise ValueError(f"weights of shape {weights_NTS.shape} with {len(titles)} titles and {counted} tokens")
    rows = (n + 1) // 2
    figure = Figure(figsize=(4.3, 0.6 + 1.95 * rows))  # as wide as a phone
    described = []
    panels = np.atleast_1d(figure.subplots(rows, 2, sharex=one_sentence, sharey=one_sentence)).ravel()
    for axes, weights_TS, words, title in zip(panels, weights_NTS, sentences, titles, strict=False):
        shades = axes.pcolormesh(weights_TS, cmap=ramp(palette), vmin=0, vmax=1, edgecolors=palette.mesh, linewidth=0.4)
        most = weights_TS.argmax(axis=1)
        axes.plot(most + 0.5, np.arange(t) + 0.5, "o", color=palette.ink, markersize=2.4)
        axes.set_title(title, size=9.5)
        axes.set(aspect="equal", xlim=(0, s), ylim=(t, 0))
        axes.set_xticks(np.arange(s) + 0.5, words, rotation=90)
        axes.set_yticks(np.arange(t) + 0.5, words)
        axes.tick_params(length=0, labelsize=7.8, pad=2)
        axes.spines[:].set_visible(False)
        description = f"{title}: {(most == np.arange(t)).sum()} of {t} tokens attend most to themselves"
        if query is not None:
            frame = Rectangle((0, query), s, 1, fill=False, edgecolor=palette.query, linewidth=1.6, zorder=3)
            frame.set_clip_on(False)
            axes.add_patch(frame)
            weight = weights_TS[query, most[query]]
            description += f", and {words[query]} gives {weight:.2f} to {words[most[query]]}"
        described.append(description)
    for axes in panels[n:]:
        axes.set_axis_off()
    bar = figure.colorbar(
        shades, ax=panels.tolist(), ticks=(0, 0.5, 1), format="{x:g}", shrink=0.6, fraction=0.04, pad=0.03, aspect=18
    )
    bar.ax.tick_params(length=0, labelsize=7.8)
    figure.set_label(
        f"{n} heat maps of attention weights over {t} tokens. A dot marks each row's largest weight. "
        f"{'; '.join(described)}."
    )
    return figure
