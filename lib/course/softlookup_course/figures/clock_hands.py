"""Rows of sinusoids as clocks: each pair of columns is the tip of a hand, and each hand is slower than the last."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from softlookup_course.figures.theme import Palette


def clock_hands(table: np.ndarray, positions: Sequence[int] | None = None, *, palette: Palette) -> Figure:
    """Draw one clock for each position and pair of columns of a table (T, D), sine and cosine of a pair side by side.

    A column of clocks for each of the ``positions``, all by default, and a row for each hand. Sines point upwards,
    cosines to the right. A ValueError if a position is not in the table, or it is none of pairs: "wanted a table (T, D)
    with an even D, but got shape SHAPE".
    """
    table = np.asarray(table, dtype=float)
    if table.ndim != 2 or table.shape[1] % 2:
        raise ValueError(f"wanted a table (T, D) with an even D, but got shape {table.shape}")
    positions = range(len(table)) if positions is None else positions
    if not len(positions) or not all(0 <= p < len(table) for p in positions):
        raise ValueError(f"wanted positions from 0 to {len(table) - 1}, but got {list(positions)}")
    length, hands = len(positions), table.shape[1] // 2
    figure = Figure(figsize=(4.3, 4.3 * (hands + 1.0) / (length + 1.6)))  # as wide as a phone
    figure.set_label(
        f"Clocks, a column for each position ({', '.join(map(str, positions))}), a row for each of {hands} hands. "
        "At position 0 all hands point to the right. From position to position hand 0 turns on the most, and every "
        "further hand less."
    )
    axes = figure.subplots()
    for p, position in enumerate(positions):
        row = table[position]
        axes.text(p, 0.62, str(position), ha="center", va="bottom", size=9)
        for i, (sine, cosine) in enumerate(row.reshape(hands, 2)):
            axes.add_patch(Circle((p, -i), 0.42, fill=False, edgecolor=palette.faint, linewidth=1.2))
            tip = (p + 0.4 * cosine, -i + 0.4 * sine)
            axes.plot([p, tip[0]], [-i, tip[1]], color=palette.series[i % 4], linewidth=2, solid_capstyle="round")
            axes.plot(*tip, "o", color=palette.series[i % 4], markersize=3)
    for i in range(hands):
        axes.text(-0.65, -i, f"hand {i}", ha="right", va="center", size=9, color=palette.series[i % 4])
    axes.text(-0.65, 0.62, "position", ha="right", va="bottom", size=9)
    axes.set(xlim=(-2.1, length - 0.5), ylim=(0.5 - hands, 1.0), aspect="equal")
    axes.set_axis_off()
    return figure
