"""What was counted of transformers: parameters, operations and memory by part."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from softlookup_course.figures.many_heads import with_unit
from softlookup_course.figures.marks import one_panel, write_beside
from softlookup_course.figures.theme import Palette

_NARROWEST = 0.085
"""A part with a smaller fraction has no room for its number."""


def model_parts(models: Mapping[str, Mapping[str, float]], idle: Collection[str] = (), *, palette: Palette) -> Figure:
    """Draw the parameters of models as bars of equal length, cut into the same up to four parts; idle ones hatched."""
    figure, axes = one_panel(6.6, 0.9 + 0.55 * len(models))
    descriptions = []
    for row, (name, counts) in enumerate(models.items()):
        total, start, percentages = sum(counts.values()), 0.0, []
        for (part, count), color in zip(counts.items(), palette.series, strict=False):
            fraction = count / total
            axes.barh(row, fraction, left=start, height=0.6, **_look(color, part in idle, palette))
            if fraction >= _NARROWEST:
                label = axes.text(
                    start + fraction / 2, row, f"{100 * fraction:.0f} %", ha="center", va="center", size=9
                )
                if part in idle:
                    label.set_bbox({"facecolor": palette.paper, "edgecolor": "none", "pad": 1.5})
            start += fraction
            percentages.append(f"{part} {100 * fraction:.0f} %")
        axes.text(1.015, row, f"{total / 1e9:.2f} billion", va="center", size=9)
        descriptions.append(f"{name}, {total / 1e9:.2f} billion: {', '.join(percentages)}")
    _name_above(axes, next(iter(models.values())), palette)
    unused = f"; {', '.join(idle)} hatched" if idle else ""
    figure.set_label(f"Fractions of all parameters by part{unused}. {'; '.join(descriptions)}.")
    axes.set_yticks(range(len(models)), list(models))
    axes.set_ylim(len(models) - 0.5, -0.75)
    axes.set_xlim(0, 1.2)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(False)
    return figure


def _name_above(axes: Axes, counts: Mapping[str, float], palette: Palette) -> None:
    """Name the parts of the first bar: over their middle, and where two narrow ones meet, to both sides of that."""
    total, start, ends = sum(counts.values()), 0.0, 0.0
    for (part, count), color in zip(counts.items(), palette.series, strict=False):
        fraction = count / total
        wide = fraction >= _NARROWEST
        at, side = (start + fraction / 2, "center") if wide else (start + fraction, "right")
        if not wide and ends > start - _NARROWEST:  # the name before it reaches this part
            at, side = start + 0.01, "left"
        axes.text(at, -0.38, part, ha=side, va="bottom", size=8.5, color=color)
        ends = start + fraction if not wide else ends
        start += fraction


def _look(color: str, idle: bool, palette: Palette) -> dict[str, Any]:
    style: dict[str, Any] = {"edgecolor": color, "linewidth": 1}
    return style | ({"hatch": "////", "facecolor": palette.paper} if idle else {"facecolor": color, "alpha": 0.4})


NAME = 0.0155
"""Width of a letter of a part's name, as a share of the panel's."""


def work_by_context(contexts: np.ndarray, weights_flops: float, pairs_flops: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the operations for a token that weights cause, and those of its context, with the point of equality."""
    contexts = np.asarray(contexts, dtype=float)
    pairs_flops = np.asarray(pairs_flops, dtype=float)
    equal = contexts[0] * weights_flops / pairs_flops[0]
    figure, axes = one_panel(4.6, 3.3)
    figure.set_label(
        f"Operations per token against its context, both axes logarithmic. Weights cost {weights_flops / 1e9:.2f} "
        f"GFLOP throughout; scores and mixing cost {pairs_flops[0] / 1e9:.2g} GFLOP at {contexts[0]:,.0f} tokens and "
        f"{pairs_flops[-1] / 1e9:.3g} at {contexts[-1]:,.0f}. They are equal at {equal:,.0f} tokens."
    )
    for flops, name, color in (
        (np.full(len(contexts), weights_flops), "weights", palette.value),
        (pairs_flops, "scores,\nmixing", palette.mixed),
    ):
        axes.loglog(contexts, flops / 1e9, color=color)
        axes.text(contexts[-1] * 1.2, flops[-1] / 1e9, name, color=color, va="center")
    axes.plot(equal, weights_flops / 1e9, "o", color=palette.ink, markersize=7)
    write_beside(axes, f"equal at {equal:,.0f}", (equal, weights_flops / 1e9), (-6, 7), va="baseline", size=9)
    axes.set(xlabel="tokens of context $S$", ylabel="GFLOP per token")
    axes.set_xlim(contexts[0] / 1.3, contexts[-1] * 6)
    axes.grid(axis="y")
    return figure


def memory_by_part(
    cases: Mapping[str, Mapping[str, float]], limits: Sequence[tuple[str, float]] = (), *, palette: Palette
) -> Figure:
    """Draw bytes in memory as a bar of the same up to six parts for each case, and memories of devices as lines."""
    parts = list(next(iter(cases.values())))
    figure, axes = one_panel(5.8, 1.1 + 0.55 * len(cases))
    descriptions = [
        f"{name}: {', '.join(f'{part} {with_unit(size)}' for part, size in sizes.items() if size)}, in all "
        f"{with_unit(sum(sizes.values()))}"
        for name, sizes in cases.items()
    ]
    capacities = ", ".join(f"{name} holds {with_unit(size)}" for name, size in limits)
    figure.set_label(f"Bytes in memory by part. {'; '.join(descriptions)}. {capacities}.")
    styles: list[dict[str, Any]] = [
        *({"facecolor": color} for color in palette.series),
        {"facecolor": palette.faint, "hatch": "///", "edgecolor": palette.muted, "linewidth": 0},
        {"facecolor": palette.high},
    ]
    longest = max([sum(sizes.values()) for sizes in cases.values()] + [size for _, size in limits])
    for row, (_, case) in enumerate(cases.items()):
        start = 0.0
        for part, style in zip(parts, styles, strict=False):
            axes.barh(row, case[part] / 1e9, left=start / 1e9, height=0.62, **style)
            start += case[part]
        axes.text((start + 0.01 * longest) / 1e9, row, f"{start / 1e9:,.0f} GB", va="center", size=9)
    span = 1.16 * longest
    written: dict[int, list[tuple[float, float]]] = {}  # what stands between two bars, from where to where
    for name, size in limits:
        axes.axvline(size / 1e9, color=palette.alarm, linewidth=1.4, linestyle="--")
        axes.text(size / 1e9, len(cases) - 0.5, f" {name}", color=palette.alarm, va="bottom", ha="left", size=8.5)
        written.setdefault(len(cases), []).append((size, size + span * NAME * len(name)))
    for part in parts:
        row, case = max(enumerate(cases.values()), key=lambda pair: pair[1][part])
        start = sum(case[earlier] for earlier in parts[: parts.index(part)])
        wide = span * NAME * len(part)
        start += max(0.0, (case[part] - wide) / 2)
        gaps = [gap for gap in (row, row + 1) if all(start > b or a > start + wide for a, b in written.get(gap, []))]
        gap = gaps[0] if gaps else row
        written.setdefault(gap, []).append((start, start + wide))
        above = gap == row
        label = axes.text(
            start / 1e9, row + (-0.34 if above else 0.34), part, va="bottom" if above else "top", size=8.5
        )
        label.set_path_effects([withStroke(linewidth=2, foreground=palette.paper)])  # a limit's line may cross it
    axes.set_yticks(range(len(cases)), list(cases))
    axes.set_ylim(len(cases) - 0.35, -0.72)
    axes.set_xlim(0, span / 1e9)
    axes.set_xlabel("GB")
    return figure
