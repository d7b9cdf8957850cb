"""Help that was asked for on the command line: a small file beside the notebook, so that the notebook counts it, too.

It is the student's own file, as the notebook is: whoever deletes it has asked for nothing.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from softlookup.checking.result import HELP_STEPS

FILE = ".softlookup_help.json"
"""The file, in the folder of the notebook, which is where its kernel runs."""

MOST_BYTES = 1_000_000
"""A larger file is nobody's list of hints."""


@dataclass(frozen=True)
class HelpOnTask:
    """How far the help on one task went.

    Attributes:
        steps: How many steps were shown.
        answer: A hash of the answer that the last one was about.
    """

    steps: int = 0
    answer: str = ""


def read_help(folder: Path) -> dict[str, HelpOnTask]:
    """What the file of a folder says, by task; nothing where there is none, or where it is damaged."""
    path = folder / FILE
    try:
        if path.stat().st_size > MOST_BYTES:
            return {}
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    help_by_task = {}
    for task, line in content.items() if isinstance(content, dict) else ():
        steps, answer = (line.get("steps"), line.get("answer")) if isinstance(line, dict) else (None, None)
        if type(steps) is int and 0 < steps <= len(HELP_STEPS) and isinstance(answer, str):
            help_by_task[str(task)] = HelpOnTask(steps, answer)
    return help_by_task


def help_lines(help_by_task: dict[str, HelpOnTask]) -> str:
    """The text of the file."""
    return json.dumps({task: asdict(shown) for task, shown in sorted(help_by_task.items())}, indent=1) + "\n"
