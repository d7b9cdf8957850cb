"""Grading a class: who is graded when, what is kept, and what is said about it."""

import copy
import datetime
import json
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from fake_grader import Seen, faked, here
from small_class import NAME, STUDENTS, write_course

from softlookup_grader import Course, CourseError, Report
from softlookup_grader.course.notebooks import is_graded
from softlookup_grader.data.work import Graded, RunSettings
from softlookup_grader.reports.table import as_text
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.ledger import FILE
from softlookup_grader.run.request import GradeRequest, Watcher


@pytest.fixture(scope="session")
def handed_in(tmp_path_factory, short):
    return write_course(tmp_path_factory.mktemp("engine") / "course", short, STUDENTS)


@pytest.fixture
def course(handed_in, tmp_path):
    """A course that a test may change."""
    return Course.at(Path(shutil.copytree(handed_in.root, tmp_path / "course", symlinks=True)))


def grade(course: Course, seen: Watcher | None = None, *, examiner: dict | None = None, **options: object) -> Report:
    order = GradeRequest(NAME, **{"feedback": False, **options})
    calls = {"calls": course.root / "calls", **(examiner or {})}
    executor = faked(course, order, **calls) if "workers" in options else here(**calls)
    return grade_assignment(course, order, executor=executor, watch=seen)


def calls(course: Course) -> list[str]:
    path = course.root / "calls"
    return sorted(path.read_text().split()) if path.exists() else []


def runnable(course: Course) -> list[str]:
    return sorted(s for s in course.students() if s != "missing-notebook")


@pytest.mark.slow
def test_report_is_the_same_with_any_number_of_workers(course):
    first = grade(course, seed=5, workers=1)
    assert [r.student for r in first.records] == course.students() and first.seed == 5
    second = grade(course, seed=5, again=True, workers=3)
    assert first.as_json() == second.as_json()
    assert calls(course) == sorted(2 * runnable(course))


@pytest.mark.slow
def test_what_waited_for_a_processor_is_graded_once_more_after_all_others(course):
    late = ("half-done", "mistake-2")
    seen = Seen()
    report = grade(course, seen, seed=5, workers=3, examiner={"crowded": late})
    called = (course.root / "calls").read_text().split()
    assert sorted(called[:-2]) == runnable(course) and sorted(called[-2:]) == sorted(late)
    assert sorted(seen.steps) == course.students(), "each is counted once"
    assert seen.begun[0] == ("grading", len(STUDENTS), 0)
    assert sum("graded again, one at a time" in sentence for sentence in seen.sentences) == 1
    (course.root / "calls").unlink()
    assert report.as_json() == grade(course, seed=5, again=True).as_json()
    assert '"crowded": true' not in (course.root / ".grading" / NAME / FILE).read_text()


def test_report_says_what_became_of_each(course):
    by_name = grade(course, seed=5).as_json()["submissions"]
    missing = by_name["missing-notebook"]
    assert missing["status"] == "missing" and "there is no file" in missing["reason"]
    assert by_name["not-json"]["status"] == "refused" and by_name["not-json"]["score"] == 0
    done = by_name["half-done"]
    assert done["status"] == "graded" and done["score"] == sum(t["points"] for t in done["tasks"].values()) > 0
    assert {t["verdict"] for t in done["tasks"].values()} == {"pass", "wrong"}
    assert all(bool(t["diagnosis"]) == (t["verdict"] == "wrong") for t in done["tasks"].values())
    for submission in by_name.values():
        assert submission["max"] == sum(t["max"] for t in submission["tasks"].values()) + 3
    with course.gradebook() as book:
        assert book.find_submission(NAME, "half-done").score == done["score"]
        assert [s.student.id for s in book.assignment_submissions(NAME)].count("missing-notebook") == 0


def test_nothing_is_graded_twice_and_that_is_told(course):
    before = grade(course, seed=5)
    ledger = (course.root / ".grading" / NAME / FILE).read_bytes()
    book = (course.root / "gradebook.db").read_bytes()
    seen = Seen()
    assert grade(course, seen).as_json() == before.as_json()
    assert calls(course) == runnable(course) and seen.steps == []
    assert any("nothing has changed since" in s for s in seen.sentences)
    assert seen.begun == [("grading", len(STUDENTS), len(STUDENTS))]
    assert (course.root / ".grading" / NAME / FILE).read_bytes() == ledger
    assert (course.root / "gradebook.db").read_bytes() == book


def test_a_changed_hand_in_is_graded_with_the_same_seed(course):
    seed = grade(course).seed
    path = course.notebook("submitted", "half-done", NAME)
    path.write_text(path.read_text() + "\n")
    for student in ("mistake-2", "missing-notebook"):
        course.notebook("submitted", student, NAME).write_text("{")
    again = grade(course)
    by_name = {r.student: r for r in again.records}
    assert again.seed == seed
    assert calls(course) == sorted([*runnable(course), "half-done", "mistake-2", "missing-notebook"])
    for student in ("mistake-2", "missing-notebook"):
        assert (by_name[student].status, by_name[student].score) == ("refused", 0)
        assert not course.notebook("autograded", student, NAME).exists()


def test_one_student_is_graded_again_when_asked_for(course):
    grade(course, seed=5)
    seen = Seen()
    report = grade(course, seen, students=("half-done",))
    assert seen.steps == ["half-done"] and len(report.records) == len(STUDENTS)
    assert calls(course) == sorted([*runnable(course), "half-done"])
    with pytest.raises(CourseError, match="nobody in the class has the id 'half-don'"):
        grade(course, students=("half-don",))


@pytest.mark.slow
def test_a_page_that_takes_too_long_becomes_one_with_the_points(course, monkeypatch):
    monkeypatch.setattr("softlookup_grader.feedback.pages.PATIENCE_S", 0.01)
    seen = Seen()
    report = grade(course, seen, students=("half-done",), feedback=True)
    record = next(record for record in report.records if record.student == "half-done")
    text = course.notebook("feedback", "half-done", NAME).with_suffix(".html").read_text(encoding="utf-8")
    assert f"Score: {record.score:g} / {record.max:g}" in text and "could not be made" in text
    assert any("half-done has a feedback page with the points alone" in sentence for sentence in seen.sentences)


def test_what_the_gradebook_lost_is_graded_again(course):
    """A new gradebook, a row that somebody changed, a notebook that somebody removed."""
    before = grade(course, seed=5)
    with course.gradebook() as book:
        book.remove_student("mistake-2")
        book.find_grade("04-scale-check", NAME, NAME, "half-done").auto_score = 99
        book.db.commit()
    course.notebook("autograded", "deep-traceback", NAME).unlink()
    assert grade(course).as_json() == before.as_json()
    assert calls(course) == sorted([*runnable(course), "deep-traceback", "half-done", "mistake-2"])


def test_points_by_hand_are_kept_and_told(course):
    before = grade(course, seed=5).records
    with course.gradebook() as book:
        row = book.find_grade("04-uniform", NAME, NAME, "right-other-words")
        row.manual_score, row.needs_manual_grade = 2.5, False
        book.db.commit()
    for options in ({}, {"again": True}):
        by_name = {r.student: r for r in grade(course, **options).records}
        after = by_name["right-other-words"]
        assert after.by_hand["04.uniform"].points == 2.5 and after.waiting == 0
        assert after.score == {r.student: r for r in before}["right-other-words"].score + 2.5


def test_other_points_are_reckoned_without_a_run(course, short):
    before = grade(course, seed=5)
    source = copy.deepcopy(short)
    for cell in source.cells:
        if is_graded(cell):
            cell.metadata.nbgrader.points *= 2
    course.release({NAME: source})
    (course.root / "calls").unlink()
    seen = Seen()
    after = grade(course, seen)
    assert calls(course) == [] and after.seed == 5
    assert "6 submissions were given new ones" in " ".join(seen.sentences)
    for old, new in zip(before.records, after.records, strict=True):
        assert (new.score, new.max) == (2 * old.score, 2 * old.max) and new.waiting == old.waiting
    with course.gradebook() as book:
        (old,) = (record.score for record in before.records if record.student == "half-done")
        assert book.find_submission(NAME, "half-done").score == 2 * old > 0
    assert any("nothing has changed" in sentence for sentence in _sentences(course))


def _sentences(course: Course) -> list[str]:
    seen = Seen()
    grade(course, seen)
    return seen.sentences


def test_a_new_release_begins_a_new_run(course):
    grade(course, seed=5)
    path = course.notebook("release", ".", NAME)
    path.chmod(0o644)
    path.write_text(path.read_text().replace("def scale", "def scale ", 1))
    seen = Seen()
    report = grade(course, seen)
    assert report.seed != 5 and any("ledger-1.jsonl" in s for s in seen.sentences)
    assert calls(course) == sorted(2 * runnable(course))


def test_a_link_is_refused_and_not_followed(course):
    path = course.notebook("submitted", "half-done", NAME)
    path.unlink()
    path.symlink_to(course.notebook("submitted", "mistake-2", NAME))
    record = {r.student: r for r in grade(course, students=("half-done",)).records}["half-done"]
    assert record.status == "refused" and "is a link" in record.reason and calls(course) == []


def test_remarks_and_a_bad_timestamp_are_told(course):
    shutil.copytree(course.root / "submitted" / "half-done", course.root / "submitted" / "remarked")
    (course.root / "submitted" / "remarked" / NAME / "timestamp.txt").write_text("99999-99-99 tomorrow X")
    report = grade(course, students=("remarked",))
    entry = report.as_json()["submissions"]["remarked"]
    assert entry["remarks"][0] == "A cell was added." and "timestamp.txt is not a time" in entry["remarks"][1]
    assert "says nothing about being late: remarked" in as_text(report)


def test_a_time_that_arrives_after_the_first_grading_counts_at_the_next(course):
    grade(course)
    with course.gradebook() as book:
        book.update_or_create_assignment(NAME, duedate=datetime.datetime(2026, 1, 1))
    slip = course.root / "submitted" / "half-done" / NAME / "timestamp.txt"
    slip.write_text("2026-01-01 06:00:00 UTC")
    before = calls(course)
    grade(course)
    assert calls(course) == before, "nothing was graded again"
    with course.gradebook() as book:
        assert book.find_submission(NAME, "half-done").total_seconds_late == 6 * 3600


def with_gradebook(course: Course, url: str) -> Course:
    with open(course.root / "nbgrader_config.py", "a") as config:
        config.write(f"\nc.CourseDirectory.db_url = 'sqlite:///{url}'\n")
    return Course.at(course.root)


def test_a_gradebook_that_cannot_be_written_costs_no_work(course):
    course = with_gradebook(course, f"{course.root / 'gradebook.db'}?timeout=0.05")
    other = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    seen = Seen()
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CourseError, match=r"database is locked\): another program .*9 graded submissions are kept"):
            grade(course, seen)
    finally:
        other.close()
    assert sum("grading continues" in s for s in seen.sentences) == 1, "told once, and not waited for each time"
    assert calls(course) == runnable(course)
    report = grade(course)
    assert calls(course) == runnable(course), "nothing was graded again"
    assert {r.student: r.score for r in report.records}["half-done"] > 0
    assert not list((course.root / ".grading" / NAME / "waiting").iterdir())


def test_a_gradebook_that_is_read_only_or_broken_is_one_sentence(course):
    book = course.root / "gradebook.db"
    with pytest.raises(CourseError, match=r"readonly database\): let this account write the file"):
        grade(with_gradebook(course, f"file:{book}?mode=ro&uri=true"), students=("half-done",))
    book.write_bytes(b"rubbish" * 1000)
    with pytest.raises(CourseError, match="the gradebook cannot be used .*not a database"):
        grade(course)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("sqlite:///gradebook.db", "course/gradebook.db"),
        ("sqlite:////srv/grades/all.db", "/srv/grades/all.db"),
        ("postgresql://grader:secret@db.example:5432/grades", "postgresql://grader:***@db.example:5432/grades"),
    ],
)
def test_the_place_of_the_gradebook_is_shown_without_a_password(course, monkeypatch, address, shown):
    monkeypatch.chdir(course.root.parent)
    course.directory.db_url = address
    assert course.gradebook_place() == shown


def test_what_cannot_be_graded_here_is_passed_on(course):
    with pytest.raises(CourseError, match="bubblewrap is not installed"):
        grade(course, examiner={"refuses": "bubblewrap is not installed"})
    grade(course)


def test_a_course_that_is_not_ready_is_one_sentence(course):
    with pytest.raises(CourseError, match=r"knows no assignment '05_many_heads' \(it has: 04_one_head\)"):
        grade_assignment(course, GradeRequest("05_many_heads"))
    path = course.notebook("release", ".", NAME)
    text = json.loads(path.read_text())
    path.chmod(0o644)
    for cell in text["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "04-scale-check":
            cell["metadata"]["nbgrader"]["points"] = 50
    path.write_text(json.dumps(text))
    with pytest.raises(CourseError, match="the gradebook differ in 04-scale-check"):
        grade(course)
    path.write_text("{")
    with pytest.raises(CourseError, match="cannot be read"):
        grade(course)
    path.unlink()
    with pytest.raises(CourseError, match="there is no release of 04_one_head"):
        grade(course)


def test_course_needs_a_folder_with_a_config(tmp_path):
    with pytest.raises(CourseError, match="there is no folder"):
        Course.at(tmp_path / "nowhere")
    with pytest.raises(CourseError, match="no nbgrader_config.py"):
        Course.at(tmp_path)


def test_ctrl_c_that_python_drops_stops_all_the_same(course, monkeypatch):
    class Finalised:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)  # what its handler raises is dropped

    class Pressed:
        def __init__(self, settings: RunSettings) -> None:
            self.inner = here(calls=course.root / "calls")(settings)

        def run(self, submissions: Iterable[tuple[str, bytes]]) -> Iterator[Graded]:
            for number, graded in enumerate(self.inner.run(submissions)):
                if number == 1:
                    Finalised()
                yield graded

    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: dropped.append(unraisable.exc_type))
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            grade_assignment(course, GradeRequest(NAME, feedback=False), executor=Pressed)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)
    assert dropped == [KeyboardInterrupt]
    before = (course.root / "calls").read_text().split()
    assert 2 <= len(before) < len(STUDENTS)
    report = grade(course)
    assert not set(before) & set((course.root / "calls").read_text().split()[len(before) :])
    assert len(report.records) == len(STUDENTS)
