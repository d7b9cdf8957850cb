"""The way of an answer, from the notebook that is given out to the one that is handed in."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette

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
    """Draw both ways to do a task: in a notebook, and in a page of the book; both end with a notebook.

    It is read downwards: the notebook on the left, the page on the right.
    """
    figure = Figure(figsize=(4.3, 4.1))  # as wide as a phone
    figure.set_label(
        "Two ways from a task to a notebook that is handed in. With notebooks: make lab copies exercises/ to my_work/; "
        "there you answer and check, as often as you like, and hand in the notebook. In a page of this book: the "
        "button Do it here, then answer and check in the browser; Save your answers as a notebook makes the file that "
        "you hand in."
    )
    axes = figure.subplots()
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
    axes.set(xlim=(-0.2, 10.0), ylim=(-6.9, 1.4))
    axes.set_axis_off()
    return figure
