"""What a quick question can ask for: each kind takes its answer out of a task's results, and says what equals it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Answer = list[float]


@dataclass(frozen=True)
class Number:
    """One number of a result, to be typed."""

    at: tuple[int, ...] = ()  # the index of the number; empty for a result that is one number
    of: int = 0  # which of the task's results
    # To how many decimals it is asked for; half a unit of the last one is forgiven, and a little more:
    decimals: int = 2
    unit: str = ""  # what stands behind the field
    kind = "number"

    @property
    def tolerance(self) -> float:
        """How far an answer may be from the right one; neighbouring whole numbers never pass for each other."""
        return 0.6 * 10.0**-self.decimals if self.decimals else 0.45

    def answer(self, results: tuple[np.ndarray, ...]) -> Answer:
        """The number, as a list of one; a ValueError if something larger stands there."""
        value = np.asarray(results[self.of][self.at])
        if value.size != 1:
            raise ValueError(f"a number is asked for, but index {self.at} of shape {results[self.of].shape} is none")
        return [float(value.reshape(()))]

    def written(self, answer: Answer) -> str:
        """An answer as the page writes it."""
        return f"{answer[0]:,.{self.decimals}f} {self.unit}".strip()


@dataclass(frozen=True)
class Guess:
    """A number to guess before it is computed: within a factor of two is good."""

    of: tuple[int, ...] = (0,)  # which of the task's results; the sum of several
    unit: str = ""  # what stands behind the field
    scale: float = 1.0  # how much one such unit is: 1e9 for a result in bytes that is guessed in GB
    kind = "guess"
    tolerance = 1.0
    alike = 0.14

    def answer(self, results: tuple[np.ndarray, ...]) -> Answer:
        """The logarithm of the number, as a list of one."""
        value = sum(float(np.asarray(results[index])) for index in self.of) / self.scale
        if not value > 0:
            raise ValueError(f"a factor of two needs a number above zero, got {value:g}")
        return [math.log2(value)]

    def written(self, answer: Answer) -> str:
        """The number that an answer stands for, with three digits."""
        value = 2.0 ** answer[0]
        digits = max(0, 2 - math.floor(math.log10(value)))
        return f"{round(value, 2 - math.floor(math.log10(value))):,.{digits}f} {self.unit}".strip()


@dataclass(frozen=True)
class Row:
    """A row of a result, a field for each number."""

    at: tuple[int, ...] = ()  # the index of the row
    of: int = 0  # which of the task's results
    decimals: int = 2  # as for a number
    kind = "row"

    @property
    def tolerance(self) -> float:
        """How far each number may be from the right one."""
        return 0.6 * 10.0**-self.decimals

    def answer(self, results: tuple[np.ndarray, ...]) -> Answer:
        """The row's numbers; a ValueError if there is no row at that index."""
        row = np.asarray(results[self.of][self.at], dtype=float)
        if row.ndim != 1:
            raise ValueError(f"a row is asked for, but index {self.at} of shape {results[self.of].shape} is none")
        return [float(value) for value in row]

    def written(self, answer: Answer) -> str:
        """An answer as the page writes it."""
        return "(" + ", ".join(f"{value:.{self.decimals}f}" for value in answer) + ")"


@dataclass(frozen=True)
class Shape:
    """The shape of a result, or of what a task gives back as one."""

    of: int = 0  # which of the task's results
    given: bool = False  # the result's numbers are themselves the shape, as in a table of shapes
    kind = "shape"
    tolerance = 0.0

    def answer(self, results: tuple[np.ndarray, ...]) -> Answer:
        """The sizes."""
        result = results[self.of]
        return [float(n) for n in (result.reshape(-1) if self.given else result.shape)]

    def written(self, answer: Answer) -> str:
        """An answer as the page writes it."""
        return "(" + ", ".join(f"{n:.0f}" for n in answer) + ("," if len(answer) == 1 else "") + ")"


@dataclass(frozen=True)
class Cell:
    """The largest or the smallest cell of a result, to be pointed at on a map of something else."""

    map: Any  # what is shown, (rows, columns), of the result's shape; its cells are pressed
    rows: tuple[str, ...]  # what the rows are called
    columns: tuple[str, ...]  # what the columns are called
    of: int = 0  # which of the task's results
    at: tuple[int, ...] = ()  # the index of the table among the result's leading axes
    smallest: bool = False  # asks for the smallest
    row: int | None = None  # the row in which to look; None for the whole table
    kind = "cell"
    tolerance = 0.0

    def __post_init__(self) -> None:
        if np.shape(self.map) != (len(self.rows), len(self.columns)):
            raise ValueError(
                f"the map has the shape {np.shape(self.map)}, but {len(self.rows)} rows and {len(self.columns)} "
                "columns have names"
            )

    def answer(self, results: tuple[np.ndarray, ...]) -> Answer:
        """Row and column; a ValueError if the table's shape is not the map's, or the extreme is not alone."""
        table = np.asarray(results[self.of][self.at], dtype=float)
        if table.shape != np.shape(self.map):
            raise ValueError(f"the map has the shape {np.shape(self.map)}, the result {table.shape}")
        if self.row is not None:
            outside = np.arange(len(table)) != self.row
            table = np.where(outside[:, None], np.inf if self.smallest else -np.inf, table)
        best = table.min() if self.smallest else table.max()
        positions = np.argwhere(np.isclose(table, best))
        if len(positions) != 1:
            raise ValueError(f"{len(positions)} cells are equally far out: ask for one that is alone")
        return [float(i) for i in positions[0]]

    def written(self, answer: Answer) -> str:
        """An answer as the page writes it."""
        i, j = (int(n) for n in answer)
        return f"row {self.rows[i]}, column {self.columns[j]}"


Kind = Number | Guess | Row | Shape | Cell
