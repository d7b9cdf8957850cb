"""An answer may be a function, a method, an object, or what a decorator made: at home and in grading it is the same."""

import linecache
import sys

import nbformat
import pytest
from sandbox_tools import ABOUT, NEEDS_SANDBOX
from small_class import NAME

from softlookup_course.samples.handins import answers, filled
from softlookup_grader.course.notebooks import grade_id
from softlookup_grader.data.work import RunSettings
from softlookup_grader.judging.examine import SandboxExaminer
from softlookup_judge import check, get_task, tasks

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's compiler uses it itself


def decorated(line):
    return lambda source, name: f"import functools\n\n{source}".replace(f"\ndef {name}(", f"\n{line}\ndef {name}(")


def afterwards(lines):
    return lambda source, name: f"import functools\n{source}\n{lines}\n".replace("NAME", name)


FORMS = {
    "function": lambda source, name: source,
    "compiled": decorated("@torch.compile"),
    "compiled whole": decorated("@torch.compile(fullgraph=True, dynamic=True)"),
    "compiled afterwards": afterwards("NAME = torch.compile(NAME)"),
    "compiled when called": afterwards("NAME = (lambda inner: lambda *a: torch.compile(inner)(*a))(NAME)"),
    "compiled module": afterwards(
        "class A(torch.nn.Module):\n    forward = staticmethod(NAME)\nNAME = torch.compile(A())"
    ),
    "kept by functools": decorated("@functools.lru_cache"),
    "partial": afterwards("NAME = functools.partial(NAME)"),
    "wrapped": afterwards(
        "def quick(inner):\n    @functools.wraps(inner)\n    def call(*a):\n        return inner(*a)\n    return call\n"
        "NAME = quick(NAME)"
    ),
    "closed over": afterwards("NAME = (lambda inner: lambda *a: inner(*a))(NAME)"),
    "method of a nested class": afterwards("class A:\n    class B:\n        do = staticmethod(NAME)\nNAME = A.B().do"),
    "bound method": afterwards(
        "class Own:\n    held = staticmethod(NAME)\n"
        "    def call(self, *a):\n        return self.held(*a)\nNAME = Own().call"
    ),
    "object": afterwards(
        "class Own:\n    def __init__(self, f):\n        self.f = f\n"
        "    def __call__(self, *a):\n        return self.f(*a)\nNAME = Own(NAME)"
    ),
    "object of a class below": afterwards(
        "class Own:\n    held = staticmethod(NAME)\n    def __call__(self, *a):\n        return self.held(*a)\n"
        "class Below(Own):\n    pass\nNAME = Below()"
    ),
}
SCRIPT = """
@torch.jit.script
def softmax(x):
    grown = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return grown / grown.sum(dim=-1, keepdim=True)
"""
STREAMS = """
import subprocess, sys
def softmax(x):
    for stream in (sys.stdout, sys.stderr):
        subprocess.run(["true"], stdout=stream, check=True)
        stream.buffer.write(b"bytes")
        assert stream.encoding == "utf-8" and not stream.isatty()
        print("seen", file=stream, flush=True)
    grown = torch.exp(x - x.amax(dim=-1, keepdim=True))
    return grown / grown.sum(dim=-1, keepdim=True)
softmax(torch.ones(2))
"""


@pytest.fixture(scope="module")
def examiner(release):
    with SandboxExaminer(RunSettings.single(NAME, nbformat.writes(release), 7)) as examiner:
        yield examiner


def at_home(notebook):
    """The verdicts at home, by task: the cells are run as a kernel runs them, each with a file name of its own."""
    world = {"__name__": "__main__"}
    for at, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and not grade_id(cell).endswith("-check"):
            name = f"<submission {at}>"
            linecache.cache[name] = len(cell.source), None, cell.source.splitlines(keepends=True), name
            exec(compile(cell.source, name, "exec"), world)
    return {task.id: check(task.id, world[task.name]) for task in tasks(4)}


def in_grading(examiner, notebook):
    graded = examiner.examine("somebody", nbformat.writes(notebook).encode())
    return {mark.task: mark for mark in graded.marks if mark.verdict != "by hand"}


def in_forms(source, first, softmax=None):
    """Each answer in another form; all forms take their turn in each answer as the number goes up."""
    texts = answers(source)
    texts["04-softmax"] = softmax or texts["04-softmax"]
    names = [*FORMS]
    for at, task in enumerate(tasks(4)):
        form = names[(at + first) % len(names)]
        texts[task.slug] = FORMS[form](texts[task.slug], task.name)
    return texts


def compared(result):
    return result.verdict, result.points, result.diagnosis


def both(examiner, notebook):
    home, graded = at_home(notebook), in_grading(examiner, notebook)
    assert home.keys() == graded.keys()
    assert [task for task, result in home.items() if compared(result) != compared(graded[task])] == []
    return home


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.one_in(28)
@pytest.mark.parametrize("first", range(len(FORMS)))
def test_form_of_an_answer_changes_no_verdict(examiner, release, source, first):
    texts = in_forms(source, first)
    for task, result in both(examiner, filled(release, texts)).items():
        is_cached = "lru_cache" in texts[get_task(task).slug] and get_task(task).frame != "torch"
        # numpy's arrays cannot be looked up in a cache: Python says so, here as there.
        message = result.sentences[0]
        assert result.verdict == "pass" or is_cached and "unhashable type: 'numpy.ndarray'" in message, (task, message)


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.one_in(14)
@pytest.mark.parametrize("first", range(0, len(FORMS), 2))
def test_form_of_an_answer_hides_neither_an_earlier_mistake_nor_a_shortcut(examiner, release, source, first):
    twice = "\ndef softmax(x):\n    return 2 * torch.exp(x - x.amax(-1, keepdim=True))\n"
    result = both(examiner, filled(release, in_forms(source, first, twice)))
    assert result["04.softmax"].points == 0 and result["04.weights"].verdict == "pass"
    short = in_forms(source, first, "\ndef softmax(x):\n    return x.softmax(-1)\n")
    assert both(examiner, filled(release, short))["04.softmax"].diagnosis == ("forbidden-shortcut",)


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.parametrize("text", [SCRIPT, STREAMS], ids=["script", "streams"])
def test_scripts_pass_and_standard_streams_are_what_programs_ask_of_them(examiner, release, source, text):
    notebook = filled(release, {**answers(source), "04-softmax": text})
    assert {result.verdict for result in both(examiner, notebook).values()} == {"pass"}
    assert "torch._dynamo" not in sys.modules or sys.modules["torch._dynamo"].eval_frame._stance.stance == "default"


@pytest.mark.slow
@NEEDS_SANDBOX
@pytest.mark.parametrize(
    ("text", "shortcut"),
    [
        ("import torch\ndef f(q, k): return torch.cosine_similarity(q, k)", "torch.cosine_similarity"),
        ("from scipy.spatial.distance import cdist\ndef f(q, k): return cdist(q, k)", "scipy.spatial.distance.cdist"),
        ("def f(q, k): return q @ k.T", None),
    ],
)
def test_a_ready_made_cosine_is_found_inside_the_sandbox(begin, text, shortcut):
    session = begin()
    session.run(text)
    student_object = session.check("", {**ABOUT, "forbids": list(get_task("02.similarity").forbids)})
    assert student_object.shortcut == shortcut
