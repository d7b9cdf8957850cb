"""Directions with a meaning: pairs of words, and the step from one to the other, in the plane that shows it best."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.marks import draw_arrow, write_beside
from softlookup_course.figures.theme import Palette


def common_direction(
    pairs: Sequence[tuple[str, str]],
    starts: np.ndarray,
    ends: np.ndarray,
    *,
    palette: Palette,
) -> Figure:
    """Draw each pair as an arrow from its first word to its second.

    The plane is chosen by two numbers: across, how far a word lies along the mean step from first to second words; up,
    its place along the direction in which the middles of the pairs differ most, the mean step taken out. Were the steps
    all alike, the arrows would be parallel and of one length. The words' vectors are (n, D); a ValueError if they do
    not fit the pairs, or there are fewer than three.
    """
    starts_nD, ends_nD = np.asarray(starts, dtype=float), np.asarray(ends, dtype=float)
    if len(pairs) < 3 or starts_nD.shape != ends_nD.shape or len(starts_nD) != len(pairs):
        raise ValueError(
            f"{len(pairs)} pairs with vectors of shapes {starts_nD.shape} and {ends_nD.shape}; wanted at least three "
            "pairs, and one row for each word"
        )
    steps_nD = ends_nD - starts_nD
    across = steps_nD.mean(axis=0) / np.linalg.norm(steps_nD.mean(axis=0))
    middles_nD = (starts_nD + ends_nD) / 2
    centre = middles_nD.mean(axis=0)
    left_nD = middles_nD - centre
    left_nD = left_nD - np.outer(left_nD @ across, across)
    up = np.linalg.svd(left_nD, full_matrices=False)[2][0]
    up = up if (left_nD @ up)[0] > 0 else -up  # a direction has no sign of its own; the first pair goes up
    plane = np.stack([across, up], axis=1)
    figure = Figure(figsize=(6.4, 4.2))
    axes = figure.subplots()
    for (first, second), a, b in zip(pairs, (starts_nD - centre) @ plane, (ends_nD - centre) @ plane, strict=True):
        draw_arrow(axes, a, b, palette.muted, 1.1, shrinkA=4, shrinkB=4)
        axes.plot(*a, "o", color=palette.query, markersize=5)
        axes.plot(*b, "s", color=palette.key, markersize=5)
        write_beside(axes, first, a, (-7, 0), size=9)
        write_beside(axes, second, b, (7, 0), size=9)
    axes.margins(x=0.22, y=0.08)
    axes.set_xlabel("along the mean step")
    axes.set_ylabel("where the pairs differ most")
    cosines = steps_nD @ across / np.linalg.norm(steps_nD, axis=1)
    rightward = f"{(cosines > 0).sum()} of {len(pairs)} go to the right"
    figure.set_label(
        f"{len(pairs)} arrows in a plane, each from a word such as {pairs[0][0]} to another such as {pairs[0][1]}. "
        f"{rightward}; the cosines of the steps with their mean lie between {cosines.min():.2f} and "
        f"{cosines.max():.2f}."
    )
    return figure
