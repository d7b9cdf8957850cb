"""Groups: one hand-in for several ids, by a table that a course gives, or by a line in the notebook itself.

Nothing is guessed: who has a notebook is graded by it. Where two would do and differ, a member without one gets no
verdict until somebody decides; in the place of a file that cannot be graded, only the table puts the group's.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from softlookup_command.plain_text import one_line
from softlookup_grader.course.arrived import UNREADABLE, arrivals
from softlookup_grader.course.folder import Course
from softlookup_grader.course.inbox import notebooks_in, read_submission
from softlookup_grader.course.notebooks import BadNotebook, cells_in
from softlookup_grader.course.personal import made_for
from softlookup_grader.data.disk import read_record, write_record
from softlookup_grader.data.errors import CourseError
from softlookup_grader.data.records import REFUSED
from softlookup_grader.data.tables import key_of
from softlookup_grader.data.work import digest_of

FILE = ".groups.json"
FIRST_CELLS = 5  # so many cells at the beginning of a notebook are searched for a line that names a group

MOST = 12  # so many ids a line may name; a longer one is no group's

_RAW = re.compile(rb"(?:group|handed in by)[\s*_]*:")  # in small letters, three times as fast as without case
_LINE = re.compile(r"^([ \t>*_+#-]*(?:group|handed in by)[ \t*_]*:(?:\*\*|__)?)([^\n]+)$", re.I | re.M)
_BETWEEN = re.compile(r"[,;&]|\s+and\s+", re.I)

Table = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Sharing:
    """Whose notebook counts for whom in one assignment."""

    table: Table = ()  # the groups of the course's table
    # for those who share a notebook with others, in whose folder it lies
    holders: Mapping[str, str] = field(default_factory=dict)
    copies: frozenset[str] = frozenset()  # those whose own folder holds the same file as the holder's
    undecided: Mapping[str, str] = field(default_factory=dict)  # students who get no verdict, each with the reason
    remarks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # sentences for the lecturer, by student
    # why the own file of somebody whom a table or a line names cannot be graded, by student
    damaged: Mapping[str, str] = field(default_factory=dict)

    def holder(self, student: str) -> str:
        """In whose folder the notebook of a student lies."""
        return self.holders.get(student, student)

    def sharers(self, student: str) -> tuple[str, ...]:
        """Everybody for whom a student's notebook counts, the holder first; the student alone without a group."""
        holder = self.holder(student)
        return (holder, *(other for other, of in self.holders.items() if of == holder and other != holder))

    @property
    def groups(self) -> Table:
        """Those who share a notebook, the holder of each first."""
        return tuple(self.sharers(holder) for holder in dict.fromkeys(self.holders.values()))

    def together(self, first: str, second: str) -> bool:
        """Whether two students are of one group, by a notebook that they share or by the table."""
        return self.holder(first) == self.holder(second) or any(first in g and second in g for g in self.table)


def tables(course: Course) -> dict[str, Table]:
    """The tables of groups that a course was given, by assignment; CourseError if their file is damaged."""

    def parse(content: Any) -> dict[str, Table]:
        return {str(name): tuple(tuple(map(str, group)) for group in groups) for name, groups in content.items()}

    remedy = "delete it, and give the groups again with 'softlookup groups'"
    return read_record(course.root / FILE, parse, remedy) or {}


def set_table(course: Course, assignment: str, groups: Sequence[Sequence[str]]) -> None:
    """Keep the groups of an assignment, in place of those that it had; none removes them."""
    where: dict[str, int] = {}
    for group_number, group in enumerate(groups, 1):
        for student in group:
            if where.setdefault(student, group_number) != group_number:
                raise CourseError(
                    f"{one_line(student)} is in two groups, the {_nth(where[student])} and the {_nth(group_number)}: "
                    "a student hands in with one"
                )
    every = tables(course)
    every[assignment] = tuple(several for group in groups if len(several := tuple(dict.fromkeys(group))) > 1)
    _write(course, every)


def forget(course: Course, student: str) -> list[str]:
    """Take a student out of the tables of groups, and give the assignments in whose table the student was."""
    every = tables(course)
    naming = [assignment for assignment, groups in every.items() if any(student in group for group in groups)]
    if naming:
        remaining = {name: tuple(tuple(s for s in group if s != student) for group in every[name]) for name in every}
        _write(course, {name: tuple(group for group in groups if len(group) > 1) for name, groups in remaining.items()})
    return naming


def _write(course: Course, every: Mapping[str, Table]) -> None:
    content = {name: [list(group) for group in groups] for name, groups in sorted(every.items()) if groups}
    write_record(course.root / FILE, content)


def _nth(position: int) -> str:
    return f"{position}{'th' if 10 < position % 100 < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(position % 10, 'th')}"


def sharing(course: Course, assignment: str) -> Sharing:
    """Find out whose notebook counts for whom: the table first, then the lines that notebooks have."""
    finding = _Finding(course, assignment)
    for group in finding.table:
        finding.by_table(group)
    claims: dict[str, list[str]] = {}
    for student, names in finding.lines.items():
        for partner in finding.by_line(student, names):
            claims.setdefault(partner, []).append(student)
    for student, holders in claims.items():
        finding.by_claims(student, holders)
    return finding.result()


class _Finding:
    """What is known so far of who shares with whom."""

    def __init__(self, course: Course, assignment: str) -> None:
        self._course, self._assignment = course, assignment
        self._arrivals = arrivals(course, assignment).by_student
        self._damaged: dict[str, str] = {}
        self._students = course.students()
        known = set(self._students)
        groups = (tuple(s for s in group if s in known) for group in tables(course).get(assignment, ()))
        self.table = tuple(group for group in groups if len(group) > 1)
        self._digests: dict[str, str] = {}
        self.lines: dict[str, list[str]] = {}
        self._holders: dict[str, str] = {}
        self._undecided: dict[str, str] = {}
        self._remarks: dict[str, list[str]] = {}
        grouped = {student for group in self.table for student in group}
        for student in self._students:
            content = read_submission(course, assignment, student).content
            if content is None:
                continue
            lined = bool(_RAW.search(content.replace(b"\0", b"").lower()))
            self._digests[student] = digest_of(content)
            if lined or student in grouped:
                names = self._lines(student, content)
                if names:
                    self.lines[student] = names
        self._sound: dict[str, bool] = {}

    def _lines(self, student: str, content: bytes) -> list[str]:
        try:
            notebooks = notebooks_in(self._course, self._assignment, content).values()
            return list(dict.fromkeys(name for raw in notebooks for name in names_in(raw)))
        except BadNotebook:
            self._digests.pop(student)  # a file that is no notebook is nobody's hand-in
            return []

    def _own(self, student: str) -> str:
        """The digest of a student's own notebook; empty without one."""
        if student not in self._digests:
            return ""
        if student not in self._sound:
            content = read_submission(self._course, self._assignment, student).content
            self._sound[student] = content is not None and not self._trouble(content)
        return self._digests[student] if self._sound[student] else ""

    def _trouble(self, content: bytes) -> str:
        """Why a hand-in cannot be graded; empty if it can."""
        try:
            for name, raw in notebooks_in(self._course, self._assignment, content).items():
                cells_in(raw, f"{name}.ipynb")
        except BadNotebook as error:
            return str(error)
        return ""

    def _why_damaged(self, student: str) -> str:
        """Why what came of a student cannot be graded; empty if it can, or nothing came."""
        came = read_submission(self._course, self._assignment, student)
        arrival = self._arrivals.get(student)
        why = ""
        if came.content is not None:
            why = self._trouble(came.content)
        elif came.status == REFUSED:
            why = came.reason
        elif arrival is not None and arrival.state == UNREADABLE:
            why = arrival.why or "what came in cannot be graded"
        if why:
            self._damaged[student] = why
        return why

    def _remark(self, student: str, sentence: str) -> None:
        self._remarks.setdefault(student, []).append(sentence)

    def _share(self, holder: str, student: str) -> None:
        root = self._holders.get(holder, holder)
        if student != root and student not in self._holders:
            self._holders[student] = self._holders[root] = root

    def by_table(self, group: Sequence[str]) -> None:
        """Take a group of the table."""
        digests = {student: digest for student in group if (digest := self._own(student))}
        names = ", ".join(map(one_line, group))
        if len(set(digests.values())) == 1:
            holder = self._holder(list(digests))
            for student in group:
                self._share(holder, student)
                if student not in digests and (why := self._why_damaged(student)):
                    self._remark(
                        student,
                        f"The own file cannot be graded ({one_line(why.rstrip('.'), 400)}): by the table, the notebook "
                        f"of {one_line(holder)} counts.",
                    )
        elif digests:
            who = _listed(list(digests))
            for student in group:
                if student in digests:
                    self._remark(
                        student,
                        f"The table of groups has {names} as one, but {who} handed in different notebooks: each was "
                        "graded by their own.",
                    )
                else:
                    self._undecided[student] = (
                        f"{who} of the group handed in different notebooks, and nothing says which counts for "
                        f"{one_line(student)}: correct the table with 'softlookup groups', or remove one of them"
                    )

    def _holder(self, candidates: Sequence[str]) -> str:
        """Of those with the same file, the one for whom it was made, else the first."""
        if len(candidates) > 1:
            content = read_submission(self._course, self._assignment, candidates[0]).content
            owner = made_for(content or b"")
            return owner if owner in candidates else candidates[0]
        return candidates[0]

    def by_line(self, student: str, names: Sequence[str]) -> Iterator[str]:
        """Take the names that stand in a student's notebook; give those for whom it may count."""
        if len(names) > MOST:
            self._remark(student, f"A line of the notebook names {len(names)} students, too many for a group.")
            return
        for text in names:
            partner = _meant(text, self._students)
            if not partner:
                self._remark(student, f"A line of the notebook names {one_line(text, 60)!r}, who is not in the class.")
            elif partner == student or self._together(student, partner):
                continue
            elif any(partner in group for group in self.table):
                self._remark(
                    student,
                    f"A line of the notebook names {one_line(partner)}, who is in another group by the table: the line "
                    "does not count.",
                )
            elif (digest := self._own(partner)) and digest != self._digests[student]:
                self._remark(
                    student,
                    f"A line of the notebook names {one_line(partner)}, who handed in another notebook: the line does "
                    "not count.",
                )
            elif digest:
                self._share(self._holder([student, partner]), partner)
                self._share(partner, student)
            elif self._why_damaged(partner):
                self._remark(
                    student,
                    f"A line of the notebook names {one_line(partner)}, whose own file cannot be graded: the line does "
                    "not count.",
                )
            else:
                yield partner

    def _together(self, first: str, second: str) -> bool:
        return any(first in group and second in group for group in self.table)

    def by_claims(self, student: str, holders: Sequence[str]) -> None:
        """Take a student without a notebook who is named by others' notebooks."""
        if len({self._digests[holder] for holder in holders}) == 1:
            self._share(holders[0], student)
            return
        self._undecided[student] = (
            f"the notebooks of {_listed(holders)} both name {one_line(student)}, and they differ: say whose group it "
            "is with 'softlookup groups'"
        )

    def result(self) -> Sharing:
        """What was found."""
        copies = [student for student, holder in self._holders.items() if student != holder and self._own(student)]
        return Sharing(
            self.table,
            {student: self._holders[student] for student in self._students if student in self._holders},
            frozenset(copies),
            self._undecided,
            {student: tuple(sentences) for student, sentences in self._remarks.items()},
            self._damaged,
        )


def _listed(students: Sequence[str]) -> str:
    names = [one_line(student) for student in students]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _meant(text: str, students: Collection[str]) -> str:
    """The id that a notebook names; empty if it is nobody's."""
    for candidate in (text.strip(), text.strip().strip("`*_.").strip()):
        if candidate in students:
            return candidate
        alike = [student for student in students if key_of(student) == key_of(candidate)]
        if len(alike) == 1:
            return alike[0]
    return ""


def names_in(notebook: bytes) -> list[str]:
    """The names on "Group: ada, ben" or "Handed in by: ada, ben" in the first cells, in code as a comment."""
    names = []
    for cell in cells_in(notebook, "the notebook")[:FIRST_CELLS]:
        for match in _LINE.finditer(_source(cell)):
            if cell.get("cell_type") != "code" or match[1].lstrip().startswith("#"):
                names += [name.strip() for name in _BETWEEN.split(match[2]) if name.strip(" \t`*_.")]
    return list(dict.fromkeys(names))


def without_name(notebook: bytes, student: str) -> bytes:
    """A notebook whose lines do not name a student any more; the same bytes where none did."""
    if not any(_meant(name, [student]) for name in names_in(notebook)):
        return notebook
    content = json.loads(notebook)

    def remaining_names(match: re.Match[str]) -> str:
        names = [name.strip() for name in _BETWEEN.split(match[2]) if name.strip()]
        return f"{match[1]} " + ", ".join(name for name in names if not _meant(name, [student]))

    for cell in [cell for cell in content["cells"] if isinstance(cell, dict)][:FIRST_CELLS]:
        if _LINE.search(text := _source(cell)):
            cell["source"] = _LINE.sub(remaining_names, text)
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def _source(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return source.replace("\r\n", "\n") if isinstance(source, str) else ""
