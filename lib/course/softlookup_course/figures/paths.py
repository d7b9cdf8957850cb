"""The way of a signal from the first token to the last: through every state, or straight."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def signal_paths(tokens: Sequence[str], *, palette: Palette) -> Figure:
    """Draw how what the first token says reaches the last output, in a recurrent layer and in attention.

    Two panels above each other; the way is drawn strong. A ValueError if there are fewer than two words.
    """
    n = len(tokens)
    if n < 2:
        raise ValueError(f"a way needs two words at least; got {n}")
    figure = Figure(figsize=(4.3, 4.4))  # as wide as a phone
    figure.set_label(
        f"The words {' '.join(tokens)} twice, each with an output above. In the recurrent layer the path from "
        f"the first word to the last output goes through all {n} states, {n} steps; in attention one straight line "
        f"joins them, 1 step, like every other pair."
    )
    chain, direct = figure.subplots(2, 1)
    for i in range(n):
        # Into state i + 1: from its own word, and from the state before it.
        _line(chain, (i, 0), (i, 1), palette, strong=i == 0)
        if i:
            _line(chain, (i - 1, 1), (i, 1), palette, strong=True)
        for j in range(n):
            _line(direct, (j, 0), (i, 1), palette, strong=(j, i) == (0, n - 1))
    for axes, letter, title in (
        (chain, "h", f"recurrent: {n} steps from first to last"),
        (direct, "z", "attention: 1 step from any to any"),
    ):
        axes.set_title(title)
        for i, token in enumerate(tokens):
            ends = axes is direct and i == n - 1
            color = palette.mixed if axes is chain or ends else palette.muted
            axes.text(i, -0.18, token, ha="center", va="top", size=9.5)
            axes.plot(i, 0, "o", markersize=7, color=palette.key if i == 0 else palette.muted)
            axes.plot(i, 1, "o", markersize=17, color=palette.paper, markeredgecolor=color, markeredgewidth=1.6)
            axes.text(i, 1, f"${letter}_{i + 1}$", ha="center", va="center", size=8.5, color=color)
        axes.set(xlim=(-0.5, n - 0.5), ylim=(-0.55, 1.35))
        axes.set_axis_off()
    return figure


def _line(axes: Axes, start: tuple[float, float], end: tuple[float, float], palette: Palette, *, strong: bool) -> None:
    color, width = (palette.mixed, 2.6) if strong else (palette.faint, 0.9)
    axes.plot(*zip(start, end, strict=True), color=color, linewidth=width, zorder=1 if strong else 0)
