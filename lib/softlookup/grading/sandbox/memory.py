"""What the processes of a submission hold together, seen from outside; for where no control group counts it."""

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

# What several processes share (Pss_Shmem) is counted with what each has alone.
_COUNTED = ("Private_", "Pss_Shmem")


def holds_more(first: int, memory_mb: int) -> bool:
    """Say whether a process and those below it hold too much memory that they share with nobody else.

    Args:
        first: The number of the submission's first process. Whatever it starts stays below it, in namespaces of its
            own too: a process whose parent ends is given to the first process of its namespace.
        memory_mb: What is too much, in megabytes.
    """
    page = resource.getpagesize()
    # What they hold with all that they share is quickly asked, and mostly little enough.
    whole = {process: int(_text(process, "statm", "0 0").split()[1]) * page for process in family(first)}
    if sum(whole.values()) <= memory_mb << 20:
        return False
    return sum(_own(process, held) for process, held in whole.items()) > memory_mb << 20


def family(first: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for process, fields in _stats():
        children.setdefault(int(fields[1]), []).append(process)
    found = [first]
    for process in found:
        found += children.get(process, ())
    return found


def _stats() -> Iterator[tuple[int, list[str]]]:
    """Each process of the machine, with the fields of its stat from the state on."""
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (text := _text(int(entry), "stat", "")):
            yield int(entry), text.rpartition(")")[2].split()


def _own(process: int, held: int) -> int:
    """Bytes that a process shares with nobody else; all that it holds where it does not let itself be looked into."""
    lines = _text(process, "smaps_rollup", "").splitlines()
    counted = [int(line.split()[1]) << 10 for line in lines if line.startswith(_COUNTED)]
    return sum(counted) if counted else held


def _text(process: int, name: str, missing: str) -> str:
    """A file of a process; another text if it is gone, or does not show it."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/{name}").read_text(errors="replace") or missing
    return missing
