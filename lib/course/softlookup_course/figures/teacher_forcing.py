"""What training computes at once, inference computes one after another."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette


def teacher_forcing(tokens: Sequence[str], *, palette: Palette) -> Figure:
    """Draw the predictions of a sentence's words, start token included, twice: in one step, and each in one of its own.

    Two panels above each other, with a box for each prediction: the token that is given, and the one it predicts. A row
    is a step. A ValueError if there are fewer than two tokens.
    """
    if len(tokens) < 2:
        raise ValueError(f"a prediction needs two tokens at least; got {len(tokens)}")
    pairs = list(zip(tokens[:-1], tokens[1:], strict=True))
    n = len(pairs)
    figure = Figure(figsize=(4.3, 0.62 * n + 2.0))  # as wide as a phone
    figure.set_label(
        f"Predictions of the words {' '.join(tokens[1:])}, a row for each step. In training all {n} predictions stand "
        f"in one row. In inference they take {n} rows, and an arrow leads from each predicted word down to the next "
        "step, where it is given."
    )
    training, inference = figure.subplots(2, 1, height_ratios=(1.25, n + 0.25))
    for axes, title, in_steps in (
        (training, "training: the words are known, 1 step", False),
        (inference, f"inference: each word is given to the next, {n} steps", True),
    ):
        axes.set_title(title, loc="left")
        for x, (token, predicted) in enumerate(pairs):
            y = x if in_steps else 0
            axes.add_patch(Rectangle((x + 0.05, y + 0.14), 0.9, 0.72, fill=False, edgecolor=palette.muted))
            axes.text(x + 0.5, y + 0.68, token, ha="center", va="center", size=9, color=palette.query)
            axes.text(x + 0.5, y + 0.33, predicted, ha="center", va="center", size=9.5, color=palette.mixed)
            if in_steps and x + 1 < n:
                bent, start = "angle,angleA=0,angleB=90,rad=6", (x + 0.97, y + 0.33)
                draw_arrow(axes, start, (x + 1.5, y + 1.12), palette.muted, 1.3, connectionstyle=bent)
        axes.set(xlim=(0, n), ylim=(n if in_steps else 1, 0))
        axes.set_axis_off()
    inference.text(0.5, n - 0.7, "given", ha="center", va="center", size=9, color=palette.query)
    inference.text(0.5, n - 0.35, "predicted", ha="center", va="center", size=9, color=palette.mixed)
    return figure
