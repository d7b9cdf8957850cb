"""A task as one of its variants asks for it, and what a notebook says of it."""

import inspect
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from softlookup.checking.conventions import Convention, turned
from softlookup.checking.inside.case import Case
from softlookup.checking.task import Property, Task
from softlookup.checking.words import named


def convention_of(task: Task, variant: int) -> Convention | None:
    """The convention of a variant; None where it keeps the published one."""
    every = (task.published or task).conventions
    return every[variant] if variant < len(every) else None


@cache
def under(task: Task, variant: int) -> Task:
    """A task as one of its variants asks for it: with the questions, right answers and names of its convention.

    Args:
        task: The task, or one that this function gave.
        variant: Which variant.

    Returns:
        The task itself where the variant keeps the published convention.
    """
    base = task.published or task
    right = convention_of(task, variant)
    if right is None:
        return base

    def cases(rng: Any, **constants: Any) -> list[Case]:
        return [right.asked(case) for case in base.cases(rng, **constants)]

    declared = list(inspect.signature(base.oracle).parameters.values())
    moved = [declared[old] for old in right.order] + declared[len(right.order) :]
    signature = inspect.Signature(moved)
    given_names = [one.name for one in declared if one.name not in base.variants[0]]

    def oracle(*args: Any, **named: Any) -> Any:
        bound = signature.bind(*args, **named).arguments
        exchanged = {given_names[at] for at in right.turned}
        own = {name: turned(value) if name in exchanged else value for name, value in bound.items()}
        result = base.oracle(**own)
        many = right.returned(result if isinstance(result, tuple) else (result,))
        return many if isinstance(result, tuple) else many[0]

    oracle.__signature__ = signature  # type: ignore[attr-defined]

    def seen(prop: Property) -> Property:
        return lambda case, arrays: prop(right.plain(case), right.read(arrays))

    # Sentences on rows and cells name places of the published result, which are others where axes are exchanged.
    return replace(
        base,
        published=base,
        cases=cases,
        oracle=oracle,
        properties=() if right.turned_results else tuple(map(seen, base.properties)),
        returns=tuple(base.returns[old] for old in right.results) or base.returns,
        cells={} if right.turned_results or right.results else base.cells,
    )


def in_words(task: Task, variant: int) -> str:
    """What a variant's convention asks for, in sentences for a student; empty where it is the published one."""
    base, convention = task.published or task, convention_of(task, variant)
    if convention is None:
        return ""
    names = list(base.parameters)
    said = []
    if convention.order:
        given = ", ".join([names[old] for old in convention.order] + names[len(convention.order) :])
        said.append(f"The arguments come in this order: `{base.name}({given})`.")
    if convention.turned:
        which = _listed([f"`{names[at]}`" for at in convention.turned])
        comes, its = ("comes", "its") if len(convention.turned) == 1 else ("come", "their")
        said.append(f"{which} {comes} with {its} last two axes exchanged.")
    if convention.turned_results:
        if len(base.returns) == 1:
            said.append("Return the result with its last two axes exchanged.")
        else:
            which = _listed([named(base.returns[at]) for at in convention.turned_results])
            its = "its" if len(convention.turned_results) == 1 else "their"
            said.append(f"Return {which} with {its} last two axes exchanged.")
    if convention.results:
        said.append(
            f"Return the results in this order: {', '.join(named(base.returns[old]) for old in convention.results)}."
        )
    if convention.times != 1:
        each = "each number" if len(base.returns) > 1 else "the number"
        what = f"{convention.times} {base.varies['times']} together"
        said.append(f"Return {each} for {what}, which is {convention.times} times as much.")
    return f"**In your notebook.** {' '.join(said)} All else is as described above."


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
