"""A viva as a page with a clock: it saves the answers in a file to hand in, and holds no key."""

import base64
import hashlib
import json
from pathlib import Path

from softlookup_course.viva.pages import MINUTES_EACH, head, page, powers, section
from softlookup_course.viva.questions import LETTERS
from softlookup_course.viva.vivas import Viva
from softlookup_grader.judging.cleaning import POLICY

_STYLE, _SCRIPT = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("form.css", "form.js"))


def form(viva: Viva, minutes: float | None = None, factor: float = 1.0) -> str:
    """The page: questions appear with the start of the clock, and answers are saved when it ends, or before.

    Args:
        viva: The questions.
        minutes: How long it takes; None gives two minutes to each question.
        factor: What the minutes are multiplied by for this student.

    Returns:
        A page that is complete in itself. It holds the questions without their answers.
    """
    minutes = factor * (MINUTES_EACH * len(viva.questions) if minutes is None else minutes)
    about = {"viva": viva.code, "assignment": viva.assignment, "student": viva.student, "minutes": minutes}
    data = json.dumps(about).replace("<", "\\u003c")
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    sections = "".join(
        section(number, question, more=_choice(number)) for number, question in enumerate(viva.questions, 1)
    )
    parts = (
        f"{head(viva, 'Questions on your code')}<p>{len(viva.questions)} questions, {minutes:g} minutes. One answer to "
        f"each is right. {powers(viva.questions)} The clock starts with the button and cannot be stopped.</p>",
        '<button id="start" type="button">Start</button><p id="clock" role="timer" hidden></p>',
        f'<main id="body" hidden>{sections}<button id="done" type="button">I am done</button>',
        '<p id="said" role="status" tabindex="-1"></p></main>\n',
        f'<script type="application/json" id="about">{data}</script><script>{_SCRIPT}</script>',
    )
    policy = f"{POLICY}; script-src 'sha256-{digest}'"
    return page("Questions on your code", parts, [viva.student], _STYLE, policy)


def _choice(number: int) -> str:
    """The letters to choose from."""
    boxes = "".join(
        f'<label><input type="radio" name="q{number}" value="{letter}"> {letter}</label>' for letter in LETTERS
    )
    return f'<fieldset aria-label="Answer to question {number}">{boxes}</fieldset>'
