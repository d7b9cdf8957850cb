"""Runs the cells of a notebook as ipykernel does: for notebooks that test themselves, whose points depend on it.

Source: ipykernel, ipykernel/ipkernel.py and ipykernel/kernelbase.py.
"""

import asyncio
import builtins
import contextlib
import getpass
import os
import re
import sys
import types
from collections.abc import Coroutine, Iterator
from typing import Any, NoReturn, cast

from IPython.core.error import StdinNotImplementedError

from softlookup_inside.sandbox.shell import CellShell

_MOST = 1_000_000  # bytes that are read of what a cell wrote past Python's streams

_ASKS_FOR_LOOP = re.compile(r"async|await|loop|tornado")
"""What a cell holds that has to do with an event loop; before the first such cell there is none, which saves time."""


class KernelShell(CellShell):
    """A shell with an event loop that lives from cell to cell, a history, and all that reaches stdout and stderr."""

    def __init__(self) -> None:
        super().__init__()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._streams: list[tuple[int, str, int]] = []
        builtins.input = getpass.getpass = _nobody_answers

    def warm(self) -> None:
        """Import what the first cell needs; nothing stays of it, and no descriptor that forks would share."""
        self._run_compiled(self._compiled("1 + 1") or [])
        asyncio.new_event_loop().close()

    def _run(self, source: str) -> BaseException | None:
        if not self._streams:  # not before the fork
            flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
            self._streams = [(fd, name, os.open("/tmp", flags, 0o600)) for fd, name in ((1, "stdout"), (2, "stderr"))]
        if self._loop is None and _ASKS_FOR_LOOP.search(source):
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        with self._descriptors():
            codes = self._compiled(source)
            if codes is not None and self.shell.ast_node_interactivity == "last_expr":
                cell = self._plain_cell(source, codes)
            else:
                cell = self._whole_cell(source)
            return _to_end(cell) if self._loop is None else self._in_loop(cell)

    def _in_loop(self, cell: Coroutine[Any, Any, BaseException | None]) -> BaseException | None:
        assert self._loop is not None
        task = self._loop.create_task(cell)
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            # The time was over while the loop waited: what waits is left behind.
            task.cancel()
            with contextlib.suppress(BaseException):
                self._loop.run_until_complete(task)
            raise

    async def _whole_cell(self, source: str) -> BaseException | None:
        """Have IPython read and run a cell."""
        shell, transformed, error = self.shell, source, None
        try:
            transformed = shell.transform_cell(source)
        except Exception:
            error = sys.exc_info()
        try:
            result = await shell.run_cell_async(
                source, store_history=True, transformed_cell=transformed, preprocessing_exc_tuple=error
            )
        finally:
            shell.events.trigger("post_execute")
        return result.error_before_exec or result.error_in_exec

    async def _plain_cell(self, source: str, codes: list[types.CodeType]) -> BaseException | None:
        """Run a cell that is Python as it stands."""
        shell = self.shell
        if source.strip() and shell.history_manager is not None:
            shell.history_manager.store_inputs(shell.execution_count, source, source)
            shell.execution_count += 1
        raised = self._run_compiled(codes)
        if self._loop is not None:
            await asyncio.sleep(0)  # tasks that the cell began take their first step
        return raised

    @contextlib.contextmanager
    def _descriptors(self) -> Iterator[None]:
        """Take what a cell writes past Python's streams, as programs do that it starts."""
        for fd, _, file in self._streams:
            os.lseek(file, 0, os.SEEK_SET)
            os.ftruncate(file, 0)
            os.dup2(file, fd)
        try:
            yield
        finally:
            for fd, name, file in self._streams:
                with contextlib.suppress(OSError, ValueError, AttributeError):
                    (sys.__stdout__ if fd == 1 else sys.__stderr__).flush()  # type: ignore[union-attr]
                if size := os.fstat(file).st_size:
                    self.cell_outputs.stream(name, os.pread(file, min(size, _MOST), 0).decode("utf-8", "replace"))


def _to_end(cell: Coroutine[Any, Any, BaseException | None]) -> BaseException | None:
    """Run a cell that waits for nothing."""
    try:
        cell.send(None)
    except StopIteration as done:
        return cast("BaseException | None", done.value)
    raise RuntimeError("a cell waits, and there is no event loop")


def _nobody_answers(*_: Any, **__: Any) -> NoReturn:
    raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")
