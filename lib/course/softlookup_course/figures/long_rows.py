"""Kinds of attention as texts grow: time and memory of one call."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette

SHOWN = {
    "full": "score matrix",
    "tiled": "tiles, in Python",
    "torch": "tiles, in torch",
    "local": "window",
    "linear": "linear",
}
"""What is drawn of a record, and its name on the page."""
WITHOUT_MEMORY = ("torch",)
"""What is drawn in time only: at most lengths it took a page of memory or none, which is too little to compare."""


def long_attention(record: Mapping[str, Any], *, palette: Palette) -> Figure:
    """Draw time and memory of the record of ``softlookup bench long-attention``.

    Both axes of the two panels are logarithmic; each curve is named at its end.
    """
    figure = Figure(figsize=(7.2, 3.5))
    left, right = figure.subplots(1, 2)
    lengths = np.asarray(record["lengths"])
    _panel(left, lengths, record["seconds"], 1e-3, "milliseconds", palette)
    peak_bytes = {way: sizes for way, sizes in record["bytes"].items() if way not in WITHOUT_MEMORY}
    _panel(right, lengths, peak_bytes, 1e6, "megabytes", palette)
    left.set_title("time")
    right.set_title("peak memory")
    last = {way: [seconds for seconds in record["seconds"][way] if seconds is not None] for way in SHOWN}
    description = "; ".join(
        f"{name}: {1e3 * last[way][-1]:,.0f} ms at {lengths[len(last[way]) - 1]:,} tokens"
        for way, name in SHOWN.items()
    )
    figure.set_label(f"Time and memory of attention against the number of tokens, all axes logarithmic. {description}.")
    return figure


def _panel(
    axes: Axes, lengths: np.ndarray, measurements: Mapping[str, Any], unit: float, name: str, palette: Palette
) -> None:
    ends = []
    query, key, value, mixed = palette.series
    styles = {"full": (query, "o-"), "tiled": (key, "s-"), "torch": (key, "v--"), "local": (value, "D-")}
    for way, shown in SHOWN.items():
        if way not in measurements:
            continue
        color, mark = styles.get(way, (mixed, "^-"))
        # A call that held nothing measurable has no place on a logarithmic axis.
        points = [(n, value / unit) for n, value in zip(lengths, measurements[way], strict=True) if value]
        if not points:
            continue
        x, y = zip(*points, strict=True)
        axes.loglog(x, y, mark, color=color, markersize=4)
        ends.append((y[-1], x[-1], shown, color))
    place = 0.0
    low, high = axes.get_ylim()
    gap = (high / low) ** 0.07
    for level, _, shown, color in sorted(ends):
        place = max(level, place * gap)
        axes.text(lengths[-1] * 1.2, place, shown, color=color, va="center", size=9)
    axes.set_xlim(lengths[0] * 0.8, lengths[-1] * 20)
    ticks = lengths[::-1][::2][::-1]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks], size=8)
    axes.minorticks_off()
    axes.set(xlabel="tokens $T$", ylabel=name)
    axes.grid(axis="y")
