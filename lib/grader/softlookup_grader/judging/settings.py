"""What is asked in an assignment, as a course's folder says it: the release, hidden tests, the course's own tasks."""

import json

from softlookup_grader.course.folder import Course
from softlookup_grader.course.personal import is_personal
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits, RunSettings
from softlookup_grader.judging.plain_tests import hidden_tests
from softlookup_judge.checking.baked import read
from softlookup_judge.checking.catalogue import catalogue_of
from softlookup_judge.data.own import BAKED, FOLDER


def settings_for(
    course: Course, assignment: str, seed: int = 0, sandbox: str = "bubblewrap", limits: Limits | None = None
) -> RunSettings:
    """Read what an assignment of a course asks of every submission."""
    course.require(assignment)
    release = release_text(course, assignment)
    return RunSettings(
        assignment,
        release,
        seed,
        sandbox,
        limits or Limits(),
        hidden=hidden_tests(course, assignment, release),
        own_tasks=_own_tasks(course, assignment),
        personal=is_personal(course, assignment),
    )


def release_text(course: Course, assignment: str) -> str:
    """Read the notebook that students got; CourseError if there is none, or it cannot be read."""
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


def identity(settings: RunSettings) -> str:
    """A text that changes whenever what is asked changes: submissions are graded again then."""
    return settings.release + "".join(json.dumps(part) for part in (settings.hidden, settings.own_tasks) if part)


def _own_tasks(course: Course, assignment: str) -> tuple[tuple[str, str], ...]:
    """The files of a course's own tasks of one assignment, which travel to all who judge."""
    catalogue = catalogue_of(course.root)
    chapter = assignment.partition("_")[0]
    there = {task.id for task in catalogue.own_tasks(int(chapter))} if chapter.isdecimal() else set()
    handed_out = course.folder("release", ".", assignment) / BAKED
    released_ids = read(handed_out.read_bytes()).more.keys() if handed_out.is_file() else set()
    if gone := sorted(released_ids - there):
        raise CourseError(
            f"the release of {assignment} asks {', '.join(gone)}, and {course.root / FOLDER} does not describe that: "
            f"bring the files back, or release {assignment} again"
        )
    return tuple(file for file in catalogue.course_tasks.texts if file[0].startswith(f"{chapter}_"))
