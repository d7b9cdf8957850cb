"""The published programs of chapter 19 give on real processes what they give here, and what is right."""

import copy
from typing import Any

import numpy as np
import pytest

from softlookup.ranks.in_process import as_results, run_here
from softlookup.ranks.on_torch import run_on_torch
from softlookup_inside.asking.calling import inputs_for
from softlookup_inside.ranks.packing import pack_inbox
from softlookup_judge.checking.catalogue import tasks
from softlookup_judge.data.published import answer
from softlookup_judge.data.variant import variant_of
from softlookup_judge.judging.oracle import expected_results
from softlookup_judge.judging.questions import questions_at_home
from softlookup_judge.judging.ranks import rank_question

PROGRAMS = [
    (task, case) for task in tasks(19) for case in questions_at_home(variant_of(task)).cases if case.world in (2, 3, 4)
]
WORLDS = sorted({case.world for _, case in PROGRAMS})


def test_every_task_with_ranks_is_compared() -> None:
    rank_tasks = {task.id for task in tasks(19) if questions_at_home(variant_of(task)).cases[0].world}
    assert rank_tasks and rank_tasks == {task.id for task, _ in PROGRAMS}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("world", WORLDS)
def test_published_programs_give_the_same_on_torch_as_here(world: int) -> None:
    some = [(answer(variant_of(task), ()), task, case) for task, case in PROGRAMS if case.world == world]
    inputs = [[inputs_for(rank_question(case, rank, pack_inbox({}))) for _, _, case in some] for rank in range(world)]

    def all_programs(*args: Any) -> tuple[np.ndarray, ...]:
        """One after the other, so that processes are started once."""
        *each, dist = args
        return tuple(
            result
            for (function, _, _), arguments in zip(some, copy.deepcopy(each), strict=True)
            for result in as_results(function(*arguments, dist))
        )

    here, there = run_here(all_programs, inputs).results, run_on_torch(all_programs, inputs)
    at = 0
    for _, task, case in some:
        count = len(task.returns) - 1
        *expected, _ = expected_results(variant_of(task), case)
        for rank in range(world):
            rights = expected[rank * count : (rank + 1) * count]
            trio = zip(here[rank][at : at + count], there[rank][at : at + count], rights, strict=True)
            for on_numpy, on_torch, right in trio:
                np.testing.assert_allclose(on_torch, on_numpy, rtol=1e-5, atol=1e-5, err_msg=task.id)
                np.testing.assert_allclose(on_torch, right, rtol=1e-3, atol=1e-4, err_msg=task.id)
        at += count
    assert at == len(there[0])
