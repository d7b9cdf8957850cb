"""The bench of schedules: equal runs but for the schedule, and what the page reads."""

import pytest

from benchmarks import schedules as bench


def test_runs_with_and_without_a_warmup_meet_the_same_data_and_weights():
    plan = bench._QUICK
    batches, validation, vocabulary = bench._data(plan)
    first = [bench._run(plan, batches[1], validation, vocabulary, w, 1e-9, 1)["curve"] for w in plan.warmups]
    assert first[0] == pytest.approx(first[1], abs=1e-3)  # hardly any rate, so the curve is that of the data
    again = bench._run(plan, batches[1], validation, vocabulary, 2, 1e-2, 1)
    assert again == bench._run(plan, batches[1], validation, vocabulary, 2, 1e-2, 1)


def test_a_run_that_diverges_has_no_loss():
    plan = bench._QUICK
    batches, validation, vocabulary = bench._data(plan)
    assert bench._run(plan, batches[1], validation, vocabulary, 0, 1e30, 1)["loss"] is None
