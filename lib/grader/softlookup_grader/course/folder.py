"""A course's folder as nbgrader lays it out: source, release, submitted, autograded, feedback, gradebook."""

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, timezone, tzinfo
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_grader.course import staging
from softlookup_grader.course.entering import convert, enter, one_transaction
from softlookup_grader.course.layouts import ReleaseLayout, layout_in
from softlookup_grader.course.student_ids import id_trouble, left_out, nobody, quoted_id
from softlookup_grader.data.dates import zone_named
from softlookup_grader.data.disk import as_placed, atomic_write, disk_trouble, shared_with_group
from softlookup_grader.data.errors import CourseError, GradebookError
from softlookup_grader.data.locks import lock

CONFIG_NAME = "nbgrader_config.py"
_STUDENT, _ASSIGNMENT = "{student}", "{assignment}"
"""What stands for a student's id and an assignment's name in a structure of folders."""

ATTACKS = ".attacks"  # a file of this name says that a course holds submissions that attack the grader


@dataclass(frozen=True)
class Source:
    """What an assignment is released from."""

    notebook: NotebookNode  # with solutions
    # files beside it, which nbgrader copies to the release; None removes one
    beside: Mapping[str, bytes | None] = field(default_factory=dict)
    # files that the release has besides, by their paths in it
    released: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Course:
    """One course's folder, ``root``, and where things lie in it: where the instructor's own nbgrader_config.py says."""

    root: Path

    @classmethod
    def at(cls, folder: Path) -> "Course":
        """Take a folder as a course, and finish a release that was killed half-way; CourseError if it is none."""
        root = folder.resolve()
        if not root.is_dir():
            raise CourseError(f"there is no folder {folder}: 'softlookup sample {folder}' makes a sample course")
        if not (root / CONFIG_NAME).is_file():
            raise CourseError(f"{folder} is not a course's folder (no {CONFIG_NAME} in it): name one with --course")
        course = cls(root)
        if staging.is_decided(root):
            course._finish_release()
        return course

    def __reduce__(self) -> tuple[type["Course"], tuple[Path]]:
        """Only the folder travels to another process."""
        return Course, (self.root,)

    @cached_property
    def config(self) -> Any:
        """The course's nbgrader configuration, a traitlets Config."""
        from traitlets.config import Config, PyFileConfigLoader

        config = Config()
        if not (self.root.is_dir() and shared_with_group(self.root)):
            # nbgrader sets permissions whatever the umask says: 644, or 444, unless its settings say something else.
            config.BaseConverter.permissions, config.Autograde.permissions = 600, 400
        if (self.root / CONFIG_NAME).exists():
            config.merge(PyFileConfigLoader(CONFIG_NAME, path=str(self.root)).load_config())
        config.CourseDirectory.root = str(self.root)
        return config

    @cached_property
    def zone(self) -> tzinfo:
        """The course's time zone, in which nbgrader's formgrader shows times, too; UTC if nothing says it."""
        return self._zone("NbGraderAPI")

    @cached_property
    def exchange_zone(self) -> tzinfo:
        """The time zone in which nbgrader's exchange records times; UTC if nothing says it."""
        return self._zone("Exchange")

    def _zone(self, section: str) -> tzinfo:
        name = str(self.config[section].get("timezone", "UTC"))
        zone = zone_named(name)
        if isinstance(zone, timezone) and zone is not UTC:
            # nbgrader would read it as POSIX does, with its sign turned.
            raise CourseError(f"{section}.timezone in {CONFIG_NAME} is {name!r}: name a place, such as Europe/London")
        return zone

    @cached_property
    def directory(self) -> Any:
        """The folder as nbgrader sees it, a CourseDirectory."""
        from nbgrader.coursedir import CourseDirectory
        from sqlalchemy.engine import make_url

        directory = CourseDirectory(config=self.config)
        address = make_url(directory.db_url)
        name = address.database if address.get_backend_name() == "sqlite" else ""
        if name and not name.startswith(("/", "file:", ":")):  # in the course, from wherever a command is run
            directory.db_url = address.set(database=str(self.root / name)).render_as_string(hide_password=False)
        return directory

    def folder(self, step: str, student: str, assignment: str) -> Path:
        """Where the files of one step, such as "submitted", lie; ``student`` is "." for "source" and "release"."""
        pattern = getattr(self.directory, f"{step}_directory")
        return Path(os.path.normpath(self.directory.format_path(pattern, student, assignment)))

    def notebook(self, step: str, student: str, assignment: str, name: str = "") -> Path:
        """A notebook of one step; without a name, that of an assignment of one notebook, which is named like it."""
        return self.folder(step, student, assignment) / f"{name or assignment}.ipynb"

    def layout(self, assignment: str) -> ReleaseLayout:
        """Which notebooks an assignment was released with."""
        return layout_in(self.folder("release", ".", assignment), assignment)

    def notebooks(self, step: str, student: str, assignment: str) -> list[Path]:
        """Where the notebooks of an assignment lie in one step."""
        folder = self.folder(step, student, assignment)
        return [folder / f"{name}.ipynb" for name in self.layout(assignment).notebooks]

    def students(self, required_ids: Iterable[str] = ()) -> list[str]:
        """Ids of everybody with submissions or a row in the gradebook, sorted; CourseError if a required one is not."""
        folders = self.submitters()
        refused = left_out(folders)
        names = {name for name in folders if name not in refused}
        with self.gradebook() as book:
            names.update(student.id for student in book.students if not id_trouble(student.id))
        excluded = set(self.directory.student_id_exclude.split(","))
        students = sorted(names - refused.keys() - excluded, key=_by_number)
        if unknown := sorted(set(required_ids) - set(students)):
            raise CourseError(nobody(unknown[0], students))
        return students

    def left_out(self, assignment: str) -> list[str]:
        """Folders of submitted/, hidden ones only if in use, and rows of the gradebook that are nobody's: sentences."""
        sentences = []
        for name, why in sorted(left_out(self.submitters()).items()):
            if not name.startswith(".") or os.path.lexists(self.folder("submitted", name, assignment)):
                sentences.append(
                    f"the folder {quoted_id(name)} in submitted/ is left out: {why}; rename it and grade again"
                )
        with self.gradebook() as book:
            rows = {student.id: why for student in book.students if (why := id_trouble(student.id))}
        for name in sorted(rows.keys() - set(self.submitters())):
            sentences.append(
                f"the row {quoted_id(name)} of the gradebook is left out: {rows[name]}; "
                "enter the student under another id"
            )
        return sentences

    def names_as_markup(self) -> list[str]:
        """Students whose first or last name in the gradebook formgrader would take for HTML, a sentence each."""
        with self.gradebook() as book:
            student_ids = [
                student.id for student in book.students if "<" in f"{student.first_name or ''}{student.last_name or ''}"
            ]
        return [
            f"the gradebook's name of {quoted_id(student_id)} holds '<', which formgrader would run as HTML: correct "
            "it before you open formgrader"
            for student_id in student_ids
        ]

    def has_submissions(self) -> bool:
        """Whether anybody has a folder of submissions."""
        return bool(self.submitters())

    def submitters(self) -> list[str]:
        """The names of the folders in which students hand in, wherever the course's structure of folders has them."""
        marks = {"student_id": _STUDENT, "assignment_id": _ASSIGNMENT}
        structure = self.directory.directory_structure.format(nbgrader_step=self.directory.submitted_directory, **marks)
        return list(dict.fromkeys(_students_below([self.root], Path(structure).parts)))

    @property
    def submitted(self) -> Path:
        """The folder in which each student has one."""
        return Path(os.path.normpath(self.root / self.directory.submitted_directory))

    def attacks(self) -> bool:
        """Whether it says of itself that it holds submissions that attack the grader."""
        return (self.root / ATTACKS).exists()

    def require(self, assignment: str) -> None:
        """Hold that the gradebook knows an assignment: else it is a CourseError."""
        with self.gradebook() as book:
            find_assignment(book, assignment)

    @contextlib.contextmanager
    def gradebook(self) -> Iterator[Any]:
        """The course's Gradebook, open, made once something stands in it; GradebookError where it refuses something."""
        from nbgrader.api import Gradebook, InvalidEntry
        from sqlalchemy.exc import SQLAlchemyError

        use_own_programs()
        path = self.gradebook_file()
        try:
            if path is not None and not path.exists() and path.parent.is_dir():
                with self._new_gradebook(path) as book:
                    yield book
                return
            with Gradebook(self.directory.db_url, self.directory.course_id) as book:
                yield book
        except (SQLAlchemyError, InvalidEntry) as error:
            raise gradebook_error(error) from error

    @contextlib.contextmanager
    def _new_gradebook(self, path: Path) -> Iterator[Any]:
        """A gradebook that is put into its place whole: a killed command leaves no half of one, a refused one none."""
        from nbgrader.api import Gradebook

        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with Gradebook(f"sqlite:///{fresh}", self.directory.course_id) as book:
                try:
                    yield book
                finally:
                    book.db.rollback()
                    if book.students or book.assignments:
                        # Not a rename: another process may have made one meanwhile, and written to it.
                        with disk_trouble(path), contextlib.suppress(FileExistsError):
                            os.link(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)

    def gradebook_file(self) -> Path | None:
        """The file that the gradebook is, None where a database's server keeps it."""
        from sqlalchemy.engine import make_url

        address = make_url(self.directory.db_url)
        if address.get_backend_name() != "sqlite" or not address.database:
            return None
        return (self.root / address.database).resolve()

    def gradebook_place(self) -> str:
        """Where the gradebook is, to be shown: a file, or a database's address without its password."""
        from sqlalchemy.engine import make_url

        path = self.gradebook_file()
        if path is None:
            return make_url(self.directory.db_url).render_as_string(hide_password=True)
        return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

    @contextlib.contextmanager
    def one_writer(self) -> Iterator[None]:
        """Hold the right to write the gradebook; whoever else wants it waits, in this process or another."""
        with open(self.root / ".gradebook.lock", "w") as handle:
            lock(handle.fileno())
            yield

    def release(self, sources: Mapping[str, NotebookNode | Source], files: Mapping[Path, bytes] | None = None) -> None:
        """Write sources by assignment, have nbgrader release them, and write ``files``: all of it, or nothing.

        What a kill leaves between the last renames is finished by the next who opens the course.
        """
        use_own_programs()
        log = self.log("release")
        if staging.is_decided(self.root):
            self._finish_release()
        with staging.staged(self.root) as stage:
            cells = stage.folder / "cells"
            with disk_trouble(stage.folder):
                cells.mkdir()
                for name, source in sources.items():
                    source = source if isinstance(source, Source) else Source(source)
                    try:
                        with quiet(log):
                            self._stage(stage, cells / name, name, source)
                    except CourseError as error:
                        raise CourseError(f"{error}: see {log}. Nothing was written") from error
                for path, content in (files or {}).items():
                    stage.add(content, path)
            with quiet(log):
                self._enter(cells, stage)
            staging.finish(self.root)

    def _stage(self, stage: staging.Stage, cells: Path, name: str, source: Source) -> None:
        """Put one assignment's source and release together."""
        into, release = stage.folder / "source" / name, stage.folder / "release" / name
        folder = self.folder("source", ".", name)
        if folder.is_dir():
            shutil.copytree(folder, into, ignore_dangling_symlinks=True)
        into.mkdir(parents=True, exist_ok=True)
        for file, content in {f"{name}.ipynb": nbformat.writes(source.notebook).encode(), **source.beside}.items():
            if content is None:
                (into / file).unlink(missing_ok=True)
                stage.remove(folder / file)
            else:
                (into / file).write_bytes(content)
        notebooks = convert(self.directory, self.config, name, into.parent, release.parent)
        for file, content in source.released.items():
            (release / file).parent.mkdir(exist_ok=True)
            (release / file).write_bytes(content)
        cells.mkdir(parents=True)
        for notebook_name, notebook in notebooks.items():
            nbformat.write(notebook, cells / f"{notebook_name}.ipynb")
        for file in (f"{name}.ipynb", *(file for file, content in source.beside.items() if content is not None)):
            stage.take(into / file, folder / file)
        stage.take(release, self.folder("release", ".", name))

    def _enter(self, cells: Path, stage: staging.Stage | None = None) -> None:
        """Enter what is staged into the gradebook, in one transaction; before it is committed, the stage is decided."""
        with self.one_writer(), self.gradebook() as book, one_transaction(book) as commit:
            for folder in sorted(cells.iterdir()):
                enter(book, folder.name, {path.stem: nbformat.read(path, 4) for path in sorted(folder.iterdir())})
            if stage is None:
                commit()
                return
            with disk_trouble(stage.folder):
                stage.decide()
            try:
                commit()
            except BaseException:
                stage.undo()
                raise

    def _finish_release(self) -> None:
        """Finish a release that was decided and then broken off."""
        with staging.only_one(self.root):
            if staging.is_decided(self.root):  # else another has finished it by now
                use_own_programs()
                with quiet(self.log("release")):
                    self._enter(self.root / staging.DECIDED / "cells")
                staging.finish(self.root)

    def log(self, *names: str) -> Path:
        """A log file of this course, its folder made."""
        path = self.root.joinpath("logs", *names).with_suffix(".log")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def new_course(folder: Path, config: Path) -> Course:
    """Make an empty course's folder that nobody else can read; one that holds something keeps its permissions."""
    with disk_trouble(folder / CONFIG_NAME):
        fresh = not folder.is_dir() or not any(folder.iterdir())
        with as_placed(folder.parent):
            folder.mkdir(parents=True, exist_ok=True)
        if fresh and not shared_with_group(folder):  # what it will hold concerns students
            folder.chmod(0o700)
        content = config.read_bytes()
    atomic_write(folder / CONFIG_NAME, content)
    return Course(folder.resolve())


def find_assignment(book: Any, assignment: str) -> Any:
    """The row of an assignment in an open gradebook; CourseError if there is none of that name."""
    from nbgrader.api import MissingEntry

    try:
        return book.find_assignment(assignment)
    except MissingEntry:
        has = ", ".join(sorted(row.name for row in book.assignments)) or "none"
        raise CourseError(
            f"the gradebook knows no assignment {assignment!r} (it has: {has}); 'softlookup release' or 'nbgrader "
            "generate_assignment' adds one"
        ) from None


def find_notebook(book: Any, assignment: str, name: str) -> Any:
    """The row of an assignment's notebook in an open gradebook; CourseError if there is none of that name."""
    from nbgrader.api import MissingEntry

    try:
        return book.find_notebook(name, assignment)
    except MissingEntry:
        raise CourseError(
            f"the gradebook knows no notebook {name!r} of {assignment}: release {assignment} again, or remove "
            f"{name}.ipynb from its release"
        ) from None


def gradebook_error(error: Exception) -> GradebookError:
    """Say in one sentence what the gradebook's database refused."""
    says = str(getattr(error, "orig", None) or error).strip().splitlines() or [type(error).__name__]
    hints = {
        "is locked": ": another program holds it; close that, or wait for it",
        "readonly": ": let this account write the file and its folder",
        "not a database": ": put a backup in its place",
        "is full": ": make room and run the same command again",
    }
    hint = next((advice for sign, advice in hints.items() if sign in says[0]), "")
    return GradebookError(f"the gradebook cannot be used ({says[0][:200]}){hint}")


def use_own_programs() -> None:
    """Put this Python's programs first on PATH: nbgrader calls alembic by name."""
    folder = str(Path(sys.executable).parent)
    parts = os.environ.get("PATH", "").split(os.pathsep)
    if parts[0] != folder:
        os.environ["PATH"] = os.pathsep.join([folder, *parts])


@contextlib.contextmanager
def quiet(log: Path) -> Iterator[None]:
    """Send what this process and its children print into a file: nbgrader, alembic and kernels are noisy."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved_fds = os.dup(1), os.dup(2)
    try:
        with open(log, "a", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            with contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
                yield
    finally:
        os.dup2(saved_fds[0], 1)
        os.dup2(saved_fds[1], 2)
        os.close(saved_fds[0])
        os.close(saved_fds[1])


def _students_below(folders: Iterable[Path], structure: Sequence[str]) -> Iterator[str]:
    """The names of the folders that stand for students in a structure of folders."""
    part, *below = structure or [""]
    for folder in folders if part else ():
        if part not in (_STUDENT, _ASSIGNMENT):
            yield from _students_below([folder / part], below)
        elif folder.is_dir():
            with os.scandir(folder) as entries:
                inner = [entry for entry in entries if _is_folder(entry)]
            if part == _STUDENT:
                yield from (entry.name for entry in inner)
            else:
                yield from _students_below([Path(entry.path) for entry in inner if not entry.is_symlink()], below)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in a circle
        return False


def _by_number(name: str) -> list[tuple[int, str]]:
    """Sort key under which student-2 comes before student-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
