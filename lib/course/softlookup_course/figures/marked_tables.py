"""Tables of numbers side by side, as a page prints them, with the cells framed that a reader should look at."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.theme import Palette


def marked_tables(
    tables: Mapping[str, np.ndarray],
    marked: Mapping[str, np.ndarray] | None = None,
    *,
    hidden: Mapping[str, np.ndarray] | None = None,
    rows: Sequence[str] = (),
    beside: Mapping[str, Sequence[str]] | None = None,
    below: Mapping[str, Sequence[str]] | None = None,
    decimals: Mapping[str, int] | int = 2,
    palette: Palette,
) -> Figure:
    """Draw matrices side by side, some of their cells framed or hatched, with words at their edges.

    Where ``marked`` is True, a cell is framed; where ``hidden`` is, it is hatched and shows no number. ``rows`` names
    those of the first table; ``beside`` and ``below`` are words to the right of each row and under each column;
    ``decimals`` are digits after the point. All are by the titles that stand above the tables, for those that have
    such; a title of no table is a ValueError, "there is no table TITLE". Widths follow the numbers of columns.
    """
    marked, hidden, beside, below = marked or {}, hidden or {}, beside or {}, below or {}
    for title in [*marked, *hidden, *beside, *below]:
        if title not in tables:
            raise ValueError(f"there is no table {title!r}")
    edge = {title: 0.17 * max(map(len, beside[title])) + 0.3 if title in beside else 0.0 for title in tables}
    widths = [0.46 * values.shape[1] + 0.35 + edge[title] for title, values in tables.items()]
    tall = max(len(values) for values in tables.values())
    wide = sum(widths) + (0.09 * max(map(len, rows)) if rows else 0.0)
    scale = min(1.0, 6.9 / wide)
    figure = Figure(figsize=(wide * scale, 0.46 * scale * tall + (1.0 if below else 0.65)))
    panels = figure.subplots(1, len(tables), squeeze=False, width_ratios=widths)[0]
    says: list[str] = []
    for axes, (title, values) in zip(panels, tables.items(), strict=True):
        places = decimals if isinstance(decimals, int) else decimals[title]
        frames = marked.get(title)
        draw_grid(
            axes,
            values,
            palette,
            title=title,
            rows=rows if not says else (),
            decimals=places,
            marked=frames,
            hidden=hidden.get(title),
        )
        n_rows, n_columns = np.shape(values)
        for i, word in enumerate(beside.get(title, ())):
            axes.text(n_columns + 0.15, i + 0.52, word, va="center", size=9, color=palette.ink)
        for j, word in enumerate(below.get(title, ())):
            axes.text(j + 0.5, n_rows + 0.15, word, ha="center", va="top", size=9, color=palette.ink)
        size = f"{title.replace('$', '')}, {n_rows} by {n_columns}"
        size += "" if frames is None else f", {int(np.sum(frames))} framed"
        edges = (("beside its rows", beside), ("below its columns", below))
        says.append(size + "".join(f", {place} {', '.join(by[title])}" for place, by in edges if title in by))
    figure.set_label(f"Tables of numbers side by side: {'; '.join(says)}.")
    return figure
