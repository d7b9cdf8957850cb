"""Norm after the sum, or before the sublayer: two drawings of one sublayer, and the residual stream past it."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette


def pre_post_norm(*, palette: Palette) -> Figure:
    """Draw a post-LN and a pre-LN sublayer side by side; a residual stream that meets no norm is drawn heavy.

    They are read from below: x comes in at the foot, y leaves at the top.
    """
    figure = Figure(figsize=(6.2, 3.7))
    post, pre = figure.subplots(1, 2)
    _panel(post, "post-LN: norm(x + f(x))", 4.05, palette)
    _panel(pre, "pre-LN: x + f(norm(x))", 0.95, palette)
    figure.set_label(
        "Two drawings of one sublayer, from bottom to top. Left, post-LN: x splits, one branch passes through the "
        "sublayer f, both are added, and the sum goes through the norm, so the residual stream runs through a "
        "norm. Right, pre-LN: the branch passes through the norm and then f before it is added; the residual stream "
        "meets no norm."
    )
    return figure


def _panel(axes: Axes, title: str, norm_at: float, palette: Palette) -> None:
    after = norm_at > 3
    stream = palette.value
    axes.set_title(title)
    on_branch = [(2.0 if after else 2.25, "f", palette.query)] + ([] if after else [(norm_at, "norm", palette.key)])
    # The residual stream, from x to y: heavy where no norm stands on it.
    axes.plot([0, 0], [-0.35, 5.0], color=stream, linewidth=5 if not after else 2.2, solid_capstyle="butt", zorder=1)
    axes.annotate("", (0, 5.25), (0, 4.9), arrowprops={"arrowstyle": "-|>", "color": stream}, zorder=2)
    axes.plot([0, 1.5, 1.5, 0.28], [0.1, 0.1, 3.15, 3.15], color=palette.muted, linewidth=1.6, zorder=1)
    draw_arrow(axes, (0.6, 3.15), (0.24, 3.15), palette.muted, 1.0)
    box = {"boxstyle": "round,pad=0.4", "facecolor": palette.paper}
    for at, name, color in on_branch:
        axes.text(1.5, at, name, ha="center", va="center", size=11, bbox=box | {"edgecolor": color}, zorder=3)
    plus = {"boxstyle": "circle,pad=0.18", "facecolor": palette.paper, "edgecolor": palette.ink}
    axes.text(0, 3.15, "+", ha="center", va="center", size=12, bbox=plus, zorder=3)
    if after:
        axes.text(
            0, norm_at, "norm", ha="center", va="center", size=11, bbox=box | {"edgecolor": palette.key}, zorder=3
        )
    axes.text(0, -0.45, "x", ha="center", va="top", size=11)
    axes.text(0, 5.3, "y", ha="center", va="bottom", size=11)
    text = "the residual stream\npasses a norm" if after else "the residual stream\npasses no norm"
    axes.text(-0.25, 1.65, text, ha="right", va="center", size=9, color=stream)
    axes.set(xlim=(-2.2, 2.2), ylim=(-0.9, 5.8))
    axes.set_axis_off()
