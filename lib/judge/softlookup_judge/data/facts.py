"""Tasks where neither oracles nor solutions are: what is written down of them; stand-ins that look results up."""

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from softlookup_judge.data import words
from softlookup_judge.data.task import Mistake, Prepared, Task

_NAMES = ("id", "name", "title", "points", "minutes", "difficulty", "anchor", "page", "frame", "reveals", "lends")
_TUPLES = ("returns", "called_with", "forbids")


def facts_of(task: Task) -> dict[str, Any]:
    """All that is said of a task, for ``task_from``: plain values."""
    return {
        **{name: getattr(task, name) for name in (*_NAMES, *_TUPLES, "parts", "cells")},
        "variants": len(task.variants),
        "parameters": [*task.parameters],
        "mistakes": [
            [mistake.slug, mistake.says, mistake.number, mistake.symptom, mistake.anchor] for mistake in task.mistakes
        ],
        "properties": [prop.__name__ for prop in task.properties if prop.__module__ == words.__name__],
    }


def task_from(facts: Mapping[str, Any], prepared: Prepared | None = None) -> Task:
    """Make a task of what ``facts_of`` gave: it can be judged with the questions in ``prepared``, and draws none."""
    tuples: dict[str, Any] = {name: tuple(facts[name]) for name in _TUPLES}
    return Task(
        **{name: facts[name] for name in (*_NAMES, "parts", "cells")},
        **tuples,
        prepared=prepared,
        cases=_elsewhere,
        oracle=_with_parameters(facts["parameters"]),
        variants=({},) * facts["variants"],
        properties=tuple(getattr(words, name) for name in facts["properties"]),
        mistakes=tuple(
            Mistake(name, says, misconception, symptom=symptom, anchor=anchor)
            for name, says, misconception, symptom, anchor in facts["mistakes"]
        ),
    )


def _elsewhere(*args: Any, **kwargs: Any) -> NoReturn:
    raise RuntimeError("here are the answers to the questions that were written down, and to no others")


def _with_parameters(names: Sequence[str]) -> Callable[..., Any]:
    """A function that declares these parameters: verdicts call inputs by their names."""

    def oracle(*args: Any, **kwargs: Any) -> NoReturn:
        _elsewhere()

    parameter_kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    oracle.__signature__ = inspect.Signature([inspect.Parameter(name, parameter_kind) for name in names])  # type: ignore[attr-defined]
    return oracle


def by_table(task: Task, calls: Sequence[Sequence[Any]], missed: Callable[[], Any]) -> Callable[..., Any]:
    """A reference function for the questions of one later task: it looks calls up, and calls ``missed`` for others."""
    known = [(args, result) for name, args, result in calls if name == task.id]
    count = len(task.parameters)

    def call(*args: Any, **kwargs: Any) -> Any:
        arguments = [*args, *kwargs.values()][:count]
        for expected, result in known:
            if len(arguments) == len(expected) and all(map(_alike, arguments, expected)):
                return copy.deepcopy(result)
        missed()
        raise LookupError(f"the page has no stand-in for this call of `{task.name}`")

    return call


def _alike(argument: Any, expected: Any) -> bool:
    """Whether two arguments are the same up to rounding."""
    if not isinstance(expected, np.ndarray):
        return not isinstance(argument, np.ndarray) and bool(argument == expected)
    argument = np.asarray(argument)
    if argument.shape != expected.shape:
        return False
    if expected.dtype.kind == "b" or argument.dtype.kind == "b":
        return bool(np.array_equal(argument, expected))
    return bool(np.allclose(argument, expected, rtol=1e-5, atol=1e-7, equal_nan=True))
