"""Orders of a pipeline's stages and their times, against formulas and a simulation by ticks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.ranks.schedules import MOST_PIPELINE, gpipe, one_forward_one_backward, pipeline_times

SCHEDULES = [gpipe, one_forward_one_backward]
SIZES = [(1, 1), (1, 5), (2, 1), (3, 3), (4, 2), (4, 8), (8, 16), (5, 7)]


def by_ticks(orders, forward, backward):
    """The end of the last task, tick by tick: every stage that can begin its next task does."""
    at, busy, done, tick = [0] * len(orders), [0] * len(orders), set(), 0
    while any(i < len(order) for i, order in zip(at, orders, strict=True)) or any(busy):
        for stage in range(len(orders)):
            if busy[stage]:
                busy[stage] -= 1
                if not busy[stage]:
                    done.add((stage, orders[stage][at[stage]]))
                    at[stage] += 1
        for stage, order in enumerate(orders):
            if busy[stage] or at[stage] == len(order):
                continue
            name = order[at[stage]]
            last = len(orders) - 1
            if name[0] == "F":
                is_ready = stage == 0 or (stage - 1, name) in done
            else:
                is_ready = (stage, "F" + name[1:]) in done and (stage == last or (stage + 1, name) in done)
            if is_ready:
                busy[stage] = forward if name[0] == "F" else backward
        if any(busy) or any(i < len(order) for i, order in zip(at, orders, strict=True)):
            tick += 1
        assert tick < 10_000
    return tick


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("stages", "micro"), SIZES)
def test_bubble_is_that_of_the_papers(schedule, stages, micro):
    result = pipeline_times(schedule(stages, micro), 1, 2)
    assert result.seconds == 3 * (micro + stages - 1) == by_ticks(schedule(stages, micro), 1, 2)
    assert result.idle == pytest.approx((stages - 1) / (micro + stages - 1))


@pytest.mark.parametrize(("stages", "micro"), SIZES)
def test_gpipe_holds_all_activations_and_1f1b_no_more_than_stages_ahead(stages, micro):
    assert pipeline_times(gpipe(stages, micro), 1, 1).alive == (micro,) * stages
    alive = pipeline_times(one_forward_one_backward(stages, micro), 1, 1).alive
    assert alive == tuple(min(stages - stage, micro) for stage in range(stages))


def test_1f1b_of_four_stages_is_that_of_the_figure():
    assert one_forward_one_backward(4, 4)[0] == ["F0", "F1", "F2", "F3", "B0", "B1", "B2", "B3"]
    assert one_forward_one_backward(4, 4)[2] == ["F0", "F1", "B0", "F2", "B1", "F3", "B2", "B3"]
    assert one_forward_one_backward(4, 3)[3] == ["F0", "B0", "F1", "B1", "F2", "B2"]
    assert gpipe(2, 3)[1] == ["F0", "F1", "F2", "B2", "B1", "B0"]


@settings(max_examples=25)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_times_are_those_of_a_simulation_by_ticks_for_shuffled_forwards(stages, micro, forward, backward, seed):
    first = [int(i) for i in np.random.default_rng(seed).permutation(micro)]
    renamed = [
        [f"{name[0]}{first[int(name[1:])]}" for name in order] for order in one_forward_one_backward(stages, micro)
    ]
    result = pipeline_times(renamed, forward, backward)
    assert result.seconds == by_ticks(renamed, forward, backward)
    for stage, tasks in enumerate(result.stages):
        assert [task.name for task in tasks] == renamed[stage]
        for before, after in zip(tasks, tasks[1:], strict=False):
            assert before.end_s <= after.begin_s


def test_orders_that_wait_for_each_other_for_ever_are_refused():
    with pytest.raises(ValueError, match="for ever: stage 0 at B0, stage 1 at F1"):
        pipeline_times([["F0", "B0", "F1", "B1"], ["F0", "F1", "B0", "B1"]], 1, 1)
    with pytest.raises(ValueError, match="for ever: stage 0 at B0"):
        pipeline_times([["B0", "F0"]], 1, 1)


@pytest.mark.parametrize("orders", [[["F0"]], [["F0", "B0"], ["F0", "F0"]], [["F0", "B1"]], [["F0", "B0"], []]])
def test_orders_without_each_task_once_are_refused(orders):
    with pytest.raises(ValueError, match="wanted F0 to F"):
        pipeline_times(orders, 1, 1)


def test_what_is_no_pipeline_is_refused():
    for schedule in SCHEDULES:
        for sizes in ((0, 1), (1, 0), (MOST_PIPELINE + 1, 1)):
            with pytest.raises(ValueError, match=f"got {sizes[0]} and {sizes[1]}"):
                schedule(*sizes)
    with pytest.raises(ValueError, match="more than 0 s, got 0 s and 1 s"):
        pipeline_times(gpipe(1, 1), 0, 1)
    for orders in ([], [[]]):
        with pytest.raises(ValueError, match="there are no tasks"):
            pipeline_times(orders, 1, 1)
