"""The time for each token, when many go through the weights together and when few do."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def reading_times(series: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, palette: Palette) -> Figure:
    """Draw milliseconds for each token against how many go through the model in one pass, by name.

    Both axes are logarithmic.
    """
    figure = Figure(figsize=(4.3, 3.2))
    axes = figure.subplots()
    described, most = [], 1
    for (name, (counts, times_ms)), color, marker in zip(series.items(), palette.series, "osD^", strict=False):
        x, y = np.asarray(counts, dtype=float), np.asarray(times_ms, dtype=float)
        axes.plot(x, y, marker + "-", color=color, markersize=5)
        write_beside(axes, f"{name}: {y[-1]:.2g} ms", (x[-1], y[-1]), (2, -10), ha="right", size=9, color=color)
        described.append(f"{name}: {y[0]:.2g} ms with {x[0]:.0f} token in a pass, {y[-1]:.2g} ms with {x[-1]:.0f}")
        most = max(most, int(x[-1]))
    axes.set(xscale="log", yscale="log", xlabel="tokens in one pass", ylabel="ms per token", xlim=(0.8, 1.3 * most))
    ticks = [n for n in (1, 4, 16, 64, 256, 1024) if n <= most]
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    axes.set_ylim(low / 2, high)
    axes.grid(axis="y")
    figure.set_label(f"Time for each token against the number of tokens in one pass. {'; '.join(described)}.")
    return figure
