"""One decoder layer beside its encoder: three parts, and where each takes its queries, keys and values from."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette

_PARTS = (("self-attention", "causal mask"), ("cross-attention", "source's padding mask"), ("feed-forward", "no mask"))


def decoder_parts(*, palette: Palette) -> Figure:
    """Draw a pre-LN decoder layer as three sums, with the encoder's output coming in from the side.

    It is read from the bottom to the top.
    """
    figure = Figure(figsize=(6.4, 4.6))
    figure.set_label(
        "A decoder layer from bottom to top: the target's vectors pass a norm and causal self-attention, then a norm "
        "and cross-attention, then a norm and a feed-forward network; each result is added to what came in. The "
        "encoder's output enters cross-attention alone, as keys and values, under the source's padding mask."
    )
    axes = figure.subplots()
    axes.plot([1.2, 1.2], [0.3, 7.6], color=palette.ink, linewidth=2.2)
    draw_arrow(axes, (1.2, 7.5), (1.2, 8.0), palette.ink, 2.2)
    for level, (part, mask) in enumerate(_PARTS):
        y = 1.35 + 2.3 * level
        color = (palette.query, palette.key, palette.value)[level]
        _box(axes, 2.1, y - 0.35, 0.9, "norm", palette.muted)
        _box(axes, 3.6, y - 0.35, 2.5, part, color)
        draw_arrow(axes, (1.2, y), (2.05, y), palette.muted)
        draw_arrow(axes, (3.05, y), (3.55, y), palette.muted)
        axes.plot([4.85, 4.85, 1.35], [y + 0.4, y + 0.95, y + 0.95], color=palette.muted, linewidth=1.4)
        disc = {"boxstyle": "circle,pad=0.12", "facecolor": palette.ink, "edgecolor": "none"}
        axes.text(1.2, y + 0.95, "+", ha="center", va="center", size=13, color=palette.paper, bbox=disc)
        axes.text(4.85, y - 0.47, mask, ha="center", va="top", size=8.5, color=palette.muted)
    _box(axes, 7.4, 3.3, 2.2, "encoder's\noutput", palette.key, height=0.9)
    draw_arrow(axes, (7.35, 3.65), (6.15, 3.65), palette.key)
    axes.text(6.75, 3.78, "keys,\nvalues", ha="center", va="bottom", size=8.5, color=palette.key)
    axes.text(3.3, 4.14, "queries", ha="center", va="bottom", size=8.5, color=palette.query)
    axes.text(1.2, 0.18, "target, shifted right", ha="center", va="top", size=9)
    axes.text(1.2, 8.1, "(B, T, D), to the next layer", ha="center", va="bottom", size=9)
    axes.text(8.5, 3.1, "(B, S, D), the same\nfor every layer", ha="center", va="top", size=8.5, color=palette.muted)
    axes.set(xlim=(-0.6, 9.8), ylim=(-0.4, 8.6))
    axes.set_axis_off()
    return figure


def _box(axes: Axes, x: float, y: float, width: float, text: str, color: str, height: float = 0.7) -> None:
    look: dict[str, Any] = {"boxstyle": "round,pad=0.05,rounding_size=0.12", "fill": False, "linewidth": 1.6}
    axes.add_patch(FancyBboxPatch((x, y), width, height, edgecolor=color, **look))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", size=10)
