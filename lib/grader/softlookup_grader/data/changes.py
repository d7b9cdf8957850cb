"""Files that others write: which are new or changed since they were dealt with, and which are still being written."""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

PATIENCE_S = 5.0  # seconds for which what cannot be read may still be on its way

Signature = tuple[tuple[str, int, int], ...]
"""What tells one state of a folder or a file from another: paths, times of change and sizes; empty if it is gone."""


def signature(path: Path) -> Signature:
    """Look at a file, or at a folder and all that is in it; no link is followed."""
    # Not the time of modification, which rsync, cp and unzip set back: the kernel's own cannot be.
    entries = []
    with contextlib.suppress(OSError):
        about = path.lstat()
        entries.append(("", about.st_ctime_ns, about.st_size))
        folders = [os.fspath(path)] if stat.S_ISDIR(about.st_mode) else []
        while folders:
            with os.scandir(folders.pop()) as listing:
                for entry in listing:
                    about = entry.stat(follow_symlinks=False)
                    entries.append((entry.path, about.st_ctime_ns, about.st_size))
                    if stat.S_ISDIR(about.st_mode):
                        folders.append(entry.path)
    return tuple(entries)


class Changes:
    """Folders or files that are looked at again and again, by name."""

    def __init__(self, is_torn: Callable[[Path], bool]) -> None:
        """``is_torn`` says whether something cannot be read yet; it is believed for ``PATIENCE_S``."""
        self._is_torn = is_torn
        self._states: dict[str, tuple[Signature, float]] = {}
        self._done: dict[str, Signature] = {}
        self.arriving: frozenset[str] = frozenset()  # what is still being written
        self.ready: frozenset[str] = frozenset()  # what is new or changed, and was the same at the look before

    def poll(self, paths: Mapping[str, Path]) -> None:
        """Look at all of them, as they are now."""
        now, states = time.monotonic(), {}
        arriving, ready = set[str](), set[str]()
        for name, path in paths.items():
            state = signature(path)
            before, since = self._states.get(name, (None, now))
            states[name] = (state, since if before == state else now)
            if state == self._done.get(name, ()):
                continue
            still = before == state and (_is_old(state, now - states[name][1]) or not self._is_torn(path))
            (ready if still else arriving).add(name)
        self._states, self.arriving, self.ready = states, frozenset(arriving), frozenset(ready)

    def mark_done(self, names: Iterable[str]) -> None:
        """Take some of what is ready as dealt with, in the state in which it was seen."""
        self._done.update((name, self._states[name][0]) for name in names)
        self.ready = self.ready.difference(names)


def _is_old(state: Signature, seen_s: float) -> bool:
    """Whether a state lasts so long that nobody writes any more, by this clock or by that of the files."""
    return seen_s >= PATIENCE_S or max((at_ns for _, at_ns, _ in state), default=0) < (time.time() - PATIENCE_S) * 1e9
