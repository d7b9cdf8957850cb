"""The two sides of a check, for front ends of other people: who answers, and who judges.

A front end brings a ``Student``: something that runs an answer, in its own process, in another one, or in a page. It
hands it to a ``Judge`` with what is asked, and shows the result. Of this library's own, ``local.LocalStudent`` calls a
function, ``grading.judging.remote.Remote`` asks a sandbox, and ``judge.judge`` judges for all of them.

>>> import numpy as np
>>> from softlookup_judge import Answer, get_task
>>> from softlookup_judge.checking.judge import judge
>>> from softlookup_judge.data.variant import variant_of
>>> class Constant:
...     '''Answers every question with 1.'''
...     def answers(self, cases, results, lent=()):
...         return (Answer((np.array(1.0),) * results) for _ in cases)
...     def lendable(self, sound_too=False):
...         return ()
...     def differed(self, at):
...         return False
>>> judge(variant_of(get_task("04.spread")), Constant()).verdict
'wrong'
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.data.result import CheckResult
from softlookup_judge.data.variant import Variant


class Student(Protocol):
    """What runs an answer: a function in this process, a submission in a sandbox, a page of the book.

    It is never told a right answer. A judge may ask several rounds; whatever the answer does, the methods return.
    """

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """Answer questions, in their order.

        Args:
            cases: The questions. Their float arrays are float32 or float64; ``case.frame`` says whether the function
                is handed torch's tensors, numpy's arrays, plain values or text.
            results: How many results the function has: an answer's arrays are so many.
            lent: Ids of earlier tasks of the notebook; meanwhile, sound functions stand in for the student's own.

        Yields:
            One ``Answer`` for each question: the arrays as they came back, in any shape and dtype, or a ``Failure``.
        """

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        """The earlier tasks whose functions the answer calls.

        Args:
            sound_too: Whether to name all of them; else those alone that are not right by themselves.

        Returns:
            Their ids; none where nothing can be lent.
        """

    def differed(self, at: int) -> bool:
        """Whether a function that was lent gave what the student's own would not have given.

        Args:
            at: The question's place in the last round.

        Returns:
            True where the answer would have been another without what was lent.
        """


@runtime_checkable
class StudentApart(Student, Protocol):
    """A student whose parallel program was asked in new processes, where nothing had been asked before.

    So it is certain that ranks know of each other by messages alone (see ``apart``).
    """

    def answers_apart(self) -> list[Answer]:
        """The answers to a task's questions to whole worlds, with the first one once more at the end."""


class Judge(Protocol):
    """What gives a verdict on an answer."""

    def __call__(self, variant: Variant, student: Student, *, seed: int = 0) -> CheckResult:
        """Judge one answer.

        Returns:
            Verdict, points, the name of the mistake, and words and a picture for it. A wrong answer never raises.
        """
