"""The folder autograded/, as nbgrader's autograde leaves it: the notebook, and the files that come with the course."""

import os
import shutil
from pathlib import Path

from nbgrader.converters import Autograde
from nbgrader.utils import find_all_files

from softlookup_grader.course.folder import Course
from softlookup_grader.course.inbox import read_slips
from softlookup_grader.data.disk import atomic_write, disk_trouble


class Autograded:
    """What lies in autograded/ of one assignment."""

    def __init__(self, course: Course, assignment: str) -> None:
        """Look up what every student's folder gets."""
        self._course, self._assignment = course, assignment
        converter = Autograde(coursedir=course.directory, config=course.config)
        self._mode = int(str(converter.permissions), 8)
        source = course.folder("source", ".", assignment)
        excluded = {source / name for name in converter.exclude_overwriting.get(assignment, [])}
        ignored = [*course.directory.ignore, "*.ipynb"]
        self._extras = {
            path.relative_to(source): path
            for path in map(Path, find_all_files(str(source), ignored) if source.is_dir() else ())
            if path not in excluded
        }

    def has(self, student: str) -> bool:
        """Whether a student's graded notebook lies there."""
        return self._course.notebook("autograded", student, self._assignment).is_file()

    def write(self, student: str, notebook: str) -> None:
        """Put a graded notebook (JSON) and nbgrader's slips there, and remove what an earlier grading left."""
        path = self._course.notebook("autograded", student, self._assignment)
        atomic_write(path, notebook.encode("utf-8", "replace"), self._mode)
        required_paths = {path}
        with disk_trouble(path.parent):
            for relative, origin in self._extras.items():
                required_paths.add(path.parent / relative)
                atomic_write(path.parent / relative, origin.read_bytes(), self._mode)
            for name, content in read_slips(self._course, self._assignment, student).items():
                required_paths.add(path.parent / name)
                atomic_write(path.parent / name, content, self._mode)
            for folder, _, names in os.walk(path.parent):
                for leftover in {Path(folder, name) for name in names} - required_paths:
                    leftover.unlink()

    def remove(self, student: str) -> None:
        """Take away what an earlier grading left."""
        shutil.rmtree(self._course.folder("autograded", student, self._assignment), ignore_errors=True)
