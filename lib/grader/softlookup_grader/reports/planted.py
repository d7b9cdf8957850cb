"""The mistakes that were planted in a sample class, so that a table can say whether each was named."""

import json

from softlookup_grader.course.folder import Course

MARKER = "sample.json"  # of a sample class: what each student of it did


def planted_mistakes(course: Course, assignment: str) -> dict[str, dict[str, str]]:
    """The mistakes that were planted in a sample class, by student and task; nothing for a real class."""
    path = course.root / MARKER
    if not path.is_file():
        return {}
    content = json.loads(path.read_text(encoding="utf-8")).get(assignment, {})
    return {student: about["planted"] for student, about in content.items() if about["planted"]}
