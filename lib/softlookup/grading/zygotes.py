"""What an assignment's submissions are forked from: started once for a machine, and copied for each who judges."""

import ast
import contextlib
import socket
from collections.abc import Callable

import nbformat
from nbformat import NotebookNode

from softlookup.checks.task import LIBRARY
from softlookup.grading.course import CourseError
from softlookup.grading.notebooks import grade_id, is_graded, is_solution
from softlookup.grading.rebuild import Asked, asked_in
from softlookup.grading.sandbox.bubble import SandboxError, Zygote
from softlookup.grading.work import Setting


class Shared:
    """One zygote for all examiners of a machine, which are given copies of it.

    Args:
        setting: The assignment.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting, self._zygote = setting, begin_zygote(setting, read_release(setting))

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
        self._zygote = begin_zygote(self._setting, read_release(self._setting))
        return self._zygote.copy()


def read_release(setting: Setting) -> NotebookNode:
    """The notebook that students got.

    Raises:
        CourseError: If it is no notebook.
    """
    try:
        return nbformat.reads(setting.release, as_version=4)
    except Exception as error:
        raise CourseError(f"the release of {setting.assignment} is not a notebook ({error})") from None


def asked_by(release: NotebookNode) -> dict[str, Asked | None]:
    """What each graded cell of a release asks for, by its grade id."""
    return {grade_id(cell): asked_in(cell) for cell in release.cells if is_graded(cell)}


def begin_zygote(setting: Setting, release: NotebookNode) -> Zygote:
    """Start what an assignment's submissions are forked from; it is not waited for.

    Raises:
        SandboxError: If there is nothing here to start it in.
    """
    tasks = [asked.task for asked in asked_by(release).values() if asked is not None]
    hidden = {name for task in tasks for name in task.forbids}
    imports = _imports(release)
    if not any(name.startswith("softlookup.") and name != "softlookup.checks" for name in imports):
        hidden |= set(LIBRARY)  # else a given cell needs them, and the gates alone stand before them
    return Zygote(setting.sandbox, imports, sorted({task.barred for task in tasks}), sorted(hidden))


def _imports(release: NotebookNode) -> list[str]:
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
