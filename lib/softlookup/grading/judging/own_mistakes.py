"""Mistakes of the judge's own: the log gets where it happened, the instructor gets a sentence, nobody loses points."""

import sys
import traceback

from softlookup.checking.home import in_stage
from softlookup.checking.task import Task


def log_failure(task: Task, error: Exception) -> str:
    """Write into the workers' log how the judge failed on a task.

    The traceback stays there, since its lines may hold right answers.

    Returns:
        The remark for the instructor.
    """
    print(f"The judge failed on task {task.id}:", *traceback.format_exception(error), file=sys.stderr)
    what = f"The grader made a mistake while it judged task {task.id} ({type(error).__name__}{in_stage(error)})"
    return f"{what}: a person has to give its points; the workers' log says where it happened."
