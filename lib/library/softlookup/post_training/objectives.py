"""The loss of supervised fine-tuning."""

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
