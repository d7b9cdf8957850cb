"""What ``check`` and ``hint`` are while a notebook is graded: nothing. The judge takes each answer by its name."""

from typing import Any


class Waiting:
    """What a check shows until the judge has spoken."""

    def __repr__(self) -> str:
        return "the judge's verdict stands in the graded notebook"


def check(task_id: Any, obj: Any, *, variant: int = 0) -> Waiting:
    """Take note of nothing; the judge knows the variant that the notebook asks for from the release."""
    return Waiting()


def hint(task_id: Any, *, variant: Any = None) -> None:
    """Give no help: nobody reads it here."""
