"""What is read from a student's notebooks: right, half done, wrong, changed since, blank, broken, and hostile ones."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from softlookup_course.at_home.validate import rehearse
from softlookup_course.progress import as_json, as_text, read_chapter, read_folder
from softlookup_course.progress.report import as_script
from softlookup_course.samples.handins import filled
from softlookup_grader.course.notebooks import grade_id
from softlookup_inside.asking.source import cell_hash, text_hash
from softlookup_judge import MIME, check, get_task, tasks
from softlookup_judge.authoring import find_root, read_solution, solution_cells
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.data.result import HELP_MIME

ROOT = find_root()
NAME = "04_one_head"
SOLVED = solution_cells(read_solution(ROOT / "solutions" / f"{NAME}.py"))


@pytest.fixture
def release() -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


def verdict_record(task: str, verdict: str = "pass", points: object = 2.0, **more: object) -> dict[str, object]:
    return {"task": task, "verdict": verdict, "points": points, "max": 2, "diagnosis": [], "message": "", **more}


def leave_verdict(notebook: NotebookNode, name: str, record: dict[str, object]) -> None:
    """Leave a verdict beneath the check of that grade id, as a notebook keeps it."""
    cell = next(cell for cell in notebook.cells if grade_id(cell) == f"{name}-check")
    data = {"text/plain": "2.0", "text/html": "<b>panel</b>", MIME: record}
    cell.outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]


def state(notebook: NotebookNode, task: str):
    return next(task_state for task_state in read_chapter(notebook, 4, STANDARD).tasks if task_state.task.id == task)


def save(folder: Path, text: str, name: str = NAME) -> Path:
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_an_untouched_notebook_is_blank(release):
    chapter = read_chapter(release, 4, STANDARD)
    assert {task_state.state for task_state in chapter.tasks} == {"blank"} and len(chapter.tasks) == len(tasks(4))
    assert chapter.written == {"04-uniform": False}
    assert not chapter.is_begun and not chapter.done and chapter.points == 0
    assert chapter.minutes_left == sum(task.minutes for task in tasks(4))


@pytest.mark.slow
def test_a_check_in_a_kernel_leaves_a_verdict_that_knows_its_answer(release, tmp_path):
    mistake = get_task("04.scale").mistake("no-sqrt")
    answers = {name: SOLVED[name] for name in ("04-mix", "04-scores")}
    answers["04-scale"] = mistake.applied_to(SOLVED["04-scale"])
    keep = ("04-setup", "04-example-two", *answers, *(f"{name}-check" for name in answers))
    small = filled(release, answers)
    small.cells = [cell for cell in small.cells if grade_id(cell) in keep]
    done = rehearse(save(tmp_path, nbformat.writes(small))).notebook
    assert state(done, "04.mix").state == "pass" and state(done, "04.mix").points == get_task("04.mix").points
    wrong = state(done, "04.scale")
    assert (wrong.state, wrong.mistake_sentences) == ("wrong", (mistake.says,))
    answer = next(cell for cell in done.cells if grade_id(cell) == "04-mix")
    answer.source += "  \n\n"
    assert state(done, "04.mix").state == "pass", "blanks at the end change nothing"
    answer.source = answer.source.replace("weights @ v", "v")
    assert state(done, "04.mix").state == "changed"
    assert state(done, "04.mix").points == 0


def test_an_answer_that_stands_in_no_cell_has_no_hash():
    assert cell_hash(lambda x: x) == "" and cell_hash(3) == ""
    result = check("04.mix", lambda weights, v: weights @ v)
    assert "answer" not in result.record()


def test_a_hash_is_of_the_text_alone():
    assert text_hash("a = 1  \nb\n\n") == text_hash("\na = 1\nb") != text_hash("a = 1\n b")


@pytest.mark.parametrize(
    ("source", "verdict", "expected"),
    [
        ("def mix(weights, v):\n    raise NotImplementedError()", "pass", "blank"),
        ("def mix(weights, v):\n    return v", "blank", "changed"),
        ("def mix(weights, v):\n    return v", "error", "wrong"),
        ("def mix(weights, v):\n    return v", "partial", "partial"),
        ("%time\ndef mix(weights, v):\n    return v", "pass", "pass"),
    ],
)
def test_a_verdict_is_read_with_its_answer(release, source, verdict, expected):
    notebook = filled(release, {"04-mix": source})
    leave_verdict(
        notebook, "04-mix", verdict_record("04.mix", verdict, 1.0, answer="0" * 16 if source.startswith("%") else "")
    )
    assert state(notebook, "04.mix").state == expected


def test_an_answer_without_a_check_is_told_so(release):
    assert state(filled(release, {"04-mix": SOLVED["04-mix"]}), "04.mix").state == "unchecked"


@pytest.mark.parametrize("points", [1e9, -3, float("nan"), float("inf"), True, "2", None, [], {}])
def test_points_that_an_output_claims_stay_within_the_tasks(release, points):
    notebook = filled(release, {"04-mix": SOLVED["04-mix"]})
    leave_verdict(notebook, "04-mix", verdict_record("04.mix", "partial", points))
    assert 0 <= state(notebook, "04.mix").points <= get_task("04.mix").points


HOSTILE = "<script>alert(1)</script>\x1b[2J"


def test_no_word_of_a_hostile_output_is_passed_on(release, tmp_path):
    notebook = filled(release, {"04-mix": SOLVED["04-mix"], "04-scores": SOLVED["04-scores"]})
    leave_verdict(
        notebook,
        "04-mix",
        verdict_record("04.mix", "wrong", diagnosis=[HOSTILE, "no-sqrt"], message=HOSTILE, more=HOSTILE),
    )
    leave_verdict(notebook, "04-scores", verdict_record("04.mix"))  # another task's verdict
    for cell in notebook.cells:
        if grade_id(cell) == "04-uniform":
            cell.metadata.nbgrader.grade_id = HOSTILE
    save(tmp_path, nbformat.writes(notebook))
    chapters = read_folder(tmp_path, STANDARD)
    script = as_script(as_json(chapters, datetime.now(UTC)))
    assert "alert" not in script and "\x1b" not in script and script.isascii()
    assert json.loads(script.removeprefix("window.softlookupProgress = ").rstrip(";\n"))["tasks"]["04.mix"] == {
        "state": "wrong",
        "points": 2.0,
        "named": [],
    }
    assert state(notebook, "04.scores").state == "unchecked"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ('{"cells": [', "not JSON"),
        ("[1, 2]", "not a notebook"),
        ('{"nbformat": 4, "cells": 3}', "not a sound notebook"),
    ],
)
def test_a_broken_notebook_is_one_sentence_and_the_others_are_read(release, tmp_path, text, problem):
    save(tmp_path, text, "05_many_heads")
    save(tmp_path, nbformat.writes(filled(release, {"04-mix": SOLVED["04-mix"]})))
    chapters = {chapter.chapter: chapter for chapter in read_folder(tmp_path, STANDARD)}
    assert problem in chapters[5].problem and not chapters[5].is_begun
    assert chapters[4].count("unchecked") == 1 and not chapters[4].problem


def test_other_notebooks_are_none_of_the_courses(release, tmp_path):
    save(tmp_path, nbformat.writes(release), "welcome")
    save(tmp_path, nbformat.writes(release), "04x_other")
    assert all(chapter.file is None for chapter in read_folder(tmp_path, STANDARD))
    foreign = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    (tmp_path / f"{NAME}.ipynb").write_text(nbformat.writes(foreign), encoding="utf-8")
    chapter = next(chapter for chapter in read_folder(tmp_path, STANDARD) if chapter.chapter == 4)
    assert chapter.file is not None and not chapter.is_begun and len(chapter.tasks) == len(tasks(4))


def test_the_notebook_in_a_folder_of_its_own_name_comes_before_copies(release, tmp_path):
    right = save(tmp_path, nbformat.writes(release))
    (tmp_path / f"{NAME}.ipynb").write_text("{}", encoding="utf-8")
    (right.parent / f"{NAME}-Copy1.ipynb").write_text("{}", encoding="utf-8")
    assert next(chapter for chapter in read_folder(tmp_path, STANDARD) if chapter.chapter == 4).file == right


def test_run_reads_fresh_outputs_and_leaves_blank_notebooks_alone(release, tmp_path):
    path = save(tmp_path, nbformat.writes(filled(release, {"04-mix": SOLVED["04-mix"]})))
    save(tmp_path, (ROOT / "exercises/05_many_heads/05_many_heads.ipynb").read_text(), "05_many_heads")
    ran: list[str] = []

    def run(file: Path) -> NotebookNode:
        notebook = nbformat.read(file, as_version=4)
        leave_verdict(notebook, "04-mix", verdict_record("04.mix"))
        return notebook

    chapter = next(chapter for chapter in read_folder(tmp_path, STANDARD, run, ran.append) if chapter.chapter == 4)
    assert ran == [path.name] and chapter.count("pass") == 1


def test_every_answer_of_every_notebook_is_blank_at_first():
    """What marks a blank answer here is what nbgrader leaves in every release."""
    for chapter in read_folder(ROOT / "exercises", STANDARD):
        assert chapter.file is not None and chapter.count("blank") == len(chapter.tasks), chapter.chapter
        assert re.match(rf"{chapter.chapter:02d}_", chapter.file.name) and not any(chapter.written.values())


def test_help_that_was_asked_for_is_kept_beside_the_verdict_and_in_cells_of_ones_own(release, tmp_path):
    next(cell for cell in release.cells if grade_id(cell) == "04-mix").source = SOLVED["04-mix"]
    leave_verdict(release, "04-mix", verdict_record("04.mix", help=2))
    leave_verdict(release, "04-scale", verdict_record("04.scale", "wrong", 0.0, help=99))
    data = {"text/plain": "One solution", HELP_MIME: {"task": "04.mix", "help": 4}}
    hint_cell = nbformat.v4.new_code_cell('hint("04.mix")', outputs=[nbformat.v4.new_output("display_data", data=data)])
    release.cells.append(hint_cell)
    assert [task_state.help for task_state in read_chapter(release, 4, STANDARD).tasks if task_state.help] == [4]
    save(tmp_path, nbformat.writes(release))
    chapters = read_folder(tmp_path, STANDARD)
    assert as_json(chapters, datetime.now(UTC))["tasks"]["04.mix"]["help"] == 4
    assert "Help up to the solution: 04.mix.\n" in as_text(chapters)
