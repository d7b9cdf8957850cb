"""The class as a whole: what kills, full disks and lost folders leave behind must cost nobody anything."""

import json
import os
import queue
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from softlookup_grader.course.folder import Course
from softlookup_grader.data.disk import Shelf
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED, Report
from softlookup_grader.data.work import Graded
from softlookup_grader.forgetting import forget, kept_of
from softlookup_grader.reports.explaining import last_graded
from softlookup_grader.run.engine import _class
from softlookup_grader.run.request import GradeRequest

NAME = "04_one_head"
RUN = {"run": {"seed": 1, "release": "r", "sandbox": "bubblewrap", "again": False, "begun": ""}}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    for student in ("ada", "ben"):
        (tmp_path / "submitted" / student / NAME).mkdir(parents=True)
    return Course.at(tmp_path)


def ledger(course: Course, *lines: bytes) -> Path:
    path = course.root / ".grading" / NAME / "ledger.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry).encode() + b"\n"


def test_forget_takes_what_a_killed_grader_was_writing(course: Course) -> None:
    whole = line(Graded("ada", GRADED, "d").as_json())
    path = ledger(course, line(RUN), line(Graded("ben", GRADED, "d").as_json()), whole[:40])
    shelved = Shelf(path.parent).path("ada")
    half = shelved.with_name(f".{shelved.name}.4711")
    copy = path.with_name(f".{path.name}.4711")
    shelved.parent.mkdir()
    half.write_text("half a notebook of ada's")
    copy.write_bytes(whole)
    assert str(half.relative_to(course.root)) in kept_of(course, "ada")
    forget(course, "ada")
    assert not half.exists() and not copy.exists()
    assert b"ada" not in path.read_bytes()
    assert b"ben" in path.read_bytes()


def test_explain_passes_over_a_damaged_line(course: Course) -> None:
    sound = Graded("ada", GRADED, "d")
    ledger(course, line(RUN), line(sound.as_json()), line({"student": "ada", "status": GRADED, "marks": None}))
    assert last_graded(course, NAME, "ada")[0] == sound


def test_grade_refuses_a_class_whose_submissions_are_gone(course: Course) -> None:
    graded = course.notebook("autograded", "ada", NAME)
    graded.parent.mkdir(parents=True)
    graded.write_text("{}")
    with course.gradebook() as book:
        book.update_or_create_student("ada")
    assert _class(course, GradeRequest(NAME)) == ["ada", "ben"]
    os.rename(course.submitted, course.root / "elsewhere")
    with pytest.raises(CourseError, match="1 of 1 in the class were graded"):
        _class(course, GradeRequest(NAME))
    course.submitted.mkdir()  # the place where a disk would be mounted
    with pytest.raises(CourseError, match="bring the folders back"):
        _class(course, GradeRequest(NAME))


def test_report_is_whole_or_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "reports" / "report.json"
    Report(NAME, 1, ()).write(path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(CourseError, match="no room left"):
        Report(NAME, 2, ()).write(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_report_follows_links_and_the_umask(tmp_path: Path) -> None:
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    mask = os.umask(0o077)
    try:
        Report(NAME, 1, ()).write(tmp_path / "own.json")
        Report(NAME, 1, ()).write(link)
    finally:
        os.umask(mask)
    assert link.is_symlink()
    assert json.loads(target.read_text())["seed"] == 1
    assert (tmp_path / "own.json").stat().st_mode & 0o777 == 0o600


def test_cluster_goes_on_while_one_worker_does_not_deliver() -> None:
    on_dask = pytest.importorskip("softlookup_grader.workers.on_dask")
    tries: list[float] = []

    class Silent:
        key, status = "key", "finished"

        def result(self, timeout: float) -> bytes:
            tries.append(timeout)
            assert len(tries) == 1, "it is asked again before anybody else got work"
            raise TimeoutError

    round_ = object.__new__(on_dask._Round)
    round_._client, round_._address, round_._landed = SimpleNamespace(status="running"), "tcp://", queue.SimpleQueue()
    silent = Silent()
    round_._flights = {"key": SimpleNamespace(future=silent)}
    round_._landed.put(silent)
    round_._collect()
    assert round_._landed.get_nowait() is silent  # it is asked again in the next round
