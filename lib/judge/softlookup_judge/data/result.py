"""What a check answers: points for nbgrader, words and a picture for the student, a record for the report."""

import os
import sys
from dataclasses import dataclass, field
from html import escape
from typing import Any

from softlookup_judge.data.compare import Difference
from softlookup_judge.data.panel import MARKS, STYLE, case_lists, heat_maps, rich
from softlookup_judge.mistakes.habits import HABIT

MIME = "application/vnd.softlookup.verdict+json"
"""The type under which a notebook keeps a verdict's record, beside its text and its picture."""

HELP_MIME = "application/vnd.softlookup.help+json"
"""The type under which a notebook keeps how much help on a task was asked for."""

HELP_STEPS = ("nudge", "formula", "example", "solution")
"""What help there is on a task, in the order in which it is given."""

BOOK = "../../_build/html/"
"""The rendered book, seen from an exercise's folder; the environment variable SOFTLOOKUP_BOOK names another place."""

VERDICTS = ("pass", "partial", "wrong", "blank", "error", "timeout", "stopped", "unknown")

HEADLINES = {
    "pass": "Right",
    "partial": "Partly right",
    "wrong": "Not yet",
    "blank": "Still blank",
    "error": "It raised an exception",
    "timeout": "It took too long",
    "stopped": "Interrupted",
    "unknown": "Unknown task",
}


SHORT, SHORT_LINES = 400, 8
"""Characters and lines up to which what an answer printed is not folded away."""


@dataclass(frozen=True)
class Way:
    """A right answer to a task, shown once the task is right, and what sets it apart."""

    title: str
    code: str
    says: str


@dataclass(frozen=True)
class CheckResult:
    """The verdict on one task.

    Its text/plain is exactly the points, which nbgrader reads as partial credit; its text/html is the panel.

    Attributes:
        task_id: The task, "04.scale".
        title: The task's title.
        points: What was earned.
        max_points: What could be earned.
        verdict: One of ``VERDICTS``.
        diagnosis: Slugs of the known mistakes that the answer equals; two if a pair matched.
        sentences: What to tell the student, most useful first.
        variant: Which variant was asked.
        readings: The sections to read, relative to the book's first page: those of the mistakes that are named, or
            the task's own; empty where all is right.
        case: What was asked where it first went wrong.
        inputs: The arguments of that question.
        input_names: What they are called.
        asked: The same in words, a line for each, where the mistake has no name.
        question: Which of the check's questions it was, counted from 0 in the order in which they were asked.
        again: An expression that makes these inputs again, empty where there is none.
        difference: Where got and wanted differ there.
        names: Names of the results.
        printed: What the student's code printed there, or in the first case in which it printed, if all is right.
        cases: What the cases are called, each with its mark (see ``CASE_MARKS``), in the order in which they are asked;
            empty where none was.
        reveals: Whether the wanted numbers may be shown.
        answer: A hash of the notebook cell that was judged, by which a verdict is seen to be older than its answer;
            empty where the answer stands in no cell.
        help: How many steps of help were asked for (see ``HELP_STEPS``).
        nudge: What can be seen of the answer, from the second failure on.
        ways: Other ways to write it, once it is right.
    """

    task_id: str
    title: str
    points: float
    max_points: float
    verdict: str
    diagnosis: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    variant: int = 0
    readings: tuple[str, ...] = ()
    case: str = ""
    inputs: tuple[Any, ...] = ()
    input_names: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    question: int | None = None
    again: str = ""
    difference: Difference | None = None
    names: tuple[str, ...] = field(default=())
    printed: str = ""
    cases: tuple[tuple[str, str], ...] = ()
    reveals: bool = True
    answer: str = ""
    help: int = 0
    nudge: str = ""
    ways: tuple[Way, ...] = ()

    @property
    def message(self) -> str:
        """The sentences as one paragraph."""
        return " ".join(self.sentences)

    @property
    def headline(self) -> str:
        """Task, verdict and points in one line."""
        if self.verdict == "unknown":
            return f"{HEADLINES[self.verdict]} {self.task_id!r}."
        return f"{self.verdict_line}, {self.points_line}"

    @property
    def verdict_line(self) -> str:
        """Task and verdict in one line."""
        return f"{HEADLINES[self.verdict]}: {self.title} ({self.task_id})"

    @property
    def points_line(self) -> str:
        """Points in a few words."""
        return f"{self.points:g} of {self.max_points:g} points"

    def record(self) -> dict[str, Any]:
        """What the grade report keeps of it.

        Returns:
            Plain values by name, ready for JSON.
        """
        return {
            "task": self.task_id,
            "variant": self.variant,
            "points": self.points,
            "max": self.max_points,
            "verdict": self.verdict,
            "diagnosis": list(self.diagnosis),
            "message": self.message,
            **({"answer": self.answer} if self.answer else {}),
            **({"help": self.help} if self.help else {}),
        }

    def shown_record(self) -> dict[str, Any]:
        """The record that a notebook keeps, with what programs beside it need: title, cases, inputs, sections to read.

        Returns:
            Plain values by name, ready for JSON.
        """
        return self.record() | {
            "title": self.title,
            "cases": [list(case) for case in self.cases],
            "inputs": list(self.asked),
            "read": list(self.readings),
        }

    def text(self) -> str:
        """The whole verdict in plain words, for a terminal or a screen reader.

        Returns:
            A line for the verdict, and one for each sentence and each section to read.
        """
        lines = [self.headline, *("  " + s for s in self.sentences)]
        lines += [f"  {self.nudge}"] * bool(self.nudge)
        if self.printed:
            lines.append("  Your code printed: " + self.printed.strip()[:200])
        lines += [f"  Input: {line}" for line in self.asked]
        lines += [f"  To get them: from softlookup_judge import inputs; {self.again}"] * bool(self.again)
        lines += [f"  Read: {url}" for url in self.readings]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return repr(float(self.points))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        try:
            html = panel(self)
        except Exception:  # a picture that fails must not take the verdict with it
            html = f"<pre>{escape(self.text())}</pre>"
        # A terminal shows the text alone; a notebook's kernel hands all on, and nbgrader reads the points there.
        plain = repr(self) if "ipykernel" in sys.modules else self.text()
        return {"text/plain": plain, "text/html": html, MIME: self.shown_record()}


READ = "Read this section in the book"


def book_link(url: str, words: str) -> str:
    """A link to a section of the rendered book, wherever that is."""
    book = os.environ.get("SOFTLOOKUP_BOOK", BOOK).rstrip("/")
    return f'<a href="{escape(f"{book}/{url}")}" target="_blank">{words}</a>'


def panel(result: CheckResult) -> str:
    """The verdict as a small page: headline, sentences, heat maps of got, wanted and difference."""
    mark = MARKS.get(result.verdict, "✗")
    head, worth = result.headline, ""
    if result.max_points:
        head, worth = result.verdict_line, f' <span class="sl-pts">· {escape(result.points_line)}</span>'
    names = [f"`{mistake_name.removeprefix(HABIT)}`" for mistake_name in result.diagnosis]
    label = "Mistakes" if len(names) > 1 else "Mistake"
    body = f'<p class="sl-name">{label}: {rich(" and ".join(names))}</p>' * bool(names)
    body += "".join(f"<p>{rich(s)}</p>" for s in result.sentences)
    body += f"<p>{rich(result.nudge)}</p>" * bool(result.nudge)
    body += case_lists(result.cases)
    if result.difference is not None:
        body += heat_maps(result.difference, result.names, result.reveals)
    if result.asked:
        again = [f"from softlookup_judge import inputs; {result.again}"] * bool(result.again)
        input_text = escape("\n".join([*result.asked, *again]))
        body += f"<details><summary>what your function was given</summary><pre>{input_text}</pre></details>"
    if result.printed:
        where = f' in case "{result.case}"' * bool(result.case)
        printed_html = f"<pre>{escape(result.printed)}</pre>"
        if len(result.printed) > SHORT or result.printed.count("\n") > SHORT_LINES:
            body += f"<details><summary>what your code printed{escape(where)}</summary>{printed_html}</details>"
        else:
            body += f"<p>Your code printed{escape(where)}:</p>{printed_html}"
    if result.ways:
        ways = (f"<p>{rich(way.title)}. {rich(way.says)}</p><pre>{escape(way.code)}</pre>" for way in result.ways)
        body += f"<details><summary>other ways to write it</summary>{''.join(ways)}</details>"
    if result.readings:
        labels = (READ, "and this one")
        links = (book_link(url, words) for url, words in zip(result.readings, labels, strict=False))
        body += f"<p>{', '.join(links)}</p>"
    return (
        f'<div class="sl-check sl-{result.verdict}" role="status"><style>{STYLE}</style>'
        f'<p class="sl-head">{mark} {escape(head)}{worth}</p>{body}</div>'
    )
