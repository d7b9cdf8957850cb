"""Scaled dot-product attention twice: in the open, with its weights, and fused, with the output alone."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from softlookup.model.parts._sizes import check_bias, check_mask, check_queries_and_keys, check_values
from softlookup.model.parts.masks import CausalMask


def attention_weights(
    q: Float[Tensor, "*batch T H"],
    k: Float[Tensor, "*batch S H"],
    mask: Bool[Tensor, "..."] | CausalMask | None = None,
    *,
    bias: Float[Tensor, "..."] | None = None,
    scale: float | None = None,
    cap: float | None = None,
) -> Float[Tensor, "*batch T S"]:
    """Say how much each query attends to each key.

    Scores and softmax run in float32 at least: in half precision a dot product can overflow before the
    division by sqrt(H), and many small weights would no longer sum to 1.

    Args:
        q: Queries, one row for each position that looks.
        k: Keys, one row for each position that is looked at.
        mask: Boolean, True = may attend; (T, S), or as many axes as the weights, each 1 or of their size; or a
            CausalMask.
        bias: Numbers added to the scaled scores (ALiBi, T5 and their kind), of a shape that spreads over the scores;
            -inf hides a key as the mask does.
        scale: What the dot products are multiplied by; None means 1/sqrt(H).
        cap: c, where scaled scores s become c tanh(s/c) (Gemma 2); None leaves them.

    Returns:
        softmax(q k^T / sqrt(H)) along the keys, in q's dtype. A row with nothing to see holds zeros, and no
        gradient flows through it.

    Raises:
        ValueError: If sizes of q, k or mask do not fit together; the message names them.
        TypeError: If the mask is not boolean, or the dtypes of q and k differ.

    Cost: 2*T*S*H operations for each head, and T*S weights in memory.

    Source: Vaswani et al. 2017, equation 1.
    """
    check_queries_and_keys(q, k)
    dtype = torch.promote_types(q.dtype, torch.float32)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores_TS = q.to(dtype) @ k.to(dtype).mT * scale
    if cap is not None:
        scores_TS = cap * torch.tanh(scores_TS / cap)
    hidden = None
    if bias is not None:
        check_bias(bias, tuple(scores_TS.shape))
        scores_TS, hidden = scores_TS + bias, bias.isneginf()
    if mask is not None:
        check_mask(mask, tuple(scores_TS.shape))
        mask = written_out(mask, q, k)
        hidden = ~mask if hidden is None else hidden | ~mask
    if hidden is None:
        return torch.softmax(scores_TS, dim=-1).to(q.dtype)
    # The smallest finite number, not -inf: a row of nothing but -inf would pass through NaN on both ways.
    scores_TS = scores_TS.masked_fill(hidden, torch.finfo(scores_TS.dtype).min)
    return torch.softmax(scores_TS, dim=-1).masked_fill(hidden, 0.0).to(q.dtype)


def attend(
    q: Float[Tensor, "*batch T H"],
    k: Float[Tensor, "*batch S H"],
    v: Float[Tensor, "*batch S Hv"],
    mask: Bool[Tensor, "..."] | CausalMask | None = None,
    *,
    bias: Float[Tensor, "..."] | None = None,
    scale: float | None = None,
    cap: float | None = None,
) -> tuple[Float[Tensor, "*batch T Hv"], Float[Tensor, "*batch T S"]]:
    """Mix the values in the open, and hand the weights over too: the form to read and to look into.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key; their width Hv may differ from H.
        mask: Boolean, True = may attend; (T, S), or as many axes as the weights, each 1 or of their size; or a
            CausalMask.
        bias: Numbers added to the scaled scores, of a shape that spreads over them; -inf hides a key.
        scale: What the dot products are multiplied by; None means 1/sqrt(H).
        cap: As in attention_weights.

    Returns:
        The output (weights @ v) and the weights.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together; the message names them.
        TypeError: If the mask is not boolean, or the dtypes of q, k and v differ.

    Cost: 2*T*S*(H + Hv) operations for each head, and T*S weights in memory.

    Source: Vaswani et al. 2017, equation 1.
    """
    weights_TS = attention_weights(q, k, mask, bias=bias, scale=scale, cap=cap)
    check_values(k, v)
    return weights_TS @ v, weights_TS


def scaled_dot_product_attention(
    q: Float[Tensor, "*batch T H"],
    k: Float[Tensor, "*batch S H"],
    v: Float[Tensor, "*batch S Hv"],
    mask: Bool[Tensor, "..."] | CausalMask | None = None,
    *,
    bias: Float[Tensor, "..."] | None = None,
    scale: float | None = None,
) -> Float[Tensor, "*batch T Hv"]:
    """Mix the values by torch's fused kernel: the form to train with. Equals attend's output.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key; their width Hv may differ from H.
        mask: Boolean, True = may attend; (T, S), or as many axes as the weights, each 1 or of their size; or a
            CausalMask.
        bias: Numbers added to the scaled scores, of a shape that spreads over them; -inf hides a key.
        scale: What the dot products are multiplied by; None means 1/sqrt(H).

    Returns:
        For each query, the weighted mean of the values it may see. A query with nothing to see gets zeros,
        and no gradient flows through it.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together; the message names them.
        TypeError: If the mask is not boolean, or the dtypes of q, k and v differ.

    Cost: the operations of attend; where a fused kernel fits, the T*S weights never reach memory.

    Source: Vaswani et al. 2017, equation 1; Dao et al. 2022 (the fused kernel).
    """
    check_queries_and_keys(q, k)
    check_values(k, v)
    if mask is not None:
        check_mask(mask, (*q.shape[:-1], k.shape[-2]))
    if bias is not None:
        check_bias(bias, (*q.shape[:-1], k.shape[-2]))
    return fused_attention(q, k, v, mask, bias=bias, scale=scale)


def fused_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | CausalMask | None,
    *,
    bias: Tensor | None = None,
    scale: float | None = None,
    grouped: bool = False,
) -> Tensor:
    """Call torch's kernel so that rows with nothing to see give zeros, whichever of its paths it takes.

    torch's own paths disagree on such rows. So they are let see everything, which is finite, and are then
    overwritten with zeros; the overwriting stops their gradient as well. Mask and bias have been checked; with
    ``grouped``, neighbouring heads of q (B, N, T, H) share a head of k and v (B, K, S, H).
    """
    if isinstance(mask, CausalMask):
        if (
            bias is None and q.shape[-2] == k.shape[-2]
        ):  # with fewer queries, torch's kernel would put them at the start
            return F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale, enable_gqa=grouped)
        mask = written_out(mask, q, k)
    added = mask
    if bias is not None:
        added = bias.to(q.dtype).expand(*bias.shape[:-2], q.shape[-2], k.shape[-2])
        added = added if mask is None else added.masked_fill(~mask, -math.inf)
    if added is None:
        return F.scaled_dot_product_attention(q, k, v, scale=scale, enable_gqa=grouped)
    blind_T1 = (~added if bias is None else added.isneginf()).all(dim=-1, keepdim=True)
    added = added.masked_fill(blind_T1, bias is None)  # True of a mask, 0 of a bias: may attend
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=added, scale=scale, enable_gqa=grouped)
    return output.masked_fill(blind_T1, 0.0)


def written_out(mask: Tensor | CausalMask, q: Tensor, k: Tensor) -> Tensor:
    """Give a mask as booleans, where nothing knows it by its name: itself, or the matrix of a causal one, (T, S)."""
    return mask.matrix(q.shape[-2], k.shape[-2], q.device) if isinstance(mask, CausalMask) else mask
