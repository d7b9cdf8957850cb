"""LayerNorm in three steps on a few tokens: where their numbers lie before and after."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from softlookup.figures.theme import Palette

_MARKS = "osD^"


def norm_steps(words: Sequence[str], stages: Sequence[tuple[str, np.ndarray]], *, palette: Palette) -> Figure:
    """Draw the numbers of some tokens beside their names, at every stage of a norm.

    Args:
        words: One for each token.
        stages: The name of a stage, and the tokens' numbers there (T, D).

    Returns:
        One panel for each stage, all on one scale, one below the other; a band for each token, in it a mark for each
        number, each feature at a height of its own, and a stroke at the mean. A legend names the marks.

    Raises:
        ValueError: If a stage has not one row for each word.
    """
    figure = Figure(figsize=(4.3, 1.0 + (0.5 + 0.42 * len(words)) * len(stages)))  # as wide as a phone
    panels = figure.subplots(len(stages), 1, sharey=True, sharex=True, squeeze=False)[:, 0]
    descriptions = []
    features = 0
    for axes, (name, numbers) in zip(panels, stages, strict=True):
        numbers = np.asarray(numbers, dtype=float)
        if len(numbers) != len(words):
            raise ValueError(f"stage {name!r} has {len(numbers)} rows; wanted one for each of the {len(words)} words")
        axes.set_title(name)
        axes.axvline(0, color=palette.faint, linewidth=1, zorder=0)
        features = numbers.shape[1]
        heights = np.linspace(-0.27, 0.27, features) if features > 1 else np.zeros(1)
        for row, line in enumerate(numbers):
            for d, (number, height) in enumerate(zip(line, heights, strict=True)):
                color, mark = _look(d, palette)
                axes.plot(number, row + height, mark, color=color, markersize=4.5)
            axes.plot([line.mean()] * 2, [row - 0.38, row + 0.38], color=palette.ink, linewidth=1.4, zorder=1)
        for row in range(1, len(words)):
            axes.axhline(row - 0.5, color=palette.faint, linewidth=0.6, zorder=0)
        spread = numbers.std(axis=1)
        descriptions.append(f"{name}: standard deviations {', '.join(f'{s:.2f}' for s in spread)}")
        axes.set_yticks(range(len(words)), words)
        axes.set_ylim(len(words) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
    named = [
        Line2D([], [], linestyle="", marker=mark, color=color, markersize=4.5, label=f"feature {d + 1}")
        for d, (color, mark) in ((d, _look(d, palette)) for d in range(features))
    ]
    named.append(Line2D([], [], color=palette.ink, linewidth=1.4, label="mean"))
    figure.legend(handles=named, loc="outside lower center", ncols=3, fontsize=8.5)
    figure.set_label(
        f"The numbers of {len(words)} tokens, a band for each token, with a line at its mean, in {len(stages)} stages. "
        f"{'; '.join(descriptions)}."
    )
    return figure


def _look(feature: int, palette: Palette) -> tuple[str, str]:
    """The colour and the mark of a feature."""
    return palette.series[feature % len(palette.series)], _MARKS[feature % len(_MARKS)]
