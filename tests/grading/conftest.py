"""A small course that is graded once, for all tests that look at what came out."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import nbformat
import pytest
from arriving import WORKSHEET, released, write
from click.testing import CliRunner, Result
from nbgrader import api
from paper_class import once, paper_course
from sandbox_tools import LIMITS
from small_class import NAME, ROOT, STUDENTS, regrade, write_course

from softlookup_command.commands import main
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
        patch.setattr(api, "get_alembic_version", cache(api.get_alembic_version))
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
        self,
        sandbox: str,
        modules: Sequence[str],
        forbidden: Sequence[Sequence[str]],
        hidden: Sequence[str],
        beside: Mapping[str, bytes] | None = None,
    ) -> Zygote:
        if sandbox != "bubblewrap" or beside is not None:
            return Zygote.start(sandbox, modules, forbidden, hidden, beside)
        what = str(sorted({*hidden} & {*LIBRARY}))
        if what in self._roots and not self._roots[what].lives():
            self._roots.pop(what).close()
        if what not in self._roots:
            barred = sorted({*map(tuple, forbidden), *(task.barred for task in tasks(4))})
            self._roots[what] = Zygote.start(sandbox, modules, barred, hidden)
        return CopiedZygote(self._roots[what])

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
def release() -> nbformat.NotebookNode:
    """The notebook that students are given."""
    return released()


@pytest.fixture
def paper(tmp_path_factory: pytest.TempPathFactory, source: nbformat.NotebookNode) -> Course:
    """A course on paper, with the release and without a class."""
    return paper_course(tmp_path_factory, source)


@pytest.fixture
def run(course: Course) -> Callable[..., Result]:
    """Run a command on the course of the test; it ends well or with a sentence."""

    def typed(*words: object, answer: str = "") -> Result:
        result = CliRunner().invoke(main, [*map(str, words), "--course", str(course.root)], input=answer)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return result

    return typed


@pytest.fixture(scope="session", name="nbgrader")
def nbgraders_program() -> Callable[..., str]:
    """Run nbgrader's own program in a course's folder, with nothing of the library around it; what it says."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])

    def typed(course: Course, *words: str) -> str:
        command, env = [sys.executable, "-m", "nbgrader", *words], {**os.environ, "PATH": path}
        done = subprocess.run(command, cwd=course.root, env=env, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stderr

    return typed


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    """A folder with Moodle's grading worksheet."""
    return write(tmp_path / "downloads", {"Grades-5.csv": WORKSHEET.encode()})


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable], Path]:
    """Give the folder of a name, which the first of all test processes that asks for it has made with a function."""
    return partial(once, tmp_path_factory)


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
        regrade(write_course(folder, source, STUDENTS), workers=2).write(folder / "report.json")

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
