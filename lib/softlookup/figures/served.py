"""A server at work: who has which place when, and what its users wait for under load."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette

Stay = tuple[float, float]


def served_places(ways: Mapping[str, Sequence[Stay]], places: int, *, palette: Palette) -> Figure:
    """Draw when requests have a place in the batch, a panel for each way of sharing the places.

    Args:
        ways: For each title the stays of all requests, (from, to) in steps, in the order in which they begin.
        places: How many requests run at once.
        palette: The colours to draw in.

    Returns:
        Panels above each other on one scale: a row for each place, a numbered bar for each request.

    Raises:
        ValueError: If more requests run at once than there are places.
    """
    figure = Figure(figsize=(6.4, (0.36 * places + 0.75) * len(ways)))
    panels = figure.subplots(len(ways), 1, sharex=True, squeeze=False)[:, 0]
    descriptions = []
    for axes, (title, stays) in zip(panels, ways.items(), strict=True):
        free = [0.0] * places
        for number, (begins, ends) in enumerate(stays):
            row = next((i for i, until in enumerate(free) if until <= begins), None)
            if row is None:
                raise ValueError(f"request {number + 1} begins at {begins}, when all {places} places are taken")
            free[row] = ends
            color = palette.series[number % 4]
            axes.barh(row, ends - begins, left=begins, height=0.78, color=color, alpha=0.35, edgecolor=color)
            axes.text((begins + ends) / 2, row, str(number + 1), ha="center", va="center", size=9, color=palette.ink)
        axes.set_yticks(range(places), [f"place {i + 1}" for i in range(places)])
        axes.set_ylim(places - 0.45, -0.55)
        axes.set_title(f"{title}: complete after {max(ends for _, ends in stays):g} steps", loc="left")
        descriptions.append(f"{title}: " + ", ".join(f"{i + 1} from {b:g} to {e:g}" for i, (b, e) in enumerate(stays)))
    panels[-1].set_xlabel("step")
    figure.set_label(f"Requests in {places} places over time. {'; '.join(descriptions)}.")
    return figure


def latency_curves(
    loads: Sequence[float],
    predicted: Mapping[str, Mapping[str, Sequence[float]]],
    measured: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    palette: Palette,
) -> Figure:
    """Draw latencies against load: lines for what was predicted, points for what was measured.

    Args:
        loads: Requests a second as shares of what the server can finish.
        predicted: For each title of a panel and each name of a percentile its values in milliseconds.
        measured: The same for what was measured.
        palette: The colours to draw in.

    Returns:
        One panel for each title, with milliseconds on a logarithmic axis.
    """
    figure = Figure(figsize=(6.6, 3.2))
    panels = figure.subplots(1, len(predicted), squeeze=False)[0]
    descriptions = []
    for axes, (title, lines) in zip(panels, predicted.items(), strict=True):
        axes.axvspan(1.0, 1.08 * max(loads), color=palette.faint, alpha=0.5, lw=0)
        for (name, line), color in zip(lines.items(), palette.series, strict=False):
            axes.plot(loads, line, color=color)
            axes.plot(loads, measured[title][name], "o", color=color)
            axes.text(loads[0], 1.12 * max(line[0], measured[title][name][0]), name, color=color, size=9, va="bottom")
            numbers = ", ".join(f"{m:.3g} ({p:.3g})" for m, p in zip(measured[title][name], line, strict=True))
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
