"""The self-test of chapter 0: ten questions, each of which sends a reader to a refresher that is there."""

import re
import subprocess
import sys

import pytest

from published import ROOT
from softlookup_judge import tasks
from softlookup_judge.authoring import assignments

SECTIONS = {
    "before-products": "Which matrix shapes can be multiplied?",
    "before-axes": "What does a sum along an axis do?",
    "before-broadcasting": "How does broadcasting work?",
    "before-softmax": "What is a softmax?",
    "before-logs": "What is cross-entropy?",
    "before-derivatives": "How does the chain rule work?",
    "before-gradients": "What is the gradient of a matrix product?",
    "before-tensors": "What do reshape and transpose do?",
    "before-autograd": "How does autograd work?",
}
"""Label of a refresher -> its heading, as it stands on the page."""
PAGE = (ROOT / "book" / "00_before_you_start.md").read_text(encoding="utf-8")
LOCKED_AWAY = """
import contextlib, io, json, sys


class Without:
    # A finder that does not find the others; who only asks whether they are there (torch does) hears no.
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in OTHERS else self.finder.find_spec(name, path, target)


OTHERS = {{
    "IPython", "anywidget", "click", "ipywidgets", "jaxtyping", "jupytext", "matplotlib", "nbclient", "nbformat",
    "nbgrader", "rich", "safetensors", "sklearn", "traitlets", "transformers", "scipy", "tokenizers",
}}
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
for name in ("matplotlib", "nbformat", "transformers"):
    try:
        __import__(name)
    except ModuleNotFoundError:
        continue
    raise AssertionError(f"{{name}} is not locked away")
for path in {paths!r}:
    notebook = json.load(open(path, encoding="utf-8"))
    names = {{"__name__": "__main__"}}
    verdicts = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, path, "exec"), names)
            if source.startswith("check("):
                result = eval(source, names)
                verdicts.append(result.verdict)
                assert result.text()
    print(len(verdicts), set(verdicts))
"""


def test_there_are_ten_questions_of_one_point():
    assert [task.points for task in tasks(0)] == [1] * 10


def test_every_refresher_stands_on_the_page_under_its_heading():
    for label, heading in SECTIONS.items():
        assert f"({label})=\n## {heading}\n" in PAGE


def test_every_question_stands_in_the_refresher_that_it_points_to():
    for task in tasks(0):
        assert task.anchor in SECTIONS
        section = PAGE.split(f"({task.anchor})=\n")[1].split("\n## ")[0]
        assert f"`{task.id}`" in section, task.id


def test_every_refresher_is_asked_for_by_a_question():
    assert {task.anchor for task in tasks(0)} == set(SECTIONS)


@pytest.mark.slow
@pytest.mark.one_in(24)
@pytest.mark.parametrize("part", range(12))
def test_notebooks_run_where_numpy_and_torch_alone_are_installed(part):
    """The page on running says so: nothing else that the library can use is needed for the exercises."""
    names = assignments(ROOT)[part::12]
    paths = [str(ROOT / "exercises" / name / f"{name}.ipynb") for name in names]
    command = [sys.executable, "-c", LOCKED_AWAY.format(paths=paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    blank = [f"{len(tasks(int(name[:2])))} {{'blank'}}" for name in names]
    assert done.stdout.splitlines() == blank


def test_no_answer_to_a_pencil_question_stands_in_the_refreshers():
    """Their numbers are others, so that a reader has to do the sum."""
    from softlookup_judge.chapters.ch00_before_you_start.pencil import A_TD, B_DH, POWERS_TS

    bare = re.sub(r"[\s\[\]]|\.0(?=\D)", "", PAGE)
    for table in (A_TD, B_DH, POWERS_TS):
        assert re.sub(r"[\s\[\]]", "", str(table.tolist())) not in bare
    for constants in next(task for task in tasks(0) if task.id == "00.slope").variants:
        text = ", ".join(f"${name} = {value:g}$" for name, value in constants.items())
        assert text not in PAGE
