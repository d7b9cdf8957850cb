"""Around a check at home: a time limit, one thread, gradients switched on, no noise from numpy."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from softlookup.checking.inside.probe import TimeIsUp


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeIsUp`` in this thread after so many seconds, where the system has an interval timer.

    It rings again every tenth of a second, since an alarm may fall into a bare ``except:``. A loop that swallows every
    alarm so goes on, as it would swallow an interrupt; the kernel has to be restarted then.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    over = False

    def ring(signum: int, frame: Any) -> None:
        if not over:
            raise TimeIsUp

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.1)
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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

    own: Any = torch.compile
    with contextlib.ExitStack() as stack:

        def in_eager(*args: Any, **named: Any) -> Any:
            made = own(*args, **named)
            stack.enter_context(torch.compiler.set_stance("force_eager"))
            return made

        if "torch._dynamo" in sys.modules:
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        torch.compile = in_eager
        try:
            yield
        finally:
            torch.compile = own
