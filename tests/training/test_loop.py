"""The loop: its steps against torch written out, its stops, and what it reports."""

import math
from dataclasses import asdict
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from tiny_run import END, PAD, START, VOCABULARY, Toy, some_pairs
from torch import nn

from softlookup.training import loop
from softlookup.training.averaging import MovingAverage
from softlookup.training.data import Batch, BucketedBatches, PlainBatches, make_batch
from softlookup.training.loop import DivergedError, summed_loss, train, validation_loss
from tests.refusing import refused


class Given:
    """The same batches in every epoch; keeps what it was asked for."""

    def __init__(self, *batches):
        self.batches, self.asked = batches, []

    def epoch(self, epoch, start=0):
        self.asked.append((epoch, start))
        yield from self.batches[start:]


def toy(seed=1, dropout=0.0, dtype=torch.float64):
    torch.manual_seed(seed)
    return Toy(dropout=dropout).to(dtype)


def parts_and_whole(n=12, cuts=(0, 2, 9, 12)):
    pairs = some_pairs(n)
    return [make_batch(pairs[a:b], PAD) for a, b in zip(cuts, cuts[1:], strict=False)], make_batch(pairs, PAD)


def sgd(model, rate=0.5):
    return torch.optim.SGD(model.parameters(), lr=rate)


def weights(model):
    return [parameter.detach().clone() for parameter in model.parameters()]


def test_steps_equal_those_written_out_in_torch(device):
    model, torch_model = toy().to(device), toy().to(device)
    torch_model.load_state_dict(model.state_dict())
    batches = [make_batch(some_pairs(8, seed), PAD) for seed in range(3)]
    rates = [0.01, 0.02, 0.005]
    seen = []
    optimizer = torch.optim.Adam(model.parameters(), lr=9.0, betas=(0.9, 0.98), eps=1e-9)
    state = train(
        model,
        Given(*batches),
        optimizer=optimizer,
        schedule=lambda step: rates[step - 1],
        epochs=1,
        clip=0.3,
        epsilon=0.1,
        on_step=seen.append,
    )
    other = torch.optim.Adam(torch_model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    for batch, rate, progress in zip(batches, rates, seen, strict=True):
        source, target = batch.source_ids.to(device), batch.target_ids.to(device)
        logits = torch_model(source, target[:, :-1])
        loss = F.cross_entropy(logits.mT, target[:, 1:], ignore_index=PAD, label_smoothing=0.1)
        other.zero_grad()
        loss.backward()
        norm = math.sqrt(sum(float(p.grad.square().sum()) for p in torch_model.parameters()))
        assert norm > 0.3, "the clipping must have something to do"
        for p in torch_model.parameters():
            p.grad *= 0.3 / (norm + 1e-6)  # torch's guard against a norm of zero
        other.param_groups[0]["lr"] = rate
        other.step()
        assert progress.loss == pytest.approx(loss.item(), rel=1e-12)
        assert progress.gradient_norm == pytest.approx(norm, rel=1e-9)
        assert (progress.rate, progress.tokens) == (rate, int((target[:, 1:] != PAD).sum()))
    for a, b in zip(model.parameters(), torch_model.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-9)
    assert [p.step for p in seen] == [1, 2, 3] and {p.epoch for p in seen} == {0}
    assert all(p.tokens_per_s > 0 for p in seen)
    assert state.losses == [p.loss for p in seen] and state.tokens == sum(p.tokens for p in seen)
    assert (state.step, state.epoch, state.position) == (3, 1, 0)


def test_accumulation_equals_one_batch_with_all_the_tokens(device):
    parts, whole = parts_and_whole()
    assert len({batch.tokens for batch in parts}) == 3, "else a mean of means would pass"
    many, single = toy().to(device), toy().to(device)
    seen = []
    train(many, Given(*parts), optimizer=sgd(many), epochs=1, accumulate=3, on_step=seen.append)
    train(single, Given(whole), optimizer=sgd(single), epochs=1, on_step=seen.append)
    assert seen[0].loss == pytest.approx(seen[1].loss, rel=1e-12)
    assert seen[0].gradient_norm == pytest.approx(seen[1].gradient_norm, rel=1e-12)
    assert seen[0].tokens == seen[1].tokens == whole.tokens
    for a, b in zip(many.parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)


def test_accumulation_leaves_a_smaller_group_at_the_end_of_an_epoch():
    parts, _ = parts_and_whole()
    batches, model, seen = Given(*parts), toy(), []
    state = train(model, batches, optimizer=sgd(model), epochs=2, accumulate=2, on_step=seen.append)
    assert [p.tokens for p in seen] == 2 * [parts[0].tokens + parts[1].tokens, parts[2].tokens]
    assert [p.epoch for p in seen] == [0, 0, 1, 1]
    assert state.epoch == 2 and batches.asked == [(0, 0), (1, 0)]


def test_a_run_of_steps_stops_within_an_epoch_and_a_longer_one_begins_the_next():
    parts, _ = parts_and_whole()
    model = toy()
    state = train(model, Given(*parts), optimizer=sgd(model), steps=2)
    assert (state.step, state.epoch, state.position) == (2, 0, 2)
    state = train(model, Given(*parts), optimizer=sgd(model), steps=5)
    assert (state.step, state.epoch, state.position) == (5, 1, 2)


def test_without_a_schedule_the_optimizers_own_rate_stays_and_without_clip_the_gradient():
    _, whole = parts_and_whole()
    model, seen = toy(), []
    before = weights(model)
    optimizer = sgd(model, rate=0.25)
    train(model, Given(whole), optimizer=optimizer, steps=1, clip=None, epsilon=0.0, on_step=seen.append)
    assert seen[0].rate == optimizer.param_groups[0]["lr"] == 0.25
    moved = math.sqrt(sum(float((a - b).square().sum()) for a, b in zip(before, weights(model), strict=True)))
    assert moved == pytest.approx(0.25 * seen[0].gradient_norm, rel=1e-9)


def test_the_rate_goes_to_every_group():
    model = toy()
    groups = [{"params": [model.table.weight]}, {"params": [model.output.bias]}]
    optimizer = torch.optim.SGD(groups, lr=1.0)
    train(model, Given(parts_and_whole()[1]), optimizer=optimizer, schedule=lambda step: 0.125, steps=1)
    assert [group["lr"] for group in optimizer.param_groups] == [0.125, 0.125]


def test_gradients_left_behind_do_not_count():
    _, whole = parts_and_whole()
    clean, dirty = toy(), toy()
    summed_loss(dirty, whole, 0.0).backward()
    for model in (clean, dirty):
        train(model, Given(whole), optimizer=sgd(model), steps=1)
    assert all(map(torch.equal, weights(clean), weights(dirty)))


def test_a_model_learns_to_repeat_its_source_word():
    pairs = [([word, END], [START, word, END]) for word in range(4, VOCABULARY)]
    torch.manual_seed(0)
    model = Toy(d_model=16, dropout=0.0)
    batches = PlainBatches(pairs, pad_id=PAD, rows=8)
    before = validation_loss(model, batches)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    train(model, batches, optimizer=optimizer, epochs=60, epsilon=0.0)
    assert validation_loss(model, batches) < 0.1 < 1.0 < before


def test_bf16_products_leave_the_weights_in_float32_and_the_loss_near(device):
    losses = []
    for autocast in (None, torch.bfloat16):
        seen_dtypes = []

        class Watched(Toy):
            def forward(self, source_ids, target_ids, seen_dtypes=seen_dtypes):
                logits = super().forward(source_ids, target_ids)
                seen_dtypes.append(logits.dtype)
                return logits

        torch.manual_seed(1)
        model = Watched(dropout=0.0).to(device)
        batches = BucketedBatches(some_pairs(), pad_id=PAD, tokens_per_batch=80)
        state = train(model, batches, optimizer=sgd(model, 0.1), epochs=2, autocast=autocast)
        validation_loss(model, batches, autocast=autocast)
        assert set(seen_dtypes) == {autocast or torch.float32}
        assert model.table.weight.dtype == torch.float32
        losses.append(torch.tensor(state.losses))
    torch.testing.assert_close(losses[0], losses[1], rtol=0, atol=0.02)
    assert not torch.equal(losses[0], losses[1])


def test_validation_loss_is_for_each_token_without_dropout_and_smoothing(device):
    parts, whole = parts_and_whole()
    model = toy(dropout=0.5).to(device).eval()
    source, target = whole.source_ids.to(device), whole.target_ids.to(device)
    expected = F.cross_entropy(model(source, target[:, :-1]).mT, target[:, 1:], ignore_index=PAD).item()
    model.train()
    assert validation_loss(model, Given(*parts)) == pytest.approx(expected, rel=1e-12)
    assert model.training and model.table.weight.grad is None
    assert validation_loss(model.eval(), Given(whole)) == pytest.approx(expected, rel=1e-12)
    assert not model.training


def test_a_model_is_back_in_training_mode_even_if_validation_fails():
    model = toy()
    with pytest.raises(IndexError):
        validation_loss(model, Given(Batch(torch.tensor([[START, VOCABULARY, END]]), torch.tensor([[VOCABULARY]]))))
    assert model.training


def test_evaluation_comes_after_each_epoch_and_at_the_end_and_the_best_is_known():
    model, heard = toy(), iter([3.0, 1.5, 1.5])
    modes = []

    def evaluate(model):
        modes.append(model.training)
        model.eval()  # the loop has to set it back
        return next(heard)

    parts, _ = parts_and_whole()
    state = train(model, Given(*parts), optimizer=sgd(model), steps=8, evaluate=evaluate)
    assert state.validations == [(3, 3.0), (6, 1.5), (8, 1.5)]
    assert (state.best_step, state.best_loss) == (6, 1.5)
    assert modes == [True] * 3


def test_a_callback_that_switches_dropout_off_does_not_leave_it_off():
    parts, _ = parts_and_whole()
    losses = []
    for switches in (False, True):
        model = toy(dropout=0.5)
        torch.manual_seed(0)

        def on_step(progress, model=model, switches=switches):
            model.train(not switches)

        losses.append(train(model, Given(*parts), optimizer=sgd(model), epochs=2, on_step=on_step).losses)
    assert losses[0] == losses[1]


def test_the_average_follows_each_step_and_is_what_is_evaluated():
    model = toy()
    average = MovingAverage(model, 0.5, warm_in=False)
    expected = weights(model)
    evaluated = []

    def on_step(progress):
        expected[:] = [0.5 * a + 0.5 * b for a, b in zip(expected, weights(model), strict=True)]

    def evaluate(model):
        evaluated.extend(weights(model))
        return 1.0

    parts, _ = parts_and_whole()
    train(model, Given(*parts), optimizer=sgd(model), epochs=1, average=average, on_step=on_step, evaluate=evaluate)
    for got, want, last in zip(evaluated, expected, weights(model), strict=True):
        torch.testing.assert_close(got, want)
        assert not torch.equal(got, last)


def test_an_objective_of_ones_own_takes_the_place_of_the_loss():
    calls = []

    def objective(model, batch, epsilon):
        calls.append((batch.tokens, epsilon))
        return 2.0 * summed_loss(model, batch, epsilon)

    _, whole = parts_and_whole()
    states = [
        train(m, Given(whole), optimizer=sgd(m), steps=1, objective=o)
        for m, o in ((toy(), objective), (toy(), summed_loss))
    ]
    assert states[0].losses[0] == pytest.approx(2 * states[1].losses[0])
    assert calls == [(whole.tokens, 0.1)]


def test_a_model_without_a_source_is_called_with_the_inputs_alone():
    class Alone(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.zeros(VOCABULARY, VOCABULARY))

        def forward(self, ids):
            assert ids.tolist() == [[START, 5]]
            return self.table[ids]

    batch = Batch(torch.tensor([[START, 5, END]]), pad_id=PAD)
    assert summed_loss(Alone(), batch, 0.0).item() == pytest.approx(2 * math.log(VOCABULARY))


class Breaks(Toy):
    """Gives an infinite loss, or an infinite gradient, at its third batch."""

    def __init__(self, where):
        super().__init__(dropout=0.0)
        self.where = where

    def forward(self, source_ids, target_ids):
        logits = super().forward(source_ids, target_ids)
        if self.calls == 3:
            logits = logits * math.inf if self.where == "loss" else torch.sqrt(logits * 0) + logits
        return logits


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_a_run_that_diverges_stops_before_the_step_and_names_step_and_rate(where):
    model = Breaks(where)
    parts, _ = parts_and_whole()
    snapshots = []
    with pytest.raises(DivergedError, match=rf"the {where}.* is (nan|inf) at step 3 \(learning rate 0.125\)"):
        train(
            model,
            Given(*parts),
            optimizer=sgd(model),
            schedule=lambda step: 0.125,
            epochs=1,
            on_step=lambda progress: snapshots.append(weights(model)),
        )
    assert len(snapshots) == 2 and all(map(torch.equal, snapshots[-1], weights(model)))


def test_a_validation_loss_that_is_not_finite_stops_the_run():
    model = toy()
    with pytest.raises(DivergedError, match="validation loss is nan after step 1"):
        train(model, Given(parts_and_whole()[1]), optimizer=sgd(model), epochs=1, evaluate=lambda m: math.nan)


def run_with(**arguments):
    model = arguments.pop("model", None) or toy()
    batches = arguments.pop("batches", Given(parts_and_whole()[1]))
    return train(model, batches, optimizer=sgd(model), **arguments)


class NoParameters(nn.Module):
    def parameters(self, recurse=True):
        yield from [nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1, device="meta"))]


test_runs_that_cannot_be_are_refused = refused(
    (lambda: run_with(), "epochs is None, steps is None; wanted exactly one"),
    (lambda: run_with(epochs=1, steps=1), "epochs is 1, steps is 1"),
    (lambda: run_with(epochs=0), "0 epochs or steps"),
    (lambda: run_with(steps=-1), "-1 epochs or steps"),
    (lambda: run_with(steps=1, clip=0.0), "clip is 0.0"),
    (lambda: run_with(steps=1, clip=math.nan), "clip is nan"),
    (lambda: run_with(steps=1, accumulate=0), "accumulate is 0"),
    (lambda: run_with(steps=1, autocast=torch.float16), TypeError, "torch.float16; wanted None or torch.bfloat16"),
    (lambda: run_with(steps=1, batches=Given()), "epoch 0 has no batches"),
    (lambda: validation_loss(toy(), Given()), "no validation batches"),
    (lambda: validation_loss(NoParameters(), Given()), "one device; they are on cpu, meta"),
    (lambda: validation_loss(nn.Module(), Given()), "none: it has no parameters"),
    (lambda: run_with(steps=1, batches=Given(make_batch(some_pairs(2), 1))), "padded with id 1, the model takes 0"),
)


def test_progress_is_a_record_that_a_widget_can_take():
    seen = []
    run_with(steps=1, on_step=seen.append)
    assert set(asdict(seen[0])) == {"step", "epoch", "loss", "tokens", "rate", "gradient_norm", "tokens_per_s"}


def test_the_speed_is_that_of_the_step_alone(monkeypatch):
    clock = iter([100.0, 102.0, 200.0, 204.0, 300.0])  # begun, ended, begun after what came between, ended, begun
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    parts, _ = parts_and_whole()
    seen = []
    run_with(batches=Given(*parts), steps=2, on_step=seen.append)
    assert [p.tokens_per_s for p in seen] == [parts[0].tokens / 2, parts[1].tokens / 4]
