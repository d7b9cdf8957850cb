"""Recording a launch: every program of the grid runs once, with pointers in place of arrays."""

import inspect
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup_inside.tiles.constants import constexpr, plain
from softlookup_inside.tiles.recording import MOST_CONSTANT, WIDTH, Record, by_program, recording
from softlookup_inside.tiles.text import watched
from softlookup_inside.tiles.tile import ElementType, KnownScalar, Pointer
from softlookup_inside.tiles.values import DTYPES, KernelError, literal_dtype, name_of

MOST_PROGRAMS = 4096  # programs that a launch may have


def checked_grid(grid: Any) -> tuple[int, ...]:
    """A grid as a tuple of one to three counts; KernelError if it is something else, or too large."""
    sizes = tuple(grid) if isinstance(grid, tuple | list) else (grid,)
    whole = all(isinstance(n, int | np.integer) and not isinstance(n, bool) and n > 0 for n in sizes)
    if not whole or not 1 <= len(sizes) <= 3 or np.prod(sizes, dtype=np.float64) > MOST_PROGRAMS:
        raise KernelError(f"a grid is one to three counts, together at most {MOST_PROGRAMS:,} programs; got {grid!r}")
    return tuple(map(int, sizes))


def record(kernel: Callable[..., Any], grid: Any, args: Sequence[Any], in_any_order: bool = False) -> Record:
    """Record a launch: rows, int64 (rows, 9), and constants, float64; of arrays shape and dtype count alone.

    ``in_any_order``: programs run in an order that is drawn, and are recorded in theirs. KernelError if one is refused.
    """
    function = watched(getattr(kernel, "__wrapped__", kernel))
    grid = checked_grid(grid)
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) != len(args):
        raise KernelError(f"the kernel has {len(parameters)} parameters, and is launched with {len(args)} arguments")
    inputs = [_input(at, parameter, arg) for at, (parameter, arg) in enumerate(zip(parameters, args, strict=True))]
    by_name = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    positional = [value for name, value in inputs if name not in by_name]
    keyword_inputs = {name: value for name, value in inputs if name in by_name}
    with recording(grid) as now:
        programs = list(enumerate(np.ndindex(*grid)))
        if in_any_order:
            random.SystemRandom().shuffle(programs)
        for index, program in programs:
            now.begin(index, tuple(map(int, program)))
            result = function(*positional, **keyword_inputs)
            if result is not None:
                raise KernelError("a kernel returns nothing: it stores its results with tl.store")
    table, constants = np.array(now.rows, np.int64).reshape(-1, WIDTH), np.array(now.constants, np.float64)
    return by_program(table, constants) if in_any_order else (table, constants)


def _input(at: int, parameter: inspect.Parameter, arg: Any) -> tuple[str, Any]:
    """A parameter's name, and what a kernel gets there: a pointer, a scalar, or what a ``tl.constexpr`` is."""
    name = parameter.name
    if isinstance(arg, np.ndarray):
        if arg.dtype not in DTYPES:
            raise KernelError(
                f"`{name}` holds {arg.dtype}, which tl does not know: it knows {', '.join(map(name_of, DTYPES))}"
            )
        return name, Pointer(at, arg.dtype)
    value = arg.item() if isinstance(arg, np.generic) else plain(arg)
    if parameter.annotation is constexpr or str(parameter.annotation).rpartition(".")[2] == "constexpr":
        return name, value
    if isinstance(value, bool | int | float):
        if isinstance(value, int) and abs(value) >= MOST_CONSTANT:
            raise KernelError(f"`{name}` is {value}: whole numbers stay below 2^53")
        return name, KnownScalar(np.array(value, np.float32 if isinstance(value, float) else literal_dtype(value)))
    if value is None or isinstance(value, str | tuple | ElementType):
        return name, value
    raise KernelError(f"`{name}` is a {type(value).__name__}: a kernel takes arrays and numbers")
