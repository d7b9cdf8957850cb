"""Grading a class: who is graded when, what is kept, what is told, and the peer that grades in place."""

import datetime
import json
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
import pytest
from fake_grader import Fake, faked, here
from small_class import NAME, STUDENTS, write_course

from benchmarks.nbgrader_class import grade_class
from softlookup_grader import Course, CourseError, Report
from softlookup_grader.data.work import Graded, RunSettings
from softlookup_grader.reports.table import as_text
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.ledger import FILE
from softlookup_grader.run.request import GradeRequest, Watcher

BY_HAND = "04.uniform"


class Seen(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int, int]] = []
        self.steps: list[str] = []
        self.sentences: list[str] = []

    def begin(self, what: str, total: int, done: int = 0) -> None:
        self.begun.append((what, total, done))

    def step(self, name: str, graded: Graded | None = None) -> None:
        self.steps.append(name)

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


@pytest.fixture(scope="session")
def handed_in(tmp_path_factory: pytest.TempPathFactory, short: nbformat.NotebookNode) -> Course:
    return write_course(tmp_path_factory.mktemp("engine") / "course", short, STUDENTS)


@pytest.fixture
def course(handed_in: Course, tmp_path: Path) -> Course:
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


def test_report_is_the_same_with_any_number_of_workers(course: Course) -> None:
    first = grade(course, seed=5, workers=1)
    assert [r.student for r in first.records] == course.students() and first.seed == 5
    second = grade(course, seed=5, again=True, workers=3)
    assert first.as_json() == second.as_json()
    assert calls(course) == sorted(2 * runnable(course))


def test_what_waited_for_a_processor_is_graded_once_more_after_all_others(course: Course) -> None:
    late = ("half-done", "mistake-2")
    seen = Seen()
    report = grade(course, seen, seed=5, workers=3, examiner={"crowded": late})
    called = (course.root / "calls").read_text().split()
    assert sorted(called[:-2]) == runnable(course) and sorted(called[-2:]) == sorted(late)
    assert sorted(seen.steps) == course.students(), "each is counted once"
    assert sum("graded again, one at a time" in sentence for sentence in seen.sentences) == 1
    (course.root / "calls").unlink()
    assert report.as_json() == grade(course, seed=5, again=True).as_json()
    assert '"crowded": true' not in (course.root / ".grading" / NAME / FILE).read_text()


def test_report_says_what_became_of_each(course: Course) -> None:
    by_name = grade(course, seed=5).as_json()["submissions"]
    assert (
        by_name["missing-notebook"]["status"] == "missing"
        and "there is no file" in by_name["missing-notebook"]["reason"]
    )
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


def test_nothing_is_graded_twice_and_that_is_told(course: Course) -> None:
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


def test_a_changed_hand_in_is_graded_with_the_same_seed(course: Course) -> None:
    seed = grade(course).seed
    path = course.notebook("submitted", "half-done", NAME)
    path.write_text(path.read_text() + "\n")
    course.notebook("submitted", "missing-notebook", NAME).write_text("{")
    again = grade(course)
    assert again.seed == seed
    assert calls(course) == sorted([*runnable(course), "half-done", "missing-notebook"])
    assert {r.student: r.status for r in again.records}["missing-notebook"] == "refused"


def test_one_student_is_graded_again_when_asked_for(course: Course) -> None:
    grade(course, seed=5)
    seen = Seen()
    report = grade(course, seen, students=("half-done",))
    assert seen.steps == ["half-done"] and len(report.records) == len(STUDENTS)
    assert calls(course) == sorted([*runnable(course), "half-done"])
    with pytest.raises(CourseError, match="nobody in the class has the id 'half-don'"):
        grade(course, students=("half-don",))


def test_a_page_that_takes_too_long_becomes_one_with_the_points(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("softlookup_grader.feedback.pages.PATIENCE_S", 0.01)
    seen = Seen()
    report = grade(course, seen, students=("half-done",), feedback=True)
    record = next(record for record in report.records if record.student == "half-done")
    text = course.notebook("feedback", "half-done", NAME).with_suffix(".html").read_text(encoding="utf-8")
    assert f"Score: {record.score:g} / {record.max:g}" in text and "could not be made" in text
    assert any("half-done has a feedback page with the points alone" in sentence for sentence in seen.sentences)


def test_progress_counts_every_submission_once(course: Course) -> None:
    seen = Seen()
    grade(course, seen, workers=2)
    assert sorted(seen.steps) == sorted(course.students()) and seen.begun == [("grading", len(STUDENTS), 0)]


def test_what_the_gradebook_lost_is_graded_again(course: Course) -> None:
    """A new gradebook, a row that somebody changed, a notebook that somebody removed."""
    before = grade(course, seed=5)
    with course.gradebook() as book:
        book.remove_student("mistake-2")
        book.find_grade("04-scale-check", NAME, NAME, "half-done").auto_score = 99
        book.db.commit()
    course.notebook("autograded", "deep-traceback", NAME).unlink()
    assert grade(course).as_json() == before.as_json()
    assert calls(course) == sorted([*runnable(course), "deep-traceback", "half-done", "mistake-2"])


def test_points_by_hand_are_kept_and_told(course: Course) -> None:
    before = grade(course, seed=5).records
    with course.gradebook() as book:
        row = book.find_grade("04-uniform", NAME, NAME, "right-other-words")
        row.manual_score, row.needs_manual_grade = 2.5, False
        book.db.commit()
    for options in ({}, {"again": True}):
        by_name = {r.student: r for r in grade(course, **options).records}
        after = by_name["right-other-words"]
        assert after.by_hand[BY_HAND].points == 2.5 and after.waiting == 0
        assert after.score == {r.student: r for r in before}["right-other-words"].score + 2.5


def test_a_refused_hand_in_takes_the_place_of_a_graded_one(course: Course) -> None:
    grade(course)
    course.notebook("submitted", "half-done", NAME).write_text("{")
    record = {r.student: r for r in grade(course).records}["half-done"]
    assert (record.status, record.score) == ("refused", 0)
    assert not course.notebook("autograded", "half-done", NAME).exists()


def test_a_new_release_begins_a_new_run(course: Course) -> None:
    grade(course, seed=5)
    path = course.notebook("release", ".", NAME)
    path.chmod(0o644)
    path.write_text(path.read_text() + "\n")
    seen = Seen()
    report = grade(course, seen)
    assert report.seed != 5 and any("ledger-1.jsonl" in s for s in seen.sentences)
    assert calls(course) == sorted(2 * runnable(course))


@pytest.mark.parametrize("made", ["link", "folder-link", "pipe", "huge", "folder"])
def test_what_is_no_plain_file_is_refused_and_not_followed(course: Course, made: str) -> None:
    path = course.notebook("submitted", "half-done", NAME)
    if made == "folder-link":
        os.rename(path.parent, course.root / "elsewhere")
        path.parent.symlink_to(course.root / "elsewhere")
    else:
        path.unlink()
    if made == "link":
        path.symlink_to(course.notebook("submitted", "mistake-2", NAME))
    elif made == "pipe":
        os.mkfifo(path)
    elif made == "folder":
        path.mkdir()
    elif made == "huge":
        with open(path, "wb") as file:
            file.truncate(60_000_000)
    record = {r.student: r for r in grade(course, students=("half-done",)).records}["half-done"]
    says = {"link": "is a link", "folder-link": "is a link", "huge": "60,000,000 bytes"}.get(made, "is not a file")
    assert record.status == "refused" and says in record.reason and calls(course) == []


def test_remarks_and_a_bad_timestamp_are_told(course: Course) -> None:
    shutil.copytree(course.root / "submitted" / "half-done", course.root / "submitted" / "remarked")
    (course.root / "submitted" / "remarked" / NAME / "timestamp.txt").write_text("99999-99-99 tomorrow X")
    report = grade(course, students=("remarked",))
    entry = report.as_json()["submissions"]["remarked"]
    assert entry["remarks"][0] == "A cell was added." and "timestamp.txt is not a time" in entry["remarks"][1]
    assert "says nothing about being late: remarked" in as_text(report)


def test_a_time_that_arrives_after_the_first_grading_counts_at_the_next(course: Course) -> None:
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


def test_a_notebook_of_another_name_is_named_in_the_table(course: Course) -> None:
    folder = course.root / "submitted" / "half-done" / NAME
    (folder / f"{NAME}.ipynb").rename(folder / "final version.ipynb")
    assert f"half-done: refused, there is no file {NAME}.ipynb, only 'final version.ipynb'" in as_text(grade(course))


def test_a_folder_with_an_impossible_name_is_told_and_left_out(course: Course) -> None:
    os.makedirs(os.fsencode(course.root) + b"/submitted/\xff\xfe/04_one_head")
    seen = Seen()
    assert len(grade(course, seen).records) == len(STUDENTS)
    assert any("'\\udcff\\udcfe' in submitted/ is left out" in s for s in seen.sentences)


def test_a_gradebook_that_cannot_be_written_costs_no_work(course: Course) -> None:
    url = f"sqlite:///{course.root / 'gradebook.db'}?timeout=0.05"
    with open(course.root / "nbgrader_config.py", "a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    course = Course.at(course.root)
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


def test_a_read_only_gradebook_is_one_sentence(course: Course) -> None:
    url = f"sqlite:///file:{course.root / 'gradebook.db'}?mode=ro&uri=true"
    with open(course.root / "nbgrader_config.py", "a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
    with pytest.raises(CourseError, match=r"readonly database\): let this account write the file"):
        grade(Course.at(course.root), students=("half-done",))


def test_a_broken_gradebook_is_one_sentence(course: Course) -> None:
    (course.root / "gradebook.db").write_bytes(b"rubbish" * 1000)
    with pytest.raises(CourseError, match="the gradebook cannot be used .*not a database"):
        grade(course)


def test_what_cannot_be_graded_here_is_passed_on(course: Course) -> None:
    with pytest.raises(CourseError, match="bubblewrap is not installed"):
        grade(course, examiner={"refuses": "bubblewrap is not installed"})
    grade(course)


def test_a_course_that_is_not_ready_is_one_sentence(course: Course) -> None:
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


def test_course_needs_a_folder_with_a_config(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="there is no folder"):
        Course.at(tmp_path / "nowhere")
    with pytest.raises(CourseError, match="no nbgrader_config.py"):
        Course.at(tmp_path)


def test_the_peer_grades_in_place_and_a_killed_process_costs_only_its_own(course: Course) -> None:
    seen: list[tuple[int, int, str]] = []
    fake = Fake(kills=("half-done",), fails=("not-json",))
    report = grade_class(course, NAME, fake, workers=2, seed=5, done=lambda n, of, r: seen.append((n, of, r.student)))
    assert [r.student for r in report.records] == course.students() and report.seed == 5
    assert [n for n, _, _ in seen] == list(range(1, len(STUDENTS) + 1)) and {of for _, of, _ in seen} == {len(STUDENTS)}
    assert {r.student for r in report.records if r.status == "refused"} == {"half-done", "not-json"}
    assert "the disk is full" in {r.student: r for r in report.records}["not-json"].reason


def test_ctrl_c_that_python_drops_stops_all_the_same(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
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
