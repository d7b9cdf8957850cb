"""A viva on paper: the student's sheet, the key, and a page for an oral examiner. All of it is HTML without a script.

Code comes from students: it is escaped, and it holds no sign that cannot be seen (``mistakes/student_function.py``).
"""

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from softlookup_command.plain_text import one_line, visible
from softlookup_course.viva.questions import EDIT, LETTERS, VivaQuestion
from softlookup_course.viva.vivas import Viva
from softlookup_grader.judging.cleaning import POLICY
from softlookup_judge.checking.catalogue import get_task
from softlookup_judge.data.panel import rich

STYLE = Path(__file__).with_name("pages.css").read_text(encoding="utf-8")


def page(title: str, articles: Iterable[str], students: Sequence[str]) -> str:
    """A page, complete in itself, that says in a ``meta`` whom it is about."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="students" content="{escape(json.dumps(sorted(students)))}">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>\n{''.join(articles)}</body></html>\n"
    )


def student_sheet(viva: Viva) -> str:
    """The sheet that a student gets: questions without answers."""
    count = len(viva.questions)
    sections = "".join(_section(index, question) for index, question in enumerate(viva.questions, 1))
    return (
        f"<article>{_head(viva, 'Questions on your code')}"
        f'<p class="given">{count} questions, about {2 * count} minutes. One answer to each is right: '
        f"circle its letter. {powers(viva.questions)}</p>{sections}</article>\n"
    )


def key(viva: Viva) -> str:
    """The key to a sheet: the right letters in one line, and why."""
    letters = " ".join(f"{index}{question.letter}" for index, question in enumerate(viva.questions, 1))
    rows = "".join(
        f"<p><b>{index} {each.letter}</b> · {escape(each.task)}, line {each.line}. {escape(each.why)}</p>"
        for index, each in enumerate(viva.questions, 1)
    )
    return f"<article class='key'>{_head(viva, 'Key')}{_notes(viva)}<p><b>{letters}</b></p>{rows}</article>\n"


def oral(viva: Viva) -> str:
    """The page for somebody who examines a student by word of mouth: each question with its answer and what to hear."""
    sections = []
    for index, question in enumerate(viva.questions, 1):
        answer = (
            f"<dl><dt>Answer</dt><dd>{question.letter}. {escape(question.why)}</dd>"
            f"<dt>A good explanation mentions</dt><dd>{escape(question.mention)}.</dd>"
            f"<dt>Look at</dt><dd>line {question.line} of {escape(question.task)}</dd></dl>"
        )
        sections.append(_section(index, question, question.key, answer))
    return (
        f"<article>{_head(viva, 'For the examiner')}"
        '<p class="given">Show the code and ask for the result first; the options are for when no answer comes. Then '
        f"ask why. {powers(viva.questions)}</p>{_notes(viva)}{''.join(sections)}</article>\n"
    )


def _notes(viva: Viva) -> str:
    """What is not asked about, and why."""
    return "".join(f"<p>{escape(visible(sentence))}</p>" for sentence in viva.notes)


def _head(viva: Viva, title: str) -> str:
    """The top of a page: title, assignment, student and the sheet's number."""
    return (
        f"<h1>{escape(title)}</h1><p>{escape(viva.assignment)} · <b><bdi>{escape(one_line(viva.student))}</bdi></b> · "
        f"sheet {viva.code}</p>"
    )


def _section(index: int, question: VivaQuestion, correct: int | None = None, more: str = "") -> str:
    """One question; the right option is marked if it is given, and more may follow."""
    title = f"{get_task(question.task).title} ({question.task})"
    blocks = [("It is called with", question.call), ("It returns", (question.gives,))]
    rows = (
        f'<div class="row"><span>{words}</span>{"".join(f"<pre>{escape(text)}</pre>" for text in texts)}</div>'
        for words, texts in blocks
        if any(texts)
    )
    options = (
        f"<li{' class=right' * (at == correct)}><b>{letter}</b><pre>{escape(text)}</pre></li>"
        for at, (letter, text) in enumerate(zip(LETTERS, question.options, strict=True))
    )
    options_class = "options lines" if question.question_type == EDIT else "options"
    return (
        f"<section><h2>{index}. {escape(title)}</h2><p>{rich(question.before)}</p>{_code(question.code)}"
        f'{"".join(rows)}<p><b>{rich(question.after)}</b></p><ol class="{options_class}">'
        f"{''.join(options)}</ol>{more}</section>"
    )


def _code(text: str) -> str:
    """Numbered lines of code; the one that is taken away and the one that takes its place are marked."""
    rows = []
    for row in text.split("\n"):
        tag = {"-": "del", "+": "ins"}.get(row[3:4], "")
        rows.append(f"<{tag}>{escape(row)}</{tag}>" if tag else escape(row))
    return '<pre class="code">{}</pre>'.format("\n".join(rows))


def powers(questions: Sequence[VivaQuestion]) -> str:
    """What is needed to do an exponential by hand, where one occurs; empty if none does."""
    if not any(name in question.code for question in questions for name in ("softmax", "exp")):
        return ""
    powers = ", ".join(f"exp(−{x:g}) = {math.exp(-x):.2f}" for x in (0.5, 1, 2, 3, 4))
    return f"By hand: {powers}."
