"""Chooses the questions of a sheet: of several tasks and kinds, and as hard for one student as for all others."""

from collections import Counter
from collections.abc import Sequence
from math import ceil

from softlookup_course.viva.questions import CHECK, EDIT, PLACE, RESULT, SHAPE, YOURS, VivaQuestion
from softlookup_course.viva.shown import STOPS

MIDDLE = 2
"""The difficulty that the questions of a sheet have on average, from 1 to 3."""

_SHARES = {RESULT: 0.6, CHECK: 0.4, EDIT: 0.4, SHAPE: 0.2, PLACE: 0.2}
"""How much of a sheet one kind may be at most."""

_YOURS = 0.4
"""How much of a sheet asks which version is the student's, where there are such questions. In a trial they alone told
authors from readers, but readers chose right three times in four, and honest authors may forget (book,
instructors_assistants.html)."""

_STOPPING = 0.2
_LIKING = 0.2
"""What one more point of liking is worth, in points of difficulty."""


def choose(
    questions: Sequence[VivaQuestion], count: int, before: Sequence[VivaQuestion] = (), *, at_any_rate: bool = True
) -> list[VivaQuestion]:
    """Choose questions for a sheet.

    Args:
        questions: All that there are, in an order that was drawn.
        count: How many the sheet is to have.
        before: Those that stand on it already.
        at_any_rate: Whether kinds and tasks may come too often where there are no others.

    Returns:
        All that stand on it then, in the order of the tasks: no edit twice, no kind and no task too often, with a
        difficulty of 2 on average as nearly as it can be had; fewer where there are no more.
    """
    sheets = []
    for versions in range(round(_YOURS * count), -1, -1):
        sheet = _filled(questions, count, before, versions, at_any_rate)
        if len(sheet) == count:
            return sheet
        sheets.append(sheet)
    return max(sheets, key=len)


def _filled(
    questions: Sequence[VivaQuestion], count: int, before: Sequence[VivaQuestion], versions: int, at_any_rate: bool
) -> list[VivaQuestion]:
    """A sheet with at most so many questions that ask for a version: these are chosen first, as few others fit them."""
    chosen = list(before)
    asked_for = [question for question in questions if question.kind == YOURS]
    others = [question for question in questions if question.kind != YOURS]
    while sum(question.kind == YOURS for question in chosen) < versions:
        available = [question for question in asked_for if _may(question, chosen, count, True)]
        if not available:
            break
        # Forms were guessed a little more often than which steps have names (20 of 25, and 78 of 109).
        chosen.append(
            min(available, key=lambda each: (bool(each.varies), -len(_tasks_beside([*chosen, each], others))))
        )
    for strict in (True, False)[: 1 + at_any_rate]:
        while len(chosen) < count:
            available = [question for question in others if _may(question, chosen, count, strict)]
            if not available:
                break
            chosen.append(min(available, key=lambda question: _cost(question, chosen)))
    return sorted(chosen, key=lambda question: (question.task, question.difficulty))


def _tasks_beside(chosen: Sequence[VivaQuestion], others: Sequence[VivaQuestion]) -> set[str]:
    """The tasks on which there still are questions that give away none of the chosen ones."""
    return {other.task for other in others if not any(_gives_away(other, question) for question in chosen)}


def _gives_away(question: VivaQuestion, other: VivaQuestion) -> bool:
    """Whether one of two questions shows how the student wrote what the other asks for."""
    if YOURS not in (question.kind, other.kind):
        return False
    if question.task == other.task:
        return True
    return any(set(first.varies) & set(second.shows) for first, second in ((question, other), (other, question)))


def _may(question: VivaQuestion, chosen: Sequence[VivaQuestion], count: int, strict: bool) -> bool:
    if any(question.about == other.about or question == other or _gives_away(question, other) for other in chosen):
        return False
    if not strict:
        return True
    kinds, tasks = Counter(other.kind for other in chosen), {other.task for other in chosen}
    stopping = sum(_stops(other) for other in chosen)
    return (
        kinds[question.kind] < ceil(_SHARES.get(question.kind, 1) * count)
        and question.task not in tasks
        and (not _stops(question) or stopping < ceil(_STOPPING * count))
    )


def _cost(question: VivaQuestion, chosen: Sequence[VivaQuestion]) -> float:
    """How far a question would take the sheet from what it should be; the first of several equal ones is taken."""
    total = question.difficulty + sum(other.difficulty for other in chosen)
    again = sum(other.task == question.task for other in chosen) + sum(other.kind == question.kind for other in chosen)
    again += _stops(question)  # that a line raises an exception is soon guessed
    return abs(total - MIDDLE * (len(chosen) + 1)) + 0.5 * again - _LIKING * question.liking


def _stops(question: VivaQuestion) -> bool:
    return question.options[question.key] == STOPS


def difficulty(questions: Sequence[VivaQuestion]) -> float:
    """How hard a sheet is: the mean of its questions, from 1 to 3."""
    return sum(question.difficulty for question in questions) / len(questions)
