"""How many tokens a second a decoding step writes at most, as its batch grows."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.ends import kept_apart
from softlookup_course.figures.theme import Palette


def batch_limits(
    batches: Sequence[int], rates: Mapping[str, tuple[Sequence[float], float]], *, palette: Palette
) -> Figure:
    """Draw tokens a second against the batch, for caches of several lengths, each with the limit that it tends to.

    ``batches`` are requests in a step, increasing; ``rates`` has for each of up to four lengths, by name, the tokens a
    second at each batch, and their limit. Axes are logarithmic; each line has its name at the end, its limit is dotted.
    """
    figure = Figure(figsize=(6.4, 3.4))
    axes = figure.subplots()
    descriptions = []
    heights = dict(zip(rates, kept_apart([float(np.log10(line[-1])) for line, _ in rates.values()], 0.18), strict=True))
    for (name, (line, limit)), color in zip(rates.items(), palette.series, strict=False):
        axes.loglog(batches, line, color=color)
        axes.axhline(limit, color=color, linestyle=":", linewidth=1.3, zorder=1)
        axes.text(1.12 * batches[-1], 10.0 ** heights[name], name, color=color, va="center", size=9)
        descriptions.append(f"{name}: {line[0]:,.0f} to {line[-1]:,.0f}, limit {limit:,.0f}")
    axes.set(xlabel="requests in a step", ylabel="tokens a second, at most", xlim=(batches[0], batches[-1]))
    powers = 10.0 ** np.arange(2, 6)
    axes.set_yticks(powers, [f"{power:,.0f}" for power in powers])
    ticks = [batch for batch in batches if batch.bit_count() == 1 and batch.bit_length() % 2 == 1]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    figure.set_label(
        f"Tokens a second against the batch, {batches[0]} to {batches[-1]:,} requests, both logarithmic. "
        f"{'; '.join(descriptions)}."
    )
    return figure
