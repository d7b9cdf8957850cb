"""What changed since the first transformer: parts, models, slower rotations and even updates."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from softlookup_course.figures.marks import bare, draw_box, one_panel, several_panels
from softlookup_course.figures.theme import Palette

_ROW, _FIRST, _COLUMN = 1.0, 3.5, 3.35
"""Height of a line of changes, where the first column begins, and its width."""


def changed_parts(
    changes: Mapping[str, Mapping[str, Sequence[str]]], costs: Sequence[str], main: Collection[str], *, palette: Palette
) -> Figure:
    """Draw the parts of a model, lowest first, beside each its changes in a column for each of up to three costs."""
    colors = dict(zip(costs, palette.series, strict=False))
    heights = [max(1, *(len(names) for names in by_cost.values())) * _ROW for by_cost in changes.values()]
    top = sum(heights) + 0.25 * len(heights)
    width = _FIRST + _COLUMN * len(costs)
    figure, axes = one_panel(6.8, 0.4 * top + 0.55)
    y = 0.0
    for (part, by_cost), height in zip(changes.items(), heights, strict=True):
        _box(axes, 0, y + 0.08, _FIRST - 0.7, height - 0.16, part, palette.ink, palette.faint)
        for cost, names in by_cost.items():
            x = _FIRST + _COLUMN * costs.index(cost)
            for line, name in enumerate(names):
                middle = y + height / 2 + (len(names) / 2 - line - 0.5) * _ROW
                fill = colors[cost] if name in main else None
                _box(axes, x, middle - 0.36, _COLUMN - 0.25, 0.72, name, colors[cost], fill)
        if y:
            axes.plot([0, width - 0.25], [y - 0.13] * 2, color=palette.faint, linewidth=0.8, zorder=0)
        y += height + 0.25
    for cost in costs:
        x = _FIRST + _COLUMN * costs.index(cost) + (_COLUMN - 0.25) / 2
        axes.text(x, y + 0.1, cost, ha="center", va="bottom", color=colors[cost], size=10.5, weight="bold")
    axes.text((_FIRST - 0.7) / 2, y + 0.1, "part of the model", ha="center", va="bottom", color=palette.ink, size=10)
    bare(axes, xlim=(-0.1, width - 0.1), ylim=(-0.1, y + 1.0))
    lowered = "; ".join(
        f"{cost}: {', '.join(name for by in changes.values() for name in by.get(cost, ()))}" for cost in costs
    )
    figure.set_label(f"The parts of a transformer, and their changes in a column for each cost. {lowered}.")
    return figure


def _box(axes: Axes, x: float, y: float, width: float, height: float, text: str, edge: str, fill: str | None) -> None:
    inside = to_rgba(fill, 0.2) if fill else "none"
    draw_box(axes, (x + 0.06, y), width - 0.12, height, 0.16, ec=edge, linewidth=1.2, fc=inside)
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", size=9.5, color=edge)


def rotary_ramp(
    turns: Sequence[float] | np.ndarray,
    speed_fractions: Sequence[float] | np.ndarray,
    ends: tuple[float, float],
    *,
    palette: Palette,
) -> Figure:
    """Draw the fraction of its speed that each pair keeps, beside its turns within the trained length (falling)."""
    fast, speeds = np.asarray(turns, dtype=float), np.asarray(speed_fractions, dtype=float)
    figure, axes = one_panel(6.4, 3.0)
    pairs = np.arange(len(fast))
    alone, slow = int((fast >= ends[0]).sum()), int((fast > ends[1]).sum())
    colors = [palette.query if i < alone else palette.key if i >= slow else palette.mixed for i in pairs]
    axes.bar(pairs, speeds, width=0.72, color=colors, alpha=0.75)
    at = [float(np.interp(-np.log(end), -np.log(fast), pairs)) for end in ends]
    for x, end in zip(at, ends, strict=True):
        axes.plot([x, x], [0, 1.07], color=palette.ink, linewidth=1, linestyle="--")
        words = f"{end:g} turn{'s' if end != 1 else ''}"
        axes.text(x, 1.09, words, ha="center", va="bottom", size=9)
    middle = (at[0] + at[1]) / 2
    for x, words, color in (
        (at[0] / 2, "left alone", palette.query),
        (middle, "blended", palette.mixed),
        ((at[1] + len(fast) - 1) / 2, f"slowed down\n{1 / speeds[-1]:.0f} times", palette.key),
    ):
        y = 1.03 if x == at[0] / 2 else float(np.interp(x, pairs, speeds)) + 0.05
        shift = 3.5 if x == middle else 0.0
        axes.text(x + shift, y, words, ha="center", va="bottom", size=9.5, color=color, weight="bold")
    above = axes.secondary_xaxis("top")
    marks = np.arange(0, len(fast), max(1, len(fast) // 6))
    above.set_xticks(marks, [f"{fast[i]:.0f}" if fast[i] >= 1 else f"{fast[i]:.1g}" for i in marks])
    above.set_xlabel("turns within the trained length")
    above.spines["top"].set_visible(False)
    above.tick_params(length=0, labelcolor=palette.muted)
    axes.set_xticks(marks)
    axes.set(xlabel="pair of the head", ylabel="speed that is left", ylim=(0, 1.22), xlim=(-1, len(fast)))
    axes.set_yticks([0, 0.5, 1])
    figure.set_label(
        f"How much of its speed each of {len(fast)} pairs keeps. Those with {ends[0]:g} turns or more within the "
        f"trained length, the first {alone}, are left alone; those with {ends[1]:g} or fewer, from pair {slow} on, "
        f"keep {speeds[-1]:.3f}; between them the speed falls in a straight line."
    )
    return figure


def singular_values(updates: Mapping[str, Sequence[float] | np.ndarray], *, palette: Palette) -> Figure:
    """Draw the singular values of up to three updates, in one order, side by side on one scale."""
    values = {name: np.asarray(numbers, dtype=float) for name, numbers in updates.items()}
    figure, panels = several_panels(6.4, 2.6, 1, len(values), sharey=True)
    colors = palette.key, palette.query, palette.value
    descriptions = []
    for axes, (name, numbers), color in zip(panels, values.items(), colors, strict=False):
        axes.bar(range(len(numbers)), numbers, width=0.7, color=color, alpha=0.75)
        axes.axhline(1, color=palette.muted, linewidth=1, linestyle="--")
        for i in (0, len(numbers) - 1):
            axes.text(i, numbers[i] + 0.02, f"{numbers[i]:.2g}", ha="center", va="bottom", size=8.5, color=color)
        axes.set_title(name)
        axes.set(xlabel="direction", xticks=[])
        axes.tick_params(labelleft=True)  # on a phone each panel stands alone
        descriptions.append(f"{name}, from {numbers.max():.2f} to {numbers.min():.2f}")
    panels[0].set(ylabel="singular value", ylim=(0, 1.15 * max(1.0, *(numbers.max() for numbers in values.values()))))
    figure.set_label(
        f"The {len(next(iter(values.values())))} singular values of a matrix, by direction. {'; '.join(descriptions)}."
    )
    return figure
