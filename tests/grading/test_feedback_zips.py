"""Feedback goes back in the zips that Moodle and Canvas take, to whom it belongs."""

import zipfile
from pathlib import Path

import nbformat
import pytest
from paper_class import enter, full, hand_in, paper_course
from small_class import NAME

from softlookup_grader import Course, CourseError
from softlookup_grader.course.arrived import COLLECTED, UNREADABLE, Arrival, Arrivals, arrivals
from softlookup_grader.course.collected import keep
from softlookup_grader.data.records import Record, Report
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.platforms.feedback_zips import feedback_zips, zips_with

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
    return made


def came(course: Course, **sources: str) -> None:
    """Files that were collected."""
    arrived = {**arrivals(course, NAME).by_student, **{who: Arrival(COLLECTED, at) for who, at in sources.items()}}
    keep(course, NAME, Arrivals(arrived))


def inside(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_moodle_gets_pages_in_folders_that_name_the_participant(course: Course) -> None:
    came(course, ada=f"Ada Lovelace_81_assignsubmission_file_/work/{FILE}")
    came(course, ben=f"Ben_OBanneker_82_assignsubmission_file_{FILE}")
    done = feedback_zips(course, NAME)
    (path,) = done.zips
    assert (path.name, done.zips[path]) == (f"{NAME}-feedback-moodle.zip", 2)
    pages = inside(path)
    assert list(pages) == [
        f"Ada Lovelace_81_assignsubmission_file_/{NAME}.html",
        f"Ben OBanneker_82_assignsubmission_file_/{NAME}.html",
    ]
    for (name, page), student in zip(pages.items(), ("ada", "ben"), strict=True):
        # As Moodle reads it: at most five parts between underscores, the second is a number, then the plugin.
        assert name.split("/")[0].split("_", 4)[1:4] == [name.split("_")[1], "assignsubmission", "file"]
        assert f"feedback of {student}<" in page and REMOTE in page and "_build" not in page and "Read this" in page
    assert done.notes == ["these students' notebooks came from no platform, so no zip has their feedback: 7103, zoe"]


def test_canvas_gets_notebooks_under_the_names_that_it_gave(course: Course) -> None:
    name = f"bannekerben_LATE_7102_90210_{NAME}-2.ipynb"
    came(course, ben=name)
    done = feedback_zips(course, NAME)
    (path,) = done.zips
    assert path.name == f"{NAME}-feedback-canvas.zip"
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
    came(course, ben=f"bannekerben_7102_90210_{FILE}")
    course.notebook("autograded", "ben", NAME).unlink()
    report = Report(NAME, 1, (Record("ben", "refused", 0.0, 39.0, reason="it is not a notebook <b>"),))
    (path,) = feedback_zips(course, NAME, report).zips
    (text,) = inside(path).values()
    assert [cell.source for cell in nbformat.reads(text, as_version=4).cells] == [
        f"# {NAME}\n\nThis notebook could not be graded: it is not a notebook &lt;b&gt;."
    ]


def test_a_notebook_in_a_zip_comes_back_under_the_name_of_the_zip(course: Course) -> None:
    came(course, ben="bannekerben_7102_90210_work.zip/mine/a.ipynb")
    (path,) = feedback_zips(course, NAME).zips
    assert list(inside(path)) == ["bannekerben_7102_90210_work.zip.ipynb"]


def test_names_that_students_chose_lead_to_nobody(course: Course) -> None:
    came(course, ada=f"one-head-ada/bannekerben_7102_90210_{FILE}", ben=f"bannekerben_7102_90210_{FILE}")
    (path,) = feedback_zips(course, NAME).zips
    assert feedback_zips(course, NAME).zips[path] == 1


def test_who_gets_nothing_is_named(course: Course) -> None:
    came(course, ben=f"bannekerben_7102_90210_{FILE}")
    arrived = {**arrivals(course, NAME).by_student, "7103": Arrival(UNREADABLE, "chen_7103_90210_a.html", "it is HTML")}
    keep(course, NAME, Arrivals(arrived))
    course.notebook("feedback", "7103", NAME).with_suffix(".html").unlink()
    notes = feedback_zips(course, NAME).notes
    assert notes[0] == "7103 got no feedback: there is no feedback page, which 'softlookup grade 04_one_head' makes"


def test_nothing_collected_is_an_error_and_an_old_zip_goes(course: Course) -> None:
    came(course, ben=f"one-head-ben/{FILE}")
    with pytest.raises(CourseError, match="softlookup collect 04_one_head ZIP"):
        feedback_zips(course, NAME)
    came(course, ben=f"bannekerben_7102_90210_{FILE}")
    old = course.root / "reports" / f"{NAME}-feedback-moodle.zip"
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(b"old")
    feedback_zips(course, NAME)
    assert not old.exists() and not list(old.parent.glob(".*feedback*"))


def test_the_zips_of_a_student_are_found_to_be_forgotten(course: Course) -> None:
    came(course, ben=f"bannekerben_7102_90210_{FILE}")
    (path,) = feedback_zips(course, NAME).zips
    assert zips_with(course, "ben") == [path] and zips_with(course, "ada") == []
    forget(course, "ben")
    assert not path.exists() and kept_of(course, "ben") == []
