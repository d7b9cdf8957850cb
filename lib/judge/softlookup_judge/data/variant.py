"""A task as one of its variants asks for it: questions, right answer, names, and what a notebook says of it."""

import inspect
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from softlookup_inside.asking.case import Case
from softlookup_judge.data.conventions import Convention
from softlookup_judge.data.task import Property, Task
from softlookup_judge.data.words import quoted_name


class Expression(str):
    """A constant that stands in the published solution as it is, such as where a number lies: ``rows * k + across``."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Variant:
    """One variant of a task (0 is the public one): what a check asks for, with its constants and convention."""

    task: Task
    number: int = 0
    constants: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    convention: Convention | None = field(init=False, repr=False, compare=False)
    parameters: dict[str, inspect.Parameter] = field(init=False, repr=False, compare=False)
    returns: tuple[str, ...] = field(init=False, repr=False, compare=False)
    properties: tuple[Property, ...] = field(init=False, repr=False, compare=False)
    cells: Mapping[tuple[int, ...], str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        task, every, index = self.task, self.task.conventions, self.number
        convention = every[index] if index < len(every) else None
        effective = convention or Convention()
        declared = list(task.parameters.items())
        moved = [declared[old] for old in effective.order] + declared[len(effective.order) :]
        is_turned = bool(effective.turned_results)
        facts = {
            "constants": task.variants[index],
            "convention": convention,
            "parameters": dict(moved),
            "returns": tuple(task.returns[old] for old in effective.results) or task.returns,
            "properties": () if is_turned else tuple(_under(convention, prop) for prop in task.properties),
            "cells": {} if is_turned or effective.results else task.cells,
        }
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    @cached_property
    def others(self) -> tuple["Variant", ...]:
        """The variants whose right answers are looked for in a wrong one, the published convention's first."""
        every = [variant_of(self.task, index) for index in range(len(self.task.variants)) if index != self.number]
        return tuple(other for other in every if self.convention is not None or other.convention is None)

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters, to bind arguments to."""
        return inspect.Signature(list(self.parameters.values()))

    def input_names(self, case: Case) -> list[str]:
        """What inputs are called: the oracle's names; for a layer those of sizes, parameters and its call."""
        names = list(self.parameters)
        if case.parameters:
            names = [*names[: case.sizes], *case.parameters, *self.task.called_with]
        elif len(names) < len(case.args):
            *names, last_name = names
            names += [f"{last_name}[{i}]" for i in range(len(case.args) - len(names))]
        return names[: len(case.args)]

    def result_names(self, case: Case) -> tuple[str, ...]:
        """What results are called: the task's names, gradients of inputs, or each rank's and then the traffic."""
        if case.world:
            *names, traffic = self.returns
            return (*(f"{name} of rank {rank}" for rank in range(case.world) for name in names), traffic)
        names = self.input_names(case)
        return tuple(f"the gradient of {names[i]}" for i in case.gradients) or self.returns

    def in_words(self) -> str:
        """What the convention asks for, in sentences for a student; empty where it is the published one."""
        task, convention = self.task, self.convention
        if convention is None:
            return ""
        names = list(task.parameters)
        sentences = []
        if convention.order:
            arguments = ", ".join([names[old] for old in convention.order] + names[len(convention.order) :])
            sentences.append(f"The arguments come in this order: `{task.name}({arguments})`.")
        if convention.turned:
            which = _listed([f"`{names[at]}`" for at in convention.turned])
            comes, its = ("comes", "its") if len(convention.turned) == 1 else ("come", "their")
            sentences.append(f"{which} {comes} with {its} last two axes exchanged.")
        if convention.turned_results:
            if len(task.returns) == 1:
                sentences.append("Return the result with its last two axes exchanged.")
            else:
                which = _listed([quoted_name(task.returns[at]) for at in convention.turned_results])
                its = "its" if len(convention.turned_results) == 1 else "their"
                sentences.append(f"Return {which} with {its} last two axes exchanged.")
        if convention.results:
            order = ", ".join(quoted_name(task.returns[old]) for old in convention.results)
            sentences.append(f"Return the results in this order: {order}.")
        if convention.times != 1:
            each = "each number" if len(task.returns) > 1 else "the number"
            what = f"{convention.times} {task.varies['times']} together"
            sentences.append(f"Return {each} for {what}, which is {convention.times} times as much.")
        return f"**In your notebook.** {' '.join(sentences)} All else is as described above."


def _under(convention: Convention | None, prop: Property) -> Property:
    """A property of published answers, of answers under a convention."""
    if convention is None:
        return prop
    return lambda case, arrays: prop(convention.plain(case), convention.read(arrays))


def variant_at(task: Task, index: Any) -> Variant | None:
    """The variant that somebody asks for by a number; None if there is no such variant."""
    try:
        at = operator.index(index)
    except TypeError:
        return None
    return variant_of(task, at) if 0 <= at < len(task.variants) else None


@lru_cache(maxsize=4096)
def variant_of(task: Task, index: int = 0) -> Variant:
    """A variant of a task, made once."""
    return Variant(task, index)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
