"""Which chapter needs which."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path

from softlookup_course.figures.marks import draw_box
from softlookup_course.figures.theme import Palette

_LONG, _BROAD = 1.05, 0.88  # a box, along the levels (2 apart) and across them (1 apart)
_LINE = 13  # letters in a line of a name


def chapters(
    names: Mapping[int, str],
    places: Mapping[int, tuple[float, float]],
    edges: Sequence[tuple[int, int, bool]],
    route: Sequence[int] = (),
    *,
    palette: Palette,
) -> Figure:
    """Draw chapters as boxes, and arrows from what is needed to what needs it, dashed if it only helps.

    ``names`` are short, by number; numbers from 90 on are not shown. A box stands at a level, from above, and a lane,
    from the left. An edge is a chapter, the chapter that it needs, and whether it cannot be followed without it. The
    chapters of ``route`` are drawn strong, the others faint; none means all. If a chapter of an edge has no name or
    place, a ValueError names it.
    """
    lost = sorted({n for chapter, needs, _ in edges for n in (chapter, needs)} - (set(names) & set(places)))
    if lost:
        raise ValueError(f"chapters {', '.join(map(str, lost))} have edges, but no name or place")
    on = set(route or names)
    levels = 1 + max(level for level, _ in places.values())
    lanes = 1 + max(lane for _, lane in places.values())
    figure = Figure(figsize=(1.06 * lanes, 0.6 * levels))
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
        level, lane = places[number]
        strong = number in on
        edge: dict[str, Any] = {"ec": palette.query if strong else palette.faint, "linewidth": 1.7 if strong else 1.0}
        corner = (lane - _BROAD / 2, -2 * level - _LONG / 2)
        draw_box(axes, corner, _BROAD, _LONG, 0.12, mutation_aspect=1.9, fc=palette.paper, zorder=2, **edge)
        text = fill(f"{number} {name}" if number < 90 else name, _LINE)
        ink = palette.ink if strong else palette.muted
        axes.text(lane, -2 * level, text, ha="center", va="center", size=8, linespacing=1.1, zorder=3, color=ink)
    axes.set(xlim=(-0.55, lanes - 0.4), ylim=(-2 * levels + 1.3, 0.7))
    axes.set_axis_off()
    return figure


def _way(start: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
    """From one box to another: straight, or round what stands between."""
    (level, lane), (to_level, to_lane) = start, end
    out, into = -2 * level - _LONG / 2, -2 * to_level + _LONG / 2  # from beneath the one, to the other from above
    side = _BROAD / 2 if to_lane > lane else -_BROAD / 2
    if level == to_level and abs(to_lane - lane) == 1:
        return [(lane + side, -2 * level), (to_lane - side, -2 * level)]
    if level == to_level:  # past the boxes of its own level
        below = out - 0.35
        return [(lane, out), (lane, below), (to_lane, below), (to_lane, out)]
    if lane != to_lane and to_level - level > 2:
        return [(lane, out), (lane, -2 * to_level), (to_lane - side, -2 * to_level)]
    return [(lane, out), (to_lane, into)]


def _label(names: Mapping[int, str], edges: Sequence[tuple[int, int, bool]], route: Sequence[int]) -> str:
    sentences = []
    for number, name in names.items():
        needs = [names[needed] for chapter, needed, strict in edges if chapter == number and strict]
        helps = [names[needed] for chapter, needed, strict in edges if chapter == number and not strict]
        parts = [f"needs {' and '.join(needs)}"] if needs else []
        parts += [f"is helped by {' and '.join(helps)}"] if helps else []
        sentences.append(f"{name} {', '.join(parts)}." if parts else f"{name} needs none.")
    order = f" The route goes through {', '.join(names[number] for number in route)}." if route else ""
    return "Chapters as boxes, with arrows from what is needed. " + " ".join(sentences) + order
