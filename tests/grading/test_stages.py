"""Folders that killed graders left are removed by the next grader, and nobody else's."""

import os
import subprocess
import sys
import tempfile
import time

import pytest

from softlookup_grader.sandbox import stages

MAKES = "import sys; from softlookup_grader.sandbox.stages import new_stage; print(new_stage(), flush=True)"
WAITS = f"{MAKES}; sys.stdin.read()"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def grader():
    """A process that has a stage, and the stage, which has been there for days."""
    with subprocess.Popen([sys.executable, "-c", WAITS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        folder = process.stdout.readline().decode().strip()
        aged(folder, 9 * 24 * 3600)
        yield process, folder
        process.kill()


def aged(path, seconds=60.0):
    then = time.time() - seconds
    os.utime(path, (then, then), follow_symlinks=False)


def test_the_stage_of_a_killed_grader_goes_and_that_of_a_living_one_stays(grader):
    process, folder = grader
    stages.sweep()
    assert os.path.isdir(folder), "its process lives"
    process.kill()
    process.wait()
    assert os.path.isdir(folder), "nobody has removed it yet"
    stages.new_stage()
    assert not os.path.exists(folder)


def test_a_stage_goes_with_the_process_that_ends_by_itself():
    made = subprocess.run([sys.executable, "-c", MAKES], capture_output=True, text=True, check=True)
    assert made.stdout.strip() and not os.path.exists(made.stdout.strip())


def test_what_is_young_foreign_or_a_link_stays(temporary):
    local = f"{stages.PREFIX}{stages._machine()}-"
    young, foreign, old = temporary / f"{local}young", temporary / f"{stages.PREFIX}00000000-x", temporary / "work"
    for folder in (young, foreign, old):
        folder.mkdir()
        (folder / "thesis.tex").write_text("years of work")
    aged(foreign, 3600)
    aged(old)
    link = temporary / f"{local}link"
    link.symlink_to(old)
    aged(link)
    stages.sweep()
    assert all((folder / "thesis.tex").is_file() for folder in (young, foreign, old)) and link.is_symlink()
    aged(foreign, 8 * 24 * 3600)
    stages.sweep()
    assert not foreign.exists() and old.is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another account's folder")
def test_another_accounts_stage_stays(temporary):
    folder = temporary / f"{stages.PREFIX}{stages._machine()}-theirs"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    aged(folder)
    stages.sweep()
    assert folder.is_dir()
