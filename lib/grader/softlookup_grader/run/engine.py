"""Grades a class: results go into the ledger, then autograded/, then the gradebook; a kill in between loses nothing."""

import functools
import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import nbformat

from softlookup_grader.course.folder import Course
from softlookup_grader.data.disk import Shelf
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import Report
from softlookup_grader.data.work import RunSettings
from softlookup_grader.run.ledger import FILE, Ledger
from softlookup_grader.run.request import GradeRequest, Watcher
from softlookup_grader.workers.making import Examiner, Executor, MakeExecutor, make_examiner, patience_for
from softlookup_grader.workers.pool import JUDGING, JUDGING_TASKS, LocalExecutor, begin_forking, processors

if TYPE_CHECKING:
    from softlookup_grader.judging.zygotes import ZygotePool


def local_executor(
    course: Course,
    request: GradeRequest,
    make: Callable[[RunSettings], Examiner] | None = None,
    zygotes: "ZygotePool | None" = None,
    begins: RunSettings | None = None,
) -> "MakeExecutor":
    """Grade in processes of this machine: gives what makes the executor once the settings are known.

    Where there is work for sure, what such processes are forked from begins at once, to judge what ``begins`` asks.
    """
    if begins is not None:
        begin_forking(_judging(begins))

    def executor(settings: RunSettings) -> Executor:
        from softlookup_grader.judging.zygotes import ZygotePool

        maker = functools.partial(make or make_examiner, settings)
        # Code that one trusts writes where it runs: there each worker has a zygote, and each submission a folder.
        lends = not make and settings.sandbox != "none"
        lend = functools.partial((zygotes or ZygotePool()).lend, settings) if lends else None
        workers = request.workers or processors()
        patience_s, module = patience_for(settings), _judging(settings)
        return LocalExecutor(maker, workers, log=course.log("workers"), patience_s=patience_s, lend=lend, module=module)

    return executor


def _judging(settings: RunSettings) -> str:
    """The module with all that judges of an assignment need."""
    return JUDGING_TASKS if settings.stock is None else JUDGING


def shared_by(
    course: Course, assignments: Sequence[str], keeps: bool = False
) -> "AbstractContextManager[ZygotePool | None]":
    """Get what several assignments' submissions are forked from, so that torch is imported once.

    With ``keeps`` nothing of it ends with a run.
    """
    if len(assignments) < 2 and not keeps:
        return nullcontext()
    from softlookup_grader.judging.settings import release_texts
    from softlookup_grader.judging.zygotes import ZygotePool

    releases: list[str] = []
    for name in assignments:
        with suppress(CourseError):  # said when its turn comes
            releases += [] if course.layout(name).stock else release_texts(course, name).values()
    return ZygotePool(releases, course.root, keeps=keeps)


def grade_assignment(
    course: Course,
    request: GradeRequest,
    *,
    executor: MakeExecutor | None = None,
    watch: Watcher | None = None,
    zygotes: "ZygotePool | None" = None,
) -> Report:
    """Grade what has changed of a class's submissions of one assignment, and report on everybody in the class.

    The same seed gives the same report with any number of workers. ``executor`` makes what grades, None takes sandboxes
    on this machine; for ``zygotes`` see ``shared_by``. After a CourseError the next call goes on from there.
    """
    # nbgrader takes long to import, and the processes that grade import this module without need of it.
    from softlookup_grader.judging.settings import identity, settings_for
    from softlookup_grader.run.keeping import Keeper
    from softlookup_grader.run.writer import GradebookWriter
    from softlookup_grader.sandbox.bubble import readable
    from softlookup_grader.sandbox.cgroups import memory_held

    if request.sandbox == "none" and course.attacks():
        raise CourseError("this sample class attacks whoever grades it: grade it in the sandbox")
    if request.sandbox != "none" and (message := readable(course.root)):
        raise CourseError(message)
    if not gc.get_freeze_count():
        gc.freeze()  # nbgrader and what it imports stay: to look for garbage in them takes longer than all that is kept
    settings = settings_for(course, request.assignment, sandbox=request.sandbox, limits=request.limits)
    students = _class(course, request)
    folder = course.root / ".grading" / request.assignment
    is_local, is_first = executor is None, not (folder / FILE).exists()
    executor = executor or local_executor(course, request, zygotes=zygotes, begins=settings if is_first else None)
    with (
        Ledger(folder, identity(settings), request.seed, request.sandbox, request.again) as ledger,
        GradebookWriter(course, request.assignment) as writer,
    ):
        releases = {book.name: nbformat.reads(book.text, as_version=4) for book in settings.notebooks}
        writer.check_releases(releases)
        was_finished = ledger.finished
        keeper = Keeper(course, request, ledger, writer, Shelf(folder), watch or Watcher(), releases)
        settings = replace(settings, seed=ledger.run.seed)
        if is_local and request.sandbox != "none":
            keeper.about = memory_held()
        keeper.grade(students, executor(settings))
        report = keeper.report(students)
        if request.feedback:
            keeper.pages(report)
        if was_finished or not (request.students or request.arriving):
            ledger.mark_finished()
        return report


def _class(course: Course, request: GradeRequest) -> list[str]:
    """Who is to be looked at, in the order of the class."""
    students = course.students(request.students)
    if not students:
        refused = course.left_out(request.assignment)
        raise CourseError(refused[0] if refused else f"nobody handed in anything: {course.submitted} has no folders")
    graded = sum(
        any(path.is_file() for path in course.notebooks("autograded", student, request.assignment))
        for student in students
    )
    if graded and not course.has_submissions():
        raise CourseError(
            f"{course.submitted} has no folders, but {graded} of {len(students)} in the class were graded in "
            f"{request.assignment} before: bring the folders back (is a disk not mounted?), nothing was changed"
        )
    return [student for student in students if student in request.students] if request.students else students
