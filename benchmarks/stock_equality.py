"""Whether assignments of stock nbgrader get the same gradebook here: ``softlookup bench stock-equality``.

Each case is a course that stock nbgrader releases, most of them from nbgrader's own files or after its own tests. Two
copies of it are graded, by ``nbgrader autograde`` and by this grader, and the rows of both gradebooks are compared.
"""

import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.harness import benchmark
from benchmarks.stock_cases import GROUPS
from benchmarks.stock_cases.case import ASSIGNMENT, StockCase, run_nbgrader, written
from softlookup_grader.course.folder import Course
from softlookup_grader.data.errors import CourseError
from softlookup_grader.run.engine import grade_assignment
from softlookup_grader.run.request import GradeRequest

ON_PURPOSE = Path(__file__).parent / "stock_cases" / "on_purpose.toml"
"""The cases whose rows differ on purpose: ``differs``, why, in one sentence, and ``rows``, those that differ."""

Rows = dict[str, dict[str, Any]]
"""What a gradebook holds: fields by student, student/notebook or student/notebook/cell."""


@dataclass(frozen=True)
class Equality:
    """What a case came to.

    Attributes:
        group: What it is about.
        name: The case's name.
        tries: What it tries.
        students: How many handed in.
        rows: How many rows of both gradebooks were compared.
        different: The rows that differ.
        differs: Why they differ on purpose; empty where none does.
        as_expected: Whether those rows differ that are expected to.
    """

    group: str
    name: str
    tries: str
    students: int
    rows: int
    different: tuple[str, ...]
    differs: str
    as_expected: bool


@benchmark("stock-equality")
def bench_stock_equality(*, quick: bool = False, say: Callable[[str], None] = lambda line: None) -> dict[str, Any]:
    """Grade each case twice and compare.

    ``quick`` takes the first case of each group; ``say`` gets each row that differs. ``ratio`` is (rows that are the
    same) / (all rows); ``cases`` holds an ``Equality`` for each.
    """
    cases = []
    for group, members in GROUPS.items():
        for case in islice(members, 1) if quick else members:
            cases.append(compare(group, case))
            for line in cases[-1].different:
                say(f"{case.name}: {line}")
    rows = sum(case.rows for case in cases)
    return {
        "ratio": 1 - sum(len(case.different) for case in cases) / rows,
        "ratio_of": "rows of the gradebook that are the same / all rows that stock nbgrader or this grader wrote",
        "as_expected": all(case.as_expected for case in cases),
        "students": sum(case.students for case in cases),
        "rows": rows,
        "cases": cases,
        "peer": f"nbgrader {version('nbgrader')}",
    }


def compare(group: str, case: StockCase) -> Equality:
    """Grade two copies of a case's course, one with stock nbgrader and one here."""
    with tempfile.TemporaryDirectory(prefix="softlookup-bench-") as folder:
        root = Path(folder)
        written(case, root / "course")
        shutil.copytree(root / "course", root / "stock", symlinks=True)
        stock = _graded(root / "stock", case, _grade_by_stock)
        here = _graded(root / "course", case, _grade_here)
    different, on_purpose = tuple(differences(stock, here)), on_purpose_different().get(case.name, {})
    return Equality(
        group,
        case.name,
        case.tries,
        len(case.students),
        len({*stock, *here}),
        different,
        on_purpose.get("differs", ""),
        different == tuple(on_purpose.get("rows", ())),
    )


def on_purpose_different() -> dict[str, dict[str, Any]]:
    """What differs on purpose, by case."""
    return tomllib.loads(ON_PURPOSE.read_text(encoding="utf-8"))


def differences(stock: Rows, here: Rows) -> list[str]:
    """Each row that is not the same in both, with the fields: what stock nbgrader has, then what stands here."""
    lines = []
    for key in sorted({*stock, *here}):
        if key not in here or key not in stock:
            lines.append(f"{key}: only {'here' if key in here else 'stock'} {_fields(here.get(key) or stock[key])}")
        elif stock[key] != here[key]:
            fields = [name for name in stock[key] if stock[key][name] != here[key][name]]
            lines.append(f"{key}: " + ", ".join(f"{name} {stock[key][name]} / {here[key][name]}" for name in fields))
    return lines


def _fields(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items())


def _graded(root: Path, case: StockCase, grade: Callable[[Path], None]) -> Rows:
    try:
        grade(root)
        if case.then:
            case.then(root)
            grade(root)
    except CourseError as error:
        return {**rows_of(root), "course": {"refused": str(error)}}
    return rows_of(root)


def _grade_by_stock(root: Path) -> None:
    run_nbgrader(root, "autograde", ASSIGNMENT, "--force")


def _grade_here(root: Path) -> None:
    grade_assignment(Course.at(root), GradeRequest(ASSIGNMENT, seed=1, feedback=False))


def rows_of(root: Path) -> Rows:
    """What a course's gradebook holds of the assignment, without ids and times."""
    rows: Rows = {}
    with Course.at(root).gradebook() as book:
        for submission in book.assignment_submissions(ASSIGNMENT):
            student = submission.student_id
            rows[student] = {
                "score": _number(submission.score),
                "max_score": _number(submission.max_score),
                "needs_manual_grade": bool(submission.needs_manual_grade),
                "total_seconds_late": submission.total_seconds_late,
            }
            for notebook in submission.notebooks:
                place = f"{student}/{notebook.name}"
                rows[place] = {
                    "score": _number(notebook.score),
                    "max_score": _number(notebook.max_score),
                    "needs_manual_grade": bool(notebook.needs_manual_grade),
                    "late_penalty": _number(notebook.late_submission_penalty),
                }
                for grade in notebook.grades:
                    rows[f"{place}/{grade.name}"] = {
                        "auto_score": _number(grade.auto_score),
                        "manual_score": _number(grade.manual_score),
                        "extra_credit": _number(grade.extra_credit),
                        "score": _number(grade.score),
                        "max_score": _number(grade.max_score),
                        "needs_manual_grade": bool(grade.needs_manual_grade),
                    }
                for comment in notebook.comments:
                    row = rows.setdefault(f"{place}/{comment.name}", {})
                    row |= {"auto_comment": comment.auto_comment, "manual_comment": comment.manual_comment}
    return rows


def _number(value: float | None) -> float | None:
    return None if value is None else round(float(value), 9)
