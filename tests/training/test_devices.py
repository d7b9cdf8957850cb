"""One run on several processes: the same losses as on one device, and on with another number after a kill."""

import io
import json
import multiprocessing
from dataclasses import asdict, replace
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from rich.console import Console
from tiny_translation import TINY, before_each_step, run, some_pairs

from softlookup.model import Config
from softlookup.model.published.translator import load_translator
from softlookup.model.whole.transformer import Transformer
from softlookup.model.whole.weights import read_tensors
from softlookup.training import command_frame, devices
from softlookup.training.command import TrainingRefused, train_command
from softlookup.training.data import make_batch
from softlookup.training.devices import RankLostError, agreed, run_on_ranks, shard, share_of
from softlookup.training.fast import quick_dtype
from softlookup.training.loop import DivergedError

SAME = replace(TINY, dropout=0.0)
"""Without numbers drawn in a step, which each rank draws for its rows, all numbers of devices give one run."""

KILLED = "Rank 1 of 2 was killed (SIGKILL), and the others were stopped."


ROUNDING = 1e-5 if quick_dtype("cpu") is torch.float32 else 3e-3
"""What rounding changes in a loss where other rows are added up together; some CPUs multiply in bfloat16."""


def close(a, b):
    return all(abs(x - y) < ROUNDING for x, y in zip(a, b, strict=True))


def killing(after=6):
    """What kills the process of the last rank, which was started last, once a state was written."""

    def on_step(progress):
        if progress.step == after:
            max(multiprocessing.active_children(), key=lambda process: process.pid).kill()

    return on_step


@pytest.mark.parametrize("rows, world", [(5, 2), (4, 4), (1, 3)])
def test_shares_are_all_rows_once(rows, world):
    batch = make_batch([([5 + row, 1], [2, 5 + row, 3]) for row in range(rows)], 0)
    shares = [share_of(batch, rank, world) for rank in range(world)]
    taught = [ids for share, weight in shares if weight for ids in share.target_ids.tolist()]
    assert sorted(taught) == batch.target_ids.tolist()
    assert all(share.target_ids.shape[1] == 3 and len(share.source_ids) == len(share.target_ids) for share, _ in shares)
    assert [weight for _, weight in shares] == [1.0] * min(rows, world) + [0.0] * (world - min(rows, world))


def stopped(folder, recipe, stop, error, first, then):
    """Stop a long run, go on for eight steps with other options; give that run, and one that was not stopped."""
    with pytest.raises(error) as caught:
        run(folder / "parts", replace(recipe, steps=100_000, decay_from=99_000), on_step=stop, **first)
    assert not multiprocessing.active_children()
    (path,) = (folder / "parts" / "run").glob("step-*.safetensors")
    steps = int(path.stem.removeprefix("step-")) + 8
    short, notes = replace(recipe, steps=steps, decay_from=steps - 2), []
    parts = run(folder / "parts", short, note=notes.append, **then)
    assert f"going on from {path.name}" in notes
    return parts, run(folder / "whole", short, **then), str(caught.value)


@pytest.mark.slow
def test_a_killed_run_on_two_processes_goes_on_on_one_with_the_losses_of_one(tmp_path):
    parts, alone, says = stopped(tmp_path, SAME, killing(), RankLostError, {"devices": 2}, {})
    assert says == KILLED
    assert parts.step == alone.step and parts.tokens == alone.tokens
    assert close(parts.losses, alone.losses)
    assert close([loss for _, loss in parts.validations], [loss for _, loss in alone.validations])


@pytest.mark.slow
def test_a_killed_run_with_cut_weights_leaves_whole_ones(tmp_path):
    parts, alone, _ = stopped(tmp_path, SAME, killing(), RankLostError, {"devices": 2, "sharded": True}, {})
    assert close(parts.losses, alone.losses)


@pytest.mark.slow
def test_with_dropout_a_stopped_run_goes_on_bit_for_bit_on_as_many_devices(tmp_path):
    def interrupt(progress):
        if progress.step == 9:
            raise KeyboardInterrupt

    two = {"devices": 2}
    parts, whole, _ = stopped(tmp_path, TINY, interrupt, KeyboardInterrupt, two, two)
    assert parts.losses == whole.losses


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"devices": 3}, {"devices": 2, "sharded": True}, {"devices": 2, "tensor": 2}])
def test_a_run_on_one_device_goes_on_on_several(tmp_path, options):
    for name in ("several", "one"):
        run(tmp_path / name, replace(SAME, steps=8, decay_from=7), every=4)
    got = run(tmp_path / "several", SAME, **options)
    alone = run(tmp_path / "one", SAME)
    assert got.step == 16 and close(got.losses, alone.losses)
    states = [read_tensors(tmp_path / name / "run" / "step-00000016.safetensors")[0] for name in ("several", "one")]
    for name in states[1].keys() - {"random/torch"}:
        torch.testing.assert_close(states[0][name], states[1][name], rtol=100 * ROUNDING, atol=ROUNDING)
    assert load_translator(tmp_path / "several").translate("The dog sleeps.").tokens


@pytest.mark.slow
def test_two_by_two_processes_have_the_losses_and_gradient_norms_of_one(tmp_path):
    steps = {"grid": [], "alone": []}
    got = run(tmp_path / "grid", SAME, on_step=steps["grid"].append, devices=4, tensor=2)
    alone = run(tmp_path / "alone", SAME, on_step=steps["alone"].append)
    assert close(got.losses, alone.losses) and got.tokens == alone.tokens
    for step, expected in zip(steps["grid"], steps["alone"], strict=True):
        assert step.gradient_norm == pytest.approx(expected.gradient_norm, rel=10 * ROUNDING)
    assert close([loss for _, loss in got.validations], [loss for _, loss in alone.validations])


def raising(error, rank, device, tell):
    """Work of a rank: one of them raises, and the others wait for it."""
    if agreed(torch.distributed.get_rank()) != 0.0:
        raise AssertionError("all have rank 0's number")
    if torch.distributed.get_rank() == rank:
        raise error
    tell("a line")
    torch.distributed.barrier()


@pytest.mark.slow
@pytest.mark.parametrize("rank", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_what_a_rank_raises_is_raised(rank):
    lines = []
    with pytest.raises(DivergedError, match="the loss is nan") as caught:
        run_on_ranks(partial(raising, DivergedError("the loss is nan"), rank), 2, "cpu", lines.append)
    assert f"On rank {rank}:" in caught.value.__notes__[0]
    assert not multiprocessing.active_children() and lines in ([], ["a line"])


class SlowToEnd:
    """A process whose sentinel is ready, and whose exit status can be read only after a while: when it is waited for.

    Args:
        status: Its exit status.
        first: The process after whose end this one ends.
    """

    def __init__(self, status, first=None):
        self.sentinel, self.end = multiprocessing.Pipe(duplex=False)
        self.status, self.exitcode, self.following = status, None, []
        if first is None:
            self.end.close()
        else:
            first.following.append(self.end)

    def join(self, timeout=None):
        self.exitcode = self.status
        for end in self.following:
            end.close()

    def kill(self):
        pass


@pytest.mark.parametrize("last_words", ["error", "nothing", "end of file"])
@pytest.mark.parametrize("together", [True, False])
def test_a_killed_rank_is_named_however_late_its_exit_status_can_be_read(monkeypatch, last_words, together):
    other = SlowToEnd(0 if last_words == "nothing" else 1)
    processes = [other, SlowToEnd(-9, first=None if together else other)]

    def start(work, arguments, **options):
        *_, writer, _ = arguments
        if last_words == "error":
            writer.send(("error", RuntimeError("[gloo] Connection closed by peer [127.0.0.1]:13704")))
        if last_words != "end of file":
            monkeypatch.setattr(writer, "close", lambda: None)
        return SimpleNamespace(processes=processes)

    monkeypatch.setattr(devices, "start_processes", start)
    with pytest.raises(RankLostError) as caught:
        run_on_ranks(print, 2, "cpu", print)
    assert str(caught.value) == KILLED


def sizes_when_cut(device, tell):
    """Work of a rank: how many numbers a model has, how many of them are on this rank, and so of its optimizer."""
    model = Transformer(Config(40, d_model=16, n_heads=2, n_layers=2, d_hidden=24))
    whole = sum(parameter.numel() for parameter in model.parameters())
    shard(model)
    optimizer = torch.optim.Adam(model.parameters())
    ids = torch.ones(2, 3, dtype=torch.long)
    model(ids, ids).sum().backward()
    optimizer.step()
    states = [state["exp_avg"].to_local().numel() for state in optimizer.state.values()]
    return whole, sum(parameter.to_local().numel() for parameter in model.parameters()), sum(states)


@pytest.mark.slow
def test_a_rank_has_its_part_of_cut_weights_and_states_alone():
    whole, weights, states = run_on_ranks(sizes_when_cut, 2, "cpu", lambda content: None)
    assert weights == states == whole // 2


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """An empty folder as the current one, with pairs and a long recipe."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command_frame, "EVERY", 4)
    (tmp_path / "texts").mkdir()
    for side, ending in enumerate(("en", "fr")):
        (tmp_path / "texts" / f"train.{ending}").write_text("".join(pair[side] + "\n" for pair in some_pairs()))
    (tmp_path / "long.json").write_text(json.dumps(asdict(replace(SAME, steps=100_000))))
    return tmp_path


def losing(progress):
    """Raise in a single process what several raise whose last one was killed."""
    if progress.step == 6:
        raise RankLostError(KILLED)


@pytest.mark.parametrize("devices", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_command_says_in_a_sentence_that_a_rank_was_killed(texts, monkeypatch, devices):
    before_each_step(monkeypatch, killing() if devices > 1 else losing)
    console = Console(file=io.StringIO(), width=200)
    assert train_command("texts", recipe="long.json", devices=devices, console=console) == 1
    output = console.file.getvalue()
    assert "matrix products in" in output and "step 1/100000" in output
    assert ("on 2 devices (cpu)" in output) is (devices == 2)
    (path,) = (texts / "translator-en-fr" / "run").glob("step-*.safetensors")
    last = int(path.stem[5:])
    assert f"{KILLED} Run the same command to continue from step {last}." in output


@pytest.mark.parametrize(
    "options, message",
    [
        ({"devices": 0}, "devices is 0: give at least 1"),
        ({"shard": True}, r"cut among devices \(shard\), and there is one: give 2 devices or more"),
        ({"device": "cuda:0", "devices": 2}, "device is cuda:0, a single one, and devices is 2"),
        ({"device": "cuda", "devices": 2}, "devices is 2, and the CUDA devices here are 1: give fewer"),
    ],
)
def test_options_that_do_not_go_together_are_refused(texts, monkeypatch, options, message):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(TrainingRefused, match=message):
        train_command("texts", **options)
    assert not list(texts.glob("translator*")), "nothing is left behind"
