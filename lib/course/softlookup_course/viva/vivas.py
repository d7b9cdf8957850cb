"""One student's questions: of the student's own right answers, and of the published ones where these are too few."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from softlookup_course.viva.choosing import choose, difficulty
from softlookup_course.viva.questions import OPTIONS, VivaQuestion, known_mistake, questions_on
from softlookup_course.viva.running import VivaExaminer
from softlookup_course.viva.trials import Trial, generator

_TUPLES = ("options", "about", "call", "varies", "shows")

SPARE = 4
"""Tasks beyond the number of questions: each gives one, as long as there are others."""


@dataclass(frozen=True)
class Viva:
    """The questions for one student.

    Attributes:
        student: The student's id.
        assignment: Name of the assignment.
        questions: In the order of the tasks.
        seed: It drew them.
        notes: Sentences on what is not asked about, for the instructor.
    """

    student: str
    assignment: str
    questions: tuple[VivaQuestion, ...]
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def difficulty(self) -> float:
        """How hard it is: the mean of its questions, from 1 to 3."""
        return difficulty(self.questions) if self.questions else 0.0

    @property
    def code(self) -> str:
        """Four digits that stand on the sheet, the key and the page, so that they cannot be mixed up."""
        text = json.dumps([self.student, self.assignment, self.seed, [question.about for question in self.questions]])
        return f"{zlib.crc32(text.encode()) % 10_000:04}"

    def as_json(self) -> dict[str, Any]:
        """Plain values by name, with the key: for the instructor alone."""
        return asdict(self) | {"code": self.code}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Viva":
        """Read what ``as_json`` gave, now or before questions said what they vary.

        Raises:
            KeyError, TypeError, ValueError: If it is something else.
        """
        questions = tuple(
            VivaQuestion(**{**question, **{name: tuple(question.get(name, ())) for name in _TUPLES}})
            for question in values["questions"]
        )
        if not all(len(question.options) > question.key >= 0 for question in questions):
            raise ValueError("a key is no option")
        notes = tuple(map(str, values.get("notes", ())))
        return cls(str(values["student"]), str(values["assignment"]), questions, int(values["seed"]), notes)


def make_viva(examiner: VivaExaminer, student: str, submission: bytes, count: int) -> Viva:
    """Draw questions for one student.

    Args:
        examiner: Runs the submission.
        student: The student's id.
        submission: The graded file; with the student's own release where the assignment is personal.
        count: How many questions are wanted.

    Returns:
        So many questions, or fewer where the assignment has no more. The same seed, submission and count give the same.
    """
    settings = examiner.assignment.settings
    notes: list[str] = []
    trials = examiner.trials(student, submission, count + SPARE, say=notes.append)
    student_questions = questions_in_any_order(trials, generator(settings, student, 1))
    chosen = choose(student_questions, count, at_any_rate=False)
    if len(chosen) < count:
        own_tasks = {question.task for question in student_questions}
        published = examiner.trials(student, submission, count + SPARE, published=True)
        trials += [trial for trial in published if trial.check.task.id not in own_tasks]
        chosen = choose(questions_in_any_order(trials, generator(settings, student, 2)), count, chosen)
    chosen = with_letters(chosen, generator(settings, student, 3))
    questions = tuple(explained(trials, question) for question in chosen)
    return Viva(student, settings.assignment, questions, settings.seed, tuple(notes))


def with_letters(questions: Sequence[VivaQuestion], rng: np.random.Generator) -> list[VivaQuestion]:
    """Questions whose right letters are drawn so that none is right more often than in half of them."""
    keys = rng.integers(OPTIONS, size=len(questions))
    while len(keys) and np.bincount(keys).max() > max(1, len(keys) // 2):
        keys = rng.integers(OPTIONS, size=len(keys))
    return [_with_key(question, int(key)) for question, key in zip(questions, keys, strict=True)]


def _with_key(question: VivaQuestion, key: int) -> VivaQuestion:
    """A question whose right option changes places with another one."""
    options = list(question.options)
    options[key], options[question.key] = options[question.key], options[key]
    return replace(question, options=tuple(options), key=key)


def questions_in_any_order(trials: Iterable[Trial], rng: np.random.Generator) -> list[VivaQuestion]:
    """All questions on some trials, in an order that is drawn."""
    questions = [question for trial in trials for question in questions_on(trial, rng)]
    return [questions[at] for at in rng.permutation(len(questions))]


def explained(trials: Iterable[Trial], question: VivaQuestion) -> VivaQuestion:
    """A question with the sentence of the course on its mistake, if it is a known one."""
    for trial in trials:
        if trial.check.task.id == question.task and trial.published == question.published:
            if sentence := known_mistake(trial, question):
                return replace(question, why=f"{question.why} A known mistake gives the same: {sentence}")
    return question


def spread(vivas: Iterable[Viva]) -> str:
    """How equal the sheets of a class are, one sentence; empty for fewer than two."""
    values = [viva.difficulty for viva in vivas if viva.questions]
    if len(values) < 2:
        return ""
    mean = sum(values) / len(values)
    far = sum(abs(value - mean) > 0.3 for value in values)
    return (
        f"difficulty of a sheet, from 1 to 3: {min(values):.1f} to {max(values):.1f}, {mean:.1f} on average; "
        f"{far} of {len(values)} sheets differ from that by more than 0.3"
    )
