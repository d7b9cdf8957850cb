"""Graders and workers killed at any moment: nothing is lost, nothing is graded twice, the report is the same."""

import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_grader import here
from small_class import NAME, lay, write_course

from softlookup_grader import Course, GradeRequest
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.ledger import FILE

CLASS = 30
SCRIPT = """
import signal
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
from fake_grader import faked
from softlookup_grader import Course, GradeRequest
from softlookup_grader.run.engine import grade_assignment
course = Course.at(Path(sys.argv[1]))
request = GradeRequest("04_one_head", seed=5, workers=2, feedback=False)
executor = faked(course, request, calls=course.root / "calls", sleep_s=float(sys.argv[3]))
grade_assignment(course, request, executor=executor).write(course.root / "report.json")
"""


@pytest.fixture(scope="session")
def big_class(tmp_path_factory, short):
    """A class with its undisturbed report beside it."""
    base = tmp_path_factory.mktemp("faults")
    course = write_course(base / "course", short, ("half-done",))
    content = course.notebook("submitted", "half-done", NAME).read_bytes()
    for number in range(CLASS - 1):
        lay(course.notebook("submitted", f"student-{number}", NAME), content if number % 7 else b"{")
    calm = Course.at(Path(shutil.copytree(course.root, base / "calm")))
    grade_assignment(calm, GradeRequest(NAME, seed=5, feedback=False), executor=here()).write(base / "report.json")
    return course


def begun(course: Course, sleep_s: float = 0.02) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SCRIPT, str(course.root), str(Path(__file__).parent), str(sleep_s)]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def calls(course: Course) -> list[str]:
    path = course.root / "calls"
    return path.read_text().split() if path.exists() else []


def called(course: Course, times: int) -> bool:
    return len(calls(course)) >= times


def lines(course: Course) -> Counter[str]:
    """How many whole lines each student has in the ledger."""
    path = course.root / ".grading" / NAME / FILE
    content = path.read_bytes() if path.exists() else b""
    whole = [json.loads(line) for line in content.splitlines(keepends=True) if line.endswith(b"\n")]
    return Counter(line["student"] for line in whole if "status" in line)


def in_hand(course: Course) -> dict[int, str]:
    """The submission that each worker began last, by the worker's number."""
    path = course.root / "begun"
    begun = [line.split(":") for line in path.read_text().split()] if path.exists() else []
    return {int(worker): student for worker, student in begun}


def wait_for(happened: Callable[[], bool], grader: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 180  # machines are shared
    while not happened() and grader.poll() is None:
        assert time.monotonic() < until, "the grader hangs"
        time.sleep(0.002)


def kill_and_go_on(course: Course, kills: int, rng: random.Random) -> None:
    """Kill a grader at so many random moments, then let one come to its end; a killed one is never repeated."""
    done: set[str] = set()
    for number in range(kills + 1):
        before = len(calls(course))
        grader = begun(course)
        if number < kills:
            # Sooner or later after the work begins; now and then before it does.
            more = rng.choice([0, 0, 1, 2, 4])
            wait_for(functools.partial(called, course, before + more), grader)
            time.sleep(rng.uniform(0, 0.05 if more else 1.5))
            grader.kill()
        _, output = grader.communicate(timeout=120)
        assert number < kills or grader.returncode == 0, output.decode()
        repeated = done & set(calls(course)[before:])
        assert not repeated, f"graded twice: {repeated}"
        assert set(lines(course).values()) <= {1}
        done = set(lines(course))


def check_report(course: Course, big_class: Course) -> None:
    expected = (big_class.root.parent / "report.json").read_text()
    assert (course.root / "report.json").read_text() == expected
    submissions = json.loads(expected)["submissions"]
    assert set(lines(course)) == set(submissions) and len(submissions) == CLASS
    graded = {student: entry["score"] for student, entry in submissions.items() if entry["status"] == "graded"}
    with course.gradebook() as book:
        assert {s.student.id: s.score for s in book.assignment_submissions(NAME)} == graded


def courses(big_class: Course, folder: Path, kills: int) -> Iterator[tuple[Course, int]]:
    """Copies of the class, and how many kills each of them has to bear."""
    for left in range(kills, 0, -5):
        course = Course.at(Path(shutil.copytree(big_class.root, folder / f"course-{left}")))
        yield course, min(left, 5)
        check_report(course, big_class)
        shutil.rmtree(course.root)


@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_a_grader_killed_at_any_moment_goes_on(big_class, tmp_path, kills):
    rng = random.Random(kills)
    for course, now in courses(big_class, tmp_path, kills):
        kill_and_go_on(course, now, rng)


def children_of(parent: int) -> list[int]:
    """The processes that a process has started, by their parent's number in /proc."""
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) == parent:
                    pids.append(int(folder.name))
            except OSError:
                continue
    return sorted(pids)


def workers_of(grader: subprocess.Popen[bytes]) -> list[int]:
    """Grading processes of a grader: they are forked by the child of its that does nothing else."""
    servers = [pid for pid in children_of(grader.pid) if b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return [worker for server in servers for worker in children_of(server)]


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(100, marks=pytest.mark.slow)])
def test_a_killed_worker_costs_nobody_anything(big_class, tmp_path, kills):
    rng = random.Random(kills)
    for course, now in courses(big_class, tmp_path, kills):
        grader = begun(course)
        hit: set[str | None] = set()
        for _ in range(now):
            wait_for(functools.partial(called, course, len(calls(course)) + rng.choice([3, 4, 5])), grader)
            time.sleep(rng.uniform(0, 0.02))
            # No submission is hit twice: that one would rightly be refused.
            workers = [worker for worker in workers_of(grader) if in_hand(course).get(worker) not in hit]
            if grader.poll() is None and workers:
                hit.add(in_hand(course).get(worker := rng.choice(workers)))
                os.kill(worker, signal.SIGKILL)
        _, output = grader.communicate(timeout=120)
        assert grader.returncode == 0, output.decode()


@pytest.mark.slow
def test_ctrl_c_stops_cleanly_and_a_second_run_goes_on(big_class, tmp_path):
    course = Course.at(Path(shutil.copytree(big_class.root, tmp_path / "course")))
    grader = begun(course, sleep_s=1.0)  # so that it is not over before it is stopped, even on a busy machine
    wait_for(functools.partial(called, course, 6), grader)
    workers = workers_of(grader)
    grader.send_signal(signal.SIGINT)
    _, output = grader.communicate(timeout=60)
    assert grader.returncode == -signal.SIGINT and workers, output.decode()
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    done = set(lines(course))
    before = len(calls(course))
    assert 2 <= len(done) < CLASS
    assert begun(course).communicate(timeout=120)[1] == b""
    assert not done & set(calls(course)[before:])
    check_report(course, big_class)
