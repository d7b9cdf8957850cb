"""Recorded steps are the steps; batches made ahead are the batches; weights kept twice learn what plain ones do."""

import pytest
import torch
import torch.nn.functional as F

from softlookup.model import Config, DecoderLM, Transformer
from softlookup.training.ahead import ahead
from softlookup.training.captured import CapturedStep, make_capturable, set_rate
from softlookup.training.data import Batch, BucketedBatches
from softlookup.training.float8 import Float8Products, float8_linear
from softlookup.training.loop import train
from softlookup.training.master_weights import MasterWeights
from softlookup.training.plain_loss import PlainLoss

SMALL = Config(29, d_model=16, n_heads=2, n_layers=1, d_hidden=32, max_length=12, dropout=0.0, pre_norm=True)


def pairs(n=40):
    rng = torch.Generator().manual_seed(0)
    lengths = torch.randint(3, 9, (n, 2), generator=rng).tolist()
    return [tuple(torch.randint(4, 29, (length,), generator=rng).tolist() for length in both) for both in lengths]


@pytest.mark.parametrize("kind", [DecoderLM, Transformer])
def test_a_recorded_training_is_the_training(kind, device):
    ends = []
    for captured in (False, True):
        torch.manual_seed(0)
        model = kind(SMALL).to(device)
        loss = PlainLoss(model)

        def objective(model, batch, epsilon, loss=loss):
            return loss.summed(Batch(batch.target_ids) if kind is DecoderLM else batch)

        batches = BucketedBatches(pairs(), pad_id=0, tokens_per_batch=100, multiple=4, max_length=12)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
        state = train(
            model, batches, optimizer=optimizer, schedule=lambda step: 1e-2 / step, steps=40,
            objective=objective, captured=captured,
        )  # fmt: skip
        ends.append((state.losses, [p.detach().clone() for p in model.parameters()]))
    (losses, weights), (recorded_losses, recorded_weights) = ends
    assert losses == pytest.approx(recorded_losses, rel=1e-4)
    torch.testing.assert_close(weights, recorded_weights, rtol=1e-3, atol=1e-4)
    assert losses[-1] < losses[0]


def test_both_halves_are_called_for_each_step_off_a_gpu():
    calls = []
    step = CapturedStep(lambda x: (calls.append(x.shape), x.sum())[1:], lambda: calls.append("apply"), [])
    assert step.gradients(torch.ones(3)) == (3.0,)
    step.apply()
    assert calls == [(3,), "apply"]


def test_a_recorded_step_is_one_batch_by_adam():
    weight = torch.nn.Parameter(torch.ones(2))
    with pytest.raises(ValueError, match="a step of SGD cannot be recorded; wanted Adam or AdamW"):
        make_capturable(torch.optim.SGD([weight], lr=0.1))
    batches = BucketedBatches(pairs(), pad_id=0, tokens_per_batch=100)
    model = DecoderLM(SMALL)
    with pytest.raises(ValueError, match="accumulate is 2; a recorded step is one of a single batch"):
        train(model, batches, optimizer=torch.optim.Adam(model.parameters()), steps=1, accumulate=2, captured=True)


def test_rates_are_numbers_on_the_device_where_steps_are_recorded(device):
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.ones(2, device=device))], lr=0.5)
    set_rate(optimizer, 0.25)
    assert optimizer.param_groups[0]["lr"] == 0.25
    make_capturable(optimizer)
    assert torch.is_tensor(optimizer.param_groups[0]["lr"]) == (device == "cuda")
    place = optimizer.param_groups[0]["lr"] = torch.tensor(0.5)
    set_rate(optimizer, 0.125)
    assert place is optimizer.param_groups[0]["lr"] and place.item() == 0.125


def test_batches_made_ahead_are_the_batches_with_their_labels(device):
    batches = BucketedBatches(pairs(), pad_id=0, tokens_per_batch=60)
    got = list(ahead(batches.epoch(0), torch.device(device)))
    for batch, (moved, labels) in zip(batches.epoch(0), got, strict=True):
        assert torch.equal(moved.target_ids.cpu(), batch.target_ids) and labels == batch.tokens
    half = ahead(batches.epoch(0), torch.device(device))
    next(half)
    half.close()


def test_lengths_in_multiples_give_few_shapes_and_lose_no_pair():
    every = pairs(300)
    batches = BucketedBatches(every, pad_id=0, tokens_per_batch=100, multiple=4, max_length=10)
    shapes = {(*batch.source_ids.shape[1:], *batch.target_ids.shape[1:]) for batch in batches.epoch(0)}
    assert shapes <= {(s, t) for s in (4, 8, 10) for t in (4, 8, 10)}
    rows = [row for batch in batches.epoch(0) for row in batch.target_ids.tolist()]
    assert sorted([i for i in row if i] for row in rows) == sorted(target for _, target in every)
    for wrong in ({"multiple": 0}, {"multiple": 2}):
        with pytest.raises(ValueError, match="wanted at least 1, and its limit above"):
            BucketedBatches(every, pad_id=0, tokens_per_batch=100, **wrong)


def test_master_weights_learn_what_bfloat16_alone_rounds_away(device):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 4).to(device)
    weights = MasterWeights(model)
    assert model.weight.dtype == torch.bfloat16 and weights.masters[0].dtype == torch.float32
    before = [master.detach().clone() for master in weights.masters]
    optimizer = torch.optim.SGD(weights.masters, lr=1e-4)
    for _ in range(10):
        model(torch.ones(1, 4, device=device, dtype=torch.bfloat16)).sum().backward()
        weights.take_gradients()
        assert model.weight.grad is None
        optimizer.step()
        weights.give_back()
    assert weights.masters[0].grad is None
    torch.testing.assert_close(weights.masters[0], before[0] - 1e-3, rtol=0, atol=1e-6)
    assert torch.equal(model.weight, weights.masters[0].bfloat16())


def test_master_weights_are_of_a_model_in_float32():
    with pytest.raises(TypeError, match=r"dtype is torch.float64; wanted torch.bfloat16 or torch.float16"):
        MasterWeights(torch.nn.Linear(2, 2), torch.float64)
    with pytest.raises(TypeError, match=r"weight is in torch.bfloat16; wanted torch.float32"):
        MasterWeights(torch.nn.Linear(2, 2).bfloat16())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_float8_product_is_near_the_product_in_values_and_gradients(dtype, device):
    torch.manual_seed(0)
    x, w = (torch.randn(size, 32, device=device, dtype=dtype, requires_grad=True) for size in (16, 48))
    b = torch.randn(48, device=device, dtype=dtype)
    grad = torch.randn(16, 48, device=device, dtype=dtype)
    results = []
    for linear in (F.linear, float8_linear):
        x.grad = w.grad = None
        y = linear(x, w, b)
        y.backward(grad)
        results.append([t.detach().float().clone() for t in (y, x.grad, w.grad)])
    for plain, rounded in zip(*results, strict=True):
        assert 0 < (plain - rounded).norm() / plain.norm() < 0.1


def test_within_it_a_models_products_are_in_float8_but_for_odd_sizes(device):
    torch.manual_seed(0)
    model = DecoderLM(SMALL).to(device).eval()
    ids = torch.randint(4, 29, (2, 8), device=device)
    plain = model(ids)
    with Float8Products():
        rounded = model(ids)
        x = torch.randn(3, 8, device=device)
        assert torch.equal(F.linear(x, x), x @ x.mT)
    assert 0 < (plain - rounded).norm() / plain.norm() < 0.2
