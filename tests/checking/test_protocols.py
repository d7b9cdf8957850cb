"""What is published for front ends of other people is what the library's own use."""

import inspect
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from softlookup_grader.judging.remote import Remote
from softlookup_judge import Answer, Case, CheckResult, Judge, Student, get_task
from softlookup_judge.checking.judge import judge
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.variant import Variant, variant_of


class Remembered:
    """A student of somebody else's: the answers were noted before, one for each question of each round."""

    def __init__(self, recorded: Sequence[Answer]) -> None:
        self.recorded = iter(recorded)

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        assert results == 1 and not lent
        return islice(self.recorded, len(cases))

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        return ()

    def differed(self, at: int) -> bool:
        raise AssertionError("nothing is lent, so nobody asks")


def verdict(judging: Judge, variant: Variant, student: Student) -> CheckResult:
    """As another front end would write it, with nothing but the protocols."""
    return judging(variant, student, seed=7)


def test_a_front_end_of_its_own_gets_verdicts_and_names_of_mistakes():
    variant = variant_of(get_task("04.spread"))
    for function, is_named in (
        (lambda width, q, k: width**0.5 * q * k, False),
        (lambda width, q, k: width * q * k, True),
    ):
        recorded: list[Answer] = []

        class Noting(LocalStudent):
            def ask(self, case, results, lent=(), answers=recorded):
                answers.append(super().ask(case, results, lent))
                return answers[-1]

        direct = judge(variant, Noting(variant, function), seed=7)
        result = verdict(judge, variant, Remembered(recorded))
        assert (result.verdict, result.points, result.diagnosis) == (direct.verdict, direct.points, direct.diagnosis)
        assert bool(result.diagnosis) is is_named
    wrong = verdict(judge, variant, Remembered([Answer((np.array(0.0),)) for _ in recorded]))
    assert wrong.verdict == "wrong" and wrong.points == 0


def test_the_librarys_own_students_have_the_methods_that_are_published():
    for student_class in (LocalStudent, Remote):
        for name in ("answers", "lendable", "differed"):
            expected = inspect.signature(getattr(Student, name)).parameters
            assert list(inspect.signature(getattr(student_class, name)).parameters) == list(expected), (
                student_class,
                name,
            )
    published = inspect.signature(Judge.__call__).parameters
    assert set(published) - {"self"} <= set(inspect.signature(judge).parameters)
