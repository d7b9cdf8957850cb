"""A student whose answers come from a function in the same process, and what stands in for functions that failed."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np

from softlookup_inside.asking.calm import gradients_as_before
from softlookup_inside.asking.case import Case
from softlookup_inside.asking.gates import opened
from softlookup_inside.asking.layers import called_like, layer_around
from softlookup_inside.asking.probe import Answer, Clock, run
from softlookup_inside.asking.source import functions_behind, names_in, reached, standing_in
from softlookup_judge.checking.judge import judge
from softlookup_judge.data.variant import Variant, variant_of
from softlookup_judge.judging.calls import Call, differs, plain
from softlookup_judge.judging.oracle import expected_results, right_answer
from softlookup_judge.judging.questions import questions_at_home


def stand_in(variant: Variant, asking: str = "") -> Callable[..., Any]:
    """A reference function in place of a student's own, for tensors and arrays; arguments that it lacks are dropped."""
    import torch

    in_torch = variant.task.frame == "torch"
    usual = "torch" if in_torch else "numpy"
    parameters = variant.parameters
    some = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())

    def turn(value: Any, frame: str = usual) -> Any:
        if frame == "torch" and isinstance(value, np.ndarray):
            return torch.from_numpy(value)
        if frame == "numpy" and isinstance(value, torch.Tensor):
            return value.detach().numpy()
        return value

    @wraps(variant.task.oracle)
    def call(*args: Any, **kwargs: Any) -> Any:
        known = {name: turn(value) for name, value in kwargs.items() if name in parameters}
        inputs = (*args, *kwargs.values())
        result = right_answer(variant, *map(turn, args if some else args[: len(parameters)]), **known)
        many = tuple(_like(r, inputs) for r in (result if isinstance(result, tuple) else (result,)))
        if in_torch and any(isinstance(a, np.ndarray) for a in inputs):
            many = tuple(r.numpy() for r in many)
        if not in_torch and any(isinstance(a, torch.Tensor) for a in inputs):
            many = tuple(torch.from_numpy(np.asarray(r)) for r in many)
        if not any(isinstance(a, np.ndarray | torch.Tensor) for a in inputs):
            many = tuple(turn(r, asking) for r in many)
        return many if isinstance(result, tuple) else many[0]

    return call


def _like(result: Any, inputs: Sequence[Any]) -> Any:
    """A result with the precision of the numbers that were given, as a student's own would have it."""
    import torch

    floats = [str(a.dtype).removeprefix("torch.") for a in inputs if isinstance(a, np.ndarray | torch.Tensor)]
    dtype = next((name for name in floats if name.startswith("float")), "")
    if isinstance(result, torch.Tensor) and result.is_floating_point() and dtype:
        return result.to(getattr(torch, dtype))
    if isinstance(result, np.ndarray) and result.dtype.kind == "f" and dtype:
        return result.astype(dtype, copy=False)
    return result


def _cells_of(obj: Any) -> set[str]:
    """The cells that something was written in; what only wraps it was not."""
    return {f.__code__.co_filename for f in functions_behind(obj) if not hasattr(f, "__wrapped__")}


class LocalStudent:
    """Answers from an object in this process; ``known`` are the variants of earlier tasks, ``clock`` times its code."""

    def __init__(
        self,
        variant: Variant,
        obj: Callable[..., Any],
        known: Mapping[str, Variant] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.obj, self.barred = obj, variant.task.barred
        self.clock = clock or Clock(None)
        self.known = known or {}
        before = [task for task in variant.task.earlier if task.prepared is None]
        self.earlier = {task.name: self.known.get(task.id) or variant_of(task) for task in before}
        self.functions: dict[str, Any] = {}
        self.rounds: list[tuple[Case, list[Call]]] = []

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        """Ids of earlier tasks whose functions the answer calls from other cells: those that fail, or all."""
        cells = _cells_of(self.obj)
        functions = reached(self.obj)
        stand_in_ids = []
        for name, variant in self.earlier.items():
            callers = [f for f in functions if name in names_in(f)]
            called = [f.__globals__.get(name) for f in callers]
            if callers and not any(inspect.isfunction(g) and _cells_of(g) & cells for g in called):
                if sound_too or not self.passes(variant, called[0]):
                    stand_in_ids.append(variant.task.id)
        return tuple(stand_in_ids)

    def ask(self, case: Case, results: int, lent: tuple[str, ...] = ()) -> Answer:
        """Call the object on one case, with sound functions in place of those of some earlier tasks."""
        chosen = {name: earlier for name, earlier in self.earlier.items() if earlier.task.id in lent}
        stand_ins = {name: partial(self._instead, earlier, case) for name, earlier in chosen.items()}
        self.rounds.append((case, []))
        instead = standing_in(self.obj, stand_ins) if stand_ins else nullcontext()
        with instead:
            return self._timed(self.obj, case, results, self.barred)

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """Call the object on one case after the other."""
        self.rounds = []
        return (self.ask(case, results, lent) for case in cases)

    def differed(self, at: int) -> bool:
        """Whether a lent function gave something else than the student's own would have, in one case."""
        case, calls = self.rounds[at]
        return any(self._gives_another(call, case) for call in calls)

    def _gives_another(self, call: Call, asked_case: Case) -> bool:
        variant, task = call.variant, call.variant.task
        question = call.question(asked_case.frame)
        if question is None:
            return True
        case, reference_results = question
        answer = self._timed(self.functions[task.id], case, len(task.returns), task.barred)
        if differs(case, answer, reference_results):
            return True
        floats = tuple(at for at, arg in enumerate(case.args) if isinstance(arg, np.ndarray) and arg.dtype.kind == "f")
        if not (asked_case.gradients or asked_case.descends) or len(task.returns) > 1 or not floats:
            return False
        case = replace(case, gradients=floats, upstream=np.ones(reference_results[0].shape))
        answer = self._timed(self.functions[task.id], case, 1, task.barred)
        return differs(case, answer, expected_results(variant, case))

    def _timed(self, obj: Any, case: Case, results: int, barred: tuple[str, ...]) -> Answer:
        """Call an object of the student's while the clock runs."""
        with gradients_as_before(), self.clock.running():
            return run(obj, case, results, barred)

    def _instead(self, variant: Variant, case: Case, function: Any) -> Any:
        """What stands in for a function of the student's, and notes each call."""
        task, calls = variant.task, self.rounds[-1][1]
        self.functions[task.id] = function
        reference = self.reference_function(variant, case)

        @wraps(reference)
        def call(*args: Any, **kwargs: Any) -> Any:
            copies = [plain(arg) for arg in args], {name: plain(arg) for name, arg in kwargs.items()}
            with self.clock.halted(), opened():
                result = reference(*args, **kwargs)
            calls.append(Call(variant, copies[0], result, copies[1]))
            return result

        return layer_around(function, call, task.layer) if task.layer else called_like(function, call)

    def passes(self, variant: Variant, function: Any) -> bool:
        """Whether a function of the student's is right by itself, whichever variant it was asked for."""
        if not callable(function):
            return False
        task = variant.task
        possible = [variant] if task.id in self.known else [variant_of(task, n) for n in range(len(task.variants))]

        def is_right(variant: Variant) -> bool:
            student = LocalStudent(variant, function, self.known, self.clock)
            return judge(variant, student, task_questions=questions_at_home(variant), names=False).verdict == "pass"

        return any(map(is_right, possible))

    def reference_function(self, variant: Variant, case: Case) -> Callable[..., Any]:
        """A sound function of an earlier task, for one question."""
        return stand_in(variant, case.frame)
