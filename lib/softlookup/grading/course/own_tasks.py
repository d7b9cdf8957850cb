"""A course's own tasks where a class is graded: those in the course's own folder, and no others."""

from softlookup.checking.baked import read
from softlookup.checking.catalogue import catalogue_of
from softlookup.checking.own import BAKED, FOLDER
from softlookup.grading.course.folder import Course
from softlookup.grading.data.errors import CourseError


def own_files(course: Course, assignment: str) -> tuple[tuple[str, str], ...]:
    """The files of a course's own tasks of one assignment, which travel to all who judge.

    Raises:
        OwnTasksError: If the tasks cannot be used as they are.
        CourseError: If the release asks tasks that are not described any more.
    """
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
