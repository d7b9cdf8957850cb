"""Which part of a transformer was changed, and which cost each change lowers."""

from collections.abc import Collection, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_box
from softlookup_course.figures.theme import Palette

_ROW, _FIRST, _COLUMN = 1.0, 3.5, 3.35
"""Height of a line of changes, where the first column begins, and its width."""


def changed_parts(
    changes: Mapping[str, Mapping[str, Sequence[str]]], costs: Sequence[str], main: Collection[str], *, palette: Palette
) -> Figure:
    """Draw the parts of a model from below to above, and beside each its changes, in a column for each cost.

    ``changes`` has for each part, from the lowest to the highest, the names of its changes by cost; those in ``main``
    are filled, the others outlined. There are one to three costs, in the order of their columns. A ValueError if there
    are no changes or no costs, more than three costs, or a change of another cost.
    """
    if not changes or not 1 <= len(costs) <= 3 or any(not by_cost.keys() <= {*costs} for by_cost in changes.values()):
        raise ValueError(f"wanted one to three costs, and changes of these; got {list(costs)} and {dict(changes)}")
    colors = dict(zip(costs, palette.series, strict=False))
    heights = [max(1, *(len(names) for names in by_cost.values())) * _ROW for by_cost in changes.values()]
    top = sum(heights) + 0.25 * len(heights)
    width = _FIRST + _COLUMN * len(costs)
    figure = Figure(figsize=(6.8, 0.4 * top + 0.55))
    axes = figure.subplots()
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
    axes.set(xlim=(-0.1, width - 0.1), ylim=(-0.1, y + 1.0))
    axes.set_axis_off()
    lowered = "; ".join(
        f"{cost}: {', '.join(name for by in changes.values() for name in by.get(cost, ()))}" for cost in costs
    )
    figure.set_label(f"The parts of a transformer, and their changes in a column for each cost. {lowered}.")
    return figure


def _box(axes: Axes, x: float, y: float, width: float, height: float, text: str, edge: str, fill: str | None) -> None:
    inside = to_rgba(fill, 0.2) if fill else "none"
    draw_box(axes, (x + 0.06, y), width - 0.12, height, 0.16, ec=edge, linewidth=1.2, fc=inside)
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", size=9.5, color=edge)
