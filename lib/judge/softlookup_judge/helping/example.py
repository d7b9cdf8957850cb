"""A question worked through: what the published solution is given, which values it names on the way, what comes out."""

import contextlib
import copy
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from softlookup_inside.asking.answers import is_tensor
from softlookup_inside.asking.calling import called, inputs_for
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.printed import quiet
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.oracle import mistaken

MOST_VALUES = 12
"""So many values are shown of one example, the first ones."""

MOST_LOOKED_AT = 40
"""So many values are noted, some of which are inputs; what follows runs at its usual speed."""

MOST_INPUTS = 12
"""Of more inputs, as those of a whole model, only the shapes are shown."""

SMALL, LARGE = 8, 40
"""So many numbers of an array are shown in full, where there are more than six inputs and where there are few."""

_WIDE = 100


def work_through(variant: Variant, case: Case) -> Iterator[str]:
    """Run the published solution on a question: inputs, values that it names, and results, as lines of text."""
    inputs, values = inputs_for(case), list[tuple[str, str]]()
    most = 0 if len(inputs) > MOST_INPUTS else SMALL if len(inputs) > 6 else LARGE
    arguments = [(name, in_words(value, most)) for name, value in zip(variant.input_names(case), inputs, strict=True)]
    if case.is_recorded:  # a kernel has no numbers on the way, and several ranks have different ones
        named_results = zip(variant.result_names(case), mistaken(variant, (), case) or (), strict=True)
    else:
        solution, before = answer(variant), set(map(id, inputs))
        with _values_of(f"<published {variant.task.id}>") as named_values, quiet():
            result = called(solution, case, inputs)
        values = [(name, in_words(value)) for name, value in named_values if id(value) not in before]
        values[MOST_VALUES:] = [("…", "and so on")] * (len(values) > MOST_VALUES)
        many = result if isinstance(result, tuple) and len(variant.returns) > 1 else (result,)
        named_results = zip(variant.returns, many, strict=False)
    results = [(name, in_words(value)) for name, value in named_results]
    yield f"Question: {case.label}"
    for heading, pairs in (("Given", arguments), ("On the way", values), ("Result", results)):
        if pairs:
            yield f"{heading}:"
            for name, value in pairs:
                yield f"  {name} = {value}".replace("\n", "\n" + " " * (len(name) + 5))


@contextlib.contextmanager
def _values_of(file: str) -> Iterator[list[tuple[str, Any]]]:
    """Note each value that the first function called from a file gives a name to."""
    named_values: list[tuple[str, Any]] = []
    last_values: dict[str, Any] = {}
    first: list[FrameType] = []

    def inspect_frame(frame: FrameType) -> None:
        for name, value in frame.f_locals.items():
            if name in _HIDDEN or callable(value) or (name in last_values and _alike(last_values[name], value)):
                continue
            last_values[name] = snapshot = _copy(value)
            named_values.append((name, snapshot))

    def step(frame: FrameType, event: str, arg: Any) -> Any:
        inspect_frame(frame)
        if len(named_values) <= MOST_LOOKED_AT:
            return step
        sys.settrace(None)  # a long loop is not followed to its end
        frame.f_trace = None
        return None

    def begin(frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if first or code.co_filename != file or code.co_name == "__init__" or code.co_name.startswith("<"):
            return None
        first.append(frame)
        last_values.update({name: _copy(value) for name, value in frame.f_locals.items()})
        return step

    before = sys.gettrace()
    sys.settrace(begin)
    try:
        yield named_values
    finally:
        sys.settrace(before)


_HIDDEN = {"self", "__class__"}


def _copy(value: Any) -> Any:
    if is_tensor(value):
        return value.detach().clone()
    with contextlib.suppress(Exception):
        return copy.deepcopy(value)
    return value


def _alike(before: Any, now: Any) -> bool:
    """Whether a name holds what it held before."""
    if type(before) is not type(now):
        return False
    try:
        if is_tensor(before) or isinstance(before, np.ndarray):
            return before.shape == now.shape and bool((before == now).all())
        return bool(before == now)
    except Exception:
        return False


def in_words(value: Any, most: int = LARGE) -> str:
    """A value with four digits; of a large array the corners, with its shape."""
    if is_tensor(value):
        value = value.detach().numpy()
    if isinstance(value, np.ndarray) and value.ndim:
        if value.size <= most:
            return _table(value, most)
        if not most:
            return f"shape {tuple(value.shape)}"
        lead = (0,) * max(0, value.ndim - 2)
        part = f", its part {list(lead)}" if lead else ""
        return f"shape {tuple(value.shape)}{part}:\n{_table(value[lead], most)}"
    if isinstance(value, np.ndarray | np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.6g}"
    text = repr(value)
    return text if len(text) <= 2 * _WIDE else f"{text[: 2 * _WIDE]} …"


def _table(value: np.ndarray, most: int) -> str:
    values = value.astype(np.float64) if value.dtype.kind == "f" else value
    edge = 1 if most < LARGE else 2
    text = np.array2string(
        values, precision=4, suppress_small=True, threshold=most, edgeitems=edge, max_line_width=_WIDE, separator=", "
    )
    return "\n".join(line for line in text.splitlines() if line.strip())
