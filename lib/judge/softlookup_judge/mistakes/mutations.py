"""Changes of a program, each in one place of its syntax tree: a part in another form, a line gone, two lines turned.

The judge plants them in a published solution to name a mistake (``slips``, ``planted``), questions on code ask what
they do (``student_function.py``), and the project's tests try them. Which there are says ``mutation_kinds.py``, the
words for them ``habits.py``.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from softlookup_judge.mistakes.habits import HABIT, SAYS, rule_of
from softlookup_judge.mistakes.mutation_kinds import Form, forms
from softlookup_judge.mistakes.scopes import Scope, can_change_places

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Change:
    """A part of a program in another form.

    Attributes:
        holder: What it is a part of.
        field: Of which of its fields.
        number: Which item of that, where it is a list; a slice for two lines that change places.
        depth: How many parts hold it.
        scope: The function around it.
        form: What becomes of it, and how that is called.
        nth: Which of those with its habit at its place.
    """

    holder: ast.AST
    field: str
    number: int | slice | None
    depth: int
    scope: Scope
    form: Form
    nth: int = 0

    @property
    def place(self) -> tuple[object, ...]:
        """The same for changes of the same part."""
        return id(self.holder), self.field, str(self.number)

    @property
    def node(self) -> Any:
        """What stands in its place now."""
        value = getattr(self.holder, self.field)
        return value if self.number is None else value[self.number]

    def replace_node(self, new: Any) -> None:
        """Let something else stand there."""
        if self.number is None:
            setattr(self.holder, self.field, new)
        else:
            getattr(self.holder, self.field)[self.number] = new


def changes(holder: ast.AST, depth: int = 0, scope: Scope | None = None) -> Iterator[Change]:
    """All changes that fit a program, in its order.

    Args:
        holder: A module: a function or class, and before it what it uses, of which students see nothing.
        depth: How many parts hold it.
        scope: The function around it.
    """
    for field, value in ast.iter_fields(holder):
        if scope is not None and holder is scope.function and field != "body":
            continue  # default values and annotations
        for number, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST):
                continue
            inside, is_top = scope, isinstance(holder, ast.Module)
            if is_top and child is not value[-1]:
                inside = Scope(None, False)
            elif scope is not None or (is_top and isinstance(child, ast.FunctionDef)):
                count = Counter[str]()
                for form in forms(child, holder, scope or Scope(None, True)):
                    if any(form[1:]):
                        yield Change(holder, field, number, depth, scope or Scope(None, True), form, count[form.habit])
                        count[form.habit] += 1
                if scope and number is not None and can_change_places(*value[number : number + 2]):
                    lines = slice(number, number + 2)
                    yield Change(holder, field, lines, depth, scope, Form(value[lines][::-1], rule="order"))
            if isinstance(child, ast.FunctionDef):
                inside = Scope(inside and inside.function or child, inside is None)
            yield from changes(child, depth + 1, inside)


def applied(chosen: Sequence[Change], finished: Callable[[], T]) -> T:
    """What is made of a program with changes in it; its tree is as it was afterwards.

    Args:
        chosen: Changes of one tree.
        finished: Makes something of the tree.

    Raises:
        ValueError: If two of them change the same place.
    """
    before: list[tuple[Change, Any]] = []
    if len({change.place for change in chosen}) < len(chosen):
        raise ValueError("two slips change the same place")
    try:
        # Inner ones first: the outer ones are then made of what has become of the inner ones.
        for change in sorted(chosen, key=lambda change: -change.depth):
            node, made = change.node, [change.form]
            if len(chosen) > 1:
                again = forms(node, change.holder, change.scope)
                made = [form for form in again if form.habit == change.form.habit][change.nth :]
            if not made:
                raise ValueError("two slips change the same place")
            before.append((change, node))
            if isinstance(made[0].after, ast.AST) and not hasattr(made[0].after, "lineno"):
                ast.fix_missing_locations(ast.copy_location(made[0].after, node))
            change.replace_node(made[0].after)
        return finished()
    finally:
        for change, node in reversed(before):
            change.replace_node(node)


def slips(source: str) -> list[str]:
    """The habits that fit a solution.

    Args:
        source: The cell of an answer.

    Returns:
        Their names, the most common first. A name with a number ("habit:axis-0#2") is the slip in one place; one
        without, the same slip in all places where it fits.
    """
    _, by_habit = _catalogue(source)
    every = [rule for rule, some in by_habit.items() if len({change.place for change in some}) == len(some)]
    each = [f"{rule}#{n + 1}" for rule, some in by_habit.items() if len(some) > 1 for n in range(len(some))]
    rank = {rule: n for n, rule in enumerate(SAYS)}
    return [HABIT + name for name in sorted([*every, *each], key=lambda name: rank.get(rule_of(name), len(rank)))]


def planted(source: str, slugs: Sequence[str], finished: Callable[[ast.Module], T]) -> T:
    """What is made of a solution with habits in it.

    Args:
        source: The cell of an answer.
        slugs: The habits, as ``slips`` gives them for this source.
        finished: Makes something of the tree, which is as it was afterwards.

    Raises:
        ValueError: If one of them does not fit, or two change the same place.
    """
    tree, by_habit = _catalogue(source)
    chosen: list[Change] = []
    for slug in slugs:
        rule, _, number = slug.removeprefix(HABIT).partition("#")
        some = by_habit.get(rule, [])[slice(int(number) - 1, int(number)) if number else slice(None)]
        if not some:
            raise ValueError(f"the habit {slug!r} does not fit")
        chosen += some
    return applied(chosen, lambda: finished(tree))


@lru_cache(maxsize=64)
def _catalogue(source: str) -> tuple[ast.Module, dict[str, list[Change]]]:
    tree, by_habit = ast.parse(source), dict[str, list[Change]]()
    for change in changes(tree):
        if change.form.habit:
            by_habit.setdefault(change.form.habit, []).append(change)
    return tree, by_habit
