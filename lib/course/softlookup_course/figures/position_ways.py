"""Where position information can enter a transformer: at its input, at queries and keys, or at the scores."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette

_STEPS = ("token embeddings", "queries and keys", "scores", "softmax")
_TURN = "\N{CLOCKWISE OPEN CIRCLE ARROW}"
_WAYS = (
    ("absolute", "+", "A row for each position is\nadded to the embeddings, once:\nsinusoids, learned positions."),
    ("rotary", _TURN, "Each query and each key is\nrotated by its position:\nRoPE."),
    ("relative", "+", "A term for the distance is\nadded to each score:\nShaw, T5, ALiBi."),
)


def position_ways(*, palette: Palette) -> Figure:
    """Draw the way from tokens to attention weights, with the three places where positions come in.

    It is read from the top to the bottom: four steps, and between them a sign for each way in.
    """
    figure = Figure(figsize=(4.3, 4.4))  # as wide as a phone
    figure.set_label(
        "The steps of attention from top to bottom: token embeddings, queries and keys, scores, softmax; all but the "
        "first belong to every layer. Positions can enter at three points. Absolute: a row is added to the token "
        "embeddings. Rotary: queries and keys are rotated. Relative: a term for the distance is added to the scores."
    )
    axes = figure.subplots()
    box: dict[str, Any] = {"boxstyle": "round,pad=0.05,rounding_size=0.12", "fill": False, "linewidth": 1.6}
    axes.add_patch(Rectangle((-0.15, -0.45), 3.7, 6.85, facecolor=palette.faint, alpha=0.35, edgecolor="none"))
    axes.text(1.7, 0.07, "in every layer", ha="center", va="top", size=8, color=palette.muted)
    tops = [8.0 - 2.6 * step for step in range(len(_STEPS))]
    for step, (top, name) in enumerate(zip(tops, _STEPS, strict=True)):
        axes.add_patch(FancyBboxPatch((0.1, top), 3.2, 0.75, edgecolor=palette.ink, **box))
        axes.text(1.7, top + 0.37, name, ha="center", va="center", size=9.5)
        if step == len(_WAYS):
            break
        below = top - 2.6 + 0.8
        draw_arrow(axes, (1.7, top - 0.05), (1.7, below), palette.muted)
        kind, sign, text = _WAYS[step]
        # The first way stands above the shade: it is taken once, before any layer.
        color, y = palette.series[step], 7.2 if step == 0 else (top - 0.05 + below) / 2 + 0.1
        draw_arrow(axes, (4.0, y), (2.0, y), color, 2)
        circle = {"boxstyle": "circle,pad=0.18", "facecolor": palette.paper, "edgecolor": color, "linewidth": 1.6}
        axes.text(1.7, y, sign, ha="center", va="center", size=11, color=color, bbox=circle, zorder=3)
        axes.text(4.15, y + 0.42, kind, ha="left", va="bottom", size=10.5, weight="bold", color=color)
        axes.text(4.15, y + 0.36, text, ha="left", va="top", size=8.3, linespacing=1.25)
    axes.set(xlim=(-0.3, 9.0), ylim=(-0.55, 8.95))
    axes.set_axis_off()
    return figure
