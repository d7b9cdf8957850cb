"""Roofs: the most operations a second against operations for each byte, and computations under them."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette

Roof = tuple[float, float]
"""Peak in FLOP/s, bandwidth in bytes/s."""


def roofline(
    roofs: Mapping[str, Roof],
    marks: Sequence[tuple[str, float]] = (),
    *,
    span: tuple[float, float] = (0.02, 2000.0),
    palette: Palette,
) -> Figure:
    """Draw roofs, each with its bend, and computations as points on the first of them.

    Args:
        roofs: Peak (FLOP/s) and bandwidth (bytes/s) by name; up to four.
        marks: Name and intensity (FLOP/B) of computations; they lie on the first roof, where they would at best.
        span: The first and last intensity that is drawn.
        palette: The colours to draw in.

    Returns:
        One panel with both axes logarithmic; each bend carries its intensity.
    """
    figure = Figure(figsize=(5.6, 3.7))
    axes = figure.subplots()
    said = []
    colors = dict(zip(roofs, palette.series, strict=False))
    for index, (name, (peak, bandwidth)) in enumerate(roofs.items()):
        draw_roof(axes, peak, bandwidth, span, colors[name], name, below=index > 0)
        said.append(f"{name} rises to {rate_words(peak)} and bends at {intensity_words(peak / bandwidth)} FLOP/B")
    first = next(iter(roofs.values()))
    for place, (name, intensity) in enumerate(sorted(marks, key=lambda mark: mark[1])):
        rate = min(first[0], first[1] * intensity)
        axes.plot(intensity, rate, "o", color=palette.ink, markersize=6, zorder=4)
        left = place % 2 == 1 or intensity > span[1] / 10
        high = place % 2 == 1 and rate < first[0]
        axes.annotate(
            f"{name}\n{rate_words(rate)}",
            (intensity, rate),
            xytext=(-6 if left else 7, 3 if high else -4),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom" if high else "top",
            size=8.5,
            linespacing=1.25,
        )
        said.append(f"{name}, at {intensity_words(intensity)} FLOP/B, reaches at most {rate_words(rate)}")
    figure.set_label(
        "Attainable operations a second against operations for each byte, both axes logarithmic. A roof rises and then "
        f"lies flat. {'; '.join(said)}."
    )
    finish(axes, roofs.values(), span)
    return figure


def measured_roof(
    roofs: Mapping[str, Roof],
    points: Mapping[str, Sequence[tuple[float, float]]],
    *,
    span: tuple[float, float] = (0.04, 400.0),
    palette: Palette,
) -> Figure:
    """Draw a machine's measured roofs and the measured points under them.

    Args:
        roofs: Peak (FLOP/s) and bandwidth (bytes/s) by kind of number; up to four.
        points: For each of the kinds the intensities and measured rates of what was tried.
        span: The first and last intensity that is drawn.
        palette: The colours to draw in.

    Returns:
        One panel with both axes logarithmic, a colour and a marker for each kind.

    Raises:
        ValueError: If points name a kind that has no roof: "points of NAME, but there are roofs of ...".
    """
    for name in points:
        if name not in roofs:
            raise ValueError(f"points of {name}, but there are roofs of {', '.join(roofs)}")
    figure = Figure(figsize=(5.6, 3.7))
    axes = figure.subplots()
    colors = dict(zip(roofs, palette.series, strict=False))
    said = []
    for index, (name, (peak, bandwidth)) in enumerate(roofs.items()):
        draw_roof(axes, peak, bandwidth, span, colors[name], name, below=False)
        near = np.array([rate / min(peak, bandwidth * at) for at, rate in points.get(name, ())])
        for at, rate in points.get(name, ()):
            axes.plot(at, rate, "os^D"[index], color=colors[name], markersize=5.5, zorder=4, alpha=0.85)
        if near.size:
            said.append(
                f"{near.size} points of {name}, half of which reach at least {100 * np.median(near):.0f} % of the "
                f"roof, the lowest {100 * near.min():.0f} %"
            )
    figure.set_label(
        "Measured operations a second against operations for each byte, both axes logarithmic, under the measured "
        f"roofs. {'; '.join(said)}."
    )
    finish(axes, roofs.values(), span)
    return figure


def draw_roof(
    axes: Axes, peak: float, bandwidth: float, span: tuple[float, float], color: str, name: str, *, below: bool
) -> None:
    """Draw one roof, its bend, and its name above or below the flat part."""
    bend = peak / bandwidth
    axes.loglog([span[0], bend, span[1]], [span[0] * bandwidth, peak, peak], color=color, zorder=2)
    axes.plot([bend, bend], [1, peak], color=color, linewidth=1, linestyle=":", zorder=1)
    # The first name stands at the end, above its line; the next ones begin at their bend, below.
    axes.annotate(
        f"{name}: bends at {intensity_words(bend)}",
        (1.25 * bend, peak) if below else (span[1], peak),
        xytext=(0, -4 if below else 3),
        textcoords="offset points",
        ha="left" if below else "right",
        va="top" if below else "bottom",
        color=color,
        size=8.5,
    )


def finish(axes: Axes, roofs: Iterable[Roof], span: tuple[float, float]) -> None:
    """Name the axes, make room above the highest roof, and take powers of ten for ticks."""
    peaks, bandwidths = zip(*roofs, strict=True)
    axes.set_xlim(*span)
    axes.set_ylim(0.9 * span[0] * min(bandwidths), 2.6 * max(peaks))
    axes.set(xlabel="operations for each byte (FLOP/B)", ylabel="operations a second")
    low, high = (np.log10(edge) for edge in axes.get_ylim())
    powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
    axes.set_yticks([10.0**p for p in powers], [rate_words(10.0**p) for p in powers], size=8.5)
    low, high = (np.log10(edge) for edge in span)
    powers = range(int(np.ceil(low)), int(np.floor(high)) + 1)
    axes.set_xticks([10.0**p for p in powers], [f"{10.0**p:g}" for p in powers], size=8.5)
    axes.minorticks_off()
    axes.grid(alpha=0.6)
    axes.set_axisbelow(True)


def intensity_words(intensity: float) -> str:
    """Write an intensity with three digits, and all of those before the point.

    >>> intensity_words(1 / 12), intensity_words(9.56), intensity_words(4096 / 3)
    ('0.0833', '9.56', '1,365')
    """
    return f"{intensity:,.0f}" if intensity >= 1000 else f"{intensity:.3g}"


def rate_words(flops_per_s: float) -> str:
    """Write a rate with a prefix: "312 TFLOP/s".

    >>> rate_words(312e12), rate_words(1.7e11)
    ('312 TFLOP/s', '170 GFLOP/s')
    """
    for power, prefix in ((15, "P"), (12, "T"), (9, "G"), (6, "M")):
        if flops_per_s >= 0.9995 * 10**power:
            return f"{flops_per_s / 10**power:.3g} {prefix}FLOP/s"
    return f"{flops_per_s:.3g} FLOP/s"
