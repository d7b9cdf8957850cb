"""Feedback goes back in the zips that Moodle and Canvas take, to whom it belongs."""

import zipfile
from pathlib import Path

import nbformat
import pytest
from paper_class import enter, full, hand_in, paper_course
from small_class import NAME
from test_collecting import WORKSHEET

from softlookup.grading import Course, CourseError
from softlookup.grading.data.records import Record, Report
from softlookup.grading.platforms.feedback_zips import feedback_zips

FILE = f"{NAME}.ipynb"
LOCAL = '<p><a href="../../../../_build/html/book/04_one_head.html#x" target="_blank">Read this</a></p>'
REMOTE = '<a href="https://example.org/book/x.html">there</a>'


@pytest.fixture
def course(tmp_path_factory: pytest.TempPathFactory, source: object) -> Course:
    made = paper_course(tmp_path_factory, source)
    for student, number in (("ada", ""), ("ben", "7102"), ("7103", ""), ("zoe", "")):
        hand_in(made, student, {"04-mix": "def mix(w, v):\n    return w @ v"})
        enter(made, student, full())
        with made.gradebook() as book:
            book.update_or_create_student(student, lms_user_id=number, email=f"{student}@example.org")
            sheet = book.find_submission_notebook(NAME, NAME, student)
            sheet.comments[0].manual_comment = "Good & <short>."
            book.db.commit()
        page = made.notebook("feedback", student, NAME).with_suffix(".html")
        page.parent.mkdir(parents=True)
        page.write_text(f"<p>feedback of {student}</p>{LOCAL}{REMOTE}")
        graded = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1")])
        graded.cells[0].outputs = [nbformat.v4.new_output("display_data", {"text/html": LOCAL})]
        path = made.notebook("autograded", student, NAME)
        path.parent.mkdir(parents=True)
        nbformat.write(graded, path)
    (made.root / "downloaded" / NAME).mkdir(parents=True)
    (made.root / "downloaded" / NAME / "Grades-5.csv").write_text(WORKSHEET, encoding="utf-8")
    return made


def came(course: Course, name: str) -> None:
    """A file that zip_collect has unpacked."""
    path = course.root / "downloaded" / NAME / "extracted" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")


def inside(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_moodle_gets_pages_in_folders_that_name_the_participant(course: Course) -> None:
    came(course, f"moodle/Ada Lovelace_81_assignsubmission_file_/{FILE}")
    came(course, f"moodle/Ben_OBanneker_82_assignsubmission_file_{FILE}")
    done = feedback_zips(course, NAME)
    (path,) = done.zips
    assert (path.name, done.zips[path]) == ("feedback-moodle.zip", 2)
    pages = inside(path)
    assert list(pages) == [
        f"Ada Lovelace_81_assignsubmission_file_/{NAME}.html",
        f"Ben OBanneker_82_assignsubmission_file_/{NAME}.html",
    ]
    for (name, page), student in zip(pages.items(), ("ada", "ben"), strict=True):
        # As Moodle reads it: at most five parts between underscores, the second is a number, then the plugin.
        assert name.split("/")[0].split("_", 4)[1:4] == [name.split("_")[1], "assignsubmission", "file"]
        assert f"feedback of {student}<" in page and REMOTE in page and "_build" not in page and "Read this" in page
    assert done.notes == ["these students' notebooks came in no archive, so no zip has their feedback: 7103, zoe"]


def test_canvas_gets_notebooks_under_the_names_that_it_gave(course: Course) -> None:
    name = f"bannekerben_LATE_7102_90210_{NAME}-2.ipynb"
    came(course, f"canvas/{name}")
    done = feedback_zips(course, NAME)
    (path,) = done.zips
    assert path.name == "feedback-canvas.zip"
    notebook = nbformat.reads(inside(path)[name], as_version=4)
    nbformat.validate(notebook)
    head = notebook.cells[0].source
    with course.gradebook() as book:
        score = book.find_submission(NAME, "ben").score
    assert head.startswith(f"# {NAME}: {score:g} / ") and "| 04.scale | 2 / 2 |" in head
    assert "Good &amp; &lt;short&gt;." in head
    assert notebook.cells[1].source == "x = 1"
    shown = notebook.cells[1].outputs[0]["data"]["text/html"]
    assert "_build" not in shown and "Read this" in shown


def test_refused_notebook_comes_back_with_the_reason(course: Course) -> None:
    came(course, f"c/bannekerben_7102_90210_{FILE}")
    course.notebook("autograded", "ben", NAME).unlink()
    report = Report(NAME, 1, (Record("ben", "refused", 0.0, 39.0, reason="it is not a notebook <b>"),))
    (path,) = feedback_zips(course, NAME, report).zips
    (text,) = inside(path).values()
    assert [cell.source for cell in nbformat.reads(text, as_version=4).cells] == [
        f"# {NAME}\n\nThis notebook could not be graded: it is not a notebook &lt;b&gt;."
    ]


def test_who_gets_nothing_is_named(course: Course) -> None:
    came(course, f"c/bannekerben_7102_90210_{FILE}")
    came(course, f"c/bannekerben_7102_90211_{FILE}")
    came(course, f"c/someone_999_90210_{FILE}")
    came(course, f"c/chen_7103_90210_{FILE}")
    course.notebook("feedback", "7103", NAME).with_suffix(".html").unlink()
    notes = " ".join(feedback_zips(course, NAME).notes)
    assert "ben handed in another one" in notes and "lms_user_id 999" in notes
    assert "7103 has no feedback page: 'softlookup grade 04_one_head' makes it" in notes


def test_nothing_collected_is_an_error_and_an_old_zip_goes(course: Course) -> None:
    with pytest.raises(CourseError, match="zip_collect 04_one_head"):
        feedback_zips(course, NAME)
    came(course, f"c/bannekerben_7102_90210_{FILE}")
    old = course.root / "downloaded" / NAME / "feedback-moodle.zip"
    old.write_bytes(b"old")
    feedback_zips(course, NAME)
    assert not old.exists() and not list(old.parent.glob(".feedback*"))
