"""``softlookup doctor``: what this machine has and lacks for grading, one line each."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from softlookup_grader.commands.shared import COURSE, course_in, default_course
from softlookup_inside.installed import holder_of

if TYPE_CHECKING:
    from softlookup_grader.course.folder import Course

OK, NOTE, MISSING = "ok", "note", "MISSING"
GRADING_NEEDS_MB = 500  # room for what a run keeps aside while it grades: the staged library, notebooks and feedback


@click.command()
@COURSE
def doctor(folder: Path | None) -> None:
    """Say what this machine has and lacks for grading.

    Each line is one thing: 'ok', 'note' where grading does without it, or 'MISSING' with what to do. The exit status is
    1 if submissions cannot be graded here.
    """
    lines = list(_looked_at(folder))
    for state, sentence in lines:
        click.echo(f"{state:<8}{sentence}")
    sys.exit(any(state == MISSING for state, _ in lines))


def _looked_at(folder: Path | None) -> Iterator[tuple[str, str]]:
    """Each thing that was looked at: its state, and a sentence."""
    from softlookup_grader.sandbox import bubble, cgroups

    yield OK, f"Python {sys.version.split()[0]} at {sys.executable}"
    yield from _packages()
    trouble = bubble.trouble()
    yield (MISSING, trouble) if trouble else (OK, "bubblewrap makes the namespaces that submissions run in")
    yield (OK if cgroups.limits_memory() else NOTE), cgroups.memory_held()
    yield _room(Path(tempfile.gettempdir()))
    course = folder or default_course()
    if folder is not None or (course / "nbgrader_config.py").exists():
        yield _room(course)
        yield from _course(course)


def _packages() -> Iterator[tuple[str, str]]:
    """The packages that the grader needs, against the versions that it asks for."""
    from packaging.requirements import Requirement

    texts = requires(holder_of("softlookup-grader") or "softlookup-grader") or ()
    others = (Requirement(text) for text in texts if not text.startswith("softlookup"))
    requirements = [other for other in others if other.marker is None or other.marker.evaluate({"extra": ""})]
    wrong = []
    for requirement in requirements:
        try:
            if not requirement.specifier.contains(there := version(requirement.name), prereleases=True):
                wrong.append(f"{requirement.name} is {there}, needed is {requirement.specifier}: install it with pip")
        except PackageNotFoundError:
            wrong.append(
                f"{requirement.name} is not installed: install '{requirement.name}{requirement.specifier}' with pip"
            )
    yield from ((MISSING, sentence) for sentence in wrong)
    if not wrong:
        yield OK, f"all {len(requirements)} packages that grading needs, nbgrader {version('nbgrader')} among them"


def _room(folder: Path) -> tuple[str, str]:
    """Whether files can be written to a folder, and how much."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            free_mb = shutil.disk_usage(folder).free // 10**6
    except OSError as error:
        return MISSING, f"{folder} cannot be written to ({error.strerror}): change its permissions, or choose another"
    if free_mb < GRADING_NEEDS_MB:
        return MISSING, f"{folder} has {free_mb:,} MB left: make room for {GRADING_NEEDS_MB} MB"
    return OK, f"{folder} can be written to and has {free_mb:,} MB left"


def _course(folder: Path) -> Iterator[tuple[str, str]]:
    """Whether a course is a private one, and its gradebook a sound one."""
    from softlookup_grader import CourseError
    from softlookup_grader.course.exposure import exposure_sentence

    try:
        course = course_in(folder)
        trouble = exposure_sentence(course, folder)
        yield (
            (NOTE, trouble)
            if trouble
            else (OK, f"other accounts of this machine can read no files of the course in {folder}")
        )
        yield from _gradebook(course, folder)
    except CourseError as error:
        yield MISSING, str(error)


def _gradebook(course: "Course", displayed_folder: Path) -> Iterator[tuple[str, str]]:
    """Whether the gradebook can be written to at this moment, and lies where it may; nothing is changed in it."""
    from sqlalchemy import text

    from softlookup_grader.data.file_systems import file_system_of, is_far

    file = course.gradebook_file()
    if file is not None and is_far(file_system := file_system_of(file)):
        yield (
            NOTE,
            f"the gradebook {course.gradebook_place()} lies on a network file system ({file_system}), on which "
            "SQLite's locks cannot be trusted: move the course to a local disk, or keep the gradebook in PostgreSQL",
        )
    if file is not None and not file.exists():
        yield NOTE, f"{displayed_folder} has no gradebook yet: releasing an assignment makes one"
        return
    with course.gradebook() as book:
        book.db.execute(text("DELETE FROM student WHERE 1 = 0"))  # asks for the right to write
        book.db.rollback()
    yield OK, f"the gradebook can be written to: {course.gradebook_place()}"


COMMANDS = (doctor,)
