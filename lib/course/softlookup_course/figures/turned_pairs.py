"""A query and a key, turned by their positions: the angle between them knows the distance alone."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from softlookup_course.figures.grid import draw_cell
from softlookup_course.figures.marks import draw_arrow
from softlookup_course.figures.theme import Palette


def turned_pairs(
    query: np.ndarray, key: np.ndarray, theta: float, places: Sequence[tuple[int, int]], *, palette: Palette
) -> Figure:
    """Draw a query and a key of two numbers, not turned yet, in the plane, at several pairs of positions.

    ``theta`` is radians of a step. One panel for each pair of the query's and the key's position, with the angle
    between the arrows and their product.
    """
    reach = 1.3 * max(np.linalg.norm(query), np.linalg.norm(key))
    tips = [
        complex(*vector) * np.exp(1j * theta * place)
        for pair in (*places, (0, 0))
        for vector, place in zip((query, key), pair, strict=True)
    ]
    top, bottom = (sign * max(0.3 * reach, *(1.3 * sign * tip.imag for tip in tips)) for sign in (1, -1))
    figure = Figure(figsize=(6.4, 0.5 + (1.5 if len(places) < 3 else 1.1) * (top - bottom) / reach))
    panels = np.atleast_1d(figure.subplots(1, len(places), sharex=True, sharey=True))
    descriptions = []
    gap = " " if len(places) < 3 else "\n"  # a narrow panel has no room for a long title
    for axes, (m, n) in zip(panels, places, strict=True):
        angles = []
        ends = []
        drawn = [
            (np.asarray(query, float), m, palette.query, "q"),
            (np.asarray(key, float), n, palette.key, "k"),
        ]
        for vector, place, color, name in sorted(drawn, key=lambda arrow: arrow[1]):  # in the order of the text
            z = complex(*vector) * np.exp(1j * theta * place)
            axes.plot([0, vector[0]], [0, vector[1]], color=color, alpha=0.3, linewidth=1.6)
            draw_arrow(axes, (0, 0), (z.real, z.imag), color, 2.2)
            axes.text(1.17 * z.real, 1.17 * z.imag, f"${name}$ at {place}", color=color, ha="center", va="center")
            angles.append(np.degrees(np.angle(z)))
            ends.append(z)
        between = (angles[1] - angles[0] + 180) % 360 - 180
        start, end = sorted((angles[0], angles[0] + between))
        axes.add_patch(Arc((0, 0), 0.9, 0.9, theta1=start, theta2=end, color=palette.mixed, linewidth=2))
        product = (ends[0] * ends[1].conjugate()).real
        title = f"{abs(between):.0f}° between them,{gap}dot product {product:.2f}"
        axes.set_title(title.replace("-", "\N{MINUS SIGN}"))
        axes.plot(0, 0, "o", color=palette.muted, markersize=3)
        axes.axhline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.axvline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.set(xlim=(-reach, reach), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        ordered = sorted([(m, "query"), (n, "key")], key=lambda pair: pair[0])
        who = " and ".join(f"{name} at {place}" for place, name in ordered)
        descriptions.append(f"{who}: {abs(between):.0f} degrees, dot product {product:.2f}")
    figure.set_label(
        f"A query and a key in a plane, rotated by {theta:g} radians per position; {'; '.join(descriptions)}. "
        "Pale lines show them before the rotation."
    )
    return figure


def rotary_pairs(width: int, cached: int, *, palette: Palette) -> Figure:
    """Draw which numbers of a head form a pair, and by which position each vector is turned when keys are cached.

    The two pairings as rows of cells, one colour for each pair, and below them the cached keys and a new query, each
    with its position. A width H that is odd or more than 8, since there are no more colours, is a ValueError.
    """
    if width % 2 or not 2 <= width <= 8:
        raise ValueError(f"width is {width}; wanted an even number from 2 to 8")
    figure = Figure(figsize=(4.6, 2.6))
    axes = figure.subplots()
    for row, (name, of) in enumerate((("neighbours", lambda j: j // 2), ("halves", lambda j: j % (width // 2)))):
        for j in range(width):
            draw_cell(axes, j, 1.5 * row, str(of(j)), True, palette.series[of(j)], palette)
        axes.text(-0.4, 1.5 * row + 0.5, name, ha="right", va="center", size=9.5)
    for t in range(cached + 1):
        color = palette.query if t == cached else palette.faint
        draw_cell(axes, t + 0.6 * (t == cached), 3.6, str(t), True, color, palette)
    axes.text(-0.4, 4.1, "turned by", ha="right", va="center", size=9.5)
    axes.text(cached / 2, 4.8, "cached keys", ha="center", va="top", size=9, color=palette.muted)
    axes.text(cached + 1.1, 4.8, "new query", ha="center", va="top", size=9, color=palette.query)
    axes.set(xlim=(-3.6, max(width, cached + 2) + 0.3), ylim=(5.6, -0.2))
    axes.set_axis_off()
    pairs = [[j, j + width // 2] for j in range(width // 2)]
    figure.set_label(
        f"{width} numbers in pairs: neighbours, {[[j, j + 1] for j in range(0, width, 2)]}, or halves, {pairs}. Below, "
        f"{cached} cached keys, turned by the positions 0 to {cached - 1}, and a new query, turned by {cached}."
    )
    return figure
