"""The judge's side of lent functions: what a submission may ask of one, and the answer.

The lengths of arrays, lists and texts count as sizes, and so does every number but one declared as real. Each has a
largest value, and so has their product: three sides of 4096 would make a table of 512 GB. What passes these checks is
computed under limits (lender.py).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from softlookup_inside.sandbox import frames

Sound = Callable[[str, Sequence[Any], Mapping[str, Any], Sequence[np.ndarray] | None], Any]
"""Computes a lent function: task id, arguments, named arguments, gradients of its results or None."""

Compute = Callable[[dict[str, Any], Sequence[np.ndarray]], tuple[dict[str, Any], list[np.ndarray]] | None]
"""Has a call computed: its frame and arrays in, the answer's out; None where it takes too much."""

MAX_TEXT = 2000
TOO_MUCH = "the arguments ask for more than the question needs"
OFTEN: tuple[dict[str, Any], list[np.ndarray]] = {"raised": "a lent function is called too often"}, []
"""The answer's frame and arrays where the calls of one question are too many."""
_SIDE = 1_000_000  # no table has a longer side, whatever numbers a question holds
_CELLS = 1 << 24  # the product of all sizes may be as large for every function


@dataclass(frozen=True)
class NumberBounds:
    """What a number may be that is given for one parameter of a lent function."""

    real: bool = False  # it is no size: any real number will do
    count: bool = False  # it counts something: it is never negative
    most: int = 0  # the largest size that the function's own questions give reason for


@dataclass(frozen=True)
class Own:
    """What a lent function's own questions give reason for."""

    # each parameter in order, and what a number may be there
    numbers: Mapping[str, NumberBounds] = field(default_factory=dict)
    product: int = 0  # the largest product of all sizes of one call


Note = Callable[[str, Sequence[Any], Mapping[str, Any], Sequence[np.ndarray] | None, Any], None]
"""Takes note of a lent call and its result: task id, arguments, named arguments, gradients or None, the result."""

Owns = Callable[[str], Own]  # tells of a task's function what its own questions give reason for


@dataclass(frozen=True)
class Lending:
    """What is lent while a question is asked."""

    stand_in_ids: tuple[str, ...]  # ids of the tasks
    reference_function: Sound  # computes their functions
    owns: Owns  # tells what a function's own questions give reason for
    record_call: Note | None  # is handed each call and its result, if anybody wants to know
    most: int  # the largest size that the question gives reason for
    gradients: bool  # whether gradients are lent as well


def no_own(task_id: str) -> Own:
    """Nothing is known: every number may be a size."""
    return Own()


def text(value: Any, most: int = MAX_TEXT) -> str:
    """Text from a submission: cut, and without what no file or page should hold."""
    string = value if isinstance(value, str) else ""
    return "".join(
        c for c in string[:most] if c == "\n" or c == "\t" or (c.isprintable() and not "\ud800" <= c <= "\udfff")
    )


def sound_answer(
    compute: Compute, call_frame: Mapping[str, Any], arrays: Sequence[np.ndarray], most: int, owns: Owns
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Have a lent function computed; whoever calls it with something unfit gets the exception that it would raise."""
    call = {name: call_frame.get(name) for name in ("call", "args", "named", "upstream")}
    larger = f"the arguments are larger than those of the question (up to {most:,})"
    # Keys of a dictionary may be chosen so that each new one is compared with all before: count before one is made.
    if _written(list(call.values()), 8 * most) > 8 * most:
        return {"raised": larger}, []
    args, keywords, _ = read(call, arrays)
    bounds = owns(str(call["call"]))
    order = [*bounds.numbers.values()][: len(args)]
    pairs = [(number_bounds or NumberBounds(), value) for value, number_bounds in zip_longest(args, order)]
    pairs += [(bounds.numbers.get(name, NumberBounds()), value) for name, value in keywords.items()]
    numbers = [
        (number_bounds, value)
        for number_bounds, value in pairs
        if _is_number(value) and not (number_bounds.real and _real(value))
    ]
    others = [value for _, value in pairs if not _is_number(value)]
    if any(array.ndim > 6 for array in arrays) or largest(others, arrays) > most:
        return {"raised": larger}, []
    if any(
        not _real(value) or abs(value) > max(number_bounds.most, min(most, _SIDE)) for number_bounds, value in numbers
    ):
        return {"raised": larger}, []
    if any(number_bounds.count and value < 0 for number_bounds, value in numbers):
        return {"raised": "an argument that counts something is negative"}, []
    if product([value for _, value in numbers], others, arrays) > max(_CELLS, bounds.product):
        return {"raised": TOO_MUCH}, []
    return compute(call, arrays) or ({"raised": TOO_MUCH}, [])


def computed(
    reference_function: Sound, call_frame: Mapping[str, Any], arrays: Sequence[np.ndarray]
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Compute a lent function, called by a frame and its arrays, and give the answer's."""
    results: list[np.ndarray] = []
    try:
        args, keywords, upstream = read(call_frame, arrays)
        with np.errstate(all="ignore"):
            back = reference_function(call_frame["call"], args, keywords, upstream)
        return {"result": frames.plain(back, results)}, results
    except MemoryError:
        return {"raised": TOO_MUCH}, []
    except Exception as error:  # whatever a strange argument does to the function
        if "fork-based multiprocessing" in str(error):  # torch's words where the judge has used a GPU
            return {"unable": True}, []
        no_memory = "can't allocate memory" in str(error)  # which torch says in a RuntimeError
        return {"raised": TOO_MUCH if no_memory else text(str(error), 300) or type(error).__name__}, []


def product(numbers: Sequence[float], others: Sequence[Any], arrays: Sequence[np.ndarray]) -> int:
    """The product of all numbers that are sizes, and of the longest of arrays, lists and texts."""
    longest = max([1, *(frames.extent(other) for other in others), *(array.size for array in arrays)])
    return longest * math.prod(max(1, math.ceil(abs(value))) for value in numbers)


def reason(args: Sequence[Any], arrays: Sequence[np.ndarray] = (), in_text: bool = False) -> int:
    """The largest size that a question gives reason for; a text's time grows with its square, so it is given less."""
    return max(512 if in_text else 16_384, 2 * largest(args, arrays))


def largest(value: Any, arrays: Sequence[np.ndarray] = ()) -> int:
    """The largest size or number in some arguments; what is in lists and texts is counted together."""
    largest_size = max((array.size for array in arrays), default=0)
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple):
        return max([largest_size, frames.extent(value), *map(largest, value)])
    if isinstance(value, str):
        return max(largest_size, len(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(largest_size, int(abs(value)) if abs(value) < 1e18 else 10**18)
    return largest_size


def read(
    call_frame: Mapping[str, Any], arrays: Sequence[np.ndarray]
) -> tuple[list[Any], dict[str, Any], list[np.ndarray] | None]:
    """Read a call's arguments, its named arguments, and the gradients of its results (None for values)."""
    args, keywords, upstream = (frames.value_of(call_frame.get(name), arrays) for name in ("args", "named", "upstream"))
    if not isinstance(args, list) or not isinstance(keywords, dict) or not isinstance(upstream, list | None):
        raise frames.FrameError("a call is not written as it should be")
    return args, keywords, upstream


def _written(value: Any, enough: int) -> int:
    """How many values and characters are written there; counting ends where they are more than enough."""
    count, todo = 0, [value]
    while todo and count <= enough:
        item = todo.pop()
        if isinstance(item, dict):
            count += len(item) + sum(map(len, item))
            todo += item.values()
        elif isinstance(item, list):
            count += len(item)
            todo += item
        elif isinstance(item, str):
            count += len(item)
    return count


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _real(value: Any) -> bool:
    return abs(value) < 1e18
