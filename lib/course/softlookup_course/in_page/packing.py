"""What a page needs to judge answers: questions, right answers, results of known mistakes, facts; no solution."""

import ast
import io
import json
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from softlookup_course.in_page.sealed import sealed
from softlookup_inside.asking.candidates import is_candidate
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import run
from softlookup_inside.installed import homes
from softlookup_judge.checking.baked import bake
from softlookup_judge.checking.catalogue import STANDARD
from softlookup_judge.checking.local import stand_in
from softlookup_judge.data.compare import inputs_of
from softlookup_judge.data.facts import facts_of
from softlookup_judge.data.notebook import published
from softlookup_judge.data.published import composed, in_variant, names_used
from softlookup_judge.data.result import HELP_STEPS
from softlookup_judge.data.task import Task
from softlookup_judge.data.variant import variant_of
from softlookup_judge.helping.helping import last_step
from softlookup_judge.judging.calls import plain
from softlookup_judge.judging.questions import HOME_SEED, cases_of, questions_at_home
from softlookup_judge.whole import parts

_MOST_NUMBERS = 10_000
"""Numbers in the arrays of a kernel's question, at most, for a page to ask it; one about bytes may have more."""

_PARTS = {
    "softlookup_inside": ("*.py", "asking/*.py", "tiles/*.py", "ranks/*.py"),
    "softlookup_judge": (
        "__init__.py*",
        *(f"{room}/*.py" for room in ("mistakes", "data", "judging", "naming", "checking")),
    ),
    "softlookup": (
        *("__init__.py", "notation.py", "reference/*.py", "text/*.py", "describing/*.py", "describing/*.json"),
        *("roofline/*.py", "tiles/__init__.py*", *(f"tiles/{name}.py" for name in ("kernel", "costs", "replay"))),
        *("tiles/memory.py", "ranks/__init__.py*"),
        *(f"ranks/{name}.py" for name in ("in_process", "links", "records", "rendezvous", "world")),
    ),
    "softlookup_course": (
        *("__init__.py", "in_page/__init__.py"),
        *(f"in_page/{name}.py" for name in ("missing", "playing", "runnable", "sealed", "session", "why")),
        *("slide_audit/*.py", "slide_audit/*.toml", "widgets/__init__.py*", "widgets/rank_recording.py"),
        *("widgets/played_programs.py", "widgets/shared.js", "widgets/shared.css", "widgets/rank_player.js"),
        *("widgets/rank_player.css", "figures/page.py"),
    ),
}
"""What of each package runs in a page: neither tasks nor their solutions; of the rest what cells of chapters use."""

_FIGURES = """def __getattr__(name: str) -> None:
    raise ImportError("Pictures need JupyterLab: matplotlib is not in the page.")
"""
"""What stands in a page for the ``__init__`` of ``softlookup_course.figures``."""

MOST_CALLS = 400
"""Calls of earlier functions that one task may need; more would make the download large."""


@cache
def why_not(task: Task) -> str:
    """Why a task cannot be done in a page: a part of a sentence that begins with "it", empty if it can."""
    cases = _written(task)
    if any(case.sizes or case.parameters for case in cases):
        return "it asks for a layer of torch"
    if any(part.layer for part in parts(task)):
        return "it builds on a model of torch"
    if any(is_candidate(arg) for case in cases for arg in case.args):
        return "it tests models of torch"
    if any(case.fed for case in cases):
        return "it counts torch's products"
    if task.frame == "torch" and names_used(task) & _given_functions(task.chapter):
        return "it calls a function of torch that the notebook gives"
    return ""


@cache
def _given_functions(chapter: int) -> frozenset[str]:
    """The functions that a notebook gives, between its tasks."""
    task_cells = {task.slug for task in STANDARD.tasks(chapter)}
    statements = (
        statement
        for name, text in published(chapter).cells.items()
        if name not in task_cells
        for statement in ast.parse(text).body
    )
    return frozenset(statement.name for statement in statements if isinstance(statement, ast.FunctionDef))


def asks_for_gradients(task: Task) -> bool:
    """Whether the notebook asks for gradients besides: a page does not."""
    return any(case.gradients for case in _written(task))


def _written(task: Task) -> list[Case]:
    """The questions as the task writes them, without those that are made from others."""
    return cases_of(variant_of(task), np.random.default_rng(HOME_SEED))


def chosen(chapter: int) -> list[Task]:
    """The tasks of a notebook that can be done in a page, in its order."""
    return [task for task in STANDARD.tasks(chapter) if not why_not(task)]


def pack(chapter: int) -> bytes:
    """Write down what judges a notebook's tasks in a page: a safetensors file, for ``session.PageSession.load``."""
    return bake(chosen(chapter), turned=_in_numpy, more=_facts, variants=False, pairs=True)


def shipped() -> dict[str, Path]:
    """The files of each package that run in a page, by their names in its archive."""
    package_paths = homes()
    return {
        f"{package}/{path.relative_to(package_paths[package]).as_posix()}": path
        for package, parts in _PARTS.items()
        for path in sorted({path for part in parts for path in package_paths[package].glob(part)})
    }


def library() -> bytes:
    """The part of the library that runs in a page, as a zip archive; the same bytes for the same files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, path in shipped().items():
            archive.writestr(_entry(name), path.read_bytes())
        archive.writestr(_entry("softlookup_course/figures/__init__.py"), _FIGURES)
    return buffer.getvalue()


def _entry(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def _in_numpy(case: Case) -> Case | None:
    """The same question for an answer in numpy; questions about gradients are left out, since they need autograd.

    Whether the dtype is kept is left to the notebook: in numpy a plain ``/ np.sqrt(n)`` widens float32. So are kernels
    on large arrays: a page would have to load what each known mistake makes of them.
    """
    is_large = case.grid and not case.limits and sum(array.size for array in inputs_of(case)) > _MOST_NUMBERS
    if case.gradients or is_large:
        return None
    if case.frame != "torch":
        return case
    return replace(case, frame="numpy", descends=False, keeps_dtype=False)


def _facts(task: Task) -> dict[str, Any]:
    """All that is said of a task, what earlier functions give in its questions, and the help that a course allows."""
    variant, texts, step = variant_of(task), task.notebook.help_texts(task.id), last_step(task)
    questions = questions_at_home(variant)
    rights = [expected for case, expected in zip(questions.cases, questions.rights, strict=True) if _in_numpy(case)]
    allowed = texts.other and step == len(HELP_STEPS)
    way = json.dumps([in_variant(variant, texts.other), texts.differs]) if allowed else ""
    return {
        **facts_of(task),
        "calls": _calls(task),
        "formula": texts.formula if step > HELP_STEPS.index("formula") else "",
        "way": sealed(way, rights) if way else "",
    }


def _calls(task: Task) -> list[list[Any]]:
    """What the published solution asks of earlier tasks' functions, and what sound ones give."""
    calls: list[list[Any]] = []
    keys: set[bytes] = set()

    def recording(part: Task, frame: str) -> Any:
        reference_function = stand_in(variant_of(part), frame)

        def call(*args: Any, **kwargs: Any) -> Any:
            copies = [plain(arg) for arg in args], {name: plain(arg) for name, arg in kwargs.items()}
            result = reference_function(*args, **kwargs)
            values = tuple(map(plain, result)) if isinstance(result, tuple) else plain(result)
            key = repr((part.id, *map(_key, (*copies[0], *copies[1].items())))).encode()
            if key not in keys:
                keys.add(key)
                calls.append([part.id, [*copies[0], *copies[1].values()], values])
            return result

        return call

    if not parts(task):
        return []
    for case in questions_at_home(variant_of(task)).cases:
        if case.gradients:
            continue
        functions = {part.name: recording(part, case.frame) for part in parts(task)}
        run(composed(variant_of(task), functions), case, len(task.returns))
    if len(calls) > MOST_CALLS:
        raise ValueError(f"{task.id} calls earlier functions {len(calls)} times, more than {MOST_CALLS}")
    return calls


def _key(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return (value.shape, value.dtype.str, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)
