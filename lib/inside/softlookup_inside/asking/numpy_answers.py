"""Answers in numpy where a notebook hands over tensors of torch."""

import functools
from collections.abc import Callable, Iterable
from typing import Any

from softlookup_inside.asking.answers import is_tensor


def in_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function in numpy take and give tensors, floats in the dtype of the first of them; no gradient flows."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if is_tensor(value)]
        if not tensors:
            return function(*args, **kwargs)
        result = function(*map(_array, args), **{name: _array(value) for name, value in kwargs.items()})
        return as_tensors(result, tensors)

    return call


def as_tensors(result: Any, inputs: Iterable[Any]) -> Any:
    """Arrays, and those in lists and tuples, as tensors; floats get the dtype of the first float tensor given."""
    floats = (value.dtype for value in inputs if is_tensor(value) and value.is_floating_point())
    return _tensor(result, next(floats, None))


def _array(value: Any) -> Any:
    return value.detach().cpu().numpy() if is_tensor(value) else value


def _tensor(value: Any, dtype: Any) -> Any:
    import numpy as np
    import torch

    if isinstance(value, list | tuple):
        turned = [_tensor(item, dtype) for item in value]
        return turned if isinstance(value, list) else tuple(turned)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    tensor = torch.as_tensor(np.array(value))  # no view: torch takes no negative strides
    return tensor.to(dtype) if dtype is not None and tensor.is_floating_point() else tensor
