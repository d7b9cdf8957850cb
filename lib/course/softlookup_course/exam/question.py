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
    """A mistake to expect: its wrong answer if there is a certain one, and its words, or the task that has them."""

    value: Any = None
    says: str = ""
    task: str = ""
    mistake_name: str = ""

    @cached_property
    def words(self) -> str:
        """What was done instead; a LookupError if the task knows no such mistake."""
        if self.says:
            return self.says
        from softlookup_judge.checking.catalogue import STANDARD

        for mistake in STANDARD.task(self.task).mistakes:
            if mistake.slug == self.mistake_name:
                return mistake.says
        raise LookupError(f"task {self.task} knows no mistake {self.mistake_name!r}")


def known(task: str, mistake_name: str, value: Any = None) -> ExpectedMistake:
    """A mistake that a task of the notebooks knows by name, and what it gives here."""
    return ExpectedMistake(value, task=task, mistake_name=mistake_name)


def mistake(value: Any, says: str) -> ExpectedMistake:
    """A mistake in words of its own, and what it gives."""
    return ExpectedMistake(value, says)


@dataclass(frozen=True)
class Drawn:
    """A question with its numbers: ``value`` is None where words are asked, ``marks`` are points and for what."""

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
            value_text = tex(self.value)
            numbers = set(_NUMBER.findall(self.text))
            return (
                value_text in numbers
                or value_text.replace("{,}", "") in numbers
                or (not value_text.isdigit() and value_text in self.text)
            )
        return tex(self.value) in self.text

    def degenerate(self) -> bool:
        """Whether a mistake gives the right answer, or the answer stands in the question."""
        hidden = any(
            expected_mistake.value is not None and same(expected_mistake.value, self.value)
            for expected_mistake in self.expected
        )
        return hidden or self.gives_away()


def posed(
    text: str,
    value: Any,
    answer: str,
    marks: tuple[tuple[int, str], ...],
    given: Mapping[str, Any] | None = None,
    *expected: ExpectedMistake,
) -> Drawn:
    """A question with its numbers, and the mistakes to expect one after another."""
    return Drawn(text, value, answer, marks, given or {}, expected)


@dataclass(frozen=True)
class ExamQuestion:
    """A question without its numbers, "04/weights"; ``make`` draws one version, which may be a poor one."""

    id: str
    chapter: int
    question_type: Kind
    points: int
    minutes: int
    make: Callable[[np.random.Generator], Drawn]

    def draw(self, seed: int, version: str = "") -> Drawn:
        """Draw the numbers of a seed, whatever else is on the sheet; a ValueError if none are without flaws."""
        rng = np.random.default_rng([seed, self.chapter, zlib.crc32(self.id.encode()), *version.encode()])
        for _ in range(ATTEMPTS):
            instance = self.make(rng)
            if sum(points for points, _ in instance.marks) != self.points:
                raise ValueError(f"{self.id} has {self.points} points, and its marks {instance.marks}")
            if not instance.degenerate():
                return instance
        raise ValueError(f"{self.id}: {ATTEMPTS} draws, and a mistake gives the right answer in each")


class Chapter:
    """Collects the questions of one chapter, in the order in which they are written."""

    def __init__(self, chapter: int) -> None:
        self.chapter = chapter
        self.questions: list[ExamQuestion] = []
        self._statements: list[tuple[str, str, bool, str]] = []

    def __call__(self, name: str, question_type: Kind, *, points: int, minutes: int) -> Callable[[Any], Any]:
        """Make a question of the function that follows."""

        def keep(make: Callable[[np.random.Generator], Drawn]) -> Callable[[np.random.Generator], Drawn]:
            question_id = f"{self.chapter:02}/{name}"
            self.questions.append(ExamQuestion(question_id, self.chapter, question_type, points, minutes, make))
            return make

        return keep

    def true(self, key: str, text: str, reason: str) -> None:
        """Add a true statement; ``key`` names it for tests."""
        self._state(key, text, True, reason)

    def false(self, key: str, text: str, reason: str) -> None:
        """Add a false statement; ``key`` names it for tests."""
        self._state(key, text, False, reason)

    def _state(self, key: str, text: str, truth: bool, reason: str) -> None:
        """All statements of a chapter make one question, which stands where the first one does."""
        if not self._statements:
            self("statement", "true-false", points=3, minutes=3)(self._draw_statement)
        self._statements.append((key, text, truth, reason))

    def _draw_statement(self, rng: np.random.Generator) -> Drawn:
        key, text, truth, reason = pick(rng, *self._statements)
        return Drawn(
            f"True or false? Give the reason; without one there are no points.\n\n> {text}",
            truth,
            f"**{truth}.** {reason}",
            ((1, "the right word, with any reason that belongs to the matter"), (2, "the reason as above")),
            {"statement": key},
        )


def pick(rng: np.random.Generator, *options: Any) -> Any:
    """Choose one of several things."""
    return options[int(rng.integers(len(options)))]


def different(rng: np.random.Generator, options: Any, count: int) -> list[int]:
    """Choose several different whole numbers, in random order."""
    return [int(option) for option in rng.choice(np.asarray(options), size=count, replace=False)]
