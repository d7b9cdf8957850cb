"""A term of forty students, and the files that they and two platforms send: what each is due is worked out here, apart.

No function of the library computes a grade, a date or a penalty in this file.
"""

import csv
import io
import math
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import nbformat
from arriving import without_flag, zipped

BERLIN = ZoneInfo("Europe/Berlin")
FIRST, SECOND, THIRD = "02_soft_lookup", "04_one_head", "03_tokens_and_embeddings"
POINTS = {
    FIRST: {"02.by-hand": 2, "02.mix": 3, "02.similarity": 3, "02.weights": 3, "02.lookup": 4},
    SECOND: {"04.scores": 2, "04.scale": 2, "04.softmax": 3, "04.mix": 2, "04.attention": 4},
    THIRD: {"03.words": 2, "03.merge": 2, "03.bpe": 4, "03.vocabulary": 2, "03.one-hot": 2},
}
"""The tasks that this course keeps, and their points at first."""
WRITTEN = {FIRST: ("02-roles", 3), SECOND: ("04-uniform", 3)}
DUE = {
    FIRST: datetime(2026, 10, 24, 23, 59),  # clocks are set back in the night
    SECOND: datetime(2026, 11, 8, 18),
    THIRD: datetime(2026, 11, 22, 18),
}
"""On the wall in Berlin."""

_FAMILIES = ("Müller", "Öztürk", "Łukasiewicz", "Nguyễn", "O'Neil", "García", "von der Au", "Šimić", "Ek", "Rossi")
_GIVEN = ("Änne", "Zoë", "Bo", "İpek")
_FILES = ("{name}.ipynb", "abgabe_final_v2.ipynb", "{name}-Copy1.ipynb", "{name}.IPYNB", "{name}.ipynb.txt")


@dataclass
class Student:
    """One student of the term."""

    number: int  # from 1
    right: dict[str, set[str]] = field(default_factory=dict)  # by assignment, the tasks that are answered rightly
    wrote: set[str] = field(default_factory=set)  # the assignments whose written answer is there

    @property
    def id(self) -> str:
        """The id in the course: a number with zeros in front, as registries give it."""
        return f"{100 + self.number:05}"

    @property
    def name(self) -> str:
        """First and last name; the last one is unique."""
        return f"{_GIVEN[self.number % 4]} {_FAMILIES[self.number % 10]} {chr(65 + self.number // 10)}"

    @property
    def email(self) -> str:
        """The address that Moodle knows."""
        return f"s{self.number}@example.org"

    @property
    def canvas(self) -> str:
        """The number that Canvas knows."""
        return str(7000 + self.number)


def make_class(many: int) -> list[Student]:
    """So many students, who know more and less."""
    students = []
    for number in range(1, many + 1):
        student = Student(number)
        for name, tasks in POINTS.items():
            kind = number % 5
            order = list(tasks)
            keep = {0: order, 1: order[:3], 2: [*order[:1], *order[2:]], 3: order[:2], 4: order[2:]}[kind]
            student.right[name] = set(keep)
            if kind == 0 and name in WRITTEN:
                student.wrote.add(name)
        students.append(student)
    return students


def hand_in(release: bytes, published: dict[str, str], student: Student, name: str) -> bytes:
    """The notebook that a student hands in: some answers as published, one that raises, the rest as released."""
    notebook = nbformat.reads(release.decode(), as_version=4)
    tasks = list(POINTS[name])
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        grade_id = about.get("grade_id", "")
        task = grade_id.replace("-", ".", 1)
        if task in student.right[name]:
            cell.source = published[grade_id]
        elif task == tasks[1] and student.number % 5 == 2:
            first = published[grade_id].partition("\n")[0]
            cell.source = first + "\n    raise RuntimeError('I do not know')"
        elif grade_id == WRITTEN.get(name, ("", 0))[0] and name in student.wrote:
            cell.source = f"In my own words, says {student.id}."
    return nbformat.writes(notebook).encode()


def file_name(student: Student, name: str) -> str:
    """What a student calls the file."""
    return _FILES[student.number % len(_FILES)].format(name=name)


def write_zip(path: Path, entries: dict[str, bytes], encoding: str = "flag") -> None:
    """A zip as platforms and people make it."""
    if encoding == "nfd":
        entries = {unicodedata.normalize("NFD", name): content for name, content in entries.items()}
    raw = zipped(entries) if encoding == "flag" else without_flag(entries, "cp437" if encoding == "cp437" else "utf-8")
    path.write_bytes(raw)


def roster(students: list[Student]) -> bytes:
    """The class list as a spreadsheet of a German registry writes it."""
    rows = ["Matrikelnummer;Nachname;Vorname;E-Mail;lms_user_id"]
    for student in students:
        given_name, _, family = student.name.partition(" ")
        rows.append(";".join((student.id, family, given_name, student.email, student.canvas)))
    return ("\r\n".join(rows) + "\r\n").encode("utf-16")


def worksheet(students: list[Student], came: dict[str, datetime], title: str = "Grade") -> bytes:
    """Moodle's grading worksheet, with the times at which files came."""
    out = io.StringIO()
    writer = csv.writer(out)
    heads = ("Identifier", "Full name", "Email address", "Status", title, "Maximum Grade", "Grade can be changed")
    writer.writerow([*heads, "Last modified (submission)"])
    for student in students:
        when = came.get(student.id)
        shown = f"{when:%A, %d %B %Y, %I:%M %p}" if when else "-"
        row = (f"Participant {900 + student.number}", student.name, student.email, "", "", "100.00", "Yes", shown)
        writer.writerow(row)
    return out.getvalue().encode("utf-8-sig")


def canvas_gradebook(students: list[Student], name: str) -> bytes:
    """The gradebook that Canvas exports."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["Student", "ID", "SIS Login ID", "Section", f"{name} (88)"])
    writer.writerow(["    Points Possible", "", "", "", "100"])
    for student in students:
        writer.writerow([student.name, student.canvas, student.id, "one", ""])
    return out.getvalue().encode()


def late_days(due: datetime, came: datetime, more_days: int = 0, more: timedelta = timedelta()) -> int:
    """Days begun since a student's own due time, on the wall in Berlin."""
    end = (due + timedelta(days=more_days)).replace(tzinfo=BERLIN)
    end = (end.astimezone(ZoneInfo("UTC")) + more).astimezone(BERLIN).replace(tzinfo=None)
    return max(0, math.ceil((came - end).total_seconds() / 86_400))
