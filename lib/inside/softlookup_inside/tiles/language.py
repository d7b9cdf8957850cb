"""``tl``: Triton's language as a kernel sees it while it is recorded.

Source: the names and rules of ``triton.language``, version 3.9.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from softlookup_inside.tiles import names
from softlookup_inside.tiles.access import load, make_tensor_descriptor, store
from softlookup_inside.tiles.arithmetic import ARITHMETIC, MATH, PropagateNan, cdiv, with_name
from softlookup_inside.tiles.constants import constexpr
from softlookup_inside.tiles.philox import RANDOM
from softlookup_inside.tiles.recording import recorder
from softlookup_inside.tiles.shapes import CONSTEXPR, SHAPES, sizes
from softlookup_inside.tiles.tile import (
    METHODS,
    ChipTile,
    ElementType,
    KnownScalar,
    is_whole,
    known,
    operation,
    position,
)
from softlookup_inside.tiles.values import DTYPES, KernelError, name_of

__all__ = ["Language", "cdiv", "constexpr", "tl"]


def program_id(axis: int) -> KnownScalar:
    """Which program this is, along one axis of the grid."""
    return _of_grid("program_id", (*recorder().program, 0, 0), axis)


def num_programs(axis: int) -> KnownScalar:
    """How many programs run, along one axis of the grid."""
    return _of_grid("num_programs", (*recorder().grid, 1, 1), axis)


def _of_grid(name: str, lengths: Sequence[int], axis: int) -> KnownScalar:
    if not is_whole(axis) or axis not in (0, 1, 2):
        raise KernelError(f"tl.{name} takes an axis 0, 1 or 2, got {axis!r}")
    return KnownScalar(np.array(lengths[axis], np.int32))


def arange(start: int, end: int) -> ChipTile:
    """Whole numbers from ``start`` to ``end``, without it; their count is a power of 2."""
    if not (is_whole(start) and is_whole(end)):
        raise KernelError(f"tl.arange takes {CONSTEXPR}")
    return operation("arange", numbers=(int(start), int(end)))


def full(shape: Sequence[int], value: Any, dtype: ElementType) -> ChipTile:
    """A tile of one number."""
    if not isinstance(shape, tuple | list):
        raise KernelError(f"a shape is a tuple, as in `tl.zeros((BLOCK,), tl.float32)`; got {shape!r}")
    return operation("full", value, numbers=(position(dtype), *sizes(shape)))


def zeros(shape: Sequence[int], dtype: ElementType) -> ChipTile:
    """A tile of zeros."""
    return full(shape, 0, dtype)


def zeros_like(input: ChipTile) -> ChipTile:
    """A tile of zeros, of the shape and dtype of another."""
    return zeros(np.shape(known(input)), input.dtype)


_PRECISIONS = (None, "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")


def dot(
    input: Any,
    other: Any,
    acc: Any = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: ElementType | None = None,
) -> ChipTile:
    """The matrix product of tiles (M, K) and (K, N), added to ``acc``, in float32 unless float16 is asked for."""
    if input_precision not in _PRECISIONS:
        raise KernelError(f"input_precision of tl.dot is one of {_PRECISIONS[1:]}, got {input_precision!r}")
    if input_precision is not None and allow_tf32 is not None:
        raise KernelError("tl.dot takes input_precision or allow_tf32, not both: leave out allow_tf32")
    if out_dtype not in (None, tl.float16, tl.float32, tl.int32, tl.float64):
        raise KernelError(
            f"tl.dot gives tl.float32 or tl.float16, not {out_dtype!r}: cast its result, as in `.to(tl.bfloat16)`"
        )
    if out_dtype is None and isinstance(acc, ChipTile):
        out_dtype = acc.dtype
    operands = (input, other) if acc is None else (input, other, acc)
    return operation("dot", *operands, numbers=(int(out_dtype == tl.float16),))


def static_range(arg1: Any, arg2: Any = None, step: Any = None) -> range:
    """Python's ``range``."""
    start, end = (0, arg1) if arg2 is None else (arg1, arg2)
    return range(start, end, 1 if step is None else step)


def _range(
    arg1: Any,
    arg2: Any = None,
    step: Any = None,
    num_stages: Any = None,
    loop_unroll_factor: Any = None,
    disallow_acc_multi_buffer: bool = False,
    flatten: bool = False,
    warp_specialize: bool = False,
    disable_licm: bool = False,
) -> range:
    """``tl.range``: Python's ``range``; hints to a compiler change nothing here."""
    return static_range(arg1, arg2, step)


_range.__name__ = _range.__qualname__ = "range"


def assume(cond: Any) -> None:
    """Help a compiler with what is so; here it does nothing."""


def _hint(name: str) -> Callable[..., Any]:
    def hint(input: Any, values: Any) -> Any:
        return input

    return with_name(hint, name, "which tells a compiler what is known of them: here the tile as it is")


def static_assert(cond: Any, msg: str = "") -> None:
    """Stop, by a KernelError, if what is known while the kernel is built is not so."""
    if isinstance(cond, ChipTile):
        raise KernelError("tl.static_assert takes what is known before the kernel is built: write tl.device_assert")
    if not cond:
        raise KernelError(msg or "tl.static_assert: this does not hold")


def static_print(*values: Any, sep: str = " ", end: str = "\n", file: Any = None, flush: bool = False) -> None:
    """Print what is known while the kernel is built, once for all programs."""
    if recorder().number == 0:
        print(*values, sep=sep, end=end, file=file, flush=flush)


def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    """Does nothing, as in Triton, where TRITON_DEBUG alone makes it check."""


def debug_barrier() -> None:
    """Wait until all threads of the program have come here: what they stored before can be read after it."""
    recorder().barrier()


class Language:
    """Names of a module of Triton's, under their prefix; others are refused with what to write instead."""

    def __init__(self, prefix: str, known_names: Mapping[str, Any]) -> None:
        self.__dict__.update(known_names, _prefix=prefix)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        here: Collection[str] = [known_name for known_name in vars(self) if not known_name.startswith("_")]
        raise AttributeError(names.refusal(name, here, self._prefix))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self._prefix}{name} is not to be set: give what you make a name of its own")

    def __repr__(self) -> str:
        return f"{self._prefix[:-1]}, the part of triton.language that softlookup.tiles knows"


def _with_a_sentence(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that says in Triton's names what it takes, where it is called with something else."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            signature = inspect.signature(function)
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                names_here = ", ".join(signature.parameters)
                raise KernelError(f"tl.{function.__name__} takes {names_here}: {error}") from None
            raise

    return call


_FUNCTIONS: tuple[Callable[..., Any], ...] = (
    *(program_id, num_programs, arange, full, zeros, zeros_like, load, store, make_tensor_descriptor, dot),
    *map(_hint, ("max_constancy", "max_contiguous", "multiple_of")),
    *(assume, _range, static_range, static_assert, static_print, device_assert, debug_barrier),
    *(*ARITHMETIC, *SHAPES, *RANDOM),
)
_NAMES: dict[str, Any] = {function.__name__: _with_a_sentence(function) for function in _FUNCTIONS}
_NAMES |= {name_of(dtype): ElementType(dtype) for dtype in DTYPES[1:]}
_NAMES |= {"int1": ElementType(DTYPES[0]), "constexpr": constexpr, "PropagateNan": PropagateNan}
_NAMES["math"] = Language("tl.math.", {name: _NAMES[name] for name in MATH if name != "sigmoid"})

tl = Language("tl.", _NAMES)
"""The language: what ``triton.language`` is to a kernel."""
METHODS |= {
    name: getattr(tl, name)
    for name in (
        *("abs", "argmax", "argmin", "broadcast_to", "cast", "cdiv", "ceil", "cos", "cumprod", "cumsum", "erf", "exp"),
        *("exp2", "expand_dims", "flip", "floor", "gather", "log", "log2", "max", "min", "permute", "ravel", "reshape"),
        *("rsqrt", "sigmoid", "sin", "softmax", "split", "sqrt", "sqrt_rn", "sum", "trans", "view"),
    )
}
