"""Runs that are killed and go on: the same losses bit for bit, and no file half written or taken for another."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_run
import torch
from safetensors.torch import save_file
from tiny_run import STEPS, Toy, begin, run, some_pairs

from softlookup.model.whole import weights as files
from softlookup.model.whole.weights import CheckpointError, model_tensors, read_tensors, save_weights, write_tensors
from softlookup.training.checkpoint import Checkpoints, TrainingState, load_checkpoint, save_checkpoint


class Killed(BaseException):
    """Stands in for a kill: nothing in the library may catch it."""


@pytest.fixture(scope="module")
def whole():
    """The run that nothing interrupts."""
    return run(None)


def assert_same_run(got, expected):
    """Compare two runs bit for bit: what they reported, and the weights that they ended with."""
    (state, model, average), (expected_state, expected_model, expected_average) = got, expected
    assert state == expected_state
    assert average.updates == expected_average.updates
    for tensors, expected_tensors in (
        (model_tensors(model), model_tensors(expected_model)),
        (average.tensors, expected_average.tensors),
    ):
        assert all(torch.equal(tensors[name], tensor) for name, tensor in expected_tensors.items())


def test_the_run_itself_is_worth_testing(whole):
    state = whole[0]
    assert state.step == STEPS == len(state.losses) and state.epoch >= 2 and state.position > 0
    assert len(state.validations) == state.epoch + 1
    assert len(set(state.losses)) == STEPS


@pytest.mark.parametrize("at", [1, 4, 9, 10, 22])
def test_a_run_goes_on_after_a_stop_as_if_nothing_had_been(tmp_path, whole, at):
    def stop(progress):
        if progress.step == at:
            raise Killed

    with pytest.raises(Killed):
        run(tmp_path, stop)
    steps = []
    again = run(tmp_path, lambda progress: steps.append(progress.step))
    assert_same_run(again, whole)
    assert steps == list(range(steps[0], STEPS + 1)) and at - 4 < steps[0] <= at + 1
    assert_same_run(run(tmp_path), whole)  # there is nothing left to do


@pytest.mark.slow
def test_a_run_goes_on_after_sigkill_of_its_process(tmp_path, whole):
    program = [sys.executable, tiny_run.__file__, str(tmp_path), "10"]
    done = subprocess.run(program, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [path.name for path in Checkpoints(tmp_path).paths][-1] == "step-00000008.safetensors"
    steps = []
    assert_same_run(run(tmp_path, lambda progress: steps.append(progress.step)), whole)
    assert steps[0] == 9


def test_a_kill_between_the_last_step_of_an_epoch_and_its_evaluation_loses_nothing(tmp_path, whole, monkeypatch):
    measured = tiny_run.draw_at_random

    def stop(model):
        raise Killed

    monkeypatch.setattr(tiny_run, "draw_at_random", stop)
    with pytest.raises(Killed):
        run(tmp_path, every=1)
    monkeypatch.setattr(tiny_run, "draw_at_random", measured)
    assert_same_run(run(tmp_path, every=1), whole)


@pytest.mark.parametrize("moment", ["save_file", "fsync", "replace"])
def test_a_kill_while_a_checkpoint_is_written_leaves_the_one_before(tmp_path, whole, monkeypatch, moment):
    owner = files if moment == "save_file" else files.os
    real, calls = getattr(owner, moment), []

    def interrupted(*arguments, **keywords):
        calls.append(arguments)
        # The best weights are written too; any of these moments may be the last.
        if len(calls) == 4:
            if moment == "save_file":
                Path(arguments[1]).write_bytes(b"half of a fi")
            raise Killed
        return real(*arguments, **keywords)

    monkeypatch.setattr(owner, moment, interrupted)
    with pytest.raises(Killed):
        run(tmp_path)
    monkeypatch.setattr(owner, moment, real)
    assert list(tmp_path.glob("*.partial")) and Checkpoints(tmp_path).paths
    (tmp_path / "step-00000001.safetensors.partial").write_bytes(b"of a kill before")
    assert_same_run(run(tmp_path), whole)
    assert not list(tmp_path.glob("*.partial"))


def test_a_run_may_be_made_longer(tmp_path, whole):
    first, *_ = run(tmp_path, steps=7)
    assert first.validations[-1][0] == 7
    longer, *_ = run(tmp_path)
    plain, *_ = run(None, steps=7)
    assert longer.losses[:7] == plain.losses and longer.step == STEPS
    assert [step for step, _ in longer.validations if step != 7] == [step for step, _ in whole[0].validations]


def test_the_folder_keeps_the_last_states_and_the_best_weights(tmp_path):
    state, model, average = run(tmp_path)
    checkpoints = Checkpoints(tmp_path)
    assert [path.name for path in checkpoints.paths] == ["step-00000020.safetensors", f"step-{STEPS:08d}.safetensors"]
    tensors, header = read_tensors(checkpoints.best_path)
    assert header["notes"] == {"step": state.best_step, "validation_loss": state.best_loss}
    assert state.best_step == STEPS, "then the best weights are the last average"
    assert all(torch.equal(tensors[name], average.tensors[name]) for name, _ in model.named_parameters())


def test_the_loss_of_a_run_does_not_depend_on_how_often_it_is_kept(tmp_path, whole):
    assert_same_run(run(tmp_path, every=1), whole)


class Counts(torch.optim.Optimizer):
    """Descends ever more slowly; keeps numbers that are no tensors."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1})

    def step(self):
        for parameter in self.param_groups[0]["params"]:
            state = self.state[parameter]
            state["count"], state["nothing"] = state.get("count", 0) + 1, None
            parameter.data.sub_(parameter.grad, alpha=self.param_groups[0]["lr"] / state["count"])


@pytest.mark.parametrize(
    "make",
    [
        lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        lambda p: torch.optim.Adam(p, lr=0.1, betas=(0.8, 0.9), amsgrad=True),
        lambda p: torch.optim.RMSprop(p, lr=0.1, centered=True),
        lambda p: torch.optim.Adagrad(p, lr=0.1),
        Counts,
        lambda p: torch.optim.Adam([{"params": p[:1], "lr": 0.1}, {"params": p[1:], "weight_decay": 0.2}]),
    ],
    ids=["sgd", "adam", "rmsprop", "adagrad", "counts", "groups"],
)
def test_every_optimizer_comes_back_exactly(tmp_path, make):
    def two_steps(model, optimizer):
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.tensor([[4, 5]]), torch.tensor([[6]])).square().sum().backward()
            optimizer.step()

    torch.manual_seed(0)
    model = Toy(dropout=0.0)
    optimizer = make(list(model.parameters()))
    two_steps(model, optimizer)
    save_checkpoint(tmp_path / "x", model=model, optimizer=optimizer, state=TrainingState(step=2))
    other = Toy(dropout=0.0)
    back = make(list(other.parameters()))
    assert load_checkpoint(tmp_path / "x", model=other, optimizer=back) == TrainingState(step=2)
    for a, b in zip(optimizer.param_groups, back.param_groups, strict=True):
        assert {k: v for k, v in a.items() if k != "params"} == {k: v for k, v in b.items() if k != "params"}
    two_steps(model, optimizer)
    two_steps(other, back)
    assert all(map(torch.equal, model.parameters(), other.parameters()))


@pytest.mark.usefixtures("unchecked")  # the check of annotations draws from Python's random numbers itself
def test_random_numbers_of_every_kind_come_back(tmp_path):
    def draws():
        return torch.rand(2).tolist(), np.random.randn(), np.random.rand(), random.random(), random.gauss(0, 1)

    model, optimizer, _, _ = begin()
    np.random.randn(), random.gauss(0, 1)  # both keep the second of a pair for later
    path = tmp_path / "x"
    save_checkpoint(path, model=model, optimizer=optimizer, state=TrainingState())
    expected = draws()
    load_checkpoint(path, model=model, optimizer=optimizer)
    assert draws() == expected


def saved(tmp_path, **keywords):
    model, optimizer, average, _ = begin()
    path = tmp_path / "state.safetensors"
    save_checkpoint(path, model=model, optimizer=optimizer, state=TrainingState(), **keywords)
    return path, model, optimizer, average


def refused(path, model, optimizer, **keywords):
    before = {name: tensor.detach().clone() for name, tensor in model_tensors(model).items()}
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(path, model=model, optimizer=optimizer, **keywords)
    assert all(torch.equal(before[name], tensor) for name, tensor in model_tensors(model).items())
    assert path.name in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("keep", [0, 5, 500, -1])
def test_a_file_cut_short_is_refused(tmp_path, keep):
    path, model, optimizer, _ = saved(tmp_path)
    path.write_bytes(path.read_bytes()[:keep])
    assert "damaged, or no safetensors file" in refused(path, model, optimizer)


@pytest.mark.parametrize("place", [-1, -3000, 0.5])
def test_a_single_flipped_bit_is_noticed(tmp_path, place):
    path, model, optimizer, _ = saved(tmp_path)
    data = bytearray(path.read_bytes())
    data[place if place < 0 else int(place * len(data))] ^= 1
    path.write_bytes(data)
    assert "damaged" in refused(path, model, optimizer)


def test_a_flipped_bit_in_a_name_is_noticed(tmp_path):
    path, model, optimizer, _ = saved(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"model/calls", b"model/callr"))
    assert "does not have the digest it was written with" in refused(path, model, optimizer)


def test_files_of_other_kinds_are_refused(tmp_path):
    path, model, optimizer, _ = saved(tmp_path)
    path.write_bytes(b"\x80\x04pickles are not read here" * 9)
    assert "no safetensors file" in refused(path, model, optimizer)
    save_weights(model, path)
    assert "no checkpoint of a training run: it holds weights" in refused(path, model, optimizer)
    save_file({"a": torch.zeros(2)}, path)
    assert "it holds bare tensors" in refused(path, model, optimizer)
    write_tensors(path, {}, {"kind": files.RUN_KIND, "version": 2})
    assert "version 2 of the format; this program reads 1" in refused(path, model, optimizer)
    with pytest.raises(FileNotFoundError, match="there is no file .*nowhere"):
        load_checkpoint(tmp_path / "nowhere", model=model, optimizer=optimizer)


def test_checkpoints_of_other_runs_are_refused(tmp_path):
    path, model, optimizer, average = saved(tmp_path, settings={"seed": 1, "rate": 0.1, "old": True})
    same = {"seed": 1, "rate": 0.1, "old": True}
    load_checkpoint(path, model=model, optimizer=optimizer, settings=same)
    message = refused(path, model, optimizer, settings={"seed": 2, "rate": 0.1, "new": 3})
    assert message.endswith("new was not given, is 3; old was True, is not given; seed was 1, is 2")
    wide = Toy(d_model=16)
    message = refused(path, wide, torch.optim.AdamW(wide.parameters()), settings=same)
    assert "table.weight has shape (20, 8), wanted (20, 16)" in message
    message = refused(path, model, torch.optim.SGD(model.parameters(), lr=1.0), settings=same)
    assert "written with AdamW; this run has SGD" in message
    message = refused(path, model, torch.optim.AdamW([model.table.weight]), settings=same)
    assert "optimizer groups of [2] parameters; this run has [1]" in message
    message = refused(path, model, optimizer, average=average, settings=same)
    assert "with no moving average of weights; this run has one" in message
    save_checkpoint(path, model=model, optimizer=optimizer, state=TrainingState(), average=average)
    assert "with one moving average of weights; this run has no" in refused(path, model, optimizer)


def test_a_damaged_last_state_is_not_passed_over_in_silence(tmp_path, whole):
    run(tmp_path, steps=9)
    last = Checkpoints(tmp_path).paths[-1]
    last.write_bytes(b"")
    with pytest.raises(CheckpointError, match=last.name):
        run(tmp_path)
    last.unlink()
    assert run(tmp_path)[0].losses == whole[0].losses


def test_settings_that_are_no_json_and_counts_below_one_are_refused(tmp_path):
    with pytest.raises(TypeError, match="not JSON serializable"):
        saved(tmp_path, settings={"device": torch.device("cpu")})
    with pytest.raises(ValueError, match="every is 0, keep 1"):
        Checkpoints(tmp_path, every=0)
    with pytest.raises(ValueError, match="every is 1, keep 0"):
        Checkpoints(tmp_path, every=1, keep=0)


def test_a_real_transformer_goes_on_bit_for_bit_and_on_a_gpu_nearly(tmp_path, device):
    from softlookup.model.parts.config import Config
    from softlookup.model.whole.transformer import Transformer
    from softlookup.training.data import BucketedBatches
    from softlookup.training.loop import train

    def go(steps, folder):
        torch.manual_seed(3)
        model = Transformer(Config(20, d_model=16, n_heads=2, n_layers=1, d_hidden=32, dropout=0.3)).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        batches = BucketedBatches(some_pairs(), pad_id=0, tokens_per_batch=160)
        return train(model, batches, optimizer=optimizer, steps=steps, checkpoint=folder and Checkpoints(folder)).losses

    expected = go(8, None)
    go(3, tmp_path)
    # A GPU adds in an order of its own each time; the numbers it drops are the same ones.
    assert go(8, tmp_path) == pytest.approx(expected, rel=1e-4 if device.type == "cuda" else 0, abs=0)
