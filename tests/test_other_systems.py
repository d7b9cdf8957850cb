"""Systems without ``fcntl`` and missing packages: students' commands work, and what cannot work says why."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from softlookup_grader.data import locks
from softlookup_judge.authoring import find_root

ROOT = find_root()

WINDOWS = """
import os, sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

GONE = set(sys.argv.pop(1).split(","))
for name in GONE:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
if "fcntl" in GONE:
    for name in ("O_PATH", "O_DIRECTORY", "O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "fork", "fchmod"):
        if hasattr(os, name):
            delattr(os, name)
from softlookup_command.start import main
main()
"""

NOT_ON_WINDOWS = "fcntl,resource,termios,pty"
"""``pwd`` is not there either; what imports it here (nbgrader) does so on other systems alone."""


def run(gone: str, *words: str | Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command where some modules are missing."""
    command = [sys.executable, "-c", WINDOWS, gone, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=300)


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--help",), ("tasks",), ("progress", "exercises"), ("lab", "--help")])
def test_students_commands_need_nothing_that_windows_lacks(words: tuple[str, ...]) -> None:
    ran = run(NOT_ON_WINDOWS, *words)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.slow
def test_a_notebook_is_checked_there() -> None:
    ran = run(NOT_ON_WINDOWS, "check", ROOT / "exercises" / "02_soft_lookup" / "02_soft_lookup.ipynb")
    assert "02.similarity" in ran.stdout and "Traceback" not in ran.stderr


def installed_for(requirements: Iterable[Requirement]) -> set[str]:
    """The packages that pip installs for some requirements, as those say that are here."""
    waiting, seen = list(requirements), set[tuple[str, str]]()
    while waiting:
        requirement = waiting.pop()
        for extra in {"", *requirement.extras}:
            if (requirement.name, extra) not in seen:
                seen.add((requirement.name, extra))
                needs = [Requirement(text) for text in requires(requirement.name) or ()]
                waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return {canonicalize_name(name) for name, _ in seen}


@pytest.mark.slow
def test_what_students_install_is_enough_for_their_commands(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "lib" / "course" / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    packages = installed_for(map(Requirement, [*project["dependencies"], *extras["student"]]))
    others = installed_for(map(Requirement, [*extras["book"], *extras["train"]])) - packages
    gone = {
        module
        for module, names in packages_distributions().items()
        if {canonicalize_name(name) for name in names} <= others
    }
    assert {"sklearn", "scipy", "sphinx", "jupyter_book"} <= gone, "a test that hides nothing"
    hidden = ",".join(sorted(gone))
    notebook = tmp_path / "04_one_head.ipynb"
    text = (ROOT / "exercises" / "04_one_head" / notebook.name).read_text()
    notebook.write_text(text.replace("raise NotImplementedError()", "return args", 1))
    checked = run(hidden, "check", notebook)
    assert "04.by-hand" in checked.stdout, checked.stderr
    assert "One head" in run(hidden, "progress", tmp_path).stdout


@pytest.mark.parametrize("package", ["click", "numpy"])
def test_a_missing_package_gives_a_sentence(package: str) -> None:
    ran = run(package, "tasks")
    assert ran.returncode == 2
    assert ran.stderr.startswith(f"softlookup: the package {package} is not installed")
    assert len(ran.stderr.splitlines()) == 1


def test_a_missing_part_of_python_names_the_system() -> None:
    ran = run("csv,sqlite3,json", "tasks", "--json")
    assert ran.returncode == 2 and f"which {sys.platform} does not have" in ran.stderr


def test_a_missing_module_of_the_library_keeps_its_traceback() -> None:
    assert "Traceback" in run("softlookup_course.commands.student", "tasks").stderr


class Msvcrt:
    """Windows's ``msvcrt``, as far as it locks: one owner at a time."""

    LK_NBLCK = 2
    is_locked = False

    def locking(self, fd: int, mode: int, count: int) -> None:
        if self.is_locked:
            raise OSError("held")
        self.is_locked = True


def test_a_lock_without_fcntl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    windows: Any = Msvcrt()
    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", windows)
    fd = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"1234")
    locks.lock(fd)
    assert os.lseek(fd, 0, os.SEEK_CUR) == 4, "the position stays"
    with pytest.raises(BlockingIOError):
        locks.lock(fd, wait=False)

    def let_go(seconds: float) -> None:
        windows.is_locked = False

    monkeypatch.setattr(locks.time, "sleep", let_go)
    locks.lock(fd)
    os.close(fd)


def test_a_lock_is_held_against_others(tmp_path: Path) -> None:
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    locks.lock(first, shared=True)
    locks.lock(second, shared=True)
    with pytest.raises(BlockingIOError):
        locks.lock(second, wait=False)
    os.close(first)
    locks.lock(second, wait=False)
    os.close(second)
