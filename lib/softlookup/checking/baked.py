"""Questions, right answers and what known mistakes give, written down once: a verdict then needs no torch.

What is computed here with torch is read back where torch is not, and judged by the same code. Pairs of mistakes are
left out: there are a hundred for each task.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from softlookup.checking.diagnose import Given
from softlookup.checking.inside.case import Arrays, Case
from softlookup.checking.judge import HOME_SEED, TaskQuestions, questions
from softlookup.checking.oracle import mistaken, wanted
from softlookup.checking.registry import tasks
from softlookup.checking.task import Task

_TABLE = "questions"


class _Arrays:
    """Arrays under numbers, and what holds them as plain values."""

    def __init__(self) -> None:
        self.held: dict[str, np.ndarray] = {}

    def put(self, value: Any) -> Any:
        """A value in which each array is a number, and tuples are marked, so that they differ from lists."""
        if isinstance(value, np.ndarray):
            self.held[str(len(self.held))] = np.ascontiguousarray(value)
            return {"array": len(self.held) - 1, "axes": value.ndim}
        if isinstance(value, list | tuple):
            return {type(value).__name__: [self.put(one) for one in value]}
        if isinstance(value, dict):
            return {"dict": [[self.put(key), self.put(one)] for key, one in value.items()]}
        return value.item() if isinstance(value, np.generic) else value

    def take(self, recorded: Any) -> Any:
        """The value again."""
        if not isinstance(recorded, dict):
            return recorded
        kind, inside = next(iter(recorded.items()))
        if kind == "array":
            array = self.held[str(inside)]
            return array if recorded["axes"] else array.reshape(())
        if kind == "dict":
            return {self.take(key): self.take(one) for key, one in inside}
        items = [self.take(one) for one in inside]
        return tuple(items) if kind == "tuple" else items


def bake(chapter: int) -> bytes:
    """Write down a notebook's questions at home, in all variants.

    Args:
        chapter: The notebook's number.

    Returns:
        A safetensors file.
    """
    arrays = _Arrays()
    rows = [_row(task, variant, arrays) for task in tasks(chapter) for variant in range(len(task.variants))]
    table = np.frombuffer(json.dumps(rows).encode(), np.uint8)
    return save({**arrays.held, _TABLE: table})


def _row(task: Task, variant: int, arrays: _Arrays) -> dict[str, Any]:
    asked = questions(task, HOME_SEED, variant)
    valued = [case for case in asked.cases if not case.gradients]
    slugs = [one.slug for one in task.mistakes if one.symptom is None]
    others = [number for number in range(len(task.variants)) if number != variant]
    return {
        "task": task.id,
        "variant": variant,
        "cases": [{name: arrays.put(one) for name, one in vars(case).items()} for case in asked.cases],
        "rights": arrays.put(list(asked.rights)),
        "given": {slug: arrays.put([mistaken(task, (slug,), case, variant) for case in valued]) for slug in slugs},
        "others": {
            number: arrays.put([wanted(task, case, task.variants[number]) for case in asked.cases]) for number in others
        },
    }


def read(file: bytes) -> dict[tuple[str, int], TaskQuestions]:
    """Read what ``bake`` wrote.

    Args:
        file: The file.

    Returns:
        The questions of each task and variant, for ``judge(task, student, asked=...)``.
    """
    arrays = _Arrays()
    arrays.held = load(file)
    rows = json.loads(arrays.held.pop(_TABLE).tobytes())
    return {(row["task"], row["variant"]): _questions(row, arrays) for row in rows}


def _questions(row: Mapping[str, Any], arrays: _Arrays) -> TaskQuestions:
    cases = tuple(Case(**{name: arrays.take(one) for name, one in case.items()}) for case in row["cases"])
    valued = [case for case in cases if not case.gradients]
    mistakes: dict[tuple[tuple[str, ...], int], Arrays | None] = {
        ((slug,), id(case)): one
        for slug, recorded in row["given"].items()
        for case, one in zip(valued, arrays.take(recorded), strict=True)
    }
    variants = {
        (int(number), id(case)): one
        for number, recorded in row["others"].items()
        for case, one in zip(cases, arrays.take(recorded), strict=True)
    }
    return TaskQuestions(cases, tuple(arrays.take(row["rights"])), Given(mistakes, variants, computes=False))
