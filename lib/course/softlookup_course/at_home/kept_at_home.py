"""Keeps beside a student's notebook what commands find, for the other commands and the notebook's own checks."""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from softlookup_command.plain_text import one_line
from softlookup_grader.data.disk import atomic_write
from softlookup_grader.data.errors import CourseError
from softlookup_judge.helping.kept import KEPT_FILE, OLDER_FILE, TaskKept, kept_lines, read_kept


def keep(folder: Path, changes: Mapping[str, Mapping[str, Any]]) -> str:
    """Write down what was found: by task, the fields of ``TaskKept`` that are other than before.

    One sentence where the file, beside the notebook, was damaged, or could not be written; else nothing. More than that
    it never costs.
    """
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
    with contextlib.suppress(OSError):  # all that it held stands in the new file
        (folder / OLDER_FILE).unlink(missing_ok=True)
    return (
        f"{file} was damaged and was written anew: what it said of earlier checks, hints and questions is lost."
        if damaged
        else ""
    )
