"""Files that are written whole or not at all, for whom they are, and one sentence where the disk refuses."""

import contextlib
import errno
import glob
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from softlookup_grader.data.errors import CourseError

Record = TypeVar("Record")
_FOR_A_GROUP = stat.S_ISGID | stat.S_IWGRP
"""A folder with both bits is meant to be shared with its group: nbgrader's ``groupshared`` asks for them."""
_private: tuple[Path, int] | None = None
"""The folder whose files are its owner's alone at this moment, and the umask that holds elsewhere."""


@contextlib.contextmanager
def private(folder: Path) -> Iterator[None]:
    """Keep what this process and its children write into a folder from others, by the umask; a shared one stays so."""
    global _private
    outer = _private
    umask = os.umask(0o077)
    _private = folder.resolve(), outer[1] if outer else umask
    with contextlib.suppress(OSError):
        if shared_with_group(folder):
            os.umask(0o007)
    try:
        yield
    finally:
        os.umask(umask)
        _private = outer


def current_umask() -> int:
    """The permissions that files of this process do not get."""
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def shared_with_group(folder: Path) -> bool:
    """Whether a folder is set up to be shared with its group; OSError if it cannot be looked at."""
    return folder.stat().st_mode & _FOR_A_GROUP == _FOR_A_GROUP


@contextlib.contextmanager
def as_placed(path: Path) -> Iterator[None]:
    """Write something as its place asks: outside the private folder it is for whom the user's umask says."""
    if _private is None or path.resolve().is_relative_to(_private[0]):
        yield
        return
    umask = os.umask(_private[1])
    try:
        yield
    finally:
        os.umask(umask)


@contextlib.contextmanager
def disk_trouble(path: Path) -> Iterator[None]:
    """Turn what a disk refuses into one sentence."""
    try:
        yield
    except OSError as error:
        raise CourseError(disk_sentence(path, error)) from error


def is_full(error: OSError) -> bool:
    """Whether the disk has no room left, or the user's share of it."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def disk_sentence(path: Path | str, error: OSError) -> str:
    """Say in one sentence why a file could not be written, and what to do."""
    if is_full(error):
        return f"there is no room left to write {path}: make room and run the same command again, nothing is lost"
    return f"{path} cannot be written ({error.strerror or error}): mend that and run the same command again"


def atomic_write(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write a file whole or not at all; without a ``mode`` its place decides who can read it (see ``private``)."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with disk_trouble(path), as_placed(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "wb") as file:
                file.write(content)
                if mode is not None and hasattr(os, "fchmod"):  # not on Windows before Python 3.13
                    os.fchmod(file.fileno(), mode)
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that the user may have named, whole or not at all; /dev/stdout and the like stay what they are."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with disk_trouble(path):
            path.write_bytes(content)
        return
    atomic_write(path, content)


def read_record(path: Path, parse: Callable[[Any], Record], remedy: str) -> Record | None:
    """Read one of a course's own JSON files; None if it is not there, a CourseError if it is damaged."""
    if not path.is_file():
        return None
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CourseError(f"{path} is damaged: {remedy}") from error


def write_record(path: Path, content: Any, mode: int | None = 0o600) -> None:
    """Write one of a course's own JSON files, whole or not at all."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    atomic_write(path, text.encode("utf-8", "replace"), mode)


def unfinished(path: Path) -> list[Path]:
    """Find what writers of a file left beside it when they were killed."""
    begins = f".{path.name}."
    leftovers = path.parent.glob(f"{glob.escape(begins)}*")
    return sorted(leftover for leftover in leftovers if leftover.name.removeprefix(begins).isdigit())


class Shelf:
    """Graded notebooks that are not yet in the gradebook, those of each student in a JSON file beside the ledger."""

    def __init__(self, folder: Path) -> None:
        """Keep them in this folder."""
        self._folder = folder / "waiting"

    def path(self, student: str) -> Path:
        """Where a student's notebooks are kept."""
        # Any folder's name can be a student's id, so it cannot name a file of ours as it is.
        return self._folder / (hashlib.sha256(student.encode()).hexdigest() + ".json")

    def store(self, student: str, notebooks: str) -> None:
        """Keep notebooks."""
        # Not synced: what a power cut leaves of it is no JSON, and is then graded again.
        atomic_write(self.path(student), notebooks.encode("utf-8", "replace"))

    def get(self, student: str) -> str | None:
        """The notebooks, None if they are not there whole."""
        try:
            text = self.path(student).read_text(encoding="utf-8")
            json.loads(text)
        except (OSError, ValueError):
            return None
        return text

    def drop(self, student: str) -> None:
        """Forget notebooks that have been entered."""
        with contextlib.suppress(OSError):
            self.path(student).unlink()

    def clear(self) -> None:
        """Forget all of an earlier run's."""
        shutil.rmtree(self._folder, ignore_errors=True)
