"""Folders that hold the library as a submission may see it: one for each zygote, and none that outlives its grader."""

import atexit
import contextlib
import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from softlookup.grading.data.errors import CourseError
from softlookup.grading.data.locks import lock

PREFIX = "softlookup-stage-"
_YOUNG_S = 60.0
_held: dict[Path, int] = {}


def new_stage() -> Path:
    """Make an empty folder that is removed when this process ends, and remove those that killed graders left.

    Returns:
        The folder. A lock on it says that it is in use, for as long as this process lives.
    """
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for gone in [stage for stage in _held if not stage.exists()]:
        os.close(_held.pop(gone))
    # The descriptor stays open as long as the folder is there, since the lock would go with it.
    _held[folder] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    lock(_held[folder], shared=True)
    return folder


def sweep() -> None:
    """Remove this account's folders that no process holds. A young one may be without its lock still, and stays."""
    for old in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            fd = os.open(old, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                about = os.fstat(fd)
                if about.st_uid == os.geteuid() and time.time() - about.st_mtime > _YOUNG_S:
                    lock(fd, wait=False)
                    shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(fd)


@contextlib.contextmanager
def needs_room() -> Iterator[None]:
    """Turn what the disk refuses into one sentence.

    Raises:
        CourseError: If it refuses something.
    """
    try:
        yield
    except OSError as error:
        # Where several files cannot be copied, the exception carries no number.
        says = os.strerror(error.errno or errno.ENOSPC)
        raise CourseError(
            f"the library cannot be copied to {tempfile.gettempdir()} for the sandbox ({says}): make room there, "
            "or let TMPDIR name another folder"
        ) from error
