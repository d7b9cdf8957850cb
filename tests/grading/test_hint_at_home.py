"""``softlookup hint`` and ``check --json``: what a program beside a student gets, and what it never gets."""

import contextlib
import json
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result
from IPython.core.interactiveshell import InteractiveShell

from softlookup_command.commands import main
from softlookup_course.at_home.validate import CheckOutcome
from softlookup_course.samples.handins import answers, filled
from softlookup_inside.sandbox.shell import CellShell
from softlookup_judge import get_task, tasks
from softlookup_judge.authoring import find_root, read_solution
from softlookup_judge.data.result import HELP_MIME
from softlookup_judge.helping.helping import SETTING
from softlookup_judge.helping.kept import TaskKept, read_kept
from softlookup_judge.home import kernel_checker

ROOT = find_root()
NAME = "02_soft_lookup"
EXERCISE = ROOT / "exercises" / NAME / f"{NAME}.ipynb"
PAGE = (ROOT / "book" / "instructors_later.md").read_text(encoding="utf-8")
TASK, CELL = "02.hard-lookup", "02-hard-lookup"
SOLUTION = answers(read_solution(ROOT / "solutions" / f"{NAME}.py"))[CELL]


def call(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def as_json(*words: object) -> dict:
    result = call(*words, "--json")
    assert result.exit_code in (0, 1), result.stderr
    return json.loads(result.stdout)


class Desk:
    """A student's folder with one notebook."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME / f"{NAME}.ipynb"
        self.path.parent.mkdir()
        self.write({})

    def write(self, cells: dict[str, str]) -> None:
        nbformat.write(filled(nbformat.read(EXERCISE, as_version=4), cells), self.path)

    def tries(self, expression: str) -> None:
        head, _, _ = SOLUTION.partition("    ")
        self.write({CELL: f"{head.rstrip()}\n    return {expression}"})

    def steps(self) -> int:
        return read_kept(self.path.parent).tasks.get(TASK, TaskKept()).help.steps


def run_here(notebook: nbformat.NotebookNode, folder: Path, timeout_s: float, done: object) -> None:
    """Run the cells of a notebook in this process, with nothing known of an earlier run."""
    kernel_checker.cache_clear()
    shell = CellShell()
    with contextlib.chdir(folder):
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = nbformat.from_dict(shell.run(cell.source, timeout_s, 1_000_000).outputs)
    InteractiveShell.clear_instance()


@pytest.fixture
def desk_with_kernels(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


@pytest.fixture
def desk(desk_with_kernels, monkeypatch):
    """A desk whose notebooks run in this process: a kernel takes seconds to start, and a test asks for several."""
    for module in ("validate", "hint_at_home"):
        monkeypatch.setattr(f"softlookup_course.at_home.{module}.execute", run_here)
    return desk_with_kernels


def test_each_new_answer_gets_one_step_and_none_is_the_solution(desk):
    for number, heading in enumerate(("What can be seen of your answer", "The formula", "A worked example"), 1):
        desk.tries(str(-number))
        for again in (False, True) if number == 1 else (False,):
            step = as_json("hint", TASK)
            assert step["heading"] == heading and step["again"] is again, "the same answer gets the same step"
            shown = "\n".join([*step["paragraphs"], step["then"], step["task"]["sentence"]])
            lines = [line.strip() for line in SOLUTION.splitlines()[1:]]
            assert not [line for line in lines if len(line) > 8 and line in shown]
    assert desk.steps() == 3 and 'notebook alone, by `hint("02.hard-lookup")`' in shown
    assert as_json("check", desk.path)["tasks"][0]["help"] == 3, "the notebook's own checks count it"


def test_the_notebook_is_not_changed_and_steps_taken_there_count(desk):
    desk.tries("-1")
    notebook = nbformat.read(desk.path, as_version=4)
    record = {HELP_MIME: {"task": TASK, "help": 1}}
    notebook.cells.append(nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", data=record)]))
    nbformat.write(notebook, desk.path)
    before = desk.path.read_bytes()
    assert as_json("hint", TASK)["heading"] == "The formula"
    assert desk.path.read_bytes() == before


def test_a_blank_task_and_one_that_does_not_run_cost_no_step(desk):
    step = as_json("hint", TASK)
    assert (step["heading"], step["steps"]) == ("Nothing is written yet", 0) and "first try" in step["paragraphs"][0]
    desk.write({CELL: "def hard_lookup(:"})
    step = as_json("hint", TASK)
    assert step["heading"] == "What the check says" and "SyntaxError" in step["paragraphs"][0]
    assert desk.steps() == 0


def test_a_right_answer_gets_no_other_one(desk):
    desk.write({CELL: SOLUTION})
    step = as_json("hint", TASK)
    assert list(step) == documented("hint")
    assert step["heading"] == "No help is needed" and step["task"]["verdict"] == "pass" and step["steps"] == 0
    assert "return " not in json.dumps(step) and desk.steps() == 0


def test_a_course_that_stops_at_a_step_stops_here_too(desk, monkeypatch):
    monkeypatch.setenv(SETTING, "")  # which the notebook's cell sets, and which is unset afterwards
    for last, heading in (("none", "Help"), ("nudge", "What can be seen of your answer")):
        desk.tries("-1")
        notebook = nbformat.read(desk.path, as_version=4)
        notebook.cells[1].source += f'\nimport os\n\nos.environ["SOFTLOOKUP_HELP"] = {last!r}'
        nbformat.write(notebook, desk.path)
        step = as_json("hint", TASK, desk.path)
        assert step["heading"] == heading and step["then"] == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["02.hard-lokup"], "did you mean 02.hard-lookup"),
        (["hard"], "hard is neither a notebook nor a task (did you mean "),
        ([TASK, "02.weights"], "one notebook and one task of it can be named"),
        (["04.scale"], "there is no notebook of 04.scale in "),
        (["04.scale", f"{NAME}/{NAME}.ipynb"], "does not ask the task 04.scale: it asks 02.hard-lookup"),
        ([TASK, "nothing.ipynb"], "there is no file nothing.ipynb"),
        ([TASK, "broken.ipynb"], "broken.ipynb is not a notebook: it is not JSON"),
        ([TASK, "."], "is not a file"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(desk, words, says, monkeypatch):
    Path("broken.ipynb").write_text('{"cells": [')
    Path("_config.yml").touch()
    Path("solutions").mkdir()
    for more in ([], ["--json"]):
        refused = call("hint", *words, *more)
        assert refused.exit_code == 2 and says in refused.stderr and refused.stdout == ""


@pytest.mark.slow
def test_check_as_json_holds_what_the_page_says(desk_with_kernels):
    desk = desk_with_kernels
    mistake = get_task("02.weights").mistakes[0]
    right = answers(read_solution(ROOT / "solutions" / f"{NAME}.py"))
    desk.write({CELL: right[CELL], "02-weights": mistake.applied_to(right["02-weights"])})
    result = call("check", desk.path, "--json")
    assert result.exit_code == 1 and result.stderr == ""
    record = json.loads(result.stdout)
    assert record["format"] == "softlookup-check-1" and record["notebook"] == str(desk.path)
    assert list(record) == documented("check") and list(record["tasks"][0]) == documented("task")
    assert [line["id"] for line in record["tasks"]] == [task.id for task in tasks(2)]
    by_id = {line["id"]: line for line in record["tasks"]}
    assert by_id[TASK]["verdict"] == "pass" and by_id[TASK]["points"] == by_id[TASK]["max"] > 0
    wrong = by_id["02.weights"]
    assert wrong["mistakes"] == [mistake.slug] and mistake.says in wrong["sentence"]
    assert {case["result"] for case in wrong["cases"]} >= {"wrong"} and wrong["read"][0].startswith("book/02_soft")
    blank = next(line for line in record["tasks"] if line["verdict"] == "blank")
    assert blank["cases"] == [] and blank["title"]


def documented(name: str) -> list[str]:
    """The fields that the page lists for a record, in its order."""
    [line] = [line for line in PAGE.splitlines() if line.startswith(f"| {name} |")]
    return [field.strip(" `") for field in line.split("|")[2].split(",")]


def test_check_as_json_says_nothing_on_stdout_where_it_cannot_run(tmp_path):
    (tmp_path / "x.ipynb").write_text("no notebook")
    result = call("check", tmp_path / "x.ipynb", "--json")
    assert (result.exit_code, result.stdout) == (2, "") and "is not a notebook" in result.stderr
    assert list(CheckOutcome("02.x", "stopped", 0.0, 1.0, "The kernel ended.").to_json()) == documented("task")


@pytest.mark.slow
def test_in_words_the_verdict_comes_before_the_step_and_a_comment_makes_no_other_answer(desk):
    desk.tries("-1")
    shown = call("hint", TASK).stdout
    assert shown.index("Not yet: ") < shown.index("What can be seen of your answer") < shown.index("Read: book/")
    desk.tries("(-1)  # now it must be right")
    assert "the same one" in call("hint", TASK).stdout
