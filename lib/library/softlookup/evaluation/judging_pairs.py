"""A model as judge of two answers: the bias of its verdicts towards a position."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from softlookup.evaluation.checked import check_at_least, pair_of_rows, row_of_numbers

NAMES = ("a_first", "b_first")


@dataclass(frozen=True)
class PositionBias:
    """What becomes of verdicts on answers of models A and B if each pair is judged in both orders.

    Attributes:
        consistent_win_rate: A's wins among the pairs that have the same winner in both orders; NaN if there is none.
        win_rate: A's wins where every pair without such a winner counts as half a win.
        inconsistent: The fraction of pairs whose two verdicts differ.
        towards_first: The fraction of pairs in which the answer that is shown first wins in both orders.
        towards_second: The fraction of pairs in which the answer that is shown second wins in both orders.
    """

    consistent_win_rate: float
    win_rate: float
    inconsistent: float
    towards_first: float
    towards_second: float


def position_bias(a_first: ArrayLike, b_first: ArrayLike) -> PositionBias:
    """Compare a judge's verdicts on the same pairs of answers in both orders.

    Args:
        a_first: A verdict for each pair (P,) with A's answer shown first: 1 where A wins, -1 where B wins, 0 for a tie.
        b_first: The verdicts on the same pairs with B's answer shown first, in the same code.

    Returns:
        Win rates of A that do not depend on the order, and how often the order decides.

    Raises:
        ValueError: If the lengths differ or a verdict is not 1, 0 or -1.

    Source: Zheng et al. 2023 (arXiv:2306.05685), sections 3.3 and 3.4.

    >>> position_bias([1, 1, -1, 1], [1, -1, -1, -1]).towards_first
    0.5
    """
    first, second = pair_of_rows(a_first, b_first, NAMES)
    for name, verdicts in zip(NAMES, (first, second), strict=True):
        if strange := sorted(set(verdicts.tolist()) - {-1.0, 0.0, 1.0}):
            raise ValueError(f"{name} holds the verdict {strange[0]:g}; wanted are 1 (A wins), 0 (a tie) and -1")
    same = first == second
    wins, losses = int((same & (first == 1)).sum()), int((same & (first == -1)).sum())
    undecided = len(first) - wins - losses
    return PositionBias(
        consistent_win_rate=wins / (wins + losses) if wins + losses else float("nan"),
        win_rate=(wins + undecided / 2) / len(first),
        inconsistent=float((~same).mean()),
        towards_first=float(((first == 1) & (second == -1)).mean()),
        towards_second=float(((first == -1) & (second == 1)).mean()),
    )


def simulated_verdicts(
    gaps: ArrayLike, bias: float, *, rounds: int = 1, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Simulate a judge that prefers the better answer, and besides that the one that is shown first.

    Args:
        gaps: How much better A's answer is in truth, for each pair (P,), in logits.
        bias: What being shown first is worth, in logits; negative where the judge prefers what is shown second.
        rounds: How many times each pair is judged in either order.
        seed: An integer that decides the draws.

    Returns:
        Verdicts with A first and with B first, each (P * rounds,): 1 where A wins, -1 where B wins.

    Raises:
        ValueError: If gaps or bias are not finite, or there is no round.

    Source: Bradley and Terry 1952, with a term for the position.
    """
    check_at_least(rounds, "rounds", 1)
    row = np.repeat(row_of_numbers(gaps, "gaps"), rounds)
    if not np.isfinite(bias):
        raise ValueError(f"bias is {bias}; wanted is a finite number of logits")
    luck = np.random.default_rng(seed).logistic(size=(2, len(row)))
    a_first, b_first = (np.where(row + shift > noise, 1, -1) for shift, noise in zip((bias, -bias), luck, strict=True))
    return a_first, b_first
