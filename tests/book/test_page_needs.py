"""What a page needs: which changes make kept outputs stale, and what a kernel's watch sees. Nothing is built here."""

import importlib
import json
import os
import subprocess
import sys

import page_needs
import pytest
from small_book import SOMELIB, write_files

CODE = """\
import json, os, sys
names = {{"__name__": "kernel_watch"}}
exec(compile(open({watch!r}).read(), {watch!r}, "exec"), names)
watch = names["Watch"](**json.loads(sys.argv[1]))
sys.meta_path.insert(0, watch)
sys.addaudithook(watch)
{cells}
watch.write()
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A checkout with a library; calling it reads everything anew."""
    write_files(
        tmp_path,
        {
            **SOMELIB,
            "lib/somelib/three.py": "number = 3\n",
            "lib/somelib/weights.safetensors": "1",
            "book/measured/a.json": "1",
            "book/measured/b.json": "2",
        },
    )
    monkeypatch.syspath_prepend(tmp_path / "lib")
    importlib.invalidate_caches()
    return lambda: page_needs.Project(tmp_path, "somelib")


@pytest.fixture
def seen(project, tmp_path):
    """Run cells in a process that is watched; give what it wrote."""

    def run(cells):
        target = tmp_path / "_build" / "seen.json"
        target.parent.mkdir(exist_ok=True)
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                CODE.format(watch=str(page_needs.WATCH), cells=cells),
                *arguments(project(), target),
            ],
            cwd=tmp_path / "book",
            env=os.environ | {"PYTHONPATH": str(tmp_path / "lib"), "PYTHONDONTWRITEBYTECODE": ""},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(target.read_text())

    def arguments(now, target):
        return [json.dumps(now.watch_arguments(target))]

    return run


def files(needs):
    return {name for name in needs["files"] if not name.endswith("__init__.py")}


def test_page_needs_the_modules_and_files_that_it_used_and_no_other(project, seen):
    needs = project().needs(seen("import somelib.one; open('measured/a.json').read()"))
    assert files(needs) == {"lib/somelib/one.py", "book/measured/a.json"}
    assert needs["everything"] is None and project().changed(needs) is None


@pytest.mark.parametrize("compiled", [False, True])
def test_page_is_stale_after_a_change_of_what_it_used_alone(project, seen, tmp_path, compiled):
    if compiled:  # then Python opens the compiled file, and the source is found from there
        seen("import somelib.one")
        assert list((tmp_path / "lib" / "somelib" / "__pycache__").glob("one.*"))
    needs = project().needs(seen("from somelib.one import number"))
    (tmp_path / "lib/somelib/two.py").write_text("number = 22\n")
    (tmp_path / "book/measured/a.json").write_text("11")
    assert project().changed(needs) is None
    (tmp_path / "lib/somelib/one.py").write_text("number = 11\n")
    assert project().changed(needs) == "lib/somelib/one.py"


TRIES = "try:\n    {}\nexcept ({}Error):\n    pass\n"
SHADOWED = "import sys; sys.path.insert(0, ''); import somelib.one, decimal"
STALE = [
    (TRIES.format("open('measured/c.json')", "FileNotFound"), "book/measured/c.json", "book/measured/c.json"),
    (TRIES.format("import somelib.four", "Import"), "lib/somelib/four.py", "lib/somelib/four.py"),
    (SHADOWED, "lib/somelib/one/__init__.py", "lib/somelib/one"),
    (SHADOWED, "lib/decimal.py", "lib/decimal.py"),
    (SHADOWED, "book/somelib/__init__.py", "book/somelib"),
    ("import somelib.one", "-lib/somelib/one.py", "lib/somelib/one.py"),
    ("from pathlib import Path; list(Path('measured').glob('*.json'))", "book/measured/c.json", "book/measured"),
    ("import subprocess; subprocess.run(['true'])", "lib/somelib/three.py", "the library"),
]
"""What a page does, the file that then comes, changes or goes ("-"), and what is reported."""


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("cells", "file", "reported"), STALE)
def test_page_is_stale_when_a_file_comes_changes_or_goes(project, seen, tmp_path, cells, file, reported):
    needs = project().needs(seen(cells))
    assert project().changed(needs) is None
    path = tmp_path / file.removeprefix("-")
    if file.startswith("-"):
        path.unlink()
    else:
        path.parent.mkdir(exist_ok=True)
        path.write_text("number = 33\n")
    assert project().changed(needs) in {reported, f"{reported}/__init__.py"}


def test_page_that_loads_what_reads_past_python_needs_all_such_files(project, tmp_path):
    seen = {"files": [], "folders": [], "imports": {}, "sought": [], "started": [], "modules": ["safetensors", "numpy"]}
    needs = project().needs(seen)
    assert files(needs) == {"lib/somelib/weights.safetensors"}
    assert project().needs(seen | {"modules": ["numpy"]})["files"] == {}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put a package of one module beside what is installed."""

    def add_package(name, version):
        info = tmp_path / f"site-{version}" / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "top_level.txt").write_text(f"{name}\n")
        monkeypatch.syspath_prepend(info.parent)

    return add_package


def test_page_is_stale_when_another_version_of_anything_is_installed(project, seen, install):
    install("numbertools", "2.0")
    needs = project().needs(seen("1"))
    assert project().changed(needs) is None
    install("numbertools", "2.1")
    assert project().changed(needs) == "what is installed"


@pytest.mark.slow
def test_page_is_stale_when_a_package_comes_that_it_looked_for_and_not_when_another_does(project, seen, install):
    tries = "try:\n    import numbertools.primes\nexcept ImportError:\n    pass"
    needs = project().needs(seen(tries))
    install("wordtools", "1.0")
    assert project().changed(needs) is None
    install("numbertools", "2.0")
    assert project().changed(needs) == "what is installed"
    assert project().changed(project().needs(seen("1"))) is None


def test_what_a_package_tries_by_itself_is_not_looked_for_by_the_page(project, seen):
    record = seen("import requests, somelib.one\ntry:\n    import numbertools\nexcept ImportError:\n    pass")
    assert {"simplejson", "numbertools"} <= record["imports"].keys(), "requests takes simplejson where it is"
    assert project().needs(record)["sought"] == ["numbertools", "requests", "somelib"]


def test_watch_leaves_out_what_is_installed_and_what_is_built(project, seen, tmp_path):
    (tmp_path / "_build" / "made.json").parent.mkdir(exist_ok=True)
    (tmp_path / "_build" / "made.json").write_text("1")
    needs = project().needs(seen("import decimal, numpy; open('../_build/made.json').read()"))
    assert needs["files"] == {}


@pytest.fixture
def store(project, tmp_path):
    return lambda: page_needs.Kept(page_needs.kept_folder(tmp_path), project())


def notebook(code, output=None):
    import nbformat

    outputs = [] if output is None else [nbformat.v4.new_output("execute_result", {"text/plain": output})]
    cell = nbformat.v4.new_code_cell(code, outputs=outputs, id="one", execution_count=None)
    return nbformat.v4.new_notebook(cells=[cell])


def test_kept_outputs_are_given_while_they_hold_and_not_afterwards(store, seen, tmp_path):
    page, run = tmp_path / "book" / "page.md", seen("import somelib.one")
    assert store().outputs(notebook("number")) is None
    store().keep(notebook("number", "1"), page, 0.5, run, began=2e9)
    assert store().outputs(notebook("number")).cells[0].outputs[0]["data"]["text/plain"] == "1"
    assert store().outputs(notebook("number + 1")) is None
    (tmp_path / "lib/somelib/one.py").write_text("number = 11\n")
    assert store().outputs(notebook("number")) is None


def test_outputs_of_a_page_whose_files_were_written_while_it_ran_are_not_trusted(store, seen, tmp_path):
    run = seen("import somelib.one")
    store().keep(notebook("number", "1"), tmp_path / "book" / "page.md", 0.5, run, began=0.0)
    assert store().outputs(notebook("number")) is None
