"""Counting what a matrix is multiplied with: some tasks ask for a way, which the products tell and numbers do not."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from softlookup_inside.torch_internals import dispatch_mode, operation_name

_PRODUCTS = frozenset(f"aten::{name}" for name in ("mm", "bmm", "mv", "dot", "vdot", "addmm", "baddbmm", "addmv"))
"""The operations of torch in which its matrix products end, einsum and linear layers too."""


@dataclass
class Fed:
    """What a matrix was multiplied with."""

    rows: float = 0.0  # how many vectors; those that met a part of its columns count in part
    times: float = 0.0  # how many products; a part of the matrix counts in part


@contextlib.contextmanager
def counting(matrix: Any) -> Iterator[Fed]:
    """Count the products with a tensor that the object is called with, but for copies and those outside of torch."""
    fed = Fed()
    data_pointer, size = matrix.untyped_storage().data_ptr(), matrix.numel()

    class Counting(dispatch_mode()):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            if operation_name(func) in _PRODUCTS:
                left_operand, right_operand = args[-2:]
                for operand in (left_operand, right_operand):
                    if operand.untyped_storage().data_ptr() == data_pointer:
                        fed.rows += result.numel() * left_operand.shape[-1] / size
                        fed.times += operand.numel() / size
            return result

    with Counting():
        yield fed
