"""Runs the cells of a notebook as a kernel would, in IPython, and keeps so much of their output."""

import ast
import contextlib
import sys
import traceback
import types
from dataclasses import dataclass
from functools import partial
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from softlookup_inside.asking.printed import Printed
from softlookup_inside.asking.probe import TimeIsUp, time_limit


@dataclass(frozen=True)
class CellEnd:
    """What running a cell came to."""

    outputs: list[dict[str, Any]]  # as nbformat has them
    trouble: str = ""  # what went wrong in a few words: the exception's name, "time", or nothing
    late: bool = False  # whether it was stopped because its time was over
    cut: int = 0  # how many characters of output were not kept


_LITTLE = 1000  # characters of a result, or on stderr, that are kept behind an output that is too long


class _Kept:
    """The outputs of one cell, as nbformat has them."""

    def __init__(self, room: int) -> None:
        self.outputs: list[dict[str, Any]] = []
        self.room, self.cut = room, 0
        self.clears = False  # whether the next output takes the place of all before it

    def clear(self, wait: bool) -> None:
        self.clears = wait
        if not wait:
            self.outputs.clear()

    def _begin_output(self) -> None:
        if self.clears:
            self.clear(wait=False)

    def stream(self, name: str, text: str) -> None:
        self._begin_output()
        # What comes behind a long output says whether a test failed: a little of it is kept.
        if name == "stderr" and self.room <= 0 and not any(output.get("name") == name for output in self.outputs):
            self.room = _LITTLE
        part = text[: max(0, self.room)]
        self.room -= len(part)
        self.cut += len(text) - len(part)
        if not part:
            return
        last = self.outputs[-1] if self.outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(part)
        else:
            self.outputs.append({"output_type": "stream", "name": name, "text": [part]})

    def show(self, output: dict[str, Any], data: Any) -> None:
        self._begin_output()
        size = sum(len(str(value)) for value in data.values())
        if output["output_type"] == "execute_result" and size > self.room:
            data = {"text/plain": str(data.get("text/plain", ""))[:_LITTLE]}  # it may be points
        elif size > self.room:
            self.cut += size
            return
        self.room -= size
        self.outputs.append(
            {**output, "data": {str(mime_type): value for mime_type, value in data.items()}, "metadata": {}}
        )

    def done(self) -> list[dict[str, Any]]:
        for output in self.outputs:
            if output["output_type"] == "stream":
                output["text"] = "".join(output["text"])
        if self.cut:
            message = f"... and {self.cut:,} characters more, which are not kept\n"
            self.outputs.append({"output_type": "stream", "name": "stdout", "text": message})
        return self.outputs


class CellShell:
    """An IPython shell without history, whose output goes into lists."""

    def __init__(self) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        config.InteractiveShell.autoindent = False
        self.shell = InteractiveShell.instance(config=config)
        self.cell_outputs = _Kept(0)
        self._catch()

    def _catch(self) -> None:
        shell, cell_shell = self.shell, self

        class Publisher(DisplayPublisher):
            def publish(self, data: Any, metadata: Any = None, source: Any = None, **others: Any) -> None:
                cell_shell.cell_outputs.show({"output_type": "display_data"}, data)

            def clear_output(self, wait: bool = False) -> None:
                cell_shell.cell_outputs.clear(wait)

        class Hook(DisplayHook):
            def quiet(self) -> bool:
                history = shell.history_manager
                last = history.input_hist_parsed[-1] if history is not None else ""
                return ";" in last and bool(super().quiet())  # to look for the last token takes longer

            def __call__(self, result: Any = None) -> None:
                if result is not None and not self.quiet():
                    self.update_user_ns(result)
                    data, _ = self.compute_format_data(result)
                    cell_shell.cell_outputs.show({"output_type": "execute_result", "execution_count": None}, data)

        shell.display_pub = Publisher(parent=shell)
        shell.displayhook = Hook(shell=shell, parent=shell)
        shell.display_trap.hook = shell.displayhook
        shell.ask_exit = sys.exit  # type: ignore[attr-defined]  # what exit() calls in a notebook
        # "%matplotlib inline" (or widget, or qt) begins many cells, and there is nobody to look at figures.
        shell.enable_matplotlib = lambda gui=None: ("agg", "agg")  # type: ignore[method-assign]
        shell.showtraceback = self._raised  # type: ignore[method-assign]
        shell.showsyntaxerror = self._raised  # type: ignore[method-assign]

    def _compiled(self, source: str) -> list[types.CodeType] | None:
        """Compile a cell that is Python as it stands, for speed; None where IPython has to read it."""
        shell = self.shell
        # A prompt that was copied along, `In [1]: x`, is Python, too.
        if shell.ast_transformers or "await" in source or "async" in source or source.lstrip().startswith("In ["):
            return None
        callbacks = shell.events.callbacks
        if callbacks["pre_run_cell"] or callbacks["post_run_cell"]:
            return None
        name = shell.compile.cache(source, shell.execution_count)  # tracebacks show its lines
        try:
            tree = shell.compile.ast_parse(source, name)
            last_expression = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
            code = [shell.compile(tree, name, "exec")] if tree.body else []
            return code + ([shell.compile(ast.Interactive(last_expression), name, "single")] if last_expression else [])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # nothing has been run, and IPython says what is wrong

    def _run(self, source: str) -> BaseException | None:
        """Run a cell, and give the exception that it ended with."""
        shell, codes = self.shell, self._compiled(source)
        if codes is None:
            result = shell.run_cell(source, store_history=False)
            return result.error_before_exec or result.error_in_exec
        return self._run_compiled(codes)

    def _run_compiled(self, codes: list[types.CodeType]) -> BaseException | None:
        """Run what a cell was compiled to, and give the exception that it ended with."""
        shell = self.shell
        try:
            shell.events.trigger("pre_execute")
            with shell.builtin_trap, shell.display_trap:
                for code in codes:
                    exec(code, shell.user_global_ns, shell.user_ns)
        except BaseException as error:
            self._raised()
            return error
        finally:
            shell.events.trigger("post_execute")
        return None

    def _raised(self, *args: Any, **kwargs: Any) -> None:
        """Keep an exception as a kernel would send it; the lines of the machinery around a cell are left out."""
        error_type, error, trace = sys.exc_info()
        if error_type is None or error is None:
            return
        while trace is not None and "ipython-input" not in trace.tb_frame.f_code.co_filename:
            trace = trace.tb_next
        try:
            lines = traceback.format_exception(error_type, error, trace, limit=-20)
            message = str(error)
        except Exception:
            lines, message = [error_type.__name__], "(its message cannot be read)"
        text = "".join(lines)[-4000:]
        self.cell_outputs.outputs.append(
            {
                "output_type": "error",
                "ename": error_type.__name__,
                "evalue": message[:500],
                "traceback": text.splitlines(),
            }
        )

    def warm(self) -> None:
        """Import what the first cell needs, before it is there."""
        self.run("1 + 1", 10, 1000)

    def run(self, source: str, seconds: float, room: int) -> CellEnd:
        """Run a cell, for so many seconds by the clock, with ``room`` for so many characters of output."""
        self.cell_outputs = outputs = _Kept(room)
        error: BaseException | None = None
        out, err = (Printed(partial(outputs.stream, name), name) for name in ("stdout", "stderr"))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), time_limit(seconds):
                error = self._run(source)
        except BaseException as raised:  # SystemExit and whatever a submission made IPython raise
            error = raised
        late = isinstance(error, TimeIsUp)
        trouble = "" if error is None else "time" if late else type(error).__name__
        return CellEnd(outputs.done(), trouble, late, outputs.cut)

    def value(self, expression: str, seconds: float) -> tuple[bool, Any, str, bool]:
        """Look up what cells defined: whether it is there, what it is, why it is not, and whether time was over."""
        try:
            with time_limit(seconds):
                return True, eval(compile(expression, "<check>", "eval"), self.shell.user_ns), "", False
        except TimeIsUp:
            return False, None, "time", True
        except BaseException as error:
            return False, None, f"{type(error).__name__}: {error}"[:300], False
