"""A whole term, by the commands that the pages show: every grade equals one that is computed apart from the grader."""

import contextlib
import csv
import io
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from sandbox_tools import NEEDS_SANDBOX
from small_class import ROOT
from term import (
    DUE,
    FIRST,
    POINTS,
    SECOND,
    THIRD,
    WRITTEN,
    Student,
    canvas_gradebook,
    file_name,
    hand_in,
    late_days,
    make_class,
    roster,
    worksheet,
    write_zip,
)

from softlookup_command.commands import main
from softlookup_course.samples.handins import answers
from softlookup_grader import Course
from softlookup_judge.authoring import draw_variants, read_solution

SECRET = "a word that nobody guesses"
CONFIG = """
c.NbGraderAPI.timezone = "Europe/Berlin"
c.Exchange.timezone = "Europe/Berlin"
c.AssignLatePenalties.plugin_class = "softlookup_grader.course.late_rules.PerDay"
"""
AUTHOR = ("-c", "user.name=Student", "-c", "user.email=student@example.org")


@dataclass
class Term:
    """One course, its students, and what each is due."""

    root: Path
    students: list[Student]
    expected: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.course, self.files = self.root / "course", self.root / "files"
        self.files.mkdir(parents=True)
        self.points = {name: dict(tasks) for name, tasks in POINTS.items()}
        self.by_id = {student.id: student for student in self.students}

    def run(self, *words: str, ok: bool = True) -> str:
        """Type a command in the course's folder; what it printed."""
        with contextlib.chdir(self.course if self.course.is_dir() else self.root):
            done = CliRunner().invoke(main, words)
        printed = done.output
        assert (done.exit_code == 0) == ok and isinstance(done.exception, SystemExit | None), (
            f"softlookup {' '.join(words)}: {done.exception!r}\n{printed}"
        )
        return printed

    def save(self, name: str, content: bytes) -> str:
        """A file that somebody downloaded."""
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return str(path)

    def release(self, name: str, *more: str) -> str:
        """Release an assignment without the tasks that the course leaves out."""
        number = name[:2]
        dropped = [task for task in _tasks(number) if task not in POINTS[name]]
        words = [word for task in dropped for word in ("--drop", task)]
        return self.run("release", name, "--course", str(self.course), "--course-seed", SECRET, *words, *more)

    def notebook(self, student: Student, name: str) -> bytes:
        """What a student hands in."""
        release = self.course / "release" / name / f"{name}.ipynb"
        personal = release.parent / "personal" / f"{student.id}.ipynb"
        variants = draw_variants(SECRET, student.id if personal.is_file() else "")
        published = answers(read_solution(ROOT / "solutions" / f"{name}.py", variants))
        return hand_in((personal if personal.is_file() else release).read_bytes(), published, student, name)

    def due_points(self, student: Student, name: str, late: int = 0, by_hand: float | None = None) -> float:
        """Points for the tasks that are right, and what a person gave, less a tenth for each day begun."""
        raw = sum(self.points[name][task] for task in student.right[name])
        if name in student.wrote and by_hand is not None:
            raw += by_hand
        return raw - raw * min(1.0, 0.1 * late)

    def graded(self, name: str) -> dict[str, float | None]:
        """Scores as the course's own table exports them; None where the cell is empty."""
        path = self.files / f"{name}.csv"
        self.run("export", name, "--out", str(path))
        return {row["student"]: float(row["score"]) if row["score"] else None for row in _rows(path)}

    def agrees(self, name: str) -> None:
        """Every grade is the one that was computed apart."""
        got = self.graded(name)
        due_score = self.expected[name]
        differ = {who: (got.get(who), due_score[who]) for who in due_score if not _same(got.get(who), due_score[who])}
        assert not differ and got.keys() == due_score.keys(), f"{name}: got and wanted differ in {differ}"

    def exports(self, name: str, to: str, sheet: str, students: dict[str, Student], who: str, column: str) -> None:
        """A platform's own sheet gets these grades, too."""
        filled = self.files / f"{to}-filled.csv"
        self.run("export", name, "--to", to, "--class", sheet, "--out", str(filled))
        got = {row[who]: float(row[column]) if row[column] else None for row in _rows(filled)}
        differ = [key for key, student in students.items() if not _same(got[key], self.expected[name][student.id])]
        assert not differ, f"{name}: {to} got something else for {differ}"


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def _same(first: float | None, second: float | None) -> bool:
    return first is second if first is None or second is None else abs(first - second) < 1e-3


def _tasks(number: str) -> list[str]:
    from softlookup_judge import tasks

    return [task.id for task in tasks(int(number))]


def _first(term: Term) -> None:
    """Moodle, the night in which clocks are set back, files under many names, and a re-release with other points."""
    due, students = DUE[FIRST], term.students
    term.release(FIRST)
    printed = term.run("extension", FIRST, "--due", "2026-10-24 23:59")
    assert "2026-10-24 23:59 Europe/Berlin (UTC+02:00)" in printed
    extended, late_extended, accommodated, html, nothing, two, other = students[2:9]
    term.run("extension", extended.id, FIRST, "--days", "2")
    term.run("extension", late_extended.id, FIRST, "--days", "2")
    term.run("accommodate", accommodated.id, "--days", "3")
    came = {student.id: due - timedelta(hours=1 + student.number) for student in students}
    came[students[0].id] = due + timedelta(minutes=61)
    came[students[1].id] = due + timedelta(days=1, minutes=-1)  # a day on the wall, and 25 hours but a minute
    came[extended.id] = datetime(2026, 10, 26, 23, 30)
    came[late_extended.id] = datetime(2026, 10, 27, 0, 10)
    came[accommodated.id] = datetime(2026, 10, 27, 23, 50)
    del came[nothing.id]
    archives: dict[str, dict[str, bytes]] = {"utf-8": {}, "flag": {}, "nfd": {}, "cp437": {}}
    for student in students:
        files = {file_name(student, FIRST): term.notebook(student, FIRST)}
        if student is html:
            files = {"answers.html": b"<!doctype html><p>My answers</p>"}
        elif student is nothing:
            files = {}
        elif student is two:
            files["new.ipynb"] = _another(term, student)
        elif student is other:
            files = {f"{FIRST}.ipynb": (ROOT / "exercises" / SECOND / f"{SECOND}.ipynb").read_bytes()}
        kind = list(archives)[student.number // 3 % 4]
        if kind == "cp437" and student.name.encode("cp437", "replace").decode("cp437") != student.name:
            kind = "utf-8"
        folder = f"{student.name.replace(chr(39), '')}_{900 + student.number}_assignsubmission_file_"
        archives[kind].update({f"{folder}/{name}": content for name, content in files.items()})
    zips = [str(term.files / f"CS-First-{kind}.zip") for kind in archives]
    for path, (kind, entries) in zip(zips, archives.items(), strict=True):
        write_zip(Path(path), entries, kind)
    sheet = term.save("Grades-CS-First.csv", worksheet(students, came))
    printed = term.run("collect", FIRST, *zips, "--worksheet", sheet)
    many = len(students)
    assert f"{many} in class: {many - 4} collected, 3 unreadable, 1 nothing" in printed, printed
    term.run("times", FIRST, sheet)
    term.run("grade", FIRST)

    def agrees(by_hand: float | None = None) -> None:
        term.expected[FIRST] = dict.fromkeys(term.by_id)
        for student in students:
            if student not in (html, two, other, nothing):
                late = late_days(due, came[student.id], _days(student))
                term.expected[FIRST][student.id] = term.due_points(student, FIRST, late, by_hand)
        term.agrees(FIRST)

    agrees()
    report = term.run("report", FIRST)
    assert all(student.id in report for student in (html, two, other, students[0], late_extended))
    before = _snapshot(term.course)
    assert "--points 02.mix=0" in term.run("release", FIRST, "--course-seed", SECRET, "--drop", "02.mix", ok=False)
    assert _snapshot(term.course) == before, "a refused release changes nothing"
    term.run("release", FIRST, "--course-seed", SECRET, "--points", "02.lookup=6")
    term.points[FIRST]["02.lookup"] = 6
    term.run("grade", FIRST, "--no-feedback")
    with Course.at(term.course).gradebook() as book:
        for student in students:
            if FIRST in student.wrote and student not in (html, two, other, nothing):
                mark = book.find_grade(WRITTEN[FIRST][0], FIRST, FIRST, student.id)
                mark.manual_score, mark.needs_manual_grade = 2.0, False
        book.db.commit()
    term.run("grade", FIRST, "--no-feedback")
    agrees(by_hand=2.0)
    term.exports(FIRST, "moodle", sheet, {student.email: student for student in students}, "Email address", "Grade")


def _another(term: Term, student: Student) -> bytes:
    """A second notebook of the same student, with other answers."""
    notebook = nbformat.reads(term.notebook(student, FIRST).decode(), as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "02-lookup":
            cell.source = "def lookup(*given):\n    return 0"
    return nbformat.writes(notebook).encode()


def _days(student: Student) -> int:
    """Days more that a student has for the first assignment."""
    return {3: 2, 4: 2, 5: 3}.get(student.number, 0)


def _snapshot(course: Path) -> dict[str, bytes]:
    """Every file of the course but logs, locks and the database's own bookkeeping."""
    files = (path for path in sorted(course.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(course)): path.read_bytes()
        for path in files
        if "logs" not in path.parts and not path.name.endswith((".lock", "-journal", "-wal", "-shm"))
    }


def _second(term: Term) -> None:
    """Canvas, groups from a table, a factor of time, a killed grader, an appeal."""
    due, students = DUE[SECOND], term.students
    term.release(SECOND)
    term.run("extension", SECOND, "--start", "2026-10-25 18:00")
    term.run("extension", SECOND, "--due", "2026-11-08 18:00")
    slow, leader, member, third = students[10:14]
    term.run("accommodate", slow.id, "--time", "1.5")
    groups = "".join(f"{student.id};A\r\n" for student in (leader, member, third))
    term.run("groups", SECOND, term.save("groups.csv", f"id;group\r\n{groups}".encode("utf-8-sig")))
    came = {student.id: due - timedelta(hours=student.number) for student in students}
    came[slow.id] = due + timedelta(days=7, minutes=-1)
    came[leader.id] = came[member.id] = came[third.id] = due + timedelta(hours=25)
    entries = {}
    for student in students:
        if student in (member, third):
            continue
        late = "_LATE" if came[student.id] > due else ""
        bare = "".join(letter for letter in student.name.casefold() if letter.isalnum())
        name = f"{bare}{late}_{student.canvas}_{90000 + student.number}_{file_name(student, SECOND)}"
        entries[name] = term.notebook(student, SECOND)
    path = term.files / "submissions.zip"
    write_zip(path, entries, "utf-8")
    printed = term.run("collect", SECOND, str(path))
    assert f"{len(students)} in class: {len(students)} collected" in printed, printed
    alone = {name: when for name, when in came.items() if name not in (member.id, third.id)}
    rows = "".join(f"{name},{when:%Y-%m-%d %H:%M}\n" for name, when in alone.items())
    term.run("times", SECOND, term.save("times.csv", f"id,time\n{rows}".encode()))
    _killed(term, SECOND)
    term.run("grade", SECOND, "--no-feedback")
    lead = term.by_id[leader.id]
    days = {slow.id: timedelta(days=7)}
    term.expected[SECOND] = {}
    for student in students:
        work = lead if student in (leader, member, third) else student
        late = late_days(due, came[student.id], 3 if student.number == 5 else 0, days.get(student.id, timedelta()))
        term.expected[SECOND][student.id] = term.due_points(work, SECOND, late)
    term.agrees(SECOND)
    appeal = students[20 % len(students)]
    assert "04.scale" in term.run("explain", appeal.id, SECOND)
    before = term.expected[SECOND][appeal.id]
    with Course.at(term.course).gradebook() as book:
        mark = book.find_grade("04-scale-check", SECOND, SECOND, appeal.id)
        before_appeal = mark.auto_score
        mark.manual_score = before_appeal + 1 if before_appeal == 0 else before_appeal - 1
        change = mark.manual_score - before_appeal
        book.db.commit()
    term.run("grade", SECOND, "--student", appeal.id)
    term.expected[SECOND][appeal.id] = before + change
    term.agrees(SECOND)
    sheet = term.save("canvas.csv", canvas_gradebook(students, SECOND))
    term.exports(SECOND, "canvas", sheet, term.by_id, "SIS Login ID", f"{SECOND} (88)")


def _killed(term: Term, name: str) -> None:
    """Grade, and be killed as soon as some submissions are in the ledger."""
    ledger = term.course / ".grading" / name / "ledger.jsonl"
    command = [sys.executable, "-m", "softlookup_command", "grade", name]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=term.course, start_new_session=True, **quiet)
    while process.poll() is None and not (ledger.is_file() and ledger.read_bytes().count(b"\n") > 4):
        time.sleep(0.01)
    assert process.poll() is None, "the grader is killed while it works"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _third(term: Term) -> None:
    """A notebook for each student, repositories, a line for a group, solutions, and a student who is forgotten."""
    students = term.students
    term.release(THIRD, "--per-student")
    term.run("extension", THIRD, "--due", "2026-11-22 18:00")
    handed_out = term.run("handout", THIRD, "--out", str(term.files / "handout"))
    assert str(len(students)) in handed_out
    with zipfile.ZipFile(next((term.files / "handout").glob("*.zip"))) as archive:
        assert f"{students[0].id}/{THIRD}.ipynb" in archive.namelist()
    leader, member, patient = students[12], students[13], students[14]
    term.run("extension", patient.id, THIRD, "--until", "2099-01-01 12:00")
    rows = ["address;Kennung"]
    for student in students:
        if student is member:
            continue
        content = term.notebook(student, THIRD)
        if student is leader:
            notebook = nbformat.reads(content.decode(), as_version=4)
            notebook.cells[0].source += f"\n\nGroup: {leader.id}, {member.id}"
            content = nbformat.writes(notebook).encode()
        work = term.root / "server" / student.id
        work.mkdir(parents=True)
        (work / file_name(student, THIRD)).write_bytes(content)
        for words in (("init", "-q"), ("add", "."), (*AUTHOR, "commit", "-qm", "Answers")):
            subprocess.run(["git", *words], cwd=work, check=True)
        rows.append(f"{work};{student.id}")
    table = term.save("addresses.csv", ("\r\n".join(rows) + "\r\n").encode("cp1252"))
    term.run("collect", THIRD, table)
    term.run("grade", THIRD, "--no-feedback")
    term.expected[THIRD] = {
        student.id: term.due_points(leader if student is member else student, THIRD) for student in students
    }
    term.agrees(THIRD)
    assert "2099" in term.run("solutions", THIRD, "--course-seed", SECRET, ok=False)
    out = term.files / "solutions"
    term.run("solutions", THIRD, "--course-seed", SECRET, "--early", "--out", str(out))
    assert any(out.iterdir())
    gone = students[15]
    term.run("forget", gone.id, "--yes")
    alone = re.compile(rf"(?<![\d.]){gone.id}(?!\d)".encode())
    naming = [name for name, content in _snapshot(term.course).items() if alone.search(name.encode() + b" " + content)]
    assert not [name for name in naming if not name.startswith("release/")], naming
    for name in (FIRST, SECOND, THIRD):
        term.expected[name].pop(gone.id)
        term.agrees(name)


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.parametrize("many", [21, 40])
def test_term_gives_everybody_the_grade_that_is_due(tmp_path: Path, many: int) -> None:
    term = Term(tmp_path, make_class(many))
    term.run("students", "--help")
    term.release(FIRST)
    with open(term.course / "nbgrader_config.py", "a", encoding="utf-8") as config:
        config.write(CONFIG)
    printed = term.run("students", term.save("class.csv", roster(term.students)))
    assert f"entered students: {many}" in printed
    _first(term)
    _second(term)
    _third(term)
