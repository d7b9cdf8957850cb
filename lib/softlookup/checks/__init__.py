"""Graded tasks: what they ask, how an answer is checked, which mistake it is, and a picture of it."""

from softlookup.checks.home import check
from softlookup.checks.registry import UnknownTask, get_task, tasks
from softlookup.checks.result import MIME, CheckResult
from softlookup.checks.task import Case, Mistake, Task

__all__ = ["MIME", "Case", "CheckResult", "Mistake", "Task", "UnknownTask", "check", "get_task", "tasks"]
