"""Refusals: tensors whose sizes, dtypes or masks do not fit together. Only shapes are read, never numbers."""

import torch
from torch import Tensor

from softlookup.model.parts.masks import CausalMask


def check_queries_and_keys(q: Tensor, k: Tensor) -> None:
    """Refuse queries (*batch, T, H) and keys (*batch, S, H) whose dot products do not exist.

    ValueError, which names them, if a tensor has fewer than two axes, the head widths differ or are zero, or the batch
    axes or devices differ; TypeError if the dtypes differ, or are not floating point.
    """
    for name, tensor, axes in (("q", q, "(..., T, H)"), ("k", k, "(..., S, H)")):
        if tensor.ndim < 2:
            raise ValueError(f"{name} has shape {tuple(tensor.shape)}; wanted at least two axes, {axes}")
    _check_alike("k", k, q)
    if not q.is_floating_point():
        raise TypeError(f"q has dtype {q.dtype}; wanted a floating-point dtype")
    sizes = f"(q {tuple(q.shape)}, k {tuple(k.shape)})"
    if k.shape[-1] != q.shape[-1]:
        raise ValueError(
            f"k has head width {k.shape[-1]}, q has {q.shape[-1]}: a dot product needs equal widths {sizes}"
        )
    if q.shape[-1] == 0:
        raise ValueError(f"q has head width 0: there is nothing to compare {sizes}")
    if k.shape[:-2] != q.shape[:-2]:
        raise ValueError(f"k has batch axes {tuple(k.shape[:-2])}, q has {tuple(q.shape[:-2])}: they must be equal")


def check_values(k: Tensor, v: Tensor) -> None:
    """Refuse values (*batch, S, Hv) that do not come one for each key (*batch, S, H).

    ValueError if the values' number, batch axes or device are not those of the keys, TypeError if the dtypes differ.
    """
    _check_alike("v", v, k)
    if v.ndim < 2 or v.shape[:-1] != k.shape[:-1]:
        raise ValueError(
            f"v has shape {tuple(v.shape)}, k has {tuple(k.shape)}: each key needs one value, so all axes "
            "but the last must be equal"
        )


def check_mask(mask: Tensor | CausalMask, scores_shape: tuple[int, ...]) -> None:
    """Refuse a mask that is not boolean, or that would line up with the wrong axes of the scores (*batch, T, S).

    A mask with some of the batch axes but not all is refused even where torch would broadcast it: (B, T, S)
    would be laid along the heads of (B, N, T, S), silently wherever B is 1 or N.

    TypeError if the mask is not boolean: a float mask is torch's other convention, added to the scores. ValueError with
    both shapes if it is not (T, S), or as many axes as the scores, each 1 or the scores' size.
    """
    if isinstance(mask, CausalMask):
        if scores_shape[-1] < scores_shape[-2]:
            raise ValueError(f"a causal mask wants a key for each query; the scores have {scores_shape}")
        return
    if mask.dtype != torch.bool:
        raise TypeError(f"mask has dtype {mask.dtype}; wanted torch.bool, where True means: may attend")
    fits = mask.ndim in (2, len(scores_shape)) and all(
        got in (1, want) for got, want in zip(mask.shape[::-1], scores_shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}; the scores have {scores_shape}: "
            f"give {scores_shape[-2:]}, or all {len(scores_shape)} axes with 1 where it is the same all along"
        )


def check_bias(bias: Tensor, scores_shape: tuple[int, ...]) -> None:
    """Refuse numbers to be added to the scores that would not line up with them.

    TypeError if the bias is not floating point: a boolean is a mask, and is passed as one. ValueError with both shapes
    if it is not (T, S), (N, T, S) or as many axes as the scores, each 1 or the scores' size.
    """
    if not bias.is_floating_point():
        raise TypeError(f"bias has dtype {bias.dtype}; wanted floating point (a boolean belongs in mask=)")
    if not 2 <= bias.ndim <= len(scores_shape) or any(
        got not in (1, want) for got, want in zip(bias.shape[::-1], scores_shape[::-1], strict=False)
    ):
        raise ValueError(f"bias has shape {tuple(bias.shape)}; it does not spread over scores of shape {scores_shape}")


def check_ids(name: str, ids: Tensor, vocab_size: int, max_length: int | None = None) -> None:
    """Refuse token ids that have no row in the table of embeddings, or that are too many.

    The numbers are read on the CPU alone, and not by a compiled model: on a GPU reading them would stall it. There, and
    where it was compiled, torch's own lookup refuses them.

    TypeError if they are not int32 or int64; ValueError if there are not two axes, one is empty, T is above max_length,
    or an id is outside 0..V-1: which, and where it stands.
    """
    if ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} has dtype {ids.dtype}; wanted whole numbers, torch.int64 or torch.int32")
    if ids.ndim != 2:
        raise ValueError(f"{name} has shape {tuple(ids.shape)}; wanted (B, T)")
    if 0 in ids.shape:
        raise ValueError(f"{name} has shape {tuple(ids.shape)}: an empty batch; wanted at least one token")
    if max_length is not None and ids.shape[1] > max_length:
        raise ValueError(f"{name} has length {ids.shape[1]}; the model has positions for {max_length}")
    if ids.device.type == "cpu" and not torch.compiler.is_compiling():
        low, high = (int(value) for value in ids.aminmax())
        if low < 0 or high >= vocab_size:
            wrong = low if low < 0 else high
            position = tuple(int(i) for i in (ids == wrong).nonzero()[0])
            raise ValueError(f"{name} holds id {wrong} at {position}; the vocabulary has ids 0 to {vocab_size - 1}")


def check_state(state: Tensor, expected: tuple[int, ...], q: Tensor) -> None:
    """Refuse a state that a recurrent form cannot go on from.

    ValueError if the shape is not ``expected``, or the state is on another device than the queries.
    """
    if state.shape != expected:
        raise ValueError(f"the state has shape {tuple(state.shape)}; wanted {expected}")
    _check_device("the state", state, q)


def _check_device(name: str, tensor: Tensor, other: Tensor) -> None:
    if tensor.device != other.device:
        raise ValueError(f"{name} is on {tensor.device}, beside {other.device}: move one to the other")


def _check_alike(name: str, tensor: Tensor, other: Tensor) -> None:
    _check_device(name, tensor, other)
    # Under autocast torch brings them to one dtype itself, so a mixture is no mistake there.
    if tensor.dtype != other.dtype and not torch.is_autocast_enabled(tensor.device.type):
        raise TypeError(f"{name} has dtype {tensor.dtype}, beside {other.dtype}: they must be equal")
