"""Gradients of one weight, and the steps that Adam makes of them."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from softlookup_course.figures.marks import write_beside
from softlookup_course.figures.theme import Palette


def adam_steps(gradients: Sequence[float], steps: Sequence[float], *, palette: Palette) -> Figure:
    """Draw the gradients of one weight beside the lengths of Adam's steps.

    Two panels of bars with their numbers, from step 1: gradients, and what Adam subtracts from the weight, divided by
    the rate. A ValueError if there are no gradients, or not as many steps.
    """
    if not gradients or len(gradients) != len(steps):
        got = f"got {len(gradients)} gradients and {len(steps)} steps"
        raise ValueError(f"{got}; wanted as many of both, and one at least")
    figure = Figure(figsize=(6.4, 2.6))
    panels = figure.subplots(1, 2)
    _bars(panels[0], "gradient", gradients, "g", palette.query, palette)
    _bars(panels[1], "Adam's step / rate", steps, ".2f", palette.key, palette)
    description = "; ".join(
        f"step {t}: gradient {g:g}, Adam's step {step:.2f} times the rate"
        for t, (g, step) in enumerate(zip(gradients, steps, strict=True), start=1)
    )
    figure.set_label(f"Bars. {description}.".replace("-", "\N{MINUS SIGN}"))
    return figure


def _bars(axes: Axes, title: str, heights: Sequence[float], form: str, color: str, palette: Palette) -> None:
    top, low = max(0.0, *heights), min(0.0, *heights)
    room = 0.16 * (top - low or 1.0)
    for t, height in enumerate(heights, start=1):
        axes.bar(t, height, width=0.6, color=color, alpha=0.35)
        down = height < 0
        number = format(height, form).replace("-", "\N{MINUS SIGN}")
        write_beside(axes, number, (t, height), (0, -3 if down else 3), size=10, color=palette.ink)
    axes.axhline(0, color=palette.muted, linewidth=1)
    axes.set_title(title, size=10, color=color)
    axes.set(xlabel="step", ylim=(low - (room if low else 0), top + room), yticks=[])
    axes.set_xticks(range(1, len(heights) + 1))
    axes.tick_params(axis="x", length=0)
    axes.spines[["left", "bottom"]].set_visible(False)
