"""What many figures draw: a panel, words beside a point, names at line ends, an arrow, a box with round corners."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

Point = tuple[float, float]


def one_panel(width: float, height: float) -> tuple[Figure, Axes]:
    """Make a figure of one panel; its sizes are in inches."""
    figure = Figure(figsize=(width, height))
    return figure, figure.subplots()


def several_panels(width: float, height: float, rows: int, columns: int, **more: Any) -> tuple[Figure, Any]:
    """Make a figure of panels in rows and columns, given in reading order; sizes are in inches."""
    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(rows, columns, squeeze=False, **more).ravel()


def bare(axes: Axes, **limits: Any) -> None:
    """Set limits and aspect of a panel, and hide its axes."""
    axes.set(**limits)
    axes.set_axis_off()


def write_beside(axes: Axes, text: str, at: Any, away: Point, **style: Any) -> None:
    """Write words ``away`` points right and up of the mark ``at``; they end or begin on the mark's side."""
    right, up = away
    across = "left" if right > 0 else "right" if right < 0 else "center"
    upright = "bottom" if up > 0 else "top" if up < 0 else "center"
    axes.annotate(text, at, xytext=away, textcoords="offset points", **{"ha": across, "va": upright, **style})


def draw_arrow(axes: Axes, start: Any, end: Any, color: str, width: float = 1.4, **style: Any) -> None:
    """Draw an arrow with a full head at ``end``; ``style`` is what else ``arrowprops`` take."""
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": width, **style})


def draw_box(axes: Axes, corner: Point, width: float, height: float, rounding: float, **style: Any) -> None:
    """Draw a box with round corners of radius ``rounding``, from its lower left corner."""
    shape = f"round,pad=0,rounding_size={rounding}"
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=shape, **style))


def kept_apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights up as little as is needed for each to be ``least`` above the one below.

    >>> kept_apart([2.0, 0.0, 0.25], 0.5)
    [2.0, 0.0, 0.5]
    """
    raised = [0.0] * len(heights)
    below = float("-inf")
    for i in sorted(range(len(heights)), key=lambda i: heights[i]):
        below = raised[i] = max(float(heights[i]), below + least)
    return raised
