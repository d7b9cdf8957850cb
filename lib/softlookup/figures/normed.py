"""LayerNorm in three steps on a few tokens: where their numbers lie before and after."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup.figures.theme import Palette


def norm_steps(words: Sequence[str], stages: Sequence[tuple[str, np.ndarray]], *, palette: Palette) -> Figure:
    """Draw the numbers of some tokens on a line each, at every stage of a norm.

    Args:
        words: One for each token.
        stages: The name of a stage, and the tokens' numbers there (T, D).
        palette: The colours to draw in.

    Returns:
        One panel for each stage, all on one scale; a line for each token, a mark for each number, a stroke at the mean.

    Raises:
        ValueError: If a stage has not one row for each word.
    """
    figure = Figure(figsize=(6.6, 0.7 + 0.42 * len(words)))
    panels = figure.subplots(1, len(stages), sharey=True, sharex=True, squeeze=False)[0]
    said = []
    for axes, (name, numbers) in zip(panels, stages, strict=True):
        numbers = np.asarray(numbers, dtype=float)
        if len(numbers) != len(words):
            raise ValueError(f"stage {name!r} has {len(numbers)} rows; wanted one for each of the {len(words)} words")
        axes.set_title(name)
        axes.axvline(0, color=palette.faint, linewidth=1, zorder=0)
        for row, line in enumerate(numbers):
            for number, color, mark in zip(line, palette.series * 4, "osD^" * 4, strict=False):
                axes.plot(number, row, mark, color=color, markersize=6)
            axes.plot([line.mean()] * 2, [row - 0.3, row + 0.3], color=palette.ink, linewidth=1.4)
        spread = numbers.std(axis=1)
        said.append(f"{name}: spreads {', '.join(f'{s:.2f}' for s in spread)}")
        axes.set_yticks(range(len(words)), words)
        axes.set_ylim(len(words) - 0.5, -0.5)
        axes.tick_params(length=0)
    figure.set_label(
        f"The numbers of {len(words)} tokens on one line each, the mean as a stroke, in {len(stages)} stages. "
        f"{'; '.join(said)}."
    )
    return figure
