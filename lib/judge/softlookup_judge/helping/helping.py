"""Help in steps, at home: a nudge, the formula, a worked example, one solution; verdicts carry what was asked for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from textwrap import indent
from typing import Any

from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.probe import TimeIsUp, time_limit
from softlookup_judge.checking.judge import ask
from softlookup_judge.data.panel import STYLE, rich
from softlookup_judge.data.protocols import Student
from softlookup_judge.data.published import in_variant, solution
from softlookup_judge.data.result import HELP_MIME, HELP_STEPS, READ, CheckResult, Way, book_link
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.helping.example import work_through
from softlookup_judge.helping.kept import HelpOnTask, TaskKept, read_kept
from softlookup_judge.judging.questions import questions_at_home
from softlookup_judge.naming.diagnose import SHORTCUT
from softlookup_judge.naming.nudge import nudge, size, smallest_failed

SETTING = "SOFTLOOKUP_HELP"
"""The environment variable that names the last step a course allows; a released notebook may set it."""

TITLES = {
    "nudge": "What can be seen of your answer",
    "formula": "The formula",
    "example": "A worked example",
    "solution": "One solution",
    "ways": "Other ways to write it",
}

COMMAND_STEPS = HELP_STEPS.index("solution")
"""So many steps are given on the command line, where a program may ask in a student's place: all but the solution."""

NUDGE_AFTER = 2
"""After so many answers that were not right, the verdict itself brings the nudge."""

_NUDGE_TIME_S = 5.0


@dataclass
class Attempts:
    """What happened with one task since the kernel was started; ``question`` is the worked example's."""

    student: Student | None = None
    variant_number: int = 0
    failures: int = 0
    passed: bool = False
    steps: int = 0
    question: int | None = None
    warned: bool = False


def last_step(task: Task) -> int:
    """How many of the steps there are: those that the course allows, and where no solution is here, two at most."""
    setting = os.environ.get(SETTING, "")
    most = HELP_STEPS.index(setting) + 1 if setting in HELP_STEPS else 0 if setting == "none" else len(HELP_STEPS)
    if task.prepared is None:
        return most
    return min(most, 2 if task.prepared.formula else 1)


@dataclass(frozen=True)
class Hint:
    """A step of help, which shows itself in a notebook; paragraphs that begin with a line break are code or numbers."""

    task_id: str
    step: int
    title: str
    paragraphs: tuple[str, ...]
    then: str = ""
    reading: str = ""

    def text(self) -> str:
        """The step in plain words."""
        lines = [
            f"{self.title} ({self.task_id})",
            *(indent(paragraph.strip("\n"), "  ") for paragraph in self.paragraphs),
        ]
        lines += [f"  Read: {self.reading}"] * bool(self.reading) + [f"  {self.then}"] * bool(self.then)
        return "\n".join(lines)

    __str__ = __repr__ = text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        body = "".join(
            f"<pre>{escape(paragraph.strip(chr(10)))}</pre>"
            if paragraph.startswith("\n")
            else f"<p>{rich(paragraph)}</p>"
            for paragraph in self.paragraphs
        )
        if self.reading:
            body += f"<p>{book_link(self.reading, READ)}</p>"
        if self.then:
            body += f'<p class="sl-pts">{rich(self.then)}</p>'
        head = f'<p class="sl-head">{escape(self.title)} <span class="sl-pts">· {escape(self.task_id)}</span></p>'
        html = f'<div class="sl-check sl-help" role="status"><style>{STYLE}</style>{head}{body}</div>'
        help_record = {"task": self.task_id, "help": self.step}
        return {"text/plain": self.text(), "text/html": html, HELP_MIME: help_record}


def take_note(attempts: Attempts, variant: Variant, student: Student, result: CheckResult) -> CheckResult:
    """Take note of a verdict, and add to it what it brings: a nudge after failures, other ways once it is right."""
    task = variant.task
    attempts.student, attempts.variant_number, attempts.passed = student, variant.number, result.verdict == "pass"
    attempts.steps = max(attempts.steps, _steps_outside(task))
    result = replace(result, help=attempts.steps)
    if attempts.passed:
        return replace(result, ways=tuple(published_ways(variant)) if last_step(task) == len(HELP_STEPS) else ())
    if result.verdict not in ("partial", "wrong", "error") or SHORTCUT in result.diagnosis:
        return result
    attempts.failures += 1
    attempts.question = result.question
    if attempts.failures < NUDGE_AFTER or last_step(task) == 0:
        return result
    sentences, more = _nudge(variant, attempts), f'`hint("{task.id}")` gives more help.'
    return replace(result, nudge=f"{sentences} {more}".strip())


def next_step(attempts: Attempts, variant: Variant) -> Hint:
    """The next step of help on a task; once it is right, the other ways to write it."""
    task = variant.task
    attempts.variant_number = variant.number
    attempts.steps = max(attempts.steps, _steps_outside(task))
    most = last_step(task)
    if attempts.passed and most == len(HELP_STEPS):
        ways = [part for way in published_ways(variant) for part in (way.says, "\n" + way.code)]
        return Hint(task.id, attempts.steps, TITLES["ways"], tuple(ways))
    if most == 0:
        return _no_help(task)
    # After two failures the verdict itself has brought the nudge, and before the first there is nothing to see.
    at = max(attempts.steps, 0 if 0 < attempts.failures < NUDGE_AFTER else 1)
    step = HELP_STEPS[min(at, most - 1)]
    if step == "solution" and not attempts.warned:
        attempts.warned = True
        sentence = "The next step is a complete solution. Try once more first; then ask again to see it."
        return Hint(task.id, attempts.steps, "One more step", (sentence,), f'`hint("{task.id}")` once more shows it.')
    then = f'`hint("{task.id}")` once more gives {{}}.' if HELP_STEPS.index(step) + 1 < most else ""
    return _give(step, variant, attempts, then)


def step_for_command(attempts: Attempts, variant: Variant, previous_help: HelpOnTask, again: bool) -> Hint:
    """The next step on the command line: one for each answer, the same ``again`` for the same one, and no solution."""
    task = variant.task
    if attempts.passed:
        sentence = f'This task is right. `hint("{task.id}")` in the notebook shows other ways to write it.'
        return Hint(task.id, previous_help.steps, "No help is needed", (sentence,))
    most = min(last_step(task), COMMAND_STEPS)
    if most == 0:
        return _no_help(task)
    attempts.steps = max(previous_help.steps - again, 0)
    step = HELP_STEPS[min(max(attempts.steps, 0 if attempts.failures == 1 else 1), most - 1)]
    attempts.steps = max(attempts.steps, previous_help.steps)
    then = f"After the next try, `softlookup hint {task.id}` gives {{}}."
    if HELP_STEPS.index(step) + 1 >= most:
        then = f'A solution is shown in the notebook alone, by `hint("{task.id}")` in a cell of your own.'
        then = then if last_step(task) == len(HELP_STEPS) else ""
    return _give(step, variant, attempts, then)


def _no_help(task: Task) -> Hint:
    return Hint(task.id, 0, "Help", ("This course gives no help here.",), reading=task.book_url)


def _give(step: str, variant: Variant, attempts: Attempts, then: str) -> Hint:
    """Give a step; in ``then`` a pair of braces stands for the one that follows it."""
    task, step_number = variant.task, HELP_STEPS.index(step) + 1
    attempts.steps = max(attempts.steps, step_number)
    following = {1: "the formula", 2: "a worked example", 3: "one solution"}.get(step_number, "")
    paragraphs = tuple(_paragraphs(step, variant, attempts))
    return Hint(task.id, attempts.steps, TITLES[step], paragraphs, then.format(following), task.book_url)


def _steps_outside(task: Task) -> int:
    """How many steps were shown on the command line, where that stands beside this notebook."""
    return read_kept(Path()).tasks.get(task.id, TaskKept()).help.steps


def _paragraphs(step: str, variant: Variant, attempts: Attempts) -> Iterator[str]:
    task = variant.task
    match step:
        case "nudge":
            yield _nudge(variant, attempts) or "Nothing can be seen of this answer beyond what its verdict says."
        case "formula":
            yield "\n" + (task.prepared.formula if task.prepared else task.notebook.help_texts(task.id).formula)
        case "example":
            yield from _example(variant, attempts)
        case "solution":
            yield "\n" + solution(variant)
            yield task.notebook.help_texts(task.id).explained


def _example(variant: Variant, attempts: Attempts) -> Iterator[str]:
    """A question worked through: the one that failed; another variant's where the values are the whole answer."""
    task = variant.task
    if not task.reveals:
        others = [n for n in range(len(task.variants)) if n != variant.number]
        if not others:
            yield "The value is the whole answer here, so an example would be the solution."
            return
        variant = variant_of(task, others[0])
        yield "The same task with other numbers than yours:"
    questions = questions_at_home(variant)
    index = attempts.question if attempts.question is not None and task.reveals else 0
    case = questions.cases[index if index < len(questions.cases) else 0]
    if case.gradients:
        case = min((other for other in questions.cases if not other.gradients), key=size, default=case)
    yield "\n" + "\n".join(work_through(variant, case))
    yield "The values on the way have the names that the published solution gives them; yours may have others."


def _nudge(variant: Variant, attempts: Attempts) -> str:
    """What can be seen of the last answer; empty where it takes too long to ask it again."""
    if attempts.student is None:
        return ""
    questions = questions_at_home(variant)
    try:
        with calm_torch(), time_limit(_NUDGE_TIME_S):
            rounds = ask(variant, attempts.student, questions)[: len(questions.cases)]
    except TimeIsUp:
        return ""
    at = smallest_failed(rounds)
    attempts.question = attempts.question if at is None or at >= len(questions.cases) else at
    return nudge(variant, rounds)


def published_ways(variant: Variant) -> Iterator[Way]:
    """The published answer, and another one."""
    texts = variant.task.notebook.help_texts(variant.task.id)
    yield Way("The published answer", solution(variant), texts.explained)
    if texts.other:
        yield Way("Another way", in_variant(variant, texts.other), texts.differs)
