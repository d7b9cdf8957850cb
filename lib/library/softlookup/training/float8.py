"""Matrix products in float8, with a scale for each matrix: forward and both of the backward pass."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from softlookup_inside.torch_internals import float8_product

_FINE, _WIDE = torch.float8_e4m3fn, torch.float8_e5m2  # three bits of fraction; two, and a wider range
_SIDE = 16  # a card multiplies float8 in blocks: both sides of a weight are multiples of this


class Float8Products(TorchFunctionMode):
    """Within it, a model's products by its weights are done in float8: inputs and weights in e4m3, gradients in e5m2.

    Each matrix is divided by its largest number first, so that this becomes the largest that the format holds. Sums
    are in float32, results in the dtype of the inputs. Weights whose sides are no multiples of 16 are multiplied as
    they are, and so are products that are no ``linear`` (scores, mixing, the vocabulary).

    A GPU since Hopper does such products at twice the rate of bfloat16; elsewhere they are imitated: the same rounding,
    and no gain.

    Source: Micikevicius et al. 2022 (FP8 formats for deep learning).
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Do a linear product in float8, anything else as it is."""
        if func is F.linear and not kwargs and all(side % _SIDE == 0 for side in args[1].shape):
            return float8_linear(*args)
        return func(*args, **(kwargs or {}))


def float8_linear(x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    """Give x @ w.mT + b, the product being done in float8.

    Args:
        x: (..., D).
        w: (F, D), as torch's linear takes it.
        b: (F,), or None.

    Returns:
        (..., F), in autocast's dtype where it is on, else in that of x.
    """
    kind = x.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
    y: Tensor = _Float8Linear.apply(x.flatten(0, -2).to(dtype), w.to(dtype))
    y = y.unflatten(0, x.shape[:-1])
    return y if b is None else y + b.to(dtype)


class _Float8Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        """Multiply (n, D) by the transpose of (F, D)."""
        x8, x_scale = _scaled(x, _FINE)
        w8, w_scale = _scaled(w, _FINE)
        ctx.save_for_backward(x8, x_scale, w8, w_scale)
        return float8_product(x8, w8, x_scale, w_scale, x.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        """Give the gradients of x and w."""
        x8, x_scale, w8, w_scale = ctx.saved_tensors
        g8, g_scale = _scaled(grad, _WIDE)
        # The second factor is handed over with its rows and columns changed: a card wants both along the sum.
        grad_x = float8_product(g8, w8.mT.contiguous(), g_scale, w_scale, grad.dtype)
        grad_w = float8_product(g8.mT.contiguous(), x8.mT.contiguous(), g_scale, x_scale, grad.dtype)
        return grad_x, grad_w


def _scaled(x: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Give x in float8, and what it is to be multiplied by."""
    scale = x.abs().amax().float().clamp(min=1e-12) / torch.finfo(dtype).max
    return (x / scale).to(dtype), scale
