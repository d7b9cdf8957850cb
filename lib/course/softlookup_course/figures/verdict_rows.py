"""Audited statements, one square each: which subjects have how many that do not hold."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette

KINDS = 3


def verdict_rows(counts: Mapping[str, Sequence[int]], kinds: Sequence[str], *, palette: Palette) -> Figure:
    """Draw a row of squares for each subject, a square for each statement, sorted by what became of it.

    ``counts`` is how many statements are of each of three kinds, the best first: pale, empty and full squares, named
    above the rows. A ValueError if there are not three kinds, or a subject has not three counts.
    """
    if len(kinds) != KINDS or any(len(row) != KINDS for row in counts.values()):
        raise ValueError(f"wanted {KINDS} kinds and as many counts for each subject; got {kinds} and {dict(counts)}")
    looks: tuple[dict[str, Any], ...] = (
        {"markerfacecolor": palette.value, "markeredgecolor": palette.value, "alpha": 0.35},
        {"markerfacecolor": "none", "markeredgecolor": palette.muted},
        {"markerfacecolor": palette.alarm, "markeredgecolor": palette.alarm},
    )
    colors = (palette.value, palette.muted, palette.alarm)
    longest = max(map(sum, counts.values()))
    figure = Figure(figsize=(6.8, 0.22 * (len(counts) + 2.2)))
    axes = figure.subplots()
    # Markers, which an SVG draws once and then places: a path for each square weighs three times as much.
    square: dict[str, Any] = {"marker": "s", "markersize": 6.6, "markeredgewidth": 0.9, "linestyle": "none"}
    start = 0.0
    for kind, look, color in zip(kinds, looks, colors, strict=True):
        axes.plot([start + 0.38], [-1.5], **square, **look)
        axes.text(start + 1.2, -1.5, kind, va="center", size=9.5, color=color)
        start += 2.6 + 0.54 * len(kind)
    for row, (subject, numbers) in enumerate(counts.items()):
        axes.text(-0.7, row + 0.4, subject, ha="right", va="center", size=9.5, color=palette.ink)
        place = 0
        for number, look in zip(numbers, looks, strict=True):
            if number:
                axes.plot([place + i + 0.38 for i in range(number)], [row + 0.4] * number, **square, **look)
            place += number
    axes.set(xlim=(-14.5, max(longest, start) + 0.5), ylim=(len(counts) + 0.2, -2.4))
    axes.set_axis_off()
    totals = [sum(row[kind] for row in counts.values()) for kind in range(KINDS)]
    worst = max(counts, key=lambda subject: counts[subject][-1])
    figure.set_label(
        f"{sum(totals)} statements in {len(counts)} rows, one for each subject. "
        + "; ".join(f"{kind}: {total}" for kind, total in zip(kinds, totals, strict=True))
        + f". The row with most of the last kind is {worst}, with {counts[worst][-1]} of {sum(counts[worst])}."
    )
    return figure
