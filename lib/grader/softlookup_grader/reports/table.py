"""Shows grading in a terminal: a bar while it works, a table afterwards. It reads well without colour."""

import io
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from softlookup_command.plain_text import one_line
from softlookup_grader.course.inbox import NO_TIME
from softlookup_grader.data.records import GRADED, MISSING, REFUSED, Record, Report, TaskMark, task_names
from softlookup_grader.data.work import Graded
from softlookup_grader.run.request import Watcher

_SIGNS = {
    "pass": ("✓", "P", "green", "right"),
    "partial": ("½", "h", "yellow", "partly right"),
    "wrong": ("✗", "x", "red", "wrong"),
    "blank": ("·", ".", "dim", "not filled in"),
    "error": ("!", "!", "magenta", "an exception"),
    "timeout": ("T", "T", "magenta", "took too long"),
    "stopped": ("–", "-", "dim", "no verdict"),
}
"""Of each verdict its sign, the sign where the terminal has ASCII alone, the colour, and what it means."""

_LONG = 4000

Planted = Mapping[str, Mapping[str, str]]  # for a sample class: which known mistake was planted, by student and task


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print text as it is: a student's id may hold what rich takes for its own marks."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


class LiveProgress(Watcher):
    """Shows how far grading has come: one live line on a terminal; elsewhere plain lines, at most one a second."""

    def __init__(self, console: Console) -> None:
        """Write to this console."""
        self.console = console
        self.done = self.total = 0
        self._what, self._began, self._first, self._said = "", time.monotonic(), 0, 0.0
        self._counts: Counter[str] = Counter()
        self._slowest: Graded | None = None
        self._bar: Progress | None = None

    def __enter__(self) -> "LiveProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def begin(self, what: str, total: int, done: int = 0) -> None:
        """Begin a new line."""
        self._stop()
        self._what, self.total, self.done, self._first = what, total, done, done
        self._began, self._said, self._slowest = time.monotonic(), 0.0, None
        self._counts.clear()
        if self.console.is_terminal and done < total:
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[says]}", markup=False),
            )
            self._bar = Progress(*columns, console=self.console, transient=True)
            self._row = self._bar.add_task(what, total=total, completed=done, says="starting")
            self._bar.start()

    def step(self, name: str, graded: Graded | None = None) -> None:
        """Count one more."""
        self.done += 1
        if graded is not None:
            self._counts[graded.status] += 1
            if graded.slowest and (self._slowest is None or graded.slowest_s > self._slowest.slowest_s):
                self._slowest = graded
        if self._bar:
            self._bar.update(self._row, completed=self.done, says=self._says())
        elif self.done == self.total or time.monotonic() - self._said >= 1:
            self._said = time.monotonic()
            say(self.console, f"{self._what}: {self.done} of {self.total}, {self._says()}")

    def say(self, sentence: str) -> None:
        """Print a sentence above the line."""
        say(self.console, one_line(sentence, _LONG))

    def _says(self) -> str:
        rate = (self.done - self._first) / max(time.monotonic() - self._began, 1e-3)
        message = [f"{count} {status}" for status, count in self._counts.items() if status != GRADED]
        message.append(f"{rate:.1f} a second" if rate >= 1 else f"{1 / rate:.1f} s each")
        if self.done < self.total:
            message.append(f"{_duration((self.total - self.done) / rate)} left")
        if self._slowest:
            who = f"{one_line(self._slowest.slowest)} of {one_line(self._slowest.student)}"
            message.append(f"slowest {who}, {self._slowest.slowest_s:.1f} s")
        return ", ".join(message)

    def _stop(self) -> None:
        if self._bar:
            self._bar.stop()
            self._bar = None


def _duration(seconds: float) -> str:
    minutes, remaining = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {remaining} s" if minutes else f"{remaining} s"


def show_report(
    console: Console, report: Report, planted_mistakes: Planted | None = None, collected: Sequence[str] = ()
) -> None:
    """Print the graded class: a row for each student, a sign for each task, then what needs attention."""
    planted_mistakes = planted_mistakes or {}
    signs = 0 if _can_write(console, "".join(sign[0] for sign in _SIGNS.values())) else 1
    names = task_names(report.records)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("student", no_wrap=True, overflow="crop")
    table.add_column("score", justify="right", no_wrap=True, overflow="crop")
    for column in range(1, len(names) + 1):
        table.add_column(str(column), justify="center", no_wrap=True, overflow="crop", min_width=2)
    table.add_column("named", justify="right", no_wrap=True, overflow="crop")
    table.add_column("by hand", no_wrap=True, overflow="crop")
    minus = "\N{MINUS SIGN}" if _can_write(console, "\N{MINUS SIGN}") else "-"
    for row in report.records:
        marks = [_sign(row.tasks.get(name), row.status, signs) for name in names]
        mistakes = _named(row, planted_mistakes.get(row.student))
        table.add_row(Text(one_line(row.student)), _score(row, minus), *marks, mistakes, _hand(row))
    console.print(f"{report.assignment}: {len(report.records)} submissions", style="bold", highlight=False)
    console.print(table)
    console.print("tasks: " + "  ".join(f"{i} {n.split('.', 1)[-1]}" for i, n in enumerate(names, 1)), highlight=False)
    console.print("legend: " + "  ".join(f"{sign[signs]} {sign[3]}" for sign in _SIGNS.values()), highlight=False)
    _show_remarks(console, report)
    for line in collected:
        say(console, line)
    if planted_mistakes:
        _show_planted(console, report, planted_mistakes)


def _show_remarks(console: Console, report: Report) -> None:
    """What the table has no room for: mistakes met, notebooks refused, answers that wait."""
    met = report.mistakes().most_common(6)
    if met:
        message = ", ".join(f"{mistake_name} in {name} ({count})" for (name, mistake_name), count in met)
        console.print(f"most frequent mistakes: {message}", highlight=False)
    for row in report.records:
        if row.status == REFUSED:
            say(console, f"{one_line(row.student)}: refused, {one_line(row.reason, 400)}")
    remarked = [one_line(row.student) for row in report.records if row.remarks]
    if remarked:
        message = ", ".join(remarked[:10]) + (", ..." if len(remarked) > 10 else "")
        say(console, f"submissions in which something was ignored, cut or stopped (see the report): {message}")
    no_time = [one_line(row.student) for row in report.records if NO_TIME in row.remarks]
    if no_time:
        say(console, f"{NO_TIME}: {', '.join(no_time)}")
    for group in dict.fromkeys(row.group for row in report.records if row.group):
        say(console, f"one notebook for {', '.join(map(one_line, group))}: {one_line(group[0])} handed it in")
    absent = [one_line(row.student) for row in report.records if row.status == MISSING]
    if absent:
        say(console, f"nothing handed in: {', '.join(absent)}")
    if report.waiting:
        console.print(f"submissions with answers to grade by hand: {len(report.waiting)}")


def _show_planted(console: Console, report: Report, planted_mistakes: Planted) -> None:
    """For a sample class: how many of the planted mistakes were named, and which were not."""
    records = {row.student: row for row in report.records}
    total = hit = 0
    for student, mistakes in planted_mistakes.items():
        for name, mistake_name in mistakes.items():
            mark = records[student].tasks.get(name) if student in records else None
            total += 1
            if mark and mistake_name in mark.diagnosis:
                hit += 1
                continue
            got = f"{mark.verdict}, named {', '.join(mark.diagnosis) or 'nothing'}" if mark else "not graded"
            console.print(f"not named: {mistake_name} in {name} of {student} ({got})", highlight=False, soft_wrap=True)
    console.print(f"planted mistakes named: {hit} of {total}", highlight=False)


def _sign(mark: TaskMark | None, status: str, signs: int) -> Text:
    if mark is None or status != GRADED:
        return Text("")
    entry = _SIGNS[mark.verdict]
    return Text(entry[signs], style=entry[2])


def _score(row: Record, minus: str) -> str:
    """What counts, and how it comes about where a late penalty is taken off."""
    if row.grade is None:
        return row.status
    if not row.penalty:
        return f"{row.score:g}/{row.max:g}"
    return f"{row.grade:g}/{row.max:g} ({row.score:g} {minus} {row.penalty:g} late)"


def _named(row: Record, planted_mistakes: Mapping[str, str] | None) -> str:
    if row.status != GRADED:
        return ""
    if planted_mistakes:
        hit = sum(
            mistake_name in row.tasks[name].diagnosis
            for name, mistake_name in planted_mistakes.items()
            if name in row.tasks
        )
        return f"{hit} of {len(planted_mistakes)}"
    named_count = sum(bool(mark.diagnosis) for mark in row.tasks.values())
    return str(named_count) if named_count else ""


def _hand(row: Record) -> str:
    if row.status != GRADED or not row.by_hand:
        return ""
    if row.waiting:
        return "waits"
    points = sum(mark.points or 0 for mark in row.by_hand.values())
    return f"{points:g}/{sum(mark.max for mark in row.by_hand.values()):g}"


def _can_write(console: Console, text: str) -> bool:
    try:
        text.encode(console.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def as_text(report: Report, planted_mistakes: Planted | None = None, collected: Sequence[str] = ()) -> str:
    """The table as plain text, for a file."""
    file = io.StringIO()
    console = Console(file=file, width=110, no_color=True, force_terminal=False)
    show_report(console, report, planted_mistakes, collected)
    return file.getvalue()


def terminal(stderr: bool = False) -> Console:
    """A console on this process's terminal; 110 columns where there is none, so that logs hold the table."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, width=None if stream.isatty() else 110)
