"""The task that asks how soon each step can be done, and so how deep a graph of steps is."""

import numpy as np

from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.motivation.page import PAGE
from softlookup.checks.task import Case, Task


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


DONE = "done[i] = 1 + max(before)"
PAST = """    def past(needs, i):
        direct = [j for j in range(i) if needs[i, j]]
        return set(direct).union(*(past(needs, j) for j in direct))

"""

DEPTH = Task(
    id="01.depth",
    name="finish_times",
    title="How early can it be done?",
    points=3,
    minutes=10,
    difficulty=2,
    page=PAGE,
    anchor="motivation-depth",
    returns=("times",),
    cases=_depth_cases,
    oracle=_depth,
    frame="numpy",
    forbids=("softlookup.reference",),
    mistakes=(
        known(
            "earliest",
            (DONE, "done[i] = 1 + min(before)"),
            says="A step starts when the first of what it needs is there: it has to wait for the last of them, the "
            "largest time.",
        ),
        known(
            "in-a-row",
            ("return done", "return list(range(len(needs)))"),
            says="The steps are done one after the other, as by one pair of hands: steps that do not need each other "
            "are done at the same time.",
        ),
        known(
            "counts-needs",
            (DONE, "done[i] = len(before)"),
            says="This counts what a step needs; it is asked when all of that is done.",
        ),
        known(
            "whole-past",
            (DONE, "done[i] = len(past(needs, i))"),
            ("    done = [0]", f"{PAST}    done = [0]"),
            says="This counts all steps that come before, the work; with many hands only the longest chain counts.",
        ),
        known(
            "added-up",
            (DONE, "done[i] = 1 + sum(before)"),
            says="The times of what a step needs are added up, as if it waited for one after the other: it waits for "
            "the latest alone.",
        ),
        known(
            "last-need",
            (DONE, "done[i] = 1 + before[-1]"),
            says="Only the last step in the row is waited for; an earlier one in the list may be done later.",
        ),
        known(
            "first-need",
            (DONE, "done[i] = 1 + before[0]"),
            says="Only the first step in the row is waited for (a `break` too early?); one after it in the list may be "
            "done later.",
        ),
        known(
            "steps-added-up",
            (DONE, "done[i] = sum(1 + time for time in before)"),
            says="Each thing that a step needs adds its time and one more, as with `+=` in the loop: the step waits "
            "for the latest alone, and then takes one itself.",
        ),
        known(
            "number-for-time",
            (DONE, "done[i] = 1 + max(j for j in range(i) if needs[i, j])"),
            says="One is added to the number of the last step that is needed; it is the times that count, "
            "done[j] in place of j.",
        ),
        known(
            "heights",
            ("range(len(needs)):", "reversed(range(len(needs))):"),
            ("range(i) if needs[i, j]", "range(len(needs)) if needs[j, i]"),
            says="This counts from the end: the longest chain that comes after each step. What is asked is the "
            "longest chain that leads to it.",
        ),
        known(
            "starts-at-one",
            ("done = [0] * len(needs)", "done = [1] * len(needs)"),
            says="All times are one too large: what needs nothing is there at time 0.",
        ),
        known(
            "no-step",
            (DONE, "done[i] = max(before)"),
            says="The step itself takes no time: add one to the latest of what it needs.",
        ),
        known(
            "columns",
            ("range(i) if needs[i, j]", "range(len(needs)) if needs[j, i]"),
            says="The matrix is read by columns: row i says what step i needs, needs[i, j].",
        ),
    ),
)
