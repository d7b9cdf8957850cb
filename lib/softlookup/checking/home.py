"""``check``: judge an answer in the student's own process, at once."""

import inspect
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np

from softlookup.checking.calls import Call, differs, plain
from softlookup.checking.helping import Hint, next_step, noted, tries
from softlookup.checking.inside.case import Case
from softlookup.checking.inside.gates import opened
from softlookup.checking.inside.layers import called_like, layer_around
from softlookup.checking.inside.limits import calm_torch, time_limit
from softlookup.checking.inside.probe import Answer, TimeIsUp, inputs_for, run
from softlookup.checking.inside.source import cell_hash, functions_behind, names_in, reached, shortcut, standing_in
from softlookup.checking.judge import HOME_SEED, draw, judge, no_points, questions_at_home, used_shortcut
from softlookup.checking.oracle import wanted
from softlookup.checking.registry import UnknownTask, earlier, get_task, tasks
from softlookup.checking.result import CheckResult
from softlookup.checking.task import Task
from softlookup.checking.whole import compositions, first_failing

TIME_LIMIT_S = 10.0
"""How long one check may take at home, where the system can tell (not on Windows)."""


def stand_in(task: Task, asking: str = "") -> Callable[..., Any]:
    """A sound function in place of a student's own, for torch tensors and numpy arrays alike.

    Arguments that the task does not speak of (an extra ``dim=-1``) are left aside.

    Args:
        task: The task whose function is lent.
        asking: The frame of the question meanwhile: given numbers alone, the function gives what is used there.
    """
    import torch

    in_torch = task.frame == "torch"
    own = "torch" if in_torch else "numpy"
    parameters = task.parameters
    some = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())

    def turn(value: Any, frame: str = own) -> Any:
        if frame == "torch" and isinstance(value, np.ndarray):
            return torch.from_numpy(value)
        if frame == "numpy" and isinstance(value, torch.Tensor):
            return value.detach().numpy()
        return value

    @wraps(task.oracle)
    def call(*args: Any, **named: Any) -> Any:
        kept = {name: turn(value) for name, value in named.items() if name in parameters}
        given = (*args, *named.values())
        result = task.oracle(*map(turn, args if some else args[: len(parameters)]), **kept, **task.variants[0])
        many = tuple(_like(r, given) for r in (result if isinstance(result, tuple) else (result,)))
        if in_torch and any(isinstance(a, np.ndarray) for a in given):
            many = tuple(r.numpy() for r in many)
        if not in_torch and any(isinstance(a, torch.Tensor) for a in given):
            many = tuple(torch.from_numpy(np.asarray(r)) for r in many)
        if not any(isinstance(a, np.ndarray | torch.Tensor) for a in given):
            many = tuple(turn(r, asking) for r in many)
        return many if isinstance(result, tuple) else many[0]

    return call


def _like(result: Any, given: Sequence[Any]) -> Any:
    """A result with the precision of the numbers that were given, as a student's own would have it."""
    import torch

    floats = [str(a.dtype).removeprefix("torch.") for a in given if isinstance(a, np.ndarray | torch.Tensor)]
    wanted = next((one for one in floats if one.startswith("float")), "")
    if isinstance(result, torch.Tensor) and result.is_floating_point() and wanted:
        return result.to(getattr(torch, wanted))
    if isinstance(result, np.ndarray) and result.dtype.kind == "f" and wanted:
        return result.astype(wanted, copy=False)
    return result


class LocalStudent:
    """Answers from an object in this process."""

    def __init__(self, task: Task, obj: Callable[..., Any]) -> None:
        self.obj, self.barred = obj, task.barred
        self.earlier = {one.name: one for one in earlier(task)}
        self.own: dict[str, Any] = {}
        self.rounds: list[tuple[Case, list[Call]]] = []

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        """Ids of the earlier tasks whose functions the answer calls, each from its cell: those that fail, or all.

        A function of that name that stands in the same cell is a part of this answer, and is not replaced.
        """
        functions = reached(self.obj)
        cells = {f.__code__.co_filename for f in functions_behind(self.obj)}
        lent = []
        for name, task in self.earlier.items():
            callers = [f for f in functions if name in names_in(f)]
            own = [f.__globals__.get(name) for f in callers]
            if callers and not any(inspect.isfunction(g) and g.__code__.co_filename in cells for g in own):
                if sound_too or not _passes(task, own[0]):
                    lent.append(task.id)
        return tuple(lent)

    def ask(self, case: Case, results: int, lent: tuple[str, ...] = ()) -> Answer:
        """Call the object on one case, with sound functions in place of those of some earlier tasks."""
        sound = {name: partial(self._instead, task, case) for name, task in self.earlier.items() if task.id in lent}
        self.rounds.append((case, []))
        with standing_in(self.obj, sound):
            return run(self.obj, case, results, self.barred)

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """Call the object on one case after the other."""
        self.rounds = []
        return (self.ask(case, results, lent) for case in cases)

    def differed(self, at: int) -> bool:
        """Whether a lent function gave something else than the student's own would have, in one case."""
        asked, calls = self.rounds[at]
        return any(self._gives_another(call, asked) for call in calls)

    def _gives_another(self, call: Call, asked: Case) -> bool:
        task = call.task
        put = call.question(asked.frame)
        if put is None:
            return True
        case, sound = put
        if differs(case, run(self.own[task.id], case, len(task.returns), task.barred), sound):
            return True
        floats = tuple(at for at, one in enumerate(case.args) if isinstance(one, np.ndarray) and one.dtype.kind == "f")
        if not (asked.gradients or asked.descends) or len(task.returns) > 1 or not floats:
            return False
        case = replace(case, gradients=floats, upstream=np.ones(sound[0].shape))
        own = run(self.own[task.id], case, 1, task.barred)
        return differs(case, own, wanted(task, case, task.variants[0]))

    def _instead(self, task: Task, asked: Case, own: Any) -> Any:
        """What stands in for a function of the student's, and notes each call."""
        self.own[task.id] = own
        sound, calls = stand_in(task, asked.frame), self.rounds[-1][1]

        @wraps(sound)
        def call(*args: Any, **named: Any) -> Any:
            given = [plain(one) for one in args], {name: plain(one) for name, one in named.items()}
            with opened():
                result = sound(*args, **named)
            calls.append(Call(task, given[0], result, given[1]))
            return result

        return layer_around(own, call, task.layer) if task.layer else called_like(own, call)


def _passes(task: Task, own: Any) -> bool:
    """Whether a student's function is right by itself, whichever variant it was asked for."""
    if not callable(own):
        return False
    student = LocalStudent(task, own)
    return any(
        judge(task, student, variant=n, asked=questions_at_home(task, n)).verdict == "pass"
        for n in range(len(task.variants))
    )


def not_callable(task: Task, kind: str, variant: int) -> CheckResult:
    """The result where something else than a function was handed over."""
    said = f"Hand over the function `{task.name}` itself, without calling it: check got {kind}."
    return no_points(task, "wrong", said, variant)


def too_slow(task: Task, seconds: float, variant: int) -> CheckResult:
    """The result where an answer did not come back."""
    said = f"Your function was still running after {seconds:g} s and was stopped. Is there a loop that never ends?"
    return no_points(task, "timeout", said, variant)


def our_mistake(error: Exception) -> str:
    """What to say where the judge itself failed: the student did nothing wrong, and somebody has to know."""
    return (
        "The grader made a mistake while it judged this task, and the task has no verdict: tell your instructor. "
        f"It ended with {type(error).__name__}."
    )


def _number(variant: Any, task: Task) -> int | None:
    """The variant as a number, None if there is no such variant."""
    try:
        number = operator.index(variant)
    except TypeError:
        return None
    return number if 0 <= number < len(task.variants) else None


def check(task_id: str, obj: Any, *, variant: int = 0) -> CheckResult:
    """Check an answer and say what is right, what is not, and which mistake it was.

    Args:
        task_id: The task, "04.scale".
        obj: Your function (or class), not the result of calling it.
        variant: Which variant of the task your notebook asks for; it is in the notebook already.

    Returns:
        The result. In a notebook it shows itself; in a terminal ``print(result.text())`` does. A wrong answer, an
        exception in it, an interruption or an unknown task gives a result too, never an exception.

    Book: 00_before_you_start_running.html#before-check.

    >>> check("04.spread", lambda head_width, sigma_q, sigma_k: head_width**0.5 * sigma_q * sigma_k).verdict
    'pass'
    """
    try:
        task = get_task(task_id)
    except UnknownTask as error:
        said = f"Did you mean {error.near}?"
        return CheckResult(str(task_id), "", 0.0, 0.0, "unknown", sentences=(said,))
    number = _number(variant, task)
    if number is None:
        said = f"There is no variant {variant!r} of this task; it has {len(task.variants)}, counted from 0."
        return no_points(task, "error", said)
    if not callable(obj):
        return not_callable(task, type(obj).__name__, number)
    result = replace(_judged(task, obj, number), answer=cell_hash(obj))
    try:
        return _whole(task, noted(task, LocalStudent(task, obj), result))
    except (Exception, TimeIsUp):  # what is added must not take the verdict with it
        return result


class _Alone(LocalStudent):
    """A student to whom nothing is lent."""

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        return ()


def _whole(task: Task, result: CheckResult) -> CheckResult:
    """Where this was the last task of its notebook to be right, the same with a sentence on all functions together."""
    every = {one.id: tries(one.id) for one in tasks(task.chapter)}
    if not compositions(task.chapter) or not all(one.passed for one in every.values()):
        return result
    own = {name: one.student.obj for name, one in every.items() if isinstance(one.student, LocalStudent)}
    variants = {name: one.variant for name, one in every.items()}
    with calm_torch(), time_limit(TIME_LIMIT_S):
        failing = first_failing(task.chapter, own, _Alone, variants)
    if failing is None:
        said = f"All {len(every)} tasks of this notebook are right, and your functions work together."
    else:
        said = (
            "Each task is right by itself, but your functions do not work together. The published solution of task "
            f"{failing.task_id}, with your functions in it: {failing.message}"
        )
    return replace(result, sentences=(*result.sentences, said))


def hint(task_id: str, *, variant: int | None = None) -> Hint:
    """Give the next step of help on a task: a nudge, the formula, a worked example, one solution.

    Args:
        task_id: The task, "04.scale".
        variant: Which variant of the task your notebook asks for; None takes that of the last check.

    Returns:
        The step, which shows itself in a notebook. What was asked for is kept with the next verdict. Once the task is
        right, it shows the published answer and another way to write it.

    Raises:
        UnknownTask: If there is no such task.
        ValueError: If the task has no such variant.

    Book: 00_before_you_start_running.html#before-check.
    """
    task = get_task(task_id)
    number = None if variant is None else _number(variant, task)
    if number is None and variant is not None:
        raise ValueError(f"{task_id} has no variant {variant!r}; it has {len(task.variants)}, counted from 0")
    return next_step(task, number)


def inputs(task_id: str, number: int, variant: int = 0) -> tuple[Any, ...]:
    """The inputs of one of the questions that ``check`` asks, as a student's function gets them.

    Args:
        task_id: The task, "04.scale".
        number: Which question, counted from 0; a verdict on an answer without a known mistake names it.
        variant: Which variant of the task.

    Returns:
        The arguments: tensors, arrays, numbers or text.

    Raises:
        UnknownTask: If there is no such task.
        IndexError: If there is no such question.

    Book: 00_before_you_start_running.html#before-check.
    """
    task = get_task(task_id)
    return tuple(inputs_for(draw(task, HOME_SEED, variant)[number]))


def _with_inputs(task: Task, result: CheckResult) -> CheckResult:
    """The same result, with an expression that makes the inputs of the shown case again."""
    variant = f", variant={result.variant}" * bool(result.variant)
    return replace(result, again=f'inputs("{task.id}", {result.question}{variant})') if result.asked else result


def _judged(task: Task, obj: Any, number: int) -> CheckResult:
    """The verdict on an answer that can be called."""
    stop = frozenset(other.name for other in tasks(task.chapter) if other.id != task.id)
    used = shortcut(obj, task.barred, stop)
    if used:
        return used_shortcut(task, used, number)
    started = time.monotonic()
    try:
        with calm_torch(), time_limit(TIME_LIMIT_S):
            asked = questions_at_home(task, number)
            return _with_inputs(task, judge(task, LocalStudent(task, obj), variant=number, asked=asked))
    except TimeIsUp:
        return too_slow(task, TIME_LIMIT_S, number)
    except KeyboardInterrupt:
        said = f"You interrupted it after {time.monotonic() - started:.0f} s, while your function was running."
        return no_points(task, "stopped", said, number)
    except Exception as error:  # an exception of the student's is an answer; what comes up to here is ours
        return no_points(task, "error", our_mistake(error), number)
