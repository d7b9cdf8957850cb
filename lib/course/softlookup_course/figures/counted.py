"""What was counted of transformers: parameters, operations and memory by part, a layer to scale, a product's passes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from matplotlib.patheffects import withStroke

from softlookup_course.figures.many_heads import with_unit
from softlookup_course.figures.marks import bare, one_panel, write_beside
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


ROWS = (("q", "k", "v", "output"), ("scores", "mix"), ("gate",), ("up",), ("down",))
"""How the products of a layer are arranged, from its input down."""


def layer_areas(layers: Mapping[str, Mapping[str, tuple[int, int]]], width: int, *, palette: Palette) -> Figure:
    """Draw the products of a layer as areas to scale, ``width`` the unit: matrices of weights, and (T, T) tables.

    Each layer has sizes by name of product; those of scores and mix are the tokens T, half of them hidden by a mask.
    """
    figure, axes = one_panel(6.4, 4.5)
    start, deepest, descriptions = 0.0, 0.0, []
    for name, sizes in layers.items():
        end, y = start, 0.25
        for row in ROWS:
            x = start
            for part in row:
                tall, wide = sorted(sizes[part]) if len(row) == 1 else sizes[part]
                _area(axes, part, (x, y), wide / width, tall / width, sizes[part], palette)
                x += wide / width + 0.1
            end, y = max(end, x - 0.1), y + sizes[row[0]][0] / width * (len(row) > 1) + (len(row) == 1) + 0.12
        weights = sum(a * b for part, (a, b) in sizes.items() if part not in ROWS[1])
        axes.text(start, 0, f"{name}: {weights / 1e6:.0f} million weights", size=9.5, weight="bold", va="center")
        areas = ", ".join(f"{part} {_millions(ab)}" for part, ab in sizes.items() if part not in ROWS[1])
        descriptions.append(f"{name}: {areas}")
        start, deepest = end + 0.7, max(deepest, y)
    bare(axes, xlim=(-0.05, start - 0.6), ylim=(deepest, -0.2), aspect="equal")
    figure.set_label(
        f"Products of layers as areas to scale, in millions (M) of weights. {'; '.join(descriptions)}. Scores and mix "
        "have no weights, and nearly half of each is hidden by a mask."
    )
    return figure


def _area(
    axes: Axes,
    part: str,
    corner: tuple[float, float],
    wide: float,
    tall: float,
    sizes: tuple[int, int],
    palette: Palette,
) -> None:
    x, y = corner
    paired = part in ROWS[1]
    color = palette.mixed if paired else palette.query if part in ROWS[0] else palette.value
    axes.add_patch(Rectangle(corner, wide, tall, facecolor=color, alpha=0.28, edgecolor="none"))
    axes.add_patch(Rectangle(corner, wide, tall, fill=False, edgecolor=color, linewidth=1))
    if paired:
        hidden = [(x, y), (x + wide, y), (x + wide, y + tall)]
        axes.add_patch(Polygon(hidden, facecolor=palette.paper, edgecolor=color, hatch="////", linewidth=0))
        axes.text(x + 0.36 * wide, y + 0.72 * tall, part, ha="center", va="center", size=8.5)
    elif wide < 0.5:
        axes.text(
            x + wide / 2, y + tall / 2, f"{part}  {_millions(sizes)}", size=8, rotation=90, ha="center", va="center"
        )
    else:
        axes.text(x + wide / 2, y + tall / 2, f"{part}\n{_millions(sizes)}", size=8.5, ha="center", va="center")


def _millions(sizes: tuple[int, int]) -> str:
    return f"{sizes[0] * sizes[1] / 1e6:.1f} M" if sizes[0] * sizes[1] < 1e7 else f"{sizes[0] * sizes[1] / 1e6:.0f} M"


def product_passes(rows: int, inner: int, outer: int, *, palette: Palette) -> Figure:
    """Draw a product of (rows, inner) and (inner, outer), and the two of its backward pass, as tables of cells."""
    figure, axes = one_panel(4.6, 5.0)
    flops = 2 * rows * inner * outer
    x, w, y = ("X", rows, inner), ("W", inner, outer), ("Y", rows, outer)
    passes = (
        ("forward", x, w, y),
        ("back, to the layer before", ("grad Y", rows, outer), ("Wᵀ", outer, inner), ("grad X", rows, inner)),
        ("back, to the weights", ("Xᵀ", inner, rows), ("grad Y", rows, outer), ("grad W", inner, outer)),
    )
    top = 0.0
    for title, first, second, result in passes:
        tall = max(first[1], second[1], result[1])
        axes.text(0, top, f"{title}: {flops} operations", size=9.5, weight="bold", va="center")
        middle, start = top + 1.6 + tall / 2, 0.0
        for (name, high, wide), sign in ((first, "·"), (second, "="), (result, "")):
            color = palette.key if name.startswith("grad") else palette.value if "W" in name else palette.query
            _cells(axes, (start, middle - high / 2), high, wide, color)
            axes.text(start + wide / 2, middle - high / 2 - 0.2, name, ha="center", va="bottom", size=9, color=color)
            start += wide + 1.0
            axes.text(start - 0.5, middle, sign, ha="center", va="center", size=12)
        top += tall + 2.7
    bare(axes, xlim=(-0.1, 2 * outer + inner + 3.5), ylim=(top - 0.9, -0.6), aspect="equal")
    figure.set_label(
        f"Three products of {flops} operations. Forward: X, {rows} by {inner}, times W, {inner} by {outer}, makes Y. "
        "Back: the gradient of Y times W transposed makes the gradient of X; X transposed times the gradient of Y "
        "makes that of W."
    )
    return figure


def _cells(axes: Axes, corner: tuple[float, float], high: int, wide: int, color: str) -> None:
    x, y = corner
    for i in range(high):
        for j in range(wide):
            axes.add_patch(Rectangle((x + j, y + i), 1, 1, facecolor=color, alpha=0.25, edgecolor="none"))
            axes.add_patch(Rectangle((x + j, y + i), 1, 1, fill=False, edgecolor=color, linewidth=0.8))
