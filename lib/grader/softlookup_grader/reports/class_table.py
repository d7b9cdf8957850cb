"""Shows the class at a glance on a terminal, or as plain text. It reads well without colour."""

import io
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from softlookup_command.plain_text import one_line
from softlookup_grader.course.deadlines import in_words
from softlookup_grader.course.notebooks import task_id
from softlookup_grader.reports.class_report import PAIRS, ClassReport
from softlookup_grader.reports.similarity import HINT
from softlookup_grader.reports.table import say
from softlookup_judge.data.result import HELP_STEPS

_BAR = 40
_COSTLY = 5


def show_class(console: Console, report: ClassReport) -> None:
    """Print one assignment of a class."""
    count = len(report.graded) + len(report.refused) + len(report.missing)
    say(console, f"{report.assignment}: {count} in the class", style="bold")
    say(console, f"graded {len(report.graded)}, refused {len(report.refused)}, missing {len(report.missing)}")
    for student, reason in report.refused.items():
        say(console, f"  refused: {one_line(student)}, {one_line(reason, 400)}")
    if report.missing:
        say(console, f"  nothing handed in: {_names(report.missing)}")
    for line in report.collected:
        say(console, f"  collected: {line}" if line is report.collected[0] else f"    {line}")
    for group in report.groups:
        say(console, f"  one notebook for {_names(group)}: {one_line(group[0])} handed it in")
    for student, sentences in report.remarks.items():
        for sentence in sentences:
            say(console, f"  {one_line(student)}: {one_line(sentence, 400)}")
    for line in report.more_time:
        say(console, f"  more time (for you alone): {line}")
    if not report.graded:
        return
    _show_points(console, report)
    _show_tasks(console, report)
    _show_costs(console, report)
    if report.waiting:
        say(console, f"\nwritten answers to grade by hand: {len(report.waiting)} ({_names(report.waiting)})")
    _show_help(console, report)
    _show_pairs(console, report)
    _show_known(console, report)


def report_text(report: ClassReport) -> str:
    """The report as plain text, for a file."""
    file = io.StringIO()
    show_class(Console(file=file, width=110, no_color=True, force_terminal=False), report)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _names(students: Iterable[str]) -> str:
    return ", ".join(one_line(student) for student in students)


def _show_points(console: Console, report: ClassReport) -> None:
    low, middle, high = report.quartiles or (0.0, 0.0, 0.0)
    mean = sum(report.scores) / len(report.scores)
    say(console, f"\npoints, of {report.max:g}", style="bold")
    say(
        console,
        f"lowest {report.scores[0]:g}, lower quartile {low:g}, median {middle:g}, upper quartile {high:g}, "
        f"highest {report.scores[-1]:g}; mean {mean:.1f}"
        + (f"; {report.late} with a late penalty" * bool(report.late)),
    )
    for student, late in report.late_ones.items():
        when = f"came late by {in_words(timedelta(seconds=round(late.seconds)))}" if late.seconds else "has a penalty"
        cost = f"which cost {late.penalty:g} points" if late.penalty else "which cost nothing"
        say(console, f"  {one_line(student)} {when}, {cost}")
    if report.untimed:
        say(
            console,
            f"  nobody knows when these came, so they count as on time: {_names(report.untimed)} "
            f"('softlookup times {report.assignment} FILE.csv' enters times)",
        )
    bars = report.histogram()
    most = max(count for _, _, count in bars)
    for begin, end, count in bars:
        filled = "#" * -(-count * _BAR // most) if count else ""
        say(console, f"{begin:>6.4g} to {end:>6.4g} |{filled}{' ' * bool(count)}{count or ''}")


def _show_tasks(console: Console, report: ClassReport) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("task", no_wrap=True)
    for heading in ("right", "mean", "of", "lost", "blank"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("most frequent known mistakes")
    for task in report.tasks:
        met = ", ".join(f"{mistake.name} ({mistake.students})" for mistake in task.mistakes[:3])
        figures = f"{task.pass_rate:.0%}", f"{task.mean:.2f}", f"{task.max:g}", f"{task.lost:g}"
        table.add_row(task.task, *figures, str(task.blank or ""), met)
    console.print()
    console.print(table)


def _show_costs(console: Console, report: ClassReport) -> None:
    task = report.costliest
    if task is not None and task.lost > 0:
        say(console, f"the task that cost the most: {task.task}, {task.lost:g} points in total")
    costly = [mistake for mistake in report.mistakes if mistake.points > 0][:_COSTLY]
    if costly:
        say(console, "the known mistakes that cost the most:")
    for mistake in costly:
        people = "1 student" if mistake.students == 1 else f"{mistake.students} students"
        sentence = mistake.says[:1].upper() + mistake.says[1:]
        say(console, f"  {mistake.name} in {mistake.task}: {mistake.points:g} points, {people}. {sentence}".rstrip())


def _show_help(console: Console, report: ClassReport) -> None:
    """In which tasks help was asked for, as the notebooks say."""
    if not report.helped:
        return
    say(console, "\nhelp that was asked for at home, according to the notebooks (it costs no points)", style="bold")
    for step_count, step in reversed(list(enumerate(HELP_STEPS, 1))):
        tasks = Counter(
            task
            for student_help in report.helped.values()
            for task, steps in student_help.items()
            if steps == step_count
        )
        if tasks:
            say(console, f"  up to the {step}: " + ", ".join(f"{task} ({n})" for task, n in sorted(tasks.items())))


def _show_pairs(console: Console, report: ClassReport) -> None:
    if not report.pairs:
        say(console, "\nno two submissions are more alike than is usual in this class")
        return
    say(console, "\nmore alike than is usual in this class (text of the release is not counted)", style="bold")
    for pair in report.pairs[:PAIRS]:
        cells = ", ".join(task_id(cell) for cell in pair.cells)
        say(
            console,
            f"  {one_line(pair.first)} and {one_line(pair.second)}: {pair.rare:.0f} rare runs of tokens, "
            f"{pair.fraction:.0%} of the shorter one; {cells}",
        )
    if len(report.pairs) > PAIRS:
        say(console, f"  pairs not shown: {len(report.pairs) - PAIRS}")
    say(console, f"  {HINT}")


def _show_known(console: Console, report: ClassReport) -> None:
    """Whose answers are published, shown by the check, or were handed in before."""
    if not report.known:
        return
    say(console, "\nanswers that were there before (names and numbers are not compared)", style="bold")
    for finding in report.known:
        cells = ", ".join(task_id(cell) for cell in finding.cells)
        say(
            console,
            f"  {one_line(finding.student)}: {len(finding.cells)} of {finding.of} longer answers as in "
            f"{one_line(finding.source, 300)}; {cells}",
        )
    say(console, f"  {HINT}")
