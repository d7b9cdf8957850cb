"""The published kernels of chapter 18 write on Triton what they write on tiles."""

import ast
import linecache
import sys
import types
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from softlookup.tiles import cdiv, jit, tl
from softlookup_inside.asking.case import Case
from softlookup_inside.tiles.tracing import record
from softlookup_judge.checking.catalogue import tasks
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.kernels import results
from softlookup_judge.judging.questions import questions_at_home
from tests.tiles.twice import COMPILED, INTERPRETED, import_triton, launched

SOLUTIONS = Path(__file__).parents[2] / "solutions" / "18_kernels.py"

KERNELS = [task for task in tasks(18) if questions_at_home(variant_of(task)).cases[0].grid]

MOST_PROGRAMS = 12
"""The interpreter takes a while for each."""


def _published(names: Any) -> dict[str, Any]:
    """The functions of the notebook alone, with these ``tl`` and ``jit``."""
    module = ast.parse(SOLUTIONS.read_text(encoding="utf-8"))
    functions = [ast.unparse(node) for node in module.body if isinstance(node, ast.FunctionDef)]
    text = "from softlookup.tiles import cdiv, jit, tl\n\n\n" + "\n\n\n".join(functions) + "\n"
    name = f"<published kernels for {names.jit.__module__}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"__name__": "published_kernels"}
    with mock.patch.dict(sys.modules, {"softlookup.tiles": names}):
        exec(compile(text, name, "exec"), space)
    return space


def _cases(task: Any) -> list[Case]:
    cases = questions_at_home(variant_of(task)).cases
    return [case for case in cases if np.prod(case.grid) <= MOST_PROGRAMS] or list(cases[:1])


def test_every_kernel_task_is_compared() -> None:
    assert len(KERNELS) == 10


def _compare(task: Any, mode: str, device: str) -> None:
    triton = import_triton(mode)
    here = _published(types.SimpleNamespace(tl=tl, jit=jit, cdiv=cdiv))[task.name]
    there = _published(types.SimpleNamespace(tl=triton.language, jit=triton.jit, cdiv=triton.cdiv))[task.name]
    for case in _cases(task):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            by_triton = launched(there, case.grid, case.args, {}, device)
        *on_tiles, excess = results(case, record(here, case.grid, case.args))
        assert not excess.any()
        for at, array in zip(case.outputs, on_tiles, strict=True):
            np.testing.assert_allclose(array, by_triton[at], rtol=2e-3 if device == "cuda" else 1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("task", KERNELS, ids=[task.id for task in KERNELS])
def test_published_kernel_writes_what_the_interpreter_writes(task: Any) -> None:
    _compare(task, INTERPRETED, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("task", KERNELS, ids=[task.id for task in KERNELS])
def test_published_kernel_writes_what_the_compiled_kernel_writes(task: Any) -> None:
    _compare(task, COMPILED, "cuda")
