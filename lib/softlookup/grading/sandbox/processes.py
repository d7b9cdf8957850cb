"""The processes of a submission as the machine sees them, and the processor time that they had."""

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
# Where things stand in /proc/PID/stat, from the state on: the parent, then ticks of its own and of children that ended.
_PARENT, _TIMES = 1, slice(11, 15)


@dataclass(frozen=True)
class Standing:
    """What a submission's processes had of the processors so far.

    Attributes:
        used_s: Seconds of processor time of all of them.
        waited_s: Seconds that each was ready to run and waited for a processor, by its number.
    """

    used_s: float = 0.0
    waited_s: dict[int, float] = field(default_factory=dict)

    def waited_since(self, before: "Standing") -> float:
        """The longest that one of them waited for a processor since then."""
        return max((waited - before.waited_s.get(one, 0.0) for one, waited in self.waited_s.items()), default=0.0)


def family(first: int) -> dict[int, list[str]]:
    """A process and all below it, each with the fields of its /proc/PID/stat from the state on.

    Whatever a submission starts stays below its first process, in namespaces of its own too: a process whose parent
    ends is given to the first process of its namespace.
    """
    every: dict[int, list[str]] = {}
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (text := file_of(int(entry), "stat")):
            every[int(entry)] = fields = text.rpartition(")")[2].split()
            children.setdefault(int(fields[_PARENT]), []).append(int(entry))
    found = [first] if first in every else []
    for process in found:
        found += children.get(process, ())
    return {process: every[process] for process in found}


def standing(first: int) -> Standing:
    """What a process and all below it had of the processors so far."""
    used, waited = 0, {}
    for process, fields in family(first).items():
        used += sum(map(int, fields[_TIMES]))
        waited[process] = int((file_of(process, "schedstat") or "0 0").split()[1]) / 1e9
    return Standing(used / _TICKS, waited)


def file_of(process: int, name: str) -> str:
    """A file of a process; empty if it is gone, or does not show it."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/{name}").read_text(errors="replace")
    return ""
