"""What label smoothing asks of a model that is sure."""

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def smoothing(n_words: int, epsilon: float, *, palette: Palette) -> Figure:
    """Draw a token's loss against the probability of the right word, plain and smoothed, with the lowest point of that.

    The other of V words share what is left evenly; ``epsilon`` is the share that is spread.
    """
    target = 1 - epsilon + epsilon / n_words
    p = np.sort(np.append(1 - np.logspace(-0.02, -6, 400), target))
    others = (1 - p) / (n_words - 1)
    plain = -np.log(p)
    share = epsilon / n_words
    smoothed = -(1 - epsilon + share) * np.log(p) - (n_words - 1) * share * np.log(others)
    best = int(smoothed.argmin())
    odds = -np.log10(1 - p)
    figure = Figure(figsize=(6.2, 3.0))
    axes = figure.subplots()
    axes.plot(odds, plain, color=palette.query)
    axes.plot(odds, smoothed, color=palette.key)
    axes.plot(odds[best], smoothed[best], "o", color=palette.key)
    lowest = f"lowest at p = {p[best]:.3f}"
    write_beside(axes, lowest, (odds[best], smoothed[best]), (0, -8), ha="left", size=9, color=palette.key)
    axes.text(odds[-1], plain[-1], "plain ", ha="right", va="bottom", color=palette.query, size=9)
    axes.text(odds[-1], smoothed[-1], f"smoothed, {epsilon:g} ", ha="right", va="bottom", color=palette.key, size=9)
    axes.set_xticks([0.301, 1, 2, 3, 4, 5, 6], ["0.5", "0.9", "0.99", "0.999", "", "0.99999", ""])
    axes.set(xlabel="probability p of the correct token (logarithmic in 1 − p)", ylabel="loss (nats)", ylim=(0, 3.2))
    figure.set_label(
        f"A token's loss against the probability of the correct token, among {n_words:,}. The plain loss falls to "
        f"0; with smoothing of {epsilon:g} it is lowest at {p[best]:.3f} and rises again."
    )
    return figure
