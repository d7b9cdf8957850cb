"""``softlookup hint``: the next step of help on one task of a notebook in a file."""

import ast
import contextlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_course.at_home.kept_at_home import keep
from softlookup_course.at_home.validate import CheckOutcome, check_of, execute, judged, outcomes_in, rebuilt_at
from softlookup_grader.course.notebooks import grade_id, help_of, is_solution, read_notebook, task_id, verdict_of
from softlookup_inside.asking.source import text_hash
from softlookup_judge.checking.catalogue import Catalogue
from softlookup_judge.data.result import HEADLINES, HELP_STEPS
from softlookup_judge.helping.helping import SETTING, Hint
from softlookup_judge.helping.kept import HelpOnTask, TaskKept, read_kept

FORMAT = "softlookup-hint-1"
"""The kind of record that ``softlookup hint --json`` prints: another number says that a field went or changed."""

MIME = "application/vnd.softlookup.step+json"

_ASK = """
from IPython.display import display
from softlookup_judge.helping.helping import HelpOnTask
from softlookup_judge.home import kernel_checker

_hint = kernel_checker().hint_for_command({task!r}, {variant}, HelpOnTask({steps}), {again})
display({{{mime!r}: vars(_hint)}}, raw=True)
"""

_FIRST_TRY = "Write a first try into its cell, save the notebook, and ask again: a step of help is about an answer."


@dataclass(frozen=True)
class HintAtHome:
    """A step of help on a task; ``again`` if the answer has not changed, ``remark`` if it could not be kept."""

    outcome: CheckOutcome
    hint: Hint
    again: bool = False
    remark: str = ""

    def to_json(self, notebook: str) -> dict[str, Any]:
        """What ``softlookup hint --json`` prints; fields may come, and none goes while ``FORMAT`` stays."""
        return {
            "format": FORMAT,
            "notebook": notebook,
            "task": self.outcome.to_json(),
            "heading": self.hint.title,
            "paragraphs": [paragraph.strip("\n") for paragraph in self.hint.paragraphs],
            "then": self.hint.then,
            "read": self.hint.reading,
            "steps": self.hint.step,
            "again": self.again,
        }

    def text(self) -> str:
        """The same in plain words, with the sentence of the verdict before it."""
        verdict = f"{HEADLINES[self.outcome.verdict]}: {self.outcome.message}"
        above = verdict * (self.outcome.verdict in ("partial", "wrong") and bool(self.outcome.message))
        reminder = "  The answer has not changed since this step was given, so that it is the same one." * self.again
        return "\n".join(filter(None, (above, self.hint.text(), reminder)))


def hint_at_home(path: Path, task: str, catalogue: Catalogue, timeout_s: float = 60.0) -> HintAtHome:
    """Run a notebook up to the check of one task, and give the next step of help, which is never the solution."""
    known, folder = catalogue.task(task), path.resolve().parent
    saved = read_notebook(path)
    rebuilt = rebuilt_at(path, catalogue)
    notebook = rebuilt.notebook
    at, variant = check_of(notebook, task, path.name, catalogue)
    answer = next((cell for cell in notebook.cells if is_solution(cell) and task_id(grade_id(cell)) == task), None)
    answer_hash = _answer_hash(answer.source) if answer is not None else ""
    in_notebook = help_of(saved.cells).get(task, 0)
    outside = read_kept(folder).tasks.get(task, TaskKept()).help
    again = outside.steps >= max(in_notebook, 1) and outside.answer == answer_hash
    help_so_far = HelpOnTask(max(in_notebook, outside.steps), answer_hash)
    last = _ASK.format(task=task, variant=variant, steps=help_so_far.steps, again=again, mime=MIME)
    notebook.cells = [*notebook.cells[: at + 1], nbformat.v4.new_code_cell(_setting(saved) + last)]
    execute(notebook, folder, timeout_s, lambda index, total: None)
    outcomes = outcomes_in(notebook, catalogue, task, at)
    outcome = outcomes[-1]
    changes = judged(outcomes, rebuilt.answers)
    outputs = (output.get("data", {}) for output in notebook.cells[-1].get("outputs", []))
    hint_data = next((data[MIME] for data in outputs if MIME in data), None)
    if outcome.verdict == "blank":
        hint = Hint(task, help_so_far.steps, "Nothing is written yet", (_FIRST_TRY,), reading=known.book_url)
    elif hint_data is None or verdict_of(notebook.cells[at]) is None:
        hint = Hint(task, help_so_far.steps, "What the check says", (outcome.message,), reading=known.book_url)
    else:
        hint = Hint(**{**hint_data, "paragraphs": tuple(hint_data["paragraphs"])})
        outcome = replace(outcome, help=hint.step)
        if 0 < hint.step <= len(HELP_STEPS) and outcome.verdict != "pass":
            changes[task] = {**changes.get(task, {}), "help": replace(help_so_far, steps=hint.step)}
        again = again and outcome.verdict != "pass"
        return HintAtHome(outcome, hint, again, keep(folder, changes))
    return HintAtHome(outcome, hint, remark=keep(folder, changes))


def _answer_hash(source: str) -> str:
    """An answer's hash, in which comments and layout do not count: they make no other answer."""
    with contextlib.suppress(SyntaxError, ValueError):
        source = ast.unparse(ast.parse(source))
    return text_hash(source)


def _setting(notebook: NotebookNode) -> str:
    """The line by which a released notebook names the last step of help that its course allows."""
    lines = (line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.splitlines())
    return next((f"import os\n{line}\n" for line in lines if line.startswith(f'os.environ["{SETTING}"] = ')), "")
