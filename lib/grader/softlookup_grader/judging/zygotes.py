"""What an assignment's submissions are forked from: started once for a machine, and copied for each who judges."""

import ast
import contextlib
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import ReleasedNotebook, RunSettings
from softlookup_grader.judging.rebuild import ReleasedCheck, released_check
from softlookup_grader.sandbox.bubble import SandboxError, Zygote
from softlookup_judge.checking.catalogue import Catalogue, catalogue_of, catalogue_with
from softlookup_judge.data.own import OwnTasks, OwnTasksError
from softlookup_judge.data.task import LIBRARY


class ZygotePool:
    """Keeps zygotes for the examiners of a machine, which are given copies; a context.

    One serves all named releases; a release whose given cells import parts of the library has its own, alone, which
    ends with its run, or with ``keeps`` when another such release is graded.
    """

    def __init__(
        self,
        releases: Sequence[str] = (),
        course: Path | None = None,
        start: Callable[..., Zygote] | None = None,
        keeps: bool = False,
    ) -> None:
        self._start, self._keeps = start, keeps
        self._catalogue = None if course is None else catalogue_of(course)
        self._alike: dict[str, NotebookNode] = {}
        for text in releases:
            with contextlib.suppress(Exception):
                release = nbformat.reads(text, as_version=4)
                if not needs_library(release):
                    self._alike[text] = release
        self.zygotes: dict[RunSettings | None, Zygote] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for key in list(self.zygotes):
            self.zygotes.pop(key).close()

    @contextlib.contextmanager
    def lend(self, settings: RunSettings) -> Iterator[Callable[[], socket.socket]]:
        """Lend copies for one assignment's run; what is called gives the connection to one."""
        alike = settings.stock is None and all(book.text in self._alike for book in settings.notebooks)
        if alike and self._catalogue is not None:
            key, releases, catalogue = None, [*self._alike.values()], self._catalogue
        else:
            key, catalogue = replace(settings, seed=0), catalogue_for(settings)
            releases = [read_release(book) for book in settings.notebooks]
        begin = partial(begin_zygote, settings, releases, catalogue, self._start)
        if self._keeps:
            for other in self.zygotes.keys() - {key, None}:
                self.zygotes.pop(other).close()
        if key not in self.zygotes:
            self.zygotes[key] = begin()
        try:
            yield partial(self._copy, key, begin)
        finally:
            if key is not None and not self._keeps:
                self.zygotes.pop(key).close()

    def _copy(self, key: RunSettings | None, begin: Callable[[], Zygote]) -> socket.socket:
        """Give a connection to a copy."""
        # A stopped zygote would take the request and never answer it. One that is replaced takes its copies along:
        # their examiners notice, and start zygotes of their own.
        if self.zygotes[key].lives():
            with contextlib.suppress(SandboxError):
                return self.zygotes[key].copy()
        self.zygotes[key].close()
        self.zygotes[key] = begin()
        return self.zygotes[key].copy()


def read_release(released: ReleasedNotebook) -> NotebookNode:
    """A notebook that students got; CourseError if it is no notebook."""
    try:
        return nbformat.reads(released.text, as_version=4)
    except Exception as error:
        raise CourseError(f"the release {released.name}.ipynb is not a notebook ({error})") from None


def catalogue_for(settings: RunSettings) -> Catalogue:
    """The tasks that a run knows: the library's, and the course's own, which travel with its settings."""
    return catalogue_with(OwnTasks(settings.own_tasks))


def asked_by(release: NotebookNode, catalogue: Catalogue) -> dict[str, ReleasedCheck | None]:
    """What each graded cell of a release asks for, by its grade id."""
    try:
        return {grade_id(cell): released_check(cell, catalogue) for cell in release.cells if is_graded(cell)}
    except OwnTasksError as error:
        raise CourseError(str(error)) from error


def needs_library(release: NotebookNode) -> bool:
    """Say whether a given cell imports more of the library than the check."""
    return any(name.startswith(("softlookup.", "softlookup_course")) for name in imports(release))


def begin_zygote(
    settings: RunSettings,
    releases: Sequence[NotebookNode],
    catalogue: Catalogue,
    start: Callable[..., Zygote] | None = None,
) -> Zygote:
    """Start what the submissions of some assignments are forked from; it is not waited for."""
    start = start or Zygote.start
    if settings.stock is not None:
        stock = settings.stock
        return start(settings.sandbox, stock.preload, (), sorted(LIBRARY), beside=dict(stock.files))
    checks = [check for release in releases for check in asked_by(release, catalogue).values()]
    tasks = [check.task for check in checks if check is not None]
    hidden = {name for task in tasks for name in task.forbids}
    modules = sorted({"numpy", "torch"} | {name for release in releases for name in imports(release)})
    if not any(map(needs_library, releases)):
        hidden |= set(LIBRARY)  # else a given cell needs them, and the gates alone stand before them
    return start(settings.sandbox, modules, sorted({task.barred for task in tasks}), sorted(hidden))


def imports(release: NotebookNode) -> list[str]:
    """The modules that the given cells and tests of a release import."""
    sources = (cell.source for cell in release.cells if cell.cell_type == "code" and not is_solution(cell))
    return sorted(set(imported(sources)))


def imported(sources: Iterable[str]) -> Iterator[str]:
    """The modules that cells import; a cell that is not Python as it stands is passed over."""
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module
