"""Roofs: the most operations per second against operations per byte, and computations under them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_arrow, one_panel, write_beside
from softlookup_course.figures.theme import Palette

Roof = tuple[float, float]
"""Peak in FLOP/s, bandwidth in bytes/s."""


def roofline(
    roofs: Mapping[str, Roof],
    marks: Sequence[tuple[str, float]] = (),
    *,
    span: tuple[float, float] = (0.02, 2000.0),
    palette: Palette,
) -> Figure:
    """Draw up to four roofs (FLOP/s, bytes/s), and computations (name, FLOP/B) as points on the first of them."""
    figure, axes = one_panel(5.6, 3.7)
    descriptions = draw_roofs(axes, roofs, span, palette)
    first = next(iter(roofs.values()))
    shaded = ""
    if len(roofs) == 1:
        shade_regions(axes, *first, span, palette)
        shaded = " Shaded: memory-bound left of the ridge, compute-bound right of it."
    for index, (name, intensity) in enumerate(sorted(marks, key=lambda mark: mark[1])):
        rate = min(first[0], first[1] * intensity)
        axes.plot(intensity, rate, "o", color=palette.ink, markersize=6, zorder=4)
        flat = rate == first[0] and intensity <= span[1] / 3  # its words have room below the roof, on both sides
        to_left = not flat and (index % 2 == 1 or rate == first[0])
        high = index % 2 == 1 and rate < first[0]
        away = 0 if flat else -6 if to_left else 7, -7 if flat else 3 if high else -4
        write_beside(axes, f"{name}\n{rate_words(rate)}", (intensity, rate), away, size=8.5, linespacing=1.25)
        descriptions.append(f"{name}, at {intensity_words(intensity)} FLOP/B, reaches at most {rate_words(rate)}")
    figure.set_label(
        "Attainable operations per second against operations per byte, both axes logarithmic. "
        f"{'; '.join(descriptions)}.{shaded}"
    )
    finish(axes, roofs.values(), span)
    return figure


def measured_roof(
    roofs: Mapping[str, Roof], points: Mapping[str, Sequence[tuple[float, float]]], *, palette: Palette
) -> Figure:
    """Draw up to four measured roofs (FLOP/s, bytes/s), and measured points (FLOP/B, FLOP/s) by name of roof."""
    span = 0.04, 400.0  # the first and last intensity that is drawn
    figure, axes = one_panel(5.6, 3.7)
    draw_roofs(axes, roofs, span, palette)
    descriptions = []
    for index, (name, (peak, bandwidth)) in enumerate(roofs.items()):
        color = palette.series[index]
        near = np.array([rate / min(peak, bandwidth * at) for at, rate in points.get(name, ())])
        for at, rate in points.get(name, ()):
            axes.plot(at, rate, "os^D"[index], color=color, markersize=5.5, zorder=4, alpha=0.85)
        if near.size:
            descriptions.append(
                f"{near.size} points of {name}, half of which reach at least {100 * np.median(near):.0f} % of the "
                f"roof, the lowest {100 * near.min():.0f} %"
            )
    figure.set_label(
        "Measured operations per second against operations per byte, both axes logarithmic, under the measured "
        f"roofs. {'; '.join(descriptions)}."
    )
    finish(axes, roofs.values(), span)
    return figure


def phase_moves(ridge: float, moves: Mapping[str, tuple[float, float]], *, palette: Palette) -> Figure:
    """Draw how far operations move against a machine's ridge, from prefill to decode, in FLOP/B."""
    figure, axes = one_panel(6.2, 1.1 + 0.42 * len(moves))
    edges = [0.5 * min(map(min, moves.values())), 2.5 * max(ridge, *map(max, moves.values()))]
    for name, low, high, color in (
        ("memory-bound", edges[0], ridge, palette.query),
        ("compute-bound", ridge, edges[1], palette.key),
    ):
        axes.axvspan(low, high, color=color, alpha=0.14, linewidth=0, zorder=0)
        axes.text((low * high) ** 0.5, -0.75, name, ha="center", va="center", size=9, weight="bold")
    descriptions = []
    for row, (name, (before, after)) in enumerate(moves.items()):
        if abs(np.log(before / after)) > 0.3:
            draw_arrow(axes, (before, row), (after, row), palette.muted, shrinkA=5, shrinkB=5)
        axes.plot(before, row, "o", color=palette.ink, markersize=7, zorder=3)
        axes.plot(after, row, "o", color=palette.ink, markerfacecolor=palette.paper, markersize=7, zorder=2)
        descriptions.append(f"{name} from {intensity_words(before)} to {intensity_words(after)}")
    axes.axvline(ridge, color=palette.ink, linestyle=":", linewidth=1.2, zorder=1)
    axes.set_xscale("log")
    axes.set(xlim=edges, ylim=(len(moves) - 0.4, -1.2), xlabel="arithmetic intensity (FLOP/B)")
    axes.set_yticks(range(len(moves)), list(moves))
    axes.tick_params(axis="y", length=0)
    axes.minorticks_off()
    figure.set_label(
        f"Operations against the ridge of {intensity_words(ridge)} FLOP/B, from prefill to decode: "
        f"{'; '.join(descriptions)}."
    )
    return figure


def draw_roofs(axes: Axes, roofs: Mapping[str, Roof], span: tuple[float, float], palette: Palette) -> list[str]:
    """Draw roofs in the colours of the series, and say of each where its peak and its ridge lie."""
    widest = max(peak / bandwidth for peak, bandwidth in roofs.values())
    descriptions = []
    for row, ((name, (peak, bandwidth)), color) in enumerate(zip(roofs.items(), palette.series, strict=False)):
        ridge = peak / bandwidth
        # The largest ridge has its words on the right, the others on the left, away from the line of the next.
        draw_roof(axes, peak, bandwidth, span, color, name, ridge_to_left=ridge < widest, row=row)
        descriptions.append(f"{name} rises to {rate_words(peak)}, with its ridge at {intensity_words(ridge)} FLOP/B")
    return descriptions


def draw_roof(
    axes: Axes,
    peak: float,
    bandwidth: float,
    span: tuple[float, float],
    color: str,
    name: str,
    *,
    ridge_to_left: bool = False,
    row: int = 0,
) -> None:
    """Draw one roof with its name above the flat part, and its ridge, named at the foot of a dotted line."""
    ridge = peak / bandwidth
    axes.loglog([span[0], ridge, span[1]], [span[0] * bandwidth, peak, peak], color=color, zorder=2)
    axes.plot([ridge, ridge], [1, peak], color=color, linewidth=1, linestyle=":", zorder=1)
    write_beside(axes, name, (span[1], peak), (-2, 3), color=color, size=8.5)
    foot, style = axes.get_xaxis_transform(), {"va": "bottom", "color": color, "size": 8.5}
    away = (-4 if ridge_to_left else 4, 0)
    write_beside(axes, f"ridge {intensity_words(ridge)}", (ridge, 0.02 + 0.07 * row), away, xycoords=foot, **style)


def shade_regions(axes: Axes, peak: float, bandwidth: float, span: tuple[float, float], palette: Palette) -> None:
    """Shade what lies under a roof on both sides of its ridge, and name both regions."""
    ridge, floor = peak / bandwidth, 0.5 * span[0] * bandwidth
    style: dict[str, Any] = {"xycoords": axes.get_xaxis_transform(), "va": "baseline", "weight": "bold", "size": 9}
    for name, edges, color, away in (
        ("memory-bound", (span[0], ridge), palette.query, -9),
        ("compute-bound", (ridge, span[1]), palette.key, 9),
    ):
        top = [min(peak, bandwidth * edge) for edge in edges]
        axes.fill_between(edges, floor, top, color=color, alpha=0.14, linewidth=0, zorder=0)
        write_beside(axes, name, (ridge, 0.3), (away, 0), color=color, **style)


def finish(axes: Axes, roofs: Iterable[Roof], span: tuple[float, float]) -> None:
    """Name the axes, make room above the highest roof, and take powers of ten for ticks."""
    peaks, bandwidths = zip(*roofs, strict=True)
    axes.set_xlim(*span)
    axes.set_ylim(0.9 * span[0] * min(bandwidths), 2.6 * max(peaks))
    axes.set(xlabel="arithmetic intensity (FLOP/B)", ylabel="operations per second")
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

    >>> intensity_words(1 / 12), intensity_words(4096 / 3)
    ('0.0833', '1,365')
    """
    return f"{intensity:,.0f}" if intensity >= 1000 else f"{intensity:.3g}"


def rate_words(flops_per_s: float) -> str:
    """Write a rate with a prefix.

    >>> rate_words(312e12), rate_words(1.7e11)
    ('312 TFLOP/s', '170 GFLOP/s')
    """
    for power, prefix in ((15, "P"), (12, "T"), (9, "G"), (6, "M")):
        if flops_per_s >= 0.9995 * 10**power:
            return f"{flops_per_s / 10**power:.3g} {prefix}FLOP/s"
    return f"{flops_per_s:.3g} FLOP/s"
