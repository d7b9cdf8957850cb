"""The loop of a server: where a request waits, what each step does with it, and how it ends."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from softlookup_course.figures.marks import draw_box
from softlookup_course.figures.theme import Palette

_MIDDLE, _RADIUS = (0.0, 0.0), 1.8
_STATIONS = ((90, "plan", "Scheduler.step"), (210, "compute", "ModelRunner.run"), (330, "hand out", "Server.say"))
"""Angle on the circle, what is done, and the library's name for it."""
_BOXES = {
    "waiting": (-5.0, 1.6),
    "refused": (-5.0, -1.9),
    "finished": (5.0, -1.9),
    "cancelled": (5.0, 1.6),
    "failed": (5.0, -0.15),
}
_WIDE, _HIGH = 2.1, 1.15


def serving_loop(guests: Mapping[str, Sequence[str]], *, palette: Palette) -> Figure:
    """Draw the states of a request (``serving.request.State``), who is in each, and the circle of steps between them.

    A circle of plan, compute and hand out, those who run in its middle, and boxes for the other states; arrows between
    them are named. If a state is missing or unknown, it is a ValueError: "got the states X; wanted Y".
    """
    states = {*_BOXES, "running"}
    if set(guests) != states:
        raise ValueError(f"got the states {', '.join(sorted(guests))}; wanted {', '.join(sorted(states))}")
    figure = Figure(figsize=(6.8, 3.2))
    axes = figure.subplots()
    for index, (angle, does, name) in enumerate(_STATIONS):
        x, y = _at(angle)
        following = _STATIONS[(index + 1) % 3][0]
        begin, end = _at(angle + 33), _at(following - 33)
        _arrow(axes, begin, end, palette.query, bend=0.27, width=2.2)
        axes.text(x, y + 0.2, does, ha="center", va="center", size=10.5, weight="bold", color=palette.query)
        axes.text(x, y - 0.3, name, ha="center", va="center", size=8.5, color=palette.muted)
    axes.text(0, 0.32, "running", ha="center", va="center", size=10.5, weight="bold", color=palette.query)
    axes.text(0, -0.2, _named(guests["running"]), ha="center", va="center", size=9.5, color=palette.ink)
    for state, (x, y) in _BOXES.items():
        color = palette.value if state == "finished" else palette.ink if state == "waiting" else palette.key
        corner = (x - _WIDE / 2, y - _HIGH / 2)
        draw_box(axes, corner, _WIDE, _HIGH, 0.15, fc=palette.paper, ec=color, linewidth=1.4)
        axes.text(x, y + 0.22, state, ha="center", va="center", size=10.5, weight="bold", color=color)
        axes.text(x, y - 0.26, _named(guests[state]), ha="center", va="center", size=9.5, color=palette.ink)
    left, right, top = -5.0 + _WIDE / 2 + 0.05, 5.0 - _WIDE / 2 - 0.05, 1.6 + _HIGH / 2 + 0.05
    arrows = [
        ((-5.0, 3.1), (-5.0, top), (-4.8, 2.75), "submit", "left"),
        ((left, 1.95), (-0.75, 2.05), (-2.35, 2.5), "enters: a slot\nand blocks are free", "center"),
        ((-1.0, 1.05), (left, 1.4), (-2.75, 0.75), "preempted:\nno block is free", "center"),
        ((-5.0, top - _HIGH - 0.1), (-5.0, -1.9 + _HIGH / 2 + 0.05), (-5.15, -0.15), "queue\nfull", "right"),
        ((1.0, 1.05), (right, 1.5), (2.4, 1.62), "cancel", "center"),
        ((2.05, -0.15), (right, -0.15), (2.95, 0.12), "exception", "center"),
        ((2.45, -1.2), (right, -1.75), (3.0, -1.95), "last token", "center"),
    ]
    for begin, end, place, words, side in arrows:
        _arrow(axes, begin, end, palette.muted, bend=0.0, width=1.3)
        axes.text(*place, words, ha=side, va="center", size=8.5, color=palette.muted, linespacing=1.1)
    axes.set(xlim=(-6.2, 6.1), ylim=(-2.6, 3.15), aspect="equal")
    axes.set_axis_off()
    who = "; ".join(f"{state}: {_named(names)}" for state, names in guests.items())
    figure.set_label(
        "A circle of three: Scheduler.step plans a step, ModelRunner.run computes it, Server.say hands out its tokens. "
        f"A request comes from waiting, may be preempted back to it, and ends. At this moment {who}."
    )
    return figure


def _at(angle: float) -> tuple[float, float]:
    """A point of the circle, in degrees from the right."""
    turn = np.deg2rad(angle)
    return _MIDDLE[0] + _RADIUS * float(np.cos(turn)), _MIDDLE[1] + _RADIUS * float(np.sin(turn))


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "nobody"


def _arrow(
    axes: Axes, begin: tuple[float, float], end: tuple[float, float], color: str, *, bend: float, width: float
) -> None:
    arrow = FancyArrowPatch(
        begin, end, connectionstyle=f"arc3,rad={bend}", arrowstyle="-|>", mutation_scale=11, shrinkA=0, shrinkB=0
    )
    arrow.set(color=color, linewidth=width)
    axes.add_patch(arrow)
