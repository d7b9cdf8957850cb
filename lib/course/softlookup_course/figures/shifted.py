"""What a decoder gets as input, and what its labels are, position by position."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from softlookup_course.figures.theme import Palette


def shifted_labels(tokens: Sequence[str], padding: int, *, palette: Palette) -> Figure:
    """Draw a sentence, with start and end tokens, as inputs and labels: the same tokens, shifted by one position.

    ``padding`` is how many positions come behind it. Dashed boxes are left out of the loss, and arrows join each token
    with itself.
    """
    whole = [*tokens, *["·"] * padding]
    inputs, labels = whole[:-1], whole[1:]
    figure = Figure(figsize=(0.95 * len(inputs) + 0.9, 2.1))
    axes = figure.subplots()
    for y, row, color in ((0.0, inputs, palette.query), (1.6, labels, palette.value)):
        for x, token in enumerate(row):
            counts = y == 0.0 or labels[x] != "·"
            style = "-" if counts else "--"
            axes.add_patch(Rectangle((x + 0.05, y), 0.9, 0.7, facecolor=color, alpha=0.22 if counts else 0.0))
            axes.add_patch(
                Rectangle((x + 0.05, y), 0.9, 0.7, fill=False, edgecolor=color if counts else palette.muted, ls=style)
            )
            axes.text(x + 0.5, y + 0.35, token, ha="center", va="center", size=9.5, color=palette.ink)
    for x in range(len(inputs) - 1):
        if labels[x] == "·":
            continue
        arrow = FancyArrowPatch(
            (x + 0.5, 1.58), (x + 1.5, 0.74), arrowstyle="-", color=palette.muted, linewidth=1.0, linestyle=":"
        )
        axes.add_patch(arrow)
    axes.text(-0.1, 0.35, "input", ha="right", va="center", color=palette.query)
    axes.text(-0.1, 1.95, "label", ha="right", va="center", color=palette.value)
    axes.set(xlim=(-0.95, len(inputs) + 0.05), ylim=(2.4, -0.1))
    axes.set_axis_off()
    description = "; ".join(f"after {g} comes {w}" for g, w in zip(inputs, labels, strict=True) if w != "·")
    left_out = labels.count("·")
    positions = "1 position of padding is" if left_out == 1 else f"{left_out} positions of padding are"
    figure.set_label(f"Inputs and labels of a sentence: {description}. {positions} left out of the loss.")
    return figure
