"""LayerNorm in three steps on a few tokens: where their numbers lie before and after."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette

_MARKS = "osD^"


def norm_steps(words: Sequence[str], stages: Sequence[tuple[str, np.ndarray]], *, palette: Palette) -> Figure:
    """Draw the numbers of some tokens beside their names, at every stage of a norm.

    A stage is its name, and the tokens' numbers there (T, D): a ValueError if it has not one row for each word. Panels
    are all on one scale, one below the other; a band for each token, in it a mark for each number, each feature at a
    height of its own, and a stroke at the mean. The widest band names them.
    """
    figure = Figure(figsize=(4.3, 0.75 + (0.5 + 0.42 * len(words)) * len(stages)))  # as wide as a phone
    panels = figure.subplots(len(stages), 1, sharey=True, sharex=True, squeeze=False)[:, 0]
    widest = int(np.argmax(np.ptp(np.asarray(stages[0][1], dtype=float), axis=1)))
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
                color, mark = palette.series[d % len(palette.series)], _MARKS[d % len(_MARKS)]
                axes.plot(number, row + height, mark, color=color, markersize=4.5)
                if axes is panels[0] and row == widest:
                    write_beside(axes, str(d + 1), (number, row + height), (5, 0), color=color, size=8.5)
            axes.plot([line.mean()] * 2, [row - 0.38, row + 0.38], color=palette.ink, linewidth=1.4, zorder=1)
        for row in range(1, len(words)):
            axes.axhline(row - 0.5, color=palette.faint, linewidth=0.6, zorder=0)
        spread = numbers.std(axis=1)
        descriptions.append(f"{name}: standard deviations {', '.join(f'{s:.2f}' for s in spread)}")
        axes.set_yticks(range(len(words)), words)
        axes.set_ylim(len(words) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
    panels[-1].set_xlabel(f"value of each feature, 1 to {features}")
    _name_mean(panels[0], widest, np.asarray(stages[0][1], dtype=float)[widest])
    figure.set_label(
        f"The numbers of {len(words)} tokens, a band for each token, with a line at its mean, in {len(stages)} stages. "
        f"{'; '.join(descriptions)}."
    )
    return figure


def _name_mean(axes: Axes, row: int, numbers: np.ndarray) -> None:
    """Write "mean" on that side of a band's stroke where the next number is farther away."""
    mean = numbers.mean()
    left = mean - max(numbers[numbers < mean], default=mean)
    right = min(numbers[numbers > mean], default=mean) - mean
    away, side = (-4, "right") if left > right else (4, "left")
    write_beside(axes, "mean", (mean, row), (away, 0), ha=side, size=8.5)
