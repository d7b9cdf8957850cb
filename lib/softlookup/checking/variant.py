"""A task as one of its variants asks for it: questions, right answer, names, and what a notebook says of it."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from softlookup.checking.conventions import Convention, turned
from softlookup.checking.inside.case import Case
from softlookup.checking.task import Property, Task
from softlookup.checking.words import named


@dataclass(frozen=True)
class Variant:
    """One variant of a task: what a check asks for, with the constants and the convention of a student's notebook.

    Attributes:
        task: The task.
        number: Which of its variants; number 0 is the public one.
    """

    task: Task
    number: int = 0

    @property
    def constants(self) -> Mapping[str, Any]:
        """The constants by name."""
        return self.task.variants[self.number]

    @property
    def convention(self) -> Convention | None:
        """How the function differs from the published one; None where it does not."""
        every = self.task.conventions
        return every[self.number] if self.number < len(every) else None

    @cached_property
    def others(self) -> tuple["Variant", ...]:
        """The variants whose right answers are looked for in a wrong one.

        Under the published convention these are the ones with other constants; else all, the published one first.
        """
        every = [Variant(self.task, number) for number in range(len(self.task.variants)) if number != self.number]
        return tuple(other for other in every if self.convention is not None or other.convention is None)

    def cases(self, rng: Any) -> list[Case]:
        """Draw the questions."""
        cases = self.task.cases(rng, **self.constants)
        return cases if self.convention is None else [self.convention.convert_case(case) for case in cases]

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """What a student's function is given, in its order: without the constants."""
        declared = list(self.task.parameters.items())
        order = self.convention.order if self.convention is not None else ()
        return dict([declared[old] for old in order] + declared[len(order) :])

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.Signature(list(self.parameters.values()))

    def oracle(self, *args: Any, **named: Any) -> Any:
        """The right answer to arguments that are given as this variant asks for them.

        Args:
            args: The arguments, in the order of ``parameters``.
            named: Arguments by name.

        Returns:
            The result; a tuple where there are several.
        """
        right = self.convention
        if right is None:
            return self.task.oracle(*args, **named, **self.constants)
        published = list(self.task.parameters)
        exchanged = {published[at] for at in right.turned}
        bound = self._signature.bind(*args, **named).arguments
        published_args = {name: turned(value) if name in exchanged else value for name, value in bound.items()}
        result = self.task.oracle(**published_args, **self.constants)
        many = right.returned(result if isinstance(result, tuple) else (result,))
        return many if isinstance(result, tuple) else many[0]

    @cached_property
    def properties(self) -> tuple[Property, ...]:
        """What every answer must fulfil."""
        right = self.convention
        if right is None:
            return self.task.properties

        def seen(prop: Property) -> Property:
            return lambda case, arrays: prop(right.plain(case), right.read(arrays))

        return () if right.turned_results else tuple(map(seen, self.task.properties))

    @property
    def returns(self) -> tuple[str, ...]:
        """Names of the results, in the order in which they are returned."""
        order = self.convention.results if self.convention is not None else ()
        return tuple(self.task.returns[old] for old in order) or self.task.returns

    @property
    def cells(self) -> Mapping[tuple[int, ...], str]:
        """Sentences on cells of the published result, where it has its places under this convention, too."""
        right = self.convention
        return {} if right is not None and (right.turned_results or right.results) else self.task.cells

    def input_names(self, case: Case) -> list[str]:
        """What a question's inputs are called.

        Returns:
            A name for each of its arguments: the oracle's, which are those of the published function; for a layer the
            names of its sizes, its parameters, and what it is called with.
        """
        names = list(self.parameters)
        if case.parameters:
            names = [*names[: case.sizes], *case.parameters, *self.task.called_with]
        elif len(names) < len(case.args):
            *names, rest = names
            names += [f"{rest}[{i}]" for i in range(len(case.args) - len(names))]
        return names[: len(case.args)]

    def result_names(self, case: Case) -> tuple[str, ...]:
        """What a question's results are called.

        Returns:
            The task's names, or those of the inputs whose gradients are asked for.
        """
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
                which = _listed([named(task.returns[at]) for at in convention.turned_results])
                its = "its" if len(convention.turned_results) == 1 else "their"
                sentences.append(f"Return {which} with {its} last two axes exchanged.")
        if convention.results:
            order = ", ".join(named(task.returns[old]) for old in convention.results)
            sentences.append(f"Return the results in this order: {order}.")
        if convention.times != 1:
            each = "each number" if len(task.returns) > 1 else "the number"
            what = f"{convention.times} {task.varies['times']} together"
            sentences.append(f"Return {each} for {what}, which is {convention.times} times as much.")
        return f"**In your notebook.** {' '.join(sentences)} All else is as described above."


@lru_cache(maxsize=4096)
def variant_of(task: Task, number: int = 0) -> Variant:
    """A variant of a task, made once."""
    return Variant(task, number)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
