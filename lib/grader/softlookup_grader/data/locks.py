"""Locks on open files, by ``fcntl`` or as Windows has them; the system gives them back when their process ends."""

import os
import time

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

_ASK_AGAIN_S = 0.05
_FAR = 2**30  # the byte that is locked on Windows: far behind what is written, since a locked byte cannot be read there


def lock(fd: int, *, wait: bool = True, shared: bool = False) -> None:
    """Lock an open file against other processes; ``shared`` lets others share it, which Windows does not know."""
    if fcntl is not None:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        return
    while not _locked_on_windows(fd):
        if not wait:
            raise BlockingIOError("another process holds the lock")
        time.sleep(_ASK_AGAIN_S)


def _locked_on_windows(fd: int) -> bool:
    """Try to lock one byte; the position in the file is left as it was."""
    import msvcrt

    at = os.lseek(fd, 0, os.SEEK_CUR)
    os.lseek(fd, _FAR, os.SEEK_SET)
    try:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    finally:
        os.lseek(fd, at, os.SEEK_SET)
    return True
