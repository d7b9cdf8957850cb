"""First numbers for the weights: Xavier, He, and those of GPT-2."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from softlookup.model.embeddings import TokenEmbedding


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


def gpt2_(module: nn.Module, n_layers: int | None = None, std: float = 0.02) -> nn.Module:
    """Draw all weights of a model as GPT-2 did: small normal matrices, biases zero, gains one.

    Args:
        module: A model of this library; its weights are recognised by name and shape: gains are called gain,
            other weights with one axis are biases, the rest are matrices and tables. Rows of padding stay zero.
        n_layers: L. With it, the matrices that write into the residual stream (w_o and w_2) are drawn smaller,
            by 1 / sqrt(2 L): 2 L of them add up there. None leaves them at std.
        std: Standard deviation of the matrices and tables.

    Returns:
        The module.

    Raises:
        ValueError: If n_layers is below 1.

    Source: Radford et al. 2019, section 2.3; the deviation is that of Radford et al. 2018, section 4.1.
    """
    if n_layers is not None and n_layers < 1:
        raise ValueError(f"n_layers must be at least 1, or None; got {n_layers}")
    residual_std = std if n_layers is None else std / math.sqrt(2 * n_layers)
    with torch.no_grad():
        for path, weight in module.named_parameters():
            name = path.rpartition(".")[2]
            if name == "gain":
                weight.fill_(1.0)
            elif weight.ndim == 1:
                weight.zero_()
            else:
                weight.normal_(0.0, residual_std if name in ("w_o", "w_2") else std)
        for part in module.modules():
            if isinstance(part, TokenEmbedding):
                part.clear_pad_row()
    return module


def _fans(w: Tensor) -> tuple[int, int]:
    if w.ndim != 2 or not w.numel():
        raise ValueError(f"w has shape {tuple(w.shape)}; wanted a matrix, (in, out)")
    return w.shape[0], w.shape[1]
