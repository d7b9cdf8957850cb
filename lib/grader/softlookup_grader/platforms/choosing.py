"""Which of a person's files is the notebook of an assignment: told by what is in them, not by what they are called."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.notebooks import BadNotebook, cells_in, grade_id, is_solution
from softlookup_grader.course.personal import own_release
from softlookup_grader.data.errors import CourseError
from softlookup_grader.judging.matching import mark_of
from softlookup_grader.judging.rebuild import rebuild
from softlookup_grader.platforms.items import ArrivedFile, ReadLimits, inner_zip

_ZIP = b"PK\x03\x04"
_KINDS = (
    (re.compile(rb"\s*\Z"), "is empty"),
    (re.compile(rb"(?i)\s*<(!doctype html|html)"), "is a web page (HTML), not a notebook"),
    (re.compile(rb"%PDF"), "is a PDF file, not a notebook"),
    (
        re.compile(rb"Rar!|7z\xbc\xaf|\x1f\x8b|BZh|\xfd7zXZ"),
        "is an archive that is not opened: hand in the notebook itself",
    ),
    (re.compile(rb"version https://git-lfs"), "is a pointer of Git LFS, and the file itself was not pushed"),
)


@dataclass(frozen=True)
class Chosen:
    """The notebook of one person, or why there is none."""

    item: ArrivedFile | None = None  # the file; None if there is none
    content: bytes = b""  # its bytes
    why: str = ""  # why there is none, one clause
    missed: str = ""  # which other notebooks could not be read, and why, clauses; empty if all could


class _Another(BadNotebook):
    """A notebook that can be read, and is none of the assignment."""


@dataclass
class _Spare:
    """What may still be read of one person, and which notebooks could not be."""

    limits: ReadLimits
    files: int
    size: int
    spent: bool = False
    missed: list[str] = field(default_factory=list)

    def take(self, item: ArrivedFile) -> None:
        """Account for a file before it is read; BadNotebook if it is one too many."""
        self.files, self.size = self.files - 1, self.size - item.size
        self.spent = self.files < 0 or self.size < 0
        if self.spent:
            most = f"more than {self.limits.files:,} files, or {self.limits.size:,} bytes: hand in the notebook alone"
            raise BadNotebook(f"{item.name} was not read, since there are {most}")


class Chooser:
    """Finds notebooks of one assignment."""

    def __init__(self, course: Course, assignment: str, limits: ReadLimits | None = None) -> None:
        """Look at the releases."""
        self._course, self._assignment, self._limits = course, assignment, limits or ReadLimits()
        path = course.notebook("release", ".", assignment)
        if not path.is_file():
            raise CourseError(
                f"{assignment} has no notebook in {path.parent}: 'softlookup release {assignment}' makes it"
            )
        self._own = nbformat.read(path, as_version=4)

    def choose(self, student: str, items: Sequence[ArrivedFile]) -> Chosen:
        """Choose among all that came in for one student."""
        there = sorted((item for item in items if not item.hidden), key=_turn)
        spare = _Spare(self._limits, self._limits.files, self._limits.size)
        notebooks, problems = self._sorted([item for item in there if _is_notebook(item)], spare)
        if not notebooks:
            notebooks, others = self._sorted([item for item in there if not _is_notebook(item)], spare)
            problems = problems or others
        if not notebooks:
            return Chosen(why=_listed(problems) or "it holds no file")
        if spare.files < 0:  # the answers may be in a file that was not read
            return Chosen(why=spare.missed[-1])
        return replace(self._one_of(student, notebooks), missed=_listed(spare.missed))

    def _sorted(
        self, items: Sequence[ArrivedFile], spare: "_Spare", in_zip: bool = False
    ) -> tuple[list[ArrivedFile], list[str]]:
        """Those that are notebooks of the assignment, also inside of zips, and a clause for each of the others."""
        notebooks: list[ArrivedFile] = []
        problems: list[str] = []
        for item in items:
            try:
                spare.take(item)
                content = item.read(self._limits.file_size)
                if not content.startswith(_ZIP):
                    self._require(item.name, content)
                    notebooks.append(item)
                elif in_zip:
                    raise BadNotebook(f"{item.name} is a zip inside of a zip: hand in the notebook itself")
                else:
                    every = inner_zip(item, content, self._limits.inside)
                    inside = [inner for inner in every if _is_notebook(inner) and not inner.hidden]
                    more, others = self._sorted(sorted(inside, key=_turn), spare, in_zip=True)
                    notebooks += more
                    problems += others if inside else [f"{item.name} is a zip without a notebook"]
            except BadNotebook as error:
                problems.append(str(error).rstrip("."))
                if spare.spent or (_is_notebook(item) and not isinstance(error, _Another)):
                    spare.missed.append(problems[-1])
            if spare.spent:
                break
        return notebooks, problems

    def _require(self, name: str, content: bytes) -> None:
        """Hold that a file is a notebook of the assignment."""
        file_description = next((says for begins, says in _KINDS if begins.match(content)), "")
        if file_description:
            raise BadNotebook(f"{name} {file_description}")
        if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and ".ipynb" not in name.casefold():
            raise BadNotebook(f"{name} is not a notebook")
        cells = cells_in(content, name)
        marks = {mark for cell in cells for mark in (mark_of(cell), str(cell.get("id", ""))) if mark}
        hits = {assignment: len(marks & ids) for assignment, ids in self._answers.items()}
        most = max(hits.values(), default=0)
        if most and hits[self._assignment] < most:
            other = next(assignment for assignment, count in hits.items() if count == most)
            raise _Another(f"{name} is the notebook of {one_line(other)}")
        if not most:
            try:
                rebuild(self._own, content, name)  # an editor lost the marks: what grading makes of it decides
            except BadNotebook as error:
                raise _Another(str(error)) from None

    def _one_of(self, student: str, notebooks: Sequence[ArrivedFile]) -> Chosen:
        """The one of several notebooks that counts; none where two differ."""
        if len(notebooks) == 1:
            return Chosen(notebooks[0], notebooks[0].read())
        personal = own_release(self._course, self._assignment, student)
        release = self._own if personal is None else nbformat.reads(personal.decode(), as_version=4)
        different: dict[str, ArrivedFile] = {}
        blank: list[ArrivedFile] = []
        for item in notebooks:
            result = rebuild(release, item.read(), item.name)
            if not _solution_ids(result.notebook.cells) - result.untouched:
                blank.append(item)
            else:
                different.setdefault(_answers_of(result.notebook), item)
        if len(different) > 1:
            paths = " and ".join(one_line(item.path, 120) for item in islice(different.values(), 3))
            more = f" and {len(different) - 3} more" if len(different) > 3 else ""
            return Chosen(
                why=f"{paths}{more} are different notebooks of this assignment: ask which counts, and put it into "
                f"submitted/{one_line(student)}/{self._assignment}/{self._assignment}.ipynb"
            )
        item = next(iter(different.values()), blank[0] if blank else notebooks[0])
        return Chosen(item, item.read())

    @cached_property
    def _answers(self) -> Mapping[str, frozenset[str]]:
        """The names of the cells for answers, by assignment that was released."""
        with self._course.gradebook() as book:
            names = sorted(row.name for row in book.assignments)
        return {self._assignment: _solution_ids(self._own.cells)} | dict(
            self._answers_in(name for name in names if name != self._assignment)
        )

    def _answers_in(self, names: Iterator[str]) -> Iterator[tuple[str, frozenset[str]]]:
        for name in names:
            path = self._course.notebook("release", ".", name)
            try:
                yield name, _solution_ids(cells_in(path.read_bytes(), path.name))
            except (OSError, BadNotebook):  # its release is gone: a notebook of it is not known by its name
                continue


def _solution_ids(cells: Sequence[Any]) -> frozenset[str]:
    return frozenset(grade_id(cell) for cell in cells if is_solution(cell))


def _answers_of(notebook: NotebookNode) -> str:
    """What is graded of a notebook, as a text that two notebooks of the same answers share."""
    return repr([(cell.source.strip(), sorted(cell.get("attachments", {}).items())) for cell in notebook.cells])


def _listed(clauses: Sequence[str]) -> str:
    if len(clauses) < 4:
        return "; ".join(clauses)
    return f"{'; '.join(clauses[:2])}; and {len(clauses) - 3} more; {clauses[-1]}"


def _is_notebook(item: ArrivedFile) -> bool:
    """Whether a file is called a notebook, also where a browser or a person put something behind that."""
    return ".ipynb" in item.parts[-1].casefold()


def _turn(item: ArrivedFile) -> tuple[bool, int]:
    """When a file is read: small ones first, so that a large one cannot take the room of the notebook."""
    return bool(item.trouble), item.size
