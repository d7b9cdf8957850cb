"""A fresh process checks one published answer of each task, and prints what happened while the student's clock ran.

Usage: on_the_clock.py CHAPTER [CHAPTER ...]. The last line is JSON: modules that were imported on the clock, and the
work of the judge that was done on it.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from published import world
from softlookup import check
from softlookup_inside.asking.probe import Clock
from softlookup_judge import tasks
from softlookup_judge.checking import local
from softlookup_judge.judging import oracle, questions

RUNNING: list[Clock] = []
FOUND: dict[str, list[str]] = {"imported": [], "judged": []}


def watched() -> None:
    """Note who works while a clock runs."""
    go, halt, find = Clock._go, Clock._halt, sys.meta_path[0]

    def started(self):
        RUNNING.append(self)
        go(self)

    def stopped(self):
        if self in RUNNING:
            RUNNING.remove(self)
        halt(self)

    Clock._go, Clock._halt = started, stopped

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if RUNNING:
                FOUND["imported"].append(name)

    sys.meta_path.insert(0, Finder)
    assert find in sys.meta_path
    for module, name in [*((m, "expected_results") for m in (oracle, questions, local)), (questions, "mistaken")]:
        setattr(module, name, _recording(name, getattr(module, name)))


def _recording(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*args: Any, **named: Any) -> Any:
        if RUNNING:
            FOUND["judged"].append(f"{name} {args[0].task.id}")
        return function(*args, **named)

    return wrapper


if __name__ == "__main__":
    watched()
    for chapter in map(int, sys.argv[1:]):
        space = world(chapter)
        for task in tasks(chapter):
            assert check(task.id, space[task.name]).verdict == "pass", task.id
    sys.stdout.write(json.dumps(FOUND))
