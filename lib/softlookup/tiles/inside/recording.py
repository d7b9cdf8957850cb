"""A kernel's record: what each program of a launch does with tiles, row after row, as two plain arrays.

There is no control flow on data in this language, so that a kernel can be recorded before there are any numbers.

A row holds nine whole numbers: the program, the operation (its position in NAMES), three operands (rows of the same
program, -1 for none) and four numbers. A row that loads has the operands offset, mask and other, a row that stores
offset, mask and value; their first number is the argument of the kernel.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from softlookup.tiles.inside.operations import NAMES, KernelError, broadcast_shape, compute

Entry = tuple[int, np.ndarray]
"""A row of the current program, and zeros of its shape and dtype."""

Record = tuple[np.ndarray, np.ndarray]
"""The rows, and the constants that stand in the kernel."""

WIDTH = 9
"""Columns of a row."""

MOST_ROWS = 10_000
"""Rows that the programs of a launch may record together."""

CONSTANT_TYPES = (bool, int, float)
"""Types of constants, by the second number of their row."""

_POSITIONS = {name: position for position, name in enumerate(NAMES)}


class Recorder:
    """Takes down what the programs of one launch do.

    Args:
        grid: How many programs there are, along up to three axes.

    Attributes:
        program: The index of the current program, along the axes of the grid.
    """

    def __init__(self, grid: tuple[int, ...]) -> None:
        self.grid, self.program = grid, (0,) * len(grid)
        self.rows: list[tuple[int, ...]] = []
        self.constants: list[float] = []
        self._number = self._first = 0
        self._known: dict[tuple[type, float], Entry] = {}

    def begin(self, number: int, program: tuple[int, ...]) -> None:
        """Begin the next program.

        Args:
            number: Its number among all.
            program: Its index in the grid.
        """
        self.program, self._number, self._first, self._known = program, number, len(self.rows), {}

    def computed(self, name: str, entries: Sequence[Entry], numbers: Sequence[int] = ()) -> Entry:
        """Take down an operation on chip, and give what is known of its result."""
        result = compute(name, [value for _, value in entries], numbers)
        return self._add(name, [row for row, _ in entries], numbers), np.zeros(result.shape, result.dtype)

    def constant(self, value: Any) -> Entry:
        """Take down a number that stands in the kernel, once for each program."""
        kind = next(at for at, type_ in enumerate(CONSTANT_TYPES) if isinstance(_plain(value), type_))
        key = CONSTANT_TYPES[kind], float(value)
        if key not in self._known:
            if kind < 2 and abs(int(value)) >= 2**53:
                raise KernelError(f"the whole number {value} is too large")
            self.constants.append(float(value))
            row = self._add("constant", (), (len(self.constants) - 1, kind))
            self._known[key] = row, constant_array(float(value), kind)
        return self._known[key]

    def load(self, argument: int, dtype: np.dtype, offset: Entry, mask: Entry | None, other: Entry | None) -> Entry:
        """Take down that numbers are read from memory."""
        shape = _shape_of_access("tl.load", offset, mask, other)
        row = self._add("load", [-1 if entry is None else entry[0] for entry in (offset, mask, other)], (argument,))
        return row, np.zeros(shape, dtype)

    def store(self, argument: int, offset: Entry, mask: Entry | None, value: Entry) -> None:
        """Take down that numbers are written to memory."""
        if _shape_of_access("tl.store", offset, mask, value) != offset[1].shape:
            raise KernelError(
                f"tl.store writes a tile of shape {value[1].shape} to a pointer of shape {offset[1].shape}"
            )
        self._add("store", [-1 if entry is None else entry[0] for entry in (offset, mask, value)], (argument,))

    def _add(self, name: str, operands: Sequence[int], numbers: Sequence[int]) -> int:
        if len(self.rows) == MOST_ROWS:
            raise KernelError(
                f"the programs do more than {MOST_ROWS:,} operations on tiles: take larger tiles, or fewer loops"
            )
        padded = (*operands, *(-1,) * (3 - len(operands)), *numbers, *(0,) * (4 - len(numbers)))
        self.rows.append((self._number, _POSITIONS[name], *padded))
        return len(self.rows) - 1 - self._first


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def constant_array(value: float, kind: int) -> np.ndarray:
    """A constant as the scalar that an operation takes: a boolean, int32 (int64 where it is larger) or float32."""
    if kind == 1:
        return np.array(int(value), np.int32 if abs(value) < 2**31 else np.int64)
    return np.array(value, np.float32 if kind == 2 else np.bool_)


def _shape_of_access(name: str, offset: Entry, mask: Entry | None, other: Entry | None) -> tuple[int, ...]:
    if offset[1].ndim == 0 and any(entry is not None and entry[1].ndim for entry in (mask, other)):
        raise KernelError(f"{name} has a tile beside a pointer to a single number: add tl.arange to the pointer")
    if mask is not None and mask[1].dtype != np.bool_:
        raise KernelError(f"the mask of {name} is a tile of booleans, as `cols < n` is; got {mask[1].dtype}")
    return broadcast_shape(*(entry[1] for entry in (offset, mask, other) if entry is not None))


_recorders: list[Recorder] = []


def recorder() -> Recorder:
    """The recorder of the launch that is being recorded.

    Raises:
        KernelError: If there is none.
    """
    if not _recorders:
        raise KernelError("`tl` works inside a kernel alone: launch it as kernel[grid](…)")
    return _recorders[-1]


@contextlib.contextmanager
def recording(grid: tuple[int, ...]) -> Iterator[Recorder]:
    """Let ``tl`` take down what is done meanwhile."""
    _recorders.append(Recorder(grid))
    try:
        yield _recorders[-1]
    finally:
        _recorders.pop()
