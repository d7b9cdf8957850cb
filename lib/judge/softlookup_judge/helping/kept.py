"""What commands know of a student's tasks, in one file beside the notebook, believed as its outputs are."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from softlookup_judge.data.result import HELP_STEPS

KEPT_FILE = ".softlookup.json"
"""The file's name; it belongs to all notebooks of its folder."""

FORMAT = "softlookup-kept-1"

JUDGED = ("pass", "partial", "wrong", "error", "timeout")
"""The verdicts that say something of an answer."""

_MOST_BYTES = 1_000_000
"""A larger file is none that a command wrote."""


@dataclass(frozen=True)
class HelpOnTask:
    """How many steps of help on a task were shown, and a hash of the answer that the last one was about."""

    steps: int = 0
    answer: str = ""


@dataclass(frozen=True)
class Judged:
    """The last verdict of a command on one task, with the hash of the answer's cell (``text_hash``)."""

    verdict: str
    points: float
    max: float
    diagnosis: tuple[str, ...]
    answer: str
    when: datetime


@dataclass(frozen=True)
class TaskKept:
    """The last verdict on a task, its help, and by key whether questions on the answer were answered rightly."""

    judged: Judged | None = None
    help: HelpOnTask = HelpOnTask()
    questions: Mapping[str, bool] = field(default_factory=dict)


class Kept(NamedTuple):
    """What stands beside a notebook, by task, and whether there is a file that cannot be read."""

    tasks: dict[str, TaskKept]
    damaged: bool = False


def read_kept(folder: Path) -> Kept:
    """Read what is kept in a folder: what is not as a command writes it is left out."""
    content, damaged = _content(folder / KEPT_FILE)
    lines = _of(content.get("tasks"), dict)
    tasks = {str(task): _task(_of(line, dict)) for task, line in lines.items()}
    tasks = {task: known for task, known in tasks.items() if known != TaskKept()}
    return Kept(tasks, damaged or bool(content) and content.get("format") != FORMAT)


def kept_lines(tasks: Mapping[str, TaskKept]) -> str:
    """The text of the file."""
    nothing = asdict(TaskKept())
    lines = {
        task: {name: value for name, value in asdict(known).items() if value != nothing[name]}
        for task, known in sorted(tasks.items())
    }
    content = {"format": FORMAT, "tasks": lines}
    return json.dumps(content, indent=1, default=lambda when: when.isoformat(timespec="seconds")) + "\n"


def _content(path: Path) -> tuple[dict[str, Any], bool]:
    """The object in a file, empty where there is none; and whether what is there cannot be read."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return {}, True
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, False
    except (OSError, ValueError, RecursionError):
        return {}, True
    return (content, False) if isinstance(content, dict) else ({}, True)


def _task(line: dict[str, Any]) -> TaskKept:
    questions = {
        str(key): is_right for key, is_right in _of(line.get("questions"), dict).items() if isinstance(is_right, bool)
    }
    return TaskKept(_judged(_of(line.get("judged"), dict)), _help(line.get("help")), questions)


def _help(line: Any) -> HelpOnTask:
    steps, answer = (line.get("steps"), line.get("answer")) if isinstance(line, dict) else (None, None)
    if type(steps) is int and 0 < steps <= len(HELP_STEPS) and isinstance(answer, str):
        return HelpOnTask(steps, answer)
    return HelpOnTask()


def _judged(line: dict[str, Any]) -> Judged | None:
    verdict, answer, numbers = line.get("verdict"), line.get("answer"), (line.get("points"), line.get("max"))
    if verdict not in JUDGED or not isinstance(answer, str) or not all(map(_is_amount, numbers)):
        return None
    try:
        when = datetime.fromisoformat(line["when"]).astimezone()
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None
    diagnosis = tuple(map(str, _of(line.get("diagnosis"), list)))
    return Judged(verdict, float(line["points"]), float(line["max"]), diagnosis, answer, when)


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def _of(value: Any, expected_type: type) -> Any:
    """The value if it is of that kind, else an empty one."""
    return value if isinstance(value, expected_type) else expected_type()
