"""What a graded task is: one description, read by the check at home and by the grader alike."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from softlookup_inside.asking.case import CORE, Arrays, Case, LayerAnswer
from softlookup_judge.data.conventions import MOST, Convention, conventions
from softlookup_judge.data.ranges import Ends
from softlookup_judge.mistakes.habits import HABIT, says

LIBRARY = (
    *("softlookup.reference", "softlookup.model", "softlookup.text", "softlookup.training", "softlookup.roofline"),
    *("softlookup_course.widgets", "softlookup.ranks.schedules", "softlookup.post_training", "softlookup.evaluation"),
)
"""Parts of the library that compute what some task asks for: no answer may use them."""


@dataclass(frozen=True)
class Mistake:
    """A known way to get a task wrong.

    Attributes:
        slug: Its name, as diagnoses give it ("no-sqrt").
        says: A sentence for the student: what the code does instead, and where to look.
        number: Its number in the course's list of misconceptions, None if it is not in the list.
        edits: (old, new) replacements that turn the published solution into a submission with this mistake.
        symptom: Set when the mistake shows as a kind of failure (see ``probe.Failure.kind``), not as a tensor.
        anchor: Label of the section to read about it, on the task's page; on another one if that is in front,
            "04_one_head.html#one-head-scale". None where it is the task's own.
    """

    slug: str
    says: str
    number: int | None = None
    edits: tuple[tuple[str, str], ...] = ()
    symptom: str | None = None
    anchor: str | None = None

    def applied_to(self, source: str) -> str:
        """The solution's source with this mistake in it.

        Args:
            source: The published solution's cell.

        Returns:
            The same cell as somebody would hand it in who makes this mistake.

        Raises:
            ValueError: If an edit does not occur in the source, or this mistake has none.
        """
        if not self.edits:
            raise ValueError(f"the mistake {self.slug!r} has no edits that turn a solution into it")
        for old, new in self.edits:
            if old not in source:
                raise ValueError(f"the mistake {self.slug!r} edits {old!r}, which the solution does not hold")
            source = source.replace(old, new)
        return source


Property = Callable[[Case, Arrays], str | None]
"""Looks at an answer alone and returns a sentence where something that must hold does not."""


@dataclass(frozen=True)
class Prepared:
    """What judges a task where neither its oracle nor its solution is: questions by variant, and the formula or ""."""

    questions: Mapping[int, Any]
    formula: str


@dataclass(frozen=True, eq=False)
class Task:
    """A graded task.

    Attributes:
        id: Chapter and name, "04.scale".
        name: The name of the student's function.
        title: A few words.
        points: What it is worth.
        minutes: How long it takes, about.
        difficulty: 1 to 3.
        anchor: Label of the section in the book that it tests.
        page: The chapter's page, without ending.
        returns: Names of the results, for messages.
        cases: Draws the questions from a generator, for one variant's constants.
        oracle: The right answer: takes the arguments (torch tensors in float64 where frame is torch) and the
            variant's constants as keywords. Independent of what students are shown.
        parts: Share of the points of each part; they sum to 1.
        variants: The constants of each variant; number 0 is the public one.
        frame: What its arrays come in: "torch", "numpy", "plain" or "text".
        properties: What every answer must fulfil whatever the inputs.
        cells: A sentence on cells of the result, said of the first one that is wrong.
        forbids: Dotted names that an answer must not use, besides those that no answer may use (LIBRARY).
        reveals: Whether the wanted numbers are shown; not where they are the whole answer.
        lends: Whether a sound answer may stand in for a wrong one in later tasks.
        layer: Where the answer is a class that later tasks build on: how a sound one stands in for it.
        called_with: Where the answer is a layer's class: the names of what the layer is called with.
        cuts: Whether questions with an axis cut to length 1 are added; not where the rest is no such input any more.
        ranges: Which numbers may come, by the argument's name: the two ends, or the largest size. Its text says so, and
            a question is added for each end (see ``ranges``).
        mistakes: The known mistakes; they stand beside the published solution (see ``notebook.described``).
        varies: What a course's variants may change besides constants (see ``conventions.conventions``).
        conventions: The convention of each variant, None where it is the published one; made from ``varies``.
        notebook: Where its solution stands (a ``notebook.Notebook``), None where it is not here.
        before: The tasks that come before it in its notebook.
        prepared: What judges it where it draws no questions; None where it does.
        chapter: The chapter's number.
        slug: The id as nbgrader takes it, without a dot: "04-scale".
        barred: Dotted names that an answer must not use: what the task forbids, and parts of the library that compute.
        earlier: The tasks before this one whose functions may be lent to it. One whose values are the whole answer of
            its task is never lent: to call it would be to read the answer.
        parameters: What a student's function is given, as the oracle declares it: without the constants of a variant.

    Raises:
        ValueError: If the parts lack the core or do not sum to 1, the difficulty is not 1, 2 or 3, or a range is of no
            argument.
    """

    id: str
    name: str
    title: str
    points: float
    minutes: int
    difficulty: int
    anchor: str
    page: str
    returns: tuple[str, ...]
    cases: Callable[..., list[Case]]
    oracle: Callable[..., Any]
    parts: Mapping[str, float] = field(default_factory=lambda: {CORE: 1.0})
    variants: tuple[Mapping[str, Any], ...] = ({},)
    frame: str = "torch"
    properties: tuple[Property, ...] = ()
    cells: Mapping[tuple[int, ...], str] = field(default_factory=dict)
    forbids: tuple[str, ...] = ()
    reveals: bool = True
    lends: bool = True
    layer: LayerAnswer | None = None
    called_with: tuple[str, ...] = ()
    cuts: bool = True
    ranges: Mapping[str, Ends] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    varies: Mapping[str, Any] = field(default_factory=dict)
    conventions: tuple[Convention | None, ...] = ()
    notebook: Any = field(default=None, repr=False)
    before: tuple["Task", ...] = field(default=(), repr=False)
    prepared: Prepared | None = field(default=None, repr=False)
    chapter: int = field(init=False)
    slug: str = field(init=False)
    barred: tuple[str, ...] = field(init=False, repr=False)
    earlier: tuple["Task", ...] = field(init=False, repr=False)
    parameters: Mapping[str, inspect.Parameter] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if CORE not in self.parts or abs(sum(self.parts.values()) - 1) > 1e-12:
            raise ValueError(f"{self.id}: parts must hold {CORE!r} and sum to 1, got {dict(self.parts)}")
        if self.difficulty not in (1, 2, 3):
            raise ValueError(f"{self.id}: difficulty is 1, 2 or 3, got {self.difficulty}")
        declared = inspect.signature(self.oracle).parameters
        facts: dict[str, Any] = {
            "chapter": int(self.id.split(".")[0]),
            "slug": self.id.replace(".", "-"),
            "barred": tuple(dict.fromkeys((*self.forbids, *LIBRARY))),
            "earlier": tuple(task for task in self.before if task.lends and task.reveals),
            "parameters": {name: value for name, value in declared.items() if name not in self.variants[0]},
        }
        if unknown := self.ranges.keys() - facts["parameters"].keys():
            raise ValueError(f"{self.id} has ranges of {sorted(unknown)}, which are none of {[*facts['parameters']]}")
        if self.varies and not self.conventions:
            parameters = facts["parameters"].values()
            required = sum(parameter.default is parameter.empty for parameter in parameters)
            more = conventions(self.id, required, list(facts["parameters"]), len(self.returns), self.varies)
            more = more[: max(0, MOST + 1 - len(self.variants))]
            facts["conventions"] = (None,) * len(self.variants) + more
            facts["variants"] = (*self.variants, *(self.variants[0] for _ in more))
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    @property
    def book_url(self) -> str:
        """The section in the rendered book, relative to its first page."""
        return f"book/{self.page}.html#{self.anchor}"

    def mistake(self, slug: str) -> Mistake:
        """The known mistake or the habit of that name.

        Args:
            slug: As diagnoses give it, "no-sqrt" or "habit:root-missing".

        Returns:
            The mistake; a habit has no edits and no number.

        Raises:
            KeyError: If this task does not know it.
        """
        if slug.startswith(HABIT):
            return Mistake(slug, says(slug))
        for mistake in self.mistakes:
            if mistake.slug == slug:
                return mistake
        raise KeyError(f"{self.id} knows no mistake {slug!r}; it knows {[m.slug for m in self.mistakes]}")

    def summary(self) -> dict[str, Any]:
        """What ``softlookup tasks --json`` tells about it.

        Returns:
            Plain values by name, ready for JSON.
        """
        return {
            "id": self.id,
            "title": self.title,
            "points": self.points,
            "minutes": self.minutes,
            "difficulty": self.difficulty,
            "chapter": self.chapter,
            "function": self.name,
            "book": self.book_url,
            "variants": len(self.variants),
            "mistakes": [{"slug": m.slug, "number": m.number, "says": m.says} for m in self.mistakes],
        }
