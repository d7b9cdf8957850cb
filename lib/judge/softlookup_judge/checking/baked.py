"""Questions, right answers and what known mistakes give, written down once: a verdict then needs no torch."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Arrays, Case
from softlookup_judge.data.prints import printed
from softlookup_judge.data.published import edited_places, fit_together
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.judging.mistake_results import MistakeResults, Pairs
from softlookup_judge.judging.oracle import of_other_variant
from softlookup_judge.judging.questions import TaskQuestions, questions_at_home

_TABLE = "questions"

_DTYPES = {
    **{f"F{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"I{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    "BOOL": np.dtype(bool),
}
"""What safetensors calls numpy's dtypes."""


class _Arrays:
    """Arrays under numbers, and what holds them as plain values."""

    def __init__(self) -> None:
        self.by_number: dict[str, np.ndarray] = {}

    def encode(self, value: Any) -> Any:
        """A value in which each array is a number, and tuples are marked, so that they differ from lists."""
        if isinstance(value, np.ndarray):
            self.by_number[str(len(self.by_number))] = np.ascontiguousarray(value)
            return {"array": len(self.by_number) - 1, "axes": value.ndim}
        if isinstance(value, list | tuple):
            return {type(value).__name__: [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"dict": [[self.encode(key), self.encode(item)] for key, item in value.items()]}
        plain = value.item() if isinstance(value, np.generic) else value
        if not isinstance(plain, str | int | float | None):
            raise TypeError(f"a {type(value).__name__} cannot be written down: use arrays, numbers, text, lists")
        return plain

    def decode(self, recorded: Any) -> Any:
        """The value again."""
        if not isinstance(recorded, dict):
            return recorded
        type_name, inside = next(iter(recorded.items()))
        if type_name == "array":
            array = self.by_number[str(inside)]
            return array if recorded["axes"] else array.reshape(())
        if type_name == "dict":
            return {self.decode(key): self.decode(item) for key, item in inside}
        items = [self.decode(item) for item in inside]
        return tuple(items) if type_name == "tuple" else items


@dataclass(frozen=True)
class Baked:
    """What was written down: questions by task id and variant, read when asked for, and ``more`` by task id."""

    questions: Mapping[tuple[str, int], TaskQuestions]
    more: dict[str, Any]


def bake(
    chosen: Iterable[Task],
    *,
    turned: Callable[[Case], Case | None] = lambda case: case,
    more: Callable[[Task], Any] = lambda task: None,
    variants: bool = True,
    pairs: bool = False,
) -> bytes:
    """Write questions at home into a safetensors file, or what ``turned`` makes of them with the same answers."""
    from safetensors.numpy import save

    arrays = _Arrays()
    rows = []
    for task in chosen:
        for index in range(len(task.variants) if variants else 1):
            variant, results = variant_of(task, index), MistakeResults()
            row = _row(variant, arrays, turned, results) | {"more": arrays.encode(more(task))}
            rows.append(row | ({"pairs": arrays.encode(_pairs(variant, results))} if pairs else {}))
    table = np.frombuffer(json.dumps(rows).encode(), np.uint8)
    return save({**arrays.by_number, _TABLE: table})


def _row(
    variant: Variant, arrays: _Arrays, turned: Callable[[Case], Case | None], results: MistakeResults
) -> dict[str, Any]:
    questions = questions_at_home(variant)
    candidates = [
        (case, turned(case), expected) for case, expected in zip(questions.cases, questions.rights, strict=True)
    ]
    remaining = [(case, other, expected) for case, other, expected in candidates if other is not None]
    valued = [case for case, _, _ in remaining if not case.gradients]
    names = [mistake.slug for mistake in variant.task.mistakes if mistake.symptom is None]
    return {
        "task": variant.task.id,
        "variant": variant.number,
        "cases": [{name: arrays.encode(value) for name, value in vars(other).items()} for _, other, _ in remaining],
        "rights": arrays.encode([expected for _, _, expected in remaining]),
        "given": {name: arrays.encode([results.by(variant, (name,), case) for case in valued]) for name in names},
        "others": {
            other.number: arrays.encode([of_other_variant(variant, other, case) for case, _, _ in remaining])
            for other in variant.others
        },
    }


def _pairs(variant: Variant, results: MistakeResults) -> tuple[list[list[str]], np.ndarray, dict[str, Any]]:
    """Pairs of mistakes with results of their own, a number for each case (see ``prints``), and mistakes' places."""
    cases = [case for case in questions_at_home(variant).cases if not case.gradients]
    names = [mistake.slug for mistake in variant.task.mistakes if mistake.symptom is None]
    positions = {name: edited_places(variant.task, name) for name in names}
    # Counts differ by little where they are large, and are few; of other results half the digits do.
    rights = [array for expected in questions_at_home(variant).rights for array in expected]
    counts = all(array.dtype.kind in "iu" or array.size < 5 for array in rights)
    dtype = np.float64 if counts else np.float32
    if any(case.is_recorded for case in cases):
        return [], np.empty((0, len(cases)), dtype), positions
    pair_names: list[list[str]] = []
    rows: dict[bytes, np.ndarray] = {}
    for some in chain.from_iterable(combinations(names, size) for size in range(3)):
        if len(some) == 2 and results.touch(variant, *some) or not fit_together(variant, some):
            continue
        every = [results.by(variant, some, case) for case in cases]
        row = np.array([np.nan if arrays is None else printed(arrays) for arrays in every], dtype)
        if row.tobytes() not in rows and not np.isnan(row).all():
            rows[row.tobytes()] = row
            pair_names += [[*some]] if len(some) == 2 else []
    table = list(rows.values())[len(rows) - len(pair_names) :]
    return pair_names, np.array(table, dtype).reshape(len(pair_names), len(cases)), positions


def read(file: bytes) -> Baked:
    """Read what ``bake`` wrote: questions by task and variant, and what stands beside them."""
    arrays = _Arrays()
    # safetensors' own reader is compiled, and is not there in a page of the book.
    arrays.by_number = _Stored(file)
    rows = json.loads(arrays.by_number[_TABLE].tobytes())
    return Baked(
        _Questions({(row["task"], row["variant"]): row for row in rows}, arrays),
        {row["task"]: arrays.decode(row["more"]) for row in rows},
    )


class _Questions(Mapping[tuple[str, int], TaskQuestions]):
    """Questions by task and variant. A reader does one task of a notebook first: those of others need not be read."""

    def __init__(self, rows: Mapping[tuple[str, int], Mapping[str, Any]], arrays: _Arrays) -> None:
        self._rows, self._arrays = rows, arrays
        self._made: dict[tuple[str, int], TaskQuestions] = {}

    def __getitem__(self, key: tuple[str, int]) -> TaskQuestions:
        if key not in self._made:
            self._made[key] = _questions(self._rows[key], self._arrays)
        return self._made[key]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _questions(row: Mapping[str, Any], arrays: _Arrays) -> TaskQuestions:
    cases = tuple(Case(**{name: arrays.decode(value) for name, value in case.items()}) for case in row["cases"])
    valued = [case for case in cases if not case.gradients]
    mistakes: dict[tuple[tuple[str, ...], int], Arrays | None] = {
        ((name,), id(case)): results
        for name, recorded in row["given"].items()
        for case, results in zip(valued, arrays.decode(recorded), strict=True)
    }
    variants = {
        (int(index), id(case)): results
        for index, recorded in row["others"].items()
        for case, results in zip(cases, arrays.decode(recorded), strict=True)
    }
    columns = {id(case): at for at, case in enumerate(valued)}
    pairs = None
    if "pairs" in row:
        pair_names, numbers, positions = arrays.decode(row["pairs"])
        pairs = Pairs(pair_names, numbers, columns, positions)
    results = MistakeResults(mistakes, variants, computes=False, pairs=pairs)
    return TaskQuestions(cases, tuple(arrays.decode(row["rights"])), results)


class _Stored(dict[str, np.ndarray]):
    """The arrays of a safetensors file, each made when it is asked for."""

    def __init__(self, file: bytes) -> None:
        super().__init__()
        self._begin = 8 + int.from_bytes(file[:8], "little")
        self._file, self._entries = file, json.loads(file[8 : self._begin])

    def __missing__(self, name: str) -> np.ndarray:
        entry = self._entries[name]
        begin, end = entry["data_offsets"]
        data = self._file[self._begin + begin : self._begin + end]
        self[name] = np.frombuffer(data, _DTYPES[entry["dtype"]]).reshape(entry["shape"])
        return self[name]
