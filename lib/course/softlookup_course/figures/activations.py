"""The bends inside a feed-forward network: ReLU, GELU and SiLU on one pair of axes."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def activations(
    x: np.ndarray, curves: Mapping[str, np.ndarray], least: Sequence[str] = (), *, palette: Palette
) -> Figure:
    """Draw some activations, up to four curves by name, against their input, increasing numbers.

    The lowest point of those in ``least`` is marked, and the curve is named there; else left of its rise.
    """
    x = np.asarray(x, dtype=float)
    figure = Figure(figsize=(5.6, 3.1))
    axes = figure.subplots()
    axes.axhline(0, color=palette.faint, linewidth=1, zorder=0)
    axes.axvline(0, color=palette.faint, linewidth=1, zorder=0)
    lows = []
    for place, ((name, curve), color) in enumerate(zip(curves.items(), palette.series, strict=False)):
        style = ("-", "--", "-.", ":")[place]
        axes.plot(x, curve, style, color=color)
        if name not in least:
            beside = int(np.searchsorted(curve, 0.6 * np.max(curve)))
            write_beside(axes, name, (x[beside], curve[beside]), (-8, 0), va="baseline", color=color)
        else:
            at = int(np.argmin(curve))
            axes.plot(x[at], curve[at], "o", color=color, markersize=6)
            text = f"{name}\n{curve[at]:.2f} at {x[at]:.2f}".replace("-", "\N{MINUS SIGN}")
            right = place % 2 == 1  # on the side where the other one is not
            write_beside(axes, text, (x[at], curve[at]), (10 if right else -8, -6), size=9, color=color)
            lows.append(f"{name} has its minimum, {curve[at]:.2f}, at {x[at]:.2f}")
    low = min(float(np.min(curve)) for curve in curves.values())
    axes.set(xlabel="z", ylabel="activation", xlim=(x[0], x[-1]))
    axes.set_ylim(bottom=low - 1.0)
    figure.set_label(
        f"{', '.join(curves)} against their input from {x[0]:g} to {x[-1]:g}. All are near 0 far to the left and near "
        f"the input itself far to the right. {'; '.join(lows) + '.' if lows else ''}"
    )
    return figure
