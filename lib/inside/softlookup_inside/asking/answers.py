"""Taking what a student's code returns as plain numpy arrays, or saying what it is instead."""

import inspect
import math
import sys
from collections.abc import Iterable, Sequence, Sized
from decimal import Decimal
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Arrays

ALLOWED = frozenset("biuf")  # kinds of numpy dtype that an answer may have: booleans, integers, floats

MAX_CELLS = 100_000
"""Numbers that a result may hold: no right answer has so many. Its size is judged before a number is read."""

_MAX_RESULTS = 1000

NOTHING = "None, as every function does that ends without `return`"


class Refused(Exception):
    """An answer of a kind that cannot be compared; the message says what was got."""


def is_tensor(value: Any) -> bool:
    """Whether it is a torch tensor, or of a class made from one; torch is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def cells(value: Any, known: dict[int, int] | None = None) -> int:
    """How many numbers something holds, by its shapes and lengths; ``known`` has the counts of lists, by identity."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return math.prod(map(int, shape))
    count = len(value) if isinstance(value, Sized) else 1
    if not isinstance(value, list | tuple) or count > MAX_CELLS:
        return count
    known = {} if known is None else known
    if id(value) not in known:
        known[id(value)] = count = 0
        for item in value:
            count += cells(item, known)
            if count > MAX_CELLS:
                break
        known[id(value)] = count
    return known[id(value)]


def _refuse_large(value: Any) -> None:
    if cells(value) > MAX_CELLS:
        shape = getattr(value, "shape", None)
        what = f"a {type(value).__name__}" + (f" of shape {tuple(shape)}" if isinstance(shape, tuple) else "")
        raise Refused(f"{what}, which is too large: no right answer holds more than {MAX_CELLS:,} numbers")


def to_array(value: Any, top: bool = True) -> np.ndarray:
    """Take a tensor, an array, a number or a list of these as a plain numpy array; Refused if it is anything else."""
    if value is None:
        raise Refused(NOTHING if top else "a list that holds None")
    refuse_coroutine(value)
    if top:
        _refuse_large(value)
    if is_tensor(value):
        if value.is_sparse or value.is_meta or "sparse" in str(value.layout):
            description = "a tensor on the device meta, which holds no numbers" if value.is_meta else "a sparse tensor"
            raise Refused(f"{description}: return a plain one")
        # Complex numbers turned round leave views that numpy has no word for.
        value = value.detach().cpu().resolve_conj().resolve_neg()
        value = value.float().numpy() if str(value.dtype) == "torch.bfloat16" else value.numpy()
    elif isinstance(value, list | tuple):
        value = _stacked(value, top)
    elif isinstance(value, Real | Decimal) and not isinstance(value, np.generic | bool | int | float):
        value = float(value)
    elif type(value) is int and abs(value) >= 2**63:
        value = _as_float(value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise Refused(f"{type(value).__name__} of unequal lengths ({error})") from None
    if array.dtype.kind not in ALLOWED:
        raise Refused(f"{type(value).__name__} (dtype {array.dtype}), which holds no plain numbers")
    _refuse_large(array)  # what made it may have said that it is smaller
    if array.dtype == np.longdouble:
        array = array.astype(np.float64)
    return np.array(array, copy=True)


def _as_float(value: int) -> float:
    """A whole number that no whole number of numpy's holds."""
    try:
        return float(value)
    except OverflowError:
        raise Refused("a whole number of more than 300 digits") from None


def refuse_coroutine(value: Any) -> None:
    """Close a coroutine, which would complain on stderr that nobody waited for it, and refuse it."""
    if inspect.iscoroutine(value):
        value.close()
        raise Refused("a coroutine: write `def`, without `async`")


def refuse_missing(results: Sequence[Any]) -> None:
    """Refuse None among several results, and say which it is."""
    for i, result in enumerate(results, 1):
        if result is None:
            raise Refused(f"None as result {i} of {len(results)}")


def _stacked(value: list[Any] | tuple[Any, ...], top: bool) -> list[np.ndarray]:
    """A list's elements as arrays: loops often end in nested lists of tensors."""
    items = [to_array(item, top=False) for item in value]
    sizes = {item.shape for item in items}
    if len(sizes) > 1:
        if top and isinstance(value, tuple):
            raise Refused(f"a tuple of {len(value)}, where one result is wanted: is there a comma too many?")
        raise Refused(f"{type(value).__name__} of unequal lengths {sorted(sizes)}")
    return items


def to_arrays(result: Any, count: int) -> Arrays:
    """Take a result apart into as many arrays as the task returns; Refused if it does not come apart so."""
    if count == 1:
        return (to_array(result),)
    if result is None:
        raise Refused(NOTHING)
    refuse_coroutine(result)
    if isinstance(result, str | bytes | dict | set) or not isinstance(result, Iterable):
        raise Refused(f"one {type(result).__name__}, where {count} results are returned together")
    _refuse_large(result)
    items = list(islice(result, _MAX_RESULTS))
    coroutines = [item for item in items if inspect.iscoroutine(item)]
    for coroutine in coroutines[1:]:
        coroutine.close()
    for coroutine in coroutines[:1]:
        refuse_coroutine(coroutine)
    if len(items) != count:
        if is_tensor(result) or isinstance(result, np.ndarray):
            sizes = tuple(int(n) for n in getattr(result, "shape", ()))
            raise Refused(f"one array, of shape {sizes}, where {count} results are returned together (`return a, b`)")
        many = f"{_MAX_RESULTS} results or more" if len(items) == _MAX_RESULTS else f"{len(items)} results"
        raise Refused(f"{many}, where {count} are returned together")
    refuse_missing(items)
    return tuple(to_array(item) for item in items)
