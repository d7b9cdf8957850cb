"""How a submission's process, or one of its cells, can end, and the sentence that says so: no sentence decides."""

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any


class RunEnd(Enum):
    """What ended a cell or a process."""

    FINISHED = auto()  # nothing was left to do
    RAISED = auto()  # a cell ended with an exception; its process goes on
    TIME = auto()  # it had its time, by the clock or of a processor
    MEMORY = auto()  # its processes held more memory than they may
    SIGNAL = auto()  # a signal killed the process: it crashed, or somebody else sent one
    EXIT = auto()  # the process ended by itself
    CLOSED = auto()  # the process cut the connection to the judge
    PROTOCOL = auto()  # the process sent what the judge did not ask for


@dataclass(frozen=True)
class Ending:
    """How a process ended."""

    end: RunEnd  # what ended it
    why: str  # the same in words, a clause that begins with what the process did


def ending_of(report: Mapping[str, Any], cpu_s: int) -> Ending:
    """How a process ended that nobody here ended."""
    signal_number = report.get("signal")
    if signal_number is None:
        words = "it ended its own process"
        status = report.get("exit", "unknown")
        return Ending(RunEnd.EXIT, words if status == 0 else f"its process ended with status {status}")
    # The kernel sends SIGXCPU at the limit, and SIGKILL to whoever ignores that.
    if signal_number == signal.SIGXCPU or (signal_number == signal.SIGKILL and report.get("cpu_s", 0.0) > cpu_s):
        return Ending(RunEnd.TIME, f"it used more than {cpu_s} s of processor time")
    if signal_number == signal.SIGKILL:
        return Ending(RunEnd.SIGNAL, "its process was killed, as the system does where memory runs out")
    name = signal.Signals(signal_number).name if signal_number in set(signal.Signals) else str(signal_number)
    return Ending(RunEnd.SIGNAL, f"its process was ended by the signal {name}")
