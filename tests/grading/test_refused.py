"""What cannot be graded is refused with its reason, and is zero nowhere."""

import csv
import io
import json
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from fake_grader import here
from paper_class import enter, full, in_class, paper_course, record, write_report
from small_class import NAME, ROOT
from test_exports import CANVAS, MOODLE, fill_canvas, fill_moodle, line, rows

from softlookup_command.commands import main
from softlookup_grader import Course, Record
from softlookup_grader.course.arrived import COLLECTED, UNREADABLE, Arrival, Arrivals
from softlookup_grader.course.collected import keep
from softlookup_grader.course.grade_sheet import read_sheet
from softlookup_grader.course.notebooks import BadNotebook, is_solution, notebook_json
from softlookup_grader.judging.rebuild import rebuild
from softlookup_grader.platforms.exports import plain_table
from softlookup_grader.platforms.lms_sheet import Options
from softlookup_grader.reports.class_report import class_report, read_report
from softlookup_grader.reports.class_table import report_text
from softlookup_grader.reports.table import as_text
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_grader.run.writer import GradebookWriter

REFUSED = line("ada", 0, "refused", lms_user_id="")


def released(name: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)


def why_not(content: nbformat.NotebookNode) -> str:
    with pytest.raises(BadNotebook) as refused:
        rebuild(released(NAME), nbformat.writes(content).encode(), f"{NAME}.ipynb")
    return str(refused.value)


@pytest.mark.parametrize("other", ["05_many_heads", "12_counting", "90_capstone"])
def test_the_notebook_of_another_assignment_is_refused_by_its_name(other: str) -> None:
    notebook = released(other)
    assert why_not(notebook) == (f"{NAME}.ipynb is the notebook of assignment {other}: hand in that of this assignment")
    # The same names of functions make no answers of it.
    first = next(cell for cell in notebook.cells if is_solution(cell))
    first.source = "def mix(weights, v):\n    return weights @ v"
    assert "is the notebook of assignment" in why_not(notebook)


def test_a_notebook_of_a_chapter_that_does_not_exist_is_refused_by_its_number() -> None:
    notebook = released("05_many_heads")
    for cell in notebook.cells:
        if name := cell.metadata.get("nbgrader", {}).get("grade_id"):
            cell.metadata.nbgrader.grade_id = name.replace("05-", "77-", 1)
    assert "is the notebook of chapter 77" in why_not(notebook)


def test_a_notebook_without_any_answer_cell_is_refused() -> None:
    empty = released(NAME)
    empty.cells = [cell for cell in empty.cells if not is_solution(cell)]
    assert "has no answer cell of this assignment" in why_not(empty)
    empty.cells = []
    assert "has no answer cell of this assignment" in why_not(empty)
    for cell in (unmarked := released(NAME)).cells:
        cell.metadata.pop("nbgrader", None)
    assert rebuild(released(NAME), nbformat.writes(unmarked).encode(), "x").untouched, "by its ids and texts"


@pytest.mark.parametrize("text", ["<!DOCTYPE html>\n<html>", " \n<html lang='de'>", "<!-- saved --><!doctype HTML>"])
def test_a_web_page_is_named_as_one(text: str) -> None:
    with pytest.raises(BadNotebook, match=r"a\.ipynb is a web page \(HTML\), not a notebook"):
        notebook_json(text.encode(), "a.ipynb")


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    return paper_course(tmp_path_factory, source)


def hand_in(course: Course, student: str, text: str, name: str = f"{NAME}.ipynb") -> None:
    folder = course.folder("submitted", student, NAME)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def test_what_came_and_could_not_be_read_is_refused_and_not_missing(course: Course) -> None:
    for student in ("ada", "bo", "cy", "di"):
        in_class(course, student)
    hand_in(course, "ada", course.notebook("release", ".", NAME).read_text())
    hand_in(course, "cy", "print(1)", "answers.py")
    arrivals = {
        "ada": Arrival(UNREADABLE, "Ada_7_assignsubmission_file_/a.html", "it is a web page"),
        "bo": Arrival(UNREADABLE, "Bo_8_assignsubmission_file_/b.html", "b.html is a web page"),
        "di": Arrival(COLLECTED, "di.ipynb"),
    }
    keep(course, NAME, Arrivals(arrivals, {"zed.ipynb": "nobody's number is 9"}))
    report = grade_assignment(course, GradeRequest(NAME, feedback=False), executor=here())
    states = {r.student: (r.status, r.reason) for r in report.records}
    assert states["ada"][0] == "graded", "a notebook that lies there counts"
    assert states["bo"] == ("refused", "b.html is a web page")
    assert states["cy"] == ("refused", f"there is no file {NAME}.ipynb, only 'answers.py'")
    assert states["di"][0] == "missing"
    assert "bo: refused, b.html is a web page" in as_text(report)
    assert [record.grade for record in report.records][1:] == [None] * 3
    report.write(course.root / "reports" / f"{NAME}.json")
    shown = report_text(class_report(course, NAME))
    assert "refused: bo, b.html is a web page" in shown and "collected: 4 in class: " in shown
    assert "nobody's: zed.ipynb: nobody's number is 9" in shown
    again = grade_assignment(course, GradeRequest(NAME, feedback=False), executor=here(fails=("ada", "bo", "cy")))
    assert again.as_json() == report.as_json(), "nothing was graded again"


def test_a_refused_student_gets_a_page_with_the_reason(course: Course) -> None:
    in_class(course, "bo")
    keep(course, NAME, Arrivals({"bo": Arrival(UNREADABLE, "b.html", "b.html is a web page")}))
    hand_in(course, "ada", "")
    grade_assignment(course, GradeRequest(NAME, workers=1), executor=here())
    page = course.notebook("feedback", "bo", NAME).with_suffix(".html").read_text()
    assert "could not be graded: b.html is a web page." in page and "0 /" not in page


def test_the_gradebook_has_no_points_of_what_is_refused(course: Course) -> None:
    hand_in(course, "ada", "{}")
    enter(course, "ada", full(), written=2.0)
    report = grade_assignment(course, GradeRequest(NAME, feedback=False), executor=here())
    assert report.records[0].status == "refused"
    with course.gradebook() as book:
        grades = book.find_submission(NAME, "ada").notebooks[0].grades
        assert {grade.auto_score for grade in grades} == {None}
        assert [grade.manual_score for grade in grades if grade.manual_score is not None] == [2.0], "a person's stay"
    assert read_sheet(course, NAME, report)[0].status == "refused"


def test_formgrader_lists_a_refused_one_as_not_graded(course: Course) -> None:
    from nbgrader.apps.api import NbGraderAPI

    hand_in(course, "ada", "{}")
    hand_in(course, "bo", course.notebook("release", ".", NAME).read_text())
    grade_assignment(course, GradeRequest(NAME, feedback=False), executor=here())
    api = NbGraderAPI(course.directory)
    graded = {who: api.get_submission(NAME, who)["autograded"] for who in ("ada", "bo")}
    assert graded == {"ada": False, "bo": True}


def test_points_that_came_back_from_a_backup_are_taken_out_again(course: Course) -> None:
    hand_in(course, "ada", "{}")
    grade_assignment(course, GradeRequest(NAME, feedback=False), executor=here())
    enter(course, "ada", full())
    grade_assignment(course, GradeRequest(NAME, feedback=False), executor=here())
    with GradebookWriter(course, NAME) as writer:
        assert all(cell.auto is None for row in dict(writer.rows()).values() for cell in row.points.values())


def test_exports_leave_refused_cells_as_they_are_and_name_each() -> None:
    sheet = [REFUSED.__class__(**{**vars(REFUSED), "reason": "it is HTML"}), line("bo", 7, email="b.oneil@example.org")]
    canvas = CANVAS.replace("ada,A,5,,50", "ada,A,5,12,50")
    for done, cell in (
        (fill_canvas(canvas, sheet, NAME), (3, 6, "12")),
        (fill_moodle(MOODLE.replace('grading",,', 'grading",12,', 1), sheet), (1, 5, "12")),
    ):
        assert rows(done.text)[cell[0]][cell[1]] == cell[2] and done.written == 1
        assert "what ada handed in cannot be graded (it is HTML): no grade was written (--zeros writes 0)" in done.notes
    zeros = fill_canvas(canvas, sheet, NAME, Options(zeros=True))
    assert rows(zeros.text)[3][6] == "0"
    assert "what ada handed in cannot be graded (it is HTML): --zeros wrote 0" in zeros.notes


def test_the_plain_table_has_no_points_of_refused_and_missing_ones() -> None:
    sheet = [REFUSED, line("bo", 7.25), line("cy", 0, "missing")]
    done = plain_table(sheet)
    table = {row["student"]: row for row in csv.DictReader(io.StringIO(done.text.removeprefix("\ufeff")))}
    for student in ("ada", "cy"):
        assert [table[student][name] for name in ("raw_score", "late_submission_penalty", "score", "x")] == [""] * 4
    assert table["bo"]["score"] == "7.25" and done.written == 1
    assert done.notes == ("what ada handed in cannot be graded: no grade was written (--zeros writes 0)",)
    zeros = csv.DictReader(io.StringIO(plain_table(sheet, zeros=True).text.removeprefix("\ufeff")))
    assert [row["score"] for row in zeros] == ["0", "7.25", "0"]


def test_a_table_with_decimal_commas_has_semicolons() -> None:
    text = plain_table([line("bo", 11.1)], ",").text.removeprefix("\ufeff")
    (row,) = csv.DictReader(io.StringIO(text), delimiter=";")
    assert (row["student"], row["score"], row["max_score"], row["x"]) == ("bo", "11,1", "30", "11,1")


def test_export_command_writes_decimal_commas(course: Course, tmp_path: Path) -> None:
    enter(course, "ada", full(scale=0.9), written=0.0)
    out = tmp_path / "grades.csv"
    words = ["export", NAME, "--course", str(course.root), "--out", str(out), "--decimal", "comma"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert f";{sum(full().values()) - 0.9:g}".replace(".", ",") in out.read_text()


def test_the_table_shows_what_is_left_of_a_late_one() -> None:
    from softlookup_grader import Report

    late = Record("ada", "graded", 39.0, 42.0, penalty=11.7)
    text = as_text(Report(NAME, 1, (late, Record("bo", "graded", 39.0, 42.0))))
    assert "27.3/42 (39 \N{MINUS SIGN} 11.7 late)" in text and "39/42" in text
    assert late.as_json()["grade"] == pytest.approx(27.3) and late.as_json()["late_penalty"] == 11.7
    assert Record("cy", "graded", 3.0, 42.0, penalty=5.0).grade == 0.0


def test_report_names_who_is_late_by_how_much_and_what_it_cost(course: Course) -> None:
    for student, penalty, hour in (("ada", 5.0, 15), ("bo", 0.0, 14), ("cy", 0.0, 11)):
        enter(course, student, full(), penalty=penalty, written=1.0)
        with course.gradebook() as book:
            book.update_or_create_assignment(NAME, duedate=datetime(2026, 3, 1, 12))
            book.find_submission(NAME, student).timestamp = datetime(2026, 3, 2 if student == "ada" else 1, hour)
            book.db.commit()
    write_report(course, *(record(student, full()) for student in ("ada", "bo", "cy")))
    shown = class_report(course, NAME)
    text = report_text(shown)
    assert "ada came late by 1 day 3 hours, which cost 5 points" in text
    assert "bo came late by 2 hours, which cost nothing" in text and "cy came late" not in text
    late = json.loads(json.dumps(shown.as_json()))["late_students"]
    assert late == {"ada": {"seconds": 97200.0, "penalty": 5.0}, "bo": {"seconds": 7200.0, "penalty": 0.0}}
    assert read_report(course.root / "reports" / f"{NAME}.json").records[0].penalty == 0
