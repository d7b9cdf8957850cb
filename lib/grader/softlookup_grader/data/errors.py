"""What stops grading, in one sentence for the instructor."""


class CourseError(ValueError):
    """Something about a course's folder stops the work; the message is one sentence for the instructor."""


class GradebookError(CourseError):
    """The gradebook cannot be read or written now."""
