"""How fast classes of ordinary nbgrader courses are graded: ``softlookup bench stock-courses``.

The same submissions go through this grader, stock ``nbgrader autograde`` and otter-grader, each in a copy of the
course, in turn; all have to give the same scores. The floor is that of ``bench grading`` (``grading_floor``): a process
for each notebook with code, forked from one that has the imports loaded. Feedback pages are made by none.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from benchmarks.grading import seconds_and_peak
from benchmarks.grading_floor import Floor, Work, floor_of
from benchmarks.harness import benchmark
from benchmarks.otter_peer import OTTER, OtterClass
from benchmarks.stock_cases.case import ASSIGNMENT, run_nbgrader
from benchmarks.stock_classes import quickstart, readings
from benchmarks.stock_equality import Rows, rows_of
from softlookup_grader.course.folder import Course, use_own_programs
from softlookup_grader.course.layouts import is_test
from softlookup_grader.course.notebooks import grade_id
from softlookup_grader.data.errors import CourseError
from softlookup_grader.judging.zygotes import imported
from softlookup_grader.workers.pool import processors

_NO_PANDAS = "pandas is not installed, which one of the courses needs: pip install 'softlookup-course[peers]'."
_NO_PRELOAD = "c.SoftLookup.preload = []\n"


@dataclass(frozen=True)
class StockCourse:
    """What grading a course's class takes; milliseconds and ratios are medians over the turns.

    Attributes:
        notebooks: How many notebooks were handed in.
        tests: How many test cells were scored.
        same_scores: Whether all rows of the gradebook are the same as those that stock nbgrader wrote.
        otter_same_scores: Whether otter gave each test cell the same points.
        stock_ratio: Seconds of stock nbgrader / of this grader.
        otter_ratio: Seconds of otter / of this grader.
        floor_ratio: Seconds of this grader / of the floor.
        floor_ratio_with_start: The same, with the seconds until the floor's imports are loaded.
        stock_ms_per_submission: Milliseconds of stock nbgrader.
        otter_ms_per_submission: Milliseconds of otter.
        ms_per_submission: Milliseconds of this grader, from the start of its workers and sandbox.
        command_ms_per_submission: Milliseconds of ``softlookup grade``, the start of Python and the report included.
        preload_ratio: Seconds without anything imported before the submissions / with the source's imports, as usual.
        no_preload_ms_per_submission: Milliseconds without them.
        floor_ms_per_submission: Milliseconds of the floor.
        floor_start_s: Seconds until the floor's imports are loaded.
        code_ms_per_submission: Milliseconds of the floor in the students' cells and the tests alone.
    """

    notebooks: int
    tests: int
    same_scores: bool
    otter_same_scores: bool
    stock_ratio: float
    otter_ratio: float
    floor_ratio: float
    floor_ratio_with_start: float
    stock_ms_per_submission: float
    otter_ms_per_submission: float
    ms_per_submission: float
    command_ms_per_submission: float
    preload_ratio: float
    no_preload_ms_per_submission: float
    floor_ms_per_submission: float
    floor_start_s: float
    code_ms_per_submission: float


@benchmark("stock-courses", (100, ("here", "stock", "here", "otter", "here")), quick=(3, ("here", "stock", "otter")))
def bench_stock_courses(
    sizes: tuple[int, tuple[str, ...]], *, say: Callable[[str], None] = lambda line: None
) -> dict[str, Any]:
    """Grade the classes of both courses by all graders and compare.

    ``sizes`` are how many submissions each class has, and the turns: stock nbgrader and otter are clocked once, since
    they take minutes, this grader and the floor before, between and after them. ``say`` gets a line about each.
    ``ratio`` is the lesser of both courses' ``stock_ratio``; ``courses`` holds a ``StockCourse`` for each.
    ModuleNotFoundError without pandas, or where otter cannot be installed.
    """
    if find_spec("pandas") is None:
        raise ModuleNotFoundError(_NO_PANDAS)
    use_own_programs()
    submissions, order = sizes
    courses = {}
    for name, make in {"quickstart": quickstart, "pandas": readings}.items():
        with tempfile.TemporaryDirectory(prefix="softlookup-bench-") as folder:
            say(f"{name}: {submissions} submissions are made")
            make(Path(folder, "course"), submissions)
            courses[name] = _Turns(Path(folder), submissions, say).take(order)
    return {
        "ratio": min(course.stock_ratio for course in courses.values()),
        "ratio_of": "seconds of stock nbgrader autograde / of softlookup grade, the lesser of both courses",
        "submissions": submissions,
        "workers": processors(),
        "courses": courses,
        "peer": f"nbgrader {version('nbgrader')}",
        "otter": OTTER,
    }


class _Turns:
    """The turns of the graders on one course."""

    def __init__(self, root: Path, submissions: int, say: Callable[[str], None]) -> None:
        self._root, self._submissions, self._say = root, submissions, say
        self._seconds: dict[str, list[float]] = {}

    def take(self, order: tuple[str, ...]) -> StockCourse:
        """Grade by all, in this order."""
        course = self._root / "course"
        otter, workload = OtterClass.of(course, self._root / "otter"), _workload(course)
        stock_rows: Rows = {}
        points: Mapping[str, float] = {}
        graded: list[Rows] = []
        floors: list[Floor] = []
        for grader in order:
            if grader == "stock":
                stock_rows = self._graded(grader, _by_stock)
            elif grader == "otter":
                points, seconds = otter.grade()
                self._took(grader, seconds)
            else:
                floors.append(floor_of(*workload, processors()))
                self._took("floor", floors[-1].seconds)
                graded.append(self._graded(grader, _here))
                graded.append(self._graded("command", _by_command))
                graded.append(self._graded("no preload", _here, _NO_PRELOAD))
        tests = self._submissions * sum(is_test(cell) for node in _sources(course).values() for cell in node.cells)
        took = {name: statistics.median(seconds) for name, seconds in self._seconds.items()}
        each_ms = {name: 1e3 * seconds / self._submissions for name, seconds in took.items()}
        start_s = statistics.median(each.start_s for each in floors)
        return StockCourse(
            notebooks=sum(1 for _ in (course / "submitted").rglob("*.ipynb")),
            tests=tests,
            same_scores=all(rows == stock_rows for rows in graded),
            otter_same_scores=len(points) == tests
            and all(stock_rows[key]["auto_score"] == score for key, score in points.items()),
            stock_ratio=took["stock"] / took["here"],
            otter_ratio=took["otter"] / took["here"],
            floor_ratio=took["here"] / took["floor"],
            floor_ratio_with_start=took["here"] / (took["floor"] + start_s),
            stock_ms_per_submission=each_ms["stock"],
            otter_ms_per_submission=each_ms["otter"],
            ms_per_submission=each_ms["here"],
            command_ms_per_submission=each_ms["command"],
            preload_ratio=took["no preload"] / took["here"],
            no_preload_ms_per_submission=each_ms["no preload"],
            floor_ms_per_submission=each_ms["floor"],
            floor_start_s=start_s,
            code_ms_per_submission=1e3 * statistics.median(each.code_s for each in floors) / self._submissions,
        )

    def _graded(self, name: str, grade: Callable[[Path], float], settings: str = "") -> Rows:
        """Grade a new copy of the course with such settings; the rows of its gradebook.

        Copies stay until the end: file systems take longer for new files just after many were deleted.
        """
        root = Path(tempfile.mkdtemp(dir=self._root), "course")
        shutil.copytree(self._root / "course", root)
        with (root / "nbgrader_config.py").open("a", encoding="utf-8") as file:
            file.write(settings)
        self._took(name, grade(root))
        return rows_of(root)

    def _took(self, name: str, seconds: float) -> None:
        self._seconds.setdefault(name, []).append(seconds)
        self._say(f"{name}: {seconds:.2f} s")


def _here(root: Path) -> float:
    return seconds_and_peak(Course.at(root), ASSIGNMENT, None)[0]


def _by_command(root: Path) -> float:
    command = [sys.executable, "-m", "softlookup_command", "grade", ASSIGNMENT, "--course", str(root), "--no-feedback"]
    began_s = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - began_s
    if done.returncode:
        raise CourseError(f"softlookup could not grade the class: {done.stderr.strip()[-300:]}")
    return seconds


def _by_stock(root: Path) -> float:
    began_s = time.perf_counter()
    if error := run_nbgrader(root, "autograde", ASSIGNMENT):
        raise CourseError(f"stock nbgrader could not grade the class: {error}")
    return time.perf_counter() - began_s


def _sources(root: Path) -> dict[str, NotebookNode]:
    """The notebooks that a course's assignment is released from."""
    paths = sorted((root / "source" / ASSIGNMENT).glob("*.ipynb"))
    return {path.name: nbformat.read(path, as_version=4) for path in paths}


def _workload(root: Path) -> tuple[list[Work], list[str]]:
    """What the floor runs of a class, and the modules that the source imports."""
    sources = _sources(root)
    beside = (path for path in (root / "source" / ASSIGNMENT).iterdir() if path.suffix != ".ipynb")
    files = tuple((path.name, path.read_bytes()) for path in beside)
    tests = {name: {grade_id(cell): cell.source for cell in filter(is_test, sources[name].cells)} for name in sources}
    submissions = []
    for path in sorted((root / "submitted").glob(f"*/{ASSIGNMENT}/*.ipynb")):
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        if cells:
            texts = tuple(tests[path.name].get(grade_id(cell), cell.source) for cell in cells)
            submissions.append(Work(texts, files=files))
    codes = (cell.source for node in sources.values() for cell in node.cells if cell.cell_type == "code")
    return submissions, sorted(set(imported(codes)))
