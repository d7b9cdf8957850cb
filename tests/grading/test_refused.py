"""What cannot be graded is refused with its reason, and is zero nowhere."""

import copy
import csv
import io
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from arriving import FILE, released, write
from click.testing import CliRunner
from fake_grader import here
from paper_class import enter, full, in_class, record, write_report
from small_class import NAME
from test_exports import CANVAS, MOODLE, fill_canvas, fill_moodle, line, rows

from softlookup_command.commands import main
from softlookup_grader import Course, Record, Report
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

REFUSED = line("ada", 0, "refused")


def why_not(release: nbformat.NotebookNode, content: nbformat.NotebookNode) -> str:
    with pytest.raises(BadNotebook) as refused:
        rebuild(release, nbformat.writes(content).encode(), f"{NAME}.ipynb")
    return str(refused.value)


@pytest.mark.parametrize("other", ["05_many_heads", "12_counting", "90_capstone"])
def test_the_notebook_of_another_assignment_is_refused_by_its_name(release, other):
    notebook = copy.deepcopy(released(other))
    says = f"{NAME}.ipynb is the notebook of assignment {other}: hand in that of this assignment"
    assert why_not(release, notebook) == says
    # The same names of functions make no answers of it.
    next(cell for cell in notebook.cells if is_solution(cell)).source = "def mix(weights, v):\n    return weights @ v"
    assert why_not(release, notebook) == says
    for cell in notebook.cells:
        if name := cell.metadata.get("nbgrader", {}).get("grade_id"):
            cell.metadata.nbgrader.grade_id = name.replace(other[:3].replace("_", "-"), "77-", 1)
    assert "is the notebook of chapter 77" in why_not(release, notebook)


def test_a_notebook_without_any_answer_cell_is_refused(release):
    empty, unmarked = copy.deepcopy(release), copy.deepcopy(release)
    for cells in ([cell for cell in empty.cells if not is_solution(cell)], []):
        empty.cells = cells
        assert "has no answer cell of this assignment" in why_not(release, empty)
    for cell in unmarked.cells:
        cell.metadata.pop("nbgrader", None)
    assert rebuild(release, nbformat.writes(unmarked).encode(), "x").untouched, "by its ids and texts"


@pytest.mark.parametrize("text", ["<!DOCTYPE html>\n<html>", " \n<html lang='de'>", "<!-- saved --><!doctype HTML>"])
def test_a_web_page_is_named_as_one(text: str) -> None:
    with pytest.raises(BadNotebook, match=r"a\.ipynb is a web page \(HTML\), not a notebook"):
        notebook_json(text.encode(), "a.ipynb")


def hand_in(course: Course, student: str, text: str, name: str = FILE) -> None:
    write(course.folder("submitted", student, NAME), {name: text.encode()})


def grade(course: Course, **fails: object) -> Report:
    return grade_assignment(course, GradeRequest(NAME, feedback=False), executor=here(**fails))


def test_what_came_and_could_not_be_read_is_refused_and_not_missing(paper: Course) -> None:
    for student in ("ada", "bo", "cy", "di"):
        in_class(paper, student)
    hand_in(paper, "ada", paper.notebook("release", ".", NAME).read_text())
    hand_in(paper, "cy", "print(1)", "answers.py")
    arrivals = {
        "ada": Arrival(UNREADABLE, "Ada_7_assignsubmission_file_/a.html", "it is a web page"),
        "bo": Arrival(UNREADABLE, "Bo_8_assignsubmission_file_/b.html", "b.html is a web page"),
        "di": Arrival(COLLECTED, "di.ipynb"),
    }
    keep(paper, NAME, Arrivals(arrivals, {"zed.ipynb": "nobody's number is 9"}))
    report = grade(paper)
    states = {r.student: (r.status, r.reason) for r in report.records}
    assert states["ada"][0] == "graded", "a notebook that lies there counts"
    assert states["bo"] == ("refused", "b.html is a web page")
    assert states["cy"] == ("refused", f"there is no file {NAME}.ipynb, only 'answers.py'")
    assert states["di"][0] == "missing"
    assert "bo: refused, b.html is a web page" in as_text(report)
    assert [record.grade for record in report.records][1:] == [None] * 3
    report.write(paper.root / "reports" / f"{NAME}.json")
    shown = report_text(class_report(paper, NAME))
    assert "refused: bo, b.html is a web page" in shown and "collected: 4 in class: " in shown
    assert "nobody's: zed.ipynb: nobody's number is 9" in shown
    again = grade(paper, fails=("ada", "bo", "cy"))
    assert again.as_json() == report.as_json(), "nothing was graded again"


def test_a_refused_student_gets_a_page_with_the_reason(paper: Course) -> None:
    in_class(paper, "bo")
    keep(paper, NAME, Arrivals({"bo": Arrival(UNREADABLE, "b.html", "b.html is a web page")}))
    hand_in(paper, "ada", "")
    grade_assignment(paper, GradeRequest(NAME, workers=1), executor=here())
    page = paper.notebook("feedback", "bo", NAME).with_suffix(".html").read_text()
    assert "could not be graded: b.html is a web page." in page and "0 /" not in page


def test_points_that_came_back_from_a_backup_are_taken_out_again(paper: Course) -> None:
    hand_in(paper, "ada", "{}")
    grade(paper)
    enter(paper, "ada", full(), written=2.0)
    report = grade(paper)
    with GradebookWriter(paper, NAME) as writer:
        cells = [cell for row in dict(writer.rows()).values() for cell in row.points.values()]
    assert all(cell.auto is None for cell in cells)
    assert read_sheet(paper, NAME, report)[0].status == "refused"


def test_exports_leave_refused_cells_as_they_are_and_name_each() -> None:
    sheet = [replace(REFUSED, reason="it is HTML"), line("bo", 7, email="b.oneil@example.org")]
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


def test_export_command_writes_decimal_commas_between_semicolons(paper: Course, tmp_path: Path) -> None:
    enter(paper, "ada", full(scale=0.9), written=0.0)
    out = tmp_path / "grades.csv"
    words = ["export", NAME, "--course", str(paper.root), "--out", str(out), "--decimal", "comma"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    (row,) = csv.DictReader(io.StringIO(out.read_text("utf-8-sig")), delimiter=";")
    assert (row["student"], row["score"]) == ("ada", f"{sum(full().values()) - 0.9:g}".replace(".", ","))


def test_the_table_shows_what_is_left_of_a_late_one() -> None:
    late = Record("ada", "graded", 39.0, 42.0, penalty=11.7)
    text = as_text(Report(NAME, 1, (late, Record("bo", "graded", 39.0, 42.0))))
    assert "27.3/42 (39 \N{MINUS SIGN} 11.7 late)" in text and "39/42" in text
    assert late.as_json()["grade"] == pytest.approx(27.3) and late.as_json()["late_penalty"] == 11.7
    assert Record("cy", "graded", 3.0, 42.0, penalty=5.0).grade == 0.0


def test_report_names_who_is_late_by_how_much_and_what_it_cost(paper: Course) -> None:
    for student, penalty, hour in (("ada", 5.0, 15), ("bo", 0.0, 14), ("cy", 0.0, 11)):
        enter(paper, student, full(), penalty=penalty, written=1.0)
        with paper.gradebook() as book:
            book.update_or_create_assignment(NAME, duedate=datetime(2026, 3, 1, 12))
            book.find_submission(NAME, student).timestamp = datetime(2026, 3, 2 if student == "ada" else 1, hour)
            book.db.commit()
    write_report(paper, *(record(student, full()) for student in ("ada", "bo", "cy")))
    shown = class_report(paper, NAME)
    text = report_text(shown)
    assert "ada came late by 1 day 3 hours, which cost 5 points" in text
    assert "bo came late by 2 hours, which cost nothing" in text and "cy came late" not in text
    late = json.loads(json.dumps(shown.as_json()))["late_students"]
    assert late == {"ada": {"seconds": 97200.0, "penalty": 5.0}, "bo": {"seconds": 7200.0, "penalty": 0.0}}
    assert read_report(paper.root / "reports" / f"{NAME}.json").records[0].penalty == 0
