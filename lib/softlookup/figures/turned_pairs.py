"""A query and a key, turned by their positions: the angle between them knows the distance alone."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Arc

from softlookup.figures.theme import Palette


def turned_pairs(
    query: np.ndarray, key: np.ndarray, theta: float, places: Sequence[tuple[int, int]], *, palette: Palette
) -> Figure:
    """Draw a query and a key in the plane, at several pairs of positions.

    Args:
        query: Two numbers, before it is turned.
        key: Two numbers, likewise.
        theta: Radians of a step.
        places: For each panel the query's position and the key's.
        palette: The colours to draw in.

    Returns:
        One panel for each pair of positions, with the angle between the arrows and their product.
    """
    reach = 1.3 * max(np.linalg.norm(query), np.linalg.norm(key))
    tips = [
        complex(*vector) * np.exp(1j * theta * place)
        for pair in (*places, (0, 0))
        for vector, place in zip((query, key), pair, strict=True)
    ]
    top, bottom = (sign * max(0.3 * reach, *(1.3 * sign * tip.imag for tip in tips)) for sign in (1, -1))
    figure = Figure(figsize=(6.4, 0.5 + 1.5 * (top - bottom) / reach))
    panels = np.atleast_1d(figure.subplots(1, len(places), sharex=True, sharey=True))
    said = []
    for axes, (m, n) in zip(panels, places, strict=True):
        angles = []
        ends = []
        drawn = [
            (np.asarray(query, float), m, palette.query, "q"),
            (np.asarray(key, float), n, palette.key, "k"),
        ]
        for vector, place, color, name in sorted(drawn, key=lambda one: one[1]):  # in the order of the text
            z = complex(*vector) * np.exp(1j * theta * place)
            axes.plot([0, vector[0]], [0, vector[1]], color=color, alpha=0.3, linewidth=1.6)
            axes.annotate(
                "", (z.real, z.imag), (0, 0), arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": 2.2}
            )
            axes.text(1.17 * z.real, 1.17 * z.imag, f"${name}$ at {place}", color=color, ha="center", va="center")
            angles.append(np.degrees(np.angle(z)))
            ends.append(z)
        between = (angles[1] - angles[0] + 180) % 360 - 180
        start, end = sorted((angles[0], angles[0] + between))
        axes.add_patch(Arc((0, 0), 0.9, 0.9, theta1=start, theta2=end, color=palette.mixed, linewidth=2))
        product = (ends[0] * ends[1].conjugate()).real
        axes.set_title(f"{abs(between):.0f}° between them, dot product {product:.2f}".replace("-", "\N{MINUS SIGN}"))
        axes.plot(0, 0, "o", color=palette.muted, markersize=3)
        axes.axhline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.axvline(0, color=palette.faint, linewidth=0.8, zorder=0)
        axes.set(xlim=(-reach, reach), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
        for spine in axes.spines.values():
            spine.set_visible(False)
        ordered = sorted([(m, "query"), (n, "key")], key=lambda one: one[0])
        who = " and ".join(f"{name} at {place}" for place, name in ordered)
        said.append(f"{who}: {abs(between):.0f} degrees, dot product {product:.2f}")
    figure.set_label(
        f"A query and a key in a plane, rotated by {theta:g} radians per position; {'; '.join(said)}. Pale lines "
        "show them before the rotation."
    )
    return figure
