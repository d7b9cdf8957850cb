"""Go on with a larger model than one has: more layers and wider feed-forward networks that change nothing at first.

Source: Chen, Goodfellow and Shlens 2016, "Net2Net: Accelerating Learning via Knowledge Transfer".
"""

import re
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from softlookup.model.whole.transformer import Transformer
from softlookup.model.whole.weights import CheckpointError, fill, model_tensors, read_tensors

_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)\.")
_ENDS = ("w_o", "b_o", "w_2", "b_2")  # what a sublayer ends with: zero, and it adds nothing to what passes by
_WIDER = {"w_1": 1, "b_1": 0, "w_2": 0, "w_gate": 1, "b_gate": 0}  # the axis that is F long


def load_grown(model: Transformer, path: str | Path) -> bool:
    """Fill a model with the weights of one that is as large, or smaller.

    It computes what the smaller one did. New layers stand behind the others and end in zeros, so that nothing is added
    to what passes by them; new hidden units of a feed-forward network have random weights in and zeros out. What ends
    in zeros learns in the first step already, and what stands before it from the second on.

    The model is pre-LN; its random weights stay where nothing else is said. In the file L and F may be smaller, all
    else is the same. Gives whether anything is new. FileNotFoundError; CheckpointError, with nothing changed, if the
    weights are of another kind of model, or of a larger one.
    """
    had, _ = read_tensors(path)
    targets = model_tensors(model)
    if all(name in had and had[name].shape == tensor.shape for name, tensor in targets.items()):
        fill(targets, had, path)
        return False
    if not model.config.pre_norm:
        raise CheckpointError(f"{path} is of another size: only a pre-LN model can be grown from a smaller one")
    with torch.no_grad():
        fill(targets, {**had, **_grown(targets, had)}, path)
    return True


def _grown(targets: Mapping[str, Tensor], had: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors that a smaller model lacks, or has too small; what cannot be grown is left out."""
    layers = {match.group() for match in map(_LAYER.match, had) if match}
    result = {}
    for name, tensor in targets.items():
        last = name.rsplit(".", 1)[-1]
        if name not in had:
            match = _LAYER.match(name)
            if match and match.group() not in layers:
                result[name] = torch.zeros_like(tensor) if last in _ENDS else tensor.detach().clone()
        elif had[name].shape != tensor.shape and last in _WIDER:
            axis, old = _WIDER[last], had[name]
            width = tensor.shape[axis] - old.shape[axis]
            if width > 0:
                new = tensor.detach().narrow(axis, old.shape[axis], width)
                zero = last == "w_2"
                result[name] = torch.cat([old.to(tensor), torch.zeros_like(new) if zero else new], axis)
    return result
