"""From words to vectors: merges, vocabularies, one-hot products and lengths of embeddings."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import ArrayLike

from softlookup_course.figures.marks import bare, draw_box, one_panel, write_beside
from softlookup_course.figures.theme import Palette

_GAP = 0.12


def merging(passes: Sequence[Sequence[str]], learned: Mapping[str, int] | None = None, *, palette: Palette) -> Figure:
    """Draw a word's tokens after each merge, above their letters: what ``BytePairTokenizer.steps`` returns."""
    words = {"".join(row) for row in passes}
    letters = len(next(iter(words)))
    figure, axes = one_panel(0.39 * (letters + 2.7), 0.36 * len(passes) + 0.5)  # a phone's width for eight letters
    merges: list[str] = []
    for step, row in enumerate(passes):
        before = _spans(passes[step - 1]) if step else _spans(row)
        step_name = "letters" if step == 0 else f"merge {step}"
        for begin, end in _spans(row):
            new = (begin, end) not in before
            token = "".join(passes[0][begin:end])
            _box(axes, begin, end, -step, token, new, palette)
            if new and learned is not None:
                step_name = f"merge {learned[token]:,}"
                merges.append(f"{step_name} makes {token}")
        axes.text(-0.35, -step, step_name, ha="right", va="center", size=8.5, color=palette.muted)
    bare(axes, xlim=(-2.6, letters + 0.1), ylim=(-len(passes) + 0.45, 0.55))
    figure.set_label(
        f"Rows of boxes from top to bottom. The first holds the letters {' '.join(passes[0])}; each row merges two "
        f"neighbours of the row above; the last one is {' '.join(passes[-1])}."
        + (f" By the numbers of the merges: {', '.join(merges)}." if merges else "")
    )
    return figure


def _spans(row: Sequence[str]) -> list[tuple[int, int]]:
    """Where each piece begins and ends, in letters."""
    spans, begin = [], 0
    for token in row:
        spans.append((begin, begin + len(token)))
        begin += len(token)
    return spans


def _box(axes: Axes, begin: int, end: int, y: float, token: str, new: bool, palette: Palette) -> None:
    style: dict[str, Any] = {"fc": "none", "ec": palette.faint}
    style = {"fc": palette.query, "ec": palette.query, "alpha": 0.22} if new else style
    draw_box(axes, (begin + _GAP / 2, y - 0.34), end - begin - _GAP, 0.68, 0.12, linewidth=1.2, **style)
    axes.text((begin + end) / 2, y, token, ha="center", va="center", size=9.5, color=palette.ink)


def vocabulary_size(
    sizes: ArrayLike, lengths: ArrayLike, characters: float, words: float, width: int, *, palette: Palette
) -> Figure:
    """Draw mean tokens per sentence and parameters of a table of width D against the size V of the vocabulary."""
    sizes_, lengths_ = np.asarray(sizes, dtype=float), np.asarray(lengths, dtype=float)
    figure = Figure(figsize=(4.2, 5.4), layout="constrained")  # a phone's width
    upper, lower = figure.subplots(2, 1)
    upper.plot(sizes_, lengths_, "o-", color=palette.query, markersize=4)
    for height, name in ((characters, "characters"), (words, "words and marks")):
        upper.axhline(height, color=palette.muted, linewidth=1, linestyle="--")
        side: dict[str, Any] = {"ha": "right", "xycoords": ("axes fraction", "data")}
        write_beside(upper, f"{name} {height:.1f}", (1, height), (0, -3), size=8.5, color=palette.muted, **side)
    middle, style = len(sizes_) // 2, {"va": "baseline", "size": 9}
    write_beside(upper, "byte pairs", (sizes_[middle], lengths_[middle]), (4, 8), color=palette.query, **style)
    upper.set(title="tokens per sentence", ylim=(0, 1.08 * characters))
    table = sizes_ * width
    lower.plot(sizes_, table, "o-", color=palette.key, markersize=4)
    write_beside(lower, f"V × {width}", (sizes_[middle], table[middle]), (-6, 6), color=palette.key, **style)
    lower.set(title="parameters in the table", xlabel="vocabulary V", ylim=(0, 1.08 * table.max()))
    lower.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 1000:,.0f}k" if value else "0"))
    for axes in (upper, lower):
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    figure.set_label(
        f"Two curves against the size of the vocabulary, {sizes_[0]:,.0f} to {sizes_[-1]:,.0f}. Tokens per "
        f"sentence fall from {lengths_[0]:.1f} to {lengths_[-1]:.1f}, steeply at first, then slowly; the parameters "
        f"in the table grow linearly to {table[-1]:,.0f}."
    )
    return figure


def one_hot_product(words: Sequence[str], ids: Sequence[int], table_VD: np.ndarray, *, palette: Palette) -> Figure:
    """Draw X (T, V) times E (V, D) for one-hot rows X, with the rows that are picked in colour."""
    table_VD = np.asarray(table_VD, dtype=float)
    n_words, width = table_VD.shape
    hot_TV = (np.asarray(ids)[:, None] == np.arange(n_words)).astype(float)
    colors = {token_id: palette.series[index % 4] for index, token_id in enumerate(dict.fromkeys(ids))}
    step = 1.35  # how wide a cell of the table is drawn: its numbers are longer than a 0 or a 1
    figure, axes = one_panel(4.2, 0.38 * max(n_words, len(ids)) + 1.1)
    at_e, at_x = n_words + 2.2, 0.0
    at_rows = at_e + step * width + 0.9
    middle = n_words / 2
    top_rows = middle + len(ids) / 2
    for t, token_id in enumerate(ids):
        for v in range(n_words):
            color = colors[token_id] if hot_TV[t, v] else None
            _cell(axes, at_x + v, top_rows - t - 1, 1.0, f"{hot_TV[t, v]:.0f}", color, palette)
        axes.text(at_x - 0.2, top_rows - t - 0.5, words[token_id], ha="right", va="center", size=9)
        for d in range(width):
            entry = f"{table_VD[token_id, d]:.1f}"
            _cell(axes, at_rows + step * d, top_rows - t - 1, step, entry, colors[token_id], palette)
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
    low = min(0.0, middle - len(ids) / 2) - 0.1
    high = max(n_words, top_rows) + (1.9 if max(map(len, words)) <= 3 else 3.3)
    bare(axes, xlim=(-1.5, at_rows + step * width + 0.1), ylim=(low, high))
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


def vector_lengths(
    widths: ArrayLike, rows: ArrayLike, scaled: ArrayLike, positions: ArrayLike, *, palette: Palette
) -> Figure:
    """Draw the lengths of a table's row, of the row times the root of D, and of a position, against widths D."""
    d = np.asarray(widths, dtype=float)
    figure, axes = one_panel(4.2, 3.2)  # a phone's width: the names stand on the lines
    ends = []
    for measured, line, name, color, above in (
        (np.asarray(scaled), np.sqrt(d), "row × √D", palette.query, True),
        (np.asarray(positions), np.sqrt(d / 2), "position", palette.key, False),
        (np.asarray(rows), np.ones_like(d), "row", palette.value, True),
    ):
        axes.plot(d, line, color=color, linewidth=1.4)
        axes.plot(d, measured, "o", color=color, markersize=5)
        end, away = (d[-1], line[-1]), 8 if above else -22
        write_beside(axes, f"{name} {measured[-1]:.1f}", end, (4, away), ha="right", size=9, color=color)
        ends.append(f"{name} {measured[-1]:.1f}")
    axes.set(xscale="log", yscale="log", xlabel="width D", ylabel="length", xlim=(d[0] * 0.85, d[-1] * 1.2))
    axes.set_ylim(top=2 * max(np.sqrt(d[-1]), float(np.max(scaled))))
    axes.set_xticks(d, [f"{value:.0f}" for value in d])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    figure.set_label(
        f"Lengths of vectors against the width D, {d[0]:.0f} to {d[-1]:.0f}. A row of the table keeps its length; a "
        f"position grows like the square root of D, and so does a row multiplied by that root. At the right end: "
        f"{', '.join(ends)}."
    )
    return figure
