"""Which chapter needs which."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from softlookup.figures.theme import Palette

_WIDE, _HIGH = 1.7, 0.62


def chapters(
    names: Mapping[int, str],
    places: Mapping[int, tuple[float, float]],
    edges: Sequence[tuple[int, int, bool]],
    route: Sequence[int] = (),
    *,
    palette: Palette,
) -> Figure:
    """Draw chapters as boxes, and arrows from what is needed to what needs it.

    Args:
        names: A short name of each chapter, by its number; numbers from 90 on are not shown.
        places: Where each box stands: its column and its row, rows from above.
        edges: Chapter, the chapter that it needs, and whether it cannot be followed without it; else it only helps.
        route: The chapters of a route, which are drawn strong, the others faint. None means all.
        palette: The colours to draw in.

    Returns:
        One panel: full arrows for what is needed, dashed ones for what helps.

    Raises:
        ValueError: If a chapter of an edge has no name or place; the message names it.
    """
    lost = sorted({n for chapter, needs, _ in edges for n in (chapter, needs)} - (set(names) & set(places)))
    if lost:
        raise ValueError(f"chapters {', '.join(map(str, lost))} have edges, but no name or place")
    on = set(route or names)
    columns = 1 + max(column for column, _ in places.values())
    rows = 1 + max(row for _, row in places.values())
    figure = Figure(figsize=(1.3 * columns, 0.6 * rows))
    figure.set_label(_label(names, edges, route))
    axes = figure.subplots()
    for chapter, needs, strict in edges:
        strong = {chapter, needs} <= on
        axes.add_patch(
            FancyArrowPatch(
                path=Path(_way(places[needs], places[chapter])),
                arrowstyle="-|>",
                mutation_scale=9,
                linewidth=1.6 if strict else 1.1,
                linestyle="-" if strict else (0, (4, 2.5)),
                joinstyle="round",
                color=(palette.ink if strict else palette.muted) if strong else palette.faint,
                zorder=1,
            )
        )
    for number, name in names.items():
        column, row = places[number]
        strong = number in on
        axes.add_patch(
            FancyBboxPatch(
                (2 * column - _WIDE / 2, -row - _HIGH / 2),
                _WIDE,
                _HIGH,
                boxstyle="round,pad=0,rounding_size=0.12",
                facecolor=palette.paper,
                edgecolor=palette.query if strong else palette.faint,
                linewidth=1.7 if strong else 1.0,
                zorder=2,
            )
        )
        text = f"{number} {name}" if number < 90 else name
        axes.text(
            2 * column,
            -row,
            text,
            ha="center",
            va="center",
            size=7.5,
            zorder=3,
            color=palette.ink if strong else palette.muted,
        )
    axes.set(xlim=(-1.0, 2 * columns - 1.0), ylim=(-rows + 0.5, 0.5))
    axes.set_axis_off()
    return figure


def _way(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
    """From one box to another: straight, or round what stands between."""
    (x0, y0), (x1, y1) = (2 * start[0], -start[1]), (2 * end[0], -end[1])
    side = _HIGH / 2 if y0 > y1 else -_HIGH / 2  # into the box from above, or from below
    if x0 == x1 and abs(y0 - y1) == 1:
        return [(x0, y0 - side), (x1, y1 + side)]
    if x0 == x1:  # past the boxes of its own column
        beside = x0 + _WIDE / 2 + 0.2
        return [(x0 + _WIDE / 2, y0), (beside, y0), (beside, y1), (x1 + _WIDE / 2, y1)]
    if y0 != y1 and x1 - x0 > 4:
        return [(x0 + _WIDE / 2, y0), (x1, y0), (x1, y1 + side)]
    return [(x0 + _WIDE / 2, y0), (x1 - _WIDE / 2, y1)]


def _label(names: Mapping[int, str], edges: Sequence[tuple[int, int, bool]], route: Sequence[int]) -> str:
    said = []
    for number, name in names.items():
        needs = [names[needed] for chapter, needed, strict in edges if chapter == number and strict]
        helps = [names[needed] for chapter, needed, strict in edges if chapter == number and not strict]
        parts = [f"needs {' and '.join(needs)}"] if needs else []
        parts += [f"is helped by {' and '.join(helps)}"] if helps else []
        said.append(f"{name} {', '.join(parts)}." if parts else f"{name} needs none.")
    order = f" The route goes through {', '.join(names[number] for number in route)}." if route else ""
    return "Chapters as boxes, with arrows from what is needed. " + " ".join(said) + order
