"""The vivas of a class: who gets one, and the files of each."""

from collections.abc import Sequence
from pathlib import Path

from softlookup_course.viva import pages
from softlookup_course.viva.cases import TASKS
from softlookup_course.viva.running import VivaExaminer
from softlookup_course.viva.vivas import Viva, make_viva
from softlookup_grader.course.folder import Course
from softlookup_grader.course.personal import own_release
from softlookup_grader.course.student_ids import quoted_id
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import GRADED
from softlookup_grader.data.work import Limits, with_release
from softlookup_grader.judging.settings import settings_for
from softlookup_grader.reports.explaining import last_graded, what_was_graded
from softlookup_grader.reports.vivas import KEYS, ORAL, SEED, SHEET, SHEETS, folder_of
from softlookup_grader.run.request import Watcher

LIMITS = Limits(cell_s=5.0, answer_s=3.0, total_s=120.0)
"""Less than in grading: what takes longer on the small inputs of a question is no matter for paper."""


def draw_vivas(
    course: Course,
    assignment: str,
    *,
    students: Sequence[str] = (),
    count: int = 5,
    seed: int = 0,
    watch: Watcher | None = None,
) -> tuple[list[Viva], list[str]]:
    """Draw questions for students of a class (all if empty), and sentences on whoever gets none, or not all."""
    settings = settings_for(course, assignment, seed, limits=LIMITS)
    in_class, watch = course.students(students), watch or Watcher()
    vivas, notes, jobs = list[Viva](), list[str](), dict[str, bytes]()
    for student in students or in_class:
        try:
            content = _content(course, assignment, student, settings.personal)
        except CourseError as error:
            if students:
                raise
            notes.append(str(error))
            continue
        if content:
            jobs[student] = content
        else:
            notes.append(f"{quoted_id(student)} handed in nothing that was graded, and gets no questions")
    with VivaExaminer(settings) as examiner:
        if not any(check and check.task.id in TASKS for check in examiner.assignment.notebooks[0].checks.values()):
            chapters = ", ".join(sorted({task_id.partition(".")[0] for task_id in TASKS}))
            raise CourseError(f"there are no questions on the tasks of {assignment}: vivas are for chapters {chapters}")
        watch.begin("questions", len(jobs))
        for student, content in jobs.items():
            viva = make_viva(examiner, student, content, count)
            watch.step(student)
            notes += [f"{quoted_id(student)}: {sentence}" for sentence in viva.notes]
            if len(viva.questions) < count:
                few = f"{quoted_id(student)} gets {len(viva.questions)} of {count} questions"
                notes.append(f"{few}: there are no more on right answers")
            vivas += [viva] if viva.questions else []
    if not vivas:
        raise CourseError(f"nobody gets questions on {assignment}: {notes[0] if notes else 'nobody was graded'}")
    return vivas, notes


def _content(course: Course, assignment: str, student: str, personal: bool) -> bytes:
    """The graded file, with the student's own release where there is one; empty where nothing was graded."""
    graded, _ = last_graded(course, assignment, student)
    if graded.status != GRADED:
        return b""
    content = what_was_graded(course, assignment, graded)[1]
    release = own_release(course, assignment, graded.given_by or student) if personal else b""
    return content if not personal else with_release(release, content) if release else b""


def write_vivas(course: Course, vivas: Sequence[Viva], together: bool) -> list[Path]:
    """Write the files of some vivas; ``together`` puts all sheets into one file and all keys into another."""
    out, ids, title = folder_of(course, vivas[0].assignment), [viva.student for viva in vivas], "Questions on your code"
    texts = {}
    for viva in vivas:
        texts[out / viva.student / SHEET] = pages.page(title, [pages.student_sheet(viva)], [viva.student])
        texts[out / viva.student / ORAL] = pages.page("For the examiner", [pages.oral(viva)], [viva.student])
    written = [*texts]
    if together:
        written = [out / SHEETS, out / KEYS]
        for path, name, make_article in zip(written, (title, "Keys"), (pages.student_sheet, pages.key), strict=True):
            path.with_suffix(".pdf").unlink(missing_ok=True)  # printed from the page before
            texts[path] = pages.page(name, map(make_article, vivas), ids)
    if together or not (out / SEED).is_file():
        texts[out / SEED] = f"{vivas[0].seed}\n"
    for path, text in texts.items():
        atomic_write(path, text.encode("utf-8", "replace"))
    return written
