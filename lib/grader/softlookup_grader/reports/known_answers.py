"""Answers that were there before: the published solutions, what the check shows as help, hand-ins of earlier years.

Compared is the structure, without names, comments, layout and numbers. It is a hint for a person, never a grade.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from softlookup_grader.course.notebooks import BadNotebook, grade_id, read_notebook, task_id
from softlookup_grader.reports.similarity import Cells, Tokens, cells_of, code_tokens, own_tokens, runs_of
from softlookup_judge.checking.catalogue import Catalogue, UnknownTask
from softlookup_judge.data.published import solution
from softlookup_judge.data.variant import variant_of

LONG = 40  # tokens of an answer from which on it counts: shorter ones have few ways to be written

SAME = 0.5
"""Two answers are the same if so large a part of the runs of tokens of the longer one is in the other, too.

None of some 570 independent right answers is so near the published one, and most published ones are still recognised
after each result has been given another name on a line of its own (tests/checking/test_known_answers.py).
"""

MANY = 3  # a submission is reported from so many answers on that are the same as known ones

PUBLISHED = "the published solution"
SHOWN = "the other solution that the check shows"


@dataclass(frozen=True)
class KnownAnswers:
    """A submission whose answers were there before."""

    student: str
    source: str  # where they were, such as ``PUBLISHED`` or an earlier submission's file
    cells: tuple[str, ...]  # the answers' cells, in the order of the notebook
    known_texts: tuple[str, ...]  # the known text of each of these cells
    of: int  # how many answers of this submission are long enough to count

    def as_json(self) -> dict[str, Any]:
        """The finding for a JSON file."""
        return {"student": self.student, "source": self.source, "cells": list(self.cells), "of": self.of}


def known_answers(
    submissions: Mapping[str, Cells], released: Mapping[str, Tokens], catalogue: Catalogue, earlier: Iterable[Path] = ()
) -> list[KnownAnswers]:
    """Find submissions with many answers that are published, shown as help, or handed in before; most answers first."""
    public = {cell: public_answers(task_id(cell), tokens, catalogue) for cell, tokens in released.items()}
    findings = []
    old = {str(path): _read(path, released) for path in earlier}
    for student, cells in submissions.items():
        long = {cell: _structure(tokens) for cell, tokens in cells.items() if len(tokens) >= LONG}
        for source in (PUBLISHED, SHOWN):
            same = tuple(
                c for c, structure in long.items() if source in public[c] and alike(structure, public[c][source])
            )
            if len(same) >= MANY:
                known_texts = tuple(public_texts(task_id(c), catalogue)[source] for c in same)
                findings.append(KnownAnswers(student, source, same, known_texts, len(long)))
        fresh = {
            c: structure
            for c, structure in long.items()
            if not any(alike(structure, text) for text in public[c].values())
        }
        for name, (answers, texts) in old.items():
            same = tuple(
                c for c, structure in fresh.items() if c in answers and alike(structure, _structure(answers[c]))
            )
            if len(same) >= MANY:
                findings.append(KnownAnswers(student, name, same, tuple(texts[c] for c in same), len(long)))
    return sorted(findings, key=lambda finding: (-len(finding.cells), finding.student, finding.source))


def alike(first: Tokens, second: Tokens) -> bool:
    """Whether two answers are the same but for names and numbers."""
    first_runs, second_runs = runs_of(first), runs_of(second)
    return len(first_runs & second_runs) >= SAME * max(len(first_runs), len(second_runs))


def public_texts(task_id: str, catalogue: Catalogue) -> dict[str, str]:
    """A task's answers that anybody can read, by where; none for what is no task of the course."""
    try:
        task = catalogue.task(task_id)
        texts = {PUBLISHED: solution(variant_of(task)), SHOWN: task.notebook.help_texts(task_id).other}
    except (UnknownTask, ValueError, KeyError):
        return {}
    return {source: text for source, text in texts.items() if text}


@cache
def public_answers(task: str, released: Tokens, catalogue: Catalogue) -> dict[str, Tokens]:
    """The structures of a task's public answers, less what the release gives."""
    texts = public_texts(task, catalogue).items()
    return {source: _structure(own_tokens(code_tokens(text), released)) for source, text in texts}


def answer_texts(notebook: Any) -> dict[str, str]:
    """The text of each named cell of a notebook."""
    return {grade_id(cell): cell.source for cell in notebook.cells if grade_id(cell)}


def _read(path: Path, released: Mapping[str, Tokens]) -> tuple[Cells, dict[str, str]]:
    """The answers of an earlier notebook, as tokens and as texts, by cells' keys; none where it cannot be read."""
    keys = {key.rpartition("/")[2]: key for key in released if "/" not in key or key.startswith(f"{path.stem}/")}
    try:
        notebook = read_notebook(path)
    except (BadNotebook, OSError):
        return {}, {}
    tokens = cells_of(notebook, {cell: released[key] for cell, key in keys.items()})
    texts = answer_texts(notebook)
    return {keys[cell]: words for cell, words in tokens.items()}, {keys[cell]: texts[cell] for cell in tokens}


def _structure(tokens: Tokens) -> Tokens:
    """The tokens with all numbers made the same."""
    return tuple("0" if token[0].isdigit() else token for token in tokens)
