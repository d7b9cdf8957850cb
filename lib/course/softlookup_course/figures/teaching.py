"""Ways through the course: which chapter needs which, and how a student hands in an answer."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path

from softlookup_course.figures.marks import bare, draw_arrow, draw_box, one_panel
from softlookup_course.figures.theme import Palette

_LONG, _BROAD = 1.05, 0.88  # a box, along the levels (2 apart) and across them (1 apart)
_LINE = 13  # letters in a line of a name


def chapters(
    names: Mapping[int, str],
    positions: Mapping[int, tuple[float, float]],
    edges: Sequence[tuple[int, int, bool]],
    route: Sequence[int] = (),
    *,
    palette: Palette,
) -> Figure:
    """Draw chapters as boxes, and arrows from what is needed to what needs it, dashed if it only helps."""
    on = set(route or names)
    levels = 1 + max(level for level, _ in positions.values())
    lanes = 1 + max(lane for _, lane in positions.values())
    figure, axes = one_panel(1.06 * lanes, 0.6 * levels)
    figure.set_label(_label(names, edges, route))
    for chapter, needs, strict in edges:
        strong = {chapter, needs} <= on
        axes.add_patch(
            FancyArrowPatch(
                path=Path(_way(positions[needs], positions[chapter])),
                arrowstyle="-|>",
                mutation_scale=9,
                linewidth=1.6 if strict else 1.1,
                linestyle="-" if strict else (0, (4, 2.5)),
                joinstyle="round",
                color=(palette.ink if strict else palette.muted) if strong else palette.faint,
                zorder=1,
            )
        )
    for chapter, name in names.items():
        level, lane = positions[chapter]
        strong = chapter in on
        edge: dict[str, Any] = {"ec": palette.query if strong else palette.faint, "linewidth": 1.7 if strong else 1.0}
        corner = (lane - _BROAD / 2, -2 * level - _LONG / 2)
        draw_box(axes, corner, _BROAD, _LONG, 0.12, mutation_aspect=1.9, fc=palette.paper, zorder=2, **edge)
        text = fill(f"{chapter} {name}" if chapter < 90 else name, _LINE)
        ink = palette.ink if strong else palette.muted
        axes.text(lane, -2 * level, text, ha="center", va="center", size=8, linespacing=1.1, zorder=3, color=ink)
    bare(axes, xlim=(-0.55, lanes - 0.4), ylim=(-2 * levels + 1.3, 0.7))
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
    for chapter_id, name in names.items():
        needs = [names[needed] for chapter, needed, strict in edges if chapter == chapter_id and strict]
        helps = [names[needed] for chapter, needed, strict in edges if chapter == chapter_id and not strict]
        parts = [f"needs {' and '.join(needs)}"] if needs else []
        parts += [f"is helped by {' and '.join(helps)}"] if helps else []
        sentences.append(f"{name} {', '.join(parts)}." if parts else f"{name} needs none.")
    order = f" The route goes through {', '.join(names[chapter_id] for chapter_id in route)}." if route else ""
    return "Chapters as boxes, with arrows from what is needed. " + " ".join(sentences) + order


_STEPS = {  # place across and from the top, and what stands in the box
    "given": (0, 0, "exercises/\nthe notebooks of the course"),
    "work": (0, 1, "my_work/\nyour own copies"),
    "check": (0, 2, "answer, then check\nas often as you like"),
    "in": (0, 3, "hand in the notebook"),
    "page": (1, 0, "a page of this book\nthe button Do it here"),
    "verdict": (1, 2, "answer, then check\nin the browser"),
}
_WAYS = (
    ("given", "work", "make lab"),
    ("work", "check", ""),
    ("check", "in", ""),
    ("page", "verdict", ""),
    ("verdict", "in", "Save your answers\nas a notebook"),
)
_WIDE, _HIGH = 4.3, 1.1


def student_path(*, palette: Palette) -> Figure:
    """Draw both ways to do a task: in a notebook, and in a page of the book; both end with a notebook."""
    figure, axes = one_panel(4.3, 4.1)  # as wide as a phone
    figure.set_label(
        "Two ways from a task to a notebook that is handed in. With notebooks: make lab copies exercises/ to my_work/; "
        "there you answer and check, as often as you like, and hand in the notebook. In a page of this book: the "
        "button Do it here, then answer and check in the browser; Save your answers as a notebook makes the file that "
        "you hand in."
    )
    box: dict[str, Any] = {"boxstyle": "round,pad=0.05,rounding_size=0.15", "linewidth": 1.6}
    corner = {name: (5.2 * across, -2.2 * down) for name, (across, down, _) in _STEPS.items()}
    for name, (across, _, text) in _STEPS.items():
        x, y = corner[name]
        color = palette.mixed if name == "in" else palette.series[across]
        axes.add_patch(FancyBboxPatch((x, y), _WIDE, _HIGH, facecolor=palette.paper, edgecolor=color, **box))
        first, _, second = text.partition("\n")
        axes.text(x + _WIDE / 2, y + (0.77 if second else 0.55), first, ha="center", va="center", size=9.5)
        axes.text(x + _WIDE / 2, y + 0.32, second, ha="center", va="center", size=8.3, color=palette.muted)
    for start, end, label in _WAYS:
        (x, y), (to_x, to_y) = corner[start], corner[end]
        if x == to_x:
            draw_arrow(axes, (x + _WIDE / 2, y - 0.08), (x + _WIDE / 2, to_y + _HIGH + 0.08), palette.muted, 1.5)
            axes.text(x + _WIDE / 2 + 0.15, y - 0.55, label, ha="left", va="center", size=8.3)
        else:  # down, then to the left
            bent, head = "angle,angleA=90,angleB=0,rad=8", (to_x + _WIDE + 0.1, to_y + 0.55)
            draw_arrow(axes, (x + 1, y - 0.08), head, palette.muted, 1.5, connectionstyle=bent)
            axes.text(x + 1.2, y - 0.75, label, ha="left", va="center", size=8.3, linespacing=1.2)
    bare(axes, xlim=(-0.2, 10.0), ylim=(-6.9, 1.4))
    return figure
