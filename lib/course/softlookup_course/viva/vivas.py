"""One student's questions: of several tasks and kinds, and as hard for one student as for all others."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from softlookup_course.viva.questions import VivaQuestion, questions_on
from softlookup_course.viva.running import VivaExaminer
from softlookup_course.viva.shown import STOPS
from softlookup_course.viva.trials import SPARE, generator


@dataclass(frozen=True)
class Viva:
    """The questions for one student, in the order of the tasks; ``notes`` tell the instructor what is not asked."""

    student: str
    assignment: str
    questions: tuple[VivaQuestion, ...]
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        """Four digits that stand on the sheet, the key and the page, so that they cannot be mixed up."""
        text = json.dumps([self.student, self.assignment, self.seed, [question.about for question in self.questions]])
        return f"{zlib.crc32(text.encode()) % 10_000:04}"


def make_viva(examiner: VivaExaminer, student: str, submission: bytes, count: int) -> Viva:
    """Draw so many questions for one student, or fewer; the same seed, submission and count give the same."""
    settings, notes = examiner.assignment.settings, list[str]()
    trials, rng = examiner.trials(student, submission, count + SPARE, notes.append), generator(settings, student, 1)
    chosen = choose([question for trial in trials for question in questions_on(trial, rng)], count)
    return Viva(student, settings.assignment, tuple(chosen), settings.seed, tuple(notes))


def choose(questions: Sequence[VivaQuestion], count: int) -> list[VivaQuestion]:
    """Choose questions for a sheet: no edit twice, and no kind and no task too often, as nearly as it can be had."""
    chosen: list[VivaQuestion] = []
    while len(chosen) < count:
        available = [question for question in questions if all(question.about != other.about for other in chosen)]
        if not available:
            break
        chosen.append(min(available, key=lambda question: _cost(question, chosen)))
    return sorted(chosen, key=lambda question: (question.task, question.difficulty))


def _cost(question: VivaQuestion, chosen: Sequence[VivaQuestion]) -> float:
    """How far a question would take the sheet from what it should be."""
    above = sum(each.difficulty - 2 for each in (question, *chosen))  # 2 is the middle
    again = sum(2 * (other.task == question.task) + (other.question_type == question.question_type) for other in chosen)
    again += question.options[question.key] == STOPS  # that a line raises an exception is soon guessed
    return abs(above) + 0.5 * again
