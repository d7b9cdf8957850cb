"""What a temperature does: the same scores, from a hard lookup to the plain mean."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def temperature_curves(
    names: Sequence[str],
    taus: np.ndarray,
    weights: np.ndarray,
    *,
    palette: Palette,
) -> Figure:
    """Draw the weight of each of up to four keys, (n, S), against n temperatures, which grow.

    One line for each key on a logarithmic axis: apart at the left, together at 1/S at the right. A ValueError if the
    weights' shape does not fit, or there are more than four keys.
    """
    taus_n, weights_nS = np.asarray(taus, dtype=float), np.asarray(weights, dtype=float)
    if weights_nS.shape != (len(taus_n), len(names)) or len(names) > 4:
        raise ValueError(
            f"weights have shape {weights_nS.shape}, wanted ({len(taus_n)}, {len(names)}) and at most four keys"
        )
    figure = Figure(figsize=(6.4, 2.9))
    axes = figure.subplots()
    order = np.argsort(-weights_nS[len(taus_n) // 3])
    styles = ("-", "--", "-.", ":")
    # As in the interactive figure above it: the first three keys have these colours, blue is the query's.
    colors = (palette.key, palette.value, palette.mixed, palette.query)
    inner = slice(len(taus_n) // 8, -len(taus_n) // 4)
    for rank, s in enumerate(order):
        color = colors[s]
        axes.plot(taus_n, weights_nS[:, s], styles[rank], color=color)
        # Each name stands where its line is farthest from all others, and from the line of equal shares.
        others_nS = np.column_stack([np.delete(weights_nS, s, axis=1), np.full(len(taus_n), 1 / len(names))])
        apart_n = np.abs(others_nS - weights_nS[:, [s]]).min(axis=1)
        place = inner.start + int(apart_n[inner].argmax())
        falling = weights_nS[0, s] > weights_nS[-1, s]
        lowest = weights_nS[place, s] <= weights_nS[place].min()
        left = not (falling or lowest)  # a rising line has room at its upper left, the lowest one beneath it
        at, away = (taus_n[place], weights_nS[place, s]), (-7 if left else 6, -5 if lowest else 4)
        write_beside(axes, names[s], at, away, color=color, size=9.5)
    even = 1 / len(names)
    axes.axhline(even, color=palette.muted, linewidth=1, linestyle=(0, (1, 3)))
    axes.text(taus_n[0], even, f" 1/S = {even:.2f}", ha="left", va="bottom", size=9, color=palette.muted)
    axes.set(xscale="log", ylim=(-0.03, 1.06), xlim=(taus_n[0], taus_n[-1]), ylabel="weight")
    axes.set_xlabel("temperature τ   (left: hard, right: the mean)")
    first, last = weights_nS[0], weights_nS[-1]
    description = ", ".join(f"{name} from {a:.2f} to {b:.2f}" for name, a, b in zip(names, first, last, strict=True))
    figure.set_label(
        f"Weights against the temperature, from {taus_n[0]:g} to {taus_n[-1]:g} on a logarithmic axis: {description}. "
        f"At the right all lines meet at one over the number of keys, {even:.2f}."
    )
    return figure
