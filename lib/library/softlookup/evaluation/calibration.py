"""Calibration: whether a model that says 80 % is right in 80 of 100 cases."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from softlookup.evaluation.checked import check_at_least, pair_of_rows


@dataclass(frozen=True, eq=False)
class ReliabilityTable:
    """Answers in bins of equal width by their confidence, M bins from 0 to 1.

    Attributes:
        confidence: The mean confidence of each bin (M,), NaN where it is empty.
        accuracy: The fraction of each bin that is right (M,), NaN where it is empty.
        count: The answers in each bin (M,).
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    count: np.ndarray

    @property
    def error(self) -> float:
        """The expected calibration error: the mean distance of accuracy and confidence, weighted by the counts."""
        used = self.count > 0
        gaps = np.abs(self.accuracy[used] - self.confidence[used])
        return float(np.average(gaps, weights=self.count[used]))

    @property
    def largest_gap(self) -> float:
        """The largest distance of accuracy and confidence in a bin, the maximum calibration error."""
        return float(np.nanmax(np.abs(self.accuracy - self.confidence)))


def reliability_table(confidences: ArrayLike, correct: ArrayLike, bins: int = 10) -> ReliabilityTable:
    """Compare what a model is sure of with what it gets right.

    Args:
        confidences: The probability that the model gave to its answer, for each problem (P,), from 0 to 1.
        correct: Whether the answer is right (P,), True and False or 1 and 0.
        bins: M, how many bins. Bin m holds confidences above (m - 1)/M and up to m/M; 0 belongs to the first one.

    Returns:
        Confidence, accuracy and count of each bin.

    Raises:
        ValueError: If the lengths differ, a confidence is not from 0 to 1, an answer is neither right nor wrong, or
            there is no bin.

    Source: Guo et al. 2017 (arXiv:1706.04599), section 2.

    >>> table = reliability_table([0.9, 0.8, 0.3], [True, False, False], bins=2)
    >>> table.count.tolist(), table.accuracy.tolist()
    ([1, 2], [0.0, 0.5])
    """
    sure, right = pair_of_rows(confidences, correct, ("confidences", "correct"))
    check_at_least(bins, "bins", 1)
    if sure.min() < 0 or sure.max() > 1:
        raise ValueError(f"confidences go from {sure.min():g} to {sure.max():g}; wanted are numbers from 0 to 1")
    if not np.isin(right, (0, 1)).all():
        raise ValueError(f"correct holds {right[~np.isin(right, (0, 1))][0]:g}; wanted are True and False, or 1 and 0")
    at = np.clip(np.searchsorted(np.arange(bins + 1) / bins, sure, side="left") - 1, 0, None)
    count = np.bincount(at, minlength=bins)
    with np.errstate(invalid="ignore"):
        confidence, accuracy = (np.bincount(at, weights=values, minlength=bins) / count for values in (sure, right))
    return ReliabilityTable(confidence, accuracy, count)


def calibration_error(confidences: ArrayLike, correct: ArrayLike, bins: int = 10) -> float:
    """Compute the expected calibration error (ECE). It depends on the bins: report their number.

    Args:
        confidences: The probability that the model gave to its answer, for each problem (P,), from 0 to 1.
        correct: Whether the answer is right (P,).
        bins: How many bins of equal width.

    Returns:
        The mean over the answers of the distance between their bin's accuracy and confidence, from 0 to 1.

    Raises:
        ValueError: If ``reliability_table`` refuses the inputs.

    Source: Guo et al. 2017 (arXiv:1706.04599), section 2.
    """
    return reliability_table(confidences, correct, bins).error
