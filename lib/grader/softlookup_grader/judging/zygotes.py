"""What an assignment's submissions are forked from: started once for a machine, and copied for each who judges."""

import ast
import contextlib
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

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


class Shared:
    """One zygote for all examiners of a machine, which are given copies of it.

    ``besides`` are releases of other assignments that are graded from it; ``catalogue`` has the tasks that all of them
    ask, None takes those that the settings know.
    """

    def __init__(
        self, settings: RunSettings, besides: Sequence[NotebookNode] = (), catalogue: Catalogue | None = None
    ) -> None:
        self._catalogue = catalogue or catalogue_for(settings)
        self._settings, self._releases = settings, (read_release(settings), *besides)
        self._zygote = begin_zygote(settings, self._releases, self._catalogue)

    def __enter__(self) -> Callable[[], socket.socket]:
        return self.copy

    def __exit__(self, *_: object) -> None:
        self._zygote.close()

    def copy(self) -> socket.socket:
        """Give a connection to a copy."""
        # A stopped zygote would take the request and never answer it. One that is replaced takes its copies along:
        # their examiners notice, and start zygotes of their own.
        if self._zygote.lives():
            with contextlib.suppress(SandboxError):
                return self._zygote.copy()
        self._zygote.close()
        self._zygote = begin_zygote(self._settings, self._releases, self._catalogue)
        return self._zygote.copy()


class Zygotes:
    """One zygote for several assignments, begun for the first of them; a context.

    An assignment with a given cell that imports parts of the library has a zygote of its own: submissions to the others
    must not find them. ``releases`` are texts; what is no notebook is left out. They may ask the course's own tasks.
    """

    def __init__(self, releases: Sequence[str], course: Path) -> None:
        self._catalogue = catalogue_of(course)
        self._alike: dict[str, NotebookNode] = {}
        for text in releases:
            with contextlib.suppress(Exception):
                release = nbformat.reads(text, as_version=4)
                if not needs_library(release):
                    self._alike[text] = release
        self._held = contextlib.ExitStack()
        self._shared: Shared | None = None

    def __enter__(self) -> "Zygotes":
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    @contextlib.contextmanager
    def lend(self, settings: RunSettings) -> Iterator[Callable[[], socket.socket]]:
        """Lend copies for one assignment's run, as ``Shared`` does."""
        if settings.release not in self._alike:
            with Shared(settings) as copy:
                yield copy
            return
        if self._shared is None:
            self._shared = Shared(settings, list(self._alike.values()), self._catalogue)
            self._held.enter_context(self._shared)
        yield self._shared.copy


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
    """What each graded cell of a release asks for, by its grade id.

    CourseError if the course's own tasks cannot be used as they are.
    """
    try:
        return {grade_id(cell): released_check(cell, catalogue) for cell in release.cells if is_graded(cell)}
    except OwnTasksError as error:
        raise CourseError(str(error)) from error


def needs_library(release: NotebookNode) -> bool:
    """Say whether a given cell imports more of the library than the check."""
    return any(name.startswith(("softlookup.", "softlookup_course")) for name in imports(release))


def begin_zygote(settings: RunSettings, releases: Sequence[NotebookNode], catalogue: Catalogue) -> Zygote:
    """Start what the submissions of some assignments are forked from; it is not waited for.

    SandboxError if there is nothing here to start it in.
    """
    checks = [check for release in releases for check in asked_by(release, catalogue).values()]
    tasks = [check.task for check in checks if check is not None]
    hidden = {name for task in tasks for name in task.forbids}
    modules = sorted({name for release in releases for name in imports(release)})
    if not any(map(needs_library, releases)):
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
