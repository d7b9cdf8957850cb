"""Changes of a program, each in one place of its syntax tree, for the judge, for questions on code, and for tests."""

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
    """A part of a program in another form, the ``nth`` with its habit there; ``index`` is a slice for two lines."""

    holder: ast.AST
    field: str
    index: int | slice | None
    depth: int
    scope: Scope
    form: Form
    nth: int = 0

    @property
    def position(self) -> tuple[object, ...]:
        """The same for changes of the same part."""
        return id(self.holder), self.field, str(self.index)

    @property
    def node(self) -> Any:
        """What stands in its place now."""
        value = getattr(self.holder, self.field)
        return value if self.index is None else value[self.index]

    def replace_node(self, new: Any) -> None:
        """Let something else stand there."""
        if self.index is None:
            setattr(self.holder, self.field, new)
        else:
            getattr(self.holder, self.field)[self.index] = new


def changes(holder: ast.AST, depth: int = 0, scope: Scope | None = None) -> Iterator[Change]:
    """All changes that fit a module, in its order; students see nothing of what stands before its last definition."""
    for field, value in ast.iter_fields(holder):
        if scope is not None and holder is scope.function and field != "body":
            continue  # default values and annotations
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(child, ast.AST):
                continue
            inside, is_top = scope, isinstance(holder, ast.Module)
            if is_top and child is not value[-1]:
                inside = Scope(None, False)
            elif scope is not None or (is_top and isinstance(child, ast.FunctionDef)):
                count = Counter[str]()
                for form in forms(child, holder, scope or Scope(None, True)):
                    if any(form[1:]):
                        yield Change(holder, field, index, depth, scope or Scope(None, True), form, count[form.habit])
                        count[form.habit] += 1
                if scope and index is not None and can_change_places(*value[index : index + 2]):
                    lines = slice(index, index + 2)
                    yield Change(holder, field, lines, depth, scope, Form(value[lines][::-1], rule="order"))
            if isinstance(child, ast.FunctionDef):
                inside = Scope(inside and inside.function or child, inside is None)
            yield from changes(child, depth + 1, inside)


def applied(chosen: Sequence[Change], finished: Callable[[], T]) -> T:
    """What ``finished`` makes of a tree with changes in it, as it was afterwards; ValueError if two touch one place."""
    before: list[tuple[Change, Any]] = []
    if len({change.position for change in chosen}) < len(chosen):
        raise ValueError("two slips change the same place")
    try:
        # Inner ones first: the outer ones are then made of what has become of the inner ones.
        for change in sorted(chosen, key=lambda change: -change.depth):
            node, new_forms = change.node, [change.form]
            if len(chosen) > 1:
                again = forms(node, change.holder, change.scope)
                new_forms = [form for form in again if form.habit == change.form.habit][change.nth :]
            if not new_forms:
                raise ValueError("two slips change the same place")
            before.append((change, node))
            if isinstance(new_forms[0].after, ast.AST) and not hasattr(new_forms[0].after, "lineno"):
                ast.fix_missing_locations(ast.copy_location(new_forms[0].after, node))
            change.replace_node(new_forms[0].after)
        return finished()
    finally:
        for change, node in reversed(before):
            change.replace_node(node)


def fitting_habits(source: str) -> list[str]:
    """The habits that fit a cell, the most common first: "habit:axis-0#2" in one place, without a number in all."""
    _, by_habit = _catalogue(source)
    every = [rule for rule, some in by_habit.items() if len({change.position for change in some}) == len(some)]
    each = [f"{rule}#{n + 1}" for rule, some in by_habit.items() if len(some) > 1 for n in range(len(some))]
    rank = {rule: n for n, rule in enumerate(SAYS)}
    return [HABIT + name for name in sorted([*every, *each], key=lambda name: rank.get(rule_of(name), len(rank)))]


def make_mutant(source: str, habit_names: Sequence[str], finished: Callable[[ast.Module], T]) -> T:
    """What ``finished`` makes of a cell with habits in it; a ValueError if they do not fit."""
    tree, by_habit = _catalogue(source)
    chosen: list[Change] = []
    for habit_name in habit_names:
        rule, _, nth = habit_name.removeprefix(HABIT).partition("#")
        some = by_habit.get(rule, [])[slice(int(nth) - 1, int(nth)) if nth else slice(None)]
        if not some:
            raise ValueError(f"the habit {habit_name!r} does not fit")
        chosen += some
    return applied(chosen, lambda: finished(tree))


@lru_cache(maxsize=64)
def _catalogue(source: str) -> tuple[ast.Module, dict[str, list[Change]]]:
    tree, by_habit = ast.parse(source), dict[str, list[Change]]()
    for change in changes(tree):
        if change.form.habit:
            by_habit.setdefault(change.form.habit, []).append(change)
    return tree, by_habit
