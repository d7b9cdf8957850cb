"""Does a head with a clear map matter? Its habit, and what the model loses without it."""

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def heads_needed(before_LN: np.ndarray, lost_LN: np.ndarray, uniform: float, *, palette: Palette) -> Figure:
    """Draw one dot for each head: its weight on the token before, and the loss that its absence adds.

    ``before_LN`` is the mean weight that each head puts on the token before, ``lost_LN`` the change of the loss without
    it, in nats for each token (a ValueError if the shapes differ), and ``uniform`` the weight that a head without
    preferences would put there. The head with the largest weight and the one with the largest loss are named; both are
    counted from 1.
    """
    before_LN, lost_LN = np.asarray(before_LN, dtype=float), np.asarray(lost_LN, dtype=float)
    if before_LN.shape != lost_LN.shape:
        raise ValueError(f"habits and losses differ in shape: {before_LN.shape} and {lost_LN.shape}")
    clearest, dearest = before_LN.argmax(), lost_LN.argmax()
    names = {
        i: "layer {}, head {}".format(*(1 + np.array(np.unravel_index(i, before_LN.shape))))
        for i in (clearest, dearest)
    }
    figure = Figure(figsize=(5.6, 3.3))
    figure.set_label(
        f"One dot for each of {before_LN.size} heads. The clearest habit, {before_LN.max():.2f} of the weight on the "
        f"token before, has {names[clearest]}; without it the loss changes by {lost_LN.ravel()[clearest]:+.4f} nats. "
        f"The largest change, {lost_LN.max():+.4f}, is that of {names[dearest]}, with {before_LN.ravel()[dearest]:.2f} "
        "on the token before."
    )
    axes = figure.subplots()
    axes.axhline(0, color=palette.muted, linewidth=0.8)
    axes.axvline(uniform, color=palette.muted, linewidth=0.8, linestyle=":")
    axes.scatter(before_LN.ravel(), lost_LN.ravel(), s=26, color=palette.query, zorder=3)
    for i, name in names.items():
        x, y = before_LN.ravel()[i], lost_LN.ravel()[i]
        left = x > before_LN.max() * 0.7
        write_beside(axes, name, (x, y), (-4 if left else 7, 6), va="baseline", color=palette.ink)
    axes.margins(y=0.14)
    axes.text(
        uniform + 0.008, axes.get_ylim()[0], "uniform weights", ha="left", va="bottom", size=9.5, color=palette.muted
    )
    axes.set(xlabel="weight on the token before", ylabel="change of the loss\nwithout the head, nats", xlim=(0, None))
    return figure
