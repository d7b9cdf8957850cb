"""Which pairs of a rotary embedding YaRN slows down, and by how much."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def rotary_ramp(
    turns: Sequence[float] | np.ndarray,
    share: Sequence[float] | np.ndarray,
    ends: tuple[float, float],
    *,
    palette: Palette,
) -> Figure:
    """Draw how much of its speed each pair keeps, beside how often it turns within the trained length.

    ``turns`` has the fastest pair first, ``share`` a pair's new speed as a fraction of the old; ``ends`` are the turns
    from which a pair is left alone, and those up to which it is slowed down by the whole factor. A bar for each pair,
    its turns along the upper edge, and a line at each end of the ramp. A ValueError if turns and share are not of one
    length, turns do not fall, or the ends are not in order.
    """
    fast, speeds = np.asarray(turns, dtype=float), np.asarray(share, dtype=float)
    if fast.ndim != 1 or fast.shape != speeds.shape or np.any(np.diff(fast) >= 0) or not ends[0] > ends[1] > 0:
        raise ValueError(
            f"turns of shape {fast.shape}, share of shape {speeds.shape}, ends {ends}; wanted falling turns, as many "
            "shares, and the larger end first"
        )
    figure = Figure(figsize=(6.4, 3.0))
    axes = figure.subplots()
    pairs = np.arange(len(fast))
    alone, slow = int((fast >= ends[0]).sum()), int((fast > ends[1]).sum())
    colors = [palette.query if i < alone else palette.key if i >= slow else palette.mixed for i in pairs]
    axes.bar(pairs, speeds, width=0.72, color=colors, alpha=0.75)
    at = [float(np.interp(-np.log(end), -np.log(fast), pairs)) for end in ends]
    for x, end in zip(at, ends, strict=True):
        axes.plot([x, x], [0, 1.07], color=palette.ink, linewidth=1, linestyle="--")
        words = f"{end:g} turn{'s' if end != 1 else ''}"
        axes.text(x, 1.09, words, ha="center", va="bottom", size=9)
    middle = (at[0] + at[1]) / 2
    for x, words, color in (
        (at[0] / 2, "left alone", palette.query),
        (middle, "blended", palette.mixed),
        ((at[1] + len(fast) - 1) / 2, f"slowed down\n{1 / speeds[-1]:.0f} times", palette.key),
    ):
        y = 1.03 if x == at[0] / 2 else float(np.interp(x, pairs, speeds)) + 0.05
        shift = 3.5 if x == middle else 0.0
        axes.text(x + shift, y, words, ha="center", va="bottom", size=9.5, color=color, weight="bold")
    above = axes.secondary_xaxis("top")
    marks = np.arange(0, len(fast), max(1, len(fast) // 6))
    above.set_xticks(marks, [f"{fast[i]:.0f}" if fast[i] >= 1 else f"{fast[i]:.1g}" for i in marks])
    above.set_xlabel("turns within the trained length")
    above.spines["top"].set_visible(False)
    above.tick_params(length=0, labelcolor=palette.muted)
    axes.set_xticks(marks)
    axes.set(xlabel="pair of the head", ylabel="speed that is left", ylim=(0, 1.22), xlim=(-1, len(fast)))
    axes.set_yticks([0, 0.5, 1])
    figure.set_label(
        f"How much of its speed each of {len(fast)} pairs keeps. Those with {ends[0]:g} turns or more within the "
        f"trained length, the first {alone}, are left alone; those with {ends[1]:g} or fewer, from pair {slow} on, "
        f"keep {speeds[-1]:.3f}; between them the speed falls in a straight line."
    )
    return figure
