"""The functions of ``tl`` that read and write main memory: with pointers, or with a description of a whole array."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from softlookup_inside.tiles.recording import recorder
from softlookup_inside.tiles.shapes import expand_dims, sizes
from softlookup_inside.tiles.tile import (
    ChipTile,
    ElementType,
    KnownScalar,
    Pointer,
    entry_of,
    is_whole,
    known,
    operation,
)
from softlookup_inside.tiles.values import KernelError, is_float, tensor

_EVICTIONS = ("", "evict_first", "evict_last")
_CACHES = {"load": ("", ".ca", ".cg", ".cs", ".cv"), "store": ("", ".wb", ".cg", ".cs", ".wt")}


def load(
    pointer: Pointer,
    mask: Any = None,
    other: Any = None,
    *,
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> ChipTile:
    """Read what ``pointer`` points to, ``other`` where ``mask`` is false, else NaN or the largest whole number."""
    _check_access("load", pointer, cache_modifier, eviction_policy)
    if mask is None and other is not None:
        raise KernelError("tl.load takes `other` beside a `mask` alone")
    mask_entry, other_entry = (None if part is None else entry_of(part) for part in (mask, other))
    return ChipTile(
        *recorder().load(pointer.argument, pointer.element, entry_of(pointer.offset), mask_entry, other_entry)
    )


def store(
    pointer: Pointer, value: Any, mask: Any = None, *, cache_modifier: str = "", eviction_policy: str = ""
) -> None:
    """Write to main memory: ``value`` where ``pointer`` points to, but where ``mask`` is false."""
    _check_access("store", pointer, cache_modifier, eviction_policy)
    mask_entry = None if mask is None else entry_of(mask)
    recorder().store(pointer.argument, entry_of(pointer.offset), mask_entry, entry_of(value))


def _check_access(name: str, pointer: Any, cache_modifier: Any, eviction_policy: Any) -> None:
    if not isinstance(pointer, Pointer):
        raise KernelError(f"tl.{name} takes a pointer first: an argument of the kernel and offsets, as in `x + cols`")
    if cache_modifier not in _CACHES[name]:
        raise KernelError(f"cache_modifier of tl.{name} is one of {_CACHES[name]}, got {cache_modifier!r}")
    if eviction_policy not in _EVICTIONS:
        raise KernelError(f"eviction_policy of tl.{name} is one of {_EVICTIONS}, got {eviction_policy!r}")


class TensorDescriptor:
    """An array in main memory that is read and written in blocks; outside of it stands ``padding``."""

    def __init__(
        self, base: Pointer, shape: Sequence[Any], strides: Sequence[Any], block_shape: Sequence[int], padding: float
    ) -> None:
        self.base, self.shape, self.strides = base, list(shape), list(strides)
        self.block_shape, self._padding = list(block_shape), padding

    @property
    def dtype(self) -> ElementType:
        """The dtype of its numbers."""
        return self.base.dtype.element_ty

    def load(self, offsets: Sequence[Any]) -> ChipTile:
        """The block that begins at some offsets, one for each axis."""
        pointer, mask = self._block(offsets)
        return load(pointer, mask=mask, other=self._padding)

    def store(self, offsets: Sequence[Any], value: Any) -> None:
        """Write a block that begins at some offsets; numbers outside of the array are left out."""
        pointer, mask = self._block(offsets)
        if list(np.shape(known(value))) != self.block_shape:
            raise KernelError(f"a block has shape {self.block_shape}, got a tile of shape {np.shape(known(value))}")
        store(pointer, value, mask=mask)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"a tensor descriptor has no {name!r} here: it has load and store; use pointers instead")

    def _block(self, offsets: Sequence[Any]) -> tuple[Pointer, Any]:
        count = len(self.block_shape)
        if not isinstance(offsets, tuple | list) or len(offsets) != count:
            raise KernelError(f"a block of shape {self.block_shape} begins at {count} offsets, got {offsets!r}")
        pointer, mask = self.base, None
        for axis, (start, length) in enumerate(zip(offsets, self.block_shape, strict=True)):
            index = start + operation("arange", numbers=(0, length))
            if count > 1:
                index = expand_dims(index, tuple(at for at in range(count) if at != axis))
            inside = (index >= 0) & (index < self.shape[axis])
            mask = inside if mask is None else mask & inside
            pointer = pointer + index.to(_INT64) * self.strides[axis]
        return pointer, mask


_INT64 = ElementType(np.dtype(np.int64))


def make_tensor_descriptor(
    base: Pointer,
    shape: Sequence[Any],
    strides: Sequence[Any],
    block_shape: Sequence[int],
    padding_option: str = "zero",
) -> TensorDescriptor:
    """Describe an array in main memory by its shape and strides, to be read and written in blocks."""
    if not isinstance(base, Pointer) or isinstance(base.offset, ChipTile) and base.offset.shape:
        raise KernelError("tl.make_tensor_descriptor takes a pointer to where an array begins")
    block = [length for length in sizes(block_shape) if length]
    if not 1 <= len(block) == len(shape) == len(strides):
        raise KernelError(
            f"a shape, its strides and the shape of a block have one number for each axis, got {len(shape)}, "
            f"{len(strides)} and {len(block)}"
        )
    if not is_whole(strides[-1]) or strides[-1] != 1:
        raise KernelError(f"the last stride is the number 1, since a GPU reads rows in one piece; got {strides[-1]!r}")
    size = base.element.itemsize
    if block[-1] * size < 16:
        raise KernelError(f"a row of a block has at least 16 bytes, got {block[-1]} numbers of {size}: make it longer")
    for stride in strides[:-1]:
        if isinstance(stride, int | np.integer | KnownScalar) and int(stride) * size % 16:
            raise KernelError(
                f"rows lie at multiples of 16 bytes, got a stride of {int(stride)} numbers of {size}: use pointers and "
                "a mask"
            )
    if padding_option not in ("zero", "nan") or padding_option == "nan" and not is_float(base.element):
        raise KernelError(f"padding_option is 'zero', or of floats 'nan', got {padding_option!r}")
    for value in (*shape, *strides):
        tensor(known(value))
    return TensorDescriptor(base, shape, strides, block, 0 if padding_option == "zero" else float("nan"))
