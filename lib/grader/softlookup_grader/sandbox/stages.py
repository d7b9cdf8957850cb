"""Folders that hold the library as a submission may see it: one for each zygote, and none that outlives its grader."""

import atexit
import contextlib
import errno
import os
import shutil
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.locks import lock

PREFIX = "softlookup-stage-"
_YOUNG_S = 10.0  # a folder may be so old and without its lock still

_FOREIGN_S = 7 * 24 * 3600.0
"""No grader works so long on what another machine, or this one before it was started again, has made."""

_held: dict[Path, int] = {}


def new_stage() -> Path:
    """Make an empty folder, locked and removed with this process, and remove those that killed graders left."""
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{_machine()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for gone in [stage for stage in _held if not stage.exists()]:
        os.close(_held.pop(gone))
    # The descriptor stays open as long as the folder is there, since the lock would go with it.
    _held[folder] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    lock(_held[folder], shared=True)
    return folder


def sweep() -> None:
    """Remove this account's folders that no process has a lock on, but for young ones and other machines' new ones."""
    local = f"{PREFIX}{_machine()}-"
    for old in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            fd = os.open(old, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                about = os.fstat(fd)
                least_s = _YOUNG_S if old.name.startswith(local) else _FOREIGN_S
                if about.st_uid == os.geteuid() and time.time() - about.st_mtime > least_s:
                    lock(fd, wait=False)
                    shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(fd)


def _machine() -> str:
    """A number of this machine since it was started, the same in all of its containers."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
    except OSError:
        boot = os.uname().nodename.encode()
    return f"{zlib.crc32(boot):08x}"


@contextlib.contextmanager
def needs_room() -> Iterator[None]:
    """Turn what the disk refuses into one sentence, that of a CourseError."""
    try:
        yield
    except OSError as error:
        # Where several files cannot be copied, the exception carries no number.
        says = os.strerror(error.errno or errno.ENOSPC)
        raise CourseError(
            f"the library cannot be copied to {tempfile.gettempdir()} for the sandbox ({says}): make room there, "
            "or let TMPDIR name another folder"
        ) from error
