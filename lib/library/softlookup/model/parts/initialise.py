"""First numbers for the weights: Xavier and He."""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def xavier_(w: Float[Tensor, "M P"]) -> Float[Tensor, "M P"]:
    """Draw a matrix so that variance passes about unchanged both ways: forward the numbers, back the gradients.

    Args:
        w: The matrix, in (in, out) order; overwritten. Both orders give the same range here.

    Returns:
        w, uniform between plus and minus sqrt(6 / (in + out)): variance 2 / (in + out).

    Raises:
        ValueError: If w has not two axes, or one is empty.

    Source: Glorot & Bengio 2010, equation 16.
    """
    fan_in, fan_out = _fans(w)
    limit = math.sqrt(6 / (fan_in + fan_out))
    with torch.no_grad():
        return w.uniform_(-limit, limit)


def he_(w: Float[Tensor, "M P"]) -> Float[Tensor, "M P"]:
    """Draw a matrix for numbers that come out of a ReLU: half of them are zero, so variance has to double.

    Args:
        w: The matrix, in (in, out) order; overwritten. The numbers that are summed are its rows, so their
            count is the first size. (torch's own kaiming_normal_ reads a matrix as (out, in) and takes the second.)

    Returns:
        w, normal with standard deviation sqrt(2 / in).

    Raises:
        ValueError: If w has not two axes, or one is empty.

    Source: He et al. 2015, equation 10.
    """
    fan_in, _ = _fans(w)
    with torch.no_grad():
        return w.normal_(0.0, math.sqrt(2 / fan_in))


def _fans(w: Tensor) -> tuple[int, int]:
    if w.ndim != 2 or not w.numel():
        raise ValueError(f"w has shape {tuple(w.shape)}; wanted a matrix, (in, out)")
    return w.shape[0], w.shape[1]
