"""The precision in which losses are computed: numbers that were read in 16 bits are added up in 32."""

import torch
from torch import Tensor


def widened(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Give tensors in a dtype that means and sums may be computed in: float32 at least, the same for all.

    Half precision has 8 bits or 11 for a number: a sum of hundreds of tokens is then off by several nats.

    Whole numbers become floats.
    """
    dtype = torch.float32
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return tuple(tensor.to(dtype) for tensor in tensors)
