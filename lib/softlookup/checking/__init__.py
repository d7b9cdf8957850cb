"""Graded tasks: what they ask, how an answer is checked, which mistake it is, and a picture of it."""

from softlookup.checking.catalogue import UnknownTask, get_task, tasks
from softlookup.checking.home import check, hint, inputs
from softlookup.checking.inside.case import Case
from softlookup.checking.inside.probe import Answer
from softlookup.checking.protocols import Judge, Student
from softlookup.checking.result import MIME, CheckResult
from softlookup.checking.task import Mistake, Task

__all__ = [
    "MIME",
    "Answer",
    "Case",
    "CheckResult",
    "Judge",
    "Mistake",
    "Student",
    "Task",
    "UnknownTask",
    "check",
    "get_task",
    "hint",
    "inputs",
    "tasks",
]
