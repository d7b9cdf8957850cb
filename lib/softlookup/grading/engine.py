"""Grades a class: who is in it, who is graded where, and what happens when a grading process dies."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

from softlookup.grading.course import Course, CourseError, use_own_programs
from softlookup.grading.records import REFUSED, Record, Report

_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Autograder(Protocol):
    """Grades one submission: how a submission is run and judged is behind this one method."""

    def grade(self, course: Course, assignment: str, student: str) -> Record:
        """Grade one submission. It never raises for anything that a student handed in."""
        ...


def assignments(course: Course) -> list[str]:
    """Names of the assignments in the course's gradebook, sorted."""
    with course.gradebook() as book:
        return sorted(a.name for a in book.assignments)


def grade_class(
    course: Course,
    assignment: str,
    autograder: Autograder,
    *,
    workers: int | None = None,
    seed: int = 0,
    done: Callable[[int, int, Record], None] = lambda number, total, record: None,
) -> Report:
    """Grade everybody's submission of one assignment.

    Several kernels run side by side, each driven by a process of its own; the gradebook has one writer at a
    time. The same submissions get the same report with any number of workers.

    Args:
        course: The course's folder.
        assignment: Name of the assignment, "04_one_head".
        autograder: Grades one submission.
        workers: How many at a time; None takes the number of processors.
        seed: Kept in the report.
        done: Called after each submission with how many are done, how many there are, and its record.

    Returns:
        The report, in the order of the class.

    Raises:
        CourseError: If the gradebook does not know the assignment, or nobody is in the class.
    """
    known = assignments(course)
    if assignment not in known:
        has = ", ".join(known) or "none"
        raise CourseError(
            f"the gradebook knows no assignment {assignment!r} (it has: {has}); 'softlookup release' adds one"
        )
    students = course.students()
    if not students:
        raise CourseError(f"nobody handed anything in: {course.root / 'submitted'} has no folders")
    records: dict[str, Record] = {}

    def keep(record: Record) -> None:
        records[record.student] = record
        done(len(records), len(students), record)

    count = max(1, min(workers or processors(), len(students)))
    _grade_side_by_side(course, assignment, autograder, students, count, keep)
    # A grading process that died took others down with it. Those are graded again one after the other in one
    # process, so that the first one without a record is the one that kills it.
    lost = [s for s in students if s not in records]
    while lost:
        _grade_side_by_side(course, assignment, autograder, lost, 1, keep)
        lost = [s for s in lost if s not in records]
        if lost:
            keep(Record(lost.pop(0), REFUSED, 0.0, 0.0, reason="the process that graded it was killed"))
    return Report(assignment, seed, tuple(records[s] for s in students))


def _grade_side_by_side(
    course: Course,
    assignment: str,
    autograder: Autograder,
    students: list[str],
    workers: int,
    keep: Callable[[Record], None],
) -> None:
    """Grade these students in so many processes; whoever is not kept afterwards was lost with a process."""
    # Spawned, not forked: a fork would copy the locks of threads that run here.
    context = multiprocessing.get_context("spawn")
    futures: dict[Future[Record], str] = {}
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(course,)) as pool:
        try:
            for student in students:
                futures[pool.submit(autograder.grade, course, assignment, student)] = student
        except BrokenProcessPool:
            pass
        try:
            for future in as_completed(futures):
                try:
                    keep(future.result())
                except BrokenProcessPool:
                    continue
                except Exception as error:  # one submission's trouble stays its own
                    reason = f"grading it failed ({type(error).__name__}: {error})"
                    keep(Record(futures[future], REFUSED, 0.0, 0.0, reason=reason))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _begin(course: Course) -> None:
    """Prepare a grading process: one thread for each kernel (no crowding), and no words on the terminal."""
    for name in _ONE_THREAD:
        os.environ.setdefault(name, "1")
    use_own_programs()
    # Ctrl-C reaches the whole group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(course.log("workers"), "a", encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
