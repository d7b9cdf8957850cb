"""Recorded steps are the steps; batches made ahead are the batches; weights kept twice learn what plain ones do."""

import pytest
import torch
import torch.nn.functional as F

from softlookup.model import Config, DecoderLM, Transformer
from softlookup.training import loop
from softlookup.training.ahead import ahead
from softlookup.training.captured import CapturedStep, make_capturable, recorder_for, set_rate
from softlookup.training.checkpoint import Checkpoints, TrainingState, load_checkpoint, save_checkpoint
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


class HandRecorder:
    """Stands in for CUDA graphs on a CPU: a recording changes nothing, and each replay writes its numbers in place.

    What a recording returns, and the gradients that it leaves, are NaN until it is replayed.
    """

    def __init__(self, model, optimizer, failing=0, error=RuntimeError):
        self.model, self.optimizer, self.failing, self.error = model, optimizer, failing, error
        self.recordings = self.replays = 0

    def aside(self, work):
        return work()

    @torch.no_grad()
    def record(self, work):
        self.recordings += 1
        if self.recordings == self.failing:
            raise self.error("operation not permitted\nwhen a stream is capturing")
        parameters = list(self.model.parameters())
        states = [t for state in self.optimizer.state.values() for t in state.values()]
        before = [(t, t.clone()) for t in (*parameters, *states)]
        with torch.enable_grad():
            outputs = work()
        gradients = [p.grad for p in parameters]
        for tensor, values in before:
            tensor.copy_(values)
        if outputs is None:
            return lambda: (setattr(self, "replays", self.replays + 1), work()), None
        for tensor in (*outputs, *(g for g in gradients if g is not None)):
            tensor.fill_(torch.nan)

        def replay():
            self.replays += 1
            with torch.enable_grad():
                values = work()
            with torch.no_grad():
                for place, value in zip(outputs, values, strict=True):
                    place.copy_(value)
                for parameter, place in zip(parameters, gradients, strict=True):
                    if place is not None:
                        place.copy_(parameter.grad)

        return replay, outputs


def run(kind, captured, device="cpu", steps=25, checkpoint=None):
    """Train a model of drawn weights; give its losses, its weights, its optimizer and what was noted."""
    torch.manual_seed(0)
    model = kind(SMALL).to(device)
    loss, notes = PlainLoss(model), []

    def objective(model, batch, epsilon):
        return loss.summed(Batch(batch.target_ids) if kind is DecoderLM else batch)

    batches = BucketedBatches(pairs(), pad_id=0, tokens_per_batch=100)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    state = train(
        model, batches, optimizer=optimizer, schedule=lambda step: 1e-2 / step, steps=steps,
        objective=objective, captured=captured, note=notes.append, checkpoint=checkpoint,
    )  # fmt: skip
    return state.losses, [p.detach().clone() for p in model.parameters()], notes


@pytest.mark.parametrize("kind", [DecoderLM, Transformer])
def test_a_recorded_training_is_the_training(kind, device):
    losses, weights, _ = run(kind, False, device)
    recorded_losses, recorded_weights, notes = run(kind, True, device)
    assert losses == pytest.approx(recorded_losses, rel=1e-4) and notes == []
    torch.testing.assert_close(weights, recorded_weights, rtol=1e-3, atol=1e-4)
    assert losses[-1] < losses[0]


@pytest.fixture
def by_hand(monkeypatch):
    """Record steps by hand on a CPU; give what makes that fail at a recording."""
    recorders, failures = [], {}

    class Step(CapturedStep):
        def __init__(self, gradients, apply, parameters, recorder, note):
            step = apply.__self__
            model = gradients.__self__.model
            recorders.append(HandRecorder(model, step, **failures))
            super().__init__(gradients, apply, parameters, recorders[-1], note)

    monkeypatch.setattr(loop, "CapturedStep", Step)
    return recorders, failures


@pytest.mark.parametrize("kind", [DecoderLM, Transformer])
def test_replays_write_where_recordings_left_their_numbers(kind, by_hand):
    losses, weights, _ = run(kind, False)
    recorded_losses, recorded_weights, notes = run(kind, True)
    ((recorder,), _) = by_hand
    assert notes == [] and recorder.recordings >= 4 and recorder.replays > 20
    assert recorded_losses == pytest.approx(losses, rel=1e-5)
    torch.testing.assert_close(weights, recorded_weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "failing, error", [(1, RuntimeError), (2, RuntimeError), (3, RuntimeError), (3, torch.OutOfMemoryError)]
)
def test_a_recording_that_fails_leaves_the_run_as_it_was(failing, error, by_hand):
    losses, weights, _ = run(Transformer, False)
    recorders, failures = by_hand
    failures |= {"failing": failing, "error": error}
    got_losses, got_weights, notes = run(Transformer, True)
    assert notes == [
        "a step could not be recorded (operation not permitted): all steps are done unrecorded from now on"
    ]
    assert recorders[0].recordings == failing
    assert got_losses == pytest.approx(losses, rel=1e-5)
    torch.testing.assert_close(weights, got_weights, rtol=1e-4, atol=1e-5)


def test_a_recorded_run_that_was_killed_goes_on_with_the_same_losses(tmp_path, device):
    losses, _, _ = run(Transformer, True, device, steps=20)
    run(Transformer, True, device, steps=12, checkpoint=Checkpoints(tmp_path))
    resumed, _, _ = run(Transformer, True, device, steps=20, checkpoint=Checkpoints(tmp_path))
    assert resumed == pytest.approx(losses, rel=1e-5)
    plain, _, _ = run(Transformer, False, "cpu", steps=20, checkpoint=Checkpoints(tmp_path))
    assert plain == resumed


def test_a_state_keeps_the_rate_as_a_number_and_whether_steps_are_recorded_is_no_part_of_it(tmp_path):
    weight = torch.nn.Parameter(torch.ones(2))
    model = torch.nn.ParameterList([weight])
    optimizer = torch.optim.Adam([weight], lr=0.5)
    optimizer.param_groups[0].update(lr=torch.tensor(0.25), capturable=True)  # as on a GPU
    save_checkpoint(tmp_path / "state", model=model, optimizer=optimizer, state=TrainingState(step=3))
    fresh = torch.optim.Adam([weight], lr=0.5)
    assert load_checkpoint(tmp_path / "state", model=model, optimizer=fresh).step == 3
    assert fresh.param_groups[0]["lr"] == 0.25 and fresh.param_groups[0]["capturable"] is False


def test_there_is_a_recorder_for_gpus_alone(device):
    assert (recorder_for(device) is None) == (device.type == "cpu")


@pytest.mark.gpu
def test_a_work_that_waits_for_the_gpu_is_refused_and_dropout_goes_on():
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    x = torch.ones(8, device="cuda")
    recorder = recorder_for(x.device)
    recorder.aside(lambda: F.dropout(x).sum())
    replay, outputs = recorder.record(lambda: F.dropout(x).sum())
    replay()
    assert outputs.item() in range(0, 17, 2)
    with pytest.raises(RuntimeError):
        recorder.record(lambda: F.dropout(x).sum().item())
    assert F.dropout(x).sum().item() in range(0, 17, 2)


def test_both_halves_are_called_for_each_step_off_a_gpu():
    calls = []
    step = CapturedStep(lambda x: (calls.append(x.shape), x.sum())[1:], lambda: calls.append("apply"), [], None)
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
