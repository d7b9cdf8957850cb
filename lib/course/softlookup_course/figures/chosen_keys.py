"""Which few of many keys a query reads, when an indexer has chosen them before a mask or after it."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def chosen_keys(
    sums: Sequence[float] | np.ndarray,
    visible: Sequence[bool] | np.ndarray,
    chosen: Mapping[str, Sequence[int]],
    *,
    palette: Palette,
) -> Figure:
    """Draw an indexer's sums for one query, and which keys attention then reads.

    ``sums`` has a number for each token, ``visible`` whether the query may see it, and ``chosen`` for each order of
    steps, by its name, the tokens that were chosen. A bar for each token stands over a row of cells for each order:
    filled where attention reads the key, crossed where a chosen key is hidden. The future is hatched. A ValueError if
    sums and visible are not of one length, or a chosen token is none of them.
    """
    bars, seen = np.asarray(sums, dtype=float), np.asarray(visible, dtype=bool)
    if bars.ndim != 1 or bars.shape != seen.shape:
        raise ValueError(f"sums of shape {bars.shape} and visible of shape {seen.shape}; wanted one axis of tokens")
    if any(not 0 <= token < len(bars) for tokens in chosen.values() for token in tokens):
        raise ValueError(f"chosen are {dict(chosen)}; wanted tokens from 0 to {len(bars) - 1}")
    figure = Figure(figsize=(6.0, 2.5 + 0.42 * len(chosen)))
    axes = figure.subplots()
    top = float(bars.max()) or 1.0
    for token, height in enumerate(bars):
        look = {"color": palette.query} if seen[token] else {"fill": False, "ec": palette.muted, "hatch": "////"}
        axes.bar(token, height / top, width=0.66, alpha=0.6, **look)
        axes.text(token, height / top + 0.02, f"{height:.2f}", ha="center", va="bottom", size=8.5)
    descriptions = []
    for row, (name, tokens) in enumerate(chosen.items()):
        y = -0.42 - 0.3 * row
        for token in range(len(bars)):
            full = token in tokens and bool(seen[token])
            box = (token - 0.33, y), 0.66, 0.2
            axes.add_patch(Rectangle(*box, fill=False, edgecolor=palette.faint, linewidth=0.9))
            if full:
                axes.add_patch(Rectangle(*box, facecolor=palette.mixed, alpha=0.7, edgecolor="none"))
            elif token in tokens:
                for ends in ([y, y + 0.2], [y + 0.2, y]):
                    axes.plot([token - 0.25, token + 0.25], ends, color=palette.alarm, linewidth=1.4)
        axes.text(-0.6, y + 0.1, name, ha="right", va="center", size=9)
        reads = [token for token in tokens if seen[token]]
        descriptions.append(f"{name}, attention reads the keys {sorted(map(int, reads))}")
    for token in range(len(bars)):
        axes.text(token, -0.04, str(token), ha="center", va="top", size=9, color=palette.muted)
    axes.text(-0.6, -0.04, "token", ha="right", va="top", size=9, color=palette.muted)
    axes.text(-0.6, 0.4, "indexer's sum", ha="right", va="center", size=9)
    if not seen.all():
        future = np.flatnonzero(~seen)
        axes.text(future.mean(), 1.16, "future", ha="center", va="bottom", size=9, color=palette.muted)
    axes.set(xlim=(-3.4, len(bars) - 0.4), ylim=(-0.5 - 0.3 * (len(chosen) - 1), 1.3))
    axes.set_axis_off()
    figure.set_label(
        f"An indexer's sums for {len(bars)} tokens, {int((~seen).sum())} of them in the query's future, and the keys "
        f"that attention reads. {'; '.join(descriptions)}."
    )
    return figure
