"""A stream in place of ``sys.stdout`` or ``sys.stderr`` while a student's code runs: what is written goes elsewhere."""

import contextlib
import io
import os
from collections.abc import Callable
from typing import Any


class Printed(io.TextIOBase):
    """A text stream that hands what is written to a function, and has what programs ask of a standard stream.

    Args:
        keep: Gets each text.
        name: "stdout" or "stderr".
    """

    encoding, errors = "utf-8", "replace"

    def __init__(self, keep: Callable[[str], object], name: str = "stdout") -> None:
        self.name, self._keep = name, keep
        self._nowhere: int | None = None
        self.buffer = _Bytes(self)

    def writable(self) -> bool:
        """It takes text."""
        return True

    def write(self, text: str) -> int:
        """Hand on a text.

        Raises:
            ValueError: If the stream is closed.
            TypeError: If it is no text.
        """
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
