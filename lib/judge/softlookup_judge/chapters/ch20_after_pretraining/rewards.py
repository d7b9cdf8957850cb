"""Tasks on rewards: advantages within a group, the clipped loss, estimates of the KL divergence, the best of n."""

from itertools import combinations
from math import comb, log
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles


def _advantage_cases(rng: Rng) -> list[Case]:
    def case(label: str, rewards: Any, **facts: Any) -> Case:
        return Case(label, (np.asarray(rewards, dtype=np.float64),), **facts)

    large = 1e8 + 0.1
    level = np.array([[0.0], [10.0], [-5.0], [3.0]])
    close = rng.permuted(np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 2.0]]), axis=1)
    return [
        case("two prompts with four answers", [[1, 0, 0, 1], [0, 0, 1, 0]]),
        case("a group in which all answers are right", [[1, 1, 1], [1, 0, 1], [0, 0, 0]]),
        case("rewards whose mean is 0", [[1, -1, 0, 0], [3, -1, -4, 2]]),
        case("rewards of any size", doubles(rng, 3, 5, scale=4.0)),
        case("prompts of unequal difficulty", doubles(rng, 4, 3) + level),
        # Rounding near 2 moves these advantages by some 1e-10, and by how much depends on the order of a sum.
        case("rewards that differ by a millionth", 2.0 + 1e-6 * close, tolerance=1e-8),
        case("as many prompts as answers", doubles(rng, 3, 3)),
        case("one prompt", [[0.2, 0.9, 0.4, 0.4, 0.1]]),
        case("one answer to each prompt", [[0.7], [0.0], [-1.5]]),
        case("equal rewards that no float holds exactly", [[0.1, 0.1, 0.1], [0.3, 0.3, 0.7]]),
        case("rewards that are equal up to rounding", [[0.1 + 0.2, 0.3, 0.3, 0.3], [-0.3, -0.3, -0.1 - 0.2, 0.3]]),
        case("large rewards that are equal up to rounding", [[3e8 * 0.1, 3e7, -1e8], [1e9 * (0.1 + 0.2), 3e8, 3e8]]),
        case("tiny rewards that differ", [[1e-20, 3e-20, 2e-20], [-1e-20, -1e-20, 1e-20]]),
        case("large rewards beside small ones", [[2e9, 1e9, 1e9], [3e-7, 1e-7, 2e-7]]),
        case("large rewards that are equal", [[large] * 3, [-large] * 3, [1e8, 1e8 + 3, 1e8]], tolerance=1e-7),
        case("a tenth more in one of three", [[0.1, 0.1, 0.2], [5, 5, 5]]),
        case("three hundred answers", doubles(rng, 2, 300)),
        case("three hundred prompts", doubles(rng, 300, 3, scale=3.0)),
    ]  # fmt: skip


@graded("20.advantages", _advantage_cases, frame="numpy", cuts=False)
def _group_advantages(rewards: Any) -> Any:
    """Group by group, with the root of the mean squared difference."""
    rows = []
    for group in np.asarray(rewards, dtype=np.float64):
        if max(group) - min(group) <= 1e-15 * max(abs(group)):
            rows.append([0.0] * len(group))
            continue
        mean = sum(group.tolist()) / len(group)
        spread = np.sqrt(sum((r - mean) ** 2 for r in group.tolist()) / len(group))
        rows.append([(r - mean) / spread for r in group.tolist()])
    return np.array(rows)


def _grpo_cases(rng: Rng) -> list[Case]:
    def case(label: str, lengths: list[int], clip: float, scale: float = 0.2, lead: int = 1) -> Case:
        """Answers of these lengths behind a prompt of ``lead`` tokens; what stands outside counts for nothing."""
        t = lead + max(lengths) + 1
        is_answer = np.array([[lead <= i < lead + length for i in range(t)] for length in lengths])
        old = -np.abs(doubles(rng, len(lengths), t, scale=1.5)) - 0.05
        new = old + doubles(rng, len(lengths), t, scale=scale)
        advantages = doubles(rng, len(lengths), scale=1.2)
        advantages[0] = abs(advantages[0])
        advantages[-1] = -abs(advantages[-1]) if len(lengths) > 1 else advantages[-1]
        return Case(label, (new, old, advantages, is_answer, clip))

    far = case("ratios far outside of the clip", [2, 4, 3], 0.2, 1.0)
    far.args[0][[0, -1], 1] = far.args[1][[0, -1], 1] + np.array([-1.6, 1.6])
    first = case("the first step, where both policies are equal", [2, 5, 3], 0.2)
    first = Case(first.label, (first.args[1].copy(), *first.args[1:]))
    return [
        case("four answers of unequal lengths", [3, 1, 4, 2], 0.2),
        far,
        case("a narrow clip", [3, 5], 0.05),
        case("a wide clip", [4, 2, 6], 0.5, 0.6),
        case("an answer without a token", [3, 0, 2], 0.2, 0.5),
        first,
        case("as many answers as tokens", [2, 1, 2, 2], 0.2, 0.5),
        case("a longer prompt", [2, 3], 0.1, 0.4, 4),
        case("answers of hundreds of tokens", [300, 7, 260], 0.2, 0.4),
        case("three hundred answers of few tokens", rng.integers(0, 4, size=300).tolist(), 0.2, 0.4),
    ]


@graded("20.grpo", _grpo_cases, frame="numpy")
def _grpo_loss(new: Any, old: Any, advantages: Any, is_answer: Any, clip: float) -> Any:
    """Token by token: a gain counts up to the clip, a loss in full."""
    total, count = 0.0, 0
    for b, advantage in enumerate(advantages):
        for t in np.flatnonzero(is_answer[b]):
            ratio = float(np.exp(new[b, t] - old[b, t]))
            bound = min(ratio, 1 + clip) if advantage > 0 else max(ratio, 1 - clip)
            total += bound * float(advantage)
            count += 1
    return np.float64(-total / count)


def _kl_cases(rng: Rng) -> list[Case]:
    def case(label: str, s: int, scale: float) -> Case:
        policy = -np.abs(doubles(rng, s, scale=2.0)) - 0.1
        return Case(label, (policy, policy + doubles(rng, s, scale=scale)))

    same = -np.abs(doubles(rng, 4)) - 0.1
    long = -np.abs(doubles(rng, 5, scale=300.0)) - 800.0  # the exponentials are 0 for a computer
    apart = np.array([-0.3, 0.2, -30.0, -0.1])  # beyond the clips of common libraries, at 10 and at 20
    return [
        case("nine samples", 9, 0.7),
        case("a policy that has hardly moved", 6, 0.05),
        case("a policy that is far away", 5, 3.0),
        case("one sample", 1, 1.0),
        case("seven hundred samples", 700, 0.5),
        Case("the policy is the reference", (same, same.copy())),
        Case("samples that the reference finds more probable", (same - np.array([2.0, 12.0, 0.5, 1.0]), same)),
        Case("a sample that the reference hardly ever gives", (same, same + apart)),
        Case("answers of hundreds of tokens", (long, long + doubles(rng, 5))),
    ]


@graded("20.kl", _kl_cases, frame="numpy")
def _kl_estimates(policy: Any, reference: Any) -> Any:
    """Sample by sample, from the ratio itself."""
    ratios = [float(np.exp(q - p)) for p, q in zip(policy, reference, strict=True)]
    logs = [log(ratio) for ratio in ratios]
    rows = [(-x, x * x / 2, ratio - 1 - x) for x, ratio in zip(logs, ratios, strict=True)]
    return np.array(rows).mean(axis=0)


def _best_cases(rng: Rng) -> list[Case]:
    def case(label: str, rewards: Any, n: int) -> Case:
        return Case(label, (np.asarray(rewards, dtype=np.float64), n))

    return [
        case("the best of 2 of 5", doubles(rng, 5, scale=3.0), 2),
        case("the best of 4 of 9", doubles(rng, 9, scale=2.0), 4),
        case("the best of 1", doubles(rng, 6), 1),
        case("the best of all", doubles(rng, 5), 5),
        case("right or wrong, with ties", [0, 1, 0, 0, 1, 0, 1, 0], 3),
        case("negative rewards", -np.abs(doubles(rng, 7, scale=5.0)), 3),
        case("one sample", [2.5], 1),
        case("the best of 60 of 200", doubles(rng, 200), 60),
        case("the best of 150 of 1200", doubles(rng, 1200), 150),
        case("the best of 600 of 1200", doubles(rng, 1200), 600),
        case("the best of 5 of thousands", doubles(rng, int(rng.integers(4100, 4500))), 5),
    ]


@graded("20.best-of-n", _best_cases, frame="numpy", cuts=False)
def _best_of_n(rewards: Any, n: int) -> Any:
    """All subsets where there are few; else the probability that the best of n is no larger, by whole numbers."""
    values = [float(r) for r in rewards]
    bound = np.float64(log(n) - (n - 1) / n)
    if comb(len(values), n) < 3000:
        return np.mean([max(subset) for subset in combinations(values, n)]), bound
    rising = sorted(values)
    # The mean is the largest value less the sum of each step, weighted by how probable it is that all n lie below it.
    below = [comb(i, n) / comb(len(rising), n) for i in range(1, len(rising))]
    steps = np.diff(rising)
    return np.float64(rising[-1] - float(np.dot(steps, below))), bound
