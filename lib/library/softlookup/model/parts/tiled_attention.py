"""Attention one tile of keys at a time: the exact output, without ever holding all T*S scores."""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from softlookup.model.parts._sizes import check_mask, check_queries_and_keys, check_values


def tiled_attention(
    q: Float[Tensor, "*batch T H"],
    k: Float[Tensor, "*batch S H"],
    v: Float[Tensor, "*batch S Hv"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    causal: bool = False,
    block: int = 64,
) -> Float[Tensor, "*batch T Hv"]:
    """Mix the values tile by tile, with a softmax that mends itself as larger scores turn up. Equals attend's output.

    Each query keeps three things: the largest score so far, the sum of exp(score - largest), and the values mixed in
    those proportions. When a tile brings a larger score, sum and mixture are first brought down to it by one factor.
    The backward pass computes the tiles anew, from the sum that each query ended with, rather than keep them.

    Args:
        q: Queries.
        k: Keys.
        v: Values, one for each key; their width Hv may differ from H.
        mask: Boolean, True = may attend; (T, S), or as many axes as the scores, each 1 or of their size.
        causal: Whether query t sees keys up to t only; T and S must be equal then. It goes with a mask.
        block: How many keys there are in a tile. It changes the rounding alone.

    Returns:
        For each query, the weighted mean of the values it may see. A query with nothing to see gets zeros, and no
        gradient flows through it.

    Raises:
        ValueError: If sizes of q, k, v or mask do not fit together, if causal and T is not S, or if block is below 1.
        TypeError: If the mask is not boolean, or the dtypes of q, k and v differ.

    Cost: 2*T*S*(H + Hv) operations for each head, as attend; T*block weights in memory, on both ways. The backward
    pass computes the scores once more: 2*T*S*H operations on top.

    Source: Milakov & Gimelshein 2018, algorithm 3 (the running sum); Dao et al. 2022, algorithms 1 and 4 (with tiles of
    keys alone).
    """
    check_queries_and_keys(q, k)
    check_values(k, v)
    scores_shape = (*q.shape[:-1], k.shape[-2])
    if mask is not None:
        check_mask(mask, scores_shape)
    if causal and scores_shape[-2] != scores_shape[-1]:
        raise ValueError(
            f"causal attention of {scores_shape[-2]} queries to {scores_shape[-1]} keys: their numbers must be equal; "
            "give a mask to say where the queries stand"
        )
    if block < 1:
        raise ValueError(f"block must be at least 1 key; got {block}")
    return _TiledAttention.apply(q, k, v, mask, causal, block)


class _TiledAttention(torch.autograd.Function):
    """Forward as in the docstring above; backward with the tiles computed anew."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool, block: int) -> Tensor:
        dtype = torch.promote_types(q.dtype, torch.float32)
        q_TH = q.to(dtype)
        largest_T1 = q_TH.new_full((*q.shape[:-1], 1), -math.inf)
        total_T1 = torch.zeros_like(largest_T1)
        mixed_TH = q_TH.new_zeros((*q.shape[:-1], v.shape[-1]))
        for start in range(0, k.shape[-2], block):
            k_SH, v_SH = k[..., start : start + block, :].to(dtype), v[..., start : start + block, :].to(dtype)
            scores_TS = _scores_of_tile(q_TH, k_SH, mask, causal, start)
            new_T1 = torch.maximum(largest_T1, scores_TS.amax(dim=-1, keepdim=True))
            # A query that has seen nothing yet is at -inf, and -inf - (-inf) would be NaN.
            level_T1 = new_T1.masked_fill(new_T1 == -math.inf, 0.0)
            raised_TS = torch.exp(scores_TS - level_T1)
            shrink_T1 = torch.exp(largest_T1 - level_T1)
            total_T1 = total_T1 * shrink_T1 + raised_TS.sum(dim=-1, keepdim=True)
            mixed_TH = mixed_TH * shrink_T1 + raised_TS @ v_SH
            largest_T1 = new_T1
        blind_T1 = total_T1 == 0
        output_TH = mixed_TH / total_T1.masked_fill(blind_T1, 1.0)
        # exp(score - this) is the weight itself; +inf makes the weights of a blind query zeros.
        log_total_T1 = (largest_T1 + total_T1.log()).masked_fill(blind_T1, math.inf)
        ctx.save_for_backward(q, k, v, mask, output_TH, log_total_T1)
        ctx.causal, ctx.block = causal, block
        return output_TH.to(q.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, mask, output_TH, log_total_T1 = ctx.saved_tensors
        dtype = output_TH.dtype
        q_TH, d_output_TH = q.to(dtype), grads[0].to(dtype)
        # What the softmax takes off: the sum over keys of weight * d_weight, without the weights.
        common_T1 = (d_output_TH * output_TH).sum(dim=-1, keepdim=True)
        scale = 1 / math.sqrt(q.shape[-1])
        dq_TH = torch.zeros_like(q_TH)
        dk_SH, dv_SH = torch.zeros_like(k, dtype=dtype), torch.zeros_like(v, dtype=dtype)
        for start in range(0, k.shape[-2], ctx.block):
            tile = slice(start, start + ctx.block)
            k_SH, v_SH = k[..., tile, :].to(dtype), v[..., tile, :].to(dtype)
            weights_TS = torch.exp(_scores_of_tile(q_TH, k_SH, mask, ctx.causal, start) - log_total_T1)
            d_scores_TS = weights_TS * (d_output_TH @ v_SH.mT - common_T1)
            dv_SH[..., tile, :] = weights_TS.mT @ d_output_TH
            dk_SH[..., tile, :] = d_scores_TS.mT @ q_TH * scale
            dq_TH += d_scores_TS @ k_SH * scale
        return dq_TH.to(q.dtype), dk_SH.to(k.dtype), dv_SH.to(v.dtype), None, None, None


def _scores_of_tile(q_TH: Tensor, k_SH: Tensor, mask: Tensor | None, causal: bool, start: int) -> Tensor:
    """Score all queries against the keys from `start` on; what may not be seen is at -inf."""
    scores_TS = q_TH @ k_SH.mT / math.sqrt(q_TH.shape[-1])
    n_queries, n_keys = scores_TS.shape[-2:]
    if mask is not None:
        mask_TS = mask if mask.shape[-1] == 1 else mask[..., start : start + n_keys]
        scores_TS = scores_TS.masked_fill(~mask_TS, -math.inf)
    if causal:
        query_T1 = torch.arange(n_queries, device=q_TH.device)[:, None]
        key_S = torch.arange(start, start + n_keys, device=q_TH.device)
        scores_TS = scores_TS.masked_fill(key_S > query_T1, -math.inf)
    return scores_TS
