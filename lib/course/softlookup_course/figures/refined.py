"""What becomes of a word's vector from layer to layer: how far two uses of one word drift apart."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.ends import kept_apart
from softlookup_course.figures.theme import Palette


def drifting(
    apart: np.ndarray, together: np.ndarray, others: Sequence[float], start: Sequence[float], *, palette: Palette
) -> Figure:
    """Draw cosines between two uses of one word, layer by layer, beside two yardsticks.

    ``apart`` is for words with two meanings, ``together`` for words used twice in one meaning: the cosine after each
    layer (words, L + 1). ``others`` is the mean cosine between two different tokens of one sentence, ``start`` that of
    a token to its own embedding. Thin lines are single words, heavy ones their means.
    """
    figure = Figure(figsize=(4.3, 4.2))  # as wide as a phone
    axes = figure.subplots()
    layers = np.arange(len(others))
    ends = []
    for curves, name, color, style in (
        (together, "same word,\nsame sense", palette.query, "-"),
        (apart, "same word,\ntwo senses", palette.key, "-"),
        (np.asarray(start)[None], "a token and\nits embedding", palette.mixed, "--"),
        (np.asarray(others)[None], "two different\ntokens", palette.value, ":"),
    ):
        curves = np.asarray(curves)
        if len(curves) > 1:
            axes.plot(layers, curves.T, color=color, linewidth=0.8, alpha=0.45)
        mean = curves.mean(axis=0)
        axes.plot(layers, mean, style, color=color, linewidth=2.4)
        ends.append((mean[-1], name, color))
    for (height, name, color), at in zip(ends, kept_apart([end[0] for end in ends], 0.135), strict=True):
        axes.text(layers[-1] * 1.03, at, f"{name}, {height:.2f}", va="center", color=color, size=9, linespacing=1.1)
    axes.set(xlabel="number of layers passed", ylabel="cosine", ylim=(0, 1.03), xlim=(0, layers[-1] * 1.62))
    axes.set_xticks(layers)
    axes.grid(axis="y")
    description = "; ".join(f"{' '.join(name.split())} {height:.2f}" for height, name, _ in ends)
    figure.set_label(f"Cosines after each of {layers[-1]} layers. After the last one: {description}.")
    return figure
