"""Averages of weights: against the recurrence written out, and against means made by hand."""

import pytest
import torch
from tiny_run import Toy
from torch import nn

from softlookup.model.whole.weights import CheckpointError
from softlookup.training.averaging import MovingAverage


def set_to(model, number):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(number)


@pytest.mark.parametrize("warm_in", [False, True])
@pytest.mark.parametrize("limit", [0.75, 0.0])
def test_the_moving_average_follows_its_recurrence(device, warm_in, limit):
    model = nn.Linear(1, 1).to(device)
    set_to(model, 1.0)
    average, expected = MovingAverage(model, limit, warm_in=warm_in), 1.0
    for n in range(1, 40):
        set_to(model, float(n * n % 7))
        average.update(model)
        decay = min(limit, (1 + n) / (10 + n)) if warm_in else limit
        expected = decay * expected + (1 - decay) * (n * n % 7)
        assert average.tensors["weight"].item() == pytest.approx(expected, rel=1e-5)
    assert average.updates == 39 and MovingAverage(model).warm_in


def test_the_average_is_lent_and_taken_back_even_after_an_error():
    model = Toy()
    average = MovingAverage(model, 0.5)
    set_to(model, 3.0)
    with average.applied(model):
        assert torch.equal(model.table.weight, average.tensors["table.weight"])
        assert model.output.weight is model.table.weight
    assert (model.table.weight == 3.0).all()
    with pytest.raises(RuntimeError, match="in between"), average.applied(model):
        raise RuntimeError("in between")
    assert (model.table.weight == 3.0).all()
    average.copy_to(model)
    assert torch.equal(model.table.weight, average.tensors["table.weight"])


def test_the_average_is_no_view_of_the_model_and_takes_no_gradient():
    model = Toy()
    average = MovingAverage(model)
    before = average.tensors["table.weight"].clone()
    set_to(model, 9.0)
    assert torch.equal(average.tensors["table.weight"], before)
    average.update(model)
    assert not average.tensors["table.weight"].requires_grad


def test_half_precision_weights_are_averaged_in_float32():
    model = nn.Linear(1, 1).bfloat16()
    set_to(model, 1.0)
    average = MovingAverage(model, 0.999, warm_in=False)
    set_to(model, 2.0)
    average.update(model)
    assert average.tensors["weight"].item() == pytest.approx(1.001, abs=1e-6)
    average.copy_to(model)
    assert model.weight.dtype == torch.bfloat16


def test_counts_are_copied_not_averaged():
    model = Toy()
    average = MovingAverage(model)
    model.calls += 5
    average.update(model)
    assert average.tensors["calls"].item() == 5


def test_averages_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="decay is 1.0; wanted at least 0 and below 1"):
        MovingAverage(Toy(), 1.0)
    with pytest.raises(ValueError, match="decay is -0.1"):
        MovingAverage(Toy(), -0.1)
    average = MovingAverage(nn.Linear(1, 1))
    with pytest.raises(ValueError, match=r"tensors have changed: \['bias'\]"):
        average.update(nn.Linear(1, 1, bias=False))
    with pytest.raises(CheckpointError, match=r"the average does not fit this model: missing table.weight"):
        average.copy_to(nn.ModuleDict({"table": nn.Linear(1, 1, bias=False)}))
