"""How evaluations of models come out: a judge that reads one answer first."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from softlookup_course.figures.marks import one_panel, write_beside
from softlookup_course.figures.theme import Palette


def wins_by_order(
    biases: Sequence[float], wins: Sequence[Sequence[float]], changed: Sequence[float], *, palette: Palette
) -> Figure:
    """Draw A's wins for each bias towards the first answer: shown first, in both orders, and second.

    Letters of its own: ``wins`` holds these three fractions for each bias, ``changed`` the fraction of pairs whose
    verdict changes with the order.
    """
    figure, axes = one_panel(4.2, 0.9 + 0.45 * len(biases))
    figure.set_label(
        "Wins of answer A as a judge sees it. "
        + "; ".join(
            f"bias {bias:g}: {first:.0%} shown first, {second:.0%} shown second, {both:.0%} in both orders, "
            f"{change:.0%} of verdicts change"
            for bias, (first, both, second), change in zip(biases, wins, changed, strict=True)
        )
        + "."
    )
    for row, ((first, both, second), change) in enumerate(zip(wins, changed, strict=True)):
        axes.plot([first, second], [row, row], color=palette.muted, linewidth=1.2, zorder=1)
        axes.plot(first, row, "o", color=palette.query, markersize=7)
        axes.plot(second, row, "o", color=palette.key, markersize=7)
        axes.plot([both, both], [row - 0.22, row + 0.22], color=palette.ink, linewidth=2.4, zorder=3)
        axes.text(1.04, row, f"{change:.0%}", size=9, va="center", color=palette.ink)
    axes.text(1.04, -0.75, "change", size=9, va="center", color=palette.muted)
    last = len(wins) - 1
    first, both, second = wins[last]
    above = {"size": 9, "annotation_clip": False}
    write_beside(axes, "A first", (first, last), (0, -8), color=palette.query, **above)
    write_beside(axes, "both orders", (both, last), (0, -14), color=palette.ink, **above)
    write_beside(axes, "A second", (second, last), (0, -8), color=palette.key, **above)
    axes.set_yticks(range(len(biases)), [f"{bias:g}" for bias in biases])
    axes.set(xlim=(0, 1), ylim=(last + 0.9, -0.5), xlabel="A wins", ylabel="bias towards the first")
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.axvline(0.5, color=palette.faint, linewidth=1, zorder=0)
    return figure
