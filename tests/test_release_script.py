"""A release is tagged when its version has a section in the changelog, and refused otherwise."""

import subprocess
from pathlib import Path

import pytest
from release import NotReady, release


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
