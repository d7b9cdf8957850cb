"""A student's own copies: given out once, renewed while untouched, and never written over."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner

from softlookup_command.commands import main
from softlookup_course.progress.assistants import assistants_files
from softlookup_course.progress.report import SCRIPT
from softlookup_course.progress.workplace import (
    START,
    WELCOME,
    WORK,
    give_out,
    lab_command,
    lab_environment,
    notebooks_folder,
)
from softlookup_judge.authoring import find_root
from softlookup_judge.authoring.build import read_ungraded, ungraded

ROOT = find_root()
NAME = "00_before_you_start"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with two notebooks."""
    (tmp_path / "_config.yml").write_text("title: x\n")
    (tmp_path / "solutions").mkdir()
    for name in (NAME, "welcome"):
        shutil.copytree(ROOT / "exercises" / name, tmp_path / "exercises" / name)
    return tmp_path


def copy_of(root: Path, folder: str = WORK) -> Path:
    return root / folder / NAME / f"{NAME}.ipynb"


def same_cells(*notebooks: Path) -> bool:
    """Whether notebooks are the same but for the language, which a copy names as this Python's kernel does."""
    read = [json.loads(path.read_text()) for path in notebooks]
    for notebook in read:
        notebook["metadata"].pop("language_info")
    return all(other == read[0] for other in read)


def test_notebooks_are_given_out_once(checkout):
    assert sorted(give_out(checkout).new) == [NAME, "welcome"]
    assert same_cells(copy_of(checkout), copy_of(checkout, "exercises"))
    again = give_out(checkout)
    assert (again.new, again.renewed, again.edited) == ([], [], [])
    copy_of(checkout).unlink()
    assert give_out(checkout).new == [NAME], "who throws one away gets a new one"


def test_an_untouched_copy_is_renewed_and_a_changed_one_stays(checkout):
    give_out(checkout)
    released = copy_of(checkout, "exercises")
    released.write_text(released.read_text() + "\n")
    assert give_out(checkout).renewed == [NAME]
    assert same_cells(copy_of(checkout), released) and copy_of(checkout).read_text().endswith("}\n\n")
    copy_of(checkout).write_text("mine")
    assert give_out(checkout).edited == [], "there is none that is newer"
    released.write_text(released.read_text() + "\n")
    assert give_out(checkout).edited == [NAME] and copy_of(checkout).read_text() == "mine"


def test_answers_that_stood_in_exercises_come_along_and_are_nobodys_to_renew(checkout):
    released = copy_of(checkout, "exercises")
    pristine = released.read_text()
    released.write_text(pristine.replace("    raise NotImplementedError()", "    return (2, 3)", 1))
    give_out(checkout)
    student_text = copy_of(checkout).read_text()
    assert "return (2, 3)" in student_text
    released.write_text(pristine)
    result = give_out(checkout)
    assert (result.renewed, result.edited) == ([], [NAME]) and copy_of(checkout).read_text() == student_text


def test_every_exercise_can_be_renewed_while_it_is_untouched(tmp_path):
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises")
    names = give_out(tmp_path).new
    assert sorted(json.loads((tmp_path / WORK / ".given.json").read_text())) == sorted([*names, *assistants_files()])


def test_a_lost_list_of_what_was_given_costs_nobody_their_work(checkout):
    give_out(checkout)
    copy_of(checkout).write_text("mine")
    (checkout / WORK / ".given.json").write_text("[broken")
    assert give_out(checkout).edited == [NAME] and copy_of(checkout).read_text() == "mine"


def test_assistants_are_asked_to_teach_where_their_tools_look(checkout):
    assert give_out(checkout).assistants == ["AGENTS.md", "CLAUDE.md", "GEMINI.md"]
    page = (checkout / WORK / "AGENTS.md").read_text()
    assert "never write" in page.lower() and "softlookup hint TASK --json" in page and "softlookup check --json" in page
    assert (checkout / WORK / "CLAUDE.md").read_text() == (checkout / WORK / "GEMINI.md").read_text() == "@AGENTS.md\n"
    assert give_out(checkout).assistants == []


def test_a_page_for_assistants_that_was_changed_or_deleted_stays_so(checkout):
    give_out(checkout)
    (checkout / WORK / "AGENTS.md").write_text("My own rules.")
    (checkout / WORK / "CLAUDE.md").unlink()
    assert give_out(checkout).assistants == []
    assert (checkout / WORK / "AGENTS.md").read_text() == "My own rules."
    assert not (checkout / WORK / "CLAUDE.md").exists()


def test_an_older_page_for_assistants_is_renewed(checkout, monkeypatch):
    give_out(checkout)
    newer = {**assistants_files(), "AGENTS.md": b"newer"}
    monkeypatch.setattr("softlookup_course.progress.workplace.assistants_files", lambda: newer)
    give_out(checkout)
    assert (checkout / WORK / "AGENTS.md").read_bytes() == b"newer"


def test_git_leaves_the_copies_alone():
    done = subprocess.run(["git", "check-ignore", "-q", WELCOME], cwd=ROOT)
    assert done.returncode == 0


def test_lab_opens_on_the_welcome_notebook_with_this_python(tmp_path):
    command = lab_command(tmp_path, ["--no-browser"])
    assert command[0] == sys.executable and command[-1] == "--no-browser"
    [opens] = [option.partition("=")[2] for option in command if option.startswith("--LabApp.default_url=")]
    assert opens == f"/{START}", "Jupyter adds ?token=..., so a query here would not log in"
    assert lab_environment()["PATH"].startswith(str(Path(sys.executable).parent))


def test_progress_reads_my_work_and_writes_for_the_page(checkout, monkeypatch):
    give_out(checkout)
    page = checkout / "_build" / "html" / "book" / "your_way.html"
    page.parent.mkdir(parents=True)
    page.write_text("")
    monkeypatch.chdir(checkout)
    assert notebooks_folder(checkout) == checkout / WORK
    done = CliRunner().invoke(main, ["progress", "--json", "mine.json"])
    assert done.exit_code == 0, done.output
    assert "0 of 10" in done.output and "no notebook in this folder" in done.output and "page:" in done.output
    record = json.loads((checkout / "mine.json").read_text())
    script = (page.parents[1] / SCRIPT).read_text()
    assert json.loads(script.removeprefix("window.softlookupProgress = ").rstrip(";\n")) == record
    assert record["tasks"] == {}


def test_progress_refuses_a_folder_without_notebooks(tmp_path):
    done = CliRunner().invoke(main, ["progress", str(tmp_path)])
    assert done.exit_code == 1 and "no notebook of the course" in done.output


@pytest.mark.slow
def test_the_welcome_notebook_runs_passes_once_and_names_the_mistake(tmp_path, monkeypatch):
    from softlookup_course.at_home.validate import rehearse
    from softlookup_judge import MIME

    monkeypatch.setenv("PATH", lab_environment()["PATH"])
    path = tmp_path / "my_work" / "welcome" / "welcome.ipynb"
    path.parent.mkdir(parents=True)
    source = read_ungraded(ungraded(ROOT)[0])
    path.write_text(nbformat.writes(source), encoding="utf-8")
    copy = tmp_path / "my_work" / NAME / f"{NAME}.ipynb"
    copy.parent.mkdir()
    shutil.copy(ROOT / "exercises" / NAME / f"{NAME}.ipynb", copy)
    outputs = [output for cell in rehearse(path).notebook.cells for output in cell.get("outputs", [])]
    assert [output for output in outputs if output.output_type == "error"] == []
    verdicts = [output.data[MIME] for output in outputs if MIME in output.get("data", {})]
    assert [(output["verdict"], bool(output["diagnosis"])) for output in verdicts] == [("pass", False), ("wrong", True)]
    assert any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs)
    text = "".join(output.text for output in outputs if output.output_type == "stream")
    assert "0 of 10" in text and "Begin with: 0" in text, text
    assert read_ungraded(ungraded(ROOT)[0]).metadata.get("nbgrader") is None
