"""A viva as a page with a clock: it saves the answers in a file to hand in, and holds no key."""

import base64
import hashlib
import json

from softlookup.grading.judging.cleaning import POLICY
from softlookup.grading.viva.pages import MINUTES_EACH, head, page, powers, section
from softlookup.grading.viva.questions import LETTERS
from softlookup.grading.viva.vivas import Viva

_STYLE = """
#clock { background: #fff; border-bottom: 1px solid #111; padding: .2rem 0; position: sticky; text-align: right;
         top: 0; }
fieldset { border: 0; display: flex; gap: 1.2rem; margin: .5rem 0 0; padding: 0; }
label { cursor: pointer; padding: .4rem .2rem; }
button { background: #111; border: 0; border-radius: 4px; color: #fff; cursor: pointer; font: inherit; margin: 1rem 0;
         padding: .5rem 1.2rem; }
[hidden] { display: none; }
:focus-visible { outline: 3px solid #1a6fb0; outline-offset: 2px; }
"""

_SCRIPT = """
const about = JSON.parse(document.getElementById("about").textContent);
const [start, clock, body, done, said] = ["start", "clock", "body", "done", "said"].map((id) =>
  document.getElementById(id));
let begun = 0, timer = 0;
const seconds = () => Math.round((Date.now() - begun) / 1000);
const show = () => {
  const left = Math.max(0, 60 * about.minutes - seconds());
  clock.textContent = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
  if (!left) finish();
};
const finish = () => {
  if (!timer) return;
  clearInterval(timer);
  timer = 0;
  const answers = [...document.querySelectorAll("fieldset")].map((set) => {
    set.disabled = true;
    return (set.querySelector("input:checked") || { value: "-" }).value;
  }).join("");
  const saved = JSON.stringify({ ...about, answers, seconds: seconds() });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([saved], { type: "application/json" }));
  link.download = "viva-" + about.viva + ".json";
  link.textContent = link.download;
  done.hidden = true;
  said.replaceChildren("Your answers " + answers + " are saved in the file ", link, ". Hand in this file.");
  said.focus();
  link.click();
};
start.addEventListener("click", () => {
  start.hidden = true;
  body.hidden = clock.hidden = false;
  begun = Date.now();
  timer = setInterval(show, 500);
  show();
});
done.addEventListener("click", finish);
"""


def form(viva: Viva, minutes: float | None = None) -> str:
    """The page: questions appear with the start of the clock, and answers are saved when it ends, or before.

    Args:
        viva: The questions.
        minutes: How long it takes; None gives two minutes to each question.

    Returns:
        A page that is complete in itself. It holds the questions without their answers.
    """
    minutes = MINUTES_EACH * len(viva.questions) if minutes is None else minutes
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
