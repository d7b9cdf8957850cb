"""Renaming published tensors: what all models have in common.

A table has our name on the left and the name of their module on the right. A row with {} stands for a matrix w and its
bias b, one that ends in norm for its gain and shift, one that ends in table for the table itself.
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from softlookup.model.parts.config import Activation, Config

FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
"""What weights may be: numbers of fewer bits are parts of them, beside scales."""

# What `transformers` calls the activations.
ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}


def spread(rows: Mapping[str, str]) -> dict[str, str]:
    """Write the short rows of a table out: the name of their tensor for each name of ours."""
    names: dict[str, str] = {}
    for library_name, published_name in rows.items():
        if "{}" in library_name:
            names |= {
                library_name.format("w"): f"{published_name}.weight",
                library_name.format("b"): f"{published_name}.bias",
            }
        elif library_name.endswith("norm"):
            names |= {
                f"{library_name}.gain": f"{published_name}.weight",
                f"{library_name}.shift": f"{published_name}.bias",
            }
        else:
            names[library_name] = f"{published_name}.weight" if library_name.endswith("table") else published_name
    return names


def layers(n_layers: int, library_prefix: str, published_prefix: str, rows: Mapping[str, str]) -> dict[str, str]:
    """Write the table of one layer out for all of them, behind what the names of both sides begin with."""
    names = spread(rows).items()
    return {
        f"{library_prefix}.{i}.{our}": f"{published_prefix}.{i}.{their}"
        for i in range(n_layers)
        for our, their in names
    }


def shapes(model: type[nn.Module], config: Config) -> dict[str, torch.Size]:
    """List the shapes of a model's tensors by name, without making room for them."""
    with torch.device("meta"):
        return {name: tensor.shape for name, tensor in model(config).state_dict().items()}


def translated(
    tensors: Mapping[str, Tensor],
    expected_shapes: Mapping[str, torch.Size],
    names: Mapping[str, str],
    *,
    same: Mapping[str, str],
    unused: tuple[str, ...] = (),
    as_they_are: str | None = None,
) -> dict[str, Tensor]:
    """Rename tensors, and turn matrices from (out, in) to (in, out).

    ``names`` has their name for each of ours, and may have more (biases that a model does without); ``same``, where a
    table goes by several names, the first for each other: a file may hold any. ``unused`` are patterns of names that
    are not needed; our names that begin with ``as_they_are`` stand as (in, out) already. What needs no turning is not
    copied. ValueError, which names them, if tensors are missing, left over, of the wrong shape or dtype, or one table
    has two contents.
    """
    remaining = {name: t for name, t in tensors.items() if not any(re.fullmatch(pattern, name) for pattern in unused)}
    for other, first in same.items():
        if other in remaining:
            tensor = remaining.pop(other)
            if not torch.equal(remaining.setdefault(first, tensor), tensor):
                raise ValueError(f"{other} and {first} differ; the description says that they are one table")
    published_names = {name: names[name] for name in expected_shapes}
    missing = sorted(set(published_names.values()) - set(remaining))
    extra = sorted(set(remaining) - set(published_names.values()))
    if missing or extra:
        raise ValueError(f"tensors missing: {', '.join(missing) or 'none'}; left over: {', '.join(extra) or 'none'}")
    result = {}
    for library_name, published_name in published_names.items():
        tensor = remaining[published_name]
        if tensor.dtype not in FLOATS:
            raise ValueError(
                f"{published_name} has dtype {tensor.dtype}; wanted floating-point numbers of 16 bits or more: "
                "quantised weights are not read"
            )
        is_matrix = library_name.rpartition(".")[2].startswith("w")
        if is_matrix and not (as_they_are and library_name.startswith(as_they_are)):
            tensor = tensor.mT
        expected = tuple(expected_shapes[library_name])
        if tuple(tensor.shape) != expected:
            raise ValueError(
                f"{published_name} gives a shape of {tuple(tensor.shape)}; {library_name} wants {expected}"
            )
        result[library_name] = tensor.contiguous()
    return result
