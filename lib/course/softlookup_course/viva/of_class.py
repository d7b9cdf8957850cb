"""The vivas of a class: who gets one, where they lie in the course, and the files of each."""

import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from softlookup_course.viva import pages
from softlookup_course.viva.cases import TASKS
from softlookup_course.viva.form import form
from softlookup_course.viva.running import VivaExaminer
from softlookup_course.viva.vivas import Viva, make_viva
from softlookup_grader.course.folder import Course
from softlookup_grader.course.personal import own_release
from softlookup_grader.course.releasing import Released
from softlookup_grader.course.student_ids import shown
from softlookup_grader.course.terms import read_granted, time_factor
from softlookup_grader.data.dates import naive_utc
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED, MISSING
from softlookup_grader.data.work import Limits, RunSettings, with_release
from softlookup_grader.judging.running import Assignment
from softlookup_grader.judging.settings import settings_for
from softlookup_grader.judging.zygotes import Shared
from softlookup_grader.reports.explaining import last_graded, what_was_graded
from softlookup_grader.reports.vivas import FORM, KEY, KEYS, ORAL, QUESTIONS, SHEET, SHEETS, folder_of, remember
from softlookup_grader.run.request import Watcher
from softlookup_grader.workers.pool import WorkerPool, processors

LIMITS = Limits(cell_s=5.0, answer_s=3.0, total_s=120.0)
"""Less than in grading: what takes longer on the small inputs of a question is no matter for paper."""

_MODULES = ("softlookup_course.viva.vivas",)


@dataclass
class ClassVivas:
    """What drawing questions for a class came to.

    Attributes:
        vivas: Those that have questions, in the order of the class.
        notes: Sentences on whoever has none, or not all of them.
    """

    vivas: list[Viva] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def draw_vivas(
    course: Course,
    assignment: str,
    *,
    students: Sequence[str] = (),
    count: int = 5,
    seed: int = 0,
    workers: int | None = None,
    watch: Watcher | None = None,
) -> ClassVivas:
    """Draw questions for students of a class, on what of theirs was graded.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        students: Ids; empty means all who were graded.
        count: How many questions each gets.
        seed: Draws tasks, edits and numbers: the same seed gives a student the same questions.
        workers: How many students at a time; None takes the number of processors.
        watch: Listens to the progress.

    Returns:
        The vivas, and who has none.

    Raises:
        CourseError: If the course is not ready, nobody was graded, or a named student was not.
    """
    settings = settings_for(course, assignment, seed, limits=LIMITS)
    in_class = course.students(students)
    checks = Assignment(settings).checks.values()
    if not any(check is not None and check.task.id in TASKS for check in checks):
        chapters = ", ".join(sorted({task_id.partition(".")[0] for task_id in TASKS}))
        raise CourseError(f"there are no questions on the tasks of {assignment}: vivas are for chapters {chapters}")
    drawn, jobs = ClassVivas(), []
    for student in students or in_class:
        try:
            content = _content(course, assignment, student, settings.personal)
        except CourseError as error:
            if student in students:
                raise
            drawn.notes.append(str(error))
            continue
        if content is None:
            drawn.notes.append(f"{shown(student)} handed in nothing, and gets no questions")
        else:
            jobs.append((student, content))
    vivas, watch = dict[str, Viva](), watch or Watcher()
    watch.begin("questions", len(jobs))
    workers = min(workers or processors(), len(jobs))
    patience = 60.0 + 2 * LIMITS.total_s
    with Shared(settings) if jobs else nullcontext() as lend:
        pool = WorkerPool(
            _Drawing(settings, count), workers, log=course.log("viva"), patience_s=patience, lend=lend, modules=_MODULES
        )
        with contextlib.closing(pool.run(jobs)) as results:  # type: ignore[type-var]
            for result in results:
                if result.failure:
                    drawn.notes.append(f"{shown(result.name)} gets no questions: {result.failure}")
                else:
                    vivas[result.name] = Viva.from_json(json.loads(result.content))
                watch.step(result.name)
    for student, _ in jobs:
        viva = vivas.get(student)
        if viva is not None and viva.questions:
            drawn.vivas.append(viva)
        if viva is not None:
            drawn.notes += [f"{shown(student)}: {note}" for note in viva.notes]
            if len(viva.questions) < count:
                drawn.notes.append(
                    f"{shown(student)} gets {len(viva.questions)} of {count} questions: there are no more"
                )
    if not drawn.vivas:
        raise CourseError(
            f"nobody gets questions on {assignment}: {drawn.notes[0] if drawn.notes else 'nobody was graded'}"
        )
    return drawn


@dataclass(frozen=True)
class _Drawing:
    """What a worker does: the questions for one student."""

    settings: RunSettings
    count: int

    @contextlib.contextmanager
    def __call__(self, zygote: socket.socket) -> Iterator[Callable[[str, bytes], bytes]]:
        with VivaExaminer(self.settings, zygote) as examiner:
            yield lambda student, content: json.dumps(
                make_viva(examiner, student, content, self.count).as_json()
            ).encode()


def _content(course: Course, assignment: str, student: str, personal: bool) -> bytes | None:
    """The graded file; what is no notebook as it is, None where there was none."""
    graded, _ = last_graded(course, assignment, student)
    if graded.status == MISSING:
        return None
    content = what_was_graded(course, assignment, graded)[1] if graded.status == GRADED else b""
    if personal:
        personal_notebook = own_release(course, assignment, graded.given_by or student)
        return with_release(personal_notebook, content) if personal_notebook is not None else None
    return content


def write_vivas(
    course: Course, vivas: Sequence[Viva], out: Path, together: bool, minutes: float | None = None
) -> list[Path]:
    """Write the files of some vivas.

    Args:
        course: The course; feedback pages there are linked to.
        vivas: The vivas of one assignment.
        out: Where they go: a folder for each student, and beside them what holds all.
        together: Whether to write all sheets in one file and all keys in another, to print.
        minutes: How long the page with a clock gives; None gives two minutes to each question. A student's standing
            accommodation multiplies it.

    Returns:
        The files that hold all sheets and keys, or else those of each student.
    """
    written = []
    remember(course, out)
    granted, now = read_granted(course), naive_utc(datetime.now(UTC))
    for viva in vivas:
        folder = out / viva.student
        feedback = course.notebook("feedback", viva.student, viva.assignment).with_suffix(".html")
        link = os.path.relpath(feedback, folder) if feedback.is_file() else ""
        book = os.environ.get("SOFTLOOKUP_BOOK", "").rstrip("/") or Released(course).book_from(folder)
        texts = {
            SHEET: pages.page("Questions on your code", [pages.sheet(viva)], [viva.student]),
            KEY: pages.page("Key", [pages.key(viva)], [viva.student]),
            ORAL: pages.page("For the examiner", [pages.oral(viva, book, link)], [viva.student]),
            FORM: form(viva, minutes, time_factor(granted, viva.student, now)),
            QUESTIONS: json.dumps(viva.as_json(), indent=1, ensure_ascii=False) + "\n",
        }
        if _text_of(folder / QUESTIONS) != texts[QUESTIONS]:
            # The key comes last: where this is broken off, no sheet is marked by the key of another one.
            (folder / QUESTIONS).unlink(missing_ok=True)
        for name, text in texts.items():
            atomic_write(folder / name, text.encode("utf-8", "replace"))
            written.append(folder / name)
    if not together:
        return written
    ids = [viva.student for viva in vivas]
    for name, title, made in ((SHEETS, "Questions on your code", pages.sheet), (KEYS, "Keys", pages.key)):
        (out / name).with_suffix(".pdf").unlink(missing_ok=True)  # printed from the page before
        atomic_write(out / name, pages.page(title, map(made, vivas), ids).encode("utf-8", "replace"))
    return [out / SHEETS, out / KEYS]


def _text_of(path: Path) -> str:
    """What a file holds; empty where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def read_vivas(course: Course, assignment: str) -> dict[str, Viva]:
    """The vivas that lie in a course, by student; what cannot be read is left out."""
    vivas = {}
    for path in sorted(folder_of(course, assignment).glob("*/viva.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            viva = Viva.from_json(json.loads(path.read_text(encoding="utf-8")))
            if viva.student == path.parent.name and viva.assignment == assignment:
                vivas[viva.student] = viva
    return vivas


def seed_of(course: Course, assignment: str) -> int | None:
    """The seed of the vivas that lie in a course, None if there are none: sheets on paper keep their keys."""
    seeds = [viva.seed for viva in read_vivas(course, assignment).values()]
    return max(seeds, key=seeds.count, default=None)
