"""Weights in half precision for the products, in float32 for the optimizer: nothing small is lost in a sum."""

import torch
from torch import nn

from softlookup_inside.torch_internals import copy_each


class MasterWeights:
    """Keeps float32 copies of a model's weights for the optimizer, and the model itself in half precision.

    A step of training changes a weight by about a thousandth of it, and bfloat16 has steps of a 256th: added there,
    most changes would be rounded away. So the optimizer adds them to copies in float32, its master weights, which are
    rounded for the model anew after each step. Products, activations and gradients take half the bytes.

        weights = MasterWeights(model)
        optimizer = torch.optim.AdamW(weights.masters)
        ...
        loss.backward()
        weights.take_gradients()
        optimizer.step()
        weights.give_back()

    Args:
        model: Its parameters are turned to dtype where they stand, and stay the same objects.
        dtype: bfloat16, or float16, whose gradients need a scale.

    Attributes:
        masters: One float32 parameter for each of the model's that learns, in their order.

    Raises:
        TypeError: If dtype is neither bfloat16 nor float16, or the model's parameters are not in float32.

    Cost: 2 + 4 bytes a parameter, where autocast keeps 4 and makes the other 2 anew in each step.

    Source: Micikevicius et al. 2018, section 3.1.
    """

    def __init__(self, model: nn.Module, dtype: torch.dtype = torch.bfloat16) -> None:
        if dtype not in (torch.bfloat16, torch.float16):
            raise TypeError(f"dtype is {dtype}; wanted torch.bfloat16 or torch.float16")
        for name, parameter in model.named_parameters():
            if parameter.dtype != torch.float32:
                raise TypeError(f"{name} is in {parameter.dtype}; wanted torch.float32, which the copies keep")
        self.halves = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.masters = [nn.Parameter(parameter.detach().clone()) for parameter in self.halves]
        model.to(dtype)

    @torch.no_grad()
    def take_gradients(self) -> None:
        """Move the model's gradients to the copies, in float32; the model's own are freed."""
        places, gradients = [], []
        for half, master in zip(self.halves, self.masters, strict=True):
            if half.grad is None:
                continue
            master.grad = torch.empty_like(master)
            places.append(master.grad)
            gradients.append(half.grad)
            half.grad = None
        copy_each(places, gradients)

    @torch.no_grad()
    def give_back(self) -> None:
        """Round the copies for the model, after the optimizer's step, and free their gradients."""
        copy_each(self.halves, self.masters)
        for master in self.masters:
            master.grad = None
