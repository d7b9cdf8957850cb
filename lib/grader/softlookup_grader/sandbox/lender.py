"""Where lent functions are computed: in a process of its own for each submission, which may be killed.

Forked at the first call with everything imported, it gets limits and no descriptor but its connection; a call that
exceeds them ends it. The judge may have other threads then, whose locks the child must not wait for: it imports, logs
and prints nothing, and leaves without Python's end.
"""

import ctypes
import gc
import math
import os
import resource
import signal
import socket
import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.work import Limits
from softlookup_grader.sandbox.lending import TOO_MUCH, Sound, computed
from softlookup_inside.sandbox import frames

MOST = 3.0  # so many times its limit a lent call may last by the clock, on a machine that has no processor for it

MEMORY_MB = 512  # megabytes of addresses that lent functions may take beside those that the judge has

_GPU = (
    "gradients of lent functions cannot be computed in a process that has used a GPU: start the worker with the "
    "environment variable CUDA_VISIBLE_DEVICES set to nothing"
)
_START_S = 30.0
_PR_SET_PDEATHSIG = 1


class LenderError(RuntimeError):
    """No process can be started for lent functions; the message says why. No submission is to blame."""


class Lender:
    """Computes lent functions for one submission."""

    def __init__(self, reference_function: Sound, cpu_s: int, call_s: int = Limits.call_s) -> None:
        self._most_s = MOST * call_s
        judge_end, lender_end = socket.socketpair()
        self.line = frames.Channel(judge_end)
        # Made before the fork: loading a library takes a lock.
        libc, judge = ctypes.CDLL(None, use_errno=True), os.getpid()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of threads beside this one, see above
                self.pid = os.fork()
        except OSError as error:
            judge_end.close()
            lender_end.close()
            raise LenderError(f"no process can be started for lent functions ({error.strerror})") from None
        if self.pid == 0:
            _live(lender_end, reference_function, (call_s, cpu_s), libc, judge)
        lender_end.close()
        try:
            self.line.receive(time.monotonic() + _START_S)
        except frames.FrameError as error:
            self.close()
            raise LenderError(f"the process for lent functions does not start ({error})") from None

    def answer(
        self, call: dict[str, Any], arrays: Sequence[np.ndarray], deadline: float
    ) -> tuple[dict[str, Any], list[np.ndarray]] | None:
        """Compute one call, of a frame and its arrays; None if it took too much, and the process is gone then."""
        until = min(deadline, time.monotonic() + self._most_s)
        try:
            self.line.send(call, arrays, until)
            header, results = self.line.receive(until)
        except frames.FrameError:
            self.close()
            return None
        if "unable" in header:
            raise CourseError(_GPU)
        return header, results

    def close(self) -> None:
        """End it."""
        if self.pid > 0:
            os.kill(self.pid, signal.SIGKILL)  # it is not waited for yet, so the number is still its own
            os.waitpid(self.pid, 0)
            self.pid = -1
        self.line.link.close()


def _live(link: socket.socket, reference_function: Sound, limits_s: tuple[int, int], libc: Any, judge: int) -> NoReturn:
    """The process's life, from the fork to its end."""
    try:
        signal.set_wakeup_fd(-1)
        for signal_number in (signal.SIGTERM, signal.SIGALRM):
            signal.signal(signal_number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != judge:
            os._exit(0)
        line = frames.Channel(_alone(link))
        _limit(limits_s[1])
        gc.freeze()
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(1)
        line.send({})
        while True:
            _answer(line, reference_function, *limits_s)
    finally:
        os._exit(0)


def _alone(link: socket.socket) -> socket.socket:
    """Keep this connection, and let go of every other descriptor: sandboxes, links, the gradebook."""
    fd = os.dup2(link.detach(), 3) if link.fileno() != 3 else link.detach()
    os.closerange(4, 1 << 20)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard_fd in (0, 1, 2):
        os.dup2(nothing, standard_fd)
    os.close(nothing)
    return socket.socket(fileno=fd)


def _limit(cpu_s: int) -> None:
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    for resource_id, most in (
        (resource.RLIMIT_AS, size + (MEMORY_MB << 20)),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(resource_id, (most, most))


def _answer(line: frames.Channel, reference_function: Sound, call_s: int, cpu_s: int) -> None:
    call, arrays = line.receive()
    used = resource.getrusage(resource.RUSAGE_SELF)
    until_s = math.ceil(used.ru_utime + used.ru_stime) + call_s
    resource.setrlimit(resource.RLIMIT_CPU, (min(until_s, cpu_s), cpu_s))
    header, results = computed(reference_function, call, arrays)
    try:
        line.send(header, results)
    except frames.ConnectionClosed:
        raise
    except (frames.FrameError, MemoryError):  # more than a frame holds
        line.send({"raised": TOO_MUCH})
