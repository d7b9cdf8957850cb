"""What was handed in: one file of each student, read without following links, and when it came."""

import contextlib
import datetime
import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from softlookup.grading.course import Course
from softlookup.grading.notebooks import MAX_BYTES, BadNotebook, NoNotebook, read_notebook
from softlookup.grading.records import MISSING, REFUSED
from softlookup.grading.work import digest_of

STAMP, SECRET = "timestamp.txt", "submission_secret.txt"
_STAMP_BYTES = 200


@dataclass(frozen=True)
class HandedIn:
    """What one student handed in.

    Attributes:
        content: The notebook's bytes; None if there is nothing that can be graded.
        status: Empty, or missing or refused where there is no content.
        reason: Why there is no content, one sentence.
    """

    content: bytes | None
    status: str = ""
    reason: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the content, empty if there is none."""
        return "" if self.content is None else digest_of(self.content)


def read_submission(course: Course, assignment: str, student: str) -> HandedIn:
    """Read a student's notebook as bytes.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        student: The student's id.

    Returns:
        The content, or why there is none: it is missing, a link, no file, too large, or the system refuses it.
    """
    path = course.notebook("submitted", student, assignment)
    try:
        if path.parent.is_symlink():
            return HandedIn(None, REFUSED, f"the folder {assignment} is a link, not a folder")
        return HandedIn(_read_regular(path, MAX_BYTES))
    except BadNotebook as error:
        return HandedIn(None, REFUSED, str(error))
    except (FileNotFoundError, NotADirectoryError):
        return HandedIn(None, MISSING, _missing(path))
    except OSError as error:
        if error.errno == errno.ELOOP:
            return HandedIn(None, REFUSED, f"{path.name} is a link, not a file: hand in the notebook itself")
        return HandedIn(None, REFUSED, f"{path.name} cannot be read ({error.strerror})")


def handed_in_at(course: Course, assignment: str, student: str) -> tuple[datetime.datetime | None, str]:
    """When a submission came, as nbgrader reads it from timestamp.txt, in UTC.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        student: The student's id.

    Returns:
        The time, None if nothing says it; and a remark, if the file that should say it cannot be read.
    """
    path = course.folder("submitted", student, assignment) / STAMP
    remark = f"{STAMP} is not a time that can be read, so it says nothing about being late"
    try:
        _read_regular(path, _STAMP_BYTES)
        return course.directory.get_existing_timestamp(str(path.parent)), ""
    except FileNotFoundError:
        return None, ""
    except Exception:  # it holds whatever somebody wrote, and its reader raises many things
        return None, remark


def read_slips(course: Course, assignment: str, student: str) -> dict[str, bytes]:
    """Read what nbgrader's exchange writes beside a notebook: the time, and the secret that feedback is found by.

    Args:
        course: The course's folder.
        assignment: Name of the assignment.
        student: The student's id.

    Returns:
        Names and bytes of those that are plain small files.
    """
    slips = {}
    for name in (STAMP, SECRET):
        with contextlib.suppress(OSError, BadNotebook):
            slips[name] = _read_regular(course.folder("submitted", student, assignment) / name, _STAMP_BYTES)
    return slips


def _read_regular(path: Path, most: int) -> bytes:
    # Opened first and looked at then, so that nobody can put a link there in between; a pipe must not block.
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    about = os.fstat(fd)
    if not stat.S_ISREG(about.st_mode):
        os.close(fd)
        raise BadNotebook(f"{path.name} is not a file")
    with open(fd, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        size = max(about.st_size, len(content))
        raise BadNotebook(f"{path.name} has {size:,} bytes, more than the {most:,} that are read: clear its outputs")
    return content


def _missing(path: Path) -> str:
    """Say that there is no file, and what lies there instead."""
    try:
        read_notebook(path)
    except NoNotebook as error:
        return str(error)
    except BadNotebook:
        pass
    return f"there is no file {path.name}"
