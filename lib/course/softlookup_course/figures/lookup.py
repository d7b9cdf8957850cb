"""One-hot rows times a table: each picks one row and leaves the rest."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from softlookup_course.figures.theme import Palette


def one_hot_product(words: Sequence[str], ids: Sequence[int], table_VD: np.ndarray, *, palette: Palette) -> Figure:
    """Draw X (T, V) times E (V, D) for one-hot rows X, with the rows that are picked in colour.

    The vocabulary has V words, a text T ids.
    """
    table_VD = np.asarray(table_VD, dtype=float)
    n_words, width = table_VD.shape
    hot_TV = (np.asarray(ids)[:, None] == np.arange(n_words)).astype(float)
    colors = {word: palette.series[place % 4] for place, word in enumerate(dict.fromkeys(ids))}
    step = 1.35  # how wide a cell of the table is drawn: its numbers are longer than a 0 or a 1
    figure = Figure(figsize=(4.2, 0.38 * max(n_words, len(ids)) + 1.1))
    axes = figure.subplots()
    at_e, at_x = n_words + 2.2, 0.0
    at_rows = at_e + step * width + 0.9
    middle = n_words / 2
    top_rows = middle + len(ids) / 2
    for t, word in enumerate(ids):
        for v in range(n_words):
            color = colors[word] if hot_TV[t, v] else None
            _cell(axes, at_x + v, top_rows - t - 1, 1.0, f"{hot_TV[t, v]:.0f}", color, palette)
        axes.text(at_x - 0.2, top_rows - t - 0.5, words[word], ha="right", va="center", size=9)
        for d in range(width):
            _cell(axes, at_rows + step * d, top_rows - t - 1, step, f"{table_VD[word, d]:.1f}", colors[word], palette)
    for v in range(n_words):
        turned = max(map(len, words)) > 3
        axes.text(at_x + v + 0.5, top_rows + 0.15, words[v], ha="center", va="bottom", size=8.5, rotation=90 * turned)
        axes.text(at_e - 0.2, n_words - v - 0.5, words[v], ha="right", va="center", size=9)
        for d in range(width):
            _cell(axes, at_e + step * d, n_words - v - 1, step, f"{table_VD[v, d]:.1f}", colors.get(v), palette)
    for x, sign in ((n_words + 0.4, "×"), (at_rows - 0.45, "=")):
        axes.text(x, middle, sign, ha="center", va="center", size=12)
    for x, top, name, size in (
        (n_words / 2, top_rows + (0.8 if max(map(len, words)) <= 3 else 2.2), "$X$", "(T, V)"),
        (at_e + step * width / 2, n_words, "$E$", "(V, D)"),
        (at_rows + step * width / 2, top_rows, "$X E$", "(T, D)"),
    ):
        axes.text(x, top + 0.25, f"{name}  {size}", ha="center", va="bottom", size=10)
    axes.set(
        xlim=(-1.5, at_rows + step * width + 0.1),
        ylim=(
            min(0.0, middle - len(ids) / 2) - 0.1,
            max(n_words, top_rows) + (1.9 if max(map(len, words)) <= 3 else 3.3),
        ),
    )
    axes.set_axis_off()
    picked = ", ".join(f"{words[i]} picks row {i}" for i in dict.fromkeys(ids))
    figure.set_label(
        f"Three matrices: one-hot rows X ({len(ids)} by {n_words}), the table E ({n_words} by {width}), and their "
        f"product ({len(ids)} by {width}). Each one-hot row has its own colour, and so has the row of E that it "
        f"picks: {picked}. The other rows of E stay grey."
    )
    return figure


def _cell(axes: Axes, x: float, y: float, width: float, text: str, color: str | None, palette: Palette) -> None:
    axes.add_patch(Rectangle((x, y), width, 1, facecolor=color or "none", alpha=0.22 if color else 1, edgecolor="none"))
    axes.add_patch(Rectangle((x, y), width, 1, facecolor="none", edgecolor=palette.faint, linewidth=0.8))
    ink = palette.ink if color else palette.muted
    axes.text(x + width / 2, y + 0.5, text.replace("-", "−"), ha="center", va="center", size=8.5, color=ink)
