"""Ids are names of folders that somebody chose: each is graded whole, or left out with a sentence."""

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from fake_grader import here
from paper_class import hand_in, in_class, record, write_report
from rich.console import Console
from small_class import NAME, ROOT

from softlookup_grader import Course, CourseError, Report, new_course
from softlookup_grader.course.grade_sheet import read_sheet
from softlookup_grader.data.records import Record
from softlookup_grader.data.work import Graded
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.platforms.exports import plain_table
from softlookup_grader.reports.class_report import class_report
from softlookup_grader.reports.class_table import report_text
from softlookup_grader.reports.table import LiveProgress, as_text
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest, Watcher

TAKEN = (
    *("é", "小明", "O'Neil", "Last, First", "a b", "12345", "²", "con", "{x}", "ada.lovelace", "ada@example.org"),
    *("a;=1+1", "$(id)", "x" * 128, "é" * 127, "\N{GRINNING FACE}"),
)
LEFT_OUT = {
    "*": "nbgrader takes for a pattern",
    "[ab]": "nbgrader takes for a pattern",
    "a?": "nbgrader takes for a pattern",
    "a\nb": "cannot be seen",
    "\x1b[2J": "cannot be seen",
    "\u202eab": "cannot be seen",
    "ada ": "begins or ends with a blank",
    "\u00a0ada": "begins or ends with a blank",
    ".dot": "begins with a dot",
    "..x": "begins with a dot",
    "-rf": "begins with a hyphen",
    "ada#": "the formgrader's addresses",
    "ad%61": "the formgrader's addresses",
    "back\\slash": "the formgrader's addresses",
    '"><script>': "web pages",
    "&amp;": "web pages",
    "x" * 129: "129 characters, and the gradebook has room for 128",
    "\udcff": "not text in UTF-8",
    # Two that some disks take for one, or that a person does.
    "Zed": "in capitals or in the composition",
    "zed": "in capitals or in the composition",
    "e\u0301e": "in capitals or in the composition",
    "\u00e9e": "in capitals or in the composition",
}


class Notes(Watcher):
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory, short: nbformat.NotebookNode) -> Course:
    """A course with a short assignment."""
    course = new_course(tmp_path_factory.mktemp("ids") / "course", ROOT / "nbgrader_config.py")
    course.release({NAME: short})
    return course


@pytest.fixture
def course(released: Course, tmp_path: Path) -> Course:
    return Course.at(Path(shutil.copytree(released.root, tmp_path / "course")))


def grade(course: Course, **order: object) -> tuple[Report, list[str]]:
    notes = Notes()
    report = grade_assignment(course, GradeRequest(NAME, seed=5, workers=2, **order), executor=here(), watch=notes)
    return report, notes.sentences


def page(course: Course, student: str) -> Path:
    return course.folder("feedback", student, NAME) / f"{NAME}.html"


@pytest.mark.slow
def test_an_unusual_id_has_row_page_report_and_export_and_can_be_forgotten(course: Course) -> None:
    for student in TAKEN:
        hand_in(course, student, {})
    report, sentences = grade(course)
    assert sentences == [] and sorted(r.student for r in report.records) == sorted(TAKEN)
    assert all(r.status == "graded" and r.score > 0 for r in report.records)
    assert [student for student in TAKEN if not page(course, student).is_file()] == []
    report.write(course.root / "reports" / f"{NAME}.json")
    assert sorted(class_report(course, NAME).graded) == sorted(TAKEN)
    sheet = read_sheet(course, NAME, report)
    assert plain_table(sheet).written == len(TAKEN)
    for student in TAKEN:
        forget(course, student)
        assert kept_of(course, student) == []
    assert os.listdir(course.submitted) == [] and read_sheet(course, NAME) == []


def test_a_name_that_cannot_be_an_id_is_left_out_with_a_sentence_and_costs_nobody(course: Course) -> None:
    for student in ("ada", *LEFT_OUT):
        hand_in(course, student, {})
    (course.submitted / ".ipynb_checkpoints").mkdir()
    (course.submitted / "circle").symlink_to("circle")
    report, sentences = grade(course, feedback=False)
    assert [(r.student, r.status) for r in report.records] == [("ada", "graded")]
    with course.gradebook() as book:
        assert [row.id for row in book.students] == ["ada"]
    assert len(sentences) == len(LEFT_OUT), sentences
    for name, why in LEFT_OUT.items():
        shown = repr(name if len(name) <= 60 else name[:60] + "…")
        matches = [sentence for sentence in sentences if f"the folder {shown} in submitted/" in sentence]
        assert len(matches) == 1 and why in matches[0] and "rename it and grade again" in matches[0]
        assert matches[0].isprintable() and not course.folder("autograded", name, NAME).exists()


def test_a_name_that_is_asked_for_is_refused_with_its_reason(course: Course) -> None:
    hand_in(course, "*", {})
    with pytest.raises(CourseError, match=r"the folder '\*' in submitted/ is left out"):
        grade(course)
    hand_in(course, "ada", {})
    with pytest.raises(CourseError, match=r"nobody in the class has the id '\*': its name holds '\*'"):
        grade(course, students=("*",))


def test_a_row_that_leads_outside_is_left_out(course: Course) -> None:
    """A class list is a file too, and what was graded of a row without a submission is taken away."""
    hand_in(course, "ada", {})
    for student in ("../source/.", "..", "x" * 300):
        in_class(course, student)
    report, sentences = grade(course, feedback=False)
    assert [r.student for r in report.records] == ["ada"] and len(sentences) == 3
    assert all("of the gradebook is left out" in sentence for sentence in sentences)
    assert course.notebook("source", ".", NAME).is_file() and course.notebook("release", ".", NAME).is_file()
    assert forget(course, "x" * 300) == ["the name in the gradebook"]


def test_what_was_left_out_can_be_forgotten(course: Course) -> None:
    names = [name for name in LEFT_OUT if name != "\udcff"]
    for student in (*names, "other"):
        hand_in(course, student, {})
    for student in names:
        assert forget(course, student) == [f"submitted/{student}"]
    assert os.listdir(course.submitted) == ["other"]
    with pytest.raises(CourseError, match="is not text in UTF-8"):
        forget(course, "\udcff")


def test_the_report_says_what_was_left_out(course: Course, run: Callable) -> None:
    hand_in(course, "ada", {})
    hand_in(course, "a\x1b[2J", {})
    grade(course, feedback=False)[0].write(course.root / "reports" / f"{NAME}.json")
    result = run("report", NAME)
    assert result.exit_code == 0 and "note: the folder 'a\\x1b[2J' in submitted/ is left out" in result.output
    assert "\x1b" not in result.output


HOSTILE = "x\x1b]0;owned\x07\x9b2J\u202eab\nada: 37 of 37 [red]"


def test_a_name_that_formgrader_would_run_is_told(course: Course) -> None:
    with course.gradebook() as book:
        book.update_or_create_student("ada", first_name="Ada", last_name="<img src=x onerror=alert(1)>")
        book.update_or_create_student("bob", first_name="Bob", last_name="O'Neil & Sons")
    assert [sentence.split(" holds")[0] for sentence in course.names_as_markup()] == ["the gradebook's name of 'ada'"]


def test_no_id_reaches_a_terminal_as_it_is(course: Course, run: Callable) -> None:
    """A row of the gradebook may have any name, whoever wrote it there."""
    in_class(course, HOSTILE)
    write_report(course, record("ada", {}), Record(HOSTILE, "refused", 0, 30, reason=HOSTILE))
    seen = [
        report_text(class_report(course, NAME)),
        as_text(Report(NAME, 1, (Record(HOSTILE, "refused", 0, 30, reason=HOSTILE, remarks=("x",)),))),
        as_text(Report(NAME, 1, (Record(HOSTILE, "missing", 0, 30), record("ada", {})))),
    ]
    for terminal in (True, False):
        file = io.StringIO()
        with LiveProgress(Console(file=file, force_terminal=terminal, no_color=True, width=500)) as progress:
            progress.begin("grading", 2)
            progress.step(HOSTILE, Graded(HOSTILE, "graded", slowest=HOSTILE, slowest_s=9.0))
            progress.say(f"said of {HOSTILE}")
        seen.append(file.getvalue())
    for words in (["explain", HOSTILE, NAME], ["extension", HOSTILE, NAME, "--days", "1"], ["forget", HOSTILE]):
        seen.append(run(*words).output)
    for text in seen:
        assert "owned" in text
        assert not any(sign in text for sign in ("\x1b]", "\x07", "\x9b", "\u202e", "\nada: 37")), text
