"""No check of a lent call's sizes refuses what the published solutions ask of each other's functions."""

import itertools
import sys
import types
from functools import wraps

import numpy as np
import pytest
from small_class import ROOT

from softlookup_course.samples.handins import answers
from softlookup_grader.course.notebooks import is_solution
from softlookup_grader.judging.lent import owns
from softlookup_grader.sandbox.lending import largest, reason, sound_answer
from softlookup_inside.asking.calm import calm_torch
from softlookup_inside.sandbox import frames
from softlookup_judge.authoring import read_solution
from softlookup_judge.checking import local
from softlookup_judge.checking.catalogue import get_task, tasks
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import draw

NOTEBOOKS = sorted(path.stem for path in (ROOT / "solutions").glob("[0-9]*.py"))


def defined(name):
    """What the cells of a solution define, without its checks."""
    source = read_solution(ROOT / "solutions" / f"{name}.py")
    module = types.ModuleType(f"solution_{name}")
    sys.modules[module.__name__] = module
    vars(module)["__name__"] = "__main__"  # whose classes are a student's own
    right = answers(source)
    for at, cell in enumerate(source.cells):
        if cell.cell_type == "code" and not cell.source.lstrip().startswith("check("):
            text = right[cell.metadata.nbgrader.grade_id] if is_solution(cell) else cell.source
            exec(compile(text, f"cell-{name}-{at}", "exec"), vars(module))
    return vars(module)


def owns_of(task_id):
    return owns(variant_of(get_task(task_id)))


def plain(value):
    return value.detach().numpy() if hasattr(value, "detach") else value


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_calls_of_published_solutions_pass_the_checks(name, capsys):
    calls = []

    class Noting(local.LocalStudent):
        def reference_function(self, variant, case):
            computed = super().reference_function(variant, case)

            @wraps(computed)
            def call(*args, **named):
                calls.append(
                    (variant.task.id, [plain(arg) for arg in args], {key: plain(value) for key, value in named.items()})
                )
                return computed(*args, **named)

            return call

    world = defined(name)
    for task in tasks(int(name.split("_")[0])):
        student = Noting(variant_of(task), world[task.name])
        # One by one: where several are lent, the last of them computes what the others would be asked for.
        for lent, case in itertools.product(student.lendable(sound_too=True), draw(variant_of(task), 20261120)):
            calls.clear()
            with calm_torch():
                student.ask(case, len(task.returns), (lent,))
            most = reason(case.args, in_text=case.frame == "text")
            for task_id, args, named in calls:
                arrays: list[np.ndarray] = []
                header = {"call": task_id, "args": frames.plain(args, arrays), "named": frames.plain(named, arrays)}
                passed = sound_answer(lambda *_: ({"result": None}, []), header, arrays, most, owns_of)
                assert passed == ({"result": None}, []), (task.id, task_id, case.label, most, largest(args, arrays))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_questions_of_every_task_pass_the_checks_of_its_numbers(seed):
    for task in tasks():
        for case in draw(variant_of(task), seed) if task.lends else ():
            if case.is_recorded:
                continue  # nothing is lent to kernels and ranks, and they are lent to nobody
            arrays: list[np.ndarray] = []
            header = {"call": task.id, "args": frames.plain(list(case.args), arrays), "named": {"dict": {}}}
            most = reason(case.args, in_text=case.frame == "text")
            passed = sound_answer(lambda *_: ({"result": None}, []), header, arrays, most, owns_of)
            assert passed == ({"result": None}, []), (task.id, case.label)
