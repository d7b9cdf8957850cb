"""One prompt with a few possible answers, in numpy: where rewards move the probabilities, computed exactly.

Letters of its own: M answers.
"""

from collections.abc import Sequence

import numpy as np

from softlookup.reference.attention import softmax

Numbers = Sequence[float] | np.ndarray
"""One number for each answer."""


def kl_optimum(reference: Numbers, rewards: Numbers, beta: float) -> np.ndarray:
    """Give the policy with the largest expected reward less beta times its KL divergence from the reference.

    Args:
        reference: Probabilities of the answers (M,), each above 0.
        rewards: Of the answers (M,).
        beta: The weight of the divergence, above 0.

    Returns:
        Probabilities (M,): the reference's times exp(reward / beta), divided by their sum.

    Raises:
        ValueError: If the shapes differ, a probability is not above 0, or beta is not.

    Source: Rafailov et al. 2023, equation 4.

    >>> kl_optimum([0.5, 0.5], [0.0, np.log(3)], 1.0)
    array([0.25, 0.75])
    """
    reference, rewards = _checked(reference, rewards)
    if not beta > 0:
        raise ValueError(f"beta is {beta}; wanted a number above 0")
    return softmax(np.log(reference) + rewards / beta)


def grpo_path(reference: Numbers, rewards: Numbers, *, steps: int = 60, rate: float = 0.35) -> np.ndarray:
    """Follow the policy gradient with advantages over their standard deviation, in expectation, without a penalty.

    Args:
        reference: Probabilities of the answers (M,) where it begins, each above 0.
        rewards: Of the answers (M,).
        steps: How many steps.
        rate: The learning rate of the answers' logits.

    Returns:
        Probabilities (steps + 1, M), the reference first.

    Raises:
        ValueError: If the shapes differ, or a probability is not above 0.

    Source: Shao et al. 2024, for infinitely large groups.
    """
    reference, rewards = _checked(reference, rewards)
    logits, path = np.log(reference), [reference]
    for _ in range(steps):
        policy = path[-1]
        centred = rewards - policy @ rewards
        spread = np.sqrt(policy @ centred**2)
        if spread > 1e-9:
            logits = logits + rate * policy * centred / spread
        path.append(softmax(logits))
    return np.array(path)


def _checked(reference: Numbers, rewards: Numbers) -> tuple[np.ndarray, np.ndarray]:
    probabilities, numbers = np.asarray(reference, dtype=float), np.asarray(rewards, dtype=float)
    if probabilities.shape != numbers.shape or probabilities.ndim != 1 or not (probabilities > 0).all():
        raise ValueError(
            f"got probabilities {probabilities.tolist()} and rewards {numbers.tolist()}; wanted one of each for each "
            "answer, and probabilities above 0"
        )
    return probabilities, numbers
