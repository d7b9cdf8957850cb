"""How alike two rows of sinusoids are, by how far apart they stand."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def distance_curve(products: Mapping[int, np.ndarray], *, palette: Palette) -> Figure:
    """Draw the dot product of two rows against their distance, as a share of the largest.

    For each width D the products at distances 0, 1, 2, ...; none or more than four widths are a ValueError. The panel
    is symmetric about distance 0, each curve named at its end.
    """
    if not 1 <= len(products) <= len(palette.series):
        raise ValueError(f"wanted one to {len(palette.series)} widths; got {len(products)}")
    figure = Figure(figsize=(6.2, 3.1))
    axes = figure.subplots()
    descriptions = []
    dashes = ("-", "--", "-.", ":")
    taken: list[float] = []
    for (width, curve), color, dash in zip(products.items(), palette.series, dashes, strict=False):
        share = np.asarray(curve, dtype=float) / curve[0]
        reach = len(share) - 1
        axes.plot(np.arange(-reach, reach + 1), np.r_[share[:0:-1], share], dash, color=color, linewidth=1.7)
        place = float(share[-1])
        while any(abs(place - other) < 0.09 for other in taken):
            place -= 0.03
        taken.append(place)
        axes.text(reach * 1.03, place, f"D = {width}", color=color, va="center")
        descriptions.append(f"with D = {width} {share[-1]:.2f} at distance {reach}")
    axes.axhline(0, color=palette.muted, linewidth=0.8)
    axes.set(xlabel="distance between the two positions", ylabel="dot product, largest = 1")
    axes.set(xlim=(-reach, reach * 1.22))
    axes.set_xticks([t for t in axes.get_xticks() if abs(t) <= reach])
    axes.grid(axis="y")
    figure.set_label(
        "The dot product of two rows of sinusoids against their distance: 1 for the same position, and falling on both "
        f"sides, with oscillations. As a fraction of the largest it is {'; '.join(descriptions)}."
    )
    return figure
