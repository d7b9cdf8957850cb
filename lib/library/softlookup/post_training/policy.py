"""Learning from rewards: advantages within a group, clipping, and estimates of the KL divergence.

Letters of its own: G answers to a prompt, P prompts, M tokens.
"""

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from softlookup.post_training.precision import widened


def group_advantages(rewards: Shaped[Tensor, "P G"]) -> Float[Tensor, "P G"]:
    """Compare each answer with the others to its prompt.

    Args:
        rewards: Of G answers to each prompt; whole numbers and booleans, too.

    Returns:
        Each reward less its group's mean, over the group's standard deviation, in float32 at least; zeros where all
        rewards are equal up to rounding. The deviation has G in its denominator, and nothing is added to it, so that
        advantages do not change with the unit of the rewards; TRL takes G - 1 and adds 1e-4.

    Raises:
        ValueError: If there is no answer, or a reward is no finite number.

    Source: Shao et al. 2024, section 4.1.2 (GRPO).

    >>> group_advantages(torch.tensor([[1.0, 0.0], [1.0, 1.0]]))
    tensor([[ 1., -1.],
            [ 0.,  0.]])
    """
    if rewards.numel() == 0:
        raise ValueError(f"got rewards of shape {tuple(rewards.shape)}; wanted an answer at least")
    (rewards,) = widened(rewards)
    if not bool(rewards.isfinite().all()):
        raise ValueError(f"a reward is {rewards[~rewards.isfinite()][0].item()}; wanted finite numbers")
    centred = rewards - rewards.mean(dim=-1, keepdim=True)
    spread = rewards.std(dim=-1, keepdim=True, unbiased=False)
    # Sums of the same parts in another order, such as 0.1 + 0.2 and 0.3, differ by a rounding.
    rounding = 4 * torch.finfo(rewards.dtype).eps * rewards.abs().amax(dim=-1, keepdim=True)
    is_equal = rewards.amax(dim=-1, keepdim=True) - rewards.amin(dim=-1, keepdim=True) <= rounding
    return torch.where(is_equal, 0.0, centred / torch.where(is_equal, 1.0, spread))


def clipped_policy_loss(
    new: Float[Tensor, "B T"],
    old: Float[Tensor, "B T"],
    advantages: Float[Tensor, " B"],
    is_answer: Bool[Tensor, "B T"],
    *,
    clip: float = 0.2,
) -> Float[Tensor, ""]:
    """Give the loss of PPO and GRPO: ratios of probabilities, which stop to count where they have moved too far.

    Args:
        new: Log-probabilities of the tokens under the policy that learns.
        old: The same under the policy that wrote them; it gets no gradient.
        advantages: Of each answer.
        is_answer: Which tokens the policy wrote.
        clip: How far a ratio may move from 1 in the direction of its advantage.

    Returns:
        Minus the mean over all answer tokens of the batch.

    Raises:
        ValueError: If the shapes do not fit, no token is an answer's, or clip is not above 0.

    Source: Schulman et al. 2017, equation 7; the mean over tokens: Yu et al. 2025 (DAPO), equation 8.
    """
    _check_tokens(new, advantages, is_answer)
    if old.shape != new.shape or not clip > 0:
        raise ValueError(f"got old of shape {tuple(old.shape)} beside {tuple(new.shape)}, and the clip {clip}")
    new, old, advantages = widened(new, old, advantages)
    ratios = torch.where(is_answer, new - old.detach(), 0.0).exp()
    weights = advantages.detach()[:, None]
    gains = torch.minimum(ratios * weights, ratios.clamp(1 - clip, 1 + clip) * weights)
    return -torch.where(is_answer, gains, 0.0).sum() / is_answer.sum()


def kl_penalty(
    policy: Float[Tensor, " M"], reference: Float[Tensor, " M"], *, estimator: str = "k3"
) -> Float[Tensor, ""]:
    """Estimate the KL divergence of the policy from the reference, from samples of the policy.

    With r the reference's probability over the policy's: k1 is -log r, without bias; k2 is (log r)^2 / 2, with a bias
    and little variance; k3 is r - 1 - log r, without bias and never below 0.

    Args:
        policy: Log-probabilities of what was sampled from the policy.
        reference: The same under the reference; it gets no gradient.
        estimator: Which one.

    Returns:
        The mean over the samples, in nats.

    Raises:
        ValueError: If the shapes differ, there is no sample, or there is no such estimator.

    Source: Schulman 2020, Approximating KL divergence.
    """
    if policy.shape != reference.shape or policy.numel() == 0:
        raise ValueError(
            f"got the shapes {tuple(policy.shape)} and {tuple(reference.shape)}; wanted equal shapes and a sample at "
            "least"
        )
    policy, reference = widened(policy, reference)
    log_r = reference.detach() - policy
    if estimator == "k1":
        return -log_r.mean()
    if estimator == "k2":
        return (log_r**2).mean() / 2
    if estimator == "k3":
        return (log_r.expm1() - log_r).mean()
    raise ValueError(f"no estimator {estimator!r}; there are k1, k2 and k3")


def _check_tokens(log_probs: Tensor, advantages: Tensor, is_answer: Tensor) -> None:
    if is_answer.shape != log_probs.shape or advantages.shape != log_probs.shape[:1]:
        raise ValueError(
            f"got log-probabilities of shape {tuple(log_probs.shape)}, advantages of {tuple(advantages.shape)} and a "
            f"mask of {tuple(is_answer.shape)}; wanted (B, T), (B,) and (B, T)"
        )
    if not bool(is_answer.any()):
        raise ValueError("no token is an answer's")
