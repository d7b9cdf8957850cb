"""Ctrl-C that is not lost: Python drops what is raised while an object is finalised, with a line on stderr at most."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def kept_interrupts() -> Iterator[Callable[[], None]]:
    """Remember a Ctrl-C until the work can be stopped, where this is the main thread and nobody else handles it."""
    pressed = False

    def on_interrupt(signal_number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        signal.default_int_handler(signal_number, frame)

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    replaces_handler = threading.current_thread() is threading.main_thread()
    replaces_handler = replaces_handler and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if replaces_handler:
        signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield check
    finally:
        if replaces_handler:
            signal.signal(signal.SIGINT, signal.default_int_handler)
