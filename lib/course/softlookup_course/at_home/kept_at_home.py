"""Keeps beside a student's notebook what commands find, for the other commands and the notebook's own checks."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from softlookup_command.plain_text import one_line
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_judge.helping.kept import KEPT_FILE, TaskKept, kept_lines, read_kept


def keep(folder: Path, changes: Mapping[str, Mapping[str, Any]]) -> str:
    """Write down changed fields of ``TaskKept`` by task; a sentence where the file was damaged or is not writable."""
    if not changes:
        return ""
    tasks, damaged = read_kept(folder)
    for task, fields in changes.items():
        tasks[task] = replace(tasks.get(task, TaskKept()), **fields)
    file = one_line(str(folder / KEPT_FILE))
    try:
        atomic_write(folder / KEPT_FILE, kept_lines(tasks).encode(), 0o600)
    except CourseError as error:
        reason = getattr(error.__cause__, "strerror", None) or error
        return f"This result will not be remembered, since {file} cannot be written ({reason}). All else is as usual."
    return (
        f"{file} was damaged and was written anew: what it said of earlier checks, hints and questions is lost."
        if damaged
        else ""
    )
