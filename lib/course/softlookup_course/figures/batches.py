"""What a larger batch gains: points that travel under the roof, predicted and measured rates."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import several_panels, write_beside
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
    roof: tuple[float, float], panels: Mapping[str, Mapping[str, Travel]], *, palette: Palette
) -> Figure:
    """Draw how up to four steps travel under a roof (FLOP/s, bytes/s) as the batch grows, a panel for each title."""
    span = 0.3, 4000.0  # the first and last intensity that is drawn
    figure = Figure(figsize=(5.4, 3.0 * len(panels)))
    panel_texts = []
    for axes, (title, travels) in zip(_columns(figure, len(panels)), panels.items(), strict=True):
        draw_roof(axes, *roof, span, palette.muted, "roof")
        descriptions = []
        for index, (name, travel) in enumerate(travels.items()):
            color, marker = palette.series[index], MARKERS[index]
            rates = [min(roof[0], roof[1] * at) for _, at in travel]
            axes.plot([at for _, at in travel], rates, marker, color=color, markersize=5.5, zorder=4)
            travels_far = travel[-1][1] > 1.2 * travel[0][1]
            at, (away, across) = _beside(index, len(travel), travels_far)
            spot, style = (travel[at][1], rates[at]), {"va": "baseline", "color": color}
            write_beside(axes, name, spot, away, ha=across, size=8.5, **style)
            if travels_far:  # say where it begins and ends
                away = (0, -14) if index % 2 == 0 else (-6, 5)
                for (batch, intensity), rate in ((travel[0], rates[0]), (travel[-1], rates[-1])):
                    write_beside(axes, f"{batch}", (intensity, rate), away, ha="center", size=8, **style)
            first, last = travel[0], travel[-1]
            descriptions.append(
                f"{name} goes from {first[1]:.3g} (B = {first[0]}) to {last[1]:.3g} FLOP/B (B = {last[0]})"
            )
        finish(axes, [roof], span)
        axes.set_title(title)
        panel_texts.append(f"{title}: {'; '.join(descriptions)}")
    figure.set_label(
        "Attainable operations per second against operations per byte, both axes logarithmic; points travel along "
        f"the roof as the batch grows. {'. '.join(panel_texts)}."
    )
    return figure


def predicted_and_measured(
    panels: Mapping[str, Mapping[str, Sequence[tuple[int, float, float]]]], *, palette: Palette
) -> Figure:
    """Draw FLOP/s over the batch in panels: up to five series of (batch, predicted, measured), by name."""
    figure = Figure(figsize=(5.4, 3.0 * len(panels)))
    names = list(dict.fromkeys(name for series in panels.values() for name in series))
    colors = (*palette.series, palette.ink)
    looks = dict(zip(names, zip(colors, MARKERS, strict=True), strict=False))
    panel_texts: list[str] = []
    for axes, (title, series) in zip(_columns(figure, len(panels)), panels.items(), strict=True):
        descriptions = []
        for name, points in series.items():
            color, marker = looks[name]
            batches = [batch for batch, _, _ in points]
            predicted, measured = [rate for _, rate, _ in points], [rate for _, _, rate in points]
            hollow = {"markerfacecolor": "none", "markersize": 6}
            axes.loglog(batches, predicted, "--", marker=marker, color=color, linewidth=1.2, **hollow)
            axes.loglog(batches, measured, "-", marker=marker, color=color, linewidth=1.6, markersize=6)
            descriptions.append(
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
        panel_texts.append(f"{title}: {'; '.join(descriptions)}")
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
            words = [(label, (batch, rate), colors[name]) for label, rate in rates]
            if all(abs(side[3]) < FAR for side in sides(names + words)[-2:]):
                names += words
                break
    write_names(axes, names, sides(names), size=8.5)


def _columns(figure: Figure, count: int) -> list[Axes]:
    return list(figure.subplots(count, 1, squeeze=False)[:, 0])


Rates = Sequence[tuple[int, float]]
"""Batch and operations per second, the batch increasing."""
_CROWDED = 6.0
"""A line with another so few times as high above it has its name below its end."""


def batch_machines(panels: Mapping[str, Mapping[str, tuple[Rates, Rates]]], *, palette: Palette) -> Figure:
    """Draw FLOP/s over the batch for up to four machines in each panel: (predicted, measured or empty)."""
    figure, columns = several_panels(6.8, 3.5, 1, len(panels), sharex=True, sharey=True)
    texts = []
    for axes, (title, machines) in zip(columns, panels.items(), strict=True):
        descriptions = []
        for (name, (predicted, measured)), color, marker in zip(machines.items(), palette.series, "os^D", strict=False):
            axes.loglog(*zip(*predicted, strict=True), "--", color=color, linewidth=1.5)
            summary = f"{name} predicted {rate_words(predicted[0][1])} to {rate_words(predicted[-1][1])}"
            if measured:
                axes.loglog(*zip(*measured, strict=True), marker, color=color, markersize=5.5)
                summary += f", measured {rate_words(measured[0][1])} to {rate_words(measured[-1][1])}"
            descriptions.append(summary)
        axes.set(title=title, xlabel="sequences in a batch $B$")
        texts.append(f"{title}: {'; '.join(descriptions)}")
    every = [points for machines in panels.values() for pair in machines.values() for points in pair]
    rates = [rate for points in every for _, rate in points]
    span = 10.0 ** np.floor(np.log10(min(rates))), 10.0 ** np.ceil(np.log10(max(rates)))
    lines = {name: predicted for name, (predicted, _) in list(panels.values())[-1].items()}
    for (name, predicted), color in zip(lines.items(), palette.series, strict=False):
        crowded = any(1 < other[0][1] / predicted[0][1] < _CROWDED for other in lines.values())
        end, away, side = (predicted[-1], -5, "right") if crowded else (predicted[0], 5, "left")
        write_beside(columns[-1], name, end, (0, away), ha=side, color=color, size=8.5)
    powers = 10.0 ** np.arange(round(np.log10(span[0])), round(np.log10(span[1])) + 1)
    batches = sorted({batch for points in every for batch, _ in points})
    for axes in columns:
        axes.set_ylim(*span)
        axes.set_yticks(powers, [rate_words(power) for power in powers], size=8.5)
        axes.set_xticks(batches[::2], [str(batch) for batch in batches[::2]], size=8.5)
        axes.minorticks_off()
        axes.tick_params(labelleft=True)  # on a phone each panel stands alone
        axes.grid(axis="y")
    columns[0].set_ylabel("operations per second")
    figure.set_label(
        "Operations per second against the batch on several machines, both axes logarithmic; lines are predicted, "
        f"marks measured. {'. '.join(texts)}."
    )
    return figure
