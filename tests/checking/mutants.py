"""Mutants of the published solutions: all changes of the library's engine that tests try, each as a source."""

import ast
from dataclasses import dataclass
from importlib import import_module

from softlookup_judge.mistakes.mutations import applied, changes


@dataclass(frozen=True)
class Mutant:
    """A changed solution: what was changed, the statement as it is now ("" if it was dropped), and the whole source."""

    task_id: str
    what: str
    line: str
    source: str


def mutants(task_id: str, source: str) -> list[Mutant]:
    """All mutants of one solution, in the order of the source; the unchanged one is not among them."""
    tree = ast.parse(source)
    plain = ast.unparse(tree)
    by_source: dict[str, Mutant] = {}
    for change in changes(tree):
        if change.form.is_tried and change.scope.function:
            node, after = change.node, change.form.after
            what = f"line {getattr(node, 'lineno', 0)}: {_text(node)} -> {_text(after)}"
            changed = applied([change], lambda: ast.unparse(tree))
            if changed != plain:
                line = "" if isinstance(after, ast.Pass) else _changed_line(plain, changed)
                by_source.setdefault(changed, Mutant(task_id, what, line, changed))
    return list(by_source.values())


def right_mutants(chapter: int) -> list[tuple[str, str, str]]:
    """A chapter's mutants that are right: task, statement and reason, one for each word that goes into braces."""
    return [
        (task_id, line.replace("{}", word), why)
        for task_id, line, why, *words in import_module(f"equal_mutants_{chapter:02d}").EQUAL
        for word in (words[0].split("; ") if words else ["{}"])
    ]


def _text(node: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(node))


def _changed_line(before: str, after: str) -> str:
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((new.strip() for old, new in pairs if old != new), "")
