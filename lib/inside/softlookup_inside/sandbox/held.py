"""What ``check`` and ``hint`` are while a notebook is graded: nothing. The judge takes each answer by its name."""

from typing import Any


class Waiting:
    """What a check shows until the judge has spoken."""

    def __repr__(self) -> str:
        return "the judge's verdict stands in the graded notebook"


def check(task_id: Any, obj: Any, *, variant: int = 0) -> Waiting:
    """Take note of nothing.

    Args:
        task_id: The task, "04.scale".
        obj: The student's function or class.
        variant: Which variant the notebook asks for; the judge knows it from the release.
    """
    return Waiting()


def hint(task_id: Any, *, variant: Any = None) -> None:
    """Give no help: nobody reads it here."""
