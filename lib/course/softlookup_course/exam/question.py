"""One exam question: how its numbers are drawn, what is right, and how it is marked."""

import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from softlookup_course.exam.notes import same, tex

Kind = Literal["number", "matrix", "shape", "text", "explanation", "true-false", "sketch"]
KINDS: tuple[str, ...] = get_args(Kind)
ATTEMPTS = 400
"""How often numbers are drawn before a question is said to have no good ones."""

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\{,\}\d{3})*(?:\.\d+)?(?!\w)")


@dataclass(frozen=True)
class ExpectedMistake:
    """A mistake that is to be expected, and what it gives.

    Attributes:
        value: The answer that it leads to; None where it leads to no certain one.
        says: What was done, in words; empty where a task of the notebooks has the words.
        task: The id of that task.
        slug: The mistake's name there.
    """

    value: Any = None
    says: str = ""
    task: str = ""
    slug: str = ""

    @cached_property
    def words(self) -> str:
        """What was done instead; a LookupError if the task knows no such mistake."""
        if self.says:
            return self.says
        from softlookup_judge.checking.catalogue import STANDARD

        for mistake in STANDARD.task(self.task).mistakes:
            if mistake.slug == self.slug:
                return mistake.says
        raise LookupError(f"task {self.task} knows no mistake {self.slug!r}")


def known(task: str, slug: str, value: Any = None) -> ExpectedMistake:
    """A mistake that a task of the notebooks knows by name, and what it gives here."""
    return ExpectedMistake(value, task=task, slug=slug)


def mistake(value: Any, says: str) -> ExpectedMistake:
    """A mistake in words of its own, and what it gives."""
    return ExpectedMistake(value, says)


@dataclass(frozen=True)
class Drawn:
    """A question with its numbers.

    Attributes:
        text: What is asked, in Markdown with formulas between dollar signs.
        value: The right answer: a number, text, tuple, array or truth value; None where words are asked.
        answer: The right answer in words and formulas, with the way to it.
        marks: Points, and what they are given for.
        given: The numbers that were drawn, by name.
        expected: Mistakes to expect.
    """

    text: str
    value: Any
    answer: str
    marks: tuple[tuple[int, str], ...]
    given: Mapping[str, Any] = field(default_factory=dict)
    expected: tuple[ExpectedMistake, ...] = ()

    def gives_away(self) -> bool:
        """Whether the answer stands in the question: its number, or the whole of its row, matrix or text."""
        if self.value is None or isinstance(self.value, bool | np.bool_):
            return False
        if isinstance(self.value, str):
            return re.search(rf"(?<!\w){re.escape(self.value)}(?!\w)", self.text) is not None
        if np.ndim(self.value) == 0 if not isinstance(self.value, tuple) else False:
            shown = tex(self.value)
            numbers = set(_NUMBER.findall(self.text))
            return (
                shown in numbers or shown.replace("{,}", "") in numbers or (not shown.isdigit() and shown in self.text)
            )
        return tex(self.value) in self.text

    def degenerate(self) -> bool:
        """Whether a mistake gives the right answer, or the answer stands in the question."""
        hidden = any(
            expected_mistake.value is not None and same(expected_mistake.value, self.value)
            for expected_mistake in self.expected
        )
        return hidden or self.gives_away()


@dataclass(frozen=True)
class ExamQuestion:
    """A question without its numbers.

    Attributes:
        id: Chapter and name, such as ``04/weights``.
        chapter: The chapter that it asks about.
        kind: What is asked for.
        points: What it is worth.
        minutes: How long it should take.
        make: Draws one version; it may be a poor one.
    """

    id: str
    chapter: int
    kind: Kind
    points: int
    minutes: int
    make: Callable[[np.random.Generator], Drawn]

    def draw(self, seed: int, version: str = "") -> Drawn:
        """Draw the numbers of a seed, 0 or more: the same for the same seed, whatever else is on the sheet.

        Each version of a sheet has numbers of its own. A ValueError if the points of its marks are not its own, or if
        no version without flaws is found.
        """
        rng = np.random.default_rng([seed, self.chapter, zlib.crc32(self.id.encode()), *version.encode()])
        for _ in range(ATTEMPTS):
            drawn = self.make(rng)
            if sum(points for points, _ in drawn.marks) != self.points:
                raise ValueError(f"{self.id} has {self.points} points, and its marks {drawn.marks}")
            if not drawn.degenerate():
                return drawn
        raise ValueError(f"{self.id}: {ATTEMPTS} draws, and a mistake gives the right answer in each")


@dataclass(frozen=True)
class Statement:
    """A sentence that is true or false, with the reason; ``key`` names it for tests."""

    key: str
    text: str
    truth: bool
    reason: str


class Chapter:
    """Collects the questions of one chapter, in the order in which they are written."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.questions: list[ExamQuestion] = []

    def __call__(self, name: str, kind: Kind, *, points: int, minutes: int) -> Callable[[Any], Any]:
        """Make a question of the function that follows."""

        def keep(make: Callable[[np.random.Generator], Drawn]) -> Callable[[np.random.Generator], Drawn]:
            self.questions.append(ExamQuestion(f"{self.number:02}/{name}", self.number, kind, points, minutes, make))
            return make

        return keep

    def statements(self, *statements: Statement) -> None:
        """Make a question that asks whether one of several statements is true, and why."""

        def make(rng: np.random.Generator) -> Drawn:
            statement = pick(rng, *statements)
            return Drawn(
                f"True or false? Give the reason; without one there are no points.\n\n> {statement.text}",
                statement.truth,
                f"**{'True' if statement.truth else 'False'}.** {statement.reason}",
                ((1, "the right word, with any reason that belongs to the matter"), (2, "the reason as above")),
                {"statement": statement.key},
            )

        self("statement", "true-false", points=3, minutes=3)(make)


def pick(rng: np.random.Generator, *options: Any) -> Any:
    """Choose one of several things."""
    return options[int(rng.integers(len(options)))]


def different(rng: np.random.Generator, options: Any, count: int) -> list[int]:
    """Choose several different whole numbers, in random order."""
    return [int(option) for option in rng.choice(np.asarray(options), size=count, replace=False)]
