"""What oracles of several chapters compute with."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
else:

    class _Torch:
        """Torch, loaded by the first oracle that computes with it: tasks are described without it."""

        def __getattr__(self, name: str) -> Any:
            import torch

            return getattr(torch, name)

    torch = _Torch()


def attended(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    """Torch's own attention, with zeros in rows that see nothing."""
    fused = torch.nn.functional.scaled_dot_product_attention
    if mask is None:
        return fused(q, k, v)
    # torch's paths disagree on rows with nothing to see: let those see everything, then cut them off, gradients too.
    sees_any = mask.any(dim=-1, keepdim=True)
    while mask.ndim < q.ndim:
        mask, sees_any = mask[None], sees_any[None]
    return torch.where(sees_any, fused(q, k, v, attn_mask=mask | ~sees_any), 0.0)


def projected(x: Any, w: Any, n_heads: int) -> Any:
    """The tokens through the weights, head by head (..., N, T, H), in one product over three axes."""
    return torch.einsum("...td,dnh->...nth", x, w.unflatten(1, (n_heads, w.shape[1] // n_heads)))


def from_heads(z: Any, w_o: Any) -> Any:
    """The heads' results through the output matrix, in one product over three axes."""
    return torch.einsum("...nth,nhd->...td", z, w_o.unflatten(0, (z.shape[-3], z.shape[-1])))


def least_enough(enough: Callable[[int], bool]) -> int:
    """The least whole number that is enough, 0 if none is: doubled until it is, then closed in from both sides."""
    high = 1
    while not enough(high):
        high *= 2
        if high > 1 << 60:
            return 0
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
