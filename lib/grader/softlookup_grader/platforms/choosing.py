"""Which of a person's files are the notebooks of an assignment: told by what is in them, not by what they are called.

Of several notebooks with cells of the same names each is known by its name.
"""

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import nbformat
from nbformat import NotebookNode

from softlookup_command.plain_text import one_line
from softlookup_grader.course.folder import Course
from softlookup_grader.course.inbox import MAX_BESIDE, MAX_BESIDE_BYTES, SECRET, STAMP
from softlookup_grader.course.notebooks import BadNotebook, cells_in, grade_id, is_solution
from softlookup_grader.course.personal import own_release
from softlookup_grader.judging.matching import handed_in, mark_of, match
from softlookup_grader.judging.rebuild import rebuild
from softlookup_grader.judging.settings import release_texts
from softlookup_grader.judging.stock import as_handed_in
from softlookup_grader.platforms.items import ArrivedFile, ReadLimits, inner_zip
from softlookup_grader.platforms.owners import given_name, is_platforms

_ZIP = b"PK\x03\x04"
_LONGEST = 200  # bytes of the name of a file that is taken along
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
    """The notebooks of one person, or why there is none."""

    items: tuple[ArrivedFile, ...] = ()  # the files that they are; none if there is none
    files: Mapping[str, bytes] = field(default_factory=dict)  # what they are called in submitted/, and what is beside
    why: str = ""  # why there is none, one clause
    missed: str = ""  # which other notebooks could not be read, and why, clauses; empty if all could
    not_taken: str = ""  # which files beside them were not taken, and why, clauses


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
    inside: list[ArrivedFile] = field(default_factory=list)  # what lies in the zips that were opened

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
        self._layout = course.layout(assignment)
        texts = release_texts(course, assignment)
        self._own = {name: nbformat.reads(text, as_version=4) for name, text in texts.items()}

    def choose(self, student: str, items: Sequence[ArrivedFile]) -> Chosen:
        """Choose among all that came in for one student."""
        there = sorted((item for item in items if not item.hidden), key=_turn)
        spare = _Spare(self._limits, self._limits.files, self._limits.size)
        notebooks, problems = self._sorted([item for item in there if _is_notebook(item)], spare)
        if len({name for name, _ in notebooks}) < len(self._own):
            others = [item for item in there if not _is_notebook(item) and (not notebooks or _is_zip(item))]
            more, other_problems = self._sorted(others, spare)
            notebooks, problems = notebooks + more, problems or other_problems
        if not notebooks:
            return Chosen(why=_listed(problems) or "it holds no file")
        if spare.files < 0:  # the answers may be in a file that was not read
            return Chosen(why=spare.missed[-1])
        items, files = list[ArrivedFile](), dict[str, bytes]()
        for name in self._own:
            if versions := [item for of, item in notebooks if of == name]:
                item, why = self._one_of(student, name, versions)
                if item is None:
                    return Chosen(why=why)
                items.append(item)
                files[f"{name}.ipynb"] = item.read()
        not_taken = self._add_beside(files, items, [*there, *spare.inside])
        return Chosen(tuple(items), files, missed=_listed(spare.missed), not_taken=_listed(not_taken))

    def _add_beside(
        self, files: dict[str, bytes], notebooks: Sequence[ArrivedFile], items: Iterable[ArrivedFile]
    ) -> list[str]:
        """Add what lies beside the notebooks, where they are run with it; give a clause for each that is not taken."""
        folders = {item.parts[:-1] for item in notebooks}
        is_flat = any(len(item.parts) == 1 and is_platforms(item.parts[0]) for item in notebooks)
        beside: dict[tuple[str, ...], ArrivedFile] = {}
        for item in items if self._layout.stock else ():
            above = max((folder for folder in folders if item.parts[: len(folder)] == folder), key=len, default=None)
            if above is not None and item.parts != above:
                top, *below = item.parts[len(above) :]
                beside.setdefault((given_name(top) if is_flat and not above else top, *below), item)
        not_taken, count, spare = list[str](), 0, MAX_BESIDE_BYTES
        for parts, item in sorted(beside.items(), key=lambda pair: pair[0]):
            path, above_it = "/".join(parts), ("/".join(parts[:at]) for at in range(1, len(parts)))
            if _is_notebook(item) or path in (STAMP, SECRET) or any(folder in files for folder in above_it):
                continue
            if any(fnmatch.fnmatch(part, sign) for part in parts for sign in self._course.directory.ignore):
                continue
            try:
                if max(len(part.encode("utf-8", "replace")) for part in parts) > _LONGEST:
                    raise BadNotebook(f"{item.name} has too long a name")
                if count >= MAX_BESIDE or item.size > spare:
                    most = f"{MAX_BESIDE} files and {MAX_BESIDE_BYTES // 1_000_000} MB"
                    raise BadNotebook(f"{item.name} was left out: beside notebooks at most {most} are taken")
                files[path] = item.read(spare)
                count, spare = count + 1, spare - len(files[path])
            except BadNotebook as error:
                not_taken.append(str(error).rstrip("."))
        return not_taken

    def _sorted(
        self, items: Sequence[ArrivedFile], spare: "_Spare", in_zip: bool = False
    ) -> tuple[list[tuple[str, ArrivedFile]], list[str]]:
        """Those that are notebooks of the assignment, also inside of zips, and a clause for each of the others."""
        notebooks: list[tuple[str, ArrivedFile]] = []
        problems: list[str] = []
        for item in items:
            try:
                spare.take(item)
                content = item.read(self._limits.file_size)
                if not content.startswith(_ZIP):
                    notebooks.append((self._which(item.name, content), item))
                elif in_zip:
                    raise BadNotebook(f"{item.name} is a zip inside of a zip: hand in the notebook itself")
                else:
                    every = inner_zip(item, content, self._limits.inside)
                    every = [inner for inner in every if not inner.hidden]
                    spare.inside += every
                    inside = [inner for inner in every if _is_notebook(inner)]
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

    def _which(self, name: str, content: bytes) -> str:
        """The name of the notebook of the assignment that a file is; BadNotebook if it is none."""
        file_description = next((says for begins, says in _KINDS if begins.match(content)), "")
        if file_description:
            raise BadNotebook(f"{name} {file_description}")
        if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and ".ipynb" not in name.casefold():
            raise BadNotebook(f"{name} is not a notebook")
        cells = cells_in(content, name)
        marks = {mark for cell in cells for mark in (mark_of(cell), str(cell.get("id", ""))) if mark}
        hits = {of: len(marks & ids) for of, ids in self._answers.items()}
        most = max(hits.values(), default=0)
        best = [of for of, count in hits.items() if count == most and most]
        candidates = [book for assignment, book in best if assignment == self._assignment]
        if best and not candidates:
            raise _Another(f"{name} is the notebook of {one_line(best[0][0])}")
        candidates = candidates or self._alike(name, content, cells)
        if len(candidates) > 1:
            candidates = [book for book in sorted(candidates, key=len) if book.casefold() in name.casefold()][-1:]
        if not candidates:
            raise _Another(f"{name} has cells of several notebooks, and is called like none: {', '.join(self._own)}")
        return candidates[0]

    def _alike(self, name: str, content: bytes, cells: Sequence[Mapping[str, Any]]) -> list[str]:
        """The notebooks that a file may be of which an editor lost the marks; BadNotebook if it is none."""
        if not self._layout.packed:
            try:
                rebuild(next(iter(self._own.values())), content, name)  # what grading makes of it decides
            except BadNotebook as error:
                raise _Another(str(error)) from None
            return list(self._own)
        handed = handed_in(cells)
        counts = {book: len(match(release.cells, handed).cells) for book, release in self._own.items()}
        most = max(counts.values())
        if most:
            return [book for book, count in counts.items() if count == most]
        bare = [book for book, release in self._own.items() if not any(map(grade_id, release.cells))]
        if candidates := [book for book in bare if book.casefold() in name.casefold()]:
            return candidates
        raise _Another(f"{name} has no cell of this assignment")

    def _one_of(self, student: str, name: str, notebooks: Sequence[ArrivedFile]) -> tuple[ArrivedFile | None, str]:
        """The one of several files of a notebook that counts; where two differ none, and why."""
        if len(notebooks) == 1:
            return notebooks[0], ""
        personal = own_release(self._course, self._assignment, student)
        release = self._own[name] if personal is None else nbformat.reads(personal.decode(), as_version=4)
        put_together = as_handed_in if self._layout.stock else rebuild
        different: dict[str, ArrivedFile] = {}
        blank: list[ArrivedFile] = []
        for item in notebooks:
            result = put_together(release, item.read(), item.name)
            if not _solution_ids(result.notebook.cells) - result.untouched:
                blank.append(item)
            else:
                different.setdefault(_answers_of(result.notebook), item)
        if len(different) > 1:
            paths = " and ".join(one_line(item.path, 120) for item in islice(different.values(), 3))
            more = f" and {len(different) - 3} more" if len(different) > 3 else ""
            return None, (
                f"{paths}{more} are different notebooks of this assignment: ask which counts, and put it into "
                f"submitted/{one_line(student)}/{self._assignment}/{name}.ipynb"
            )
        return next(iter(different.values()), blank[0] if blank else notebooks[0]), ""

    @cached_property
    def _answers(self) -> Mapping[tuple[str, str], frozenset[str]]:
        """The names of the cells for answers, by assignment that was released and notebook."""
        with self._course.gradebook() as book:
            names = sorted(row.name for row in book.assignments)
        answers = {(self._assignment, name): _solution_ids(release.cells) for name, release in self._own.items()}
        return answers | dict(self._answers_in(name for name in names if name != self._assignment))

    def _answers_in(self, names: Iterator[str]) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
        for name in names:
            for path in self._course.notebooks("release", ".", name):
                try:
                    yield (name, path.stem), _solution_ids(cells_in(path.read_bytes(), path.name))
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


def _is_zip(item: ArrivedFile) -> bool:
    return item.parts[-1].casefold().endswith(".zip")


def _turn(item: ArrivedFile) -> tuple[bool, int]:
    """When a file is read: small ones first, so that a large one cannot take the room of the notebook."""
    return bool(item.trouble), item.size
