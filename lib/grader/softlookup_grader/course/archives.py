"""The archives in a course's folder that were made to be given out."""

import zipfile
from pathlib import Path

from softlookup_grader.course.folder import Course
from softlookup_grader.course.personal import made_for

HANDOUT, PUBLISHED = "handout", "published"
"""The folders of a course that hold what was made to be given out: assignments, and their answers."""


def archives_with(course: Course, student: str) -> list[Path]:
    """The archives in a course's folder that hold something made for one student alone."""
    archives = []
    for path in sorted(path for folder in (HANDOUT, PUBLISHED) for path in (course.root / folder).glob("*.zip")):
        try:
            with zipfile.ZipFile(path) as archive:
                if any(
                    made_for(archive.read(name)) == student for name in archive.namelist() if name.endswith(".ipynb")
                ):
                    archives.append(path)
        except (OSError, zipfile.BadZipFile, NotImplementedError):
            continue  # nothing of ours
    return archives
