"""What an assignment's submissions are forked from: started once for a machine, and copied for each who judges."""

import ast
import contextlib
import socket
from collections.abc import Callable

import nbformat
from nbformat import NotebookNode

from softlookup.checking.catalogue import Catalogue
from softlookup.checking.own import OwnTasks, OwnTasksError
from softlookup.checking.task import LIBRARY
from softlookup.grading.course.notebooks import grade_id, is_graded, is_solution
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.work import RunSettings
from softlookup.grading.judging.rebuild import ReleasedCheck, released_check
from softlookup.grading.sandbox.outside.bubble import SandboxError, Zygote


class Shared:
    """One zygote for all examiners of a machine, which are given copies of it.

    Args:
        settings: The assignment.
    """

    def __init__(self, settings: RunSettings) -> None:
        self._settings, self._zygote = settings, begin_zygote(settings, read_release(settings), catalogue_for(settings))

    def __enter__(self) -> Callable[[], socket.socket]:
        return self._copy

    def __exit__(self, *_: object) -> None:
        self._zygote.close()

    def _copy(self) -> socket.socket:
        # A stopped zygote would take the request and never answer it. One that is replaced takes its copies along:
        # their examiners notice, and start zygotes of their own.
        if self._zygote.lives():
            with contextlib.suppress(SandboxError):
                return self._zygote.copy()
        self._zygote.close()
        settings = self._settings
        self._zygote = begin_zygote(settings, read_release(settings), catalogue_for(settings))
        return self._zygote.copy()


def read_release(settings: RunSettings) -> NotebookNode:
    """The notebook that students got.

    Raises:
        CourseError: If it is no notebook.
    """
    try:
        return nbformat.reads(settings.release, as_version=4)
    except Exception as error:
        raise CourseError(f"the release of {settings.assignment} is not a notebook ({error})") from None


def catalogue_for(settings: RunSettings) -> Catalogue:
    """The tasks that a run knows: the library's, and the course's own, which travel with its settings."""
    return Catalogue(OwnTasks(settings.own_tasks))


def asked_by(release: NotebookNode, catalogue: Catalogue) -> dict[str, ReleasedCheck | None]:
    """What each graded cell of a release asks for, by its grade id.

    Raises:
        CourseError: If the course's own tasks cannot be used as they are.
    """
    try:
        return {grade_id(cell): released_check(cell, catalogue) for cell in release.cells if is_graded(cell)}
    except OwnTasksError as error:
        raise CourseError(str(error)) from error


def begin_zygote(settings: RunSettings, release: NotebookNode, catalogue: Catalogue) -> Zygote:
    """Start what an assignment's submissions are forked from; it is not waited for.

    Raises:
        SandboxError: If there is nothing here to start it in.
    """
    tasks = [asked.task for asked in asked_by(release, catalogue).values() if asked is not None]
    hidden = {name for task in tasks for name in task.forbids}
    modules = imports(release)
    if not any(name.startswith("softlookup.") and name != "softlookup.checking" for name in modules):
        hidden |= set(LIBRARY)  # else a given cell needs them, and the gates alone stand before them
    return Zygote(settings.sandbox, modules, sorted({task.barred for task in tasks}), sorted(hidden))


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
