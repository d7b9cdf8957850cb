"""Looks at a submission from outside, ten times a second: at its memory, and at the time that it had.

Time for which it waited for a processor is not counted, as long as all its processes used less than the limit.
"""

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox.cgroups import Group
from softlookup_grader.sandbox.ends import Ending, RunEnd
from softlookup_grader.sandbox.processes import ProcessTimes, holds_more, process_times

GRACE_S = 3.0  # how much longer than its time limit a submission may stay silent before it is killed

DEAF = Ending(RunEnd.TIME, "it did not stop when its time was over")
OVERTIME = Ending(RunEnd.TIME, "it was still running when the time for a whole submission was over")

MOST = 3  # so many times its limit a request may last by the clock, on a machine that has no processor for it

_WATCH_S = 0.1
_CROWDED = 0.1
_SOON = 0.05  # the part of its time for which nobody looks at a request's processes: most answers are there by then


@dataclass
class _Request:
    start_s: float
    seconds: float
    before: ProcessTimes | None = None
    waited: float = 0.0
    rung: float = 0.0


class _Looking:
    """The thread that looks: begun with the first watch of a process, at rest while there is none."""

    def __init__(self) -> None:
        self._there = threading.Condition()
        self._looks: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None

    def watch(self, inspect: Callable[[], None]) -> None:
        """Look, from now on."""
        with self._there:
            self._looks.append(inspect)
            if self._thread is None or not self._thread.is_alive():  # a fork does not take it along
                self._thread = threading.Thread(target=self._all, daemon=True)
                self._thread.start()
            self._there.notify()

    def leave(self, inspect: Callable[[], None]) -> None:
        """Look no longer: when this returns, nobody does."""
        with self._there:
            self._looks.remove(inspect)

    def _all(self) -> None:
        while True:
            time.sleep(_WATCH_S)
            with self._there:
                while not self._looks:
                    self._there.wait()
                for inspect in self._looks:
                    try:
                        inspect()
                    except Exception:  # what cannot be looked at hinders no other
                        traceback.print_exc()


_LOOKING = _Looking()


class Watch:
    """Watches one submission from now until it is closed; one thread looks at all that this process watches."""

    def __init__(
        self,
        pid: int,
        limits: Limits,
        until: float,
        group: Group | None,
        kill: Callable[[Ending], object],
        ring: Callable[[], None],
        times: Callable[[int, Group | None], ProcessTimes] = process_times,
        looking: _Looking | None = None,
    ) -> None:
        self._times, self._looking = times, looking or _LOOKING
        self._pid, self._limits, self._until, self._group = pid, limits, until, group
        self._kill, self._ring = kill, ring
        self.waited, self.crowded = 0.0, False
        self._waited_before = 0.0
        self._request: _Request | None = None
        self._lock = threading.Lock()
        self._looking.watch(self.look)

    def most(self, seconds: float) -> float:
        """When a request with that limit rings by itself, in seconds; in a sandbox it is rung before from outside."""
        return seconds if self._group is None else MOST * seconds + GRACE_S

    def begin(self, seconds: float) -> None:
        """A request begins that may take so many seconds."""
        with self._lock:
            self._request = _Request(time.monotonic(), seconds)

    def end(self) -> None:
        """The request is over."""
        with self._lock:
            self.waited = self._request.waited if self._request else 0.0
            self._waited_before += self.waited
            self._request = None

    def close(self) -> None:
        """Look no longer."""
        self._looking.leave(self.look)

    def too_much(self) -> Ending:
        """How it ends where it held too much memory."""
        return Ending(RunEnd.MEMORY, f"its processes held more than {self._limits.memory_mb:,} MB of memory")

    def look(self) -> None:
        """Look once."""
        with self._lock:
            self._look_at_time(time.monotonic(), self._request)
        if self._group is None:
            return
        counted = self._group.memory is not None
        if self._group.out_of_memory() if counted else holds_more(self._pid, self._limits.memory_mb):
            self._kill(self.too_much())

    def _look_at_time(self, now: float, request: _Request | None) -> None:
        if request is not None and self._group is not None:
            self._look_at_request(now, request)
        if now > self._until:
            waited = self._waited_before + (request.waited if request else 0.0)
            self.crowded = self.crowded or waited > _CROWDED * self._limits.total_s
            self._kill(OVERTIME)

    def _look_at_request(self, now: float, request: _Request) -> None:
        """Ring where its time is over, and end it where it does not hear that."""
        if request.rung:
            if now > request.rung + GRACE_S:
                self._kill(DEAF)
            self._ring()  # again: the alarm may fall into a bare except
            return
        if now - request.start_s < _SOON * request.seconds:
            return
        there = self._times(self._pid, self._group)
        if request.before is None:
            request.before = there
        used = there.used_s - request.before.used_s
        request.waited = there.waited_since(request.before) if used < request.seconds else 0.0
        lasted = now - request.start_s
        if lasted >= MOST * request.seconds or lasted - request.waited >= request.seconds:
            self.crowded = self.crowded or lasted - request.waited < request.seconds
            request.rung = now
            self._ring()
