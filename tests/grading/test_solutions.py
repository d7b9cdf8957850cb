"""``softlookup solutions``: the answers after the deadline, with the mistakes that the class made."""

import io
import shutil
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from softlookup_command.commands import main
from softlookup_course.giving_out.solutions import Solutions, make_solutions
from softlookup_grader import Course, CourseError, Record, Report, TaskMark
from softlookup_grader.data.records import GRADED, MISSING
from softlookup_judge import get_task
from softlookup_judge.authoring import draw_variants, find_root, read_solution, solution_cells
from softlookup_judge.checking.catalogue import STANDARD

ROOT = find_root()
NAME = "02_soft_lookup"
TASK = "02.similarity"
WORD = "a word that nobody guesses"
COMMON, RARE = (mistake.slug for mistake in get_task(TASK).mistakes[:2])


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def done(*words: str | Path) -> str:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two courses of three students: all get the same notebook, and each gets their each."""
    folder = tmp_path_factory.mktemp("released")
    (folder / "class.csv").write_text("id\nada\nbo\ncleo\n")
    for name, words in {"same": (), "own": ("--course-seed", WORD)}.items():
        done("release", NAME, "--course", folder / name, *words)
        done("students", folder / "class.csv", "--course", folder / name)
    done("release", NAME, "--course", folder / "own", "--course-seed", WORD, "--per-student", "--drop", "02.limit")
    return folder


@pytest.fixture
def same(courses: Path, tmp_path: Path) -> Course:
    """The course in which all get the same notebook."""
    return Course.at(shutil.copytree(courses / "same", tmp_path / "c"))


@pytest.fixture
def each(courses: Path, tmp_path: Path) -> Course:
    """The course in which each student gets another notebook."""
    return Course.at(shutil.copytree(courses / "own", tmp_path / "c"))


def made(
    course: Course, report: Report | None = None, now: datetime | None = None, secret: str | None = None
) -> Solutions:
    return make_solutions(course, NAME, STANDARD, report=report, now=now, root=lambda: ROOT, secret=secret)


def notebook_of(solutions: Solutions) -> nbformat.NotebookNode:
    return nbformat.reads(solutions.content.decode(), as_version=4)


def class_of(*diagnoses: Iterable[str]) -> Report:
    """A report on a class, by the mistakes that each made in one task; one more has handed in nothing."""
    records = [
        Record(f"student-{at}", GRADED, 0.0, 2.0, {TASK: TaskMark(0.0, 2.0, "wrong", tuple(slugs))})
        for at, slugs in enumerate(diagnoses)
    ]
    return Report(NAME, 1, (*records, Record("student-x", MISSING, 0.0, 2.0)))


def test_answers_are_those_of_the_source_without_anything_of_nbgraders(same: Course) -> None:
    path = same.notebook("source", ".", NAME)
    source = nbformat.read(path, as_version=4)
    about = [(cell, cell.metadata.get("nbgrader", {})) for cell in source.cells]
    check = next(cell for cell, marks in about if marks.get("grade_id") == "02-lookup-check")
    check.source += "\n### BEGIN HIDDEN TESTS\nassert secret\n### END HIDDEN TESTS"
    written = next(cell for cell, marks in about if cell.cell_type == "markdown" and marks.get("grade"))
    marks = {"task": True, "grade": False, "solution": False, "locked": True, "points": 1, "schema_version": 3}
    marked = nbformat.v4.new_markdown_cell("Draw it.\n=== BEGIN MARK SCHEME ===\nhalf a point\n=== END MARK SCHEME ===")
    marked.metadata.nbgrader = marks | {"grade_id": "02-drawn"}
    source.cells.append(marked)
    heading = next(cell for cell in source.cells if f"### Task {TASK} ·" in cell.source)
    heading.source += "\n\nA word more."
    nbformat.write(source, path)
    solutions = made(same)
    assert solutions.file == f"{NAME}-solutions.ipynb" and solutions == made(same)
    text = solutions.content.decode()
    for hidden in ("secret", "half a point", "BEGIN SOLUTION", "BEGIN HIDDEN", "MARK SCHEME", '"nbgrader"'):
        assert hidden not in text, hidden
    cells = {cell.id: cell.source for cell in notebook_of(solutions).cells}
    right = solution_cells(read_solution(ROOT / "solutions" / f"{NAME}.py"))
    assert {name: cells[name].strip() for name in right} == {name: code.strip() for name, code in right.items()}
    assert "A word more." in cells[heading.id] and len(cells[written.id]) > 100
    assert heading.id in next(note for note in solutions.notes if "the source was changed" in note)


def test_answers_leave_out_what_the_course_left_out(each: Course) -> None:
    assert "02-limit" in solution_cells(read_solution(ROOT / "solutions" / f"{NAME}.py"))
    done("release", NAME, "--course", each.root, "--course-seed", WORD, "--drop", "02.lead")
    for notebook in personal(made(each, secret=WORD)).values():
        assert not {"02-limit", "02-lead"} & {cell.id for cell in notebook.cells}


def test_mistakes_are_counted_behind_their_task_and_nobody_is_named(same: Course) -> None:
    report = class_of(*[[COMMON]] * 9, [COMMON, RARE], [RARE, "other-variant"], ["gone-mistake"], [])
    solutions = made(same, report)
    assert (solutions.mistakes, solutions.graded, solutions.notes) == (2, 13, ())
    cells = notebook_of(solutions).cells
    at = next(at for at, cell in enumerate(cells) if cell.id == "02-similarity-check")
    common, rare = (get_task(TASK).mistake(slug).says for slug in (COMMON, RARE))
    assert cells[at + 1].source.splitlines()[2:] == [f"- 10 of 13: {common}", f"- fewer than 3: {rare}"]
    assert len(cells) == len(notebook_of(made(same)).cells) + 1
    assert b"student-" not in solutions.content and b"other" + b"-variant" not in solutions.content


def test_mistakes_of_a_small_class_are_not_told(same: Course) -> None:
    nine, ten = (made(same, class_of(*[[COMMON]] * number)) for number in (9, 10))
    assert nine.mistakes == 0 and nine.content == made(same).content
    assert "there are 9" in nine.notes[0] and ten.mistakes == 1 and b"10 of 10: " in ten.content


def test_answers_wait_for_the_last_who_can_hand_in(same: Course) -> None:
    with pytest.raises(CourseError, match="has no due date"):
        made(same, now=datetime(2026, 11, 1, tzinfo=UTC))
    done("extension", NAME, "--course", same.root, "--due", "2026-12-01 18:00")
    done("extension", "ada", NAME, "--course", same.root, "--days", "3")
    with pytest.raises(CourseError, match="until Friday 2026-12-04 18:00 UTC, by 1 student with more time") as waits:
        made(same, now=datetime(2026, 12, 4, 17, 59, tzinfo=UTC))
    assert "ada" not in str(waits.value) and "--early" in str(waits.value)
    assert made(same, now=datetime(2026, 12, 4, 18, 1, tzinfo=UTC)).content == made(same).content
    done("extension", "ada", NAME, "--course", same.root, "--end")
    with pytest.raises(CourseError, match="until Tuesday 2026-12-01 18:00 UTC, by everybody"):
        made(same, now=datetime(2026, 12, 1, 17, 0, tzinfo=UTC))
    done("accommodate", "bo", "--course", same.root, "--days", "2")
    with pytest.raises(CourseError, match="until Thursday 2026-12-03 18:00 UTC, by 1 student with more time"):
        made(same, now=datetime(2026, 12, 2, tzinfo=UTC))


def test_command_writes_after_the_deadline_and_early_only_if_asked(same: Course) -> None:
    words = ("solutions", NAME, "--course", same.root)
    done("extension", NAME, "--course", same.root, "--due", "2999-12-01 18:00")
    refused = run(*words)
    assert refused.exit_code == 2 and "can still be handed in until" in refused.stderr
    assert not (same.root / "published").exists()
    assert "no mistakes are told" in done(*words, "--early")
    done("extension", NAME, "--course", same.root, "--due", "2001-12-01 18:00")
    class_of(*[[COMMON]] * 12).write(same.root / "reports" / f"{NAME}.json")
    assert "known mistakes of 12 graded submissions: 1" in done(*words)
    assert b"12 of 12: " in (same.root / "published" / f"{NAME}-solutions.ipynb").read_bytes()


def personal(solutions: Solutions) -> dict[str, nbformat.NotebookNode]:
    with zipfile.ZipFile(io.BytesIO(solutions.content)) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert all(name.endswith(f"/{NAME}-solutions.ipynb") for name in texts)
    return {name.partition("/")[0]: nbformat.reads(text, as_version=4) for name, text in texts.items()}


@pytest.mark.slow
def test_each_student_gets_the_answers_to_their_own_variants(each: Course) -> None:
    solutions = made(each, class_of(*[[COMMON]] * 12), secret=WORD)
    notebooks = personal(solutions)
    assert {*notebooks} == {"ada", "bo", "cleo"} and solutions.students == 3 and solutions.notes == ()
    answers = []
    for student, notebook in notebooks.items():
        source = read_solution(ROOT / "solutions" / f"{NAME}.py", draw_variants(WORD, student))
        right = {name: code for name, code in solution_cells(source).items() if name != "02-limit"}
        cells = {cell.id: cell.source for cell in notebook.cells}
        assert {name: cells[name].strip() for name in right} == {name: code.strip() for name, code in right.items()}
        assert "12 of 12: " in cells["02-similarity-check-mistakes"]
        answers.append(str(sorted(right.items())))
    assert len({*answers}) == 3
    assert solutions == made(each, class_of(*[[COMMON]] * 12), secret=WORD)


def test_answers_to_personal_notebooks_need_the_secret_word(each: Course) -> None:
    for word, says in ((None, "give the secret word with --course-seed"), ("another", "this is not the secret word")):
        with pytest.raises(CourseError, match=says):
            made(each, secret=word)
    assert b"### BEGIN" not in made(each, secret=WORD).content


def test_who_has_no_notebook_or_one_of_another_version_is_said(each: Course) -> None:
    place = each.notebook("release", ".", NAME).parent / "personal"
    (place / "bo.ipynb").unlink()
    (place / "ada.ipynb").write_text((place / "ada.ipynb").read_text().replace("Task", "Problem"))
    solutions = made(each, secret=WORD)
    assert {*personal(solutions)} == {"ada", "cleo"}
    assert [who for who in ("ada", "bo", "cleo") if any(who in note for note in solutions.notes)] == ["ada", "bo"]


def test_answers_need_a_source(same: Course) -> None:
    same.notebook("source", ".", NAME).unlink()
    with pytest.raises(CourseError, match="which holds the answers"):
        made(same)
    with pytest.raises(CourseError, match="knows no assignment"):
        make_solutions(same, "44_none", STANDARD, report=None, now=None, root=lambda: ROOT)


def test_a_source_that_nbgrader_refuses_is_named(same: Course) -> None:
    path = same.notebook("source", ".", NAME)
    source = nbformat.read(path, as_version=4)
    source.cells[0].source += "\n=== BEGIN MARK SCHEME ===\n1\n=== END MARK SCHEME ==="
    nbformat.write(source, path)
    for command in ("solutions", "handout"):
        refused = run(command, NAME, "--course", same.root, *["--early"] * (command == "solutions"))
        assert refused.exit_code == 2 and f"nbgrader refuses {path}: Mark scheme region" in refused.stderr
