"""Kernels that are forked from one process give what a fresh one gives, and note as fully what a page needs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import fresh_cells
import nbformat
import page_needs
import pytest
from built_book import ROOT
from forked_kernels import SERVER, forking
from jupyter_client.manager import AsyncKernelManager
from small_book import SOMELIB, write_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")

CELLS = """\
import json, os, sys
import matplotlib.pyplot as plt, numpy as np, torch
import somelib.one
json.load(open("measured.json")), sorted(os.listdir("folder"))
---
[one for one in sys.path if "somelib" in one or one == ""], os.path.basename(os.getcwd()), os.environ["TOLD"]
---
np.arange(3.0) @ np.ones((3, 3)), torch.arange(3.0) @ torch.ones(3, 3), plt.get_backend()
---
plt.figure(figsize=(1, 1)).add_subplot().plot([1, 2]);
---
print("out"); print("err", file=sys.stderr); os.write(1, b"raw"); None
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout with a library of two modules."""
    root = tmp_path_factory.mktemp("checkout")
    write_files(root, {**SOMELIB, "book/measured.json": "1", "book/folder/a.txt": "a"})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root / "lib")
        patch.setenv("PYTHONPATH", str(root / "lib"))
        patch.setenv("TOLD", "by the build")
        patch.setenv("MPLBACKEND", "agg")
        yield root


@pytest.fixture(scope="module")
def kernels(checkout):
    """Kernels that are all forked from one process."""
    with forking(checkout / "book") as forked:
        yield forked


def run(checkout, kernels, cells=CELLS):
    """Run a page; give what came out of its cells, and what was seen."""
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    code = [nbformat.v4.new_code_cell(cell) for cell in cells.split("---\n")]
    notebook = nbformat.v4.new_notebook(cells=code, metadata=spec)
    store = SimpleNamespace(project=page_needs.Project(checkout, "somelib"))
    page = fresh_cells.Page("page", checkout / "book" / "page.md", notebook, "", "")
    config = SimpleNamespace(nb_execution_timeout=60, nb_execution_allow_errors=False)
    seen = fresh_cells.execute(store, page, config, kernels).seen
    outputs = [
        {
            name: text
            for output in cell.outputs
            if output.output_type == "stream"
            for name, text in [(output.name, output.text)]
        }
        or [output.get("data") for output in cell.outputs]
        for cell in notebook.cells
    ]
    return outputs, seen


@pytest.mark.slow
def test_forked_kernel_gives_what_a_fresh_one_gives_and_its_record_is_as_full(checkout, kernels):
    outputs, seen = run(checkout, AsyncKernelManager)
    forked, forked_seen = run(checkout, kernels)
    assert forked == outputs
    for what in ("files", "folders", "started"):
        assert forked_seen[what] == seen[what]
    project = page_needs.Project(checkout, "somelib")
    fresh, needs = project.needs(seen), project.needs(forked_seen)
    assert needs["files"] == fresh["files"] and needs["everything"] is None
    assert {*fresh["sought"]} <= {*needs["sought"]} and {"torch", "numpy", "matplotlib"} <= {*needs["sought"]}
    assert fresh["imports"].items() <= needs["imports"].items()


@pytest.mark.slow
def test_page_is_stale_when_a_file_comes_that_would_stand_before_what_was_imported_beforehand(checkout, kernels):
    _, seen = run(checkout, kernels, "1")
    needs = page_needs.Project(checkout, "somelib").needs(seen)
    module = checkout / "book" / "torch.py"
    module.write_text("")
    try:
        assert page_needs.Project(checkout, "somelib").changed(needs) == "book/torch.py"
    finally:
        module.unlink()


@pytest.mark.slow
def test_module_beside_the_pages_comes_before_an_installed_one(checkout, kernels):
    (checkout / "book" / "anywidget.py").write_text("number = 7\n")
    outputs, seen = run(checkout, kernels, "import anywidget\nanywidget.number")
    assert outputs == [[{"text/plain": "7"}]] and str(checkout / "book" / "anywidget.py") in seen["files"]


@pytest.mark.slow
def test_forks_draw_numbers_of_their_own(checkout, kernels):
    draw = "import random, numpy, torch\n[random.random(), numpy.random.rand(), torch.rand(1).item()]"
    first, second = (json.loads(run(checkout, kernels, draw)[0][0][0]["text/plain"]) for _ in range(2))
    assert all(number != other for number, other in zip(first, second, strict=True))


@pytest.mark.slow
def test_what_is_imported_beforehand_is_nothing_of_the_project_and_reads_no_files_past_python():
    code = """if True:
        import json, kernel_server, sys, threading
        kernel_server.load()
        files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
        print(json.dumps([threading.active_count(), files]))
    """
    path = os.pathsep.join(map(str, [*sorted(ROOT.glob("lib/*")), SERVER.parent]))
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    threads, modules = json.loads(done.stdout)
    assert threads == 1 and {"torch", "matplotlib.pyplot", "ipykernel.kernelapp"} <= modules.keys()
    assert not page_needs.NATIVE.keys() & modules.keys()
    project_folders = [str(ROOT / name) + os.sep for name in ("lib", "book", "scripts")]
    assert [file for file in modules.values() if str(file).startswith(tuple(project_folders))] == [str(SERVER)]


@pytest.mark.slow
def test_kernel_starts_anew_where_what_it_would_be_forked_from_is_gone(checkout):
    with forking(checkout / "book") as kernels:
        kernels.server._process.send_signal(signal.SIGKILL)
        kernels.server._process.wait()
        assert run(checkout, kernels, "6 * 7")[0] == [[{"text/plain": "42"}]]


@pytest.mark.slow
def test_kernels_end_with_the_build(checkout):
    with forking(checkout / "book") as kernels:
        argv = ["ipykernel_launcher", "-f", str(checkout / "connection.json")]
        kernel = kernels.server.fork(argv, str(checkout), dict(os.environ))
        assert kernel.poll() is None and Path(f"/proc/{kernel.pid}").exists()
    until = time.monotonic() + 10
    while kernel.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    assert kernel.wait() == 0
