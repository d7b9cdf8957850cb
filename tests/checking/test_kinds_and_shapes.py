"""Published solutions with their results spoiled, or made for some inputs alone: tasks take none but a few."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from softlookup.tiles import Kernel
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.probe import Answer, Failure, run
from softlookup_judge import Task, tasks
from softlookup_judge.data.compare import is_right
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.questions import HOME_SEED, TaskQuestions, questions
from softlookup_judge.judging.ranks import results

FUNCTIONS = [
    task
    for task in tasks()
    if task.frame != "text" and not isinstance(answer(variant_of(task)), type | Kernel)  # kernels get no arrays
]


@cache
def asked_at_home(task: Task) -> TaskQuestions:
    """The questions of a check at home; kept for all tasks, since nothing is judged here."""
    return questions(variant_of(task), HOME_SEED)


def answered(function: Callable[..., Any], task: Task, case: Case) -> Answer:
    """What a function gives; where the question is to a whole world of ranks, all of them."""
    if not case.world:
        return run(function, case, len(task.returns))
    try:
        return Answer(results(case, function, len(task.returns) - 1), None)
    except Exception as error:
        return Answer(None, Failure("exception", str(error)))


def are_whole(value: Any) -> bool:
    numbers = np.asarray(value.detach() if isinstance(value, torch.Tensor) else value).astype(np.float64)
    return bool(np.isfinite(numbers).all() and (numbers == numbers.round()).all())


def floats(value):
    if isinstance(value, torch.Tensor):
        return value if value.is_floating_point() else value.double()
    return value if value.dtype.kind == "f" else value.astype(np.float64)


def whole_numbers(value):
    if not are_whole(value):
        return value
    return value.long() if isinstance(value, torch.Tensor) else value.astype(np.int64)


def small_whole_numbers(value):
    if isinstance(value, torch.Tensor):
        return value if value.is_floating_point() or value.dtype == torch.bool else value.to(torch.uint8)
    return value.astype(np.uint8) if value.dtype.kind == "i" else value


def booleans(value):
    if not are_whole(value) or not ((value == 0) | (value == 1)).all():
        return value
    return value.bool() if isinstance(value, torch.Tensor) else value.astype(bool)


def squeezed(value):
    return value.squeeze()


def one_axis_more(value):
    return value[None]


CHANGES = {
    floats: (),
    whole_numbers: ("numpy", "plain"),
    small_whole_numbers: (),
    booleans: ("numpy", "plain"),
    squeezed: (),
    one_axis_more: (),
}
"""How results are changed, and the frames in which that is allowed: numpy multiplies floats with any numbers."""


class Changed:
    """A published solution with its results changed; ``seen`` says whether there was anything to change."""

    def __init__(self, task: Task, change: Callable[[Any], Any]) -> None:
        self.function, self.change, self.seen, self.__name__ = answer(variant_of(task)), change, False, task.name

    def __call__(self, *args: Any) -> Any:
        result = self.function(*args)
        return tuple(map(self._one, result)) if isinstance(result, tuple) else self._one(result)

    def _one(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor | np.ndarray) or value.ndim == 0:
            return value
        new = self.change(value)
        self.seen |= new.dtype != value.dtype or new.shape != value.shape
        return new


class ForSome(Changed):
    """A published solution that raises an exception, or does harm, for some inputs; ``change`` says which harm."""

    def __call__(self, *args: Any) -> Any:
        before, result = [_copy(arg) for arg in args], self.function(*args)
        new = self.change(self, args, result)
        self.seen |= any(not _equal(first, second) for first, second in zip(before, args, strict=True))
        return new


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return value.copy() if isinstance(value, np.ndarray) else value


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, torch.Tensor):
        return torch.equal(first, second.detach())
    return np.array_equal(first, second) if isinstance(first, np.ndarray) else True


def refuses_axes_of_one(self, args, result):
    if any(1 in arg.shape for arg in args if isinstance(arg, torch.Tensor | np.ndarray)):
        raise ValueError("an axis of length 1")
    self.seen |= any(arg.ndim > 0 for arg in args if isinstance(arg, torch.Tensor | np.ndarray))
    return result


def knows_the_first_sizes_alone(self, args, result):
    shapes = [getattr(array, "shape", ()) for array in (result if isinstance(result, tuple) else (result,))]
    self.shapes = getattr(self, "shapes", shapes)
    if shapes != self.shapes:
        raise ValueError("other sizes")
    self.seen |= any(shapes)
    return result


def changes_an_input(self, args, result):
    for arg in args:
        if isinstance(arg, torch.Tensor | np.ndarray) and 0 not in arg.shape and not getattr(arg, "requires_grad", 0):
            if str(arg.dtype).rpartition(".")[2].startswith(("float", "int")):
                arg += 1
                break
    return result


SOME = {
    refuses_axes_of_one: {
        *{"01.pairs", "09.find-leak", "09.find-dropout", "10.beam", "90.greedy"},
        *{"19.all-reduce", "19.broadcast", "19.heads", "19.reduce-scatter"},
        "20.loss-mask",
    },
    knows_the_first_sizes_alone: {"20.paired", "20.kl"},
    changes_an_input: set(),
}
"""What is done, and the tasks that may take it: nothing there has length 1, or the result always has one shape."""


def passed(make: Callable[[Task], Changed]) -> set[str]:
    """The tasks that take what is made of their solutions, though it can be told from them."""
    task_ids = set()
    for task in FUNCTIONS:
        spoiled, task_questions = make(task), asked_at_home(task)
        pairs = zip(task_questions.cases, task_questions.rights, strict=True)
        if all(is_right(case, answered(spoiled, task, case), right) for case, right in pairs) and spoiled.seen:
            task_ids.add(task.id)
    return task_ids


@pytest.mark.one_in(6)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_results_of_another_kind_or_shape_are_not_right(change):
    task_ids = passed(lambda task: Changed(task, change))
    print(f"{change.__name__}: taken by {', '.join(sorted(task_ids)) or 'no task'}")
    assert {task.id for task in FUNCTIONS if task.id in task_ids and task.frame not in CHANGES[change]} == set()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("harm", SOME, ids=lambda harm: harm.__name__)
def test_answers_that_hold_for_some_inputs_alone_are_not_right(harm):
    task_ids = passed(lambda task: ForSome(task, harm))
    print(f"{harm.__name__}: taken by {', '.join(sorted(task_ids)) or 'no task'}")
    may = {task.id for task in FUNCTIONS if asked_at_home(task).cases[0].world} if harm is changes_an_input else set()
    assert task_ids <= SOME[harm] | may  # a rank may add into what it is handed
