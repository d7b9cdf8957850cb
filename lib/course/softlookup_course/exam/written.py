"""A sheet and its key, in Markdown."""

import re

from softlookup_course.exam.notes import tex
from softlookup_course.exam.question import Drawn, ExpectedMistake
from softlookup_course.exam.sheet import Placed, Sheet

KIND_SAYS = {
    "number": "numbers",
    "matrix": "rows and matrices",
    "shape": "shapes",
    "text": "words",
    "explanation": "your own words",
    "true-false": "true or false, with the reason",
    "sketch": "a sketch",
}


def sheet_markdown(exam_sheet: Sheet) -> str:
    """Write the sheet that is handed out: without answers, and without the seed, which gives them away."""
    parts = [_head(exam_sheet, "Exam: transformers"), _ABOUT, *map(_question_text, exam_sheet.questions)]
    return "\n\n".join(parts) + "\n"


def key_markdown(exam_sheet: Sheet) -> str:
    """Write the key: every question with its answer, how it is marked, and mistakes to expect."""
    head = f"{_head(exam_sheet, 'Key: transformers')} · seed {exam_sheet.seed}"
    return "\n\n".join([head, *map(_key_text, exam_sheet.questions)]) + "\n"


_ABOUT = (
    "Name: ______________________________ Number: ____________________\n\n"
    "All sums can be done by hand. Write the way to your answer: it has points of its own. Letters as in the course: "
    "$B$ sequences, $T$ queries, $S$ keys, $D$ model width, $N$ query heads, $K$ key-value heads, $H$ head width, $F$ "
    "hidden width, $V$ words, $L$ layers."
)


def _head(exam_sheet: Sheet, title: str) -> str:
    chapters = ", ".join(map(str, exam_sheet.chapters))
    title += f" · version {exam_sheet.version}" if exam_sheet.version else ""
    return f"# {title}\n\n{exam_sheet.points} points · {exam_sheet.minutes} minutes · chapters {chapters}"


def _title(placed: Placed) -> str:
    plural = "s" if placed.question.points > 1 else ""
    return f"## {placed.position}. ({placed.question.points} point{plural})"


def _question_text(placed: Placed) -> str:
    room_cm = min(max(3, placed.question.minutes), 14)  # a centimetre a minute, as far as it fits on one page
    return f"{_title(placed)}\n\n{apart(placed.instance.text)}\n\n<!-- space: {room_cm} cm -->"


def _key_text(placed: Placed) -> str:
    question = "\n".join(f"> {line}".rstrip() for line in apart(placed.instance.text).splitlines())
    facts = placed.question
    about = f"*Chapter {facts.chapter} · {KIND_SAYS[facts.question_type]} · {facts.minutes} minutes · `{facts.id}`*"
    return "\n\n".join(
        [_title(placed), about, question, apart(f"**Answer.** {placed.instance.answer}"), marking(placed.instance)]
    )


def apart(text: str) -> str:
    """Give each displayed formula a paragraph of its own, which every reader of Markdown understands."""
    return re.sub(r"\s*(\$\$.+?\$\$)\s*", r"\n\n\1\n\n", text, flags=re.DOTALL).strip()


def marking(instance: Drawn) -> str:
    """Write how a question is marked, and which mistakes are to be expected."""
    marks = ["**Marks.**", ""] + [f"- {points}: {what}" for points, what in instance.marks]
    if instance.expected:
        marks += ["", "**Mistakes to expect.**", ""] + [f"- {_slip(mistake)}" for mistake in instance.expected]
    return "\n".join(marks)


def _slip(mistake: ExpectedMistake) -> str:
    words = mistake.words if mistake.value is None else f"{_shown(mistake.value)}: {mistake.words}"
    return f"{words} ({mistake.task})" if mistake.task else words


def _shown(value: object) -> str:
    """An answer as a formula; parts of several kinds are written one after the other."""
    if isinstance(value, tuple) and any(not isinstance(part, int | float) for part in value):
        return ", ".join(f"${tex(part)}$" for part in value)
    return f"${tex(value)}$"
