"""Collecting from a folder of git repositories, one for each student, wherever they are hosted."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from softlookup.grading.course.folder import Course
from softlookup.grading.course.notebooks import MAX_BYTES
from softlookup.grading.data.disk import atomic_write
from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.plain_text import one_line
from softlookup.grading.data.tables import Table
from softlookup.grading.platforms.lms_sheet import by_key
from softlookup.grading.platforms.worksheet import Person, class_list

REPOSITORY_COLUMNS = ("repository", "repository_name", "student_repository_name", "address", "url", "clone_url")
USER_COLUMNS = ("github_username", "gitlab_username", "username", "user")
STUDENT_COLUMNS = ("roster_identifier", "identifier", "id", "student", "student_id", "email", "lms_user_id")
_DEEP = 4


@dataclass(frozen=True)
class Collected:
    """What became of a folder of repositories.

    Attributes:
        students: Ids of those whose notebook was copied.
        notes: One sentence for each repository that was left out, and why.
    """

    students: tuple[str, ...]
    notes: tuple[str, ...]


def collect_repositories(
    course: Course, assignment: str, folder: Path, *, roster: Table | None = None, prefix: str = "", force: bool = False
) -> Collected:
    """Copy each student's notebook from a repository into ``submitted/``.

    Args:
        course: The course's folder.
        assignment: Name of the assignment; its notebook lies anywhere in a repository, under its own name.
        folder: The folder that holds the repositories, with whatever branch checked out.
        roster: A table that says whose a repository is: a column with its name or address (``REPOSITORY_COLUMNS``) or
            the name of its user, and one for the student. Without it, a repository's name ends in an id, email or
            lms_user_id of the class list.
        prefix: What stands in front of the student's part of the names; without it, any part up to a dash.
        force: Whether a notebook that was collected before is replaced.

    Raises:
        CourseError: If the roster lacks such columns or names nobody of the class, or the folder has no repositories.
    """
    with course.gradebook() as book:
        people = class_list(book)
    known = _known(roster, people) if roster else {key: person.student for key, person in by_key(people).items()}
    entries = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
    if not entries:
        raise CourseError(f"{folder} holds no folders: name the folder in which the repositories lie side by side")
    done: dict[str, str] = {}
    notes = []
    for entry in entries:
        student, why = _whose(entry.name, known, prefix)
        if not why and student in done:
            why = f"{one_line(student)} has another one, {one_line(done[student])}"
        if not why:
            why = _copy(course, assignment, student, entry, force)
        if why:
            notes.append(f"{one_line(entry.name)} was left out: {why}")
        else:
            done[student] = entry.name
    return Collected(tuple(done), tuple(notes))


def _known(roster: Table, people: Sequence[Person]) -> dict[str, str]:
    """Students by the names that their repositories have in a roster."""
    class_keys = by_key(people)
    repository = roster.take("repository", *REPOSITORY_COLUMNS, *USER_COLUMNS)
    keys = roster.take_ids(STUDENT_COLUMNS, class_keys)
    if repository is None or not keys:
        raise CourseError(
            f"the roster needs a column for the repository ({', '.join((*REPOSITORY_COLUMNS, *USER_COLUMNS))}) and one "
            f"for the student ({', '.join(STUDENT_COLUMNS)}), and has {roster.titles()}"
        )
    owners: dict[str, str] = {}
    for row in roster.rows:
        # Of an address the last part is the name of the folder into which git clones.
        name = row[repository].strip().rstrip("/").rpartition("/")[2].removesuffix(".git").casefold()
        students = {class_keys[key].student for at in keys if (key := row[at].strip().casefold()) in class_keys}
        if name and len(students) == 1:
            owners[name] = students.pop()
    if not owners:
        raise CourseError(f"the roster names nobody of the class list; it was {roster.understood()}")
    return owners


def _whose(name: str, known: Mapping[str, str], prefix: str) -> tuple[str, str]:
    """The student of a repository, or why there is none."""
    plain = name.casefold()
    if plain in known:
        return known[plain], ""
    if prefix:
        if not plain.startswith(prefix.casefold()):
            return "", f"its name does not begin with {prefix}"
        rest = plain.removeprefix(prefix.casefold())
        return known.get(rest, ""), "" if rest in known else f"{one_line(rest)} is no student of the class list"
    fits = {student for key, student in known.items() if plain.endswith(f"-{key}")}
    if len(fits) == 1:
        return fits.pop(), ""
    if fits:
        return (
            "",
            f"its name fits {' and '.join(map(one_line, sorted(fits)))}: give the part before the name as --prefix",
        )
    return "", "its name ends in no id, e-mail address or lms_user_id of the class list; a roster can say whose it is"


def _copy(course: Course, assignment: str, student: str, repository: Path, force: bool) -> str:
    """Copy one notebook; why it could not be copied, or an empty text."""
    target = course.notebook("submitted", student, assignment)
    if os.path.lexists(target) and not force:
        return f"{one_line(student)} has a notebook already; --force replaces it"
    paths = list(_notebooks(repository, f"{assignment}.ipynb"))
    if len(paths) != 1:
        shown = ", ".join(str(path.relative_to(repository)) for path in paths)
        return f"it holds several files of that name ({shown})" if paths else f"it holds no {assignment}.ipynb"
    path = paths[0]
    try:
        # Whoever wrote the repository wrote its links, too: none is followed.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        return f"{path.name} cannot be read ({error.strerror})"
    if len(content) > MAX_BYTES:
        return f"{path.name} has more than {MAX_BYTES:,} bytes"
    atomic_write(target, content)
    return ""


def _notebooks(repository: Path, name: str) -> Iterator[Path]:
    """Plain files of that name, not too deep, outside hidden folders, with no link on the way."""
    for folder, folders, files in os.walk(repository):
        at = Path(folder)
        deep = len(at.relative_to(repository).parts)
        folders[:] = sorted(subfolder for subfolder in folders if not subfolder.startswith(".") and deep < _DEEP)
        if name in files and (at / name).is_file() and not (at / name).is_symlink():
            yield at / name
