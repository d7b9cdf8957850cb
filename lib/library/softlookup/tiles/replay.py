"""Running the record of a kernel on real numbers, and counting: the judge's side, which believes nothing of a record.

Main memory is the arrays that a launch is given. The chip is one program's: a tile lies there from the operation that
makes it to the last one that needs it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlookup.tiles.costs import ACCESS_NS, ACCESS_ROW_NS, MOST_WORK_NS, ROW_NS, TILE_NS, flops_of, work_of
from softlookup.tiles.memory import NOBODY, SEVERAL, Memory, alike, memory_of, undefined
from softlookup_inside.tiles.halves import as_dtype
from softlookup_inside.tiles.operations import (
    DTYPES,
    NAMES,
    OPERATIONS,
    KernelError,
    Value,
    broadcast_shape,
    compute,
    dtype_of,
    tensor,
)
from softlookup_inside.tiles.overflow import carried, wrapped
from softlookup_inside.tiles.recording import CONSTANT_TYPES, MOST_ROWS, WIDTH, Record, constant_value
from softlookup_inside.tiles.tracing import MOST_PROGRAMS
from softlookup_inside.tiles.values import is_float

MOST_HELD_BYTES = 2**28
"""Bytes that the tiles of one program may take while it runs, those that chips make again included."""


class LaunchError(Exception):
    """A launch that cannot go on; the message says where.

    Attributes:
        kind: "outside" (an access outside of an array), "race" (two programs at one place, where one writes),
            "barrier" (a program reads what another thread of its own has stored, without a barrier), "overlap" (a store
            that writes different numbers to one place), "input-written" (a store to an array that is an input),
            "unwritten" (a judged kernel without a store), "work" (more than the judge computes), "unsteady" (a judged
            kernel that does something else each time) or "record" (no record of a kernel).
    """

    def __init__(self, problem: str, message: str) -> None:
        super().__init__(message)
        self.kind = problem


@dataclass(frozen=True)
class Step:
    """One row of a record as it runs, for whoever watches.

    Attributes:
        program: The number of the program.
        name: The operation, "load" and "store" among them.
        argument: For "load" and "store" the position of the array, else None.
        offsets: For "load" and "store" which numbers of that array, counted flat; else None.
        shape: The shape of the tile.
        chip_bytes: What lies on chip after it.
        on_chip: The bytes of each tile that lies there, by the row of its program that made it; rows count from 0.
        flops: Operations on floats that this step does.
    """

    program: int
    name: str
    argument: int | None
    offsets: np.ndarray | None
    shape: tuple[int, ...]
    chip_bytes: int
    on_chip: dict[int, int]
    flops: int


@dataclass
class Traffic:
    """What a launch cost.

    Attributes:
        read_bytes: Bytes that its programs read from main memory, all together.
        written_bytes: Bytes that they write.
        unique_read_bytes: Bytes of main memory that are read by any program, each counted once.
        unique_written_bytes: Likewise what is written.
        flops: Operations on floats: two for each product in a dot, one for each number of any other operation.
        chip_bytes: The most that one program holds on chip at a time.
        program_bytes: What each program reads and writes.
    """

    read_bytes: int = 0
    written_bytes: int = 0
    unique_read_bytes: int = 0
    unique_written_bytes: int = 0
    flops: int = 0
    chip_bytes: int = 0
    program_bytes: list[int] = field(default_factory=list)

    @property
    def intensity(self) -> float:
        """Operations for each byte that crosses; infinite where none does."""
        moved = self.read_bytes + self.written_bytes
        return self.flops / moved if moved else float("inf")


@dataclass(frozen=True)
class _Row:
    """One row of a program's record, read and checked."""

    name: str
    operands: tuple[int, ...]
    numbers: tuple[int, ...]


def replay(
    launch_record: Record,
    arrays: Sequence[Any],
    names: Sequence[str],
    outputs: Sequence[int] | None = None,
    watch: Callable[[Step], None] | None = None,
    programs: int = MOST_PROGRAMS,
    most_work_ns: int = MOST_WORK_NS,
) -> Traffic:
    """Run the record of a launch on the arrays that it was launched with.

    The record is as ``tracing.record`` gives it, and may come from anywhere. ``arrays`` are numpy's in one piece, which
    stores change, and plain values; ``names`` are for messages; ``outputs`` are positions that may be written (None:
    all); ``programs`` and ``most_work_ns`` (see ``costs``) are upper limits. LaunchError if it reads or writes outside
    of an array, two programs meet at one place, it is too much work, or no record.
    """
    memory, blocks = memory_of(names, arrays)
    traffic, budget = Traffic(), _Work(most_work_ns)
    for program, rows in enumerate(_programs(launch_record, programs)):
        run = _Program(program, rows, launch_record[1], memory, outputs, watch)
        run.run(budget)
        traffic.read_bytes += run.read
        traffic.written_bytes += run.written
        traffic.flops += run.flops
        traffic.chip_bytes = max(traffic.chip_bytes, run.most)
        traffic.program_bytes.append(run.read + run.written)
    traffic.unique_read_bytes = sum(int((block.reader != NOBODY).sum()) * block.unit for block in blocks)
    traffic.unique_written_bytes = sum(int((block.writer != NOBODY).sum()) * block.unit for block in blocks)
    return traffic


class _Work:
    """What the rows of a launch may still take, in nanoseconds."""

    def __init__(self, most_ns: int) -> None:
        self.left_ns, self._most_ns = most_ns, most_ns

    def take(self, work_ns: int) -> None:
        """Count work before it is done."""
        self.left_ns -= work_ns
        if self.left_ns < 0:
            raise LaunchError(
                "work",
                f"it is counted as more than {self._most_ns / 1e9:g} s of work, which is more than is computed here: "
                "do fewer operations on tiles, or take smaller tiles",
            )


def _programs(launch_record: Record, most: int) -> list[list[_Row]]:
    """The rows of each program, checked as far as they can be without running; a program may have none."""
    table, constants = map(np.asarray, launch_record)
    if table.ndim != 2 or table.shape[1] != WIDTH or table.dtype != np.int64 or len(table) > MOST_ROWS:
        raise LaunchError("record", "this is no record of a kernel")
    if constants.ndim != 1 or constants.dtype != np.float64:
        raise LaunchError("record", "this is no record of a kernel")
    programs: list[list[_Row]] = []
    for program, operation, a, b, c, *numbers in table.tolist():
        if not len(programs) - 1 <= program < most or program < 0 or not 0 <= operation < len(NAMES):
            raise LaunchError("record", "this is no record of a kernel")
        programs.extend([] for _ in range(program + 1 - len(programs)))
        rows, name = programs[program], NAMES[operation]
        if any(not -1 <= operand < len(rows) for operand in (a, b, c)):
            raise LaunchError("record", "a row of the record has an operand that is not there yet")
        if name in OPERATIONS:
            known = OPERATIONS[name]
            count = known.operands if known.operands is not None else 2 + (c >= 0)
            operands, numbers = (a, b, c)[:count], numbers[: known.numbers]
            if any(rows[at].name in _NO_TILE for at in operands if at >= 0) or min(operands, default=0) < 0:
                raise LaunchError("record", "a row of the record lacks an operand")
            if name in ("bitcast", "cast", "full") and not 0 <= numbers[0] < len(DTYPES):
                raise LaunchError("record", "a row of the record has no such dtype")
        elif name == "barrier":
            operands = ()
        elif name == "constant":
            operands = ()
            if not 0 <= numbers[0] < len(constants) or not 0 <= numbers[1] < len(CONSTANT_TYPES):
                raise LaunchError("record", "a row of the record has no such constant")
        else:
            operands = (a, b, c)
            if a < 0 or (name == "store" and c < 0) or any(rows[at].name in _NO_TILE for at in operands if at >= 0):
                raise LaunchError("record", "a row of the record lacks an operand")
        rows.append(_Row(name, tuple(operands), tuple(numbers)))
    return programs


class _Program:
    """One program of a launch while it runs."""

    def __init__(
        self,
        program: int,
        rows: list[_Row],
        constants: np.ndarray,
        memory: dict[int, Memory],
        outputs: Sequence[int] | None,
        watch: Callable[[Step], None] | None,
    ) -> None:
        self.program, self.rows, self.constants = program, rows, constants
        self.memory, self.outputs, self.watch = memory, outputs, watch
        self.read = self.written = self.flops = self.most = self.live = 0
        self.values: list[Value | None] = [None] * len(rows)
        self.held = 0
        self.bytes_of: dict[int, int] = {}
        self.home = list(range(len(rows)))
        self.holds = [False] * len(rows)
        self.wrapped: dict[int, np.ndarray] = {}
        self.stores: list[Any] = []
        self.waited = 0
        self._plan()

    def _plan(self) -> None:
        """Find out which tile each row's numbers lie in, and by which row a tile is needed last."""
        for at, row in enumerate(self.rows):
            if row.name in OPERATIONS and OPERATIONS[row.name].is_view:
                self.home[at] = self.home[row.operands[0]]
        self.last = list(range(len(self.rows)))
        self.value_last = list(range(len(self.rows)))
        uses = [0] * len(self.rows)
        for at, row in enumerate(self.rows):
            for operand in row.operands:
                if operand >= 0:
                    uses[operand] += 1
                    self.value_last[operand] = at
                    self.last[self.home[operand]] = at
        # `total + tl.dot(a, b)` is one step of a tensor core: the product is added where the sum lies.
        self.is_added = [
            row.name == "dot" and uses[at] == 1 and after.name == "add" and at in after.operands
            for at, (row, after) in enumerate(zip(self.rows, self.rows[1:], strict=False))
        ] + [False]
        # Rows that say where a load or a store goes.
        self.is_place = [False] * len(self.rows)
        for at in range(len(self.rows) - 1, -1, -1):
            row = self.rows[at]
            if row.name in ("load", "store"):
                self.is_place[row.operands[0]] = True
            elif self.is_place[at]:
                for operand in row.operands:
                    self.is_place[operand] = True

    def run(self, budget: _Work) -> None:
        """Run all rows, as far as the work of all programs together allows."""
        for at, row in enumerate(self.rows):
            offsets, flops = None, self.flops
            result: Value
            try:
                if row.name == "load":
                    result, offsets = self._load(row, budget)
                elif row.name == "store":
                    result, offsets = self._store(row, budget)
                elif row.name == "barrier":
                    budget.take(ROW_NS)
                    result, self.waited = 0, len(self.stores)
                elif row.name == "constant":
                    budget.take(ROW_NS)
                    result = constant_value(float(self.constants[row.numbers[0]]), row.numbers[1])
                else:
                    operands = [self._value(operand) for operand in row.operands]
                    budget.take(work_of(row.name, operands, row.numbers, self.is_place[at]))
                    result = compute(row.name, operands, row.numbers)
                    self._count(at, row, operands, result)
                    if self.is_place[at]:
                        self._follow(at, row, operands, result)
            except (KernelError, ValueError, OverflowError, MemoryError) as error:
                raise LaunchError("record", f"a row of the record cannot be run: {error}") from None
            self.held += _nbytes(result)
            if self.held > MOST_HELD_BYTES:
                raise LaunchError("record", f"its tiles take more than {MOST_HELD_BYTES:,} bytes")
            self.values[at] = result
            if row.name == "load":
                self.holds[at] = True
                self._put(at, _nbytes(result))
            if self.watch is not None:
                argument = row.numbers[0] if offsets is not None else None
                on_chip, flops = dict(self.bytes_of), self.flops - flops
                shape = np.shape(result)
                self.watch(Step(self.program, row.name, argument, offsets, shape, self.live, on_chip, flops))
            self._forget(at, row)

    def _value(self, at: int) -> Value:
        value = self.values[at]
        if value is None:
            raise LaunchError("record", "a row of the record lacks an operand")
        return value

    def _count(self, at: int, row: _Row, operands: list[Value], result: np.ndarray) -> None:
        """Count an operation, and lay its result on the chip: in the place of what is not needed after it, if it can.

        Whole numbers and masks that come from ``tl.arange`` alone are made again where they are needed, and take no
        room. A scalar that comes from memory takes the room of its dtype, as a number of a tile does: on a GPU it takes
        more, a register of every thread.
        """
        holds = any(self.holds[operand] for operand in row.operands)
        computes = any(is_float(dtype_of(value)) for value in (result, *operands))
        self.holds[at] = holds or (is_float(result.dtype) and result.size > 1)
        known = OPERATIONS[row.name]
        if known.is_view:
            return
        if computes and row.name not in ("bitcast", "full", "gather"):
            self.flops += flops_of(row.name, operands) or result.size
        if self.holds[at] and not self.is_added[at]:
            if known.is_elementwise or len(operands) == 3:
                self._release(at, row)
            self._put(at, result.nbytes)

    def _follow(self, at: int, row: _Row, operands: list[Value], result: np.ndarray) -> None:
        """Note which numbers of a row that says where to go have wrapped around."""
        of_operands = [self.wrapped.get(operand) for operand in row.operands]
        before = carried(row.name, operands, row.numbers, of_operands, result.shape)
        here = wrapped(row.name, operands, row.numbers, result)
        flags = [flag for flag in (before, here) if flag is not None]
        if flags:
            self.wrapped[at] = np.any(flags, axis=0)

    def _put(self, at: int, size: int) -> None:
        self.bytes_of[at] = size
        self.live += size
        self.most = max(self.most, self.live)

    def _release(self, at: int, row: _Row) -> None:
        for operand in row.operands:
            if operand >= 0 and self.last[self.home[operand]] == at:
                self.live -= self.bytes_of.pop(self.home[operand], 0)

    def _forget(self, at: int, row: _Row) -> None:
        """Take from the chip what no later row needs."""
        self._release(at, row)
        if self.last[self.home[at]] == at:
            self.live -= self.bytes_of.pop(self.home[at], 0)
        for value in {at, *row.operands}:
            if value >= 0 and self.value_last[value] == at:
                self.held -= _nbytes(self.values[value])
                self.values[value] = None
                self.wrapped.pop(value, None)

    def _access(self, row: _Row, budget: _Work) -> tuple[Memory, np.ndarray, np.ndarray, np.ndarray]:
        """The array, the places of all numbers of the tile, which of them are reached, and these places."""
        offset, mask, other = (None if at < 0 else tensor(self._value(at)) for at in row.operands)
        memory = self.memory.get(row.numbers[0])
        if memory is None or offset is None or offset.dtype.kind not in "iu":
            raise LaunchError("record", "a row of the record points to nothing")
        shape = broadcast_shape(*(part for part in (offset, mask, other) if part is not None))
        if row.name == "store":
            shape = offset.shape
        budget.take(ACCESS_ROW_NS + TILE_NS * math.prod(shape))
        offsets = np.broadcast_to(offset, shape).astype(np.int64)
        reached = np.ones(shape, bool) if mask is None else np.broadcast_to(mask != 0, shape)
        budget.take(ACCESS_NS * int(np.count_nonzero(reached)))
        there = offsets[reached]
        act = "reads" if row.name == "load" else "writes"
        nowhere = self.wrapped.get(row.operands[0])
        if nowhere is not None and np.broadcast_to(nowhere, shape)[reached].any():
            raise LaunchError(
                "outside",
                f"program {self.program} {act} `{memory.name}` at a place that does not fit into the dtype in which it "
                "is computed, and wraps around: compute it from smaller numbers, or cast them to tl.int64 first",
            )
        outside = there[(there < 0) | (there >= memory.flat.size)]
        if outside.size:
            raise LaunchError(
                "outside",
                f"program {self.program} {act} `{memory.name}` at {int(outside[0])}, outside of its "
                f"{memory.flat.size:,} numbers: check the pointer and the mask",
            )
        return memory, offsets, reached, there

    def _load(self, row: _Row, budget: _Work) -> tuple[np.ndarray, np.ndarray]:
        memory, offsets, reached, there = self._access(row, budget)
        units = memory.units(there)
        writer = memory.block.writer[units]
        if writer.max(initial=NOBODY) != NOBODY:
            met = np.flatnonzero((writer != NOBODY) & (writer != self.program))
            if met.size:
                self._race(memory, memory.offset_of(there, met[0]), int(writer[met[0]]), "reads")
            met = self._stored_otherwise(memory, offsets, units)
            if met.size:
                offset = memory.offset_of(there, met[0])
                raise LaunchError(
                    "barrier",
                    f"program {self.program} reads `{memory.name}` at {offset}, which it has stored itself through "
                    "another tile of pointers: its threads run in any order, so that one may not see yet what another "
                    "has stored. Keep the tile in a variable, or write tl.debug_barrier() between",
                )
        other = undefined(memory.flat.dtype) if row.operands[2] < 0 else tensor(self._value(row.operands[2]))
        with np.errstate(all="ignore"):
            result = np.broadcast_to(as_dtype(np.asarray(other), memory.flat.dtype), offsets.shape).copy()
        result[reached] = memory.flat[there]
        once = memory.once(there)
        self.read += once.size * memory.flat.itemsize
        units = memory.units(once)
        before = memory.block.reader[units]
        memory.block.reader[units] = np.where((before == NOBODY) | (before == self.program), self.program, SEVERAL)
        return result, there

    def _store(self, row: _Row, budget: _Work) -> tuple[np.ndarray, np.ndarray]:
        memory, offsets, reached, there = self._access(row, budget)
        if self.outputs is not None and row.numbers[0] not in self.outputs:
            raise LaunchError("input-written", f"program {self.program} writes to `{memory.name}`, which is an input")
        values = np.broadcast_to(tensor(self._value(row.operands[2])), offsets.shape)[reached]
        with np.errstate(all="ignore"):
            values = as_dtype(values, memory.flat.dtype)
        block, units = memory.block, memory.units(there)
        for others, act in ((block.writer[units], "write"), (block.reader[units], "read")):
            met = np.flatnonzero((others != NOBODY) & (others != self.program))
            if met.size:
                self._race(memory, memory.offset_of(there, met[0]), int(others[met[0]]), "writes", act)
        memory.flat[there] = values
        if not alike(memory.flat[there], values):
            raise LaunchError(
                "overlap",
                f"program {self.program} writes different numbers of one tile to one place of `{memory.name}`: which "
                "of them stays is chance",
            )
        once = memory.once(there)
        units = memory.units(once)
        block.writer[units] = self.program
        block.store[units] = len(self.stores)
        self.stores.append(memory.pointers(offsets))
        self.written += once.size * memory.flat.itemsize
        return np.empty(offsets.shape, memory.flat.dtype), there

    def _stored_otherwise(self, memory: Memory, offsets: np.ndarray, units: np.ndarray) -> np.ndarray:
        """Which of some units this program has stored through another tile of pointers since its threads waited.

        Each number of a tile belongs to a thread, the same one for the same pointers; another thread may be ahead.
        """
        block = memory.block
        stores = np.where(block.writer[units] == self.program, block.store[units], NOBODY)
        if stores.max(initial=NOBODY) < self.waited:
            return _NOWHERE
        here = memory.pointers(offsets)
        others = [at for at in np.unique(stores[stores >= self.waited]) if self.stores[at] != here]
        return np.flatnonzero(np.isin(stores, others))

    def _race(self, memory: Memory, offset: int, other: int, act: str, other_act: str = "write") -> None:
        who = "another program" if other == SEVERAL else f"program {other}"
        names = [name for name in memory.others if name != memory.name]
        shared = f" (`{memory.name}` shares memory with `{'` and `'.join(names)}`)" if names else ""
        raise LaunchError(
            "race",
            f"program {self.program} {act} `{memory.name}` at {offset}, which {who} {other_act}s{shared}: programs run "
            "in any order",
        )


_NO_TILE, _NOWHERE = ("store", "barrier"), np.empty(0, np.int64)


def _nbytes(value: Value | None) -> int:
    return value.nbytes if isinstance(value, np.ndarray) else 0
