"""Hostile answers to kernels and ranks, graded among honest ones: nobody gains, and nobody loses another task."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from sandbox_tools import NEEDS_SANDBOX

from attacks import OF_CHAPTERS, HostileHandIn, hostile_by_kind
from attacks.handin import Bench
from attacks.writing import write_hand_in
from softlookup_course.samples.handins import answers, filled
from softlookup_grader import Course, new_course
from softlookup_grader.data.records import GRADED, Report
from softlookup_grader.data.work import Limits
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_judge.authoring import find_root, make_release, read_solution

ROOT = find_root()
QUICK = re.compile("scalars|turns$|nowhere|forged|locks$|packed|shapes")
"""Those that are graded in every run of the tests."""


def benches(name: str) -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    source = read_solution(ROOT / "solutions" / f"{name}.py")
    return source, make_release(source)


@pytest.fixture(scope="module", params=sorted(OF_CHAPTERS))
def hostile(request: pytest.FixtureRequest) -> tuple[str, dict[str, HostileHandIn]]:
    name = request.param
    made = [hand_in for _, hand_in in hostile_by_kind(*benches(name), name, kinds=OF_CHAPTERS[name])]
    assert len({hand_in.student for hand_in in made}) == len(made) >= 8
    return name, {hand_in.student: hand_in for hand_in in made}


def test_other_notebooks_have_none_of_them() -> None:
    some = {"kernels", "ranks"}
    assert not list(hostile_by_kind(*benches("04_one_head"), "04_one_head", kinds=some))


def test_each_deserves_all_other_points_and_at_most_a_part_of_its_own(
    hostile: tuple[str, dict[str, HostileHandIn]],
) -> None:
    name, made = hostile
    best = {task.id: float(task.points) for task in Bench(*benches(name), name).tasks}
    for hand_in in made.values():
        less = {task: points for task, points in hand_in.deserves.items() if points != best[task]}
        assert set(hand_in.deserves) == set(best) and len(less) == 1, hand_in.student
        assert all(0 <= points < best[task] for task, points in less.items()), hand_in.student


def graded(folder: Path, name: str, made: dict[str, HostileHandIn]) -> tuple[Course, Report]:
    """Grade some of them, with an honest submission before and after."""
    source, release = benches(name)
    course = new_course(folder / "course", ROOT / "nbgrader_config.py")
    course.release({name: source})
    for student in ("aaa-honest", "zzz-honest"):
        path = course.notebook("submitted", student, name)
        path.parent.mkdir(parents=True)
        nbformat.write(filled(release, answers(source)), path)
    for student, hand_in in made.items():
        write_hand_in(hand_in, course.folder("submitted", student, name))
    return course, grade_assignment(course, GradeRequest(name, seed=3, feedback=False))


def differing(course: Course, name: str, made: dict[str, HostileHandIn], report: Report) -> dict[str, str]:
    """What is not as it is deserved, by student."""
    wrong = {}
    submissions = report.as_json()["submissions"]
    ledger = (course.root / ".grading" / name / "ledger.jsonl").read_text(encoding="utf-8")
    messages = {
        entry["student"]: [mark["message"] for mark in entry["marks"]]
        for entry in map(json.loads, ledger.splitlines())
        if "status" in entry and "student" in entry
    }
    for student, hand_in in made.items():
        marks = {task: mark["points"] for task, mark in submissions[student]["tasks"].items()}
        less = {task: (marks.get(task), points) for task, points in hand_in.deserves.items() if marks[task] != points}
        if submissions[student]["status"] != GRADED or less:
            wrong[student] = f"got and deserved {less}"
        if hand_in.remark and not any(re.search(hand_in.remark, message) for message in messages[student]):
            wrong[student] = f"nothing like {hand_in.remark} in {messages[student]}"
    for student in ("aaa-honest", "zzz-honest"):
        if lost := [task for task, mark in submissions[student]["tasks"].items() if mark["verdict"] != "pass"]:
            wrong[student] = f"did not pass {lost}"
    return wrong


@NEEDS_SANDBOX
def test_nobody_gains_and_no_other_task_is_lost(hostile: tuple[str, dict[str, HostileHandIn]], tmp_path: Path) -> None:
    name, made = hostile
    some = {student: hand_in for student, hand_in in made.items() if QUICK.search(student)}
    assert len(some) >= 3
    course, report = graded(tmp_path, name, some)
    assert differing(course, name, some, report) == {}


@pytest.mark.slow
@NEEDS_SANDBOX
def test_all_of_them_have_what_they_deserve_within_the_limit_of_time(
    hostile: tuple[str, dict[str, HostileHandIn]], tmp_path: Path
) -> None:
    name, made = hostile
    course, report = graded(tmp_path, name, made)
    assert differing(course, name, made, report) == {}
    assert max(record.seconds for record in report.records) < Limits().worst_s
