"""Whether an answer is right but for something that a student's notebook changes."""

from collections.abc import Sequence
from typing import Protocol

from softlookup.checking.compare import is_right
from softlookup.checking.inside.case import Arrays, Case
from softlookup.checking.inside.probe import TimeIsUp
from softlookup.checking.protocols import Student
from softlookup.checking.variant import Variant


class _Asked(Protocol):
    """Questions and their right answers."""

    @property
    def cases(self) -> Sequence[Case]: ...

    @property
    def rights(self) -> Sequence[Arrays]: ...


def overlooks(variant: Variant, student: Student, questions: _Asked) -> bool:
    """Whether an answer overlooks something that the notebook changes: it is right where that is as published.

    Args:
        variant: What the notebook asks for.
        student: Answers questions.
        questions: Questions of the published variant.
    """
    task, convention = variant.task, variant.convention
    valued = [pair for pair in zip(questions.cases, questions.rights, strict=True) if not pair[0].gradients]
    for partly in convention.overlooked() if convention is not None and valued else ():
        if task.frame == "text" and partly.times != 1:
            continue
        cases = [partly.convert_case(case) for case, _ in valued]
        try:
            answers = list(student.answers(cases, len(task.returns)))
        except (TimeoutError, TimeIsUp):
            return False
        if all(map(is_right, cases, answers, [partly.returned(right) for _, right in valued])):
            return True
    return False
