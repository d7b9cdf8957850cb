"""The gradebook in a real PostgreSQL server, reached by a socket: the same rows as with SQLite."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import nbformat
import pytest
from fake_grader import here
from nbgrader.plugins import CsvExportPlugin
from small_class import NAME, write_course
from sqlalchemy import create_engine, text

from softlookup_grader import Course, CourseError, Report, new_course
from softlookup_grader.course.deadlines import extend, set_due
from softlookup_grader.course.grade_sheet import read_sheet
from softlookup_grader.course.terms import Extension
from softlookup_grader.forgetting import forget
from softlookup_grader.platforms.exports import plain_table
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest
from softlookup_grader.workers.making import MakeExecutor

pytest.importorskip("psycopg2", reason="the package psycopg2-binary is not installed")

STUDENTS = ("half-done", "mistake-2", "not-json", "missing-notebook")
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
ROWS = {
    "assignments": "select name, course_id, duedate from assignment order by name",
    "cells": """select b.name, b.type, g.max_score, g.cell_type, s.source, s.checksum from base_cell b
        left join grade_cells g on g.id = b.id left join source_cell s on s.id = b.id order by b.type, b.name""",
    "students": "select id, first_name, last_name, email from student order by id",
    "submissions": """select s.student_id, s.timestamp, s.extension, n.late_submission_penalty
        from submitted_assignment s join submitted_notebook n on n.assignment_id = s.id order by s.student_id""",
    "grades": """select s.student_id, b.name, g.auto_score, g.manual_score, g.needs_manual_grade
        from grade g join base_cell b on b.id = g.cell_id join submitted_notebook n on n.id = g.notebook_id
        join submitted_assignment s on s.id = n.assignment_id order by s.student_id, b.name""",
    "comments": """select s.student_id, b.name, c.auto_comment, c.manual_comment
        from comment c join base_cell b on b.id = c.cell_id join submitted_notebook n on n.id = c.notebook_id
        join submitted_assignment s on s.id = n.assignment_id order by s.student_id, b.name""",
    "version": "select version_num from alembic_version",
}


class Server:
    """A PostgreSQL server that only this machine's socket leads to."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder, self._binaries = folder, binaries
        # The server refuses to run as root.
        self._as: list[str] = []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self._as = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        self._run("initdb", "-D", "data", "-U", "grader", "--auth=trust", "--no-sync", "--encoding=UTF8")
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(self._binaries / program), *arguments]
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        nothing = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        done = subprocess.run(command, cwd=self.folder, env=env, stderr=subprocess.PIPE, timeout=120, **nothing)
        assert done.returncode == 0, done.stderr[-2000:]

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off"
        self._run("pg_ctl", "-D", "data", "-o", options, "-l", "log", "-w", "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def address(self, database: str) -> str:
        return f"postgresql+psycopg2://grader@/{database}?host={self.folder}"

    def make(self, database: str, like: str = "template1") -> str:
        """Make a database, empty or like another; give its address."""
        engine = create_engine(self.address("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"create database {database} template {like}"))
        engine.dispose()
        return self.address(database)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    if not BINARIES:
        pytest.skip("no PostgreSQL server under /usr/lib/postgresql: install the system's postgresql package")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL refuses to run as root, and the program setpriv is not there")
    # A path of its own: pytest's is for root's eyes alone, and too long for a socket.
    with tempfile.TemporaryDirectory(prefix="softlookup-pg-") as folder:
        begun = Server(Path(folder), BINARIES[-1])
        yield begun
        begun.stop()


@pytest.fixture(scope="module")
def pair(server: Server, tmp_path_factory: pytest.TempPathFactory, short: nbformat.NotebookNode) -> list[Course]:
    """The same small class twice: the gradebook in SQLite, and in PostgreSQL."""
    base = tmp_path_factory.mktemp("postgres")
    with_sqlite = write_course(base / "sqlite", short, STUDENTS)
    with_postgres = new_course(base / "postgres", with_sqlite.root / "nbgrader_config.py")
    configure(with_postgres.root, server.make("graded"))
    with_postgres.release({NAME: short})
    server.make("released", like="graded")
    shutil.copytree(with_sqlite.root / "submitted", with_postgres.root / "submitted")
    return [with_sqlite, with_postgres]


def configure(folder: Path, address: str) -> None:
    """Let a course have its gradebook somewhere, as the instructor's guide has it."""
    with open(folder / "nbgrader_config.py", "a", encoding="utf-8") as config:
        config.write(f"\nc.CourseDirectory.db_url = {address!r}\n")


def grade(course: Course, again: bool = False, executor: MakeExecutor | None = None) -> Report:
    request = GradeRequest(NAME, seed=5, feedback=False, again=again)
    return grade_assignment(course, request, executor=executor or here())


def rows(course: Course) -> dict[str, list[tuple]]:
    with course.gradebook() as book:
        return {name: [tuple(row) for row in book.db.execute(text(query))] for name, query in ROWS.items()}


def same(pair: list[Course]) -> dict[str, list[tuple]]:
    """Hold that both gradebooks are equal; SQLite gives text for times and numbers for truth."""
    tables = []
    for course in pair:
        plain = {
            name: [tuple(int(v) if isinstance(v, bool) else v for v in row) for row in named]
            for name, named in rows(course).items()
        }
        plain["submissions"] = [(row[0], row[3]) for row in plain["submissions"]]
        plain["assignments"] = [row[:2] for row in plain["assignments"]]
        with course.gradebook() as book:
            plain["late"] = [
                (row.student.id, row.timestamp, row.extension, row.duedate, row.total_seconds_late, row.score)
                for row in book.assignment_submissions(NAME)
            ]
        tables.append(plain)
    assert tables[0] == tables[1]
    return tables[1]


def by_hand(course: Course, student: str, points: float) -> None:
    with course.gradebook() as book:
        grade = book.find_grade("04-uniform", NAME, NAME, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.find_comment("04-uniform", NAME, NAME, student).manual_comment = "Écrit bien, 好"
        book.db.commit()


@pytest.mark.slow
def test_two_gradings_give_the_same_rows_and_exports_as_in_sqlite(pair: list[Course], nbgrader: Callable) -> None:
    reports = [grade(course) for course in pair]
    assert reports[0].as_json() == reports[1].as_json()
    assert len(same(pair)["grades"]) > 10
    for course in pair:
        set_due(course, NAME, datetime(2026, 12, 1, 18))
        extend(course, NAME, "half-done", Extension(days=1, hours=2))
        by_hand(course, "half-done", 1.5)
        stamp = course.folder("submitted", "half-done", NAME) / "timestamp.txt"
        stamp.write_text("2026-12-03 18:00:00 UTC\n")
    again = [grade(course, again=True) for course in pair]
    assert again[0].as_json() == again[1].as_json()
    tables = same(pair)
    assert any(row[3] == 1.5 for row in tables["grades"]), "points by hand are kept"
    assert any(row[3] == "Écrit bien, 好" for row in tables["comments"])
    assert {row[0]: row[4] for row in tables["late"]}["half-done"] == 22 * 3600
    assert grade(pair[1]).as_json() == again[0].as_json(), "what has not changed is known again"
    for course in pair:
        with course.gradebook() as book:
            CsvExportPlugin(to=str(course.root / "grades.csv")).export(book)
    stock_exports = [(course.root / "grades.csv").read_text(encoding="utf-8") for course in pair]
    assert stock_exports[0] == stock_exports[1] and "half-done" in stock_exports[1]
    exports = [plain_table(read_sheet(course, NAME)).text for course in pair]
    assert exports[0] == exports[1]
    before = rows(pair[1])
    nbgrader(pair[1], "db", "upgrade")
    assert rows(pair[1]) == before, "nbgrader's own upgrade has nothing to do"


@pytest.mark.slow
def test_an_id_too_long_for_the_gradebook_is_left_out_of_both(pair: list[Course]) -> None:
    """PostgreSQL refuses the row in the middle of a class, SQLite takes it: both are asked to be alike."""
    for course in pair:
        for length in (128, 129):
            folder = course.folder("submitted", "x" * length, NAME)
            shutil.copytree(course.folder("submitted", "half-done", NAME), folder)
        entries = grade(course).as_json()["submissions"]
        assert entries["x" * 128]["status"] == "graded" and "x" * 129 not in entries
    assert same(pair)["students"][-1][0] == "x" * 128
    for course in pair:
        shutil.rmtree(course.submitted / ("x" * 129))
        forget(course, "x" * 128)


@pytest.mark.slow
def test_server_that_is_down_is_told_and_graded_submissions_wait_in_the_ledger(server, pair, tmp_path):
    course = Course(Path(shutil.copytree(pair[1].root, tmp_path / "course")))
    configure(course.root, server.make("stopped", like="released"))
    shutil.rmtree(course.root / ".grading", ignore_errors=True)
    calls = course.root / "calls"

    class Stopping:
        """Stops the server under the grader's hands."""

        def __init__(self, settings):
            self.inner = here(calls=calls)(settings)

        def run(self, submissions):
            for number, (student, content) in enumerate(submissions):
                if number == 1:
                    server.stop()
                yield from self.inner.run([(student, content)])

    try:
        with pytest.raises(CourseError, match=r"the gradebook cannot be used .*kept in the ledger"):
            grade(course, executor=Stopping)
        with pytest.raises(CourseError, match=r"the gradebook cannot be used \("):
            grade(course)
    finally:
        server.start()
    done = calls.read_text()
    by_name = grade(course, executor=here(calls=calls)).as_json()["submissions"]
    assert calls.read_text() == done, "graded twice"
    assert by_name["mistake-2"]["status"] == "graded"
    assert {name for name, s in by_name.items() if s["score"] > 0} == {"half-done", "mistake-2"}


def test_a_student_can_be_removed(pair: list[Course]) -> None:
    for course in pair:
        grade(course)
        forget(course, "mistake-2")
    assert "mistake-2" not in {row[0] for row in same(pair)["grades"]}
