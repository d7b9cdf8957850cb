"""The grader's commands. Each imports what it needs when it runs."""

from softlookup_grader.commands import by_hand, deadlines, doctor, groups, hand_ins, instructor

AUDIENCES = {
    "For instructors": (
        *(*hand_ins.COMMANDS, *groups.COMMANDS, *instructor.COMMANDS),
        *(*by_hand.COMMANDS, *deadlines.COMMANDS, *doctor.COMMANDS),
    )
}


def explained(error: Exception) -> str | None:
    """The sentence for what a course, a notebook, its tasks or the disk refuse."""
    from softlookup_grader import BadNotebook, CourseError
    from softlookup_grader.data.disk import disk_sentence, is_full
    from softlookup_judge.data.own import OwnTasksError

    if isinstance(error, BadNotebook | CourseError | OwnTasksError):
        return str(error)
    if isinstance(error, OSError) and is_full(error):
        return disk_sentence(error.filename or "a file", error)
    return None
