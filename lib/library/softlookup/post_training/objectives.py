"""The losses of supervised fine-tuning and of distillation."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from softlookup.model.whole.objectives import cross_entropy
from softlookup.post_training.messages import IGNORED


def sft_loss(logits_BTV: Float[Tensor, "B T V"], labels_BT: Int[Tensor, "B T"]) -> Float[Tensor, ""]:
    """Measure how surprised the model is by the tokens of all answers in the batch.

    Every labelled token counts alike, whatever row it stands in. Where a batch is divided into micro-batches, their
    losses are weighted by their numbers of labels.

    Args:
        logits_BTV: The model's scores for the next token at each position.
        labels_BT: The next token, already shifted; IGNORED where the assistant did not write it.

    Returns:
        The mean cross-entropy in nats, in float32 at least.

    Raises:
        ValueError: If the batch has no label, a label is out of range, or shapes do not fit.
        TypeError: If the logits are not floating point, or the labels not integers.

    Source: Ouyang et al. 2022, section 3.5; equal to torch's cross_entropy with ignore_index=-100.
    """
    if labels_BT.numel() and bool((labels_BT == IGNORED).all()):
        raise ValueError(f"all {labels_BT.numel()} labels are {IGNORED}: no token of the batch is the assistant's")
    return cross_entropy(logits_BTV, labels_BT, pad_id=IGNORED)


def distillation_loss(
    student: Float[Tensor, "*T V"], teacher: Float[Tensor, "*T V"], tau: float | int
) -> Float[Tensor, ""]:
    """Measure how far the student's next-token probabilities are from the teacher's, both softened by a temperature.

    It is tau**2 * KL(teacher || student), averaged over the tokens. Gradients of the student's logits are smaller by
    about tau**2 at a high temperature, and the factor makes up for that. The teacher gets no gradient.

    Args:
        student: Logits of the model that learns.
        teacher: Logits of the model that it learns from, for the same tokens and vocabulary.
        tau: The temperature that both logits are divided by, above 0.

    Returns:
        The loss in nats, in float32 at least; 0 where both models agree.

    Raises:
        ValueError: If the shapes differ, there is no token, or tau is not a finite number above 0.
        TypeError: If the logits are not floating point.

    Source: Hinton et al. 2015, section 2 and equation 4.

    >>> logits = torch.tensor([[1.0, 2.0, 3.0]])
    >>> distillation_loss(logits, logits + 5, tau=2)
    tensor(0.)
    """
    if not (student.is_floating_point() and teacher.is_floating_point()):
        raise TypeError(f"logits have dtypes {student.dtype} and {teacher.dtype}; wanted floating-point dtypes")
    if student.shape != teacher.shape or student.numel() == 0:
        raise ValueError(
            f"the student's logits have shape {tuple(student.shape)}, the teacher's {tuple(teacher.shape)}; "
            "wanted equal shapes with at least one token"
        )
    if not 0 < tau < math.inf:
        raise ValueError(f"tau is {tau}; wanted a finite number above 0")
    dtype = torch.promote_types(torch.promote_types(student.dtype, teacher.dtype), torch.float32)
    log_q = (student.to(dtype) / tau).log_softmax(dim=-1)
    log_p = (teacher.detach().to(dtype) / tau).log_softmax(dim=-1)
    # Where the teacher's probability is 0, so is its part, also where the logarithm is minus infinity.
    parts = torch.where(log_p == -math.inf, 0.0, log_p.exp() * (log_p - log_q))
    return tau**2 * parts.sum(dim=-1).mean()
