"""Parts of nbgrader that a course replaces in its ``nbgrader_config.py``, so that its buttons and commands do no harm.

Stock autograde runs students' code with the instructor's rights, and stock release_feedback stops at the first student
whose notebook did not come through the exchange.
"""

import glob
import os
import shutil
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.exchange.default.fetch_assignment import ExchangeFetchAssignment
from nbgrader.exchange.default.release_feedback import ExchangeReleaseFeedback
from nbgrader.utils import get_username, temp_attrs

from softlookup_command.plain_text import one_line
from softlookup_grader.course.personal import FOLDER

_SLIPS = ("timestamp.txt", "submission_secret.txt")


class GradingElsewhere(Exception):
    """Autograding was asked for where it would run without the sandbox."""


class NoAutograde(NotebookExporter):
    """Stops nbgrader's autograde before it touches anything, and says what to run."""

    def __init__(self, *, parent: Any = None, **kwargs: Any) -> None:
        """Refuse: always a GradingElsewhere."""
        directory: CourseDirectory | None = getattr(parent, "coursedir", None)
        name = one_line(directory.assignment_id) if directory and directory.assignment_id else "NN_topic"
        option = (
            f" --student {one_line(directory.student_id)}"
            if directory and directory.student_id not in ("", "*")
            else ""
        )
        raise GradingElsewhere(
            "nbgrader's autograde would run the students' code without a sandbox. In a terminal, in the folder of the "
            f"course, run: softlookup grade {name}{option}"
        )


class FetchOwn(ExchangeFetchAssignment):
    """Fetches an assignment; of one that was released for each student, the student's own notebook."""

    def do_copy(self, src: str, dest: str) -> None:
        """Copy the folder, with the student's own notebook in the place of the common one."""
        personal_folder = Path(src) / FOLDER
        name = self.coursedir.student_id if self.coursedir.student_id != "*" else get_username()
        personal_notebook = personal_folder / f"{name}.ipynb"
        if personal_folder.is_dir() and not personal_notebook.is_file():
            self.fail(f"no notebook was made for {one_line(name)} in this assignment: ask the instructor for it")
        with temp_attrs(self.coursedir, ignore=[*self.coursedir.ignore, FOLDER]):
            super().do_copy(src, dest)
        common = Path(dest) / f"{self.coursedir.assignment_id}.ipynb"
        if personal_notebook.is_file() and common.read_bytes() == (Path(src) / common.name).read_bytes():
            shutil.copyfile(personal_notebook, common)  # not over an answer that was begun


class CollectNoLinks(ExchangeCollect):
    """Collects from the exchange without following links, and for the instructor alone."""

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a hand-in without the links in it."""
        entries = [os.path.join(above, name) for above, inner, files in os.walk(src) for name in (*inner, *files)]
        links = sorted({os.path.basename(path) for path in entries if os.path.islink(path)})
        with temp_attrs(self.coursedir, ignore=[*self.coursedir.ignore, *map(glob.escape, links)]):
            super().do_copy(src, dest, log)
        if not self.coursedir.groupshared:
            self.set_perms(dest, fileperms=0o600, dirperms=0o700)
        for name in links:
            self.log.warning("the link %s in %s was left out", one_line(name), one_line(os.path.basename(src)))


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Gives feedback back through the exchange to those whose notebook came through it, and names the others."""

    def copy_files(self) -> None:
        """Copy the pages into the exchange."""
        others = sorted(
            page.parent.parent.name
            for page in map(Path, sorted(glob.glob(os.path.join(self.src_path, "*.html"))))
            if not all((page.parent / slip_name).is_file() for slip_name in _SLIPS)
        )
        excluded = [name for name in (self.coursedir.student_id_exclude or "").split(",") if name]
        with temp_attrs(self.coursedir, student_id_exclude=",".join([*excluded, *others])):
            super().copy_files()
        # The copies are as private as the pages. The exchange shows each to whoever knows its name, and lists none.
        for copy in Path(self.dest_path).glob("*.html"):
            copy.chmod(0o644)
        for name in others:
            self.log.warning(
                "%s got no feedback through the exchange, since the notebook did not come through it", one_line(name)
            )
