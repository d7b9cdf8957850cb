"""What of a course other accounts of the machine can read."""

import os
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.data.disk import shared_with_group

_KINDS = (
    ("gradebook.db", "the gradebook"),
    ("viva", "vivas with their keys"),
    ("source", "sources with their solutions"),
    ("submitted", "submissions"),
    ("autograded", "graded submissions"),
    ("feedback", "feedback"),
    ("reports", "reports"),
    (".grading", "the record of grading"),
    ("", "other files of the course"),
)
"""What others should see least, first: how the name of a file or folder at the top of a course begins, and what it is.

What else lies in that folder, such as pages of a book, is not looked at: none of it has to be secret.
"""
_OTHER = (".collected", ".dates", ".groups", ".release", "downloaded", "logs", "release")
_GROUP, _OTHERS = 3, 0  # by how many bits permissions are shifted for the group, and for everybody else


@dataclass(frozen=True)
class Exposed:
    """What other accounts can read."""

    files: int  # how many files
    folders: int  # how many folders they can list
    kinds: tuple[str, ...]  # what these are, the most telling first

    def __str__(self) -> str:
        """One clause: ``12 files and 8 folders, among them the gradebook``."""
        files = f"{self.files:,} {'file' if self.files == 1 else 'files'}"
        folders = f"{self.folders:,} {'folder' if self.folders == 1 else 'folders'}"
        return f"{files} and {folders}, among them {self.kinds[0]}"


def exposed(course: Course) -> Exposed | None:
    """Look up what other accounts can read by permissions; the group of a course that is shared does not count."""
    root = course.root
    readable: dict[str, bool] = {}
    for shift in (_OTHERS,) if shared_with_group(root) else (_OTHERS, _GROUP):
        if _mode(root) >> shift & stat.S_IXOTH and all(_mode(parent) & 0o011 for parent in root.parents):
            readable.update(_readable(root, shift))
    if not readable:
        return None
    tops = {os.path.relpath(path, root).split(os.sep)[0] for path in readable}
    kinds = dict.fromkeys(next(description for begins, description in _KINDS if top.startswith(begins)) for top in tops)
    ordered = tuple(description for _, description in _KINDS if description in kinds)
    return Exposed(sum(not folder for folder in readable.values()), sum(readable.values()), ordered)


def exposure_sentence(course: Course, displayed_folder: Path) -> str:
    """Say what others can read of a course and how to close it; empty where they can read nothing."""
    readable = exposed(course)
    if readable is None:
        return ""
    whose, folder = ("o=" if shared_with_group(course.root) else "go="), one_line(str(displayed_folder))
    return (
        f"other accounts of this machine can read {readable}, in {folder}: close it with 'chmod -R {whose} "
        f"{shlex.quote(folder)}'"
    )


def _readable(root: Path, shift: int) -> Iterator[tuple[str, bool]]:
    """What can be read by those whose permissions are shifted by so much: a path, and whether it is a folder."""
    begins = (*(name for name, _ in _KINDS if name), *_OTHER)
    waiting = [(entry.path, _is_folder(entry)) for entry in os.scandir(root) if entry.name.startswith(begins)]
    while waiting:
        path, is_folder = waiting.pop()
        mode = _mode(path) >> shift
        if mode & stat.S_IROTH and (is_folder or os.path.isfile(path)):
            yield path, is_folder
        if is_folder and mode & stat.S_IXOTH:  # else its entries cannot be reached, even by name
            waiting += [(entry.path, _is_folder(entry)) for entry in os.scandir(path)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _mode(path: str | Path) -> int:
    """Type and permissions, 0 for what went while this looked, and for links."""
    try:
        mode = os.stat(path, follow_symlinks=False).st_mode
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(mode) else mode
