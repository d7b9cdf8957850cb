"""The first code cell of every notebook: what it does where the library is, and where it is not."""

import json
import os
import subprocess
import sys

import pytest

import softlookup
from softlookup_judge.authoring import assignments, find_root, make_release, read_solution
from softlookup_judge.authoring.library_cell import NEEDS, BadSetting, addresses, library_cell

ROOT = find_root()
NAME = "04_one_head"
ADDRESS = "git+https://git.example.org/soft-lookup"
BOOK = "https://example.org/soft-lookup/"


def checkout(folder, settings):
    """A checkout of one solution, with settings of its own."""
    (folder / "solutions").mkdir()
    path = folder / "solutions" / f"{NAME}.py"
    path.write_bytes((ROOT / "solutions" / path.name).read_bytes())
    launch = "".join(f"      {key}: {value}\n" for key, value in settings.items())
    (folder / "_config.yml").write_text(f"sphinx:\n  config:\n    softlookup_launch:\n{launch}")
    return path


def test_library_cell_is_the_first_code_of_every_committed_notebook():
    for name in assignments(ROOT):
        cells = json.loads((ROOT / "exercises" / name / f"{name}.ipynb").read_text())["cells"]
        codes = [cell for cell in cells if cell["cell_type"] == "code"]
        graders = [cell["metadata"].get("nbgrader", {}) for cell in codes]
        assert graders[0]["grade_id"] == f"{name[:2]}-library"
        assert graders[0]["locked"] and not graders[0]["solution"] and not graders[0]["grade"]
        assert not any(grader.get("grade_id", "").endswith("-library") for grader in graders[1:])


def test_library_cell_leaves_check_and_the_version_where_the_library_is():
    names = {}
    exec(library_cell(4).source, names)
    assert names.pop("check") is softlookup.check
    assert set(names) == {"__builtins__", "__version__"}


def test_library_cell_says_in_one_sentence_what_to_do_where_the_library_is_missing():
    # Neither the environment's packages nor the current folder are in sight of this Python.
    alone = [sys.executable, "-I", "-S", "-c", library_cell(4).source]
    done = subprocess.run(alone, capture_output=True, text=True)
    message = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert message.startswith("ModuleNotFoundError: softlookup is not installed where this notebook runs: ")
    assert "`make setup`" in message and "`%pip install --no-deps`" in message
    assert message.count(". ") == 0 and "During handling" not in done.stderr


def test_library_cell_leaves_the_name_of_another_missing_package_alone():
    planted = "import sys, types; sys.modules['softlookup'] = m = types.ModuleType('softlookup')\n"
    planted += "m.__getattr__ = lambda name: __import__('numpy')\n"
    alone = [sys.executable, "-I", "-S", "-c", planted + library_cell(4).source]
    done = subprocess.run(alone, capture_output=True, text=True)
    assert done.stderr.strip().endswith("No module named 'numpy'")


def test_library_cell_with_an_address_fetches_the_library_where_it_is_missing():
    stage = (
        "import sys, types\n"
        "class Shell:\n"
        "    def run_line_magic(self, name, line):\n"
        "        print(name, line)\n"
        "        sys.modules['softlookup'] = made = types.ModuleType('softlookup')\n"
        "        made.check, made.__version__ = 'brought', '9.0'\n"
        "get_ipython = Shell\n"
    )
    alone = [sys.executable, "-I", "-S", "-c", stage + library_cell(4, install=ADDRESS).source + "\nprint(check)"]
    done = subprocess.run(alone, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"pip install --quiet --no-deps {ADDRESS}", "brought"], done.stderr


def test_library_cell_with_an_address_fetches_nothing_where_the_library_is():
    names = {}  # without get_ipython: calling it would raise
    exec(library_cell(4, install=ADDRESS).source, names)
    assert callable(names["check"])


@pytest.mark.parametrize(
    ("install", "advice"),
    [("", "run `git pull` and `make setup`"), (ADDRESS, f"run `%pip install --upgrade --no-deps {ADDRESS}`")],
)
def test_library_cell_says_how_an_older_library_becomes_newer_and_goes_on(install, advice, monkeypatch, capsys):
    source = library_cell(4, install=install).source
    for version, older in [("0.1.9", True), ("0.0.2rc1", True), (softlookup.__version__, False), ("1.0.dev3", False)]:
        monkeypatch.setattr(softlookup, "__version__", version)
        names = {}
        exec(source, names)
        output = capsys.readouterr().out
        assert callable(names["check"])
        assert (
            (f"softlookup {version} is older than this notebook" in output and advice in output)
            if older
            else output == ""
        )
        assert output.count("\n") == older


def test_notebooks_need_no_library_newer_than_this_one():
    assert tuple(map(int, softlookup.__version__.split(".")[:2])) >= NEEDS


def test_settings_of_a_course_reach_its_notebooks(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTLOOKUP_BOOK", "")  # so that it is taken back afterwards
    monkeypatch.delenv("SOFTLOOKUP_BOOK")
    notebook = make_release(read_solution(checkout(tmp_path, {"install": ADDRESS, "book": BOOK})))
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert f"--no-deps {ADDRESS}'" in first.source
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert f"]({BOOK}book/04_one_head.html#one-head-scale)" in text
    assert "_build/html" not in text
    exec(first.source, {})
    assert os.environ["SOFTLOOKUP_BOOK"] == BOOK


def test_a_course_may_stop_help_before_the_solution(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTLOOKUP_HELP", "solution")
    path = checkout(tmp_path, {})
    assert "SOFTLOOKUP_HELP" not in "".join(cell.source for cell in read_solution(path).cells)
    first = next(cell for cell in read_solution(path, last_help="example").cells if cell.cell_type == "code")
    exec(first.source, {})
    assert os.environ["SOFTLOOKUP_HELP"] == "example"


def test_settings_are_empty_as_shipped_and_where_there_are_none(tmp_path):
    assert addresses(ROOT) == addresses(tmp_path) == {"install": "", "book": ""}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"install": "soft-lookup"}, "install: 'soft-lookup', wanted an address such as https://"),
        ({"book": "https://example.org/a b"}, "book: 'https://example.org/a b', wanted an address"),
    ],
)
def test_settings_of_no_use_are_refused_in_a_sentence(tmp_path, settings, message):
    path = checkout(tmp_path, settings)
    with pytest.raises(BadSetting, match=message):
        read_solution(path)


def test_settings_that_are_no_mapping_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "_config.yml").write_text("sphinx: {config: {softlookup_launch: https://example.org}}\n")
    with pytest.raises(BadSetting, match="softlookup_launch is no list of `name: address`"):
        addresses(tmp_path)
