"""A hard lookup drawn as a matrix: a row for each query, a column for each key, ones where they are equal."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def lookup_table(
    queries: Sequence[str],
    keys: Sequence[str],
    values: Sequence[str],
    weights: np.ndarray,
    answers: Sequence[str],
    *,
    palette: Palette,
) -> Figure:
    """Draw queries, keys and values around the weights (T, S), none negative, that join them.

    Keys above the columns, values below them, queries at the left, answers at the right, one word for each. A
    ValueError if the weights' shape is not that of the queries and keys, or a word is missing.
    """
    weights_TS = np.asarray(weights, dtype=float)
    expected = (len(queries), len(keys))
    if weights_TS.shape != expected or len(values) != expected[1] or len(answers) != expected[0]:
        raise ValueError(
            f"weights have shape {weights_TS.shape}, wanted {expected}: {len(queries)} queries with {len(answers)} "
            f"answers, {len(keys)} keys with {len(values)} values"
        )
    rows, columns = expected
    figure = Figure(figsize=(6.6, 1.5 + 0.42 * rows))
    axes = figure.subplots()
    for t in range(rows):
        for s in range(columns):
            weight = weights_TS[t, s]
            shade = Rectangle((s, -t - 1), 1, 1, facecolor=palette.mixed, alpha=0.35 * weight, edgecolor="none")
            axes.add_patch(shade)
            axes.add_patch(Rectangle((s, -t - 1), 1, 1, fill=False, edgecolor=palette.faint, linewidth=0.8))
            color = palette.ink if weight else palette.muted
            axes.text(s + 0.5, -t - 0.5, f"{weight:g}", ha="center", va="center", size=9, color=color)
    for s, (key, value) in enumerate(zip(keys, values, strict=True)):
        axes.text(s + 0.5, 0.2, key, ha="center", va="bottom", size=9, color=palette.key)
        axes.text(s + 0.5, -rows - 0.2, value, ha="center", va="top", size=9, color=palette.value)
    for t, (query, answer) in enumerate(zip(queries, answers, strict=True)):
        axes.text(-0.3, -t - 0.5, query, ha="right", va="center", size=9.5, color=palette.query)
        axes.text(columns + 0.3, -t - 0.5, answer, ha="left", va="center", size=9.5, color=palette.mixed)
    axes.text(-0.3, 0.2, "keys", ha="right", va="bottom", size=9, color=palette.muted)
    axes.text(-0.3, -rows - 0.2, "values", ha="right", va="top", size=9, color=palette.muted)
    axes.set(xlim=(-3.2, columns + 2.4), ylim=(-rows - 1.0, 1.1))
    axes.set_axis_off()
    described = "; ".join(f"{query} gives {answer}" for query, answer in zip(queries, answers, strict=True))
    figure.set_label(
        f"A table with {rows} rows, one for each query, and {columns} columns, one for each key, whose value stands "
        f"below it. Each cell is a weight. {described}."
    )
    return figure
