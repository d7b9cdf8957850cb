"""The capstone's run: it learns, tells how it goes, stops and goes on as if it had never stopped."""

import math

import pytest
import torch
from IPython.core.formatters import DisplayFormatter

from benchmarks.capstone import bench_own, library_model, smoothed
from softlookup.model import CheckpointError
from softlookup.training.own_run import OwnPlan, train_own

PLAN = OwnPlan(
    d_model=8, n_heads=2, d_hidden=8, n_layers=1, batch=4, steps=6, sentences=30, validation=5, keep_every=3, warmup=3
)


def test_an_interrupted_run_goes_on_to_the_same_losses(tmp_path):
    whole = train_own(library_model, smoothed, tmp_path / "whole", plan=PLAN, show=lambda line: None)
    lines, calls = [], []

    def interrupted(logits, labels, pad_id, eps):
        calls.append(1)
        if len(calls) == 6:  # four steps, a look at the validation sentences, and one step more
            raise KeyboardInterrupt
        return smoothed(logits, labels, pad_id, eps)

    first = train_own(library_model, interrupted, tmp_path / "parts", plan=PLAN, show=lines.append)
    assert not first.done and "interrupted after step 4" in lines[-1]
    second = train_own(library_model, smoothed, tmp_path / "parts", plan=PLAN, show=lines.append)
    assert "going on at step 3 of 6" in lines
    assert second.done and second.losses == whole.losses and second.validations == whole.validations
    for got, want in zip(second.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(got, want)


@pytest.mark.slow
def test_a_run_of_no_time_takes_no_step_and_one_of_another_plan_is_refused(tmp_path):
    run = train_own(library_model, smoothed, tmp_path, plan=PLAN, minutes=0, show=lambda line: None)
    assert run.losses == [] and not run.done
    train_own(library_model, smoothed, tmp_path, plan=PLAN, show=lambda line: None)
    with pytest.raises(CheckpointError):
        train_own(library_model, smoothed, tmp_path, plan=OwnPlan(d_model=16), show=lambda line: None)


def test_first_loss_is_that_of_guessing_and_a_run_writes_words_and_a_picture(tmp_path):
    run = train_own(library_model, smoothed, tmp_path, plan=PLAN, show=lambda line: None)
    assert abs(run.losses[0] - math.log(len(run.french))) < 1.5
    assert set(run.translate("The car is green.").split()) <= set(run.french)
    curve = run.plot(tmp_path / "curve.png")
    assert len(curve.axes[0].lines[0].get_xdata()) == PLAN.steps and len(curve.axes[0].lines) == 2
    shown = DisplayFormatter().format(curve)[0]  # a notebook in which nobody has imported pyplot
    assert shown["image/png"] == (tmp_path / "curve.png").read_bytes()
    assert shown["image/png"].startswith(b"\x89PNG")


def test_quick_bench_of_the_capstone_has_every_field():
    record = bench_own(quick=True)
    assert record["asked"] == len(record["written"]) + 1 == 5 and record["words"] > 4
    assert 0 <= record["right"] <= 5 and len(record["validations"]) == 2
