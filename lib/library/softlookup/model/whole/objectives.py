"""What training makes small: cross-entropy over the tokens that count, plain, smoothed, and between two views."""

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor


def label_smoothing(targets_BT: Int[Tensor, "B T"], vocab_size: int, epsilon: float) -> Float[Tensor, "B T V"]:
    """Write out the distribution that a smoothed cross-entropy asks the model for.

    A share epsilon of the probability is spread evenly over all V classes, the right one among them: it gets
    1 - epsilon + epsilon/V, each other class epsilon/V. For reading and drawing: cross_entropy never builds it.

    Args:
        targets_BT: The right ids, each from 0 to V - 1.
        vocab_size: V, the number of classes.
        epsilon: The share that is spread, from 0 to 1.

    Returns:
        For each position V probabilities that sum to 1, in torch's default float dtype.

    Raises:
        ValueError: If an id is out of range, vocab_size is below 1, or epsilon is not between 0 and 1.
        TypeError: If the ids are not integers.

    Cost: B*T*V numbers in memory.

    Source: Szegedy et al. 2016, section 7 (with the uniform distribution); Vaswani et al. 2017, section 5.4.

    >>> label_smoothing(torch.tensor([[1]]), 4, 0.2)
    tensor([[[0.0500, 0.8500, 0.0500, 0.0500]]])
    """
    if vocab_size < 1:
        raise ValueError(f"vocab_size is {vocab_size}; wanted at least 1")
    _check_epsilon(epsilon)
    _check_integers("targets", targets_BT)
    _check_labels(targets_BT, vocab_size)
    smoothed_BTV = torch.full((*targets_BT.shape, vocab_size), epsilon / vocab_size, device=targets_BT.device)
    right_BT1 = targets_BT.long().unsqueeze(-1)
    return smoothed_BTV.scatter(-1, right_BT1, 1.0 - epsilon + epsilon / vocab_size)


def cross_entropy(
    logits_BTV: Float[Tensor, "B T V"],
    targets_BT: Int[Tensor, "B T"],
    *,
    pad_id: int,
    epsilon: float = 0.0,
    reduction: Literal["mean", "sum"] = "mean",
) -> Float[Tensor, ""]:
    """Measure how surprised the model is by the right tokens; padding does not count.

    With p the softmax of the logits and y the right id, a token's loss is -log p_y. Smoothing makes it
    -(1 - epsilon) * log p_y - epsilon * mean_j(log p_j), the cross-entropy with label_smoothing's distribution.

    Args:
        logits_BTV: The model's scores for the next token at each position.
        targets_BT: The right ids; pad_id where there is no token to predict.
        pad_id: The id of padding. Its positions enter neither the sum nor the count.
        epsilon: The share of label smoothing, from 0 to 1; see label_smoothing.
        reduction: "mean" divides by the number of tokens that count, "sum" does not: what a sum over several
            batches needs, to be divided by all their tokens at once.

    Returns:
        The loss in nats, in float32 at least, with the gradient of the logits behind it.

    Raises:
        ValueError: If nothing but padding is there, a target is out of range, sizes or devices differ, epsilon is
            not between 0 and 1, or reduction is unknown.
        TypeError: If the logits are not floating point, or the targets not integers.

    Cost: two copies of the logits that count in memory, and two of their gradient.

    Source: Vaswani et al. 2017, section 5.4; equal to torch's F.cross_entropy.

    >>> cross_entropy(torch.zeros(1, 2, 4), torch.tensor([[3, 0]]), pad_id=0)  # log 4: it knows nothing
    tensor(1.3863)
    """
    if not logits_BTV.is_floating_point():
        raise TypeError(f"logits have dtype {logits_BTV.dtype}; wanted a floating-point dtype")
    if logits_BTV.ndim != 3 or logits_BTV.shape[:2] != targets_BT.shape:
        raise ValueError(
            f"logits have shape {tuple(logits_BTV.shape)}, targets {tuple(targets_BT.shape)}; "
            "wanted (B, T, V) and (B, T)"
        )
    if logits_BTV.device != targets_BT.device:
        raise ValueError(f"logits are on {logits_BTV.device}, targets on {targets_BT.device}; wanted one device")
    if reduction not in ("mean", "sum"):
        raise ValueError(f'reduction is {reduction!r}; wanted "mean" or "sum"')
    _check_epsilon(epsilon)
    _check_integers("targets", targets_BT)
    # M counts the tokens that are no padding: from here on the rest costs nothing, and cannot spoil anything.
    counted_M = (targets_BT.flatten() != pad_id).nonzero().squeeze(-1)
    if counted_M.numel() == 0:
        raise ValueError(f"all {targets_BT.numel()} targets are padding (id {pad_id}): there is nothing to learn from")
    labels_M = targets_BT.flatten()[counted_M].long()
    _check_labels(labels_M, logits_BTV.shape[-1])
    logits_MV = logits_BTV.flatten(0, 1).index_select(0, counted_M)
    log_p_MV = logits_MV.to(torch.promote_types(logits_MV.dtype, torch.float32)).log_softmax(dim=-1)

    agreed_M = log_p_MV.gather(-1, labels_M.unsqueeze(-1)).squeeze(-1)
    if epsilon > 0.0:  # without the condition a class of probability 0 would make 0 * mean a NaN
        agreed_M = (1.0 - epsilon) * agreed_M + epsilon * log_p_MV.mean(dim=-1)
    return -agreed_M.mean() if reduction == "mean" else -agreed_M.sum()


def perplexity(loss: float | Float[Tensor, ""]) -> float:
    """Turn a cross-entropy into a number of choices: as unsure as between so many equally likely tokens.

    Args:
        loss: A cross-entropy for each token, in nats, without label smoothing.

    Returns:
        exp(loss); infinity where that is too large for a float.

    Raises:
        ValueError: If the loss is negative or NaN: no cross-entropy is.

    >>> perplexity(0.0)
    1.0
    """
    loss = float(loss)
    # A perfect prediction may come out a rounding error below zero.
    if not loss > -1e-4:
        raise ValueError(f"loss is {loss}; wanted a cross-entropy in nats, at least 0")
    return float(torch.tensor(loss, dtype=torch.float64).exp())


def teacher_forcing(
    target_ids_BT: Int[Tensor, "B T"], pad_id: int
) -> tuple[Int[Tensor, "B T-1"], Int[Tensor, "B T-1"]]:
    """Cut target sentences into what the decoder is shown and what it has to say next, at all positions at once.

    The decoder is shown the right words so far, not its own: so one pass trains every position.

    Args:
        target_ids_BT: Whole sentences, the start token first and the end token last, padded on the right.
        pad_id: The id of padding.

    Returns:
        The inputs (all but the last column) and the labels (all but the first). In a sentence shorter than
        the longest, the end token is among the inputs too; its label is padding, which cross_entropy skips.

    Raises:
        ValueError: If the batch is empty, a sentence holds fewer than two tokens, or padding stands before a
            token.
        TypeError: If the ids are not integers.

    Source: Williams & Zipser 1989; Vaswani et al. 2017, section 3.1 ("shifted right").

    >>> teacher_forcing(torch.tensor([[1, 7, 8, 2]]), pad_id=0)
    (tensor([[1, 7, 8]]), tensor([[7, 8, 2]]))
    """
    _check_integers("target_ids", target_ids_BT)
    if target_ids_BT.ndim != 2 or target_ids_BT.shape[0] < 1 or target_ids_BT.shape[1] < 2:
        raise ValueError(
            f"target_ids have shape {tuple(target_ids_BT.shape)}; wanted (B, T): at least one sentence of at least "
            "two tokens, start and end"
        )
    token_BT = target_ids_BT != pad_id
    short_B = ~token_BT[:, 1]
    hole_B = (token_BT[:, 1:] & ~token_BT[:, :-1]).any(dim=1)
    if (short_B | hole_B).any():
        row = int((short_B | hole_B).nonzero()[0])
        what = "holds padding before a token" if hole_B[row] else "holds fewer than two tokens"
        raise ValueError(f"row {row} of target_ids {what} (padding is id {pad_id}); wanted start, words, end, padding")
    return target_ids_BT[:, :-1], target_ids_BT[:, 1:]


def contrastive_loss(
    image_BD: Float[Tensor, "B D"], text_BD: Float[Tensor, "B D"], log_temperature: float | Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """Pull each image towards its own text and away from the others of the batch, and each text likewise.

    Every image chooses among the B texts by cosine similarity, every text among the B images; the loss is the
    mean of the two cross-entropies. Pair i is row i on both sides.

    Args:
        image_BD: One vector for each image, of any length but zero.
        text_BD: One vector for each image's text.
        log_temperature: log(tau), a number or a learned scalar: similarities are divided by tau. CLIP begins at
            tau = 0.07, and keeps the negative of this number (the log of what it multiplies by).

    Returns:
        The loss in nats, in float32 at least; log B where all similarities are equal.

    Raises:
        ValueError: If shapes or devices differ, or the batch is empty.
        TypeError: If the dtypes differ, or are not floating point.

    Cost: 2*B*B*D operations and B*B similarities.

    Source: Radford et al. 2021, figure 3; Oord et al. 2018 (one direction).
    """
    if image_BD.ndim != 2 or image_BD.shape != text_BD.shape or image_BD.shape[0] < 1:
        raise ValueError(
            f"images have shape {tuple(image_BD.shape)}, texts {tuple(text_BD.shape)}; "
            "wanted the same (B, D), B at least 1"
        )
    if image_BD.device != text_BD.device:
        raise ValueError(f"images are on {image_BD.device}, texts on {text_BD.device}; wanted one device")
    if not image_BD.is_floating_point() or image_BD.dtype != text_BD.dtype:
        raise TypeError(f"images have dtype {image_BD.dtype}, texts {text_BD.dtype}; wanted one floating-point dtype")
    dtype = torch.promote_types(image_BD.dtype, torch.float32)
    image_BD, text_BD = (torch.nn.functional.normalize(x.to(dtype), dim=-1) for x in (image_BD, text_BD))
    inverse_temperature = torch.as_tensor(-log_temperature, dtype=dtype, device=image_BD.device).exp()
    similar_BB = image_BD @ text_BD.mT * inverse_temperature
    own_B = similar_BB.diagonal()
    images_choose_B = similar_BB.logsumexp(dim=1) - own_B
    texts_choose_B = similar_BB.logsumexp(dim=0) - own_B
    return 0.5 * (images_choose_B.mean() + texts_choose_B.mean())


def _check_epsilon(epsilon: float) -> None:
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"epsilon is {epsilon}; wanted a share from 0 to 1")


def _check_integers(name: str, ids: Tensor) -> None:
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise TypeError(f"{name} have dtype {ids.dtype}; wanted an integer dtype")


def _check_labels(labels: Tensor, vocab_size: int) -> None:
    if labels.numel() == 0:
        raise ValueError(f"targets have shape {tuple(labels.shape)}; wanted at least one id")
    low, high = torch.stack(torch.aminmax(labels)).tolist()
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise ValueError(
            f"target id {wrong} is out of range: the vocabulary has {vocab_size} ids, 0 to {vocab_size - 1}"
        )
