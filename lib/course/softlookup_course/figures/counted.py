"""What was counted of a transformer: work and memory by part."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from softlookup_course.figures.cost import with_unit
from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette

NAME = 0.0155
"""Width of a letter of a part's name, as a share of the panel's."""


def work_by_context(contexts: np.ndarray, weights_flops: float, pairs_flops: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the operations for a token that weights cause, and those that its context causes, scores and mixing.

    ``contexts`` are tokens that are looked at, increasing, and ``pairs_flops`` is in proportion to them. Both axes are
    logarithmic; the context at which the two are equal is marked.
    """
    contexts = np.asarray(contexts, dtype=float)
    pairs_flops = np.asarray(pairs_flops, dtype=float)
    equal = contexts[0] * weights_flops / pairs_flops[0]
    figure = Figure(figsize=(4.6, 3.3))
    figure.set_label(
        f"Operations per token against its context, both axes logarithmic. Weights cost {weights_flops / 1e9:.2f} "
        f"GFLOP throughout; scores and mixing cost {pairs_flops[0] / 1e9:.2g} GFLOP at {contexts[0]:,.0f} tokens and "
        f"{pairs_flops[-1] / 1e9:.3g} at {contexts[-1]:,.0f}. They are equal at {equal:,.0f} tokens."
    )
    axes = figure.subplots()
    for curve, name, color in (
        (np.full(len(contexts), weights_flops), "weights", palette.value),
        (pairs_flops, "scores,\nmixing", palette.mixed),
    ):
        axes.loglog(contexts, curve / 1e9, color=color)
        axes.text(contexts[-1] * 1.2, curve[-1] / 1e9, name, color=color, va="center")
    axes.plot(equal, weights_flops / 1e9, "o", color=palette.ink, markersize=7)
    write_beside(axes, f"equal at {equal:,.0f}", (equal, weights_flops / 1e9), (-6, 7), va="baseline", size=9)
    axes.set(xlabel="tokens of context $S$", ylabel="GFLOP per token")
    axes.set_xlim(contexts[0] / 1.3, contexts[-1] * 6)
    axes.grid(axis="y")
    return figure


def memory_by_part(
    cases: Mapping[str, Mapping[str, float]], limits: Sequence[tuple[str, float]] = (), *, palette: Palette
) -> Figure:
    """Draw what lies in memory as a bar made of parts for each case, with the memories of devices as lines.

    All are bytes, the same parts in each case, up to six. A part is named above or below the bar where it is largest.
    """
    parts = list(next(iter(cases.values())))
    figure = Figure(figsize=(5.8, 1.1 + 0.55 * len(cases)))
    descriptions = [
        f"{name}: {', '.join(f'{part} {with_unit(size)}' for part, size in sizes.items() if size)}, in all "
        f"{with_unit(sum(sizes.values()))}"
        for name, sizes in cases.items()
    ]
    capacities = ", ".join(f"{name} holds {with_unit(size)}" for name, size in limits)
    figure.set_label(f"Bytes in memory by part. {'; '.join(descriptions)}. {capacities}.")
    axes = figure.subplots()
    styles: list[dict[str, Any]] = [
        *({"facecolor": color} for color in palette.series),
        {"facecolor": palette.faint, "hatch": "///", "edgecolor": palette.muted, "linewidth": 0},
        {"facecolor": palette.high},
    ]
    longest = max([sum(sizes.values()) for sizes in cases.values()] + [size for _, size in limits])
    for row, (_, case) in enumerate(cases.items()):
        left = 0.0
        for part, look in zip(parts, styles, strict=False):
            axes.barh(row, case[part] / 1e9, left=left / 1e9, height=0.62, **look)
            left += case[part]
        axes.text((left + 0.01 * longest) / 1e9, row, f"{left / 1e9:,.0f} GB", va="center", size=9)
    span = 1.16 * longest
    written: dict[int, list[tuple[float, float]]] = {}  # what stands between two bars, from where to where
    for name, size in limits:
        axes.axvline(size / 1e9, color=palette.alarm, linewidth=1.4, linestyle="--")
        axes.text(size / 1e9, len(cases) - 0.5, f" {name}", color=palette.alarm, va="bottom", ha="left", size=8.5)
        written.setdefault(len(cases), []).append((size, size + span * NAME * len(name)))
    for part in parts:
        row, case = max(enumerate(cases.values()), key=lambda pair: pair[1][part])
        left = sum(case[earlier] for earlier in parts[: parts.index(part)])
        wide = span * NAME * len(part)
        left += max(0.0, (case[part] - wide) / 2)
        gaps = [gap for gap in (row, row + 1) if all(left > b or a > left + wide for a, b in written.get(gap, []))]
        gap = gaps[0] if gaps else row
        written.setdefault(gap, []).append((left, left + wide))
        above = gap == row
        label = axes.text(left / 1e9, row + (-0.34 if above else 0.34), part, va="bottom" if above else "top", size=8.5)
        label.set_path_effects([withStroke(linewidth=2, foreground=palette.paper)])  # a limit's line may cross it
    axes.set_yticks(range(len(cases)), list(cases))
    axes.set_ylim(len(cases) - 0.35, -0.72)
    axes.set_xlim(0, span / 1e9)
    axes.set_xlabel("GB")
    return figure
