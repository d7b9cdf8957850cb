"""``softlookup doctor`` and the sandbox say what a machine lacks for grading, and what to do."""

import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from softlookup_command import commands as cli
from softlookup_grader.commands.doctor import GRADING_NEEDS_MB
from softlookup_grader.course.folder import new_course
from softlookup_grader.sandbox import bubble, cgroups, remedies
from softlookup_judge.authoring import find_root


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine on which everything is there, and what makes its programs and its kernel's settings."""

    def programs(**texts):
        for name, text in texts.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)

    def kernel(name, value):
        place = tmp_path / "sys" / name.replace(".", "/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{value}\n")

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(remedies, "_KERNEL", tmp_path / "sys")
    programs(bwrap="exit 0", setpriv="exit 0", chromium="exit 0")
    return programs, kernel


def doctor(*args):
    done = CliRunner().invoke(cli.main, ["doctor", *args])
    return done.exit_code, done.output.splitlines()


def test_doctor_finds_nothing_amiss_where_all_is_there(machine):
    code, lines = doctor()
    assert code == 0 and not any(line.startswith("MISSING") for line in lines)
    assert any("Python" in line for line in lines) and any("nbgrader" in line for line in lines)


@pytest.mark.parametrize(
    ("setting", "value", "remedy"),
    [
        ("kernel.apparmor_restrict_unprivileged_userns", 1, "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("kernel.unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone=1"),
        ("user.max_user_namespaces", 0, "user.max_user_namespaces=10000"),
    ],
)
def test_what_forbids_namespaces_is_named_with_its_remedy(machine, setting, value, remedy):
    programs, kernel = machine
    programs(bwrap="echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1")
    kernel(setting, value)
    code, lines = doctor()
    (message,) = (line for line in lines if line.startswith("MISSING"))
    assert code == 1 and "uid map: Permission denied" in message and f"'sudo sysctl -w {remedy}'" in message
    kernel(setting, 1 - value)
    assert "sysctl" not in bubble.trouble()


@pytest.mark.parametrize(
    ("says", "cures"),
    [
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", ["systempaths=unconfined", "procMount"]),
        ("bwrap: Failed to make / slave: Permission denied", ["apparmor=unconfined", "appArmorProfile"]),
        ("setpriv: setresuid failed: Invalid argument", ["ordinary account", "/etc/subuid"]),
        ("bwrap: No permissions to create new namespace, likely because", ["seccomp=unconfined", "seccompProfile"]),
        ("bwrap: pivot_root: Operation not permitted", ["seccomp=unconfined"]),
    ],
)
def test_what_a_container_forbids_is_named_with_the_option_that_allows_it(machine, monkeypatch, says, cures):
    programs, kernel = machine
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    programs(bwrap=f'echo "{says}" >&2; exit 1')
    code, lines = doctor()
    (message,) = (line for line in lines if line.startswith("MISSING"))
    assert code == 1 and says in message and all(cure in message for cure in cures)


def test_root_of_a_container_is_told_to_be_another_account(machine, monkeypatch):
    programs, kernel = machine
    monkeypatch.setattr("os.geteuid", lambda: 0)
    for says in ("Creating new namespace failed: Operation not permitted", "loopback: Failed RTM_NEWADDR: No child"):
        programs(bwrap=f"echo 'bwrap: {says}' >&2; exit 1")
        assert "as another account (docker run --user 1000)" in bubble.trouble()


def test_setting_of_the_kernel_counts_before_a_guess_and_a_masked_proc_before_the_setting(machine):
    programs, kernel = machine
    kernel("kernel.apparmor_restrict_unprivileged_userns", 1)
    programs(bwrap="echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
    assert "sysctl" in bubble.trouble() and "seccomp" not in bubble.trouble()
    programs(bwrap='echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1')
    assert "systempaths" in bubble.trouble() and "sysctl" not in bubble.trouble()


def test_what_is_missing_costs_a_line_each_and_the_status(machine, monkeypatch, tmp_path):
    (tmp_path / "bwrap").unlink()
    (tmp_path / "chromium").unlink()
    monkeypatch.setattr(cgroups, "places", cgroups.Places)
    requirements = ["nbgrader>=99", "nowhere-at-all>=1", "numpy>=1; extra == 'book'"]
    monkeypatch.setattr("softlookup_grader.commands.doctor.requires", lambda name: requirements)
    code, lines = doctor()
    missing = [line for line in lines if line.startswith("MISSING")]
    assert code == 1 and len(missing) == 3
    assert f"nbgrader is {metadata.version('nbgrader')}, needed is >=99" in missing[0]
    assert "nowhere-at-all is not installed" in missing[1] and "apt install bubblewrap" in missing[2]
    assert any(line.startswith("note") and "no control group" in line for line in lines)


@pytest.fixture
def in_sight():
    """A folder that other accounts can reach: those of pytest are closed to them."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_course_that_others_can_read_is_noted_until_it_is_closed(machine, in_sight):
    course = new_course(in_sight / "course", find_root() / "nbgrader_config.py")
    (course.root / "source").mkdir()
    (course.root / "source" / "answers.ipynb").write_text("")
    for path in (course.root, course.root / "source"):
        path.chmod(0o755)
    (course.root / "source" / "answers.ipynb").chmod(0o644)
    code, lines = doctor("--course", str(course.root))
    (note,) = (line for line in lines if "other accounts" in line)
    assert code == 0 and note.startswith("note")
    assert "1 file and 1 folder, among them sources with their solutions" in note
    cure = note.partition("close it with '")[2].removesuffix("'")
    subprocess.run(["/bin/sh", "-c", cure], check=True, env={"PATH": "/usr/bin:/bin"})
    code, lines = doctor("--course", str(course.root))
    assert any(line.startswith("ok") and "can read no files of the course" in line for line in lines)


def test_gradebook_on_a_network_file_system_is_noted(machine, monkeypatch, tmp_path):
    course = new_course(tmp_path / "course", find_root() / "nbgrader_config.py")
    monkeypatch.setattr("softlookup_grader.data.file_systems.file_system_of", lambda path: "nfs4")
    code, lines = doctor("--course", str(course.root))
    (note,) = (line for line in lines if "network file system" in line)
    assert code == 0 and note.startswith("note") and "(nfs4)" in note and "PostgreSQL" in note
    monkeypatch.setattr("softlookup_grader.data.file_systems.file_system_of", lambda path: "ext4")
    assert not any("network file system" in line for line in doctor("--course", str(course.root))[1])


def test_course_has_to_have_room_and_a_gradebook_that_can_be_written(machine, monkeypatch, tmp_path):
    course = new_course(tmp_path / "course", find_root() / "nbgrader_config.py")
    code, lines = doctor("--course", str(course.root))
    assert code == 0 and any("no gradebook yet" in line for line in lines)
    with course.gradebook() as book:
        book.add_student("anna")
    code, lines = doctor("--course", str(course.root))
    assert code == 0 and any("gradebook can be written to" in line for line in lines)
    (course.root / "gradebook.db").write_bytes(b"no database" * 100)
    code, lines = doctor("--course", str(course.root))
    assert code == 1 and any("put a backup in its place" in line for line in lines)
    full = SimpleNamespace(free=(GRADING_NEEDS_MB - 1) * 10**6)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: full)
    code, lines = doctor()
    assert code == 1 and any(f"make room for {GRADING_NEEDS_MB} MB" in line for line in lines)
