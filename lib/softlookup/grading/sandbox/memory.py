"""What the processes of a submission hold together, seen from outside."""

import contextlib
import os
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path


def holds_more(space: int, memory_mb: int) -> bool:
    """Say whether the processes of one namespace hold too much memory that they share with nobody else.

    Args:
        space: The number of their namespace of processes, as /proc/PID/ns/pid has it.
        memory_mb: What is too much, in megabytes.
    """
    members = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit() and os.stat(f"/proc/{entry}/ns/pid").st_ino == space:
                members.append(Path("/proc", entry))
    # What they hold with all that they share is quickly asked, and mostly little enough.
    pages = sum(int(text.split()[1]) for text in _texts(members, "statm"))
    if pages * resource.getpagesize() <= memory_mb << 20:
        return False
    # What several of them share (Pss_Shmem) is counted with what each has alone.
    kinds = ("Private_", "Pss_Shmem")
    lines = [line for text in _texts(members, "smaps_rollup") for line in text.splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith(kinds)) > memory_mb << 10


def _texts(processes: Sequence[Path], name: str) -> Iterator[str]:
    """A file of each process that is still there."""
    for process in processes:
        with contextlib.suppress(OSError):
            yield (process / name).read_text()
