"""Refusals of tensors that a layer's weights do not fit. Only shapes, dtypes and devices are read, never numbers."""

import torch
from torch import Tensor


def check_sizes(**sizes: int) -> None:
    """Refuse sizes below 1 when a layer is made, by a ValueError that names all of them."""
    if min(sizes.values()) < 1:
        got = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise ValueError(f"sizes must be at least 1; got {got}")


def check_width(x: Tensor, width: int, axes: str = "(..., D)", name: str = "x") -> None:
    """Refuse rows of another width, or rows that are no floating-point numbers.

    ``axes`` are those that are wanted, as text; unless it begins with "(...", their number counts too. ValueError with
    both shapes if axes or width differ, TypeError if the dtype is not floating point; ``name`` stands in the message.
    """
    letter = axes[-2]  # of the last axis
    fits = x.ndim >= 1 if axes.startswith("(...") else x.ndim == len(axes.split(","))
    if not fits or x.shape[-1] != width:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; wanted {axes} with {letter} = {width}")
    if not x.is_floating_point():
        raise TypeError(f"{name} has dtype {x.dtype}; wanted a floating-point dtype")


def check_weights(x: Tensor, weight: Tensor, name: str = "x") -> None:
    """Refuse an input that lies on another device than the weights, or in another dtype.

    ValueError if the devices differ, TypeError if the dtypes do. Under autocast these may: torch then brings them to
    one dtype itself.
    """
    if x.device != weight.device:
        raise ValueError(f"{name} is on {x.device}, the layer's weights on {weight.device}: move one to the other")
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise TypeError(f"{name} has dtype {x.dtype}, the layer's weights {weight.dtype}: they must be equal")
