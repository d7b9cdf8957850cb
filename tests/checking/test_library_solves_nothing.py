"""No part of the library that a submission may import answers a task."""

import importlib
import inspect
import pkgutil
from dataclasses import replace

import pytest

from published import ALL_TASKS
from softlookup.roofline import memory
from softlookup_grader.sandbox.bubble import beside_submissions
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.asking.case import CORE
from softlookup_inside.asking.probe import TimeIsUp, run, time_limit
from softlookup_judge import check, get_task
from softlookup_judge.data.compare import is_right
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions

SLOW = (
    "bench_",
    "load_",
    "train",
    "watch_",
    "left_out",
    "grammar_splits",
    "millions",
    "counted",
    "ViT",
    "gpt2",
    "llama",
    "main",
    "run_on_torch",
)
"""Beginnings of names of what trains, measures, takes no end, or starts or ends processes: it answers no task."""


def callables():
    """All public functions and classes of the packages that are staged for a sandbox, by their dotted names."""
    import sympy.printing  # noqa: F401 - torch imports it at odd times, and a time limit may fall into that
    import torch._dynamo  # noqa: F401

    by_name = {}
    names = [f"{package}.{name}" for package, parts in beside_submissions().items() for name in parts]
    for name in ("softlookup_inside", *names):
        package = importlib.import_module(name.removesuffix(".__init__"))
        below = [] if name.endswith(".__init__") else getattr(package, "__path__", [])
        inside = pkgutil.walk_packages(below, f"{name}.")
        for module in [package, *(importlib.import_module(module_info.name) for module_info in inside)]:
            for public, value in vars(module).items():
                is_library = str(getattr(value, "__module__", "")).startswith("softlookup")
                if is_library and callable(value) and not public.startswith(("_", *SLOW)):
                    by_name[f"{value.__module__}.{value.__qualname__}"] = value
    return by_name


def fits(function, args):
    try:
        inspect.signature(function).bind(*args)
    except (TypeError, ValueError):
        return False
    return True


def answers(task, function, barred):
    """Whether a function that is handed the questions as they are gives the right answers."""
    task_questions = questions(variant_of(task), 4)
    pairs = [
        (c, r)
        for c, r in zip(task_questions.cases, task_questions.rights, strict=True)
        if c.part == CORE and not c.gradients
    ]
    for frame in ("torch", "numpy") if task.frame in ("torch", "numpy") else (task.frame,):
        try:
            with calm_torch(), time_limit(0.5):
                if pairs and all(
                    is_right(case, run(function, replace(case, frame=frame), len(task.returns), barred), right)
                    for case, right in pairs
                ):
                    return True
        except TimeIsUp:
            continue
    return False


@pytest.fixture(scope="session")
def library():
    return callables()


@pytest.mark.slow
@pytest.mark.parametrize("task", ALL_TASKS, ids=lambda task: task.id)
def test_library_answers_no_task(task, library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = questions(variant_of(task), 4).cases[0]
    fitting = {name: function for name, function in library.items() if fits(function, first.args)}
    assert [name for name, function in fitting.items() if answers(task, function, task.barred)] == []


def test_a_counter_of_the_library_would_answer_if_it_were_not_barred():
    task = get_task("12.states")

    def state_bytes(n_parameters, recipe):
        return list(vars(memory)["state_" + "bytes"](n_parameters, recipe).values())

    assert answers(task, state_bytes, ())
    assert not answers(task, state_bytes, task.barred)
    assert check(task.id, state_bytes).diagnosis == ("forbidden-shortcut",)
