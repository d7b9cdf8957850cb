"""Choose questions for a sheet: every chapter asked for in turn, points exactly as wanted."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from softlookup_course.exam.question import Drawn, ExamQuestion

LEAST_POINTS = 2


class ExamError(ValueError):
    """No such sheet can be drawn; the message says what was asked for and what there is."""


@dataclass(frozen=True)
class Placed:
    """A question at its place on a sheet."""

    position: int
    question: ExamQuestion
    instance: Drawn


@dataclass(frozen=True)
class Sheet:
    """The sheet of a seed; ``version`` is the letter on the paper, empty if there is one version alone."""

    seed: int
    chapters: tuple[int, ...]
    questions: tuple[Placed, ...]
    version: str = ""

    @cached_property
    def points(self) -> int:
        """What all questions are worth together."""
        return sum(placed.question.points for placed in self.questions)

    @cached_property
    def minutes(self) -> int:
        """How long all questions should take together."""
        return sum(placed.question.minutes for placed in self.questions)


def draw_sheet(
    seed: int,
    chapters: Iterable[int] | None = None,
    points: int = 60,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    version: str = "",
) -> Sheet:
    """Draw a sheet of exactly so many points, chapters (all if None) in turns; an ExamError if there is none."""
    from softlookup_course.exam.bank import QUESTIONS

    if seed < 0:
        raise ExamError(f"the seed is {seed}: give a whole number, 0 or more")
    known = sorted({question.chapter for question in QUESTIONS})
    requested = known if chapters is None else sorted(set(chapters))
    strange = [chapter for chapter in requested if chapter not in known]
    if strange or not requested:
        raise ExamError(
            f"there are no questions on chapter {', '.join(map(str, strange)) or '(none given)'}: choose from chapters "
            f"{', '.join(map(str, known))}"
        )
    ids = {question.id for question in QUESTIONS}
    unknown = [name for name in (*include, *exclude) if name not in ids]
    both = sorted(set(include) & set(exclude))
    if unknown or both:
        raise ExamError(
            f"there is no question {', '.join(unknown)}: 'softlookup exam --list' shows all"
            if unknown
            else f"{', '.join(both)} cannot be both included and excluded"
        )
    chosen = [question for question in QUESTIONS if question.id in include]
    remaining = points - sum(question.points for question in chosen)
    if remaining < 0:
        raise ExamError(f"the included questions have {points - remaining} points: give that many, or more")
    available = [
        question for question in QUESTIONS if question.chapter in requested and question.id not in (*include, *exclude)
    ]
    if remaining or not chosen:
        chosen += _choose(available, remaining, np.random.default_rng([seed, 0]), points - remaining)
    sheet_questions = [question for question in QUESTIONS if question in chosen]
    if version:
        order = np.random.default_rng([seed, 1, *version.encode()]).permutation(len(sheet_questions))
        sheet_questions = [sheet_questions[at] for at in order]
    placed = tuple(Placed(i, question, question.draw(seed, version)) for i, question in enumerate(sheet_questions, 1))
    return Sheet(seed, tuple(sorted({*requested, *(question.chapter for question in chosen)})), placed, version)


def _choose(available: list[ExamQuestion], points: int, rng: np.random.Generator, included: int) -> list[ExamQuestion]:
    """Go through the chapters in turns, and take what still lets the points come out exactly."""
    order = _in_turns(available, rng)
    # reach[i] has a bit for each sum that the questions from i on can give.
    reach = [1]
    for question in reversed(order):
        reach.append(reach[-1] | reach[-1] << question.points)
    reach.reverse()
    most = sum(question.points for question in available)
    if points < LEAST_POINTS or points > most:
        raise ExamError(
            f"the number of points is {points + included}: give {included or LEAST_POINTS} to {most + included}, "
            "which is all that these chapters have"
        )
    if not reach[0] >> points & 1:
        near = min((n for n in range(1, most + 1) if reach[0] >> n & 1), key=lambda n: abs(n - points))
        raise ExamError(f"no questions of these chapters add up to {points + included} points: give {near + included}")
    chosen, remaining = [], points
    for index, question in enumerate(order):
        if question.points <= remaining and reach[index + 1] >> (remaining - question.points) & 1:
            chosen.append(question)
            remaining -= question.points
    return chosen


def _in_turns(available: list[ExamQuestion], rng: np.random.Generator) -> list[ExamQuestion]:
    """One question of each chapter, then another of each, in an order that is drawn."""
    chapters = sorted({question.chapter for question in available})
    piles = {}
    for chapter in chapters:
        pile = [question for question in available if question.chapter == chapter]
        piles[chapter] = [pile[i] for i in rng.permutation(len(pile))]
    turns = [chapters[i] for i in rng.permutation(len(chapters))]
    most = max(len(pile) for pile in piles.values())
    return [piles[chapter][i] for i in range(most) for chapter in turns if i < len(piles[chapter])]


def parse_chapters(text: str) -> list[int]:
    """Read which chapters are meant: ``2-8`` or ``1,4,6-9``. Anything else is an ExamError that says what was got.

    >>> parse_chapters("1,4-6")
    [1, 4, 5, 6]
    """
    chapters: list[int] = []
    for part in text.split(","):
        first, dash, last = (bound.strip() for bound in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise ExamError(f"the chapters are {text!r}: give numbers such as 2-8 or 1,4,6-9")
        chapters += range(int(first), int(last if dash else first) + 1)
        if len(chapters) > 1000:
            raise ExamError(f"the chapters are {text!r}, which is more than there are: give numbers such as 2-8")
    return chapters
