"""Grades a class: what is to be done, who does it, and the one that writes it down.

Submissions go to an executor, and what grading came to comes back as plain data. Here it is written into the
ledger, then into autograded/, then into the gradebook; whatever is killed in between is taken up again.
"""

import functools
import json
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import nbformat

from softlookup.grading.course import Course, CourseError
from softlookup.grading.disk import Shelf
from softlookup.grading.ledger import Ledger
from softlookup.grading.pool import Examiner, Executor, LocalExecutor, processors
from softlookup.grading.records import Report
from softlookup.grading.student_ids import id_trouble, shown
from softlookup.grading.work import Graded, Limits, Setting

__all__ = [
    "MakeExecutor",
    "Order",
    "Watcher",
    "grade_assignment",
    "local_executor",
    "make_examiner",
]


@dataclass(frozen=True)
class Order:
    """What is asked for.

    Attributes:
        assignment: Name of the assignment, "04_one_head".
        students: Only these, graded even if nothing has changed; empty means everybody who needs it.
        again: Grade everybody anew, in a run of its own.
        seed: Draws the inputs of all questions; None keeps the assignment's seed, or draws one that is kept. A small
            number can be guessed from the questions: it serves to repeat a run.
        sandbox: "bubblewrap", or "none" for code that one trusts.
        workers: How many submissions at a time; None takes the number of processors.
        feedback: Whether to make feedback pages.
        limits: What one submission may use.
    """

    assignment: str
    students: tuple[str, ...] = ()
    again: bool = False
    seed: int | None = None
    sandbox: str = "bubblewrap"
    workers: int | None = None
    feedback: bool = True
    limits: Limits = field(default_factory=Limits)


class Watcher:
    """Is told how grading goes; this one does not look."""

    def begin(self, what: str, total: int, done: int = 0) -> None:
        """A part of the work begins.

        Args:
            what: What is done, a word or two.
            total: How many there are.
            done: How many of them were done before.
        """

    def step(self, name: str, graded: Graded | None = None) -> None:
        """One of them is done."""

    def say(self, sentence: str) -> None:
        """Something that the instructor should know."""


def make_examiner(setting: Setting, zygote: socket.socket | None = None) -> Examiner:
    """The examiner that runs submissions in the sandbox; everything that grades makes its examiners here."""
    from softlookup.grading.examine import Examiner as Sandboxed

    return Sandboxed(setting, zygote)


def local_executor(course: Course, order: Order, make: Callable[[Setting], Examiner] | None = None) -> "MakeExecutor":
    """Grade in processes of this machine.

    Args:
        course: The course's folder, for the log.
        order: What is asked for: the number of workers, and the limits.
        make: Makes an examiner in a worker; None makes the sandboxed one. It is pickled.

    Returns:
        What makes the executor once the setting is known.
    """

    def executor(setting: Setting) -> Executor:
        # An examiner ends a submission at its limit; one that does not is broken itself.
        patience = 60.0 + 2 * setting.limits.total_s
        maker = functools.partial(make or make_examiner, setting)
        # Code that one trusts writes where it runs: there each worker has a zygote, and each submission a folder.
        lend = None if make or setting.sandbox == "none" else functools.partial(_shared, setting)
        workers = order.workers or processors()
        return LocalExecutor(maker, workers, log=course.log("workers"), patience_s=patience, lend=lend)

    return executor


def _shared(setting: Setting) -> AbstractContextManager[Callable[[], socket.socket]]:
    from softlookup.grading.zygotes import Shared

    return Shared(setting)


MakeExecutor = Callable[[Setting], Executor]


def grade_assignment(
    course: Course, order: Order, *, executor: MakeExecutor | None = None, watch: Watcher | None = None
) -> Report:
    """Grade a class's submissions of one assignment, or what is left of them.

    What was graded and has not changed is not graded again. The same seed gives the same report with any number
    of workers.

    Args:
        course: The course's folder.
        order: What is asked for.
        executor: Makes what grades, once the setting is known; None grades in sandboxes on this machine.
        watch: Is told how it goes.

    Returns:
        The report on everybody in the class.

    Raises:
        CourseError: If the course is not ready, the disk is full, or the gradebook cannot be written. What was
            graded until then is kept, and the next call goes on from there.
    """
    # nbgrader takes long to import, and the processes that grade import this module without need of it.
    from softlookup.grading.keeping import Keeper
    from softlookup.grading.sample import is_hostile
    from softlookup.grading.sandbox.bubble import readable
    from softlookup.grading.sandbox.cgroups import told
    from softlookup.grading.writer import Writer

    if order.sandbox == "none" and is_hostile(course):
        raise CourseError("this sample class attacks whoever grades it: it is graded in the sandbox alone")
    if order.sandbox != "none" and (said := readable(course.root)):
        raise CourseError(said)
    course.require(order.assignment)
    release = _release(course, order.assignment)
    students = _class(course, order)
    folder = course.root / ".grading" / order.assignment
    ask = {"release": release, "seed": order.seed, "sandbox": order.sandbox, "again": order.again}
    with Ledger(folder, **ask) as ledger, Writer(course, order.assignment) as writer:  # type: ignore[arg-type]
        writer.check_release(nbformat.reads(release, as_version=4))
        keeper = Keeper(course, order, ledger, writer, Shelf(folder), watch or Watcher())
        setting = Setting(order.assignment, release, ledger.run.seed, order.sandbox, order.limits)
        if executor is None and order.sandbox != "none":
            keeper.about = told()
        keeper.grade(students, (executor or local_executor(course, order))(setting))
        report = keeper.report(students)
        if order.feedback:
            keeper.pages(report)
        if not order.students:
            ledger.mark_finished()
        return report


def _release(course: Course, assignment: str) -> str:
    """The notebook that students got, as text."""
    path = course.notebook("release", ".", assignment)
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except FileNotFoundError:
        raise CourseError(f"there is no release of {assignment} ({path}): 'softlookup release' makes it") from None
    except (OSError, ValueError) as error:
        raise CourseError(
            f"the release of {assignment} cannot be read ({error}): 'softlookup release' makes it"
        ) from None
    return text


def _class(course: Course, order: Order) -> list[str]:
    """Who is to be looked at, in the order of the class."""
    students = course.students()
    if not students:
        refused = course.left_out(order.assignment)
        raise CourseError(refused[0] if refused else f"nobody handed anything in: {course.submitted} has no folders")
    unknown = sorted(set(order.students) - set(students))
    if unknown:
        why = id_trouble(unknown[0]) or "ids are the folders of submitted/"
        raise CourseError(f"nobody in the class has the id {shown(unknown[0])}: {why}")
    graded = sum(course.notebook("autograded", student, order.assignment).is_file() for student in students)
    if graded and not course.has_submissions():
        raise CourseError(
            f"{course.submitted} has no folders, but {graded} of {len(students)} in the class were graded in "
            f"{order.assignment} before: bring the folders back (is a disk not mounted?), nothing was changed"
        )
    return [student for student in students if student in order.students] if order.students else students
