"""A small course that is graded once, for all tests that look at what came out."""

import fcntl
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import nbformat
import nbgrader.api
import pytest
from sandbox_tools import LIMITS
from small_class import NAME, ROOT, STUDENTS, write_course

from benchmarks.nbgrader_autograde import StockAutograder
from benchmarks.nbgrader_class import grade_class
from softlookup_grader import Course, GradeRequest, grade_assignment
from softlookup_grader.data.work import Limits
from softlookup_grader.judging import zygotes
from softlookup_grader.sandbox.bubble import Zygote
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.session import SubmissionSession
from softlookup_judge import tasks
from softlookup_judge.authoring import read_solution
from softlookup_judge.authoring.choosing import choose, chosen_tasks
from softlookup_judge.data.task import LIBRARY


@pytest.fixture(scope="session", autouse=True)
def alembic_asked_once() -> Iterator[None]:
    """For every new gradebook nbgrader starts alembic, to hear which version its own tables have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nbgrader.api, "get_alembic_version", cache(nbgrader.api.get_alembic_version))
        yield


class CopiedZygote(Zygote):
    """A copy of a zygote that has imported everything, in the place of one that would have to."""

    def __init__(self, root: Zygote) -> None:
        super().__init__(root.copy())
        self._root = root

    def copy(self) -> socket.socket:
        return self._root.copy()


class WarmZygotes:
    """Begins zygotes as copies of one: as in grading, where those of several assignments are.

    A sandbox that shows other parts of the library is of another one. The gates in front of what tasks forbid are made
    beforehand for chapter 4, which most tests use; for others they are made when an answer is judged.
    """

    def __init__(self) -> None:
        self._roots: dict[str, Zygote] = {}

    def start(
        self, sandbox: str, modules: Sequence[str], forbidden: Sequence[Sequence[str]], hidden: Sequence[str]
    ) -> Zygote:
        if sandbox != "bubblewrap":
            return Zygote.start(sandbox, modules, forbidden, hidden)
        what = str(sorted({*hidden} & {*LIBRARY}))
        root = self._roots.get(what)
        if root is not None and not root.lives():
            root.close()
            root = None
        if root is None:
            usual = {task.barred for task in tasks(4)}
            root = self._roots[what] = Zygote.start(sandbox, modules, sorted({*map(tuple, forbidden), *usual}), hidden)
        return CopiedZygote(root)

    def close(self) -> None:
        for root in self._roots.values():
            root.close()


@pytest.fixture(scope="session", autouse=True)
def warm_zygotes() -> Iterator[None]:
    """Begin no zygote twice in a run: to import torch takes longer than most tests."""
    warm = WarmZygotes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zygotes, "Zygote", warm)
        yield
    warm.close()


@pytest.fixture(scope="session")
def source() -> nbformat.NotebookNode:
    """The notebook with solutions."""
    return read_solution(ROOT / "solutions" / f"{NAME}.py")


@pytest.fixture(scope="session")
def short(source: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook with solutions of five tasks and the written answer, for tests that do not judge all of it."""
    chosen = {f"04.{name}" for name in ("mix", "scale", "softmax", "weights", "backward", "uniform")}
    return choose(source, drop={*chosen_tasks(source)} - chosen)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[str, Callable], Path]:
    """Give the folder of a name, which the first of all test processes that asks for it has made with a function."""
    base = tmp_path_factory.getbasetemp()
    base = base if worker_id == "master" else base.parent

    def made(name: str, make: Callable[[Path], None]) -> Path:
        folder = base / name
        with open(base / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (base / f"{name}.made").exists():
                shutil.rmtree(folder, ignore_errors=True)
                make(folder)
                (base / f"{name}.made").touch()
        return folder

    return made


@pytest.fixture(scope="session")
def graded(made_once: Callable, source: nbformat.NotebookNode) -> Course:
    """The small course, graded in the sandbox by one worker; all test processes share one."""

    def make(folder: Path) -> None:
        course = write_course(folder, source, STUDENTS)
        grade_assignment(course, GradeRequest(NAME, workers=1, seed=11)).write(folder / "report.json")

    return Course.at(made_once("graded-course", make))


@pytest.fixture(scope="session")
def graded_by_stock(made_once: Callable, source: nbformat.NotebookNode) -> Course:
    """The small course, graded by stock nbgrader; all test processes share one."""

    def make(folder: Path) -> None:
        course = write_course(folder, source, STUDENTS)
        grade_class(course, NAME, StockAutograder(), workers=2, seed=11).write(folder / "report.json")

    return Course.at(made_once("stock-course", make))


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """A sandbox that stands ready."""
    zygote = Zygote.start("bubblewrap", ["numpy", "torch"])
    zygote.wait()
    yield zygote
    zygote.close()


@pytest.fixture
def begin(zygote: Zygote) -> Iterator[Callable[..., SubmissionSession]]:
    """Begin sessions; they are closed when the test is over."""
    begun = []

    def start(limits: Limits = LIMITS) -> SubmissionSession:
        begun.append(SubmissionSession(SubmissionProcess(zygote, limits, 3), time.monotonic() + limits.total_s))
        return begun[-1]

    yield start
    for session in begun:
        session.close()
