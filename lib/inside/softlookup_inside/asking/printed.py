"""What a student's code prints, warns and logs: caught by a stream in place of ``sys.stdout`` and ``sys.stderr``."""

import contextlib
import io
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from operator import is_not
from typing import Any

import numpy as np


class Printed(io.TextIOBase):
    """A text stream that hands what is written to a function, and has what programs ask of a standard stream."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, keep: Callable[[str], object], name: str = "stdout") -> None:
        self.name, self._keep = name, keep
        self._nowhere: int | None = None
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        """It takes text."""
        return True

    def write(self, text: str) -> int:
        """Hand on a text: a ValueError if the stream is closed, a TypeError if it is no text."""
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._keep(text)
        return len(text)

    def reconfigure(self, **how: Any) -> None:
        """Take note of nothing: text stays text."""

    def fileno(self) -> int:
        """A descriptor for programs that are started with this stream; what they write to it is not kept."""
        if self._nowhere is None:
            self._nowhere = os.open(os.devnull, os.O_WRONLY)
        return self._nowhere

    def close(self) -> None:
        """Take no more text."""
        if self._nowhere is not None:
            with contextlib.suppress(OSError):  # somebody closed it already
                os.close(self._nowhere)
            self._nowhere = None
        super().close()


class _Bytes(io.RawIOBase):
    """The bytes of a text stream: what is written is read as UTF-8."""

    def __init__(self, text: Printed) -> None:
        self._text = text

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        data = bytes(some)
        self._text.write(data.decode("utf-8", "replace"))
        return len(data)

    def fileno(self) -> int:
        return self._text.fileno()


_handlers: tuple[list[Any], list[Any]] = ([], [])
"""The references to handlers that logging held when it was looked at last, and those to handlers with streams."""


def _stream_handlers() -> list[Any]:
    """All log handlers that write to a stream, from logging's list: to ask each logger takes longer than answers do."""
    global _handlers
    there = list(getattr(logging, "_handlerList", ()))
    # By identity: a student's handler may say of itself what it is equal to.
    if len(there) != len(_handlers[0]) or any(map(is_not, there, _handlers[0])):
        _handlers = there, [reference for reference in there if _has_stream(reference())]
    return [handler for reference in _handlers[1] if (handler := reference()) is not None]


def _has_stream(handler: Any) -> bool:
    # The last resort has no stream of its own: it looks for stderr when it is used.
    kinds = (logging.StreamHandler, logging.FileHandler)
    return isinstance(handler, kinds[0]) and not isinstance(handler, kinds[1]) and "stream" in vars(handler)


def first_characters(text: str, most: int) -> str:
    """The beginning of a text that may be long, and how many characters there are besides."""
    return text if len(text) <= most else f"{text[:most]}\n… and {len(text) - most:,} characters more"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Compile and run wrong code without a word: it may print, and Python and numpy warn of it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def caught_output() -> Iterator[io.StringIO]:
    """Keep what is printed, warned and logged away from the notebook: nbgrader takes stderr for a failure."""
    out = io.StringIO()
    stream = Printed(out.write)
    # Assigned, not set by setStream: that flushes, and a student may have closed the stream. One that has no stream yet
    # opens its own when it needs it, as torch's handler for traces of its compiler does.
    handlers = [(handler, original) for handler in _stream_handlers() if (original := handler.stream) is not None]
    for handler, _ in handlers:
        handler.stream = stream
    try:
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream), warnings.catch_warnings():
            # A warning is noise, never a verdict, whatever filters are set around here.
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, category, *location: print(
                f"{category.__name__}: {message}", file=out
            )
            yield out
    finally:
        for handler, stream in handlers:
            handler.stream = stream
