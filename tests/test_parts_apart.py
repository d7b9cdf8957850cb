"""Each part imports without what it does not state: what is hidden from a process stands for what is not installed."""

import subprocess
import sys

import pytest

IMPORT_ALL = """
import importlib, pkgutil, sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

package, hidden, skipped = (text.split(",") for text in sys.argv[1:])
HIDDEN = set(hidden)
sys.meta_path.insert(0, Hidden())
root = importlib.import_module(package[0])
count = 0
for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
    if not module.name.startswith(tuple(skipped)) and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        count += 1
print(count)
"""
OTHERS = "nbgrader,nbformat,click,matplotlib,ipywidgets,jupytext,babel,rich"


@pytest.mark.parametrize(
    ("package", "hidden", "skipped"),
    [
        # Cells of a notebook are run by IPython, which comes with the extra `notebook`.
        (
            "softlookup_inside",
            f"torch,IPython,{OTHERS},softlookup,softlookup_judge",
            "softlookup_inside.sandbox.shell,softlookup_inside.sandbox.submission",
        ),
        (
            "softlookup_judge",
            f"torch,IPython,{OTHERS},softlookup,softlookup_grader",
            # What the extras `tasks` and `authoring` are for.
            "softlookup_judge.chapters.,softlookup_judge.authoring",
        ),
        (
            "softlookup_grader",
            "torch,softlookup,softlookup_course,matplotlib,jupytext,ipywidgets",
            # What the extra `dask` is for, and a program that is started for its imports.
            "softlookup_grader.workers.on_dask,softlookup_grader.workers.dask_worker",
        ),
    ],
)
def test_a_part_imports_without_what_it_does_not_state(package, hidden, skipped):
    command = [sys.executable, "-c", IMPORT_ALL, package, hidden, skipped]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 30
