"""The only part that runs beside the student's code, with no right answer: inputs in, raw arrays or a failure out."""

import contextlib
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlookup_inside.asking.answers import Refused, is_tensor, to_array, to_arrays
from softlookup_inside.asking.calling import NoParameter, called, inputs_for
from softlookup_inside.asking.candidates import is_candidate
from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.explained import arguments_differ, explained
from softlookup_inside.asking.gates import closed
from softlookup_inside.asking.printed import caught_output, first_characters
from softlookup_inside.asking.products import Fed, counting
from softlookup_inside.asking.source import functions_behind
from softlookup_inside.asking.texts import to_texts
from softlookup_inside.ranks.packing import has_end

FED = ("fed-again", "fed-singly")
"""Kinds of failure of an answer that feeds more, or less at a time, than its case allows (see ``Case.fed``)."""


_MOST_SAID = 300  # characters of what an exception says

_MOST_CALLERS = 3  # functions of the student's that are named between the one that was asked and the one that raised

MAX_PRINTED = 2000  # characters kept of what the student's code prints; the rest is counted only


class TimeIsUp(BaseException):
    """A case takes too long; not an Exception, so that no ``except Exception`` of a student's swallows it."""


class Clock:
    """Seconds that some code may take in all, None for no limit; what is done in its service does not count."""

    def __init__(self, seconds: float | None) -> None:
        self.left = seconds
        self._runs, self._since = False, 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Raise ``TimeIsUp`` in this thread once the seconds are over, where the system has an interval timer.

        It rings again every tenth of a second, since an alarm may fall into a bare ``except:``.
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


@dataclass(frozen=True)
class Failure:
    """Why there is no answer.

    Attributes:
        kind: "blank", "raised", "kind" (not a tensor, array or number), "inputs-changed", "no-gradient", "dtype",
            "no-parameter" (a layer that does not have the weights that were asked for), "fed-again" or "fed-singly"
            (see ``Case.fed``), "shortcut" (it called what its task forbids, whatever it made of the exception), of a
            kernel "outside", "race", "barrier", "overlap", "input-written", "unwritten", "work", "unsteady" or "record"
            (see ``tiles.LaunchError``), or of a parallel program a kind of ``ranks.records.WorldError``.
        message: One line for the student; for a shortcut the dotted name of what was called.
        where: The line of the student's code, if known.
        explained: What the exception means there (see ``explained``), if that is known.
        elsewhere: Functions of other cells in which it was raised, or which called that one, the innermost first.
        calls_blank: Whether the answer calls a function that is still blank.
    """

    kind: str
    message: str
    where: str = ""
    explained: str = ""
    elsewhere: tuple[str, ...] = ()
    calls_blank: bool = False


@dataclass(frozen=True)
class Answer:
    """What came back from one case.

    Attributes:
        arrays: The results as numpy arrays, None where ``failure`` says why.
        failure: The reason, None where there are arrays.
        printed: What the code wrote to stdout and stderr, cut.
    """

    arrays: Arrays | None = None
    failure: Failure | None = None
    printed: str = ""


class _NoGradient(Exception):
    """The result is a sound one, but it is not connected to the inputs."""


def _changed(case: Case, inputs: list[Any]) -> bool:
    for before, after in zip(case.args, inputs, strict=True):
        if isinstance(before, np.ndarray):
            # Its size first: an input may have been made a large one, whose numbers nobody wants to read.
            if tuple(after.shape) != before.shape or not _same(before, to_array(after)):
                return True
        elif isinstance(before, list | dict | tuple) and not is_candidate(before) and not _alike(before, after):
            return True
    return False


def _same(before: np.ndarray, now: np.ndarray) -> bool:
    """Whether arrays of one shape hold the same numbers, NaN in the same places."""
    return bool((before == now).all()) or np.array_equal(before, now, equal_nan=before.dtype.kind == "f")


def _recorded(case: Case, inputs: list[Any]) -> bool:
    """Whether autograd's record has been begun on an input: the next call with it would not be the same."""
    others = [a for i, a in enumerate(inputs) if i not in case.gradients and is_tensor(a)]
    return any(a.requires_grad or a.grad is not None for a in others)


def _alike(before: Any, after: Any) -> bool:
    """Whether a list or dictionary is as it was; what cannot be compared is not."""
    try:
        return bool(before == after)
    except Exception:
        return False


def _gradients(case: Case, inputs: list[Any], result: Any) -> Arrays:
    import torch

    to_array(result)  # refuses what is no result at all, in its own words
    if isinstance(result, list | tuple) and all(is_tensor(item) for item in result):
        result = torch.stack(tuple(result))
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        raise _NoGradient
    result.backward(torch.from_numpy(np.asarray(case.upstream)).to(result.dtype))
    grads = [inputs[i].grad for i in case.gradients]
    return tuple(
        to_array(torch.zeros_like(inputs[i]) if g is None else g) for i, g in zip(case.gradients, grads, strict=True)
    )


def _too_much(allowed: tuple[int, int, int], fed: Fed) -> Failure | None:
    """Whether more was multiplied with a matrix than its case allows, or less at a time."""
    at, rows, times = allowed
    if fed.rows > rows + 0.5:
        message = f"{fed.rows:.0f} vectors are multiplied with argument {at + 1}, where {rows} are enough"
        return Failure(FED[0], f"{message}.")
    if fed.times > times + 0.5:
        message = f"Argument {at + 1} is multiplied {fed.times:.0f} times, where {times} times are enough"
        return Failure(FED[1], f"{message}: several vectors can be multiplied with it together.")
    return None


def _students_frames(error: BaseException) -> list[traceback.FrameSummary]:
    return [f for f in traceback.extract_tb(error.__traceback__) if _is_students(f.filename)]


def _is_students(filename: str) -> bool:
    """Whether a file is a notebook cell or a script of the student's, and no library's."""
    if filename.startswith("<"):
        return "ipython" in filename or filename.startswith("<submission")
    return "site-packages" not in filename and "softlookup" not in filename and "/lib/python" not in filename


def _whole_words(line: str) -> str:
    """The beginning of a line, cut between two words."""
    return line if len(line) <= _MOST_SAID else f"{line[:_MOST_SAID].rpartition(' ')[0] or line[:_MOST_SAID]} …"


def _fail(obj: Callable[..., Any], error: BaseException, arguments: int) -> Failure:
    frames = _students_frames(error)
    codes = [function.__code__ for function in functions_behind(obj)]
    names, files = {code.co_name for code in codes}, {code.co_filename for code in codes}

    def in_words(filename: str, function: str) -> str:
        return f"`{function}`" + " in another cell" * (filename not in files)

    if isinstance(error, NotImplementedError):
        # Blank only if the task's own function says so; an earlier one that it calls is another matter.
        last = (frames or traceback.extract_tb(error.__traceback__))[-1]
        # torch's own functions raise it, too, for a dtype that they do not take.
        if last.name in names and (not str(error) or (last.line or "").startswith("raise")):
            return Failure("blank", "This task is still blank.")
        if not str(error):
            outside = (last.name,) * (last.filename not in files)
            where = "in another cell" * bool(outside)
            message = f"It calls `{last.name}`, which is still blank"
            return Failure("raised", message, where, elsewhere=outside, calls_blank=True)
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    error_type = type(error).__name__
    message = f"{error_type}: {_whole_words(lines[0])}" if lines else error_type
    if not frames:
        return Failure("raised", message, explained=arguments_differ(error, obj, arguments))
    callers = [*dict.fromkeys((frame.filename, frame.name) for frame in reversed(frames))]
    between = [caller for caller in callers[1:] if caller[1] not in names] if callers[0][1] not in names else []
    chained = [callers[0], *between[:_MOST_CALLERS]]
    chain = ", called by ".join(in_words(*function) for function in chained)
    elsewhere = tuple(function for filename, function in chained if filename not in files)
    code = f": {frames[-1].line.strip()}" if frames[-1].line else ""
    where = f"line {frames[-1].lineno} of {chain}{code}"
    return Failure("raised", message, where, explained(error, _is_students), elsewhere)


def run(obj: Callable[..., Any], case: Case, results: int = 1, forbids: tuple[str, ...] = ()) -> Answer:
    """Ask the student's object one case while ``forbids`` raise; its exceptions are failures, interruptions are not."""
    inputs = inputs_for(case)
    arrays: Arrays | None = None
    failure: Failure | None = None
    counts: contextlib.AbstractContextManager[Fed | None] = contextlib.nullcontext()
    if case.fed is not None:
        counts = counting(inputs[case.fed[0]])
    with caught_output() as out, closed(forbids) as gates, counts as fed:
        try:
            result = called(obj, case, inputs, results)
            if case.gradients:
                arrays = _gradients(case, inputs, result)
            else:
                count = 2 if case.is_recorded else results
                arrays = to_texts(result, count) if case.frame == "text" else to_arrays(result, count)
        except (TimeIsUp, KeyboardInterrupt):
            raise
        except _NoGradient:
            failure = Failure("no-gradient", "No gradient flows back from the result to the inputs.")
        except NoParameter as missing:
            failure = Failure("no-parameter", str(missing))
        except Refused as refused:
            failure = Failure("kind", f"Your function returned {refused}.")
        except BaseException as error:
            failure = _fail(obj, error, len(inputs) + bool(case.world))
    if gates.used:
        arrays, failure = None, Failure("shortcut", gates.used)
    # What a rank has changed counts at its end: until then it may still put it right, as any function may.
    has_ended = arrays is not None and (not case.world or has_end(arrays[0]))
    if has_ended and _changed(case, inputs):
        views = (
            " (parts of `np.split` are views, and a receive fills the array that it is handed)" if case.world else ""
        )
        failure = Failure("inputs-changed", f"Your function changes its inputs in place{views}; work on a copy.")
    elif arrays is not None and _recorded(case, inputs):
        message = "Your function sets `requires_grad` on a tensor that it was given, or leaves a `.grad` there"
        failure = Failure("inputs-changed", f"{message}; work on a copy.")
    elif arrays is not None and case.keeps_dtype and arrays[0].dtype != case.dtype:
        message = f"The inputs are {case.dtype}, your result is {arrays[0].dtype}; this task keeps the dtype."
        failure = Failure("dtype", message)
    elif arrays is not None and case.fed is not None and fed is not None:
        failure = _too_much(case.fed, fed)
    return Answer(None if failure else arrays, failure, first_characters(out.getvalue(), MAX_PRINTED))
