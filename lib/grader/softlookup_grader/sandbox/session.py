"""One submission in the sandbox, as the judge sees it: cells and questions go in, what comes back is checked."""

import secrets
import select
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from softlookup_grader.sandbox import lending
from softlookup_grader.sandbox.ends import Ending, RunEnd, ending_of
from softlookup_grader.sandbox.lender import Lender
from softlookup_grader.sandbox.lending import MAX_TEXT, Lending, Note, Owns, Sound, text
from softlookup_grader.sandbox.place import SubmissionProcess
from softlookup_grader.sandbox.watching import DEAF, GRACE_S, Watch
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer, Failure
from softlookup_inside.sandbox import frames

_KINDS = frozenset(
    ("blank", "raised", "kind", "inputs-changed", "no-gradient", "dtype", "no-parameter", "shortcut")
    + ("fed-again", "fed-singly")
)
_MAX_CALLS = 500
_MOST_NAMES = 10
_ENDING_S = 30.0  # how long the end of a process may take: its memory has to be freed
_OVER = Ending(RunEnd.FINISHED, "it is over")
_CLOSED = Ending(RunEnd.CLOSED, "it closed its connection to the judge")
_OTHERWISE = "it answered in another way than it was asked"


class Dead(Exception):
    """The submission's process is gone; the message is a sentence that says why."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.why)
        self.end = ending.end


class OutOfTime(TimeoutError):
    """The submission was still computing when its time was over; its process goes on."""


@dataclass(frozen=True)
class Ran:
    """What running a cell came to."""

    outputs: list[Any]  # as nbformat has them, from the submission: not to be believed
    trouble: str  # what went wrong in a few words: the exception's name, "time", or nothing
    seconds: float  # how long it took, seen from outside
    end: RunEnd  # ``FINISHED``, ``RAISED`` or ``TIME``
    cut: bool = False  # whether it gave more output than is kept


@dataclass(frozen=True)
class Held:
    """What kind of answer a check was given."""

    ran: Ran  # the check's cell
    there: bool  # whether there is an answer
    kind: str = ""  # the name of its type
    callable: bool = False  # whether it can be called
    shortcut: str | None = None  # a forbidden name that it uses, if one was seen


class SubmissionSession:
    """A submission's process, from its first cell to its end, which the session brings about."""

    def __init__(self, process: SubmissionProcess, until: float) -> None:
        self.process, self.until = process, until
        self.ending: Ending | None = None
        self.limits = process.limits
        self.line = frames.Channel(process.link, self.limits.answer_mb * 1_000_000)
        self._lender: Lender | None = None
        self.watch = Watch(process.pid, self.limits, until, process.group, self.kill, self._ring)

    def _ring(self) -> None:
        """Tell it that its time is over. Between two requests, the first process of a namespace does not hear that."""
        self.process.signal(signal.SIGALRM)

    def kill(self, ending: Ending) -> Ending:
        """End it, and with it every process that it started: the first process of a namespace takes all along."""
        self.ending = self.ending or ending
        self.process.signal(signal.SIGKILL)
        return self.ending

    def end(self) -> bool:
        """End it and wait until nothing of it is alive; gives whether that is so."""
        self.kill(_OVER)
        return self.process.end(_ENDING_S)

    def close(self) -> None:
        """End it and let go of everything."""
        self.kill(_OVER)
        self._no_lender()
        self.watch.close()
        self.process.close()

    def write_files(self, files: Mapping[str, bytes]) -> None:
        """Put files into the folder in which cells run; Dead if the process does not survive it."""
        arrays = [np.frombuffer(content, np.uint8) for content in files.values()]
        self._asked({"do": "write", "paths": list(files)}, arrays, self.limits.cell_s)

    def read_files(self, most: int, most_bytes: int) -> dict[str, bytes]:
        """Take the files that cells left in the folder in which they run; Dead if the process does not survive it."""
        request = {"do": "read", "most": most, "bytes": most_bytes}
        reply, arrays = self._asked(request, (), self.limits.cell_s)
        paths = reply.get("paths")
        if not isinstance(paths, list) or not len(paths) == len(arrays) <= most:
            raise self._broke(_OTHERWISE)
        contents = {text(path, 500): array.tobytes() for path, array in zip(paths, arrays, strict=True)}
        return {path: content for path, content in contents.items() if _is_inside(path)}

    def run(self, source: str, seconds: float | None = None) -> Ran:
        """Run a cell, for so many seconds; None takes what a cell may. Dead if the process does not survive it."""
        start_s = time.monotonic()
        seconds = self.limits.cell_s if seconds is None else seconds
        reply, _ = self._asked({"do": "cell", "source": source, "seconds": seconds}, (), seconds)
        return _ran(reply, start_s)

    def check(self, source: str, about: Mapping[str, Any]) -> Held:
        """Take what a check is handed; Dead if the process does not survive it."""
        start_s, seconds = time.monotonic(), self.limits.cell_s
        reply, _ = self._asked({"do": "check", "source": source, "seconds": seconds, **about}, (), seconds)
        ran = _ran(reply, start_s)
        if reply.get("held") is not True:
            return Held(ran, False)
        shortcut = reply.get("shortcut")
        return Held(
            ran,
            True,
            text(reply.get("kind"), 100),
            reply.get("callable") is True,
            text(shortcut, 100) if isinstance(shortcut, str) else None,
        )

    def ask(
        self,
        cases: Sequence[Case],
        results: int,
        stand_in_ids: tuple[str, ...],
        reference_function: Sound,
        deadline: float,
        owns: Owns = lending.no_own,
        record_call: Note | None = None,
    ) -> list[Answer]:
        """Put questions, only one where functions are lent; ``record_call`` is handed each lent call and its result."""
        remaining_s = deadline - time.monotonic()
        if remaining_s <= 0:
            raise OutOfTime
        # A rank's inbox is this submission's alone, and is not put to anybody again.
        write = _written if any(case.world for case in cases) else _written_once
        questions = write(tuple(cases))
        lends = Lending(stand_in_ids, reference_function, owns, record_call, questions.most, questions.inside)
        reply, back = self._asked(
            {"do": "ask", "results": results, "lent": list(stand_in_ids)}, questions.part, remaining_s, lends
        )
        if reply.get("late") is True:
            raise OutOfTime
        answers = reply.get("answers")
        if not isinstance(answers, list) or len(answers) != len(cases):
            raise self._broke(_OTHERWISE)
        checked_answers = []
        for case, raw_answer in zip(cases, answers, strict=True):
            count = (
                (2 if case.is_recorded else len(case.gradients) or results)
                if isinstance(raw_answer, dict) and raw_answer.get("there") is True
                else 0
            )
            checked_answers.append(self._answer(case, raw_answer, back[:count], count))
            back = back[count:]
        if back:
            raise self._broke(_OTHERWISE)
        return checked_answers

    def _answer(self, case: Case, reply: Any, arrays: list[np.ndarray], count: int) -> Answer:
        """Read one answer, of which nothing is believed."""
        if not isinstance(reply, dict) or len(arrays) != count:
            raise self._broke(_OTHERWISE)
        printed, failed = text(reply.get("printed"), 2 * MAX_TEXT), reply.get("failure")
        if failed is not None:
            failure_kind, *words = map(text, failed) if isinstance(failed, list) and failed else ("",)
            if count or len(words) != 3 or failure_kind not in _KINDS:
                raise self._broke(_OTHERWISE)
            names, blank = reply.get("elsewhere"), reply.get("calls_blank") is True
            elsewhere = tuple(text(name, 100) for name in names[:_MOST_NAMES]) if isinstance(names, list) else ()
            message, where, explained = words
            return Answer(None, Failure(failure_kind, message, where, explained, elsewhere, blank), printed)
        if not count:
            raise self._broke(_OTHERWISE)
        if case.keeps_dtype and arrays[0].dtype != case.dtype:
            message = f"The inputs are {case.dtype}, your result is {arrays[0].dtype}; this task keeps the dtype."
            return Answer(None, Failure("dtype", message), printed)
        return Answer(tuple(arrays), None, printed)

    def _asked(
        self,
        header: Mapping[str, Any],
        arrays: Sequence[np.ndarray] | frames.HeaderPart,
        seconds: float,
        stand_ins: Lending | None = None,
    ) -> tuple[dict[str, Any], list[np.ndarray]]:
        """Send a request and wait for its answer; in between, compute what was lent."""
        token = secrets.token_hex(16)
        start_s, most_s, calls = time.monotonic(), self.watch.most(seconds), 0
        deadline = min(start_s + most_s + GRACE_S, self.until + GRACE_S)
        self.watch.begin(seconds)
        try:
            if select.select([self.line.link], [], [], 0)[0] and self.line.link.recv(1, socket.MSG_PEEK):
                raise frames.FrameError("it spoke before it was asked")
            self.line.send({**header, "seconds": most_s, "token": token}, arrays, deadline)
            while True:
                reply, back = self.line.receive(deadline)
                if reply.get("token") != token:
                    raise frames.FrameError("it answered something that it was not asked")
                if "call" not in reply:
                    return reply, back
                calls += 1
                if stand_ins is None or reply["call"] not in stand_ins.stand_in_ids or calls > 20 * _MAX_CALLS:
                    raise frames.FrameError("it called what was not lent, or too often")
                if reply.get("upstream") is not None and not stand_ins.gradients:
                    raise frames.FrameError("it asked for a gradient that was not lent")
                compute = partial(self._computed, stand_ins, min(start_s + seconds, self.until))
                often = calls > _MAX_CALLS  # honest loops get a remark, and keep their points without lent functions
                sent = (
                    lending.OFTEN
                    if often
                    else lending.sound_answer(compute, reply, back, stand_ins.most, stand_ins.owns)
                )
                self.line.send(*sent, deadline)
        except frames.TooLate:
            self.kill(DEAF)
        except frames.ConnectionClosed:
            pass
        except OSError:
            self.ending = self.ending or Ending(RunEnd.CLOSED, "its connection broke")
        except frames.FrameError as error:
            raise self._broke(f"it broke the rules of the connection to the judge: {error}") from None
        finally:
            self.watch.end()
        raise Dead(self.ending or self._how())

    def _computed(
        self, stand_ins: Lending, until: float, reply: dict[str, Any], arrays: Sequence[np.ndarray]
    ) -> tuple[dict[str, Any], list[np.ndarray]] | None:
        """Have a lent function computed outside of this process; None where it takes too much."""
        if self._lender is None:
            self._lender = Lender(stand_ins.reference_function, self.limits.cpu_s, self.limits.call_s)
        answer = self._lender.answer(reply, arrays, until)
        if answer is None:
            self._no_lender()
            if time.monotonic() >= until:
                self._ring()  # it waited for the call all the while, so its own time is over as well
        elif stand_ins.record_call is not None and "result" in answer[0]:
            stand_ins.record_call(
                str(reply["call"]), *lending.read(reply, arrays), frames.value_of(answer[0]["result"], answer[1])
            )
        return answer

    def _no_lender(self) -> None:
        if self._lender is not None:
            self._lender.close()
            self._lender = None

    def _broke(self, why: str) -> Dead:
        self.kill(Ending(RunEnd.PROTOCOL, why))
        return Dead(Ending(RunEnd.PROTOCOL, why))

    def _how(self) -> Ending:
        """Find out how the process ended."""
        reply = self.process.ended()
        if self.process.group is not None and self.process.group.out_of_memory():
            return self.kill(self.watch.too_much())
        ending = self.kill(_CLOSED)
        return ending if ending is not _CLOSED or not reply else ending_of(reply, self.limits.cpu_s)


@dataclass(frozen=True)
class _Written:
    """Questions as they are put to every submission of a class."""

    part: frames.HeaderPart  # they, written for frames
    most: int  # the largest size that they give reason for, where functions are lent
    inside: bool  # whether gradients are lent


def _written(cases: tuple[Case, ...]) -> _Written:
    arrays: list[np.ndarray] = []
    questions = [
        {
            "args": frames.plain(tuple(case.args), arrays),
            "upstream": frames.plain(case.upstream, arrays),
            "gradients": list(case.gradients),
            "layer": [case.sizes, list(case.parameters)],
            "frame": case.frame,
            "fed": None if case.fed is None else list(case.fed),
            "grid": list(case.grid),
            "rank": [case.world, case.rank, list(case.offers)],
            "inbox": frames.plain(tuple(case.inbox), arrays),
        }
        for case in cases
    ]
    most = max(lending.reason(case.args, arrays, case.frame == "text") for case in cases)
    # A gradient is lent where one is asked for, or gone down: elsewhere it would be an answer, not a part of one.
    inside = all(case.gradients or case.descends for case in cases)
    return _Written(frames.part({"cases": questions}, arrays), most, inside)


_written_once = lru_cache(maxsize=256)(_written)


def _is_inside(path: str) -> bool:
    """Whether a path leads to a file below the folder that it starts from."""
    return bool(path) and "\0" not in path and not PurePosixPath(path).is_absolute() and ".." not in path.split("/")


def _ran(reply: Mapping[str, Any], start_s: float) -> Ran:
    outputs = reply.get("outputs")
    trouble = text(reply.get("trouble"), 300)
    end = RunEnd.TIME if reply.get("late") is True else RunEnd.RAISED if trouble else RunEnd.FINISHED
    seconds, cut = time.monotonic() - start_s, bool(reply.get("cut"))
    return Ran(outputs if isinstance(outputs, list) else [], trouble, seconds, end, cut)
