"""An image, its patches, and the sequence of tokens that they make."""

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def ink_ramp(palette: Palette) -> LinearSegmentedColormap:
    """The scale of pictures: paper for 0, ink for 1."""
    return LinearSegmentedColormap.from_list(f"softlookup-ink-{palette.name}", [palette.paper, palette.ink])


def cut_up(image: np.ndarray, patch: int, *, palette: Palette) -> Figure:
    """Draw a picture, ink from 0 to 1, with its patches numbered, and below it the patches as a row of tokens.

    The side of a patch has to divide height and width; else a ValueError names the sizes.
    """
    height, width = image.shape
    if patch < 1 or height % patch or width % patch:
        raise ValueError(f"a picture of {height} x {width} cannot be cut into patches of {patch} x {patch}")
    down, across = height // patch, width // patch
    n = down * across
    figure = Figure(figsize=(6.4, 4.3))
    whole, row = figure.subplots(2, 1, height_ratios=(3.2, 1))
    ramp = ink_ramp(palette)
    whole.imshow(image, cmap=ramp, vmin=0, vmax=1, extent=(0, across, down, 0))
    for i in range(down):
        for j in range(across):
            box = Rectangle((j, i), 1, 1, fill=False, edgecolor=palette.query, linewidth=1.4)
            whole.add_patch(box)
            # Pixels are ink or paper or anything between: a number is read on a label of its own.
            label = {"facecolor": palette.paper, "edgecolor": palette.query, "linewidth": 0.6, "pad": 1.2}
            number = str(i * across + j)
            whole.text(j + 0.08, i + 0.08, number, color=palette.ink, size=8, va="top", weight="bold", bbox=label)
    whole.set(title=f"{height} × {width} pixels, {n} patches", xlim=(-0.02, across + 0.02), ylim=(down + 0.02, -0.02))
    for index in range(n):
        i, j = divmod(index, across)
        piece = image[i * patch : (i + 1) * patch, j * patch : (j + 1) * patch]
        left = 1.25 * index
        row.imshow(piece, cmap=ramp, vmin=0, vmax=1, extent=(left, left + 1, 1, 0))
        row.add_patch(Rectangle((left, 0), 1, 1, fill=False, edgecolor=palette.query, linewidth=1.2))
        row.text(left + 0.5, 1.2, str(index), color=palette.ink, size=8, ha="center", va="top")
    row.set(
        title="the same patches as a sequence of tokens", xlim=(-0.1, 1.25 * n - 0.15), ylim=(1.9, -0.1), aspect="equal"
    )
    for axes in (whole, row):
        axes.set_axis_off()
    figure.set_label(
        f"An image of {height} by {width} pixels is cut into {n} patches of {patch} by {patch}, numbered row by row; "
        f"below, the {n} patches stand side by side as a sequence of tokens."
    )
    return figure
