"""What a batch gains: points that travel under the roof as it grows, and the clock's answer."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from softlookup.figures.roofs import draw_roof, finish, rate_words
from softlookup.figures.theme import Palette

Travel = Sequence[tuple[int, float]]
"""Batch and intensity (FLOP/B), the batch increasing."""
MARKERS = "os^Dv"


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

    Returns:
        A panel for each, one below the other; where a step travels, its first and last batch stand beside it.
    """
    figure = Figure(figsize=(5.4, 3.0 * len(panels)))
    panel_texts = []
    for axes, (title, travels) in zip(_columns(figure, len(panels)), panels.items(), strict=True):
        draw_roof(axes, *roof, span, palette.muted, "roof")
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
        looks = dict(zip(travels, zip(palette.series, MARKERS, strict=False), strict=False))
        _legend(axes, looks, (0.04, 0.93))
        finish(axes, [roof], span)
        axes.set_title(title)
        panel_texts.append(f"{title}: {'; '.join(described)}")
    figure.set_label(
        "Attainable operations per second against operations per byte, both axes logarithmic; points travel along "
        f"the roof as the batch grows. {'. '.join(panel_texts)}."
    )
    return figure


def predicted_and_measured(
    panels: Mapping[str, Mapping[str, Sequence[tuple[int, float, float]]]], *, palette: Palette
) -> Figure:
    """Draw operations per second over the batch: predicted dashed with hollow marks, measured solid with filled marks.

    Args:
        panels: For each panel series by name, each of (batch, predicted FLOP/s, measured FLOP/s); up to five names in
            all. A name has the same colour and mark in every panel.

    Returns:
        A panel for each, one below the other, both axes logarithmic.
    """
    figure = Figure(figsize=(5.4, 0.3 + 2.9 * len(panels)))
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    colors = (*palette.series, palette.ink)
    looks = dict(zip(names, zip(colors, MARKERS, strict=True), strict=False))
    panel_texts = []
    for axes, (title, series) in zip(_columns(figure, len(panels)), panels.items(), strict=True):
        described = []
        for name, points in series.items():
            color, marker = looks[name]
            batches = [batch for batch, _, _ in points]
            predicted, measured = [rate for _, rate, _ in points], [rate for _, _, rate in points]
            hollow = {"markerfacecolor": "none", "markersize": 6}
            axes.loglog(batches, predicted, "--", marker=marker, color=color, linewidth=1.2, **hollow)
            axes.loglog(batches, measured, "-", marker=marker, color=color, linewidth=1.6, markersize=6)
            described.append(
                f"{name} from {rate_words(points[0][2])} at B = {points[0][0]} to {rate_words(points[-1][2])} at "
                f"B = {points[-1][0]} (predicted {rate_words(points[0][1])} and {rate_words(points[-1][1])})"
            )
        _legend(axes, {name: looks[name] for name in series}, (0.56, 0.30))
        axes.set(xlabel="sequences in a batch $B$", ylabel="operations per second", title=title)
        rates = [rate for points in series.values() for _, *both in points for rate in both]
        low, high = 10.0 ** np.floor(np.log10(min(rates)) - 0.6), 10.0 ** np.ceil(np.log10(max(rates)))
        axes.set_ylim(low, high)
        powers = 10.0 ** np.arange(round(np.log10(low)), round(np.log10(high)) + 1)
        axes.set_yticks(powers, [rate_words(power) for power in powers], size=8.5)
        axes.minorticks_off()
        every = sorted({batch for points in series.values() for batch, _, _ in points})
        axes.set_xticks(every, [str(batch) for batch in every], size=8.5)
        axes.grid(axis="y")
        panel_texts.append(f"{title}: {'; '.join(described)}")
    figure.set_label(
        "Operations per second against the batch, both axes logarithmic, predicted dashed and measured solid. "
        f"{'. '.join(panel_texts)}."
    )
    both = [
        Line2D([], [], color=palette.muted, marker="o", linestyle="--", linewidth=1.2, markerfacecolor="none"),
        Line2D([], [], color=palette.muted, marker="o", linestyle="-", linewidth=1.6),
    ]
    figure.legend(both, ["predicted", "measured"], loc="outside upper center", ncols=2, fontsize=8.5, handlelength=3)
    return figure


def _columns(figure: Figure, count: int) -> list[Axes]:
    return list(figure.subplots(count, 1, squeeze=False)[:, 0])


def _legend(axes: Axes, looks: Mapping[str, tuple[str, str]], first: tuple[float, float]) -> None:
    """Name the series in their colours and with their marks, from a place of the panel downwards."""
    for row, (name, (color, marker)) in enumerate(looks.items()):
        height = first[1] - 0.085 * row
        axes.plot(first[0], height, marker, color=color, markersize=5.5, transform=axes.transAxes)
        axes.text(first[0] + 0.03, height, name, color=color, va="center", size=8.5, transform=axes.transAxes)
