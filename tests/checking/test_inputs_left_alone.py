"""No answer that changes what it was given is right, in whatever task and whichever argument."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from published import ALL_TASKS, solutions, world
from softlookup.tiles import Kernel
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import run
from softlookup_inside.ranks.packing import pack_inbox
from softlookup_judge import Task
from softlookup_judge.checking.judge import ask
from softlookup_judge.checking.local import LocalStudent
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import questions_at_home as at_home
from softlookup_judge.judging.ranks import rank_question

KERNELS = [task for task in ALL_TASKS if task.chapter == 18 and isinstance(answer(variant_of(task)), Kernel)]


def drawn(task: Task) -> list[Case]:
    """The questions as the task writes them; those to a whole world as the question to its first rank."""
    cases = task.cases(np.random.default_rng(0), **task.variants[0])
    return [rank_question(case, 0, pack_inbox({})) if case.world else case for case in cases]


def changes(value: Any) -> list[Callable[[Any], None]]:
    """Ways to change a copy of an argument in place, what is deep inside it among them; empty where there is none."""
    if isinstance(value, np.ndarray):
        return [_other_numbers] if value.size else []
    if isinstance(value, dict):
        inside = [_inside(key, change) for key, item in list(value.items())[:2] for change in changes(item)]
        return [lambda d: d.update(more=0), lambda d: d.pop(next(iter(d)), d.update(more=0)), *inside]
    if isinstance(value, list | tuple):
        inside = [_inside(at, change) for at, item in list(enumerate(value))[:2] for change in changes(item)]
        here = [lambda items: items.append(0), lambda items: items.insert(0, 0), lambda items: items.clear()]
        return [*(here[: 3 if value else 2] if isinstance(value, list) else []), *inside]
    return []


def _other_numbers(array: Any) -> None:
    """Another number in the last place alone."""
    if hasattr(array, "detach"):
        array = array.detach()
    last = tuple(n - 1 for n in array.shape)
    array[last] = array[last] == 0


def _inside(key: Any, change: Callable[[Any], None]) -> Callable[[Any], None]:
    return lambda container: change(container[key])


def is_noticed(task: Task, case: Case, at: int, change: Callable[[Any], None]) -> bool:
    """Whether an answer that changes one argument is refused for that, whatever it returns."""
    results = len(task.returns) - bool(case.world)
    nothing = "" if case.frame == "text" else np.zeros(1)

    def changing(*inputs: Any) -> Any:
        change(inputs[at])
        return (nothing,) * results if results > 1 else nothing

    failure = run(changing, case, results).failure
    return failure is not None and failure.kind == "inputs-changed"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("task", [task for task in ALL_TASKS if task not in KERNELS], ids=lambda task: task.id)
def test_a_changed_argument_is_noticed(task):
    cases = [case for case in drawn(task) if not case.gradients]
    for at in range(max(len(case.args) for case in cases)):
        ways = {}
        for case in cases:
            if len(case.args) > at and not (isinstance(case.args[at], dict) and "candidate" in case.args[at]):
                ways.setdefault(len(changes(case.args[at])), case)
        if ways and (most := max(ways)):
            case = ways[most]
            for number, change in enumerate(changes(case.args[at])):
                assert is_noticed(task, case, at, change), f"argument {at}, change {number}: {case.label}"


@pytest.mark.one_in(6)
@pytest.mark.parametrize("task", KERNELS, ids=lambda task: task.id)
def test_a_kernel_that_writes_to_an_input_is_refused(task):
    case = drawn(task)[0]
    for at, name in enumerate(task.parameters):
        if at < len(case.args) and isinstance(case.args[at], np.ndarray) and at not in case.outputs:
            source = f"{solutions(18)[task.slug].rstrip()}\n    tl.store({name}, 0)\n"
            kernel, variant = world(18, {task.slug: source})[task.name], variant_of(task)
            failures = [each.failure for _, each, _ in ask(variant, LocalStudent(variant, kernel), at_home(variant))]
            assert any(failure and failure.kind == "input-written" for failure in failures), name


class Touchy(dict):
    def __eq__(self, other):
        raise RuntimeError("do not compare me")

    __hash__ = None


def question(*args, frame="plain"):
    return Case("a question", args, frame=frame)


@pytest.mark.parametrize("frame", ["plain", "numpy", "torch"])
def test_what_a_student_does_to_a_dictionary_stays_with_the_student(frame):
    case = question({"a": [1, 2]}, "b", frame=frame)

    def student(store, name):
        store["a"].append(3)
        store[name] = 4
        return len(store)

    answer = run(student, case)
    assert answer.failure is not None and answer.failure.kind == "inputs-changed"
    assert case.args == ({"a": [1, 2]}, "b")


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], "text", (1, "two"), None, 3])
def test_plain_inputs_that_are_left_alone_are_no_failure(value):
    answer = run(lambda arg: 5, question(value))
    assert answer.failure is None and answer.arrays[0] == 5


def test_dictionary_that_cannot_be_compared_any_more_was_changed():
    answer = run(lambda store: store.update(a=Touchy()) or 1, question({"a": 1}))
    assert answer.failure is not None and answer.failure.kind == "inputs-changed"
