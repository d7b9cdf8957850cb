"""Checkers compared: how many wrong answers each accepts."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from softlookup_course.figures.theme import Palette


def accepted_wrong(pairs: Sequence[tuple[str, int, int, int]], *, palette: Palette) -> Figure:
    """Draw which share of the same wrong answers two checkers accept, for each of several peers.

    A pair is the peer's name, how many wrong answers both checkers are asked about, how many of them the peer accepts,
    and how many this course accepts: two labelled bars.
    """
    figure = Figure(figsize=(4.3, 0.6 + 0.95 * len(pairs)))  # as wide as a phone
    axes = figure.subplots()
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
