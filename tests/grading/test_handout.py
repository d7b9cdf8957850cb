"""``softlookup handout``: what students get, as one file or one zip for a platform."""

import io
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from softlookup_command.commands import main
from softlookup_grader import Course
from softlookup_grader.course.personal import personal_folder
from softlookup_judge.authoring import find_root

ROOT = find_root()
NAME = "02_soft_lookup"
WORD = "a word that nobody guesses"
FOLDER = Path("c", "handout")
CLASS = "id,email\nada,ada@example.org\nbo,bo@example.org\n00107,cleo@example.org\n"


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def done(*words: str | Path) -> str:
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*words: str | Path) -> str:
    """What is said to a command that is refused, and leaves nothing behind."""
    result = run(*words)
    assert result.exit_code == 2 and not FOLDER.exists(), result.output
    return result.stderr


def inside(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def courses(tmp_path_factory):
    """Two courses of three students: all get the same notebook, and each gets their own."""
    folder = tmp_path_factory.mktemp("released")
    (folder / "class.csv").write_text(CLASS)
    for name, words in {"same": (), "own": ("--course-seed", WORD)}.items():
        done("release", NAME, "--course", folder / name, *words)
        done("students", folder / "class.csv", "--course", folder / name)
    done("release", NAME, "--course", folder / "own", "--course-seed", WORD, "--per-student")
    return folder


def copied(courses: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """One of the two, in the folder c of the current one."""
    shutil.copytree(courses / name, tmp_path / "c")
    monkeypatch.chdir(tmp_path)
    return Course.at(tmp_path / "c")


@pytest.fixture
def same(courses, tmp_path, monkeypatch):
    return copied(courses, "same", tmp_path, monkeypatch)


@pytest.fixture
def each(courses, tmp_path, monkeypatch):
    return copied(courses, "own", tmp_path, monkeypatch)


def released(*more: str) -> bytes:
    return Path("c", "release", NAME, *(more or (f"{NAME}.ipynb",))).read_bytes()


def test_handout_is_the_notebook_itself_where_the_release_holds_nothing_else_wherever_it_goes(same):
    says = done("handout", NAME, "--course", "c")
    assert [path.name for path in FOLDER.iterdir()] == [f"{NAME}.ipynb"]
    assert (FOLDER / f"{NAME}.ipynb").read_bytes() == released()
    assert f"wrote {FOLDER / NAME}.ipynb" in says and "there is no due date yet" in says
    assert "help at home ends with one solution" in says and "links to the book lead to ../../_build/html" in says
    assert f"wrote {Path('up', NAME)}.ipynb" in done("handout", NAME, "--course", "c", "--out", "up")
    assert Path("up", f"{NAME}.ipynb").read_bytes() == released()
    Path("c", "source", NAME, "README.txt").write_text("Ours.")
    done("release", NAME, "--course", "c")
    done("handout", NAME, "--course", "c")
    assert inside(FOLDER / f"{NAME}.zip")[f"{NAME}/README.txt"] == b"Ours.", "the instructor's is left as it is"


def test_handout_with_more_files_is_a_zip_that_says_what_to_do_and_is_the_same_each_time(same):
    done("handout", NAME, "--course", "c")
    done("release", NAME, "--course", "c", "--assistants", "tutor", "--last-help", "formula")
    with open(Path("c", "nbgrader_config.py"), "a") as config:
        config.write('\nc.NbGraderAPI.timezone = "Europe/Berlin"\n')
    done("extension", NAME, "--course", "c", "--due", "2026-12-01 18:00")
    done("handout", NAME, "--course", "c")
    path = FOLDER / f"{NAME}.zip"
    assert [path] == [*FOLDER.iterdir()], "the notebook of the release before is gone"
    first, files = path.read_bytes(), inside(path)
    beside = ("README.txt", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
    assert {*files} == {f"{NAME}/{file}" for file in (f"{NAME}.ipynb", *beside)}
    assert files[f"{NAME}/{NAME}.ipynb"] == released()
    readme = files[f"{NAME}/README.txt"].decode()
    assert "Tuesday 2026-12-01 18:00 Europe/Berlin" in readme and f"Hand in: {NAME}.ipynb" in readme
    assert "ends with the formula" in readme and f"softlookup check {NAME}.ipynb" in readme
    path.unlink()
    done("handout", NAME, "--course", "c")
    assert path.read_bytes() == first


def test_handout_names_the_addresses_of_the_course(same):
    Path("c", "_config.yml").write_text(
        "sphinx: {config: {softlookup_launch: {install: 'git+https://git.example.org/s', book: 'https://example.org/b/'}}}"
    )
    done("release", NAME, "--course", "c")
    says = done("handout", NAME, "--course", "c")
    assert 'python -m pip install "softlookup-all[student] @ git+https://git.example.org/s"' in says
    assert "https://example.org/b/book/00_before_you_start_running.html" in says and "_build" not in says


def test_handout_for_each_student_has_folders_with_the_ordinary_name_and_their_own_deadline(each):
    done("extension", NAME, "--course", "c", "--due", "2026-12-01 18:00")
    done("extension", "ada", NAME, "--course", "c", "--days", "3")
    says = done("handout", NAME, "--course", "c")
    files = inside(FOLDER / f"{NAME}.zip")
    everybody = ("ada", "bo", "00107")
    assert {*files} == {f"{student}/{file}" for student in everybody for file in (f"{NAME}.ipynb", "README.txt")}
    notebooks = [files[f"{student}/{NAME}.ipynb"] for student in everybody]
    assert notebooks == [released("personal", f"{student}.ipynb") for student in everybody]
    assert len({*notebooks}) == 3 and released() not in notebooks
    assert [f"2026-12-0{day} 18:00".encode() in files["ada/README.txt"] for day in (1, 4)] == [False, True]
    assert b"2026-12-01 18:00" in files["bo/README.txt"]
    assert "3 students" in says and "--moodle FILE.csv" in says and "help at home ends with a worked example" in says


def test_handout_names_students_without_a_notebook(each):
    Path("later.csv").write_text("id\nzoe\n")
    done("students", "later.csv", "--course", "c")
    assert "no notebook was made for zoe:" in refused("handout", NAME, "--course", "c")
    done("release", NAME, "--course", "c", "--course-seed", WORD)
    done("handout", NAME, "--course", "c")
    assert f"zoe/{NAME}.ipynb" in inside(FOLDER / f"{NAME}.zip")
    shutil.rmtree(FOLDER)
    shutil.rmtree(personal_folder(each, NAME))  # as nbgrader generate_assignment does
    assert "no notebook was made for 00107, ada, bo, zoe:" in refused("handout", NAME, "--course", "c")


def test_handout_for_moodle_is_named_by_participants_and_names_who_is_left_out(each):
    people = {81: "ada@example.org", 82: "bo@example.org", 83: "guest@example.org"}
    rows = "".join(f"Participant {number},Some Name,{email},No submission,,10\n" for number, email in people.items())
    Path("w.csv").write_text(f"Identifier,Full name,Email address,Status,Grade,Maximum Grade\n{rows}")
    says = done("handout", NAME, "--course", "c", "--moodle", "w.csv")
    files = inside(FOLDER / f"{NAME}-moodle.zip")
    notebooks = {}
    for name, content in files.items():
        part, _, file = name.partition("/")
        words = part.split("_", 4)  # as Moodle reads it
        assert words[2:4] == ["assignsubmission", "file"] and words[1].isdigit()
        if file == f"{NAME}.ipynb":
            notebooks[people[int(words[1])].partition("@")[0]] = content
    assert notebooks == {student: released("personal", f"{student}.ipynb") for student in ("ada", "bo")}
    assert "participant 83" in says and "not in the worksheet: 00107" in says and "2 students" in says


def test_handout_for_moodle_refuses_a_worksheet_of_others_and_one_for_a_common_notebook(each, courses):
    Path("w.csv").write_text("Identifier,Full name,Email address\nParticipant 9,Eve,eve@example.org\n")
    assert "nobody in the grading worksheet" in refused("handout", NAME, "--course", "c", "--moodle", "w.csv")
    common = "handout", NAME, "--course", courses / "same", "--moodle", "w.csv"
    assert "all students get the same notebook" in refused(*common)


def test_handout_refuses_what_is_not_the_source_any_more(same):
    path = same.notebook("source", ".", NAME)
    notebook = nbformat.read(path, as_version=4)
    text = next(cell for cell in notebook.cells if cell.cell_type == "markdown")
    text.source += "\n\nA word more."
    nbformat.write(notebook, path)
    says = refused("handout", NAME, "--course", "c")
    assert f"the source of {NAME} was changed since it was released ({text.id})" in says
    assert "generate_assignment" in says


def test_handout_sees_that_a_file_beside_the_notebook_was_changed(same):
    table = Path("c", "source", NAME, "table.csv")
    table.write_text("1\n")
    assert "(table.csv)" in refused("handout", NAME, "--course", "c")
    done("release", NAME, "--course", "c")
    done("handout", NAME, "--course", "c", "--out", "up")
    table.write_text("2\n")
    assert "(table.csv)" in refused("handout", NAME, "--course", "c")


def test_handout_refuses_what_was_not_released_and_links(same):
    assert "knows no assignment '05_many_heads'" in refused("handout", "05_many_heads", "--course", "c")
    Path("c", "release", NAME, "data").symlink_to("/")
    assert "is a link" in refused("handout", NAME, "--course", "c")
    shutil.rmtree(Path("c", "release", NAME))
    assert f"{NAME} was not released" in refused("handout", NAME, "--course", "c")


def test_handouts_with_a_forgotten_students_notebook_are_removed(each):
    done("handout", NAME, "--course", "c")
    done("solutions", NAME, "--course", "c", "--early", "--course-seed", WORD)
    removed = done("forget", "bo", "--course", "c", "--yes")
    assert f"handout/{NAME}.zip" in removed and f"published/{NAME}-solutions.zip" in removed
    assert not [*FOLDER.iterdir(), *Path("c", "published").iterdir()]
    done("handout", NAME, "--course", "c")
    done("forget", "eve", "--course", "c", "--yes")
    assert not any(name.startswith("bo/") for name in inside(FOLDER / f"{NAME}.zip"))
