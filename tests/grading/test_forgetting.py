"""Removing a student: all of it, nothing of anybody else's, and nothing outside the course."""

import fcntl
import json

import pytest
from paper_class import enter, full, hand_in, record, write_report
from small_class import NAME, lay

from softlookup_grader import Course, CourseError
from softlookup_grader.data.work import Graded
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.reports.class_report import read_report
from softlookup_grader.run.ledger import Ledger

CLASS = ("ada", "ada-2", "bo[1]")


@pytest.fixture
def course(paper):
    for student in CLASS:
        hand_in(paper, student, {"04-mix": "def mix(w, v):\n    return w @ v"})
        enter(paper, student, full())
        for step in ("autograded", "feedback"):
            lay(paper.notebook(step, student, NAME), student)
        paper.log(NAME, student).write_text(student)
    folder = paper.root / ".grading" / NAME
    for seed in (1, 2):
        with Ledger(folder, release="r", seed=seed) as ledger:
            for student in CLASS:
                ledger.add(Graded(student, "graded", f"digest of {student}"))
                ledger.mark_entered(student)
                ledger.mark_page(student, "x")
    report = write_report(paper, *(record(student, full()) for student in CLASS))
    report.with_suffix(".txt").write_text(" ".join(CLASS))
    return paper


def everything(course: Course) -> dict[str, str]:
    """All files of a course but the gradebook."""
    texts = {}
    for path in course.root.rglob("*"):
        if path.is_file() and path.suffix != ".db" and path.name not in ("lock", ".gradebook.lock"):
            texts[str(path.relative_to(course.root))] = path.read_text()
    return texts


@pytest.mark.parametrize("student", ["ada", "bo[1]"])
def test_nothing_of_the_student_is_left_and_all_of_the_others(course, student):
    others = [name for name in CLASS if name != student]
    removals = forget(course, student)
    assert kept_of(course, student) == [] and len(removals) == 9, removals
    left = everything(course)
    assert not any(f'"{student}"' in text or f"/{student}/" in f"/{name}" for name, text in left.items())
    for other in others:
        assert f"submitted/{other}/{NAME}/{NAME}.ipynb" in left and f"logs/{NAME}/{other}.log" in left
        assert sum(f'"{other}"' in text for text in left.values()) == 3, "two ledgers and the report"
    with course.gradebook() as book:
        assert sorted(row.id for row in book.students) == others
    assert [r.student for r in read_report(course.root / "reports" / f"{NAME}.json").records] == others
    assert student + " " not in (course.root / "reports" / f"{NAME}.txt").read_text()


def test_the_ledger_goes_on_after_somebody_was_forgotten(course):
    forget(course, "ada")
    with Ledger(course.root / ".grading" / NAME, release="r") as ledger:
        assert ledger.run.seed == 2 and ledger.students() == ["ada-2", "bo[1]"]
        assert ledger.graded("bo[1]").digest == "digest of bo[1]"
        entry = ledger.of("ada-2")
        assert entry is not None and entry.entered and entry.page == "x"


@pytest.mark.parametrize("name", ["..", ".", "", "../../etc", "a/b", "\0"])
def test_a_name_that_is_no_folder_is_refused(course, name):
    with pytest.raises(CourseError, match="cannot be a student's id"):
        forget(course, name)


def test_tables_and_logs_lose_the_lines_of_the_student(course):
    table = course.root / "reports" / f"{NAME}-csv.csv"
    table.write_bytes(b'\xef\xbb\xbfstudent,name\r\nada,"Lovelace, Ada"\r\nada-2,"a\r\nb"\r\n')
    log = course.log("feedback")
    log.write_text("feedback/ada/x.html written\nfeedback/ada-2/x.html written\n")
    removals = forget(course, "ada")
    assert f"1 line of reports/{NAME}-csv.csv" in removals and "1 line of logs/feedback.log" in removals
    assert table.read_bytes() == b'\xef\xbb\xbfstudent,name\r\nada-2,"a\r\nb"\r\n'
    assert log.read_text() == "feedback/ada-2/x.html written\n"


def test_a_link_goes_and_what_it_points_to_stays(course, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    (course.root / "submitted" / "mallory").symlink_to(tmp_path)
    assert forget(course, "mallory") == ["submitted/mallory"]
    assert (tmp_path / "thesis.tex").exists() and not (course.root / "submitted" / "mallory").is_symlink()


def test_a_student_without_grades_is_forgotten_too(course):
    path = course.root / ".grading" / NAME / "ledger.jsonl"
    with open(path, "ab") as file:
        file.write(b'not json\n"text"\n' + json.dumps({"student": "cy", "status": "missing"}).encode() + b"\n")
    assert forget(course, "cy") == [f"1 line of .grading/{NAME}/ledger.jsonl"]
    assert b'not json\n"text"\n' in path.read_bytes()


def test_looking_changes_nothing_and_neither_does_forgetting_nobody_or_while_a_grader_works(course):
    before = everything(course)
    traces = kept_of(course, "ada")
    assert f"the grades of {NAME} in the gradebook" in traces and "submitted/ada" in traces
    assert f"3 lines of .grading/{NAME}/ledger-1.jsonl" in traces and f"an entry in reports/{NAME}.json" in traces
    assert kept_of(course, "nobody") == [] and forget(course, "*") == [], "a star is a name and no pattern"
    with open(course.root / ".grading" / NAME / "lock", "a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(CourseError, match=f"is working on {NAME}: wait until it ends"):
            forget(course, "ada")
    assert everything(course) == before
