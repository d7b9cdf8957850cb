"""Published solutions on inputs of other kinds: not contiguous, whole numbers of 32 bits, very small and very large.

What a published solution cannot take, no student has to: the sets below are what texts may not promise.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from softlookup_judge.data.compare import is_right
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results
from test_kinds_and_shapes import FUNCTIONS, answered, asked_at_home


def not_contiguous(value: Any) -> Any:
    """The same numbers, stored so that no axis lies densely; gradients flow through."""
    if isinstance(value, torch.Tensor):
        return torch.stack([value, value], dim=-1)[..., 0]
    return np.stack([value, value], axis=-1)[..., 0] if isinstance(value, np.ndarray) else value


def short_whole_numbers(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.int() if value.dtype == torch.int64 else value
    return value.astype(np.int32) if isinstance(value, np.ndarray) and value.dtype == np.int64 else value


def fed(task, change):
    """The published solution, with its inputs changed before it sees them."""
    function = answer(variant_of(task))

    def changed(*args):
        return function(*map(change, args))

    changed.__name__ = task.name
    return changed


CANNOT = {
    # What a rank sends lies in one piece, as for torch.distributed; these send their inputs as they are.
    not_contiguous: {"19.all-reduce", "19.fsdp", "19.reduce-scatter"},
    # Token ids are 64 bits wide where torch's own functions ask for it; these index or compare by dtype.
    short_whole_numbers: {"01.pairs", "06.probe", "09.find-leak"},
}
"""How inputs are changed, and the tasks whose published solution cannot take that."""


@pytest.mark.parametrize("change", CANNOT, ids=lambda change: change.__name__)
def test_published_solutions_take_inputs_stored_in_other_ways(change):
    task_ids = set()
    for task in FUNCTIONS:
        task_questions = asked_at_home(task)
        solution = fed(task, change)
        for case, right in zip(task_questions.cases, task_questions.rights, strict=True):
            if not is_right(case, answered(solution, task, case), right):
                task_ids.add(task.id)
    assert task_ids == CANNOT[change]


def scaled(case, factor):
    floats = [isinstance(arg, np.ndarray) and arg.dtype.kind == "f" for arg in case.args]
    args = tuple(
        arg.astype(np.float64) * factor if is_float else arg for arg, is_float in zip(case.args, floats, strict=True)
    )
    is_asked = any(floats) and not case.gradients and case.limits is None  # float64 costs twice the bytes
    return replace(case, args=args) if is_asked else None


BEYOND = {
    1e-6: {
        *{"02.similarity", "02.analogy", "13.zero-shot"},  # lengths below those that may come
        *{"09.find-dropout", "14.moved"},  # rates of dropout, a threshold
        *{"15.accept", "15.speculate"},  # probabilities
    },
    1e4: {
        *{"15.accept", "15.delta"},  # probabilities, decays
        *{"05.dropout", "09.find-dropout", "10.score", "90.train"},  # random numbers, rates, exponents, steps
        *{"04.softmax-backward", "07.layer-norm-backward", "13.linear", "13.step"},  # large terms that cancel
    },
}
"""By which factor all floats are multiplied (in float64), and the tasks that it leaves without a sound question."""


@pytest.mark.parametrize("factor", BEYOND)
def test_published_solutions_agree_with_the_oracle_at_other_magnitudes(factor):
    task_ids, compared = set(), 0
    for task in FUNCTIONS:
        for case in asked_at_home(task).cases:
            other = scaled(case, factor)
            if other is None:
                continue
            try:
                right = expected_results(variant_of(task), other)
            except Exception:
                continue  # not a question: the oracle refuses it
            compared += 1
            if not is_right(other, answered(answer(variant_of(task)), task, other), right):
                task_ids.add(task.id)
    assert compared > 100
    assert task_ids == BEYOND[factor]
