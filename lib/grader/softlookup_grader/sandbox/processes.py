"""The processes of a submission as the machine sees them: the processor time that they had, and their memory."""

import contextlib
import functools
import os
import resource
from dataclasses import dataclass, field
from pathlib import Path

from softlookup_grader.sandbox.cgroups import Group

_TICKS = os.sysconf("SC_CLK_TCK")
# Where things stand in /proc/PID/stat, from the state on: the parent, then ticks of its own and of children that ended.
_PARENT, _TIMES, _OWN_TIMES, _NICE, _POLICY = 1, slice(11, 15), slice(11, 13), 16, 38
# What several processes share (Pss_Shmem) is counted with what each has alone.
_COUNTED = ("Private_", "Pss_Shmem")


@dataclass(frozen=True)
class ProcessTimes:
    """What a submission's processes had of the processors so far."""

    used_s: float = 0.0  # seconds of processor time of all of them
    # seconds that each was ready to run and waited for a processor, by its number
    waited_s: dict[int, float] = field(default_factory=dict)
    # seconds of processor time that each had for itself, by its number
    own_s: dict[int, float] = field(default_factory=dict)

    def waited_since(self, before: "ProcessTimes") -> float:
        """The longest that one of them waited since then for a processor that the others of them did not have."""
        used = self.used_s - before.used_s

        def waited(process: int) -> float:
            others = used - (self.own_s.get(process, 0.0) - before.own_s.get(process, 0.0))
            return self.waited_s[process] - before.waited_s.get(process, 0.0) - max(0.0, others)

        return max([0.0, *map(waited, self.waited_s)])


def family(first: int) -> dict[int, list[str]]:
    """A process and all below it, orphans of its namespaces included, each with the fields of its /proc/PID/stat."""
    every: dict[int, list[str]] = {}
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (text := file_of(int(entry), "stat")):
            every[int(entry)] = fields = text.rpartition(")")[2].split()
            children.setdefault(int(fields[_PARENT]), []).append(int(entry))
    processes = [first] if first in every else []
    for process in processes:
        processes += children.get(process, ())
    return {process: every[process] for process in processes}


def process_times(first: int, group: Group | None = None) -> ProcessTimes:
    """What a process and all below it had; only a control group counts children that ended with nobody waiting."""
    counted_s = None if group is None else group.used_s()
    used, waited, own_s = 0, {}, {}
    for process, fields in family(first).items():
        used += sum(map(int, fields[_TIMES]))
        own_s[process] = sum(map(int, fields[_OWN_TIMES])) / _TICKS
        if _wants_its_turn(fields):
            waited[process] = int((file_of(process, "schedstat") or "0 0").split()[1]) / 1e9
    return ProcessTimes(used / _TICKS if counted_s is None else counted_s, waited, own_s)


def _wants_its_turn(fields: list[str]) -> bool:
    """Whether a process has the grader's own priority: one that lowered it waits because it chose to."""
    nice, policy = _own_priority()
    return int(fields[_NICE]) <= nice and int(fields[_POLICY]) == policy


@functools.cache
def _own_priority() -> tuple[int, int]:
    return os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)


def file_of(process: int, name: str) -> str:
    """A file of a process; empty if it is gone, or does not show it."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/{name}").read_text(errors="replace")
    return ""


def holds_more(first: int, memory_mb: int) -> bool:
    """Whether processes hold too much memory that they share with nobody else, where no control group counts it."""
    page = resource.getpagesize()
    # What they hold with all that they share is quickly asked, and mostly little enough.
    whole = {thread: pages * page for thread, pages in map(_shown, family(first))}
    if sum(whole.values()) <= memory_mb << 20:
        return False
    return sum(_own(process, resident_bytes) for process, resident_bytes in whole.items()) > memory_mb << 20


def _shown(process: int) -> tuple[int, int]:
    """The thread that shows a process's memory, and its pages: the first one, or another if that has ended."""
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
