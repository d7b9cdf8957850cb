"""What a batch gains: points that travel under the roof as it grows, and the clock's answer."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.predictions import FAR, Name, place_names, write_names
from softlookup_course.figures.roofs import draw_roof, finish, rate_words
from softlookup_course.figures.theme import Palette

Travel = Sequence[tuple[int, float]]
"""Batch and intensity (FLOP/B), the batch increasing."""
MARKERS = "os^Dv"
KINDS = "predicted", "measured"
PANEL = 310.0, 150.0
"""Width and height of a panel without its axes, in points, as near as names need it."""


def batches_under_roof(
    roof: tuple[float, float],
    panels: Mapping[str, Mapping[str, Travel]],
    *,
    span: tuple[float, float] = (0.3, 4000.0),
    palette: Palette,
) -> Figure:
    """Draw how the points of several steps travel under a roof as the batch grows.

    ``roof`` is peak in FLOP/s and bandwidth in bytes/s; each of the panels, one below the other, has the travels of up
    to four steps, by name; ``span`` is the first and last intensity that is drawn. Each step is named beside its
    points, and where it travels, its first and last batch stand there too.
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
            travels_far = travel[-1][1] > 1.2 * travel[0][1]
            at, (away, across) = _beside(index, len(travel), travels_far)
            spot, look = (travel[at][1], rates[at]), {"va": "baseline", "color": color}
            write_beside(axes, name, spot, away, ha=across, size=8.5, **look)
            if travels_far:  # say where it begins and ends
                away = (0, -14) if index % 2 == 0 else (-6, 5)
                for (batch, intensity), rate in ((travel[0], rates[0]), (travel[-1], rates[-1])):
                    write_beside(axes, f"{batch}", (intensity, rate), away, ha="center", size=8, **look)
            first, last = travel[0], travel[-1]
            described.append(
                f"{name} goes from {first[1]:.3g} (B = {first[0]}) to {last[1]:.3g} FLOP/B (B = {last[0]})"
            )
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

    Each of the panels, one below the other, has series by name, of (batch, predicted FLOP/s, measured FLOP/s); up to
    five names in all. A name has the same colour and mark in every panel. Both axes are logarithmic. Each series is
    named at its first measured mark, and the two kinds of lines in the first panel, where they are farthest apart.
    """
    figure = Figure(figsize=(5.4, 3.0 * len(panels)))
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    colors = (*palette.series, palette.ink)
    looks = dict(zip(names, zip(colors, MARKERS, strict=True), strict=False))
    panel_texts: list[str] = []
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
        axes.set(xlabel="sequences in a batch $B$", ylabel="operations per second", title=title)
        rates = [rate for points in series.values() for _, *both in points for rate in both]
        low, high = 10.0 ** np.floor(np.log10(min(rates)) - 0.6), 10.0 ** np.ceil(np.log10(max(rates)))
        axes.set_ylim(low, 3 * high)  # room for names
        powers = 10.0 ** np.arange(round(np.log10(low)), round(np.log10(high)) + 1)
        axes.set_yticks(powers, [rate_words(power) for power in powers], size=8.5)
        axes.minorticks_off()
        every = sorted({batch for points in series.values() for batch, _, _ in points})
        axes.set_xticks(every, [str(batch) for batch in every], size=8.5)
        axes.set_xlim(every[0] / 1.3, every[-1] * 1.3)
        axes.grid(axis="y")
        _name_lines(axes, series, {name: color for name, (color, _) in looks.items()}, not panel_texts)
        panel_texts.append(f"{title}: {'; '.join(described)}")
    figure.set_label(
        "Operations per second against the batch, both axes logarithmic, predicted dashed and measured solid. "
        f"{'. '.join(panel_texts)}."
    )
    return figure


def _beside(index: int, count: int, travels_far: bool) -> tuple[int, tuple[tuple[float, float], str]]:
    """The point of a step that carries its name, and where from there: below the roof every other time, else above."""
    if travels_far:
        return (count - 1, ((7, -26), "right")) if index % 2 == 0 else (count // 2, ((-7, 6), "right"))
    return 0, ((-7, 6), "right") if index % 2 == 0 else ((9, -9), "left")


def _name_lines(
    axes: Axes, series: Mapping[str, Sequence[tuple[int, float, float]]], colors: Mapping[str, str], kinds: bool
) -> None:
    """Write the series' names, and of one what is predicted and measured, where they cover no mark and no line."""
    low, high = np.log([(axes.get_xlim()[i], axes.get_ylim()[i]) for i in (0, 1)])

    def spot(batch: float, rate: float) -> tuple[float, float]:
        x, y = (np.log((batch, rate)) - low) / (high - low) * PANEL
        return float(x), float(y)

    lines = [[spot(point[0], point[which]) for point in points] for points in series.values() for which in (1, 2)]
    covered = [
        (float(x), float(y))
        for line in lines
        for (x0, y0), (x1, y1) in zip(line, line[1:] or line, strict=False)
        for x, y in zip(np.linspace(x0, x1, 20), np.linspace(y0, y1, 20), strict=True)
    ]
    names = [(name, (points[0][0], points[0][2]), colors[name]) for name, points in series.items()]

    def sides(names: Sequence[Name]) -> list[tuple[str, str, float, float]]:
        return place_names([name for name, *_ in names], [spot(*at) for _, at, _ in names], covered, PANEL[0])

    if kinds:
        apart = [(abs(np.log(point[1] / point[2])), name, point) for name, points in series.items() for point in points]
        for _, name, (batch, predicted, measured) in sorted(apart, reverse=True):
            rates = zip(KINDS, (predicted, measured), strict=True)
            words = [(word, (batch, rate), colors[name]) for word, rate in rates]
            if all(abs(side[3]) < FAR for side in sides(names + words)[-2:]):
                names += words
                break
    write_names(axes, names, sides(names), size=8.5)


def _columns(figure: Figure, count: int) -> list[Axes]:
    return list(figure.subplots(count, 1, squeeze=False)[:, 0])
