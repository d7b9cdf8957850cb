"""Calls of stand-ins: whether the student's own function would have given the same."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from softlookup_inside.asking.answers import is_tensor
from softlookup_inside.asking.case import Arrays, Case
from softlookup_inside.asking.probe import Answer
from softlookup_judge.data.compare import inputs_of, same
from softlookup_judge.data.variant import Variant
from softlookup_judge.judging.oracle import results_of


@dataclass(frozen=True)
class Call:
    """A call of a stand-in, with plain values and arrays; its result, or gradients where ``upstream`` is there."""

    variant: Variant
    args: Sequence[Any]
    result: Any
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    upstream: np.ndarray | None = None

    def question(self, frame: str) -> tuple[Case, Arrays] | None:
        """The question that asks the student's own function for the same, and the result; None where there is none."""
        task = self.variant.task
        order = list(self.variant.parameters)[len(self.args) :]
        args = (*self.args, *(self.kwargs[name] for name in order if name in self.kwargs))
        plain_args = tuple(plain(arg) for arg in args)
        case = Case("", plain_args, frame="text" if task.frame == "text" else frame)
        if task.layer is not None:
            sizes = task.layer.sizes
            case = replace(case, sizes=sizes, parameters=tuple(task.layer.names(plain_args[:sizes])))
        if self.upstream is None:
            return case, results_of(self.result, task)
        grads = [(at, grad) for at, grad in enumerate(self.result) if grad is not None]
        if len(task.returns) > 1 or not grads:
            return None
        case = replace(case, gradients=tuple(at for at, _ in grads), upstream=self.upstream)
        return case, tuple(np.asarray(grad) for _, grad in grads)


def plain(value: Any) -> Any:
    """A copy of an argument that no later step of the student's changes; tensors as numpy arrays."""
    if is_tensor(value):
        value = value.detach().cpu().numpy()
    return np.array(value) if isinstance(value, np.ndarray) else copy.deepcopy(value)


def differs(case: Case, answer: Answer, reference_results: Arrays) -> bool:
    """Whether the student's own function gave something else than the lent one, or lost the dtype that it kept."""
    if answer.arrays is None or not same(answer.arrays, reference_results, case):
        return True
    floats = {array.dtype for array in inputs_of(case) if array.dtype.kind == "f"}
    return any(
        expected.dtype in floats and got.dtype not in floats
        for got, expected in zip(answer.arrays, reference_results, strict=True)
    )
