"""Local attention in blocks: each token attends to its neighbours, and nothing is computed for the others.

Letters of its own: W queries of a block, C keys that a block may see.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from softlookup.model.parts._sizes import check_queries_and_keys, check_values
from softlookup.model.parts.attention import scaled_dot_product_attention


def local_attention(
    q: Float[Tensor, "*batch T H"],
    k: Float[Tensor, "*batch T H"],
    v: Float[Tensor, "*batch T Hv"],
    width: int,
    *,
    causal: bool = True,
) -> Float[Tensor, "*batch T Hv"]:
    """Mix the values of the nearest keys. Equals attention with window_mask(T, width, causal=causal).

    The sequence is cut into blocks of `width` tokens. All that a block can see lies in itself and in the block
    before it (and in the one behind it, if not causal), so that attention runs inside such pairs (or threes).

    Args:
        q: Queries.
        k: Keys, as many as queries.
        v: Values, one for each key; their width Hv may differ from H.
        width: How many positions the window holds on one side, the query's own counted: 1 is itself alone.
        causal: Whether the window ends at the query; else it reaches width - 1 positions to both sides.

    Returns:
        For each query, the weighted mean of the values in its window.

    Raises:
        ValueError: If sizes of q, k and v do not fit together, or if width is below 1.
        TypeError: If the dtypes of q, k and v differ.

    Cost: 4*T*width*(H + Hv) operations for each head (6 if not causal), where the whole square takes 2*T*T*(H + Hv).

    Source: Beltagy et al. 2020, section 3.1; Jiang et al. 2023 (causal), section 2.
    """
    check_queries_and_keys(q, k)
    check_values(k, v)
    length = q.shape[-2]
    if k.shape[-2] != length:
        raise ValueError(f"q has {length} positions, k has {k.shape[-2]}: a window needs as many keys as queries")
    if width < 1:
        raise ValueError(f"width must be at least 1, the position itself; got {width}")
    width = min(width, max(length, 1))  # a window cannot be wider than all there is
    n_blocks = max(1, -(-length // width))
    filled = n_blocks * width
    n_seen = 2 * width if causal else 3 * width
    behind = filled - length if causal else filled - length + width

    q_MWH = F.pad(q, (0, 0, 0, filled - length)).unflatten(-2, (n_blocks, width))
    k_MCH, v_MCH = (F.pad(x, (0, 0, width, behind)).unfold(-2, n_seen, width).mT for x in (k, v))

    place_M = torch.arange(n_blocks, device=q.device) * width
    query_M1W = place_M[:, None, None] + torch.arange(width, device=q.device)[:, None]
    key_M1C = place_M[:, None, None] + torch.arange(n_seen, device=q.device) - width
    distance_MWC = query_M1W - key_M1C
    near_MWC = (distance_MWC >= 0) & (distance_MWC < width) if causal else distance_MWC.abs() < width
    mask_MWC = near_MWC & (key_M1C >= 0) & (key_M1C < length)
    mask_MWC = mask_MWC.view(*(1,) * (q.ndim - 2), *mask_MWC.shape)
    return scaled_dot_product_attention(q_MWH, k_MCH, v_MCH, mask_MWC).flatten(-3, -2)[..., :length, :]
