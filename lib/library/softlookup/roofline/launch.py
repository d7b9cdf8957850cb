"""The third line under the roof: what it takes to start an operation, however small it is.

A GPU is asked for each operation by the CPU, and sets up its threads before the first byte arrives. Data sheets do not
print that time, so it is fitted to measured ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class LaunchFit:
    """A launch time, and how well it predicts what it was not fitted to.

    Attributes:
        launch_s: Seconds; 0 where no operation of the run shows any.
        error: The median over the points judged of how far measured lies from max(launch, predicted), as a fraction
            of that.
        error_without: The same without a launch.
        fitted: How many points it was fitted to.
        judged: How many others it was judged by.
    """

    launch_s: float
    error: float
    error_without: float
    fitted: int
    judged: int


def fit_launch(points: Sequence[Mapping[str, Any]]) -> LaunchFit:
    """Fit the launch time to every second point of a record, and judge it by the others.

    Args:
        points: Rows with ``predicted_s``, the least time by bytes and operations, and ``measured_s``: the field
            ``points`` of a record of ``softlookup bench roofline``.

    Returns:
        The launch, out of 0 and the times measured, that leaves the least median error.

    Raises:
        ValueError: If there are fewer than four points: "N points, wanted at least 4".
    """
    if len(points) < 4:
        raise ValueError(f"{len(points)} points, wanted at least 4")
    times = [(float(point["predicted_s"]), float(point["measured_s"])) for point in points]
    fitted, judged = times[::2], times[1::2]
    launch_s = min([0.0, *sorted(measured for _, measured in fitted)], key=lambda launch: _error(fitted, launch))
    return LaunchFit(launch_s, _error(judged, launch_s), _error(judged, 0.0), len(fitted), len(judged))


def _error(times: Sequence[tuple[float, float]], launch_s: float) -> float:
    return median(abs(measured / max(launch_s, predicted) - 1) for predicted, measured in times)
