"""The judge's side of lent functions: what a submission may ask of one, and the answer.

The judge computes them itself, so it must not be asked for a table of any size. What counts as a size is the length of
arrays, lists and texts, and every number but those for parameters that the lent function declares as real numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from softlookup.grading.sandbox import frames

Sound = Callable[[str, Sequence[Any], Mapping[str, Any], Sequence[np.ndarray] | None], Any]
"""Computes a lent function: task id, arguments, named arguments, gradients of its results or None."""

Reals = Callable[[str], Mapping[str, bool]]
"""Tells of a task's function each parameter in order, and whether it is a real number that is no size."""

MAX_TEXT = 2000


def no_reals(task_id: str) -> Mapping[str, bool]:
    """Every number may be a size."""
    return {}


def text(value: Any, most: int = MAX_TEXT) -> str:
    """Text from a submission: cut, and without what no file or page should hold."""
    said = value if isinstance(value, str) else ""
    return "".join(
        c for c in said[:most] if c == "\n" or c == "\t" or (c.isprintable() and not "\ud800" <= c <= "\udfff")
    )


def sound_answer(
    sound: Sound, told: Mapping[str, Any], arrays: Sequence[np.ndarray], most: int, reals: Reals
) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Compute a lent function; whoever calls it with something unfit gets the exception that it would raise.

    Args:
        sound: Computes it.
        told: The submission's frame.
        arrays: The arrays that came with it.
        most: The largest size that the question gives reason for.
        reals: Tells which parameters may be any number.

    Returns:
        The answer's frame and arrays.

    Raises:
        frames.FrameError: If the call is not written as calls are.
    """
    args, named = frames.value_of(told.get("args"), arrays), frames.value_of(told.get("named"), arrays)
    upstream = frames.value_of(told.get("upstream"), arrays)
    if not isinstance(args, list) or not isinstance(named, dict) or not isinstance(upstream, list | None):
        raise frames.FrameError("a call is not written as it should be")
    free = reals(told["call"])
    order = list(free.values())[: len(args)]
    sizes = [one for one, is_free in zip_longest(args, order) if not (is_free and _real(one))]
    sizes += [one for name, one in named.items() if not (free.get(name) and _real(one))]
    if any(one.ndim > 6 for one in arrays) or largest(sizes, arrays) > most:
        return {"raised": f"the arguments are larger than those of the question (up to {most:,})"}, []
    results: list[np.ndarray] = []
    try:
        with np.errstate(all="ignore"):
            back = sound(told["call"], args, named, upstream)
        return {"result": frames.plain(back, results)}, results
    except Exception as error:  # whatever a strange argument does to the function
        return {"raised": text(str(error), 300) or type(error).__name__}, []


def _real(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e18


def largest(value: Any, arrays: Sequence[np.ndarray] = ()) -> int:
    """The largest size or number in some arguments; what is in lists and texts is counted together."""
    found = max((one.size for one in arrays), default=0)
    if isinstance(value, dict):
        value = list(value.items())
    if isinstance(value, list | tuple):
        return max([found, frames.extent(value), *map(largest, value)])
    if isinstance(value, str):
        return max(found, len(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(found, int(abs(value)) if abs(value) < 1e18 else 10**18)
    return found
