"""Learning from rewards: advantages within a group, the policy gradient, clipping, and estimates of the KL divergence.

Letters of its own: G answers to a prompt, P prompts, M tokens.
"""

from math import comb, log

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


def policy_gradient_loss(
    log_probs: Float[Tensor, "B T"], advantages: Float[Tensor, " B"], is_answer: Bool[Tensor, "B T"]
) -> Float[Tensor, ""]:
    """Give the loss whose gradient is the policy gradient (REINFORCE with a baseline).

    Args:
        log_probs: Of each token, under the policy that wrote it.
        advantages: Of each answer: its reward less a baseline.
        is_answer: Which tokens the policy wrote.

    Returns:
        Minus the mean over answers of the advantage times the answer's log-probability.

    Raises:
        ValueError: If the shapes do not fit, or no token is an answer's.

    Source: Williams 1992; Sutton et al. 2000.
    """
    _check_tokens(log_probs, advantages, is_answer)
    log_probs, advantages = widened(log_probs, advantages)
    sums = torch.where(is_answer, log_probs, 0.0).sum(dim=-1)
    return -(advantages.detach() * sums).mean()


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


def best_of(rewards: Float[Tensor, " M"], n: int) -> tuple[float, float]:
    """Say what the best of n samples is worth, and how far giving it moves from the model.

    Args:
        rewards: Of M samples.
        n: How many are drawn of them, from 1 to M.

    Returns:
        The expected largest reward of n samples drawn without replacement, and the bound log n - (n - 1) / n on the KL
        divergence from the model, in nats.

    Raises:
        ValueError: If n is not from 1 to M.

    Source: Stiennon et al. 2020, appendix G.3; a bound by Beirami et al. 2025 (arXiv:2401.01879). The expectation is
    that of Chen et al. 2021, for any rewards.

    >>> best_of(torch.tensor([0.0, 1.0, 1.0]), 2)[0]
    1.0
    """
    if not 1 <= n <= len(rewards):
        raise ValueError(f"n is {n}; wanted a number from 1 to the {len(rewards)} samples")
    rising = sorted(rewards.tolist())
    # The i-th smallest, counted from 0, is the largest of n where the other n - 1 are among the i below it.
    expected = sum(reward * (comb(i, n - 1) / comb(len(rising), n)) for i, reward in enumerate(rising))
    return expected, log(n) - (n - 1) / n


def acceptance_probabilities(
    rewards: Float[Tensor, "*prompts M"], beta: float, *, largest: float | None = None
) -> Float[Tensor, "*prompts M"]:
    """Say with which probability rejection sampling takes an answer of the model as an example for fine-tuning.

    What is taken comes from the policy with the largest reward less beta times its KL divergence from the model, and
    nothing was trained.

    Args:
        rewards: Of M answers that the model drew.
        beta: The weight of the divergence, above 0. The smaller it is, the fewer answers are taken.
        largest: A reward that none exceeds; None means the largest here, of each prompt.

    Returns:
        exp((reward - largest) / beta), at most 1.

    Raises:
        ValueError: If beta is not above 0, or a reward exceeds the largest.

    Source: Liu et al. 2024 (arXiv:2309.06657). To take the best of n is called rejection sampling, too, as by Touvron
    et al. 2023 (Llama 2), section 3.2.3.

    >>> acceptance_probabilities(torch.tensor([0.0, 1.0]), 1.0)
    tensor([0.3679, 1.0000])
    """
    if not beta > 0:
        raise ValueError(f"beta is {beta}; wanted a number above 0")
    bound = rewards.amax(dim=-1, keepdim=True) if largest is None else rewards.new_tensor(largest)
    if (rewards > bound).any():
        raise ValueError(f"a reward is {rewards.max().item():g}; the largest was to be {largest}")
    return ((rewards - bound) / beta).exp()


def _check_tokens(log_probs: Tensor, advantages: Tensor, is_answer: Tensor) -> None:
    if is_answer.shape != log_probs.shape or advantages.shape != log_probs.shape[:1]:
        raise ValueError(
            f"got log-probabilities of shape {tuple(log_probs.shape)}, advantages of {tuple(advantages.shape)} and a "
            f"mask of {tuple(is_answer.shape)}; wanted (B, T), (B,) and (B, T)"
        )
    if not bool(is_answer.any()):
        raise ValueError("no token is an answer's")
