"""The task that asks how soon each step can be done, and so how deep a graph of steps is."""

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _chain(n: int) -> np.ndarray:
    """A recurrent layer: n tokens, then n states."""
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = np.eye(n)
    needs[n:, n:] = np.eye(n, k=-1)
    return needs


def _all_at_once(n: int) -> np.ndarray:
    """An attention layer: n tokens, then n outputs."""
    needs = np.zeros((2 * n, 2 * n), dtype=bool)
    needs[n:, :n] = True
    return needs


def _tree(n: int) -> np.ndarray:
    """A sum of n numbers, two at a time: n - 1 steps after the numbers."""
    needs = np.zeros((2 * n - 1, 2 * n - 1), dtype=bool)
    for i in range(n - 1):
        needs[n + i, [2 * i, 2 * i + 1]] = True
    return needs


def _random(rng: Rng, n: int) -> np.ndarray:
    needs = np.tril(rng.random((n, n)) < 0.35, k=-1)
    needs[n // 2] = False  # one in the middle that needs nothing
    needs[-1, [0, n - 2]] = True, False  # and one whose last need is not its latest
    return needs


def _depth_cases(rng: Rng) -> list[Case]:
    # A chain of four beside a step that is ready at once: what step 5 needs last is done long before its first need.
    long_then_short = np.zeros((6, 6), dtype=bool)
    long_then_short[[1, 2, 3], [0, 1, 2]] = True
    long_then_short[5, [3, 4]] = True
    graphs = (
        ("a recurrent layer of four tokens", _chain(4)),
        ("an attention layer of four tokens", _all_at_once(4)),
        ("a sum of eight numbers, two at a time", _tree(8)),
        ("a long chain and a short one", long_then_short),
        ("nine steps drawn at random", _random(rng, 9)),
        ("twelve steps drawn at random", _random(rng, 12)),
        ("three steps that need nothing", np.zeros((3, 3), dtype=bool)),
        ("a long chain, each step after the one before", np.eye(int(rng.integers(25, 33)), k=-1, dtype=bool)),
    )
    return [Case(label, (needs,), frame="numpy") for label, needs in graphs]


def _depth(needs: np.ndarray) -> np.ndarray:
    """The longest chain that ends at each step: the last power of the matrix in which its row is not empty."""
    power, longest = np.eye(len(needs), dtype=np.int64), np.zeros(len(needs), dtype=np.int64)
    for length in range(1, len(needs) + 1):
        power = np.minimum(power @ needs.astype(np.int64), 1)
        longest[power.any(axis=1)] = length
    return longest


DEPTH = described("01.depth", cases=_depth_cases, oracle=_depth, frame="numpy", forbids=("softlookup.reference",))
