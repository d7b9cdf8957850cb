"""The one writer: its rows are those of stock autograde, and nbgrader's own commands go on from what it wrote."""

import csv
import dataclasses
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from fake_grader import here
from nbgrader.apps.api import NbGraderAPI
from small_class import NAME, write_course
from sqlalchemy import event

from benchmarks.nbgrader_autograde import STOCK
from softlookup_grader import Course, CourseError
from softlookup_grader.course.autograded import Autograded
from softlookup_grader.course.notebooks import grade_id, is_solution
from softlookup_grader.data.work import Graded, Mark
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_grader.run.writer import GradebookWriter

STUDENTS = ("half-done", "mistake-2")
LATE = """
c.AssignLatePenalties.plugin_class = "late_rules.PerHour"
c.PerHour.points = 0.5
"""
PLUGIN = """
from nbgrader.plugins import BasePlugin
from traitlets import Float


class PerHour(BasePlugin):
    points = Float(1).tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        if student_id == "broken":
            raise ValueError("no rule")
        return self.points * (total_seconds_late // 3600)
"""


def _stock(folder: Path, source: nbformat.NotebookNode) -> Course:
    """Make a course with two hand-ins for stock autograde, one of them late and one read by a person."""
    course = write_course(folder, source, STUDENTS)
    with open(course.root / "nbgrader_config.py", "a") as config:
        config.write(LATE)
    (course.root / "late_rules.py").write_text(PLUGIN)
    (course.folder("source", ".", NAME) / "data").mkdir()
    (course.folder("source", ".", NAME) / "data" / "numbers.txt").write_text("1 2 3")
    for student, stamp in (("half-done", "2026-01-02 05:00:00 UTC"), ("mistake-2", "2026-01-01 12:00:00 UTC")):
        (course.folder("submitted", student, NAME) / "timestamp.txt").write_text(stamp)
    course = Course.at(course.root)
    with course.gradebook() as book:
        book.update_or_create_assignment(NAME, duedate=datetime(2026, 1, 2))
    with course.gradebook() as book, book.db.no_autoflush:
        book.add_student("mistake-2")
        book.add_submission(NAME, "mistake-2")
        row = book.find_grade("04-uniform", NAME, NAME, "mistake-2")
        row.manual_score, row.needs_manual_grade = 2.0, False
        book.db.commit()
    return course


@pytest.fixture(scope="session")
def stocked(made_once: Callable, source: nbformat.NotebookNode, nbgrader: Callable) -> Course:
    """The course that stock autograde graded; all test processes share one."""
    made = made_once("stocked-course", lambda folder: nbgrader(_stock(folder, source), "autograde", NAME, STOCK))
    return Course.at(made)


@pytest.fixture
def course(stocked: Course, tmp_path: Path) -> Course:
    return Course.at(Path(shutil.copytree(stocked.root, tmp_path / "course")))


def rows(course: Course, student: str) -> dict[str, Any]:
    """All that the gradebook holds for a student."""
    with course.gradebook() as book:
        submission = book.find_submission(NAME, student)
        (sheet,) = submission.notebooks
        return {
            "grades": {g.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in sheet.grades},
            "comments": {c.name: (c.auto_comment, c.manual_comment) for c in sheet.comments},
            "timestamp": submission.timestamp,
            "penalty": sheet.late_submission_penalty,
            "score": submission.score,
            "students": [s.id for s in book.students if s.id == student],
        }


def as_graded(course: Course, student: str) -> Graded:
    """What grading would have come to if it agreed with stock autograde."""
    points = rows(course, student)["grades"]
    marks = tuple(Mark(name, name, auto, 2.0, "wrong") for name, (auto, _, _) in points.items())
    text = course.notebook("autograded", student, NAME).read_text(encoding="utf-8")
    return Graded(student, "graded", "d", marks, notebooks=((NAME, text),))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("student", STUDENTS)
@pytest.mark.parametrize("is_entered", [True, False])
def test_rows_are_those_of_stock_autograde(course: Course, student: str, is_entered: bool) -> None:
    expected, graded = rows(course, student), as_graded(course, student)
    assert any(c[0] == "No response." for c in expected["comments"].values()) == (student == "half-done")
    assert expected["penalty"] == (2.5 if student == "half-done" else None)
    if not is_entered:
        with course.gradebook() as book:
            book.remove_student(student)
        if expected["grades"]["04-uniform"][1] is not None:
            expected["score"] -= 2.0
            expected["grades"]["04-uniform"] = (None, None, True)
    with GradebookWriter(course, NAME) as writer:
        for _ in range(2):
            writer.enter_all([(graded, expected["timestamp"])])
    assert rows(course, student) == expected


def test_submissions_together_are_one_commit_and_the_same_rows(course: Course) -> None:
    graded = as_graded(course, "half-done")
    new = [dataclasses.replace(graded, student=f"new-{n}") for n in range(3)]
    late = datetime(2026, 1, 2, 5)
    commits = []
    with GradebookWriter(course, NAME) as writer:
        event.listen(writer._book.engine, "commit", lambda connection: commits.append(1))
        writer.enter_all([(graded, late), *((other, late) for other in new)])
        assert len(commits) == 1
        writer.enter_all([(dataclasses.replace(graded, student="somebody-new"), None)])
        assert len(commits) == 2
    expected = rows(course, "half-done")
    students = {"students": expected["students"]}
    assert [rows(course, other.student) | students for other in new] == [expected] * 3 and expected["penalty"] == 2.5


def test_one_that_cannot_be_entered_hinders_none_before_it(course: Course) -> None:
    """A course whose late penalty fails for one student, all of whose submissions are late."""
    for student in ("a-first", "broken", "z-last"):
        folder = course.folder("submitted", student, NAME)
        shutil.copytree(course.folder("submitted", "half-done", NAME), folder)
    with pytest.raises(CourseError, match="late penalty failed for broken .*no rule"):
        grade_assignment(course, GradeRequest(NAME, seed=1, feedback=False), executor=here())
    with course.gradebook() as book:
        assert book.find_submission(NAME, "a-first") and "broken" not in [student.id for student in book.students]


def test_writer_gives_no_points_to_what_cannot_be_graded_or_is_missing(course: Course) -> None:
    with GradebookWriter(course, NAME) as writer:
        writer.enter_all([(Graded("mistake-2", "refused", reason="it is empty"), None)])
        writer.enter_all([(Graded("never-there", "missing", reason="there is no file"), None)])
        writer.enter_all([(Graded("new", "refused", reason="it is empty"), None)])
    assert {g[0] for g in rows(course, "mistake-2")["grades"].values()} == {None}
    assert rows(course, "mistake-2")["score"] == 2.0, "what a person gave stays"
    with course.gradebook() as book:
        known = [s.student.id for s in book.assignment_submissions(NAME)]
        assert "never-there" not in known and "new" not in known
        assert book.find_student("never-there") and book.find_student("new")


def test_an_extension_counts_and_is_noticed_later(course: Course) -> None:
    for hours, penalty in ((2, 1.5), (20, None)):
        with course.gradebook() as book:
            book.grant_extension(NAME, "half-done", hours=hours)
        with GradebookWriter(course, NAME) as writer:
            writer.refresh_penalties(lambda _: None)
        assert rows(course, "half-done")["penalty"] == penalty


def test_late_rules_that_cannot_be_set_up_are_one_sentence(course: Course) -> None:
    (course.root / "nbgrader_config.py").write_text('c.AssignLatePenalties.plugin_class = "nowhere.Rules"')
    with pytest.raises(CourseError, match="late penalties of nbgrader_config.py cannot be set up"):
        GradebookWriter(Course.at(course.root), NAME).__enter__()


@pytest.fixture(scope="session")
def graded_course(stocked: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The same course, graded by ours with a fake examiner, and its feedback made."""
    root = tmp_path_factory.mktemp("ours") / "course"
    course = Course.at(Path(shutil.copytree(stocked.root, root)))
    shutil.copytree(root / "submitted" / "half-done", root / "submitted" / "broken-file")
    course.notebook("submitted", "broken-file", NAME).write_text("{")
    with course.gradebook() as book:
        book.update_or_create_student("absent")
    (course.folder("autograded", "half-done", NAME) / "left-over.txt").write_text("old")
    order = GradeRequest(NAME, seed=3, workers=1)
    grade_assignment(course, order, executor=here(calls=root / "calls"))
    return course


@pytest.mark.slow
def test_autograded_holds_what_nbgrader_would_leave_there(graded_course: Course) -> None:
    folder = graded_course.folder("autograded", "half-done", NAME)
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert files == {f"{NAME}.ipynb", "data/numbers.txt", "timestamp.txt"}
    assert {p.stat().st_mode & 0o777 for p in folder.rglob("*") if p.is_file()} == {0o400}
    cells = nbformat.read(folder / f"{NAME}.ipynb", as_version=4).cells
    assert any(is_solution(c) and grade_id(c) == "04-scale" for c in cells)
    assert not graded_course.folder("autograded", "broken-file", NAME).exists()


@pytest.mark.slow
def test_nbgrader_exports_what_was_written(graded_course: Course, nbgrader: Callable, tmp_path: Path) -> None:
    nbgrader(graded_course, "export", "--to", str(tmp_path / "grades.csv"))
    with open(tmp_path / "grades.csv", newline="") as file:
        table = {row["student_id"]: row for row in csv.DictReader(file)}
    assert float(table["mistake-2"]["raw_score"]) == rows(graded_course, "mistake-2")["score"]
    assert float(table["half-done"]["late_submission_penalty"]) == 2.5
    assert (table["broken-file"]["score"], table["absent"]["score"]) == ("0.0", "0.0")


@pytest.mark.slow
def test_nbgrader_makes_feedback(graded_course: Course, nbgrader: Callable, tmp_path: Path) -> None:
    course = Course.at(Path(shutil.copytree(graded_course.root, tmp_path / "course")))
    page = course.notebook("feedback", "mistake-2", NAME).with_suffix(".html")
    page.unlink()
    nbgrader(course, "generate_feedback", NAME, "--force", "--student", "mistake-2")
    assert f"{rows(course, 'mistake-2')['score']:g}" in page.read_text()


def test_the_formgrader_sees_what_is_graded(graded_course: Course) -> None:
    api = NbGraderAPI(graded_course.directory)
    assert api.get_autograded_students(NAME) == set(STUDENTS)
    submissions = {row["student"]: row for row in api.get_submissions(NAME)}
    assert submissions["mistake-2"]["autograded"] and submissions["mistake-2"]["needs_manual_grade"]
    assert not submissions["broken-file"]["autograded"]
    assert submissions["mistake-2"]["score"] == rows(graded_course, "mistake-2")["score"]
    assert {n["name"] for n in api.get_notebook_submissions(NAME, NAME)} == {NAME}


@pytest.mark.slow
def test_feedback_pages_are_made_once_and_again_when_a_person_gives_points(graded_course, tmp_path):
    course = Course.at(Path(shutil.copytree(graded_course.root, tmp_path / "course")))

    def pages() -> dict[str, int]:
        return {p.parent.parent.name: p.stat().st_mtime_ns for p in (course.root / "feedback").rglob("*.html")}

    before = pages()
    assert set(before) == {*STUDENTS, "broken-file"}
    refused = course.notebook("feedback", "broken-file", NAME).with_suffix(".html").read_text()
    assert "could not be graded: it is not a notebook." in refused
    with course.gradebook() as book:
        row = book.find_grade("04-uniform", NAME, NAME, "mistake-2")
        row.manual_score, row.needs_manual_grade = 1.25, False
        book.find_comment("04-scale", NAME, NAME, "mistake-2").manual_comment = "well said indeed"
        book.db.commit()
    grade_assignment(course, GradeRequest(NAME, workers=1), executor=here())
    after = pages()
    assert {s for s in after if after[s] != before[s]} == {"mistake-2"}
    assert "well said indeed" in course.notebook("feedback", "mistake-2", NAME).with_suffix(".html").read_text()


def test_half_a_surrogate_pair_in_a_graded_notebook_becomes_a_question_mark(course: Course) -> None:
    Autograded(course, NAME).write("ada", [(NAME, '{"half": "\ud800"}')])
    assert course.notebook("autograded", "ada", NAME).read_text() == '{"half": "?"}'
