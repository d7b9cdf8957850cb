"""Grading on hand-in: what is still being written waits, a kill loses nothing, an error costs nobody else a grade."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import nbformat
import pytest
from arriving import enter_class, notebook, zipped
from nbformat.v4 import new_code_cell, new_notebook
from quick_grader import Quick
from sandbox_tools import NEEDS_SANDBOX
from small_class import NAME, ROOT, lay

from softlookup_grader import Course, GradeRequest, Record, grade_assignment, new_course
from softlookup_grader.course.groups import set_table
from softlookup_grader.data import changes as data_changes
from softlookup_grader.data.changes import Changes
from softlookup_grader.data.records import GRADED, MISSING, REFUSED
from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.zygotes import ZygotePool
from softlookup_grader.run import autograding
from softlookup_grader.run.autograding import CourseWatch
from softlookup_grader.run.ledger import FILE, Ledger

FIRST, SECOND = "hw1", "hw2"
RIGHT, WRONG = "def double(x):\n    return 2 * x", "def double(x):\n    return x"


def about(name: str, points: float | None = None) -> dict:
    graded = points is not None
    marks = {"grade": graded, "grade_id": name, "locked": graded, "schema_version": 3, "solution": not graded}
    return {"nbgrader": marks | {"task": False} | ({"points": points} if graded else {})}


def homework(name: str, code: str = "### BEGIN SOLUTION\n### END SOLUTION") -> nbformat.NotebookNode:
    cells = [
        new_code_cell(code, metadata=about(f"{name}-double")),
        new_code_cell("assert double(2) == 4", metadata=about(f"{name}-test", 3.0)),
    ]
    for number, cell in enumerate(cells):
        cell.id = f"{name}-{number}"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return new_notebook(cells=cells, metadata=kernel)


def raw(name: str = FIRST, code: str = RIGHT) -> bytes:
    return nbformat.writes(homework(name, code)).encode()


def hand_in(course: Course, student: str, name: str = FIRST, content: bytes | None = None) -> Path:
    return lay(course.notebook("submitted", student, name), raw(name) if content is None else content)


@pytest.fixture
def course(made_once, tmp_path):
    """Two assignments of ordinary nbgrader notebooks are released, and nobody has handed in."""

    def make(folder: Path) -> None:
        new_course(folder, ROOT / "nbgrader_config.py").release({name: homework(name) for name in (FIRST, SECOND)})

    return Course.at(Path(shutil.copytree(made_once("watched-course", make), tmp_path / "course")))


@pytest.fixture
def quick(monkeypatch):
    """Nothing is waited for, nothing runs, and no pages are made."""
    monkeypatch.setattr(autograding, "grade_assignment", partial(grade_assignment, executor=Quick))
    monkeypatch.setattr(autograding, "GradeRequest", partial(GradeRequest, feedback=False))
    monkeypatch.setattr(autograding, "_PAUSE_S", 0.0)
    monkeypatch.setattr(autograding, "_AGAIN_S", 0.0)
    monkeypatch.setattr(autograding, "_MOST_ROUNDS", 6)
    monkeypatch.setattr(data_changes, "PATIENCE_S", 0.0)


class Shown:
    """What the instructor of a watched course sees."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str]] = []
        self.sentences: list[str] = []

    def show(self, assignment: str, row: Record) -> None:
        self.rows.append((assignment, row.student, row.status))


def watched(course: Course, returns_feedback: bool = False) -> Shown:
    """Grade what is there, as with ``--once``."""
    shown = Shown()
    with CourseWatch(course.root, shown.show, shown.sentences.append, returns_feedback) as course_watch:
        course_watch.run(once=True)
    return shown


def test_changes_are_ready_when_two_looks_see_the_same(tmp_path, monkeypatch):
    changes, paths = Changes(lambda path: False), {"ada": tmp_path / "ada"}
    changes.poll(paths)
    assert not changes.arriving and not changes.ready
    for content in ("a", "ab"):
        path = lay(tmp_path / "ada" / "deep" / "x.txt", content)
        os.utime(path, (1, 1))  # a time of modification that was set back
        changes.poll(paths)
        assert changes.arriving == {"ada"} and not changes.ready
        changes.poll(paths)
        assert changes.ready == {"ada"} and not changes.arriving
        changes.mark_done(["ada"])
        changes.poll(paths)
        assert not changes.ready and not changes.arriving
    shutil.rmtree(tmp_path / "ada")
    changes.poll(paths)
    changes.poll(paths)
    assert changes.ready == {"ada"}


def test_changes_leave_what_cannot_be_read_for_a_while(tmp_path, monkeypatch):
    changes, paths = Changes(lambda path: path.read_text() == "{"), {"ada": lay(tmp_path / "ada", "{")}
    monkeypatch.setattr(data_changes, "PATIENCE_S", 1000.0)
    for _ in range(3):
        changes.poll(paths)
        assert changes.arriving == {"ada"}
    monkeypatch.setattr(data_changes, "PATIENCE_S", 0.0)
    changes.poll(paths)
    assert changes.ready == {"ada"}


def test_watch_grades_what_arrived_once(course, quick):
    assert watched(course).rows == []
    hand_in(course, "ada")
    hand_in(course, "ben", SECOND)
    shown = watched(course)
    assert shown.rows == [(FIRST, "ada", GRADED), (SECOND, "ben", GRADED)] and shown.sentences == []
    assert watched(course).rows == []
    hand_in(course, "ada", content=raw(code=WRONG))
    hand_in(course, "ben", content=b"{")
    assert watched(course).rows == [(FIRST, "ada", GRADED), (FIRST, "ben", REFUSED)]


def test_watch_leaves_a_file_that_is_still_being_written(course, quick, monkeypatch):
    monkeypatch.setattr(data_changes, "PATIENCE_S", 1000.0)
    hand_in(course, "ada")
    hand_in(course, "ben", content=raw()[:200])
    assert watched(course).rows == [(FIRST, "ada", GRADED)]
    assert [line["student"] for line in graded_lines(course)] == ["ada"]
    hand_in(course, "ben")
    assert watched(course).rows == [(FIRST, "ben", GRADED)]


def test_nobody_of_a_group_is_graded_while_its_file_is_being_written(paper):
    enter_class(paper, "ada", "ben", "cleo")
    path = lay(paper.notebook("submitted", "ada", NAME), notebook())
    set_table(paper, NAME, [("ada", "ben")])

    def statuses(**more: frozenset[str]) -> dict[str, str]:
        report = grade_assignment(paper, GradeRequest(NAME, feedback=False, **more), executor=Quick)
        return {row.student: row.status for row in report.records}

    assert statuses() == {"ada": GRADED, "ben": GRADED, "cleo": MISSING}
    path.write_bytes(notebook()[:200])
    lay(paper.notebook("submitted", "cleo", NAME), notebook())
    assert statuses(arriving=frozenset({"ada"})) == dict.fromkeys(("ada", "ben", "cleo"), GRADED)
    assert statuses()["ben"] == MISSING  # as it would have been above


def test_an_assignment_that_is_released_again_is_graded_again(course, quick):
    hand_in(course, "ada")
    hand_in(course, "ben", SECOND)
    watched(course)
    other = homework(FIRST)
    other.cells[1].source = "assert double(3) == 6"
    course.release({FIRST: other})
    assert watched(course).rows == [(FIRST, "ada", GRADED)]


def test_an_error_in_one_assignment_is_said_once_and_costs_no_other(course, quick):
    hand_in(course, "ada")
    hand_in(course, "ada", SECOND)
    lay(course.notebook("release", ".", FIRST), "{")
    shown = watched(course)
    assert shown.rows == [(SECOND, "ada", GRADED)]
    (sentence,) = shown.sentences
    assert sentence.startswith(f"{FIRST}: the release of {FIRST} cannot be read")


def test_watch_waits_for_another_grader(course, quick):
    hand_in(course, "ada")
    with closing(Ledger(course.root / ".grading" / FIRST, "")):
        shown = watched(course)
    assert shown.rows == [] and len(shown.sentences) == 1
    assert f"another 'softlookup grade' (process {os.getpid()}) is working on this assignment" in shown.sentences[0]
    assert watched(course).rows == [(FIRST, "ada", GRADED)]


def graded_lines(course: Course, name: str = FIRST) -> list[dict]:
    path = course.root / ".grading" / name / FILE
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return [line for line in whole if "status" in line]


@pytest.fixture
def class_of_two(course):
    enter_class(course, "ada", "ben")
    (course.root / "dropped" / SECOND).mkdir(parents=True)
    return course


def moved(course: Course, folder: str) -> list[str]:
    return sorted(path.name for path in (course.root / "dropped" / folder).glob("*"))


def test_a_dropped_zip_is_collected_for_the_assignment_that_its_notebooks_belong_to(class_of_two, quick):
    course, dropped = class_of_two, class_of_two.root / "dropped"
    lay(dropped / "all.zip", zipped({"ada/x.ipynb": raw(), "ben/notes.txt": b"", "eve/x.ipynb": raw()}))
    shown = watched(course)
    assert shown.rows == [(FIRST, "ada", GRADED), (FIRST, "ben", REFUSED)] and shown.sentences == []
    assert moved(course, "done") == ["all.zip", "all.zip.txt"] and not list(dropped.glob("*.zip"))
    assert "2 in class: 1 collected, 1 unreadable, 0 nothing" in (dropped / "done" / "all.zip.txt").read_text()
    lay(dropped / "all.zip", zipped({"ada/x.ipynb": raw(code=WRONG)}))
    assert watched(course).rows == [(FIRST, "ada", GRADED)]
    assert course.notebook("submitted", "ada", FIRST).read_bytes() == raw(code=WRONG)
    assert len(moved(course, "done")) == 4


def test_the_folder_of_a_dropped_zip_names_its_assignment(class_of_two, quick):
    lay(class_of_two.root / "dropped" / SECOND / "all.ZIP", zipped({"ada/x.ipynb": raw(SECOND), "ben/y.ipynb": raw()}))
    assert watched(class_of_two).rows == [(SECOND, "ada", GRADED), (SECOND, "ben", REFUSED)]
    assert moved(class_of_two, "done") == ["all.ZIP", "all.ZIP.txt"] and moved(class_of_two, SECOND) == []


@pytest.mark.parametrize(
    ("place", "content", "why"),
    [
        ("all.zip", zipped({"ada/x.ipynb": raw()})[:-30], "this zip is broken"),
        ("all.zip", zipped({"ada/x.ipynb": raw("hw3"), "ben/x.ipynb": b"{"}), "it holds no notebook of an assignment"),
        ("hw3/all.zip", zipped({"ada/x.ipynb": raw()}), "its folder hw3 is called as no assignment"),
    ],
)
def test_a_dropped_zip_that_is_refused_has_a_sentence_beside_it(class_of_two, quick, place, content, why):
    lay(class_of_two.root / "dropped" / place, content)
    shown = watched(class_of_two)
    (sentence,) = shown.sentences
    assert shown.rows == [] and sentence.startswith(f"dropped/{place}: it was moved to dropped/refused: {why}")
    assert moved(class_of_two, "refused") == ["all.zip", "all.zip.txt"]
    assert (class_of_two.root / "dropped" / "refused" / "all.zip.txt").read_text().startswith(why)


def submit(course: Course, student: str, content: bytes, hour: int = 17) -> Path:
    """A hand-in as nbgrader's exchange has it, whose last file is the secret."""
    when = f"2026-12-01 {hour}:00:00 UTC"
    folder = course.root.parent / "exchange" / "softlookup" / "inbound" / f"{student}+{FIRST}+{when}+abc"
    lay(folder / f"{FIRST}.ipynb", content)
    (folder / "timestamp.txt").write_text(when)
    (folder / "submission_secret.txt").write_text(f"secret of {student} at {hour}")
    return folder


@pytest.fixture
def exchanging(course):
    exchange = course.root.parent / "exchange"
    (exchange / "softlookup" / "inbound").mkdir(parents=True)
    exchange.chmod(0o777)
    with open(course.root / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f'\nc.Exchange.root = "{exchange}"\nc.CollectNoLinks.check_owner = False\n')
    return course


def test_what_students_submit_to_the_exchange_is_graded(exchanging, quick, monkeypatch):
    monkeypatch.setattr(data_changes, "PATIENCE_S", 1000.0)
    secret = submit(exchanging, "ada", raw()) / "submission_secret.txt"
    secret.rename(exchanging.root / "secret")  # nbgrader writes it last
    assert watched(exchanging).rows == []
    (exchanging.root / "secret").rename(secret)
    assert watched(exchanging).rows == [(FIRST, "ada", GRADED)]
    submit(exchanging, "ada", raw(code=WRONG), hour=18)
    assert watched(exchanging).rows == [(FIRST, "ada", GRADED)]
    assert exchanging.notebook("submitted", "ada", FIRST).read_bytes() == raw(code=WRONG)
    assert watched(exchanging).rows == []


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # nbgrader's, for each page
def test_feedback_goes_back_through_the_exchange(exchanging, quick, monkeypatch):
    monkeypatch.setattr(autograding, "GradeRequest", GradeRequest)
    submit(exchanging, "ada", raw())
    submit(exchanging, "ben", b"{}")
    hand_in(exchanging, "cleo")
    shown = watched(exchanging, returns_feedback=True)
    assert len(shown.rows) == 3 and shown.sentences == []
    released = exchanging.root.parent / "exchange" / "softlookup" / "feedback"
    pages = {path: path.stat().st_mtime_ns for path in released.iterdir()}
    assert len(pages) == 2 and sum("could not be graded" in page.read_text() for page in pages) == 1
    assert watched(exchanging, returns_feedback=True).rows == []
    assert {path: path.stat().st_mtime_ns for path in released.iterdir()} == pages
    next(iter(pages)).unlink()  # as where a kill came before it
    watched(exchanging, returns_feedback=True)
    assert {*released.iterdir()} == {*pages}


SCRIPT = """
import sys
from functools import partial
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from quick_grader import Quick
from softlookup_grader import GradeRequest, grade_assignment
from softlookup_grader.run import autograding
autograding.grade_assignment = partial(grade_assignment, executor=partial(Quick, sleep_s=0.05))
autograding.GradeRequest = partial(GradeRequest, feedback=False)
autograding._PAUSE_S = 0.02
with autograding.CourseWatch(Path(sys.argv[1]), lambda *_: None, print, False) as course_watch:
    course_watch.run(once=sys.argv[3] == "once")
"""


def begun(course: Course, how: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SCRIPT, str(course.root), str(Path(__file__).parent), how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def wait_for(happened: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120  # machines are shared
    while not happened():
        assert process.poll() is None and time.monotonic() < until, process.communicate()[0].decode()
        time.sleep(0.005)


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_killed_watch_goes_on(class_of_two, kills):
    course, rng = class_of_two, random.Random(kills)
    lay(course.root / "dropped" / "all.zip", zipped({"ada/x.ipynb": raw(), "ben/x.ipynb": raw()}))
    for number in range(kills):
        for student in range(5):
            hand_in(course, f"student-{number}-{student}")
        grader, before = begun(course, "on"), len(graded_lines(course))
        more = rng.choice([0, 1, 2, 4])
        wait_for(lambda: len(graded_lines(course)) >= before + more, grader)  # noqa: B023 - called at once
        time.sleep(rng.uniform(0, 0.1 if more else 2.0))
        grader.kill()
        grader.communicate()
    output, _ = begun(course, "once").communicate(timeout=120)
    assert output == b"" and moved(course, "done") == ["all.zip", "all.zip.txt"]
    times = Counter(line["student"] for line in graded_lines(course))
    assert len(times) == 2 + 5 * kills and set(times.values()) == {1}
    with course.gradebook() as book:
        assert {row.student.id for row in book.assignment_submissions(FIRST)} == {*times}


@NEEDS_SANDBOX
def test_the_command_prints_a_line_when_feedback_lies_there_and_ends_with_a_sentence(course):
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # a shell may ignore it
    program += "from softlookup_command.commands import main; main()"
    command = [sys.executable, "-c", program, "watch", str(course.root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for student, code, points in (("ada", RIGHT, 3), ("ben", WRONG, 0)):
        hand_in(course, student, content=raw(code=code))
        line = process.stdout.readline()
        assert line.split()[2:] == [student, FIRST, str(points), "of", "3"], line
        assert course.notebook("feedback", student, FIRST).with_suffix(".html").is_file()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and output == ""
    assert errors == "softlookup: the watch was ended. Run the same command to go on: nothing is lost.\n"


class CountedZygote:
    """Counts those that live."""

    living = 0

    def __init__(self, *_: object, **__: object) -> None:
        CountedZygote.living += 1

    def close(self) -> None:
        CountedZygote.living -= 1


def test_a_pool_that_keeps_zygotes_keeps_that_of_the_last_assignment():
    settings = [RunSettings.single(name, nbformat.writes(homework(name)), 0) for name in (FIRST, FIRST, SECOND)]
    with ZygotePool(start=CountedZygote, keeps=True) as pool:
        for setting in settings:
            with pool.lend(setting):
                kept_before = [*pool.zygotes.values()]
            assert [*pool.zygotes.values()] == kept_before and CountedZygote.living == 1
    assert CountedZygote.living == 0
