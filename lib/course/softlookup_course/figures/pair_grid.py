"""Pictures against captions: how near each is to each."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from softlookup_course.figures.theme import Palette, ink_on, ramp


def pair_grid(images: np.ndarray, captions: Sequence[str], cosines: np.ndarray, *, palette: Palette) -> Figure:
    """Draw the cosines (I, J) of pictures (rows) and captions (columns) as a heat map, pictures at the left.

    Pictures are (I, 3, height, width) from 0 to 1, caption i belongs to picture i, and a dot marks each picture's
    nearest caption. If the sizes do not fit, a ValueError names them.
    """
    if cosines.shape != (len(images), len(captions)):
        raise ValueError(f"cosines have shape {cosines.shape}, wanted {(len(images), len(captions))}")
    rows, columns = cosines.shape
    figure = Figure(figsize=(1.9 + 0.72 * columns, 1.7 + 0.6 * rows))
    axes = figure.subplots()
    scale = ramp(palette)
    axes.imshow(cosines, cmap=scale, vmin=-0.2, vmax=1, aspect="auto")
    best = cosines.argmax(axis=1)
    for i in range(rows):
        for j in range(columns):
            shade = scale((cosines[i, j] + 0.2) / 1.2)
            number = f"{cosines[i, j]:.2f}".replace("-", "\N{MINUS SIGN}")
            axes.text(j, i, number, ha="center", va="center", size=9, color=ink_on(shade[:3]))
        axes.plot(best[i] + 0.36, i - 0.32, "o", color=palette.key, markersize=5)
        picture = OffsetImage(np.moveaxis(images[i], 0, -1), zoom=1.9)
        axes.add_artist(
            AnnotationBbox(picture, (-0.62, i), box_alignment=(1, 0.5), frameon=False, annotation_clip=False)
        )
    axes.set_xticks(range(columns), captions, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(rows), [" " * 14] * rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    right = int((best == np.arange(rows)).sum())
    figure.set_label(
        f"Cosine similarities of {rows} pictures and {columns} captions ({', '.join(captions)}). For {right} of the "
        "pictures their own caption is the nearest."
    )
    return figure
