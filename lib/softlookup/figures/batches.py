"""What a batch gains: points that travel under the roof as it grows, and the clock's answer."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup.figures.roofs import draw_roof, finish, rate_words
from softlookup.figures.theme import Palette

Travel = Sequence[tuple[int, float]]
"""Batch and intensity (FLOP/B), the batch increasing."""
MARKERS = "os^D"


def batches_under_roof(
    roof: tuple[float, float],
    panels: Mapping[str, Mapping[str, Travel]],
    *,
    span: tuple[float, float] = (0.3, 4000.0),
    palette: Palette,
) -> Figure:
    """Draw how the points of several steps travel under a roof as the batch grows.

    Args:
        roof: Peak in FLOP/s and bandwidth in bytes/s.
        panels: For each panel the travels of up to four steps, by name.
        span: The first and last intensity that is drawn.
        palette: The colours to draw in.

    Returns:
        A panel for each, one below the other; where a step travels, its first and last batch stand beside it.
    """
    figure = Figure(figsize=(5.4, 3.0 * len(panels)))
    said = []
    for axes, (title, travels) in zip(_columns(figure, len(panels)), panels.items(), strict=True):
        draw_roof(axes, *roof, span, palette.muted, "roof", below=False)
        described = []
        for index, (name, travel) in enumerate(travels.items()):
            color, marker = palette.series[index], MARKERS[index]
            rates = [min(roof[0], roof[1] * at) for _, at in travel]
            axes.plot([at for _, at in travel], rates, marker, color=color, markersize=5.5, zorder=4)
            if travel[-1][1] > 1.2 * travel[0][1]:  # it travels: say where it begins and ends
                for batch, at, rate in (
                    (travel[0][0], travel[0][1], rates[0]),
                    (travel[-1][0], travel[-1][1], rates[-1]),
                ):
                    axes.annotate(
                        f"{batch}",
                        (at, rate),
                        xytext=(0, -14) if index % 2 == 0 else (-6, 5),
                        textcoords="offset points",
                        ha="center",
                        color=color,
                        size=8,
                    )
            first, last = travel[0], travel[-1]
            described.append(
                f"{name} goes from {first[1]:.3g} (B = {first[0]}) to {last[1]:.3g} FLOP/B (B = {last[0]})"
            )
        _legend(axes, travels, palette)
        finish(axes, [roof], span)
        axes.set_title(title)
        said.append(f"{title}: {'; '.join(described)}")
    figure.set_label(
        "Attainable operations a second against operations for each byte, both axes logarithmic; points travel along "
        f"the roof as the batch grows. {'. '.join(said)}."
    )
    return figure


def predicted_and_measured(
    panels: Mapping[str, Mapping[str, Sequence[tuple[int, float, float]]]], *, palette: Palette
) -> Figure:
    """Draw operations a second over the batch: lines as predicted, marks as measured.

    Args:
        panels: For each panel up to four series by name, each of (batch, predicted FLOP/s, measured FLOP/s).
        palette: The colours to draw in.

    Returns:
        A panel for each, one below the other, both axes logarithmic.
    """
    figure = Figure(figsize=(5.4, 2.9 * len(panels)))
    said = []
    for axes, (title, series) in zip(_columns(figure, len(panels)), panels.items(), strict=True):
        described = []
        for (name, points), color, marker in zip(series.items(), palette.series, MARKERS, strict=False):
            batches = [batch for batch, _, _ in points]
            axes.loglog(batches, [rate for _, rate, _ in points], color=color, linewidth=1.3)
            axes.loglog(batches, [rate for _, _, rate in points], marker, color=color, markersize=6)
            described.append(
                f"{name} from {rate_words(points[0][2])} at B = {points[0][0]} to {rate_words(points[-1][2])} at "
                f"B = {points[-1][0]} (predicted {rate_words(points[0][1])} and {rate_words(points[-1][1])})"
            )
        _legend(axes, series, palette)
        axes.set(xlabel="sequences in a batch $B$", ylabel="operations a second", title=title)
        rates = [rate for points in series.values() for _, *both in points for rate in both]
        low, high = 10.0 ** np.floor(np.log10(min(rates)) - 0.6), 10.0 ** np.ceil(np.log10(max(rates)))
        axes.set_ylim(low, high)
        powers = 10.0 ** np.arange(round(np.log10(low)), round(np.log10(high)) + 1)
        axes.set_yticks(powers, [rate_words(one) for one in powers], size=8.5)
        axes.minorticks_off()
        every = sorted({batch for points in series.values() for batch, _, _ in points})
        axes.set_xticks(every, [str(one) for one in every], size=8.5)
        axes.grid(axis="y")
        said.append(f"{title}: {'; '.join(described)}")
    figure.set_label(
        "Operations a second against the batch, both axes logarithmic, lines predicted and marks measured. "
        f"{'. '.join(said)}."
    )
    return figure


def _columns(figure: Figure, count: int) -> list[Axes]:
    return list(figure.subplots(count, 1, squeeze=False)[:, 0])


def _legend(axes: Axes, names: Mapping[str, object], palette: Palette) -> None:
    """Name the series in their colours and with their marks, beside the panel."""
    for row, (name, color, marker) in enumerate(zip(names, palette.series, MARKERS, strict=False)):
        height = 0.30 - 0.085 * row
        axes.plot(0.56, height, marker, color=color, markersize=5.5, transform=axes.transAxes)
        axes.text(0.59, height, name, color=color, va="center", size=8.5, transform=axes.transAxes)
