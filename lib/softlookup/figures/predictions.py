"""Predicted beside measured: how many times the predicted time each computation took, and streams by their size."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette

Row = tuple[str, float, float, float]
"""Name; measured over predicted time: median, lower and upper quartile."""


def prediction_errors(groups: Mapping[str, Sequence[Row]], within: float = 0.15, *, palette: Palette) -> Figure:
    """Draw measured over predicted times, one line for each computation.

    Args:
        groups: Rows by kind of computation; up to four kinds.
        within: How far from 1 the shaded band goes.
        palette: The colours to draw in.

    Returns:
        One panel with a logarithmic axis; points are medians, bars go from quartile to quartile.
    """
    n_rows = sum(len(rows) for rows in groups.values()) + len(groups)
    figure = Figure(figsize=(5.6, 0.19 * n_rows + 0.8))
    axes = figure.subplots()
    y, names, places, said = 0.0, [], [], []
    most = 1.0
    for color, (kind, rows) in zip(palette.series, groups.items(), strict=False):
        axes.text(0.62, y, kind, color=color, weight="bold", size=9, va="center")
        y += 1
        for name, middle, low, high in rows:
            axes.plot([low, high], [y, y], color=color, linewidth=2.4, alpha=0.55, solid_capstyle="round")
            axes.plot(middle, y, "o", color=color, markersize=4.5)
            names.append(name)
            places.append(y)
            most = max(most, high)
            y += 1
        errors = np.abs(np.array([middle for _, middle, _, _ in rows]) - 1)
        worst = max(rows, key=lambda row: row[1])
        said.append(
            f"{kind}: {len(rows)} computations, median error {100 * np.median(errors):.1f} %, slowest against its "
            f"prediction {worst[0]} with {worst[1]:.2f} times"
        )
    figure.set_label(f"Measured time over predicted time. {'; '.join(said)}.")
    axes.axvspan(1 - within, 1 + within, color=palette.faint, alpha=0.55, linewidth=0, zorder=0)
    axes.axvline(1, color=palette.ink, linewidth=1, zorder=1)
    axes.set_xscale("log")
    ticks = [tick for tick in (0.7, 1, 1.5, 2, 3, 4, 5) if tick <= most * 1.1]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(0.6, most * 1.08)
    axes.set_yticks(places, names, size=8)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(y - 0.4, -0.8)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("measured / predicted time")
    return figure


def stream_sizes(
    n_bytes: Sequence[float],
    rates: Sequence[float],
    roof: float,
    cache: float | None,
    *,
    palette: Palette,
) -> Figure:
    """Draw how many bytes a second a stream gets, against how much it touches.

    Args:
        n_bytes: Bytes that the stream touches, increasing.
        rates: Bytes a second at each size.
        roof: The bandwidth of the memory, bytes/s.
        cache: Size of the last cache in bytes; None where it is not known.
        palette: The colours to draw in.

    Returns:
        One panel with a logarithmic axis of sizes.
    """
    figure = Figure(figsize=(4.6, 3.0))
    best = int(np.argmax(rates))
    figure.set_label(
        f"Bytes a second of an addition against the bytes that it touches. {rates[0] / 1e9:.0f} GB/s at "
        f"{size_words(n_bytes[0])}, most, {rates[best] / 1e9:.0f} GB/s, at {size_words(n_bytes[best])}, and "
        f"{rates[-1] / 1e9:.0f} GB/s at {size_words(n_bytes[-1])}, where the memory's roof is {roof / 1e9:.0f} GB/s."
    )
    axes = figure.subplots()
    axes.semilogx(n_bytes, np.array(rates) / 1e9, "o-", color=palette.query, markersize=5)
    axes.axhline(roof / 1e9, color=palette.key, linewidth=1.5)
    axes.text(n_bytes[2], 0.97 * roof / 1e9, "roof of the memory", color=palette.key, size=9, va="top")
    if cache:
        axes.axvline(cache, color=palette.muted, linewidth=1, linestyle=":")
        axes.text(cache * 1.1, max(rates) / 1e9, "last\ncache", color=palette.muted, size=9, va="top")
    axes.set_xticks(n_bytes[::2], [size_words(size) for size in n_bytes[::2]], size=8.5)
    axes.minorticks_off()
    axes.set(xlabel="bytes touched", ylabel="GB/s", ylim=(0, 1.08 * max(rates) / 1e9))
    axes.grid(axis="y")
    return figure


def size_words(n_bytes: float) -> str:
    """Write a size with a binary prefix: "48 KiB".

    >>> size_words(49152), size_words(3 << 20)
    ('48 KiB', '3 MiB')
    """
    for power, prefix in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if n_bytes >= 1 << power:
            return f"{n_bytes / (1 << power):.3g} {prefix}"
    return f"{n_bytes:.0f} B"
