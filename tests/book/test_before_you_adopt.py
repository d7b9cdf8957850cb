"""What a data protection officer is told: every file of a course is named, private, and reached by `forget`."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from prose import ROOT

from softlookup_command.commands import main
from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course import by_hand, collected, groups, releasing, staging, terms
from softlookup_grader.course.folder import CONFIG_NAME
from softlookup_grader.reports import vivas
from softlookup_judge import tasks
from softlookup_judge.authoring import read_solution

PAGE = (ROOT / "book" / "before_you_adopt.md").read_text(encoding="utf-8")
NAME = "02_soft_lookup"
KEPT = ("02.hard-lookup", "02.weights", "02.lookup")
LEAVES, STAYS = "zuse-1910", "noether-1882"


def section(label: str) -> str:
    """The text of the section with a label."""
    return re.split(r"(?m)^\([\w-]+\)=$", PAGE.split(f"({label})=")[1])[0]


def listed() -> dict[str, str]:
    """The names in the table of a course's files, each with what `forget` does."""
    rows = re.findall(r"(?m)^\| (`.+?) \|.*\| (.*)\|$", section("adopt-data"))
    return {name.rstrip("/"): does.strip() for names, does in rows for name in re.findall(r"`([^`]+)`", names)}


def run(*words: object) -> str:
    result = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, f"{words}: {result.output}"
    return result.output


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course in which everything was done that keeps something, for two students who come by a folder."""
    folder = tmp_path_factory.mktemp("adopt")
    root, roster, hand_ins = folder / "course", folder / "class.csv", folder / "came"
    roster.write_text(f"id,last_name,first_name,email\n{LEAVES},Zuse,K,k@x.org\n{STAYS},Noether,E,e@x.org\n")
    table = folder / "groups.csv"
    table.write_text(f"{LEAVES},{STAYS}\n")
    drop = [word for task in tasks(2) if task.id not in KEPT for word in ("--drop", task.id)]
    at = ("--course", root)
    run("release", NAME, *at, *drop)
    run("students", roster, *at)
    release = nbformat.read(root / "release" / NAME / f"{NAME}.ipynb", as_version=4)
    right = answers(read_solution(ROOT / "solutions" / f"{NAME}.py"))
    for student in (LEAVES, STAYS):
        notebook = hand_ins / student / f"{NAME}.ipynb"
        notebook.parent.mkdir(parents=True)
        own_answers = {name: f"{text}\n# by {student}\n" for name, text in right.items()}
        notebook.write_text(nbformat.writes(filled(release, own_answers)))
    run("collect", NAME, hand_ins, *at)
    run("extension", NAME, "--due", "2030-02-01 18:00", *at)
    run("extension", LEAVES, NAME, "--days", 2, *at)
    run("accommodate", LEAVES, "--days", 3, *at)
    run("grade", NAME, "--workers", 1, *at)
    run("viva", NAME, "--questions", 2, *at)
    run("share", NAME, "--between", "ana,bo", *at)
    run("comment", NAME, LEAVES, written(root) or "02.hard-lookup", "Well.", "--save", "well", *at)
    run("report", NAME, *at)
    run("export", NAME, *at)
    run("handout", NAME, *at)
    run("solutions", NAME, "--early", *at)
    run("groups", NAME, table, *at)
    return root


def test_table_names_what_the_library_keeps_in_a_course():
    in_library = {
        *(collected.FOLDER, groups.FILE, terms.FILE, by_hand.COMMENTS, vivas.FOLDER),
        *(releasing.REPLACED, staging.LOCK, CONFIG_NAME),
    }
    assert in_library - set(listed()) == set()


def test_records_in_the_browser_are_those_that_the_pages_keep():
    scripts = [*(ROOT / "book").glob("_[esp]*/*.js")]
    texts = [text for script in scripts if "oftlookupKept" in (text := script.read_text(encoding="utf-8"))]
    named = {name for text in texts for name in re.findall(r'\b(?:read|write)\("([\w-]+)"', text)}
    named |= {name for text in texts for name in re.findall(r'const NAME = "([\w-]+)"', text)}
    sentence = PAGE.partition("keep seven records in the reader's browser")[2].partition(". ")[0]
    assert set(re.findall(r"`([\w-]+)`", sentence)) == named and len(named) == 7
    forgets = (ROOT / "book" / "_ext" / "your_way.js").read_text(encoding="utf-8").partition('"way-forget"')[2]
    emptied = re.search(r"of \[([^]]+)\]\) write\(name, \{\}\)", forgets)
    assert emptied and {*re.findall(r'"([\w-]+)"', emptied[1]), "tasks"} == named, "the button forgets all of them"


@pytest.mark.slow
def test_every_file_of_a_course_is_in_the_table(course: Path):
    there = {path.name for path in course.iterdir()}
    assert {"gradebook.db", "feedback", "viva", ".grading", ".collected", ".dates.json", ".groups.json"} <= there
    assert there - set(listed()) == set()


@pytest.mark.slow
def test_nobody_else_on_the_machine_can_open_a_file_of_a_course(course: Path):
    open_to_others = [path for path in (course, *course.rglob("*")) if path.stat().st_mode & 0o077]
    assert [path for path in open_to_others if path == course] == []
    assert [str(path.relative_to(course)) for path in open_to_others] == []


@pytest.mark.slow
def test_size_of_a_hand_in_is_about_what_the_page_says(course: Path):
    (page_kb,) = re.findall(r"KB_FOR_ONE = (\d+)", PAGE)
    steps = [course / step for step in ("submitted", "autograded", "feedback")]
    size = sum(path.stat().st_size for step in steps for path in step.rglob("*") if path.is_file())
    assert int(page_kb) / 2 <= size / 2 / 1000 <= int(page_kb), "the notebook of this test is a short one"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare, which takes the network away")
def test_grading_needs_no_network(course: Path, tmp_path: Path):
    alone = ["unshare", "--net", "--"]
    if subprocess.run([*alone, "true"], capture_output=True).returncode:
        pytest.skip("this account may not make a namespace without a network")
    copy = shutil.copytree(course, tmp_path / "course")
    command = [sys.executable, "-m", "softlookup_command", "grade", NAME, "--again", "--workers", "1", "--course", copy]
    done = subprocess.run([*alone, *command], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and "2 submissions" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_forget_leaves_nothing_where_the_table_says_so(course: Path, tmp_path: Path):
    copy = shutil.copytree(course, tmp_path / "course")
    holds = {path.relative_to(copy).parts[0] for path in named_in(copy)}
    assert {"gradebook.db", "feedback", ".grading", ".dates.json", ".groups.json", ".collected"} <= holds
    run("forget", LEAVES, "--yes", "--course", copy)
    left = {path.relative_to(copy).parts[0] for path in named_in(copy)}
    assert {name: listed()[name] for name in left if "removes" in listed()[name]} == {}
    assert [path for path in copy.rglob(f"*{STAYS}*") if path.parent.name == "feedback"]


def named_in(course: Path) -> list[Path]:
    """The files that name a student in their path or in their content."""
    words = (LEAVES.encode(), b"Zuse", b"k@x.org")
    files = [path for path in course.rglob("*") if path.is_file()]
    return [
        path for path in files if LEAVES in str(path.relative_to(course)) or any(w in path.read_bytes() for w in words)
    ]


def written(root: Path) -> str:
    """The id of the written answer, which comments are about; empty if the release has none."""
    cells = nbformat.read(root / "release" / NAME / f"{NAME}.ipynb", as_version=4).cells
    marks = [cell.metadata.get("nbgrader", {}) for cell in cells]
    ids = [mark["grade_id"] for mark in marks if mark.get("grade") and mark.get("solution")]
    return ids[0].replace("-", ".", 1) if ids else ""
