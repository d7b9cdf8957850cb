"""A kernel's record: what each program of a launch does with tiles, row after row, as two plain arrays.

A row: the program, the operation (its position in NAMES), three operands (rows of the same program, or -1), and four
numbers. Loads have the operands offset, mask and other, stores offset, mask and value, and the argument's number.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from softlookup_inside.tiles.halves import BFLOAT16, as_dtype
from softlookup_inside.tiles.operations import NAMES, compute
from softlookup_inside.tiles.values import DTYPES, KernelError, Value, broadcast_shape, dtype_of, is_float, name_of

Entry = tuple[int, Value]  # a row of the current program, and zeros of its shape and dtype; of a constant its value

Record = tuple[np.ndarray, np.ndarray]  # the rows, and the constants that stand in the kernel

WIDTH = 9  # columns of a row

MOST_ROWS = 10_000  # rows that the programs of a launch may record together

_LITERALS: tuple[type[bool] | type[int] | type[float], ...] = (bool, int, float)

CONSTANT_TYPES = (*_LITERALS, *DTYPES)
"""What constants are, by the second number of their row: literals, or scalars that have a dtype."""

MOST_CONSTANT = 2**53  # whole numbers from here on are not exact in a record's constants

_POSITIONS = {name: position for position, name in enumerate(NAMES)}


class Recorder:
    """Takes down what the programs of one launch do; the grid has up to three axes."""

    def __init__(self, grid: tuple[int, ...]) -> None:
        self.grid, self.program = grid, (0,) * len(grid)
        self.rows: list[tuple[int, ...]] = []
        self.constants: list[float] = []
        self.number = self._first = 0
        self._known: dict[tuple[int, str], Entry] = {}
        self._results: dict[Any, np.ndarray] = {}

    def begin(self, index: int, program: tuple[int, ...]) -> None:
        """Begin the next program: its number among all, and its index in the grid."""
        self.program, self.number, self._first, self._known = program, index, len(self.rows), {}

    def computed(self, name: str, entries: Sequence[Entry], numbers: Sequence[int] = ()) -> tuple[int, np.ndarray]:
        """Take down an operation on chip, and give what is known of its result."""
        # What has once been computed of zeros is not computed again: programs and loops repeat each other.
        key = name, *map(_kind, entries), *numbers
        if key not in self._results:
            result = compute(name, [value for _, value in entries], numbers)
            self._results[key] = np.zeros(result.shape, result.dtype)
        return self._add(name, [row for row, _ in entries], numbers), self._results[key]

    def constant(self, value: Value) -> Entry:
        """Take down a literal or a scalar that is known, once for each program."""
        if isinstance(value, np.ndarray):
            plain = as_dtype(value, np.dtype(np.float32)) if value.dtype == BFLOAT16 else value
            scalar, type_index = plain.item(), CONSTANT_TYPES.index(value.dtype)
        else:
            scalar, type_index = value, next(at for at, type_ in enumerate(_LITERALS) if isinstance(value, type_))
        key = type_index, float(scalar).hex() if isinstance(scalar, float) else str(scalar)
        if key not in self._known:
            if not isinstance(scalar, float) and abs(scalar) >= MOST_CONSTANT:
                raise KernelError(f"the whole number {scalar} is too large")
            self.constants.append(float(scalar))
            self._known[key] = self._add("constant", (), (len(self.constants) - 1, type_index)), value
        return self._known[key]

    def load(
        self, argument: int, dtype: np.dtype, offset: Entry, mask: Entry | None, other: Entry | None
    ) -> tuple[int, np.ndarray]:
        """Take down that numbers are read from memory."""
        shape = _shape_of_access("tl.load", offset, mask, other)
        row = self._add("load", [-1 if entry is None else entry[0] for entry in (offset, mask, other)], (argument,))
        return row, np.zeros(shape, dtype)

    def store(self, argument: int, offset: Entry, mask: Entry | None, value: Entry) -> None:
        """Take down that numbers are written to memory."""
        shape = _shape_of_access("tl.store", offset, mask, value)
        if shape != np.shape(offset[1]):
            raise KernelError(f"tl.store writes a tile of shape {shape} to a pointer of shape {np.shape(offset[1])}")
        self._add("store", [-1 if entry is None else entry[0] for entry in (offset, mask, value)], (argument,))

    def barrier(self) -> None:
        """Take down that the program's threads wait for each other."""
        self._add("barrier", (), ())

    def _add(self, name: str, operands: Sequence[int], numbers: Sequence[int]) -> int:
        if len(self.rows) == MOST_ROWS:
            raise KernelError(
                f"the programs do more than {MOST_ROWS:,} operations on tiles: take larger tiles, or fewer loops"
            )
        padded = (*operands, *(-1,) * (3 - len(operands)), *numbers, *(0,) * (4 - len(numbers)))
        self.rows.append((self.number, _POSITIONS[name], *padded))
        return len(self.rows) - 1 - self._first


def _kind(entry: Entry) -> Any:
    """What a result's shape and dtype depend on."""
    value = entry[1]
    return (value.shape, value.dtype) if isinstance(value, np.ndarray) else (type(value), value)


def constant_value(value: float, type_index: int) -> Value:
    """A constant as an operation takes it; ValueError or OverflowError if there is no such constant."""
    if type_index >= len(_LITERALS):
        dtype = DTYPES[type_index - len(_LITERALS)]
        with np.errstate(all="ignore"):
            return as_dtype(np.array(value), dtype) if is_float(dtype) else np.array(int(value), dtype)
    return _LITERALS[type_index](value)


def _shape_of_access(name: str, offset: Entry, mask: Entry | None, other: Entry | None) -> tuple[int, ...]:
    if not np.ndim(offset[1]) and any(entry is not None and np.ndim(entry[1]) for entry in (mask, other)):
        raise KernelError(f"{name} has a tile beside a pointer to a single number: add tl.arange to the pointer")
    if mask is not None and dtype_of(mask[1]) != np.bool_:
        raise KernelError(
            f"the mask of {name} is a tile of booleans, as `cols < n` is; got {name_of(dtype_of(mask[1]))}"
        )
    return broadcast_shape(*(entry[1] for entry in (offset, mask, other) if entry is not None))


def by_program(table: np.ndarray, constants: np.ndarray) -> Record:
    """A record, of programs in any order, as it is where they run one after the other."""
    table = table[np.argsort(table[:, 0], kind="stable")]
    is_constant = table[:, 1] == _POSITIONS["constant"]
    constants = constants[table[is_constant, 5]]
    table[is_constant, 5] = np.arange(len(constants))
    return table, constants


_recorders: list[Recorder] = []


def recorder() -> Recorder:
    """The recorder of the launch that is being recorded; KernelError if there is none."""
    if not _recorders:
        raise KernelError("`tl` works inside a kernel alone: launch it as kernel[grid](…)")
    return _recorders[-1]


def is_recording() -> bool:
    """Whether a launch is being recorded."""
    return bool(_recorders)


@contextlib.contextmanager
def recording(grid: tuple[int, ...]) -> Iterator[Recorder]:
    """Let ``tl`` take down what is done meanwhile."""
    _recorders.append(Recorder(grid))
    try:
        yield _recorders[-1]
    finally:
        _recorders.pop()
