"""Names at the ends of curves: where they stand so that none lies on another."""

from collections.abc import Sequence


def kept_apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights up as little as is needed for each to be ``least`` above the one below.

    The lowest stays where it is. Heights come and are given in any order, in units in which letters are equally high
    everywhere (on a logarithmic axis, the logarithms).

    Examples:
        >>> kept_apart([2.0, 0.0, 0.25], 0.5)
        [2.0, 0.0, 0.5]
    """
    places = [0.0] * len(heights)
    below = float("-inf")
    for i in sorted(range(len(heights)), key=lambda i: heights[i]):
        below = places[i] = max(float(heights[i]), below + least)
    return places
