"""What the processes of a submission hold together, seen from outside; for where no control group counts it."""

import contextlib
import os
import resource

from softlookup_grader.sandbox.processes import family, file_of

# What several processes share (Pss_Shmem) is counted with what each has alone.
_COUNTED = ("Private_", "Pss_Shmem")


def holds_more(first: int, memory_mb: int) -> bool:
    """Say whether a process and those below it hold too much memory, in megabytes, that they share with nobody else."""
    page = resource.getpagesize()
    # What they hold with all that they share is quickly asked, and mostly little enough.
    whole = {thread: pages * page for thread, pages in map(_shown, family(first))}
    if sum(whole.values()) <= memory_mb << 20:
        return False
    return sum(_own(process, resident_bytes) for process, resident_bytes in whole.items()) > memory_mb << 20


def _shown(process: int) -> tuple[int, int]:
    """The thread that shows the memory of a process, and how many pages it shows.

    That is the first thread, unless it has ended: it shows nothing then, whatever the other threads hold.
    """
    if pages := _pages(process):
        return process, pages
    with contextlib.suppress(OSError):
        for thread in map(int, os.listdir(f"/proc/{process}/task")):
            if pages := _pages(thread):
                return thread, pages
    return process, 0


def _pages(thread: int) -> int:
    return int((file_of(thread, "statm") or "0 0").split()[1])


def _own(process: int, resident_bytes: int) -> int:
    """Bytes that a process shares with nobody else; all that it holds where it does not let itself be looked into."""
    lines = file_of(process, "smaps_rollup").splitlines()
    counted = [int(line.split()[1]) << 10 for line in lines if line.startswith(_COUNTED)]
    return sum(counted) if counted else resident_bytes
