"""A launch as a film: which tiles move between main memory and chip, step after step, small enough for a page.

Arrays are seen as matrices (a vector is one row), and matrices as grids of square cells, at most ``MOST_CELLS`` along
an axis. Steps that compute with no floats are left out; what is computed on chip between two moves is one step.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlookup.tiles import Kernel, Step, Traffic

MOST_CELLS = 16
"""Cells along the longer axis of the largest array."""
MOST_STEPS = 120
"""Steps of a launch that is shown whole. Of a longer one the first two programs and the last are, and the others
program by program, or in groups of several."""

Rectangle = list[int]
"""First row, first column, rows and columns, in cells."""


@dataclass
class FilmStep:
    """What happens between two positions of the player."""

    programs: tuple[int, int]  # the first and the last program that take part
    # For each array, and whether it is written, the bytes and the cells that are reached:
    moves: dict[tuple[int, bool], tuple[int, np.ndarray]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)  # operations that are computed on chip
    flops: int = 0  # how many they are
    chip_bytes: int = 0  # the most that lies on chip meanwhile
    # The loaded tiles that lie there then: the array, and the cells:
    loaded: list[tuple[int, np.ndarray]] = field(default_factory=list)
    # The shapes of the computed tiles that lie there then:
    computed: list[tuple[int, ...]] = field(default_factory=list)

    def joined(self, later: "FilmStep") -> "FilmStep":
        """This step and a later one as one step."""
        moves = dict(self.moves)
        for key, (moved, cells) in later.moves.items():
            before = moves.get(key, (0, np.zeros_like(cells)))
            moves[key] = before[0] + moved, before[1] | cells
        fuller = max(self, later, key=lambda step: step.chip_bytes)
        return FilmStep(
            (self.programs[0], later.programs[1]),
            moves,
            list(dict.fromkeys(self.names + later.names)),
            self.flops + later.flops,
            fuller.chip_bytes,
            fuller.loaded,
            fuller.computed,
        )


def rectangles(cells: np.ndarray) -> list[Rectangle]:
    """Cover the cells, (rows, columns), that are reached with rectangles that do not overlap."""
    free, result = cells.copy(), []
    while free.any():
        row, column = map(int, np.argwhere(free)[0])
        end_column = column
        while end_column < free.shape[1] and free[row, end_column]:
            end_column += 1
        bottom = row
        while bottom < free.shape[0] and free[bottom, column:end_column].all():
            bottom += 1
        free[row:bottom, column:end_column] = False
        result.append([row, column, bottom - row, end_column - column])
    return result


class _Film:
    """Takes the steps of a launch down."""

    def __init__(self, arrays: dict[int, np.ndarray]) -> None:
        self.item_bytes = {at: array.itemsize for at, array in arrays.items()}
        self.shapes = {at: matrix_shape(array) for at, array in arrays.items()}
        longest = max(max(shape) for shape in self.shapes.values())
        self.cell = 2 ** int(np.ceil(np.log2(max(1, longest / MOST_CELLS))))
        self.programs: list[list[FilmStep]] = []
        self._shapes: list[tuple[int, ...]] = []  # of the current program's rows
        self._loads: dict[int, tuple[int, np.ndarray]] = {}

    def watch(self, step: Step) -> None:
        """Take one step down."""
        if step.program == len(self.programs):
            self.programs.append([])
            self._shapes, self._loads = [], {}
        steps = self.programs[-1]
        current = FilmStep((step.program, step.program), flops=step.flops, chip_bytes=step.chip_bytes)
        if step.offsets is not None and step.argument is not None:
            cells = self._cells(step.argument, step.offsets)
            moved = np.unique(step.offsets).size * self.item_bytes[step.argument]
            current.moves[step.argument, step.name == "store"] = moved, cells
            if step.name == "load":
                self._loads[len(self._shapes)] = step.argument, cells
        self._shapes.append(step.shape)
        for row, size in step.on_chip.items():
            if row in self._loads:
                current.loaded.append(self._loads[row])
            elif size:
                current.computed.append(self._shapes[row])
        if current.moves:
            steps.append(current)
        elif step.flops:
            current.names = [step.name]
            if steps and not steps[-1].moves:
                steps[-1] = steps[-1].joined(current)
            else:
                steps.append(current)

    def _cells(self, argument: int, offsets: np.ndarray) -> np.ndarray:
        rows, columns = self.shapes[argument]
        cells = np.zeros((-(-rows // self.cell), -(-columns // self.cell)), bool)
        cells[offsets // columns // self.cell, offsets % columns // self.cell] = True
        return cells

    def steps(self) -> list[FilmStep]:
        """All steps, or where they are many some of them joined."""
        if sum(map(len, self.programs)) <= MOST_STEPS:
            return [step for program in self.programs for step in program]
        first, middle, last = self.programs[:2], self.programs[2:-1], self.programs[2:][-1:]
        whole = [_joined(program) for program in middle if program]
        return [
            *(step for program in first for step in _shortened(program)),
            *_shortened(whole),
            *(step for program in last for step in _shortened(program)),
        ]


def _joined(steps: Sequence[FilmStep]) -> FilmStep:
    result = steps[0]
    for step in steps[1:]:
        result = result.joined(step)
    return result


def _shortened(steps: Sequence[FilmStep]) -> Iterator[FilmStep]:
    """At most MOST_STEPS / 2 steps: several in a row joined, where they are more."""
    group = -(-len(steps) * 2 // MOST_STEPS)
    for at in range(0, len(steps), max(1, group)):
        yield _joined(steps[at : at + group])


def matrix_shape(array: np.ndarray) -> tuple[int, int]:
    """The shape that an array is drawn in: its last axis are the columns, all others together the rows."""
    columns = array.shape[-1] if array.ndim else 1
    return array.size // max(1, columns), columns


def film(kernel: Kernel, grid: Any, *args: Any, **keywords: Any) -> tuple[Traffic, dict[str, Any]]:
    """Launch a kernel on copies of its arrays, and take down its traffic and what a figure shows of it.

    A step is a line, "first program, last program, bytes on chip, operations, state, name", then behind a semicolon for
    each move "array, 1 if it is written, bytes" and its rectangles. State and name are positions in ``states`` and
    ``names``; the name is -1 where nothing is computed. A state is the loaded tiles, "array" and rectangles, parted by
    semicolons, and behind a bar the computed ones, "rows columns".
    """
    bound = inspect.signature(kernel.function).bind(*args, **keywords)
    for name, value in bound.arguments.items():
        value = value.numpy() if hasattr(value, "numpy") else value
        bound.arguments[name] = value.copy() if isinstance(value, np.ndarray) else value
    bound.apply_defaults()
    arguments = list(bound.arguments.items())
    arrays = {at: value for at, (_, value) in enumerate(arguments) if isinstance(value, np.ndarray) and value.size}
    if not arrays:
        raise ValueError("the kernel is given no array, so that there is nothing to play")
    recorded = _Film(arrays)
    traffic = kernel.launch(grid, *bound.args, watch=recorded.watch, **bound.kwargs)
    if not traffic.read_bytes + traffic.written_bytes:
        raise ValueError("the kernel reads and writes nothing, so that there is nothing to play")
    return traffic, _as_record(recorded, {at: arguments[at][0] for at in arrays}, arrays)


def _as_record(recorded: _Film, names: dict[int, str], arrays: dict[int, np.ndarray]) -> dict[str, Any]:
    steps = recorded.steps()
    positions = {argument: at for at, argument in enumerate(arrays)}
    moved = {(argument, stored): 0 for argument in arrays for stored in (False, True)}
    states: list[str] = []
    operation_names: list[str] = []
    rows = []
    for step in steps:
        for key, (size, _) in step.moves.items():
            moved[key] += size
        loaded = [[positions[argument], *_flat(cells)] for argument, cells in step.loaded]
        computed = [(1, 1, *shape)[-2:] for shape in step.computed]
        state = _position(states, f"{_line(*loaded)}|{_line(*computed)}")
        name_index = _position(operation_names, ", ".join(step.names)) if step.names else -1
        moves = [
            [positions[argument], int(stored), size, *_flat(cells)]
            for (argument, stored), (size, cells) in step.moves.items()
        ]
        rows.append(_line([*step.programs, step.chip_bytes, step.flops, state, name_index], *moves))
    array_facts = [
        {
            "name": names[at],
            "shape": list(recorded.shapes[at]),
            "bytes": array.nbytes,
            "read": moved[at, False],
            "written": moved[at, True],
        }
        for at, array in arrays.items()
    ]
    programs = len(recorded.programs)
    return {
        "cell": recorded.cell,
        "programs": programs,
        "arrays": array_facts,
        "steps": rows,
        "states": states,
        "names": operation_names,
    }


def _flat(cells: np.ndarray) -> list[int]:
    return [edge for rectangle in rectangles(cells) for edge in rectangle]


def _line(*parts: Sequence[int]) -> str:
    return ";".join(" ".join(map(str, part)) for part in parts)


def _position(values: list[str], value: str) -> int:
    if value not in values:
        values.append(value)
    return values.index(value)
