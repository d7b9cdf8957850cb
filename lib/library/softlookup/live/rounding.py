"""Int8 weights: each row of a matrix is whole numbers from -127 to 127 and one scale.

Letters of its own: O outputs of a matrix, I inputs.
"""

import copy
from typing import TypeVar

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn

from softlookup.model.published.translator import Translator
from softlookup.model.published.writer import Writer

Shipped = TypeVar("Shipped", Translator, Writer)


def quantise(w: Float[Tensor, "O I"]) -> tuple[Int8[Tensor, "O I"], Float[Tensor, " O"]]:
    """Round a matrix to int8, symmetrically, with a scale for each output.

    w is about numbers * scales[:, None]. A row of zeros has the scale 1.

    >>> numbers, scales = quantise(torch.tensor([[0.5, -1.0], [0.0, 0.0]]))
    >>> numbers.tolist(), [round(scale, 5) for scale in scales.tolist()]
    ([[64, -127], [0, 0]], [0.00787, 1.0])
    """
    largest_O = w.abs().amax(dim=1)
    scales_O = torch.where(largest_O > 0, largest_O / 127, 1.0)
    return torch.round(w / scales_O[:, None]).to(torch.int8), scales_O


def by_output(name: str, parameter: Tensor) -> Tensor:
    """Lay a matrix out with a row for each output. The embedding table is so already: its rows give the logits."""
    return parameter if name.endswith(".table") else parameter.mT


def matrices(model: nn.Module) -> dict[str, Tensor]:
    """The parameters of a model that are rounded, a row for each output; norms and biases stay in float32."""
    parameters = ((name, parameter.detach()) for name, parameter in model.named_parameters())
    return {name: by_output(name, parameter) for name, parameter in parameters if parameter.ndim == 2}


def rounded(shipped: Shipped) -> Shipped:
    """Copy a translator or a writer, with the weights that a page computes with.

    Both are in float32; the copy's matrices were rounded to int8 and multiplied by their scales again.
    """
    copied = copy.deepcopy(shipped)
    with torch.no_grad():
        for w in matrices(copied.model).values():
            numbers, scales = quantise(w)
            w.copy_(numbers * scales[:, None])
    return copied
