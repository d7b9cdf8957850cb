"""What chapter 19 promises of its tasks as a whole: variants change code and text, and limits are what is needed."""

import numpy as np
import pytest

from published import ROOT, constants_of
from softlookup.authoring import read_solution
from softlookup.checking import tasks
from softlookup.checking.inside.calling import inputs_for
from softlookup.checking.published import answer, solution
from softlookup.checking.questions import draw, questions_at_home
from softlookup.checking.ranks import rank_question
from softlookup.checking.variant import variant_of
from softlookup.ranks import run_here
from softlookup.ranks.inside.packing import pack_inbox

VARIED = [task for task in tasks(19) if len(constants_of(task)) > 1]
RANK_TASKS = [task for task in tasks(19) if questions_at_home(variant_of(task)).cases[0].world]
RINGS = {"19.reduce-scatter": 1, "19.all-gather": 1, "19.all-reduce": 2, "19.fsdp": 2}
"""How many times a ring carries all parts but one of an array."""


def _text(task, number):
    cells = read_solution(ROOT / "solutions" / "19_many_devices.py", {task.id: number}).cells
    return next(cell.source for cell in cells if f"### Task {task.id} ·" in cell.source)


def test_at_least_six_tasks_have_variants_with_texts_and_code_that_differ():
    assert len(VARIED) >= 6
    for task in VARIED:
        numbers = range(len(constants_of(task)))
        assert len({_text(task, number) for number in numbers}) == len(numbers), task.id
        assert len({solution(variant_of(task, number)) for number in numbers}) == len(numbers), task.id


def _traffic(task, case):
    inputs = [inputs_for(rank_question(case, rank, pack_inbox({}))) for rank in range(case.world)]
    return run_here(answer(variant_of(task), ()), inputs, case.offers).traffic


@pytest.mark.parametrize("task", RANK_TASKS, ids=[task.id for task in RANK_TASKS])
def test_an_answer_may_send_what_the_published_one_sends(task):
    limited = [case for case in draw(variant_of(task), 5) if case.limits]
    assert limited and all(case.world >= 3 for case in limited), task.id
    for case in limited:
        traffic = _traffic(task, case)
        costs = traffic.busiest_link_bytes, len(traffic.messages), traffic.steps, traffic.busiest_rank_bytes
        assert all(limit is None or cost <= limit for cost, limit in zip(costs, case.limits, strict=False))


@pytest.mark.parametrize("task", [task for task in RANK_TASKS if task.id in RINGS], ids=lambda task: task.id)
def test_rings_load_each_link_as_their_text_says(task):
    for case in draw(variant_of(task), 5):
        if not case.limits:
            continue
        array, parts = case.args[0][0], 1 if task.id in ("19.all-gather", "19.fsdp") else case.world
        n_bytes = RINGS[task.id] * (case.world - 1) * array.nbytes // parts
        traffic = _traffic(task, case)
        assert case.limits == (n_bytes, None, None, n_bytes)
        assert traffic.link_bytes == {(rank, (rank + 1) % case.world): n_bytes for rank in range(case.world)}
        assert traffic.sent_bytes == traffic.received_bytes == [n_bytes] * case.world
        assert array.dtype == np.float32
