"""What `make course` does beside what, and says where a step fails; when a release is tagged, or refused."""

import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from release import NotReady, release

script = import_module("course")  # beside a folder of that name, an import would be sorted elsewhere
ROOT = script.ROOT


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The script, in another folder."""
    for name, place in {"ROOT": tmp_path, "LOGS": tmp_path / "logs", "STAMP": tmp_path / "stamp"}.items():
        monkeypatch.setattr(script, name, place)
    script.LOGS.mkdir()
    return script


def steps(course, first, second, third):
    """Three steps, of which the second runs beside the first once that has said "far enough"."""
    return [
        course.Step("book", ["sh", "-c", first], then="The book can be opened."),
        course.Step("class", ["sh", "-c", second], beside=("book", "far enough")),
        course.Step("rest", ["sh", "-c", third]),
    ]


def ran(course, *commands):
    todo = steps(course, *commands)
    return course.run(todo, course.Line(len(todo)))


def order(output):
    return [re.sub(r"^\d+:\d+ |: done in \d+ s| \.\.\.$", "", line).strip() for line in output.splitlines()]


def test_step_runs_beside_another_that_is_far_enough_and_the_next_waits_for_both(course, tmp_path, capsys):
    book = "echo far enough; while [ ! -e begun ]; do sleep 0.05; done; touch built"
    assert ran(course, book, "touch begun; while [ ! -e built ]; do sleep 0.05; done; sleep 0.5", "ls") == []
    assert (tmp_path / "logs" / "3-rest.log").read_text().split() == ["begun", "built", "logs"]
    assert order(capsys.readouterr().out) == [
        *("1/3 book", "2/3 class", "1/3 book", "The book can be opened."),
        *("2/3 class", "3/3 rest", "3/3 rest"),
    ]


def test_step_waits_where_the_other_never_gets_that_far(course, tmp_path):
    assert ran(course, "sleep 0.3; touch built", "ls built", "true") == []
    assert (tmp_path / "logs" / "2-class.log").read_text() == "built\n"


def test_book_is_brought_to_its_end_where_a_step_beside_it_fails_and_nothing_else_begins(course, tmp_path, capsys):
    failed = ran(course, "echo far enough; sleep 1; touch built", "echo why; exit 3", "touch more")
    assert [job.step.name for job in failed] == ["class"] and failed[0].log.read_text() == "why\n"
    assert (tmp_path / "built").exists() and not (tmp_path / "more").exists()
    output = capsys.readouterr().out
    assert "2/3 class: failed with exit status 3" in output and "The book can be opened." in output


def test_make_course_shows_the_end_of_the_log_of_what_failed(course, monkeypatch, capsys):
    monkeypatch.setattr(course, "steps", lambda: steps(course, "echo no memory >&2; exit 1", "true", "true"))
    assert course.main() == 1
    output = capsys.readouterr().out
    assert "no memory\n" in output and output.rstrip().endswith("The whole log: logs/1-book.log")


def test_steps_come_in_the_order_in_which_one_looks_at_what_they_make(course, monkeypatch):
    monkeypatch.setattr(course, "ROOT", ROOT)
    names = [step.name for step in course.steps()]
    assert names[:4] == ["set up", "exercises", "book", "sample class"]
    graded = [word for step in course.steps()[4:] for word in step.command if re.match(r"\d\d_", word)]
    assert graded == course.assignments()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
    write(tmp_path, "1.4.0", "# Changelog\n\n## Unreleased\n\n## 1.4.0\n\n### Added\n- A thing.\n\n## 1.3.0\n- Old.\n")
    git(tmp_path, "init", "-q")
    return tmp_path


def write(root: Path, version: str, changelog: str) -> None:
    (root / "lib" / "library").mkdir(parents=True, exist_ok=True)
    (root / "lib" / "library" / "pyproject.toml").write_text(f'[project]\nversion = "{version}"\n')
    (root / "CITATION.cff").write_text(f"version: {version}\n")
    (root / "CHANGELOG.md").write_text(changelog)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", root, *words], check=True, capture_output=True, text=True).stdout


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")


def test_release_tags_the_version_with_its_section(project: Path) -> None:
    commit(project)
    assert release(project) == "v1.4.0"
    tags = git(project, "tag", "-n9", "--list", "v1.4.0")
    assert "### Added" in tags and "A thing." in tags and "Old." not in tags
    with pytest.raises(NotReady, match="v1.4.0 is there already"):
        release(project)


@pytest.mark.parametrize(
    "changelog",
    ["# Changelog\n\n## Unreleased\n- A thing.\n", "## 1.4.0\n\n## 1.3.0\n- Old.\n", "## 1.4.0rc1\n- A thing.\n"],
)
def test_release_refuses_a_version_that_the_changelog_does_not_describe(project: Path, changelog: str) -> None:
    write(project, "1.4.0", changelog)
    commit(project)
    with pytest.raises(NotReady, match="no section '## 1.4.0'"):
        release(project)
    assert git(project, "tag") == ""


def test_release_refuses_files_that_disagree_and_changes_that_are_not_committed(project: Path) -> None:
    commit(project)
    (project / "CITATION.cff").write_text("version: 1.3.0\n")
    with pytest.raises(NotReady, match=r"CITATION.cff has version 1.3.0, and lib/\*/pyproject.toml have 1.4.0"):
        release(project)
    (project / "CITATION.cff").write_text("version: 1.4.0\n")
    (project / "new.txt").write_text("x")
    with pytest.raises(NotReady, match="not committed"):
        release(project)
