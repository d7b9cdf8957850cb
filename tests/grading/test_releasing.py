"""``softlookup release`` refuses other words, leaves changed sources alone, and repeats what was chosen."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from softlookup.authoring import draw_variants, find_root
from softlookup.cli import main
from softlookup.grading.course.releasing import RECORD, REPLACED

ROOT = find_root()
NAME, OTHER = "02_soft_lookup", "04_one_head"
WORD = "a word that nobody guesses"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two assignments, as the current folder."""
    (tmp_path / "solutions").mkdir()
    shutil.copyfile(ROOT / "_config.yml", tmp_path / "_config.yml")
    shutil.copyfile(ROOT / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    for name in (NAME, OTHER):
        shutil.copyfile(ROOT / "solutions" / f"{name}.py", tmp_path / "solutions" / f"{name}.py")
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


@pytest.fixture
def public(checkout: Path, courses: Path) -> Path:
    """The checkout, and in it a course in which an assignment was released without a secret word."""
    shutil.copytree(courses / "public", checkout / "c")
    return checkout


@pytest.fixture
def seeded(checkout: Path, courses: Path) -> Path:
    """The checkout, and in it a course in which an assignment was released with a secret word."""
    shutil.copytree(courses / "seeded", checkout / "c")
    return checkout


def release(*words: str) -> Result:
    return CliRunner().invoke(main, ["release", "--course", "c", *words])


def notebook(step: str, name: str = NAME) -> nbformat.NotebookNode:
    return nbformat.read(Path("c", step, name, f"{name}.ipynb"), as_version=4)


def snapshot() -> dict[str, bytes]:
    """All files of the course but its database and logs."""
    files = [path for part in ("source", "release") for path in Path("c", part).rglob("*.ipynb")]
    return {str(path): path.read_bytes() for path in [*files, Path("c", RECORD)]}


def change_points(number: float) -> None:
    """What an instructor does by hand in source/."""
    path = Path("c", "source", NAME, f"{NAME}.ipynb")
    changed = nbformat.read(path, as_version=4)
    cell = next(cell for cell in changed.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    cell.metadata.nbgrader.points = number
    nbformat.write(changed, path)


def test_a_seeded_course_refuses_another_word_and_none(seeded: Path) -> None:
    before = snapshot()
    for words, says in (([], "none was given"), (["--course-seed", "another"], "not the secret word")):
        refused = release(*words)
        assert refused.exit_code == 2 and says in refused.stderr and "--force" in refused.stderr
        assert snapshot() == before
    assert release(NAME, "--course-seed", WORD).exit_code == 0
    assert snapshot() == before


def test_a_public_course_refuses_a_word(public: Path) -> None:
    assert "without a secret word" in release("--course-seed", WORD).stderr


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
    variants = draw_variants(WORD)
    assert any(
        f"variant={variants[task]})" in str(notebook("release").cells) for task in variants if task[:2] == NAME[:2]
    )


def test_one_assignment_is_released_alone(public: Path) -> None:
    assert Path("c", "release", NAME).exists()
    assert not Path("c", "release", OTHER).exists()
    assert "there is no assignment 44" in release("44").stderr


def test_a_changed_source_is_kept_and_named_and_the_others_released(public: Path) -> None:
    change_points(9)
    before = Path("c", "source", NAME, f"{NAME}.ipynb").read_bytes()
    result = release()
    assert result.exit_code == 0 and f"kept {NAME} as it is" in result.output and "-check" in result.output
    assert f"released {OTHER}" in result.output and f"released {NAME}" not in result.output
    assert Path("c", "source", NAME, f"{NAME}.ipynb").read_bytes() == before


def test_saved_without_a_change_is_not_changed(public: Path) -> None:
    path = Path("c", "source", NAME, f"{NAME}.ipynb")
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert f"released {NAME}" in release(NAME).output


def test_force_replaces_a_changed_source_and_keeps_a_copy(public: Path) -> None:
    change_points(9)
    before = Path("c", "source", NAME, f"{NAME}.ipynb").read_bytes()
    assert "a copy of the changed source" in release(NAME, "--force").output
    (backup,) = Path("c", REPLACED).iterdir()
    assert backup.read_bytes() == before
    assert Path("c", "source", NAME, f"{NAME}.ipynb").read_bytes() != before


def test_a_course_without_a_record_loses_nothing(public: Path) -> None:
    change_points(9)
    Path("c", RECORD).unlink()
    assert f"kept {NAME} as it is" in release(NAME).output


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
