"""``softlookup release`` refuses other words, leaves changed sources alone, and repeats what was chosen."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result
from failing import differences, snapshot_of
from fake_grader import here
from own_course import TEXTS

from softlookup_command.commands import main
from softlookup_grader import Course, GradeRequest, grade_assignment
from softlookup_grader.course import staging
from softlookup_grader.course.releasing import RECORD, REPLACED
from softlookup_grader.data.locks import lock
from softlookup_judge.authoring import draw_variants, find_root

ROOT = find_root()
NAME, OTHER = "02_soft_lookup", "04_one_head"
WORD = "a word that nobody guesses"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two assignments, as the current folder."""
    (tmp_path / "solutions").mkdir()
    for name in ("_config.yml", "nbgrader_config.py", f"solutions/{NAME}.py", f"solutions/{OTHER}.py"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def courses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two courses in which an assignment was released: with a secret word, and without."""
    folder = tmp_path_factory.mktemp("released")
    for course, words in (("public", ()), ("seeded", ("--course-seed", WORD))):
        done = CliRunner().invoke(main, ["release", "--course", str(folder / course), NAME, *words])
        assert done.exit_code == 0, done.output
    return folder


def copied(folder: Path, checkout: Path) -> Path:
    shutil.copytree(folder, checkout / "c")
    return checkout


@pytest.fixture
def public(checkout: Path, courses: Path) -> Path:
    """The checkout, and in it a course in which an assignment was released without a secret word."""
    return copied(courses / "public", checkout)


@pytest.fixture
def seeded(checkout: Path, courses: Path) -> Path:
    """The same with a secret word."""
    return copied(courses / "seeded", checkout)


@pytest.fixture
def again(checkout: Path, after_grading: Path) -> Path:
    """The same without a secret word, and graded."""
    return copied(after_grading, checkout)


def release(*words: str) -> Result:
    return CliRunner().invoke(main, ["release", "--course", "c", *words])


def notebook(step: str, name: str = NAME) -> nbformat.NotebookNode:
    return nbformat.read(Path("c", step, name, f"{name}.ipynb"), as_version=4)


def change_points(number: float) -> None:
    """What an instructor does by hand in source/."""
    path = Path("c", "source", NAME, f"{NAME}.ipynb")
    changed = nbformat.read(path, as_version=4)
    cell = next(cell for cell in changed.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    cell.metadata.nbgrader.points = number
    nbformat.write(changed, path)


def test_a_seeded_course_refuses_another_word_and_none(seeded: Path) -> None:
    before = snapshot_of(Path("c"))
    for words, says in (([], "none was given"), (["--course-seed", "another"], "not the secret word")):
        refused = release(*words)
        assert refused.exit_code == 2 and says in refused.stderr and "--force" in refused.stderr
        assert not differences(snapshot_of(Path("c")), before)
    assert release(NAME, "--course-seed", WORD).exit_code == 0
    assert not differences(snapshot_of(Path("c")), before)


@pytest.mark.slow
def test_force_takes_another_word_for_all_assignments(seeded: Path) -> None:
    assert "name none of them" in release(NAME, "--course-seed", "another", "--force").stderr
    assert release("--course-seed", "another", "--force").exit_code == 0
    assert release(NAME, "--course-seed", "another").exit_code == 0
    assert "not the secret word" in release("--course-seed", WORD).stderr


def test_the_word_is_not_stored(seeded: Path) -> None:
    record = Path("c", RECORD)
    assert WORD not in record.read_text() and record.stat().st_mode & 0o077 == 0
    seed = json.loads(record.read_text())["seed"]
    assert len(bytes.fromhex(seed["salt"])) == 16 and len(bytes.fromhex(seed["scrypt"])) == 64
    variants = {task: number for task, number in draw_variants(WORD).items() if task[:2] == NAME[:2]}
    assert any(f"variant={number})" in str(notebook("release").cells) for number in variants.values())


def test_a_changed_source_is_kept_and_named_and_the_others_released(public: Path) -> None:
    source = Path("c", "source", NAME, f"{NAME}.ipynb")
    source.write_text(json.dumps(json.loads(source.read_text())))
    assert f"released {NAME}" in release(NAME).output, "saved without a change"
    change_points(9)
    before = source.read_bytes()
    result = release()
    assert result.exit_code == 0 and f"kept {NAME} as it is" in result.output and "-check" in result.output
    assert f"released {OTHER}" in result.output and f"released {NAME}" not in result.output
    Path("c", RECORD).unlink()
    assert f"kept {NAME} as it is" in release(NAME).output, "nothing is lost without a record, either"
    assert source.read_bytes() == before


def test_force_replaces_a_changed_source_and_keeps_a_copy(public: Path) -> None:
    change_points(9)
    before = Path("c", "source", NAME, f"{NAME}.ipynb").read_bytes()
    assert "a copy of the changed source" in release(NAME, "--force").output
    (backup,) = Path("c", REPLACED).iterdir()
    assert backup.read_bytes() == before
    assert Path("c", "source", NAME, f"{NAME}.ipynb").read_bytes() != before


def test_choices_hold_for_later_releases(public: Path) -> None:
    drop, worth = "02.lead", "02.lookup=6"
    release(NAME, "--drop", drop, "--drop", "02.limit", "--points", worth, "--last-help", "formula")
    first = notebook("release")
    assert "02-limit" not in [cell.id for cell in first.cells] and "SOFTLOOKUP_HELP" in str(first)
    assert "without 02.lead, 02.limit" in release(NAME).output
    assert notebook("release") == first
    release(NAME, "--points", "02.limit=2")
    assert "02-limit" in [cell.id for cell in notebook("release").cells], "points bring a task back"
    release(NAME, "--all-tasks", "--last-help", "solution")
    assert "SOFTLOOKUP_HELP" not in str(notebook("release"))
    assert drop.replace(".", "-") in [cell.id for cell in notebook("release").cells]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--points", "04.head"], "TASK=NUMBER"),
        (["--points", "04.head=many"], "TASK=NUMBER"),
        (["--points", "04.head=nan"], "0 or more"),
        (["--drop", "05.split"], "belongs to none of the assignments"),
        (["--drop", "04.none"], "is no task of this notebook"),
        (["--drop", "04.head", "--points", "04.head=2"], "cannot be left out and have points"),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_is_written(checkout: Path, words: list[str], says: str) -> None:
    refused = release(OTHER, *words)
    assert refused.exit_code == 2 and says in refused.stderr
    assert not Path("c", "source").exists()


def test_a_damaged_record_is_told(public: Path) -> None:
    Path("c", RECORD).write_text("{")
    refused = release(NAME)
    assert refused.exit_code == 2 and "is damaged" in refused.stderr


def test_a_release_brings_the_page_for_assistants_and_takes_it_away(public: Path) -> None:
    there = [Path("c", "release", NAME, name) for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md")]
    assert not any(path.exists() for path in there), "off at first"
    done = release(NAME, "--assistants", "tutor")
    assert all(path.is_file() for path in there) and "AGENTS.md" in done.output
    assert release(NAME).exit_code == 0 and all(path.is_file() for path in there), "it holds for later releases"
    assert release(NAME, "--assistants", "off").exit_code == 0 and not any(path.exists() for path in there)
    assert release(NAME).exit_code == 0 and not any(path.exists() for path in there)


def test_what_an_instructor_wrote_for_assistants_stays(public: Path) -> None:
    page = Path("c", "source", NAME, "AGENTS.md")
    page.write_text("Our rules.")
    for words in ([], ["--assistants", "tutor"], ["--assistants", "off"]):
        done = release(NAME, *words)
        assert done.exit_code == 0 and page.read_text() == "Our rules.", words
    assert "because it was changed" in done.output
    refused = release(NAME, "--assistants", "on")
    assert refused.exit_code == 2 and "'tutor', 'off'" in refused.stderr


@pytest.fixture(scope="module")
def after_grading(courses: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public course with two submissions that were graded."""
    folder = tmp_path_factory.mktemp("graded") / "c"
    course = Course.at(Path(shutil.copytree(courses / "public", folder)))
    for student in ("ada", "ben"):
        path = course.notebook("submitted", student, NAME)
        path.parent.mkdir(parents=True)
        shutil.copyfile(course.notebook("release", ".", NAME), path)
    graded(course)
    return folder


def graded(course: Course) -> dict[str, tuple[float, float]]:
    """Grade a class, and give what the gradebook holds then: score and maximum of each student."""
    grade_assignment(course, GradeRequest(NAME, seed=3, feedback=False), executor=here())
    with course.gradebook() as book:
        return {row.student.id: (row.score, row.max_score) for row in book.assignment_submissions(NAME)}


def write_own_task() -> None:
    """Add a task of the course to the assignment: that of own_course.py under another number."""
    Path("c", "tasks").mkdir()
    for name, text in TEXTS.items():
        if name.startswith("99"):
            text = (text.partition("from softlookup import check\n\n")[2] or text).replace("99", "02")
            text = text.replace("title =", 'anchor = "", title =')
            Path("c", "tasks", name.replace("99_mine", NAME)).write_text(text)


@pytest.mark.parametrize("what", ["dropped", "own task", "among others"])
def test_a_release_that_nbgrader_would_refuse_writes_nothing(again: Path, what: str) -> None:
    if what == "own task":
        write_own_task()
    before = snapshot_of(Path("c"))
    refused = release(*([] if what == "own task" else ["--drop", "02.limit"]), *([NAME] * (what != "among others")))
    assert refused.exit_code == 2 and "was graded already" in refused.stderr
    sentence = "02.row-means would be new" if what == "own task" else "--points 02.limit=0"
    assert sentence in refused.stderr.replace("\n", " "), refused.stderr
    assert not differences(snapshot_of(Path("c")), before)
    shutil.rmtree(Path("c", "tasks"), ignore_errors=True)
    assert f"released {NAME}" in release(NAME).output, "nobody has changed the source"


def test_points_change_after_grading_and_the_class_is_counted_again(again: Path) -> None:
    course = Course.at(Path("c"))
    before = graded(course)
    done = release(NAME, "--points", "02.limit=0", "--points", "02.mix=10")
    assert done.exit_code == 0 and f"'softlookup grade {NAME}' grades the class again" in done.output
    after = graded(course)
    fresh = release("--course", "d", NAME, "--points", "02.limit=0", "--points", "02.mix=10")
    assert fresh.exit_code == 0
    shutil.copytree(Path("c", "submitted"), Path("d", "submitted"))
    assert after == graded(Course.at(Path("d"))) and after != before
    assert f"grade {NAME}" not in release(NAME).output, "nothing changed"


def test_a_live_release_is_finished_by_nobody_else(public: Path) -> None:
    root, target = Path("c").resolve(), Path("c", "new.txt")
    with staging.staged(root) as stage:
        (stage.folder / "cells").mkdir()
        stage.add(b"new", root / "new.txt")
        stage.decide()
        with open(root / staging.LOCK) as handle, pytest.raises(BlockingIOError):
            lock(handle.fileno(), wait=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(staging, "lock", lambda fd: lock(fd, wait=False))
            with pytest.raises(BlockingIOError):  # where it would wait otherwise
                Course.at(root)
        assert not target.exists()
    Course.at(root)
    assert target.read_bytes() == b"new" and not staging.is_decided(root)
    with pytest.raises(ZeroDivisionError), staging.staged(root) as stage:
        stage.add(b"newer", root / "newer.txt")
        raise ZeroDivisionError
    assert not (root / staging.BEGUN).exists() and not (root / "newer.txt").exists(), "what was not decided is gone"


@pytest.mark.slow
def test_a_secret_word_leaves_the_solution_out_of_the_help(seeded: Path) -> None:
    assert any("SOFTLOOKUP_HELP" in cell.source and "example" in cell.source for cell in notebook("release").cells)
    assert "ends with a worked example" in release(NAME, "--course-seed", WORD).output
    assert "ends with one solution" in release(NAME, "--course-seed", WORD, "--last-help", "solution").output
    assert "ends with one solution" in release(NAME, "--course-seed", WORD).output, "a choice holds"
    assert "ends with a worked example" in release(OTHER, "--course-seed", WORD).output


def test_without_a_secret_word_all_help_is_given_and_none_is_taken_later(public: Path) -> None:
    assert Path("c", "release", NAME).exists() and not Path("c", "release", OTHER).exists(), "it was named alone"
    assert "there is no assignment 44" in release("44").stderr
    assert "without a secret word" in release("--course-seed", WORD).stderr
    assert "ends with one solution" in release(NAME).output
    assert "SOFTLOOKUP_HELP" not in str(notebook("release"))


def test_addresses_of_the_course_count_before_those_of_the_checkout(public: Path) -> None:
    assert "links to the book lead to ../../_build/html" in release(NAME).output
    places = "{book: 'https://course.example/', install: 'git+https://lib.example'}"
    Path("c", "_config.yml").write_text(f"sphinx: {{config: {{softlookup_launch: {places}}}}}")
    done = release(NAME)
    assert done.exit_code == 0 and "links to the book" not in done.output
    text = str(notebook("release"))
    assert "https://course.example/book/02_soft_lookup.html" in text and "git+https://lib.example" in text
    assert "../../_build/html" not in text


@pytest.mark.parametrize("config", ["a: [", "sphinx: {config: {softlookup_launch: [1]}}", "- a\n"])
def test_a_damaged_config_of_the_course_is_told(public: Path, config: str) -> None:
    Path("c", "_config.yml").write_text(config)
    before = snapshot_of(Path("c"))
    refused = release(NAME)
    assert refused.exit_code == 2 and "_config.yml" in refused.stderr
    assert not differences(snapshot_of(Path("c")), before)


@pytest.mark.slow
def test_release_without_names_keeps_to_the_chapters_of_a_part(public: Path) -> None:
    Path("c", ".pages.json").write_text("{}")
    done = release()
    assert f"released {NAME}" in done.output and OTHER not in done.output
    assert f"released {OTHER}" in release(OTHER).output and f"released {OTHER}" in release().output
