"""Which positions a call means, and rows that are made once for many calls."""

from collections.abc import Callable

import torch
from torch import Tensor

# The kept rows are no buffers: model.half() would round them, and in another dtype they have to be made anew.
Tables = dict[tuple[torch.device, torch.dtype], Tensor]

_MOST_KEPT = 1 << 15  # rows; farther positions are worked out at each call


def kept_rows(
    tables: Tables,
    start: int,
    length: int,
    device: torch.device,
    dtype: torch.dtype,
    make: Callable[[Tensor], Tensor],
) -> Tensor:
    """Cut rows start to start + length - 1 out of a kept table, which is made anew where it is too short.

    ``tables`` are kept by device and dtype, and added to; ``make`` gives the rows of positions 0, 1, ... in float64.
    The result, (length, D), is a view of the table. Past the first 2^15 positions nothing is kept, so that one far
    position costs no memory.
    """
    if start + length > _MOST_KEPT:
        return make(torch.arange(start, start + length, device=device)).to(dtype)
    table = tables.get((device, dtype))
    if table is None or table.shape[0] < start + length:
        # Up to the next power of two, so that decoding token by token makes few. Outside of inference mode, since
        # a table made inside could not be used for training afterwards.
        longer = 1 << (start + length).bit_length()
        with torch.inference_mode(False):
            table = tables[device, dtype] = make(torch.arange(longer, device=device)).to(dtype)
    return table[start : start + length]


def resolve_positions(x: Tensor, length: int, offset: int | Tensor, positions: Tensor | None) -> int | Tensor:
    """Settle the two ways of saying where the T tokens of x stand.

    Gives the first position where that says it all, else every position, (T,) or (B, T). ValueError if a shape or
    device does not fit x, both are given, or a plain offset is below 0; TypeError if they are no integers.
    """
    if positions is None and not isinstance(offset, Tensor):
        _check_plain(offset)
        return offset
    if positions is None:
        return _on_device("offset", run_of_positions(offset, length, shape=x.shape[:1]), x)
    if isinstance(offset, Tensor) or offset != 0:
        raise ValueError("give offset or positions, not both")
    check_integers("positions", positions)
    if positions.shape not in ((length,), (x.shape[0], length)):
        raise ValueError(
            f"positions has shape {tuple(positions.shape)}; wanted ({length},) or ({x.shape[0]}, {length})"
        )
    return _on_device("positions", positions, x)


def run_of_positions(
    offset: int | Tensor, length: int, *, shape: tuple[int, ...] | None = None, device: torch.device | None = None
) -> Tensor:
    """Count on from the first position, or from one for each sequence: (T,), or (B, T).

    ``shape`` is what a tensor of offsets has to have; None lets any (B,) pass. Such a tensor says itself on which
    device the result is made. ValueError if the shape does not fit, or a plain offset is below 0; TypeError if it is no
    integer.
    """
    if not isinstance(offset, Tensor):
        _check_plain(offset)
        return torch.arange(offset, offset + length, device=device)
    check_integers("offset", offset)
    if offset.ndim != 1 or shape not in (None, offset.shape):
        expected = "(B,)" if shape is None else tuple(shape)
        raise ValueError(
            f"offset has shape {tuple(offset.shape)}; wanted a number, or one for each sequence, {expected}"
        )
    return offset[:, None] + torch.arange(length, device=offset.device)


def check_integers(name: str, tensor: Tensor) -> None:
    """Refuse tensors that do not count: their dtype has to be one of the integers, and bool is none."""
    if tensor.dtype == torch.bool or tensor.is_floating_point() or tensor.is_complex():
        raise TypeError(f"{name} has dtype {tensor.dtype}; wanted integers")


def check_offset(offset: int) -> None:
    """Refuse an offset that is no integer; True and False are none."""
    if not isinstance(offset, int) or isinstance(offset, bool):
        raise TypeError(f"offset is {offset!r}; wanted an integer")


def _check_plain(offset: int) -> None:
    check_offset(offset)
    if offset < 0:
        raise ValueError(f"offset must be at least 0; got {offset}")


def _on_device(name: str, tensor: Tensor, x: Tensor) -> Tensor:
    if tensor.device != x.device:
        raise ValueError(f"{name} is on {tensor.device}, x on {x.device}: move one to the other")
    return tensor
