"""Learning from comparisons: log-probabilities of answers, a reward model's loss, and DPO.

Letters of its own: B pairs of answers.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.post_training.precision import widened


@dataclass(frozen=True, eq=False)
class PreferenceLoss:
    """What a batch of pairs says.

    Attributes:
        loss: The mean over pairs.
        margins: By how much each chosen answer is ahead, as a logit: it is preferred with probability sigmoid(margin).
        accuracy: The fraction of pairs in which the chosen answer is ahead.
    """

    loss: Float[Tensor, ""]
    margins: Float[Tensor, " B"]
    accuracy: float


def token_log_probs(logits: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T-1"]:
    """Look up the log-probability of each token but the first, which nothing predicts.

    Args:
        logits: The model's scores; those at position t are for the token at t + 1.
        ids: The tokens.

    Returns:
        Log-probabilities in nats, in float32 at least; the first is that of the second token.
    """
    dtype = torch.promote_types(logits.dtype, torch.float32)
    return logits[:, :-1].log_softmax(dim=-1, dtype=dtype).gather(-1, ids[:, 1:, None])[..., 0]


def answer_log_probs(
    logits: Float[Tensor, "B T V"], ids: Int[Tensor, "B T"], is_answer: Bool[Tensor, "B T"]
) -> Float[Tensor, " B"]:
    """Add up the log-probabilities of each answer's tokens.

    Args:
        logits: The model's scores; those at position t are for the token at t + 1.
        ids: Prompts with their answers.
        is_answer: Which tokens are the answer's. The first token of a row has no prediction, and is never counted.

    Returns:
        A sum for each row, in nats, in float32 at least; 0 where a row has no answer.

    Raises:
        ValueError: If shapes do not fit, or a row has fewer than two tokens.

    Source: Rafailov et al. 2023, section 4.
    """
    if logits.shape[:2] != ids.shape or is_answer.shape != ids.shape or ids.shape[1] < 2:
        raise ValueError(
            f"got logits of shape {tuple(logits.shape)}, ids of {tuple(ids.shape)} and a mask of "
            f"{tuple(is_answer.shape)}; wanted (B, T, V), (B, T) and (B, T) with T of 2 at least"
        )
    return torch.where(is_answer[:, 1:], token_log_probs(logits, ids), 0.0).sum(dim=-1)


def dpo_loss(
    chosen: Float[Tensor, " B"],
    rejected: Float[Tensor, " B"],
    reference_chosen: Float[Tensor, " B"],
    reference_rejected: Float[Tensor, " B"],
    beta: float | int,
) -> PreferenceLoss:
    """Measure how well a policy, taken as a reward, explains which answers were preferred.

    Args:
        chosen: Log-probabilities of the preferred answers under the policy, in nats.
        rejected: Those of the others.
        reference_chosen: Log-probabilities of the preferred answers under the reference; they get no gradient.
        reference_rejected: Those of the others.
        beta: The weight of the KL divergence in the goal that this loss stands for, above 0.

    Returns:
        The mean of -log sigmoid(margin), where a margin is beta times the difference of both log-ratios.

    Raises:
        ValueError: If there is no pair, the shapes differ, or beta is not a finite number above 0.

    Source: Rafailov et al. 2023, equation 7.
    """
    _check_pairs(chosen, rejected, reference_chosen, reference_rejected)
    if not 0 < beta < math.inf:
        raise ValueError(f"beta is {beta}; wanted a finite number above 0")
    chosen, rejected, *references = widened(chosen, rejected, reference_chosen, reference_rejected)
    log_ratios = (chosen - references[0].detach()) - (rejected - references[1].detach())
    return _of_margins(beta * log_ratios)


def _of_margins(margins: Tensor) -> PreferenceLoss:
    accuracy = float((margins.detach() > 0).double().mean())
    return PreferenceLoss(-F.logsigmoid(margins).mean(), margins.detach(), accuracy)


def _check_pairs(*rows: Tensor) -> None:
    if len({row.shape for row in rows}) != 1 or rows[0].numel() == 0:
        shapes = ", ".join(str(tuple(row.shape)) for row in rows)
        raise ValueError(f"got the shapes {shapes}; wanted one number for each pair, and a pair at least")
