"""What was handed in: one file of each student, read without following links, and when it came."""

import contextlib
import datetime
import errno
import fnmatch
import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import MAX_BYTES, BadNotebook, require_size
from softlookup_grader.data.dates import naive_utc, read_time
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import MISSING, REFUSED
from softlookup_grader.data.work import digest_of, packed, unpacked

STAMP, SECRET = "timestamp.txt", "submission_secret.txt"
REMARKS = ""
"""The path, no file's, under which remarks on what was left out travel with the files of a hand-in."""

MAX_BESIDE, MAX_BESIDE_BYTES = 200, 16_000_000
"""How many files a student may hand in beside notebooks, and how many bytes they may have together."""

_DEEPEST, _MOST_REMARKS = 4, 5
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
    """Read what a student handed in, as bytes: the notebook, or all files packed where an assignment has more."""
    layout = course.layout(assignment)
    names = [f"{name}.ipynb" for name in layout.notebooks]
    name = " or ".join(names)
    try:
        with _opened(course, assignment, student) as folder:
            if not layout.packed:
                return HandedIn(_read_regular(folder, name, MAX_BYTES))
            return HandedIn(_read_all(course, assignment, folder, names))
    except BadNotebook as error:
        return HandedIn(None, REFUSED, str(error))
    except (FileNotFoundError, NotADirectoryError):
        if others := _others(course, assignment, student):
            return HandedIn(None, REFUSED, f"there is no file {name}, only {others}")
        return HandedIn(None, MISSING, f"there is no file {name}")
    except OSError as error:
        return HandedIn(None, REFUSED, f"{name} cannot be read ({error.strerror})")


def files_in(course: Course, assignment: str, content: bytes) -> dict[str, bytes]:
    """The files of a hand-in that was read, by their paths."""
    layout = course.layout(assignment)
    if not layout.packed:
        return {f"{layout.notebooks[0]}.ipynb": content}
    return {path: file for path, file in unpacked(content).items() if path != REMARKS}


def notebooks_in(course: Course, assignment: str, content: bytes) -> dict[str, bytes]:
    """The notebooks of a hand-in that was read, by their names."""
    files = files_in(course, assignment, content)
    return {path.removesuffix(".ipynb"): file for path, file in files.items() if path.endswith(".ipynb")}


def _read_all(course: Course, assignment: str, folder: int, names: list[str]) -> bytes:
    """The notebooks of an assignment, the files beside them that are not the instructor's, and remarks, packed."""
    files: dict[str, bytes] = {}
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            files[name] = _read_regular(folder, name, MAX_BYTES)
    if not files:
        raise FileNotFoundError
    remarks, spare = [], MAX_BESIDE_BYTES
    source = course.folder("source", ".", assignment)
    left_to_students = course.config.Autograde.get("exclude_overwriting", {}).get(assignment, ())
    for at, (path, size, read) in enumerate(_below(folder, "", course.directory.ignore)):
        if path in (STAMP, SECRET) or path in files or (path not in left_to_students and (source / path).is_file()):
            continue
        if path.endswith(".ipynb"):
            remarks.append(f"{one_line(path, 100)} is no notebook of this assignment, and was not read.")
        elif at >= MAX_BESIDE or size > spare:
            most = f"{MAX_BESIDE} files and {MAX_BESIDE_BYTES // 1_000_000} MB"
            remarks.append(f"{one_line(path, 100)} was left out: beside notebooks at most {most} are taken.")
        else:
            with contextlib.suppress(OSError, BadNotebook):
                files[path] = read(spare)
                spare -= len(files[path])
    return packed({**files, REMARKS: json.dumps(remarks[:_MOST_REMARKS]).encode()})


def _below(folder: int, above: str, ignored: list[str]) -> Iterator[tuple[str, int, Callable[[int], bytes]]]:
    """The files in a folder and below: path, size, and what reads it now, so many bytes at most.

    What is hidden, a link, or ignored by nbgrader is left out.
    """
    listing_fd = os.open(".", os.O_RDONLY, dir_fd=folder)  # a path alone cannot be listed
    try:
        with os.scandir(listing_fd) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        for entry in entries:
            path, name = above + entry.name, entry.name
            if name.startswith(".") or any(fnmatch.fnmatch(name, sign) for sign in ignored):
                continue
            with contextlib.suppress(OSError):
                about = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(about.st_mode):
                    yield path, about.st_size, partial(_read_regular, folder, name)
                elif stat.S_ISDIR(about.st_mode) and path.count("/") < _DEEPEST:
                    inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
                    try:
                        yield from _below(inner, f"{path}/", ignored)
                    finally:
                        os.close(inner)
    finally:
        os.close(listing_fd)


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
