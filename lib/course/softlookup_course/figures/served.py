"""What the users of a server wait for under load."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def latency_curves(
    loads: Sequence[float],
    predicted: Mapping[str, Mapping[str, Sequence[float]]],
    measured: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    lines_at: Sequence[float] | None = None,
    palette: Palette,
) -> Figure:
    """Draw latencies against load: lines for what was predicted, points for what was measured.

    ``loads`` are requests a second as shares of what the server can finish. For each title of a panel and each name of
    a percentile there are milliseconds, on a logarithmic axis. ``lines_at`` are the loads of the predicted values, if
    there are more of them than were measured; all of ``loads`` are among them.
    """
    at = list(loads if lines_at is None else lines_at)
    figure = Figure(figsize=(6.6, 3.2))
    panels = figure.subplots(1, len(predicted), squeeze=False)[0]
    descriptions = []
    for axes, (title, lines) in zip(panels, predicted.items(), strict=True):
        axes.axvspan(1.0, 1.08 * max(loads), color=palette.faint, alpha=0.5, lw=0)
        for (name, line), color in zip(lines.items(), palette.series, strict=False):
            axes.plot(at, line, color=color)
            axes.plot(loads, measured[title][name], "o", color=color)
            start = max(line[0], measured[title][name][0])
            axes.text(0.85 * loads[0], start, name, color=color, size=9, ha="right", va="center")
            pairs = zip(measured[title][name], (line[at.index(load)] for load in loads), strict=True)
            numbers = ", ".join(f"{m:.3g} ({p:.3g})" for m, p in pairs)
            descriptions.append(f"{title}, {name}: {numbers}")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
        axes.set_xlim(0, 1.08 * max(loads))
        everything = np.concatenate([*lines.values(), *measured[title].values()])
        axes.set_ylim(everything.min() / 1.6, everything.max() * 2)
        axes.set_title(title)
        axes.set_xlabel("load")
    panels[0].set_ylabel("milliseconds")
    shares = ", ".join(f"{load:g}" for load in loads)
    figure.set_label(
        f"Latencies at the loads {shares}, measured (predicted), in milliseconds. {'; '.join(descriptions)}."
    )
    return figure
