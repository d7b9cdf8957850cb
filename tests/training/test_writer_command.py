"""`softlookup train-writer`, its batches and its recipe."""

import gzip
import io
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from rich.console import Console
from tiny_translation import before_each_step

from softlookup.model.published.writer import load_writer
from softlookup.text.grammar import sample
from softlookup.text.lines import mark_lines
from softlookup.training import command_frame
from softlookup.training.command_frame import TrainingRefused
from softlookup.training.loop import validation_loss
from softlookup.training.recipe import WriterRecipe
from softlookup.training.windows import WindowBatches
from softlookup.training.writer_command import train_writer_command
from softlookup.training.writing import hold_out
from softlookup_command.commands import main

TINY = WriterRecipe(
    vocab_size=90, d_model=16, n_heads=2, n_kv_heads=1, n_layers=1, d_hidden=24, max_length=12, rows=4, peak=5e-3,
    warmup=2, decay_from=10, steps=16,
)  # fmt: skip
TEXT = "\n\n".join(f"ANNA:\n{pair.english}" for pair in sample(60, 0))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder as the current one, with a text, a tiny recipe, and a state after every fourth step."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command_frame, "EVERY", 4)
    (tmp_path / "tiny.json").write_text(json.dumps(asdict(TINY)))
    (tmp_path / "text.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    return tmp_path


def call(file="text.txt.gz", **options):
    """Run the command; give its exit status and what it printed."""
    console = Console(file=io.StringIO(), width=200)
    status = train_writer_command(file, console=console, **{"recipe": "tiny.json"} | options)
    return status, console.file.getvalue()


def test_a_text_becomes_a_writer_with_its_best_weights(here):
    status, output = call(out="mine")
    assert status == 0 and 'load_writer("mine").write("...") uses it' in output
    writer = load_writer(here / "mine")
    assert writer.write("ANNA:", max_new_tokens=5).startswith("ANNA:")
    curve = json.loads((here / "mine" / "curve.json").read_text())
    losses = dict(curve["validation"])
    assert losses[curve["best_step"]] == min(losses.values()) and curve["training"][-1][0] == 16
    ids = writer.encode(hold_out(TEXT)[1])
    validation = WindowBatches(ids, length=12, rows=4, seed=None)
    assert validation_loss(writer.model, validation) == pytest.approx(min(losses.values()), abs=2e-2)


def test_a_stopped_run_goes_on_to_the_same_weights(here, monkeypatch):
    call(out="whole")

    def stop(progress):
        if progress.step == 11:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        before_each_step(patched, stop)
        status, output = call(out="parts")
    assert status == 130 and "Run the same command to continue from step" in output
    status, output = call(out="parts")
    assert status == 0 and "going on from step-" in output
    got, expected = (load_writer(here / name).model.state_dict() for name in ("parts", "whole"))
    assert all(torch.equal(got[name], expected[name]) for name in expected)


def test_what_can_be_mended_is_refused_in_a_sentence(here):
    (here / "short.txt").write_text("A line.\nAnother.")
    with pytest.raises(TrainingRefused, match="the text has no empty line before its last part"):
        call("short.txt")
    call(out="mine")
    (here / "other.json").write_text(json.dumps(asdict(replace(TINY, d_hidden=32))))
    with pytest.raises(TrainingRefused, match="d_hidden was 24, is 32"):
        call(out="mine", recipe="other.json")
    with pytest.raises(TrainingRefused, match="minutes is 0: give a number above 0"):
        call(minutes=0)
    done = CliRunner().invoke(main, ["train-writer", "text.txt.gz", "--recipe", "tiny.json", "--device", "abacus"])
    assert done.exit_code == 2 and "device is 'abacus'; wanted cpu or cuda" in done.output


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_heads": 3}, "d_model 16 cannot be cut into 3 heads"),
        ({"rows": 0}, "rows is 0; wanted at least 1"),
        ({"weight_decay": 1.0}, "weight_decay is 1.0; wanted a share"),
        ({"steps": 5}, "steps 5; wanted 0 <= warmup <= decay_from < steps"),
    ],
)
def test_a_wrong_recipe_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changed)


def test_hold_out_cuts_at_the_beginning_of_a_paragraph():
    training, held_out = hold_out(TEXT)
    assert f"{training}\n\n{held_out}" == TEXT
    assert held_out.startswith("ANNA:") and len(TEXT) / 10 <= len(held_out) < len(TEXT) / 8


def test_windows_of_an_epoch_make_each_token_a_label_once():
    ids = list(range(100, 200))
    batches = WindowBatches(ids, length=7, rows=3, seed=5)
    rows = torch.cat([batch.target_ids for batch in batches.epoch(2)])
    labels = rows[:, 1:].flatten().tolist()
    assert len(labels) == len(set(labels)) and len(labels) > 100 - 2 * 7 - 1
    assert (rows[:, 1:] - rows[:, :-1] == 1).all() and not torch.equal(rows, rows.sort(dim=0).values)
    again = torch.cat([batch.target_ids for batch in batches.epoch(2, start=1)])
    assert torch.equal(again, rows[3:])
    other = torch.cat([batch.target_ids for batch in batches.epoch(3)])
    assert {int(token) for token in rows[:, 0]} != {int(token) for token in other[:, 0]}


def test_windows_for_measuring_begin_at_the_first_token():
    (batch,) = WindowBatches(list(range(15)), length=7, rows=8, seed=None).epoch(0)
    np.testing.assert_array_equal(batch.target_ids, [np.arange(8), np.arange(7, 15)])
    with pytest.raises(ValueError, match="the text has 14 tokens; wanted at least 15"):
        WindowBatches(list(range(14)), length=7, rows=8)


def test_tokens_are_learned_from_the_training_part_alone(here):
    text = TEXT + "\n\nANNA:\n" + "Zyzzyva " * 20
    (here / "more.txt").write_text(text, encoding="utf-8")
    call("more.txt", out="more")
    writer = load_writer(here / "more")
    assert "Zyz" not in mark_lines(hold_out(text)[0])
    assert not any("zz" in token for token in writer.tokenizer.vocabulary.tokens)
