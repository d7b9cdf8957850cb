"""Audited slides and compared checkers: tables with marked cells, verdicts, gains, accepted answers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from softlookup_course.figures.grid import draw_grid
from softlookup_course.figures.marks import bare, one_panel, several_panels, write_beside
from softlookup_course.figures.theme import Palette


def marked_tables(
    tables: Mapping[str, np.ndarray],
    marked: Mapping[str, np.ndarray] | None = None,
    *,
    rows: Sequence[str] = (),
    beside: Mapping[str, Sequence[str]] | None = None,
    below: Mapping[str, Sequence[str]] | None = None,
    decimals: Mapping[str, int] | int = 2,
    palette: Palette,
) -> Figure:
    """Draw matrices by title side by side, some cells framed, with words at their edges."""
    marked, beside, below = marked or {}, beside or {}, below or {}
    edge = {title: 0.17 * max(map(len, beside[title])) + 0.3 if title in beside else 0.0 for title in tables}
    widths = [0.46 * values.shape[1] + 0.35 + edge[title] for title, values in tables.items()]
    tall = max(len(values) for values in tables.values())
    wide = sum(widths) + (0.09 * max(map(len, rows)) if rows else 0.0)
    scale = min(1.0, 6.9 / wide)
    height = 0.46 * scale * tall + (1.0 if below else 0.65)
    figure, panels = several_panels(wide * scale, height, 1, len(tables), width_ratios=widths)
    says: list[str] = []
    for axes, (title, values) in zip(panels, tables.items(), strict=True):
        digits = decimals if isinstance(decimals, int) else decimals[title]
        frames = marked.get(title)
        draw_grid(axes, values, palette, title=title, rows=rows if not says else (), decimals=digits, marked=frames)
        n_rows, n_columns = np.shape(values)
        for i, text in enumerate(beside.get(title, ())):
            axes.text(n_columns + 0.15, i + 0.52, text, va="center", size=9, color=palette.ink)
        for j, text in enumerate(below.get(title, ())):
            axes.text(j + 0.5, n_rows + 0.15, text, ha="center", va="top", size=9, color=palette.ink)
        size = f"{title.replace('$', '')}, {n_rows} by {n_columns}"
        size += "" if frames is None else f", {int(np.sum(frames))} framed"
        edges = (("beside its rows", beside), ("below its columns", below))
        says.append(size + "".join(f", {edge_name} {', '.join(by[title])}" for edge_name, by in edges if title in by))
    figure.set_label(f"Tables of numbers side by side: {'; '.join(says)}.")
    return figure


KINDS = 3


def verdict_rows(counts: Mapping[str, Sequence[int]], verdicts: Sequence[str], *, palette: Palette) -> Figure:
    """Draw a row of squares for each subject, a square for each statement, sorted by its three verdicts."""
    looks: tuple[dict[str, Any], ...] = (
        {"markerfacecolor": palette.value, "markeredgecolor": palette.value, "alpha": 0.35},
        {"markerfacecolor": "none", "markeredgecolor": palette.muted},
        {"markerfacecolor": palette.alarm, "markeredgecolor": palette.alarm},
    )
    colors = (palette.value, palette.muted, palette.alarm)
    longest = max(map(sum, counts.values()))
    figure, axes = one_panel(6.8, 0.22 * (len(counts) + 2.2))
    # Markers, which an SVG draws once and then places: a path for each square weighs three times as much.
    square: dict[str, Any] = {"marker": "s", "markersize": 6.6, "markeredgewidth": 0.9, "linestyle": "none"}
    start = 0.0
    for verdict, style, color in zip(verdicts, looks, colors, strict=True):
        axes.plot([start + 0.38], [-1.5], **square, **style)
        axes.text(start + 1.2, -1.5, verdict, va="center", size=9.5, color=color)
        start += 2.6 + 0.54 * len(verdict)
    for row, (subject, numbers) in enumerate(counts.items()):
        axes.text(-0.7, row + 0.4, subject, ha="right", va="center", size=9.5, color=palette.ink)
        x = 0
        for count, style in zip(numbers, looks, strict=True):
            if count:
                axes.plot([x + i + 0.38 for i in range(count)], [row + 0.4] * count, **square, **style)
            x += count
    bare(axes, xlim=(-14.5, max(longest, start) + 0.5), ylim=(len(counts) + 0.2, -2.4))
    totals = [sum(row[verdict] for row in counts.values()) for verdict in range(KINDS)]
    worst = max(counts, key=lambda subject: counts[subject][-1])
    figure.set_label(
        f"{sum(totals)} statements in {len(counts)} rows, one for each subject. "
        + "; ".join(f"{verdict}: {total}" for verdict, total in zip(verdicts, totals, strict=True))
        + f". The row with most of the last kind is {worst}, with {counts[worst][-1]} of {sum(counts[worst])}."
    )
    return figure


def gains_by_task(tasks: Sequence[str], gains: Mapping[str, np.ndarray], framed: str, *, palette: Palette) -> Figure:
    """Draw the gains of two comparisons, in points, for each task; the task ``framed`` is printed bold."""
    figure, axes = one_panel(6.6, 0.42 * len(tasks) + 0.7)
    here = list(tasks).index(framed)
    for offset, color, (name, values) in zip((-0.19, 0.19), (palette.key, palette.query), gains.items(), strict=True):
        bar_heights = np.arange(len(tasks)) + offset
        axes.barh(bar_heights, values, height=0.34, color=color)
        side = 1 if values[here] >= 0 else 0
        end = max(values[here], 0.0) if side else 0.0, bar_heights[here]
        write_beside(axes, name, end, (5, 0), size=9, color=color)
    axes.axvline(0, color=palette.muted, linewidth=0.8)
    axes.set_yticks(range(len(tasks)), tasks)
    axes.get_yticklabels()[here].set_fontweight("bold")
    axes.set(xlabel="gain, in points", ylim=(len(tasks) - 0.5, -0.5))
    axes.set_xlim(right=1.28 * max(float(np.max(values)) for values in gains.values()))
    axes.tick_params(axis="y", length=0)
    axes.spines[["left", "right", "top"]].set_visible(False)
    first, second = (f"{name} {values[here]:+.1f}" for name, values in gains.items())
    figure.set_label(f"Gains on {len(tasks)} tasks in two comparisons. On {framed}: {first}; {second}.")
    return figure


def accepted_wrong(pairs: Sequence[tuple[str, int, int, int]], *, palette: Palette) -> Figure:
    """Draw how many wrong answers two checkers accept: a peer's name, all, the peer's count, this course's."""
    figure, axes = one_panel(4.3, 0.6 + 0.95 * len(pairs))  # as wide as a phone
    for row, (name, wrong, there, here) in enumerate(pairs):
        for shift, who, count, color in ((-0.2, name, there, palette.query), (0.2, "this course", here, palette.key)):
            axes.barh(row + shift, 100 * count / wrong, height=0.34, color=color)
            text = f" {who}: {count} of {wrong}"
            axes.text(100 * count / wrong, row + shift, text, va="center", color=palette.ink, size=9)
    axes.set(xlim=(0, 100), xlabel="wrong answers accepted, %", ylim=(len(pairs) - 0.5, -0.5))
    axes.set_yticks([])
    axes.spines["left"].set_visible(True)
    description = "; ".join(
        f"of {wrong} wrong answers {name} accepts {there} and this course {here}" for name, wrong, there, here in pairs
    )
    figure.set_label(f"Bars, a pair for each other checker: {description}.")
    return figure
