"""What a temperature does: the same scores, from a hard lookup to the plain mean."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette


def temperature_curves(
    names: Sequence[str],
    taus: np.ndarray,
    weights: np.ndarray,
    *,
    palette: Palette,
) -> Figure:
    """Draw the weight of each key against the temperature.

    Args:
        names: The keys, at most four.
        taus: Temperatures, growing, shape (n,).
        weights: The weights at each temperature, shape (n, S).
        palette: The colours to draw in.

    Returns:
        One line for each key on a logarithmic axis: apart at the left, together at 1/S at the right.

    Raises:
        ValueError: If the weights' shape does not fit, or there are more than four keys.
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
    for rank, s in enumerate(order):
        color = palette.series[rank]
        axes.plot(taus_n, weights_nS[:, s], styles[rank], color=color)
        axes.annotate(
            names[s],
            (taus_n[len(taus_n) // 3], weights_nS[len(taus_n) // 3, s]),
            xytext=(4, 5),
            textcoords="offset points",
            color=color,
            size=9.5,
        )
    even = 1 / len(names)
    axes.axhline(even, color=palette.muted, linewidth=1, linestyle=(0, (1, 3)))
    axes.text(taus_n[0], even, f"1/S = {even:.2f} ", ha="left", va="bottom", size=9, color=palette.muted)
    axes.set(xscale="log", ylim=(-0.03, 1.06), xlim=(taus_n[0], taus_n[-1]), ylabel="weight")
    axes.set_xlabel("temperature τ   (left: hard, right: the plain mean)")
    first, last = weights_nS[0], weights_nS[-1]
    said = ", ".join(f"{name} from {a:.2f} to {b:.2f}" for name, a, b in zip(names, first, last, strict=True))
    figure.set_label(
        f"Weights against the temperature, from {taus_n[0]:g} to {taus_n[-1]:g} on a logarithmic axis: {said}. "
        f"At the right all lines meet at one over the number of keys, {even:.2f}."
    )
    return figure
