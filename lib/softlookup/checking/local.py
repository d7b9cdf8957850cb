"""A student whose answers come from a function in the same process, and what stands in for functions that failed."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np

from softlookup.checking.calls import Call, differs, plain
from softlookup.checking.inside.case import Case
from softlookup.checking.inside.gates import opened
from softlookup.checking.inside.layers import called_like, layer_around
from softlookup.checking.inside.limits import Clock
from softlookup.checking.inside.probe import Answer, run
from softlookup.checking.inside.source import functions_behind, names_in, reached, standing_in
from softlookup.checking.judge import judge, questions_at_home
from softlookup.checking.oracle import wanted
from softlookup.checking.variant import Variant, variant_of


def stand_in(variant: Variant, asking: str = "") -> Callable[..., Any]:
    """A sound function in place of a student's own, for torch tensors and numpy arrays alike.

    Arguments that the task does not speak of (an extra ``dim=-1``) are left aside.

    Args:
        variant: The task whose function is lent, as the notebook asks for it.
        asking: The frame of the question meanwhile: given numbers alone, the function gives what is used there.
    """
    import torch

    in_torch = variant.task.frame == "torch"
    own = "torch" if in_torch else "numpy"
    parameters = variant.parameters
    some = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())

    def turn(value: Any, frame: str = own) -> Any:
        if frame == "torch" and isinstance(value, np.ndarray):
            return torch.from_numpy(value)
        if frame == "numpy" and isinstance(value, torch.Tensor):
            return value.detach().numpy()
        return value

    @wraps(variant.task.oracle)
    def call(*args: Any, **named: Any) -> Any:
        kept = {name: turn(value) for name, value in named.items() if name in parameters}
        given = (*args, *named.values())
        result = variant.oracle(*map(turn, args if some else args[: len(parameters)]), **kept)
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


def _cells_of(obj: Any) -> set[str]:
    """The cells that something was written in; what only wraps it was not."""
    return {f.__code__.co_filename for f in functions_behind(obj) if not hasattr(f, "__wrapped__")}


class LocalStudent:
    """Answers from an object in this process.

    Args:
        variant: What is asked.
        obj: The answer.
        known: Which variants the notebook asks for in earlier tasks, by id, as far as that is known.
        clock: How long the student's code may take altogether; the judge's own work does not count.
    """

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
        before = (one for one in variant.task.earlier if one.prepared is None)
        self.earlier = {one.name: self.known.get(one.id) or variant_of(one) for one in before}
        self.own: dict[str, Any] = {}
        self.rounds: list[tuple[Case, list[Call]]] = []

    def lendable(self, sound_too: bool = False) -> tuple[str, ...]:
        """Ids of the earlier tasks whose functions the answer calls, each from its cell: those that fail, or all.

        A function of that name that stands in the same cell is a part of this answer, and is not replaced.
        """
        functions = reached(self.obj)
        cells = _cells_of(self.obj)
        lent = []
        for name, variant in self.earlier.items():
            callers = [f for f in functions if name in names_in(f)]
            own = [f.__globals__.get(name) for f in callers]
            if callers and not any(inspect.isfunction(g) and _cells_of(g) & cells for g in own):
                if sound_too or not self.passes(variant, own[0]):
                    lent.append(variant.task.id)
        return tuple(lent)

    def ask(self, case: Case, results: int, lent: tuple[str, ...] = ()) -> Answer:
        """Call the object on one case, with sound functions in place of those of some earlier tasks."""
        sound = {name: partial(self._instead, one, case) for name, one in self.earlier.items() if one.task.id in lent}
        self.rounds.append((case, []))
        with standing_in(self.obj, sound):
            return self._run(self.obj, case, results, self.barred)

    def _run(self, obj: Any, case: Case, results: int, barred: tuple[str, ...]) -> Answer:
        """Call something of the student's, on the student's clock."""
        with self.clock.running():
            return run(obj, case, results, barred)

    def answers(self, cases: Sequence[Case], results: int, lent: tuple[str, ...] = ()) -> Iterator[Answer]:
        """Call the object on one case after the other."""
        self.rounds = []
        return (self.ask(case, results, lent) for case in cases)

    def differed(self, at: int) -> bool:
        """Whether a lent function gave something else than the student's own would have, in one case."""
        asked, calls = self.rounds[at]
        return any(self._gives_another(call, asked) for call in calls)

    def _gives_another(self, call: Call, asked: Case) -> bool:
        variant, task = call.variant, call.variant.task
        put = call.question(asked.frame)
        if put is None:
            return True
        case, sound = put
        if differs(case, self._run(self.own[task.id], case, len(task.returns), task.barred), sound):
            return True
        floats = tuple(at for at, one in enumerate(case.args) if isinstance(one, np.ndarray) and one.dtype.kind == "f")
        if not (asked.gradients or asked.descends) or len(task.returns) > 1 or not floats:
            return False
        case = replace(case, gradients=floats, upstream=np.ones(sound[0].shape))
        own = self._run(self.own[task.id], case, 1, task.barred)
        return differs(case, own, wanted(variant, case))

    def _instead(self, variant: Variant, asked: Case, own: Any) -> Any:
        """What stands in for a function of the student's, and notes each call."""
        task, calls = variant.task, self.rounds[-1][1]
        self.own[task.id] = own
        sound = self.sound(variant, asked)

        @wraps(sound)
        def call(*args: Any, **named: Any) -> Any:
            given = [plain(one) for one in args], {name: plain(one) for name, one in named.items()}
            with self.clock.halted(), opened():
                result = sound(*args, **named)
            calls.append(Call(variant, given[0], result, given[1]))
            return result

        return layer_around(own, call, task.layer) if task.layer else called_like(own, call)

    def passes(self, variant: Variant, own: Any) -> bool:
        """Whether a function of the student's is right by itself, whichever variant it was asked for."""
        if not callable(own):
            return False
        task = variant.task
        possible = [variant] if task.id in self.known else [variant_of(task, n) for n in range(len(task.variants))]
        return any(
            judge(
                one, LocalStudent(one, own, self.known, self.clock), asked=questions_at_home(one), names=False
            ).verdict
            == "pass"
            for one in possible
        )

    def sound(self, variant: Variant, asked: Case) -> Callable[..., Any]:
        """A sound function of an earlier task, for one question."""
        return stand_in(variant, asked.frame)
