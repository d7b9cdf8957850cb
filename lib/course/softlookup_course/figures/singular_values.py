"""The singular values of an update, as the gradients make it and as Muon steps."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def singular_values(updates: Mapping[str, Sequence[float] | np.ndarray], *, palette: Palette) -> Figure:
    """Draw how far each of up to three updates moves each of its directions, by their singular values, in one order.

    One panel for each update, side by side on one scale, with a bar for each singular value and a line at 1; the first
    and the last have their numbers. A ValueError if there are none or more than three, or their lengths differ.
    """
    values = {name: np.asarray(numbers, dtype=float) for name, numbers in updates.items()}
    if not 1 <= len(values) <= 3 or len({numbers.shape for numbers in values.values()}) != 1:
        shapes = {name: numbers.shape for name, numbers in values.items()}
        raise ValueError(f"updates of shapes {shapes}; wanted one to three, with as many singular values each")
    figure = Figure(figsize=(6.4, 2.6))
    panels = figure.subplots(1, len(values), sharey=True, squeeze=False)[0]
    colors = palette.key, palette.query, palette.value
    descriptions = []
    for axes, (name, numbers), color in zip(panels, values.items(), colors, strict=False):
        axes.bar(range(len(numbers)), numbers, width=0.7, color=color, alpha=0.75)
        axes.axhline(1, color=palette.muted, linewidth=1, linestyle="--")
        for i in (0, len(numbers) - 1):
            axes.text(i, numbers[i] + 0.02, f"{numbers[i]:.2g}", ha="center", va="bottom", size=8.5, color=color)
        axes.set_title(name)
        axes.set(xlabel="direction", xticks=[])
        descriptions.append(f"{name}, from {numbers.max():.2f} to {numbers.min():.2f}")
    panels[0].set(ylabel="singular value", ylim=(0, 1.15 * max(1.0, *(numbers.max() for numbers in values.values()))))
    figure.set_label(
        f"The {len(next(iter(values.values())))} singular values of a matrix, by direction. {'; '.join(descriptions)}."
    )
    return figure
