"""What was handed in: one file of each student, read without following links, and when it came."""

import contextlib
import datetime
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import MAX_BYTES, BadNotebook, require_size
from softlookup_grader.data.dates import naive_utc, read_time
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import MISSING, REFUSED
from softlookup_grader.data.work import digest_of

STAMP, SECRET = "timestamp.txt", "submission_secret.txt"
_STAMP_BYTES = 200
NO_TIME = f"{STAMP} is not a time that can be read, so it says nothing about being late"
_FOLDER = getattr(os, "O_PATH", 0) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
"""How a folder is opened; macOS and Windows lack some of these, and grade nothing."""


@dataclass(frozen=True)
class HandedIn:
    """What one student handed in."""

    content: bytes | None  # the notebook's bytes; None if there is nothing that can be graded
    status: str = ""  # empty, or missing or refused where there is no content
    reason: str = ""  # why there is no content, one sentence

    @property
    def digest(self) -> str:
        """SHA-256 of the content, empty if there is none."""
        return "" if self.content is None else digest_of(self.content)


def read_submission(course: Course, assignment: str, student: str) -> HandedIn:
    """Read a student's notebook as bytes."""
    name = f"{assignment}.ipynb"
    try:
        with _opened(course, assignment, student) as folder:
            return HandedIn(_read_regular(folder, name, MAX_BYTES))
    except BadNotebook as error:
        return HandedIn(None, REFUSED, str(error))
    except (FileNotFoundError, NotADirectoryError):
        if others := _others(course, assignment, student):
            return HandedIn(None, REFUSED, f"there is no file {name}, only {others}")
        return HandedIn(None, MISSING, f"there is no file {name}")
    except OSError as error:
        return HandedIn(None, REFUSED, f"{name} cannot be read ({error.strerror})")


def handed_in_at(course: Course, assignment: str, student: str) -> tuple[datetime.datetime | None, str]:
    """When a submission came, as timestamp.txt says it, in UTC; None if nothing says it."""
    zone = course.exchange_zone
    try:
        with _opened(course, assignment, student) as folder:
            text = _read_regular(folder, STAMP, _STAMP_BYTES).decode().strip()
        return naive_utc(read_time(text, zone)) if text else None, ""
    except FileNotFoundError:
        return None, ""
    except (OSError, BadNotebook, UnicodeDecodeError, CourseError):
        return None, NO_TIME


def has_folder(course: Course, assignment: str, student: str) -> bool:
    """Whether a student's folder of an assignment is there, and no link leads to it."""
    try:
        with _opened(course, assignment, student):
            return True
    except (OSError, BadNotebook):
        return False


def read_slips(course: Course, assignment: str, student: str) -> dict[str, bytes]:
    """Read what nbgrader's exchange writes beside a notebook: the time, and the secret that feedback is found by."""
    contents = {}
    with contextlib.suppress(OSError, BadNotebook), _opened(course, assignment, student) as folder:
        for name in (STAMP, SECRET):
            with contextlib.suppress(OSError, BadNotebook):
                contents[name] = _read_regular(folder, name, _STAMP_BYTES)
    return contents


def _others(course: Course, assignment: str, student: str) -> str:
    """The files that somebody handed in beside what nbgrader's exchange writes, to be named; empty if none."""
    names: list[str] = []
    with contextlib.suppress(OSError, BadNotebook), _opened(course, assignment, student) as folder:
        listing_fd = os.open(".", os.O_RDONLY, dir_fd=folder)  # a path alone cannot be listed
        try:
            with os.scandir(listing_fd) as entries:
                files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        finally:
            os.close(listing_fd)
        names = sorted(name for name in files if name not in (STAMP, SECRET) and not name.startswith("."))
    file_names = ", ".join(repr(one_line(name, 60)) for name in names[:3])
    return f"{file_names} and {len(names) - 3} more" if len(names) > 3 else file_names


@contextlib.contextmanager
def _opened(course: Course, assignment: str, student: str) -> Iterator[int]:
    """A descriptor of a student's folder: each one is opened from the one above it, so that no link gets in between."""
    path, base = course.folder("submitted", student, assignment), course.submitted
    parts = path.relative_to(base).parts if path.is_relative_to(base) else (path.name,)
    folder = os.open(base if path.is_relative_to(base) else path.parent, _FOLDER)
    try:
        for part in parts:
            try:
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
            except NotADirectoryError:
                if stat.S_ISLNK(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode):
                    raise BadNotebook(f"the folder {one_line(part)} is a link, not a folder") from None
                raise
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _read_regular(folder: int, name: str, most: int) -> bytes:
    # Opened first and looked at then, so that nobody can put a link there in between; a pipe must not block.
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadNotebook(f"{name} is a link, not a file: hand in the notebook itself") from None
        raise
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        os.close(fd)
        raise BadNotebook(f"{name} is not a file")
    with open(fd, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        require_size(name, max(about.st_size, len(content)), most)
    return content
