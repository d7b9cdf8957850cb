"""``softlookup doctor`` and the sandbox say what a machine lacks for grading, and what to do."""

from importlib import metadata
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from softlookup import cli
from softlookup.authoring import find_root
from softlookup.cli.doctor import GRADING_NEEDS_MB
from softlookup.grading.course.folder import new_course
from softlookup.grading.sandbox.outside import bubble, cgroups


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
    monkeypatch.setattr(bubble, "_KERNEL", tmp_path / "sys")
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


def test_what_is_missing_costs_a_line_each_and_the_status(machine, monkeypatch, tmp_path):
    (tmp_path / "bwrap").unlink()
    (tmp_path / "chromium").unlink()
    monkeypatch.setattr(cgroups, "places", cgroups.Places)
    requirements = ["nbgrader>=99", "softlookup-nowhere>=1", "numpy>=1; extra == 'book'"]
    monkeypatch.setattr(cli.doctor, "requires", lambda name: requirements)
    code, lines = doctor()
    missing = [line for line in lines if line.startswith("MISSING")]
    assert code == 1 and len(missing) == 3
    assert f"nbgrader is {metadata.version('nbgrader')}, needed is >=99" in missing[0]
    assert "softlookup-nowhere is not installed" in missing[1] and "apt install bubblewrap" in missing[2]
    assert any(line.startswith("note") and "no control group" in line for line in lines)
    assert any(line.startswith("note") and "Chromium" in line for line in lines)


def test_course_has_to_have_room_and_a_gradebook_that_can_be_written(machine, monkeypatch, tmp_path):
    course = new_course(tmp_path / "course", find_root() / "nbgrader_config.py")
    code, lines = doctor("--course", str(course.root))
    assert code == 0 and any("no gradebook yet" in line for line in lines)
    with course.gradebook():
        pass
    code, lines = doctor("--course", str(course.root))
    assert code == 0 and any("gradebook can be written to" in line for line in lines)
    (course.root / "gradebook.db").write_bytes(b"no database" * 100)
    code, lines = doctor("--course", str(course.root))
    assert code == 1 and any("put a backup in its place" in line for line in lines)
    full = SimpleNamespace(free=(GRADING_NEEDS_MB - 1) * 10**6)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: full)
    code, lines = doctor()
    assert code == 1 and any(f"make room for {GRADING_NEEDS_MB} MB" in line for line in lines)
