"""A control group of the kernel (cgroup) for each submission, where one can be made: memory, and a share of processors.

A group's count is complete, and groups lie beside or below the grader's own, whose limits hold too. See the kernel's
Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst.
"""

import atexit
import contextlib
import functools
import itertools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PREFIX = "softlookup-"
_V1, _V2 = "cgroup", "cgroup2"
_numbers = itertools.count()
_left: list[Path] = []


@dataclass(frozen=True)
class Places:
    """The folders in which groups can be made."""

    memory: Path | None = None  # where memory is limited; None where it cannot be
    cpu: Path | None = None  # where each group has an equal share of the processors
    version: int = 1  # of the interface, 1 or 2
    counts: Path | None = None  # where the processor time of a group is counted; None where it is not

    @property
    def folders(self) -> tuple[Path, ...]:
        """All of them, each once."""
        return tuple(folder for folder in dict.fromkeys((self.memory, self.cpu, self.counts)) if folder is not None)


class Group:
    """One submission's group. A process that is moved into it stays there with all that it starts later."""

    def __init__(self, memory_mb: int) -> None:
        sweep()
        there = places()
        name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
        self.version = there.version
        self.memory = there.memory / name if there.memory else None
        self.counts = there.counts / name if there.counts else None
        self.folders = [folder / name for folder in there.folders]
        try:
            for folder in self.folders:
                folder.mkdir()
            if self.memory is not None:
                _limit(self.memory, memory_mb, self.version)
        except OSError:
            self.close()
            raise

    def take(self, pid: int) -> None:
        """Move a process into the group; OSError if the kernel refuses it."""
        for folder in self.folders:
            _write(folder / "cgroup.procs", str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process of the group, since there was no memory left for it."""
        if self.memory is None:
            return False
        memory_held = self.memory / ("memory.oom_control" if self.version == 1 else "memory.events")
        with contextlib.suppress(OSError):
            counts = dict(line.split() for line in memory_held.read_text().splitlines())
            return counts.get("oom_kill", "0") != "0"
        return False

    def used_s(self) -> float | None:
        """Seconds of processor time that its processes had, with those that ended; None where nobody counts it."""
        if self.counts is None:
            return None
        with contextlib.suppress(OSError, ValueError, KeyError):
            if self.version == 1:
                return int((self.counts / "cpuacct.usage").read_text()) / 1e9
            counts = dict(line.split() for line in (self.counts / "cpu.stat").read_text().splitlines())
            return int(counts["usage_usec"]) / 1e6
        return None

    def close(self) -> None:
        """Remove the group as soon as its processes are gone; this does not wait for them."""
        _left.extend(self.folders)
        self.folders = []
        sweep()


@functools.cache
def places() -> Places:
    """Find out once for each process where groups can be made, and remove those that a killed grader left."""
    group_places = _places(Path("/proc/self/mountinfo"), Path("/proc/self/cgroup"))
    for folder in group_places.folders:
        for old in folder.glob(f"{PREFIX}*"):
            if not Path("/proc", old.name.removeprefix(PREFIX).split("-")[0]).exists():
                with contextlib.suppress(OSError):
                    old.rmdir()
    return group_places


def limits_memory() -> bool:
    """Whether each submission gets a group here that limits its memory."""
    return places().memory is not None


def memory_held() -> str:
    """What holds on this machine, in one sentence for the instructor."""
    there = places()
    if there.memory is None:
        return (
            "no control group can be made here: the memory of each process is limited, and that of a submission is "
            "watched from outside (see 'What is trusted' in the instructor's guide)"
        )
    processors_clause = "" if there.cpu is None else ", and shares the processors equally among them"
    return f"each submission has a control group: the kernel counts all of its memory{processors_clause}"


def sweep(patience_s: float = 0.0) -> None:
    """Remove the groups that were closed and are empty by now; wait so long for processes that are still ending."""
    until = time.monotonic() + patience_s
    while _left:
        for folder in tuple(_left):
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                continue  # its processes are still ending
            with contextlib.suppress(ValueError):
                _left.remove(folder)
        if time.monotonic() >= until:
            return
        time.sleep(0.01)


atexit.register(sweep, 1.0)


def _places(mounts: Path, groups: Path, works: Callable[[Path, int], bool] | None = None) -> Places:
    """The folders, from what /proc/self says of mounts and of the grader's own groups; they are tried out."""
    works = works or _works
    where: dict[str, Path] = {}
    try:
        inside = {kinds: path for _, kinds, path in (line.split(":", 2) for line in groups.read_text().splitlines())}
        for line in mounts.read_text().splitlines():
            before, _, after = line.partition(" - ")
            root, point = before.split()[3:5]
            file_system, _, options = after.split()[:3]
            names = {_V1: options.split(","), _V2: [""]}.get(file_system, [])
            for kinds, path in inside.items():
                if set(kinds.split(",")) & set(names) and Path(path).is_relative_to(root):
                    group_folder = Path(point, Path(path).relative_to(root))
                    where.update(dict.fromkeys(kinds.split(","), group_folder))
    except (OSError, ValueError):
        return Places()
    if "memory" in where:
        cpu, counts = (folder if folder and works(folder, 0) else None for folder in map(where.get, ("cpu", "cpuacct")))
        return Places(where["memory"] if works(where["memory"], 1) else None, cpu, 1, counts)
    if "" in where:
        # A group with processes of its own has no groups below it that limit anything, but for the topmost one.
        for folder in (where[""], where[""].parent):
            controllers = _words(folder / "cgroup.subtree_control")
            if "memory" in controllers and os.access(folder / "cgroup.procs", os.W_OK) and works(folder, 2):
                return Places(folder, folder if "cpu" in controllers else None, 2, folder)
    return Places()


def _works(folder: Path, version: int) -> bool:
    """Whether a group can be made in a folder, and be given a limit (none where the version is 0)."""
    trial = folder / f"{PREFIX}{os.getpid()}-trial"
    try:
        trial.mkdir()
        try:
            if version:
                _limit(trial, 64, version)
        finally:
            trial.rmdir()
    except OSError:
        return False
    return True


def _limit(folder: Path, memory_mb: int, version: int) -> None:
    most = str(memory_mb << 20)
    if version == 2:
        _write(folder / "memory.max", most)
        for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
            with contextlib.suppress(FileNotFoundError):
                _write(folder / name, value)
        return
    _write(folder / "memory.limit_in_bytes", most)
    with contextlib.suppress(OSError):  # where swap is not counted, there is no such file, or it takes nothing
        _write(folder / "memory.memsw.limit_in_bytes", most)


def _write(path: Path, text: str) -> None:
    """Write into a file of the kernel's, which is there already."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _words(path: Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text().split()
    return []
