"""Sparse attention by an indexer: cheap scores choose the keys of each query, and attention reads those alone."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from softlookup.model._inputs import check_sizes
from softlookup.model._sizes import check_mask


def index_scores(
    q: Float[Tensor, "B N T H"], k: Float[Tensor, "B S H"], weights: Float[Tensor, "B T N"]
) -> Float[Tensor, "B T S"]:
    """Score keys for all of a token's heads together: the sum over heads of w * relu(q . k), over sqrt(H * N).

    Args:
        q: The indexer's queries, few and narrow, turned to their places.
        k: Its keys, one a token for all heads.
        weights: How much each head counts, for each query.

    Returns:
        One score for each pair, in float32 at least.

    Raises:
        ValueError: If the sizes of q, k and weights do not fit together.

    Cost: 2*N*T*S*H operations: quadratic still, but with few and narrow heads.

    Source: DeepSeek-AI 2025 (DeepSeek-V3.2, arXiv 2512.02556). Book: 15_what_changed.html#what-changed-indexer.
    """
    if q.ndim != 4 or k.ndim != 3 or (k.shape[0], k.shape[2]) != (q.shape[0], q.shape[3]):
        raise ValueError(f"k has shape {tuple(k.shape)}; q of {tuple(q.shape)} wants (B, S, H)")
    if weights.shape != (q.shape[0], q.shape[2], q.shape[1]):
        raise ValueError(f"weights have shape {tuple(weights.shape)}; q of {tuple(q.shape)} wants (B, T, N)")
    dtype = torch.promote_types(q.dtype, torch.float32)
    found_BNTS = (q.to(dtype) @ k.to(dtype)[:, None].mT).relu()
    return torch.einsum("bnts,btn->bts", found_BNTS, weights.to(dtype)) * (q.shape[1] * q.shape[3]) ** -0.5


def choose_keys(
    scores: Float[Tensor, "B T S"], top_k: int, mask: Bool[Tensor, "..."] | None = None
) -> Int[Tensor, "B T M"]:
    """Choose the keys of each query: those of the largest scores among those that it may see.

    Args:
        scores: One for each pair.
        top_k: How many keys each query reads at most.
        mask: Which pairs may be chosen, True = may; applied before choosing.

    Returns:
        The places of M = min(top_k, S) keys; -1 where a query has fewer that it may see.

    Raises:
        ValueError: If top_k is below 1, or the mask's shape does not fit the scores.
        TypeError: If the mask is not boolean.

    Source: DeepSeek-AI 2025 (DeepSeek-V3.2, arXiv 2512.02556). Book: 15_what_changed.html#what-changed-indexer.
    """
    check_sizes(top_k=top_k)
    if mask is not None:
        check_mask(mask, tuple(scores.shape))
        scores = scores.masked_fill(~mask, -torch.inf)
    best = scores.topk(min(top_k, scores.shape[-1]), dim=-1)
    return best.indices.masked_fill(best.values == -torch.inf, -1)


def sparse_attention(
    q: Float[Tensor, "B N T H"], k: Float[Tensor, "B N S H"], v: Float[Tensor, "B N S Hv"], chosen: Int[Tensor, "B T M"]
) -> Float[Tensor, "B N T Hv"]:
    """Attend to the chosen keys alone. Where all visible keys are chosen, it equals attention to all of them.

    Args:
        q: Queries.
        k: Keys.
        v: Values.
        chosen: The places of each query's keys, the same for all heads; -1 for none.

    Returns:
        One row for each query; zeros where it has no key.

    Raises:
        ValueError: If chosen is not (B, T, M), or a place is not below S.

    Cost: 2*N*T*M*(H + Hv) operations; gathering copies N*T*M*(H + Hv) numbers, which a fused kernel avoids.

    Source: DeepSeek-AI 2025 (DeepSeek-V3.2, arXiv 2512.02556). Book: 15_what_changed.html#what-changed-indexer.
    """
    if chosen.ndim != 3 or chosen.shape[:2] != (q.shape[0], q.shape[2]):
        raise ValueError(f"chosen has shape {tuple(chosen.shape)}; q of {tuple(q.shape)} wants (B, T, M)")
    if chosen.numel() and int(chosen.max()) >= k.shape[2]:
        raise ValueError(f"chosen names key {int(chosen.max())}; there are {k.shape[2]} keys, from 0 on")
    rows = torch.arange(q.shape[0], device=q.device)[:, None, None]
    k_BTMNH, v_BTMNH = (x.transpose(1, 2)[rows, chosen.clamp_min(0)] for x in (k, v))
    scores = torch.einsum("bnth,btmnh->bntm", q, k_BTMNH) * q.shape[-1] ** -0.5
    none = (chosen < 0)[:, None]
    weights = scores.masked_fill(none, torch.finfo(scores.dtype).min).softmax(dim=-1).masked_fill(none, 0.0)
    return torch.einsum("bntm,btmnh->bnth", weights, v_BTMNH)
