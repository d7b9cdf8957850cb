"""Packages that load their names at the first use."""

import importlib
import os
import subprocess
import sys
from types import ModuleType

import pytest

from softlookup_course import figures, widgets

LAZY = (figures, widgets)


@pytest.fixture
def somebody(tmp_path, monkeypatch):
    folder = tmp_path / "lazybody"
    folder.mkdir()
    (folder / "__init__.py").write_text("from softlookup_inside.lazily import attach\n__all__ = attach(__name__)\n")
    (folder / "__init__.pyi").write_text(
        "from lazybody.run import run as run\nfrom lazybody.sit import chair as chair\n"
    )
    (folder / "run.py").write_text("def run():\n    return 'ran'\n")
    (folder / "sit.py").write_text("chair = 4\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("lazybody")
    for name in [name for name in sys.modules if name.partition(".")[0] == "lazybody"]:
        del sys.modules[name]


def test_lazy_package_loads_a_name_when_it_is_asked_for_and_no_other(somebody):
    assert somebody.__all__ == ["chair", "run"] and "lazybody.sit" not in sys.modules
    assert somebody.chair == 4
    assert "lazybody.run" not in sys.modules


def test_lazy_package_gives_the_function_where_its_module_has_the_same_name_and_came_first(somebody):
    importlib.import_module("lazybody.run")
    assert somebody.run() == "ran"
    from lazybody.run import run

    assert run is somebody.run


def test_lazy_package_still_gives_its_modules(somebody):
    importlib.import_module("lazybody.sit")
    assert isinstance(somebody.sit, ModuleType)


def test_lazy_package_lists_its_names_before_they_are_loaded_and_in_its_refusal(somebody):
    assert {"chair", "run"} <= set(dir(somebody))
    with pytest.raises(AttributeError, match="module 'lazybody' has no attribute 'lie'; it has chair, run"):
        somebody.lie  # noqa: B018


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_lazy_names_of_the_library_are_all_there(package):
    assert package.__all__ and all(not isinstance(getattr(package, name), ModuleType) for name in package.__all__)


@pytest.mark.parametrize("package", LAZY, ids=lambda package: package.__name__)
def test_lazy_packages_of_the_library_load_nothing_of_their_own_at_first(package):
    code = f"import sys, {package.__name__} as p; print([m for m in sys.modules if m.startswith(p.__name__ + '.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_lazy_packages_work_where_a_submission_runs(tmp_path):
    staged = importlib.import_module("softlookup_grader.sandbox.bubble").staged()
    code = "import softlookup; from softlookup_course.figures import chain, show"
    code += "; from softlookup_course.widgets import HeadShapes; print(softlookup.__file__)"
    environment = os.environ | {"PYTHONPATH": str(staged), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(staged))
