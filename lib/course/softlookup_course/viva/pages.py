"""A viva on paper: the student's sheet, the key, and a page for an oral examiner. All of it is HTML without a script.

Code comes from students: it is escaped, and it holds no sign that cannot be seen (see ``checking/edits.py``).
"""

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from softlookup_command.plain_text import one_line, visible
from softlookup_course.viva.questions import EDIT, LETTERS, YOURS, VivaQuestion
from softlookup_course.viva.vivas import Viva
from softlookup_grader.judging.cleaning import POLICY
from softlookup_judge.checking.catalogue import UnknownTask, get_task

MINUTES_EACH = 2
_OF_CODE = (EDIT, YOURS)
"""Kinds of questions whose options are lines of code."""

_HALF = 42
"""Characters of code that stand in half of a page's width."""

_RIGHT = '<li class="right">'

STYLE = Path(__file__).with_name("pages.css").read_text(encoding="utf-8")


def page(title: str, articles: Iterable[str], students: Sequence[str], style: str = "", policy: str = POLICY) -> str:
    """A page, complete in itself, that says in a ``meta`` whom it is about.

    Args:
        title: The page's title.
        articles: Its parts, HTML.
        students: The ids of the students that it is about.
        style: Rules that it has besides.
        policy: Its content security policy; the usual one lets no script run.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="students" content="{escape(json.dumps(sorted(students)))}">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head><body>\n"
        f"{''.join(articles)}</body></html>\n"
    )


def sheet(viva: Viva) -> str:
    """The sheet that a student gets: questions without answers."""
    count = len(viva.questions)
    sections = "".join(section(number, question) for number, question in enumerate(viva.questions, 1))
    return (
        f"<article>{head(viva, 'Questions on your code')}"
        f'<p class="given">{count} questions, about {count * MINUTES_EACH} minutes. One answer to each is right: '
        f"circle its letter. {powers(viva.questions)}</p>{sections}</article>\n"
    )


def key(viva: Viva) -> str:
    """The key to a sheet: the right letters in one line, and why."""
    letters = " ".join(f"{number}{question.letter}" for number, question in enumerate(viva.questions, 1))
    rows = "".join(
        f"<p><b>{number} {question.letter}</b> · {escape(question.task)}, line {question.line}, difficulty "
        f"{question.difficulty} of 3. {escape(question.why)}</p>"
        for number, question in enumerate(viva.questions, 1)
    )
    return f"<article class='key'>{head(viva, 'Key')}{_notes(viva)}<p><b>{letters}</b></p>{rows}</article>\n"


def oral(viva: Viva, book: str, feedback: str = "") -> str:
    """The page for somebody who examines a student by word of mouth: each question with its answer and what to hear.

    Args:
        viva: The questions.
        book: Where the book is, an address without a slash at its end; empty if it is not known.
        feedback: The address of the student's feedback page, seen from this page; empty if there is none.
    """
    sections = []
    for number, question in enumerate(viva.questions, 1):
        links = []
        if feedback:
            cell = f"cell-id={question.task.replace('.', '-')}"
            links.append(f'<a href="{escape(feedback)}#{escape(cell)}">its cell in the graded notebook</a>')
        if book and (address := _title_and_address(question.task)[1]):
            links.append(f'<a href="{escape(book)}/{escape(address)}">its section in the book</a>')
        where = ", ".join([f"line {question.line} of {escape(question.task)}", *links])
        answer = (
            f"<dl><dt>Answer</dt><dd>{question.letter}. {escape(question.why)}</dd>"
            f"<dt>A good explanation mentions</dt><dd>{escape(question.mention)}.</dd>"
            f"<dt>Look at</dt><dd>{where}</dd></dl>"
        )
        sections.append(section(number, question, question.key, answer))
    return (
        f"<article>{head(viva, 'For the examiner')}"
        '<p class="given">Show the code and ask for the result first; the options are for when no answer comes, and '
        f"for versions. Then ask why. {powers(viva.questions)}</p>{_notes(viva)}{''.join(sections)}</article>\n"
    )


def _notes(viva: Viva) -> str:
    """What is not asked about, and why."""
    return "".join(f"<p>{escape(visible(note))}</p>" for note in viva.notes)


def head(viva: Viva, title: str) -> str:
    """The top of a page: title, assignment, student and the sheet's number."""
    return (
        f"<h1>{escape(title)}</h1><p>{escape(viva.assignment)} · <b><bdi>{escape(one_line(viva.student))}</bdi></b> · "
        f"sheet {viva.code}</p>"
    )


def section(number: int, question: VivaQuestion, right: int | None = None, more: str = "") -> str:
    """One question; the right option is marked if it is given, and more may follow."""
    title, _ = _title_and_address(question.task)
    parts = [f"<section><h2>{number}. {escape(title)}</h2><p>{_rich(question.before)}</p>"]
    if question.code:
        parts.append(code(question.code))
    if question.call:
        arguments = "".join(f"<pre>{escape(argument)}</pre>" for argument in question.call)
        parts.append(f'<div class="row"><span>It is called with</span>{arguments}</div>')
    if question.gives:
        parts.append(f'<div class="row"><span>It returns</span><pre>{escape(question.gives)}</pre></div>')
    parts.append(f"<p><b>{_rich(question.after)}</b></p>{options(question, right)}{more}</section>")
    return "".join(parts)


def options(question: VivaQuestion, right: int | None = None) -> str:
    """The options of a question as a list; the right one is marked if it is given."""
    items = (
        f"{_RIGHT if at == right else '<li>'}<b>{letter}</b>{_option(question, text)}</li>"
        for at, (letter, text) in enumerate(zip(LETTERS, question.options, strict=True))
    )
    longest = max(len(line) for text in question.options for line in text.split("\n"))
    wide = " lines" if question.kind in _OF_CODE and longest > _HALF else ""
    return f'<ol class="options{wide}">{"".join(items)}</ol>'


def _option(question: VivaQuestion, text: str) -> str:
    words = question.kind not in _OF_CODE and text[:1].isalpha() and text.endswith(".")
    return f"<span>{escape(text)}</span>" if words else f"<pre>{escape(text)}</pre>"


def code(text: str) -> str:
    """Numbered lines of code; the one that is taken away and the one that takes its place are marked."""
    rows = []
    for row in text.split("\n"):
        tag = {"-": "del", "+": "ins"}.get(row[3:4], "")
        rows.append(f"<{tag}>{escape(row)}</{tag}>" if tag else escape(row))
    lines = "\n".join(rows)
    return f'<pre class="code">{lines}</pre>'


def _rich(text: str) -> str:
    """Text with names of code between backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))


def powers(questions: Sequence[VivaQuestion]) -> str:
    """What is needed to do an exponential by hand, where one occurs; empty if none does."""
    if not any(name in question.code for question in questions for name in ("softmax", "exp")):
        return ""
    powers = ", ".join(f"exp(−{x:g}) = {math.exp(-x):.2f}" for x in (0.5, 1, 2, 3, 4))
    return f"By hand: {powers}."


def _title_and_address(task_id: str) -> tuple[str, str]:
    """What a task is called, and its section in the book; empty where no such task is known."""
    try:
        task = get_task(task_id)
    except UnknownTask:
        return task_id, ""
    return f"{task.title} ({task_id})", task.book_url
