"""What many figures draw: words beside a point, an arrow, a box with round corners."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

Point = tuple[float, float]


def write_beside(axes: Axes, text: str, at: Any, away: Point, **look: Any) -> None:
    """Write words some points away from a mark; they end or begin on the side where the mark is.

    ``at`` is the mark, in the units of the axes, or in those that ``xycoords`` names; ``away`` how far to the right and
    up, in points; ``look`` what else ``Axes.annotate`` takes.
    """
    right, up = away
    across = "left" if right > 0 else "right" if right < 0 else "center"
    upright = "bottom" if up > 0 else "top" if up < 0 else "center"
    axes.annotate(text, at, xytext=away, textcoords="offset points", **{"ha": across, "va": upright, **look})


def draw_arrow(axes: Axes, start: Any, end: Any, color: str, width: float = 1.4, **look: Any) -> None:
    """Draw an arrow with a full head at ``end``; the line's width is in points.

    ``look`` is what else the ``arrowprops`` of ``Axes.annotate`` take.
    """
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "linewidth": width, **look})


def draw_box(axes: Axes, corner: Point, width: float, height: float, rounding: float, **look: Any) -> None:
    """Draw a box with round corners, from its lower left one; ``rounding`` is their radius, in the units of the axes.

    ``look`` is what else ``FancyBboxPatch`` takes.
    """
    style = f"round,pad=0,rounding_size={rounding}"
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=style, **look))
