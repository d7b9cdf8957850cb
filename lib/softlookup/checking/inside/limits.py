"""Around a check: the time that a student's code may take, one thread, gradients switched on, no noise from numpy."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from softlookup.checking.inside.probe import TimeIsUp
from softlookup.torch_internals import compiler_is_loaded


class Clock:
    """Seconds that some code may take, in as many parts as it comes; what is done in its service does not count.

    Args:
        seconds: How long all parts together may take; None for as long as they like.
    """

    def __init__(self, seconds: float | None) -> None:
        self.left = seconds
        self._runs, self._since = False, 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Raise ``TimeIsUp`` in this thread once the seconds are over, where the system has an interval timer.

        It rings again every tenth of a second, since an alarm may fall into a bare ``except:``. A loop that swallows
        every alarm so goes on, as it would swallow an interrupt; the kernel has to be restarted then.
        """
        if self.left is None or self._runs or not _can_ring():
            yield
            return
        over = False

        def ring(signum: int, frame: Any) -> None:
            if not over:
                raise TimeIsUp

        before = signal.signal(signal.SIGALRM, ring)
        try:
            self._go()
            yield
        finally:
            over = True
            self._halt()
            signal.signal(signal.SIGALRM, before)

    @contextlib.contextmanager
    def halted(self) -> Iterator[None]:
        """Stop the clock while something else works for the code that it runs for."""
        if not self._runs:
            yield
            return
        self._halt()
        try:
            yield
        finally:
            self._go()

    def _go(self) -> None:
        assert self.left is not None
        self._runs, self._since = True, time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, max(self.left, 1e-6), 0.1)

    def _halt(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._runs, self.left = False, (self.left or 0.0) - (time.monotonic() - self._since)


def _can_ring() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def time_limit(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Raise ``TimeIsUp`` in this thread after so many seconds, where the system has an interval timer."""
    return Clock(seconds).running()


@contextlib.contextmanager
def calm_torch() -> Iterator[None]:
    """One thread (small tensors would wait for each other), gradients on, nothing compiled, whatever was switched."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(False), torch.enable_grad(), np.errstate(all="ignore"):
            with torch.autograd.set_detect_anomaly(False), uncompiled():
                yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def uncompiled() -> Iterator[None]:
    """Run as written what ``torch.compile`` has made, or makes meanwhile.

    Compiling needs a C++ compiler and many seconds, and the compiled code is the same function. To import torch's
    compiler takes a second, so this reaches it only once somebody else has imported it.
    """
    import torch

    torch_compile: Any = torch.compile
    with contextlib.ExitStack() as stack:

        def in_eager(*args: Any, **named: Any) -> Any:
            made = torch_compile(*args, **named)
            stack.enter_context(torch.compiler.set_stance("force_eager"))
            return made

        if compiler_is_loaded():
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        torch.compile = in_eager
        try:
            yield
        finally:
            torch.compile = torch_compile
