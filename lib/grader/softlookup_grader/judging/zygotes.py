"""What an assignment's submissions are forked from: started once for a machine, and copied for each who judges."""

import ast
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course.notebooks import grade_id, is_graded, is_solution
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.rebuild import ReleasedCheck, released_check
from softlookup_grader.sandbox.bubble import SandboxError, Zygote
from softlookup_judge.checking.catalogue import Catalogue, catalogue_of, catalogue_with
from softlookup_judge.data.own import OwnTasks, OwnTasksError
from softlookup_judge.data.task import LIBRARY


class ZygotePool:
    """Keeps zygotes for the examiners of a machine, which are given copies; a context.

    One serves all named releases; a release whose given cells import parts of the library has its own, alone.
    """

    def __init__(
        self,
        releases: Sequence[str] = (),
        course: Path | None = None,
        start: Callable[..., Zygote] | None = None,
    ) -> None:
        self._start = start
        self._catalogue = None if course is None else catalogue_of(course)
        self._alike: dict[str, NotebookNode] = {}
        for text in releases:
            with contextlib.suppress(Exception):
                release = nbformat.reads(text, as_version=4)
                if not needs_library(release):
                    self._alike[text] = release
        self.zygotes: dict[str, Zygote] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for key in list(self.zygotes):
            self.zygotes.pop(key).close()

    @contextlib.contextmanager
    def lend(self, settings: RunSettings) -> Iterator[Callable[[], socket.socket]]:
        """Lend copies for one assignment's run; what is called gives the connection to one."""
        if settings.release in self._alike and self._catalogue is not None:
            key, releases, catalogue = "", [*self._alike.values()], self._catalogue
        else:
            key, releases, catalogue = settings.release, [read_release(settings)], catalogue_for(settings)
        begin = partial(begin_zygote, settings, releases, catalogue, self._start)
        if key not in self.zygotes:
            self.zygotes[key] = begin()
        try:
            yield partial(self._copy, key, begin)
        finally:
            if key:
                self.zygotes.pop(key).close()

    def _copy(self, key: str, begin: Callable[[], Zygote]) -> socket.socket:
        """Give a connection to a copy."""
        # A stopped zygote would take the request and never answer it. One that is replaced takes its copies along:
        # their examiners notice, and start zygotes of their own.
        if self.zygotes[key].lives():
            with contextlib.suppress(SandboxError):
                return self.zygotes[key].copy()
        self.zygotes[key].close()
        self.zygotes[key] = begin()
        return self.zygotes[key].copy()


def read_release(settings: RunSettings) -> NotebookNode:
    """The notebook that students got; CourseError if it is no notebook."""
    try:
        return nbformat.reads(settings.release, as_version=4)
    except Exception as error:
        raise CourseError(f"the release of {settings.assignment} is not a notebook ({error})") from None


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
    checks = [check for release in releases for check in asked_by(release, catalogue).values()]
    tasks = [check.task for check in checks if check is not None]
    hidden = {name for task in tasks for name in task.forbids}
    modules = sorted({name for release in releases for name in imports(release)})
    if not any(map(needs_library, releases)):
        hidden |= set(LIBRARY)  # else a given cell needs them, and the gates alone stand before them
    return (start or Zygote.start)(settings.sandbox, modules, sorted({task.barred for task in tasks}), sorted(hidden))


def imports(release: NotebookNode) -> list[str]:
    """The modules that a release imports, and those that its checks need: imported once, before all submissions."""
    names = {"numpy", "torch"}
    for cell in release.cells:
        if cell.cell_type != "code" or is_solution(cell):
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    return sorted(names)
