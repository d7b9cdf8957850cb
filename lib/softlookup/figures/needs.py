"""What one output needs, and what it does not."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette


def dependency(tokens: Sequence[str], target: int, *, palette: Palette) -> Figure:
    """Draw which numbers one output is made of: every key and value, one query, and no other output.

    Args:
        tokens: The words of the sentence.
        target: The position (from 0) whose output is followed.

    Returns:
        One panel: words below, keys, values and the one query above them, outputs on top.

    Raises:
        IndexError: If there is no such position: "no position P in a sentence of N words".
    """
    if not 0 <= target < len(tokens):
        raise IndexError(f"no position {target} in a sentence of {len(tokens)} words")
    n, p = len(tokens), target + 1
    figure = Figure(figsize=(4.4, 3.1))
    figure.set_label(
        f"The words {', '.join(tokens)}, each with its x, q, k and v, and the outputs z1 to z{n} above. "
        f"Lines lead to z{p} from all {n} keys, all {n} values and query {p} alone. The other queries "
        f"and outputs are faint."
    )
    axes = figure.subplots()
    for j, token in enumerate(tokens):
        x, here = 3.0 * j, j == target
        axes.text(x, -0.15, token, ha="center", va="top", size=10)
        _node(axes, x, 0.45, f"$x_{j + 1}$", palette.ink, palette)
        _node(axes, x - 0.85, 1.9, f"$q_{j + 1}$", palette.query if here else palette.faint, palette)
        _node(axes, x, 1.9, f"$k_{j + 1}$", palette.key, palette)
        _node(axes, x + 0.85, 1.9, f"$v_{j + 1}$", palette.value, palette)
        _node(axes, x, 4.6, f"$z_{j + 1}$", palette.mixed if here else palette.faint, palette)
        for dx in (-0.85, 0.0, 0.85):
            if dx >= 0 or here:
                axes.plot([x, x + dx], [0.78, 1.56], color=palette.muted, linewidth=1, zorder=0)
        for dx, color in ((0.0, palette.key), (0.85, palette.value)):
            axes.plot([x + dx, 3.0 * target], [2.25, 4.24], color=color, linewidth=1.6, alpha=0.85, zorder=0)
    axes.plot([3.0 * target - 0.85, 3.0 * target], [2.25, 4.24], color=palette.query, linewidth=2.4, zorder=0)
    axes.set(xlim=(-1.35, 3.0 * (len(tokens) - 1) + 1.35), ylim=(-0.8, 5.1), aspect="auto")
    axes.set_axis_off()
    return figure


def _node(axes: Axes, x: float, y: float, name: str, color: str, palette: Palette) -> None:
    """Draw a named circle; a faint one stands for what is not needed."""
    ink = palette.muted if color == palette.faint else color
    axes.plot(x, y, "o", markersize=19, color=palette.paper, markeredgecolor=color, markeredgewidth=1.6)
    axes.text(x, y, name, ha="center", va="center", size=9.5, color=ink, zorder=3)
