"""How fast a class is graded: ``softlookup bench grading``.

The same honest submissions go through stock ``nbgrader autograde`` and through this grader, one after the other in one
run, each in a course of its own. Both have to give the same scores. Feedback pages are made by neither. The floor, what
no sandboxing grader can do without, is measured beside each class (``grading_floor``), and clocks tell where the rest
goes (``grading_parts``).
"""

import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from benchmarks.grading_floor import Floor, floor
from benchmarks.grading_parts import parts
from benchmarks.harness import ROOT, benchmark
from benchmarks.nbgrader_autograde import STOCK
from softlookup_course.samples.handins import answers, broken_ones
from softlookup_course.samples.sample_class import hand_ins, tasks_in
from softlookup_grader.course.folder import Course, new_course, use_own_programs
from softlookup_grader.data.errors import CourseError
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_grader.workers.pool import processors
from softlookup_judge.checking.catalogue import STANDARD


@dataclass(frozen=True)
class ClassOf:
    """What grading a class of some size takes.

    Attributes:
        submissions: How many there are.
        ms_per_submission: Milliseconds for each.
        peak_mb: The most memory that the grading process itself held, in megabytes.
        floor_ms_per_submission: The same milliseconds of the floor.
        ratio_to_floor: The first over the second.
    """

    submissions: int
    ms_per_submission: float
    peak_mb: float
    floor_ms_per_submission: float
    ratio_to_floor: float


@benchmark("grading")
def bench_grading(
    sources: Mapping[str, NotebookNode],
    config: Path,
    *,
    submissions: int = 100,
    growth: tuple[int, ...] = (100, 500, 2000),
    workers: int | None = None,
    quick: bool = False,
) -> dict[str, Any]:
    """Grade the same class twice and compare.

    ``sources`` are assignment names and their notebooks with solutions, of which the first is graded; ``config`` is the
    nbgrader_config.py of the courses. Both grade ``submissions`` honest ones; this grader alone grades classes of the
    sizes ``growth``, for memory and cost per submission, so many ``workers`` at a time, None takes the number of
    processors: stock nbgrader knows one. ``quick`` is a handful of submissions, to see that it runs.

    ``ratio`` is (seconds of stock / seconds of ours); ``same_scores`` whether both gave everybody the same points;
    ``classes`` holds a ``ClassOf`` for each size of class.
    """
    if quick:
        submissions, growth = 3, (3, 6)
    name = min(sources)
    with tempfile.TemporaryDirectory(prefix="softlookup-bench-") as folder:
        root = Path(folder)
        texts = honest(sources[name], _release(root / "release", name, sources[name], config))
        library_course = _class(root / "ours", name, sources[name], config, texts, submissions)
        stock = _class(root / "stock", name, sources[name], config, texts, submissions)
        at_once = workers or processors()
        with _floors(library_course, name, at_once) as least:
            ours_s = _grade(library_course, name, workers)
        floor_s = sum(half.seconds for half in least)
        begun = time.perf_counter()
        _stock(stock, name)
        stock_s = time.perf_counter() - begun
        same = _scores(library_course, name) == _scores(stock, name)
        sizes = []
        for size in growth:
            course = _class(root / f"class-{size}", name, sources[name], config, texts, size)
            with _floors(course, name, at_once) as halves:
                seconds, peak_mb = seconds_and_peak(course, name, workers)
            its_s = sum(half.seconds for half in halves)
            sizes.append(ClassOf(size, 1e3 * seconds / size, peak_mb, 1e3 * its_s / size, seconds / its_s))
            shutil.rmtree(course.root)
        one_by_one = _class(root / "parts", name, sources[name], config, texts, submissions)
        took = parts(one_by_one, name, _floor(one_by_one, name, 1, 0, submissions).code_s)
    from importlib.metadata import version

    return {
        "ratio": stock_s / ours_s,
        "ratio_of": "seconds of stock nbgrader autograde / of softlookup grade, on the same submissions",
        "same_scores": same,
        "submissions": submissions,
        "workers": at_once,
        "stock_s": stock_s,
        "ours_s": ours_s,
        "stock_ms_per_submission": 1e3 * stock_s / submissions,
        "ours_ms_per_submission": 1e3 * ours_s / submissions,
        "floor_ms_per_submission": 1e3 * floor_s / submissions,
        "ratio_to_floor": ours_s / floor_s,
        "floor_start_s": least[0].start_s,
        "ratio_to_floor_with_start": ours_s / (floor_s + least[0].start_s),
        "parts_ms_per_submission": {part: 1e3 * seconds / submissions for part, seconds in took.items()},
        "classes": sizes,
        "peer": f"nbgrader {version('nbgrader')}",
    }


def honest(source: NotebookNode, release: NotebookNode) -> list[str]:
    """The sample class without accidents: right, unfinished, and with known mistakes."""
    broken = {hand_in.student for hand_in in broken_ones(release, answers(source), tasks_in(source, STANDARD))}
    return [
        hand_in.text
        for hand_in in hand_ins(source, release)
        if hand_in.text is not None and hand_in.student not in broken
    ]


def _release(folder: Path, name: str, source: NotebookNode, config: Path) -> NotebookNode:
    course = new_course(folder, config)
    course.release({name: source})
    return nbformat.read(course.notebook("release", ".", name), as_version=4)


def _class(folder: Path, name: str, source: NotebookNode, config: Path, texts: list[str], size: int) -> Course:
    course = new_course(folder, config)
    course.release({name: source})
    for number, text in enumerate(islice(cycle(texts), size), 1):
        path = course.notebook("submitted", f"student-{number:05}", name)
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    return course


def _grade(course: Course, name: str, workers: int | None) -> float:
    begun = time.perf_counter()
    grade_assignment(course, GradeRequest(name, seed=1, workers=workers, feedback=False))
    return time.perf_counter() - begun


@contextlib.contextmanager
def _floors(course: Course, name: str, workers: int) -> Iterator[list[Floor]]:
    """The floor for half of a class before its grading and for the other half behind it: machines grow fast and slow.

    The list holds both in the end.
    """
    students = len(course.students())
    floors = [_floor(course, name, workers, 0, students // 2)]
    yield floors
    floors.append(_floor(course, name, workers, students // 2, students))


def _floor(course: Course, name: str, workers: int, begin: int, end: int) -> Floor:
    """The floor for some of the class that a course holds."""
    release = course.notebook("release", ".", name).read_text(encoding="utf-8")
    some = course.students()[begin:end]
    texts = [course.notebook("submitted", student, name).read_text(encoding="utf-8") for student in some]
    return floor(name, release, texts, workers)


_ALONE = """
import sys
from pathlib import Path
if __name__ == "__main__":  # the processes that grade read this file, too
    sys.path.insert(0, sys.argv.pop(1))
    from softlookup_grader.course.folder import Course
    from benchmarks.grading import _grade
    workers = int(sys.argv[3]) or None
    seconds = _grade(Course.at(Path(sys.argv[1])), sys.argv[2], workers)
    held = Path("/proc/self/status").read_text().split()
    print(seconds, held[held.index("VmHWM:") + 1])
"""


def seconds_and_peak(course: Course, name: str, workers: int | None) -> tuple[float, float]:
    """Seconds of grading a class, and the most megabytes that the grading process held, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "alone.py")
        script.write_text(_ALONE, encoding="utf-8")
        command = [
            sys.executable,
            str(script),
            str(ROOT),
            str(course.root),
            name,
            str(workers or 0),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CourseError(f"grading {course.root} failed: {done.stderr.strip()[-300:]}")
    seconds, peak = done.stdout.split()[-2:]
    return float(seconds), float(peak) / 1024


def _stock(course: Course, name: str) -> None:
    use_own_programs()
    command = [sys.executable, "-m", "nbgrader", "autograde", name, STOCK]
    done = subprocess.run(command, cwd=course.root, capture_output=True, text=True)
    if done.returncode:
        raise CourseError(f"stock nbgrader could not grade the class: {done.stderr.strip()[-300:]}")


def _scores(course: Course, name: str) -> dict[str, float]:
    with course.gradebook() as book:
        return {submission.student_id: round(submission.score, 6) for submission in book.assignment_submissions(name)}
