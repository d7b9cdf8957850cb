"""The folder autograded/, as nbgrader's autograde leaves it: notebooks, and the files that come with the course."""

import os
import shutil
from collections.abc import Iterable
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
            str(path.relative_to(source)): path
            for path in map(Path, find_all_files(str(source), ignored) if source.is_dir() else ())
            if path not in excluded
        }

    def has(self, student: str) -> bool:
        """Whether a graded notebook of a student lies there."""
        return any(path.is_file() for path in self._course.notebooks("autograded", student, self._assignment))

    def read(self, student: str) -> tuple[tuple[str, str], ...]:
        """The graded notebooks of a student that lie there: names and JSON texts."""
        paths = self._course.notebooks("autograded", student, self._assignment)
        return tuple((path.stem, path.read_text(encoding="utf-8")) for path in paths if path.is_file())

    def write(self, student: str, notebooks: Iterable[tuple[str, str]]) -> None:
        """Put graded notebooks (JSON) and nbgrader's slips there, and remove what an earlier grading left."""
        folder = self._course.folder("autograded", student, self._assignment)
        contents = {f"{name}.ipynb": notebook.encode("utf-8", "replace") for name, notebook in notebooks}
        with disk_trouble(folder):
            contents |= {relative: origin.read_bytes() for relative, origin in self._extras.items()}
            contents |= read_slips(self._course, self._assignment, student)
            for name, content in contents.items():
                atomic_write(folder / name, content, self._mode)
            required_paths = {folder / name for name in contents}
            for inner, _, names in os.walk(folder):
                for leftover in {Path(inner, name) for name in names} - required_paths:
                    leftover.unlink()

    def remove(self, student: str) -> None:
        """Take away what an earlier grading left."""
        shutil.rmtree(self._course.folder("autograded", student, self._assignment), ignore_errors=True)
