"""train_translator: runs that are killed and go on, recipes in files, and what a run leaves behind."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
import tiny_translation
import torch
from tiny_translation import TINY, run, some_pairs

from softlookup.model.published.translator import load_translator
from softlookup.model.whole.weights import CheckpointError, read_tensors
from softlookup.training import run_folder, translation
from softlookup.training.data import BucketedBatches, encode_pairs
from softlookup.training.loop import validation_loss
from softlookup.training.recipe import Recipe
from softlookup.training.translation import train_translator


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The run that nothing interrupts: its folder, its end, and what it noted."""
    folder, notes = tmp_path_factory.mktemp("whole"), []
    return folder, run(folder, note=notes.append), notes


def stop(progress):
    raise KeyboardInterrupt


def assert_same_end(folder, whole, first_step):
    """Go on with a run, and compare all that it leaves with the run that nothing interrupted."""
    steps, notes = [], []
    state = run(folder, on_step=lambda progress: steps.append(progress.step), note=notes.append)
    assert steps == list(range(first_step, TINY.steps + 1))
    going_on = [note for note in notes if "going on" in note]
    assert going_on == ([f"going on from step-{first_step - 1:08d}.safetensors"] if first_step > 1 else [])
    assert state == whole[1]
    for name in ("curve.json", "merges.txt", "config.json", "recipe.json"):
        assert (folder / name).read_bytes() == (whole[0] / name).read_bytes()
    assert_same_weights(folder, whole[0])


def assert_same_weights(folder, other):
    weights, other_weights = (read_tensors(path / "model.safetensors")[0] for path in (folder, other))
    assert weights.keys() == other_weights.keys() and all(
        torch.equal(weights[name], other_weights[name]) for name in weights
    )
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}


def test_a_run_leaves_what_load_translator_reads(whole):
    folder, state, notes = whole
    left = {path.name for path in folder.iterdir()}
    assert left == {"merges.txt", "config.json", "model.safetensors", "recipe.json", "curve.json", "run"}
    translator = load_translator(folder)
    assert translator.translate("The dog sleeps.", beams=1).text
    config = translator.model.config
    assert (config.d_model, config.n_heads, config.n_layers, config.d_hidden) == (16, 2, 1, 24)
    assert config.pre_norm and config.tied and config.max_length == 60 and config.vocab_size == 120
    validation = BucketedBatches(
        encode_pairs(some_pairs(12, seed=1), translator.tokenizer), pad_id=0, tokens_per_batch=600
    )
    # The best weights, and not the last ones, rounded to half precision.
    assert validation_loss(translator.model, validation) == pytest.approx(state.best_loss, abs=2e-3)
    assert "learned 120 tokens from the training text" in notes[0] and "parameters; matrix products in" in notes[1]
    assert notes[-1] == f"validation loss {state.validations[-1][1]:.4f}"


def test_the_weights_kept_are_the_best_ones(tmp_path, monkeypatch):
    losses = iter([3.0, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    monkeypatch.setattr(translation, "validation_loss", lambda model, batches: next(losses))
    state = run(tmp_path)
    assert state.best_loss == 1.0 and state.best_step < state.step
    tensors, header = read_tensors(tmp_path / "run" / "best.safetensors")
    assert header["notes"]["step"] == state.best_step == json.loads((tmp_path / "curve.json").read_text())["best_step"]
    table = load_translator(tmp_path).model.embedder.tokens.table
    assert torch.equal(table, tensors["embedder.tokens.table"].half().float())


def test_the_curve_is_written_down(whole):
    folder, state, _ = whole
    curve = json.loads((folder / "curve.json").read_text())
    assert curve["pairs"] == 70 and curve["too_long"] == 0 and curve["best_step"] == state.best_step
    assert [tuple(point) for point in curve["validation"]] == state.validations
    assert [tuple(point) for point in curve["training"]] == [(i, round(x, 4)) for i, x in enumerate(state.losses, 1)]
    assert len(state.losses) == state.step == TINY.steps
    assert state.validations[-1][1] < state.validations[0][1]
    assert Recipe(**json.loads((folder / "recipe.json").read_text())) == TINY


def test_a_long_curve_is_thinned_to_means():
    thinned = run_folder.thinned([float(i) for i in range(1, 1001)], points=10)
    assert thinned == [(100 * i, 100 * i - 49.5) for i in range(1, 11)]
    assert run_folder.thinned([1.0, 2.0, 6.0], points=2) == [(1, 1.0), (2, 2.0), (3, 6.0)]
    assert run_folder.thinned([1.0, 3.0, 6.0, 8.0, 9.0], points=2) == [(2, 2.0), (4, 7.0), (5, 9.0)]


@pytest.mark.slow
def test_a_run_goes_on_after_sigkill_to_the_same_curve(tmp_path, whole):
    program = [sys.executable, tiny_translation.__file__, str(tmp_path), "10"]
    done = subprocess.run(program, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert not (tmp_path / "model.safetensors").exists()
    assert_same_end(tmp_path, whole, first_step=9)


def test_a_run_that_is_stopped_before_its_first_state_begins_anew(tmp_path, whole):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, on_step=stop)
    assert_same_end(tmp_path, whole, first_step=1)


def test_a_run_that_is_done_does_nothing_more(whole):
    folder, state, _ = whole
    before, steps = read_tensors(folder / "model.safetensors")[0], []
    assert run(folder, on_step=lambda progress: steps.append(progress.step)) == state
    after = read_tensors(folder / "model.safetensors")[0]
    assert steps == [] and all(torch.equal(after[name], tensor) for name, tensor in before.items())


@pytest.mark.slow
def test_a_run_may_be_made_longer_and_begin_later_parts(tmp_path):
    short = Recipe(**{**vars(TINY), "steps": 8, "decay_from": 7})
    first = run(tmp_path, short)
    longer = run(tmp_path, TINY)
    assert longer.step == 16 and longer.losses[:8] == first.losses


def test_a_second_stage_begins_with_the_weights_of_the_first(tmp_path, whole):
    notes = []
    state = run(tmp_path, replace(TINY, dropout=0.0, seed=7), begin=whole[0], note=notes.append)
    assert f"beginning with the weights of {whole[0]}" in notes
    assert (tmp_path / "merges.txt").read_bytes() == (whole[0] / "merges.txt").read_bytes()
    assert state.losses[0] < 0.9 * whole[1].losses[0]


def test_a_second_stage_needs_a_first(tmp_path):
    with pytest.raises(FileNotFoundError, match="merges.txt"):
        run(tmp_path / "second", begin=tmp_path / "nothing")


def test_another_recipe_or_other_pairs_are_refused(whole):
    folder, *_ = whole
    with pytest.raises(CheckpointError, match=r"other settings: d_model was 16, is 32; peak was 0.005, is 0.1\. Give"):
        run(folder, Recipe(**{**vars(TINY), "d_model": 32, "peak": 0.1}))
    with pytest.raises(CheckpointError, match="holds a run with other settings: pairs was .*, is "):
        train_translator(some_pairs(seed=2), some_pairs(12, seed=1), folder, TINY)
    with pytest.raises(CheckpointError, match="pairs was "):
        train_translator(some_pairs(), some_pairs(12, seed=2), folder, TINY)


def test_merges_of_a_run_that_was_killed_at_once_are_not_taken_for_another(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, on_step=stop)
    assert (tmp_path / "merges.txt").exists() and not list((tmp_path / "run").glob("step-*"))
    with pytest.raises(CheckpointError, match="vocab_size was 120, is 110"):
        run(tmp_path, Recipe(**{**vars(TINY), "vocab_size": 110}))


def test_long_pairs_are_left_out_and_counted(tmp_path):
    long = ("The dog sleeps. " * 30, "Le chien dort. " * 30)
    pairs, validation, notes = [long, *some_pairs(), long], [*some_pairs(12, seed=1), long], []
    state = train_translator(pairs, validation, tmp_path, TINY, note=notes.append)
    assert "2 of 72 training pairs are longer than 60 pieces and are left out" in notes
    assert "1 of 13 validation pairs are longer than 60 pieces and are left out" in notes
    curve = json.loads((tmp_path / "curve.json").read_text())
    assert curve["pairs"] == 70 and curve["too_long"] == 2 and state.step == TINY.steps
    with pytest.raises(ValueError, match="none of 2 training pairs has at most 60 pieces on both sides"):
        train_translator([long, long], validation, tmp_path / "other", TINY)
    with pytest.raises(ValueError, match="no sentence pairs"):
        train_translator(pairs, [], tmp_path / "third", TINY)


def test_pairs_that_a_cut_by_chance_makes_too_long_keep_the_plain_one(tmp_path):
    recipe = Recipe(**{**vars(TINY), "max_length": 26, "segmentation_dropout": 0.9, "tokens_per_batch": 200})
    tokenizer = run_folder.learned_tokenizer(
        [sentence for pair in some_pairs() for sentence in pair],
        tmp_path / "merges.txt",
        recipe.vocab_size,
        lambda line: None,
    )
    pairs, plain = translation._short_enough(some_pairs(), tokenizer, 26, "training", lambda line: None)
    recut = translation._recut(pairs, plain, tokenizer, recipe)
    cuts = recut(0)
    assert max(len(side) for pair in cuts for side in pair) <= 26 < 60
    same = [list(map(list, cut)) == list(map(list, plain_cut)) for cut, plain_cut in zip(cuts, plain, strict=True)]
    assert any(same) and not all(same)
    decoded = [(tokenizer.decode(source), tokenizer.decode(target)) for source, target in cuts]
    assert decoded == pairs
    again, other = recut(0), recut(1)
    assert all((a[0] == b[0]).all() for a, b, s in zip(cuts, again, same, strict=True) if not s)
    assert any(len(a[0]) != len(b[0]) for a, b in zip(cuts, other, strict=True))


def test_without_segmentation_dropout_every_epoch_has_the_plain_cut(tmp_path, monkeypatch):
    batch_options = {}

    def spy(pairs, **options):
        batch_options.update(options, n=batch_options.get("n", 0) + 1)
        return BucketedBatches(pairs, **options)

    monkeypatch.setattr(translation, "BucketedBatches", spy)
    monkeypatch.setattr(translation, "_recut", lambda *arguments: pytest.fail("nothing is to be cut anew"))
    run(tmp_path, Recipe(**{**vars(TINY), "segmentation_dropout": 0.0, "steps": 13}))
    assert batch_options["n"] == 2


# Recipes.


def test_a_recipe_is_read_from_a_file(tmp_path):
    path = tmp_path / "recipe.json"
    path.write_text('{"steps": 30, "decay_from": 20, "warmup": 3, "peak": 1}')
    assert Recipe.read(path) == Recipe(steps=30, decay_from=20, warmup=3, peak=1.0)
    assert Recipe.read(str(path)).d_model == 192
    path.write_text("{}")
    assert Recipe.read(path) == Recipe()


@pytest.mark.parametrize(
    "text, message",
    [
        ("steps: 3", r"recipe.json is no JSON: Expecting value"),
        ("[1]", r"recipe.json holds a list; wanted an object with fields of a recipe"),
        ('{"stepps": 3, "layers": 2}', r"recipe.json names layers, stepps; a recipe has average, .*, warmup$"),
        ('{"steps": 3.5}', r"recipe.json: steps is 3.5; wanted a whole number"),
        ('{"steps": true}', r"recipe.json: steps is True; wanted a whole number"),
        ('{"peak": "high"}', r"recipe.json: peak is 'high'; wanted a number"),
        ('{"peak": 0}', r"recipe.json: peak is 0.0; wanted a positive, finite rate"),
        ('{"peak": NaN}', r"peak is nan; wanted"),
        ('{"dropout": 1.0}', r"dropout is 1.0; wanted a share, at least 0 and below 1"),
        ('{"epsilon": -0.1}', r"epsilon is -0.1; wanted a share"),
        ('{"average": 1.0}', r"average is 1.0; wanted a share"),
        ('{"segmentation_dropout": 2}', r"segmentation_dropout is 2.0; wanted a share"),
        ('{"seed": -1}', r"seed is -1; wanted at least 0"),
        ('{"max_length": 1}', r"max_length is 1; wanted at least 2"),
        ('{"n_heads": 5}', r"d_model 192 cannot be cut into 5 heads"),
        ('{"n_layers": 0}', r"n_layers is 0; wanted at least 1"),
        ('{"steps": 500}', r"warmup is 1000, decay_from 16000, steps 500; wanted 0 <= warmup <= decay_from < steps"),
        ('{"tokens_per_batch": 500}', r"tokens_per_batch is 500, max_length 256: .* longest pair, 512 tokens"),
    ],
)
def test_a_recipe_that_makes_no_run_is_refused(tmp_path, unchecked, text, message):
    path = tmp_path / "recipe.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Recipe.read(path)


def test_a_recipe_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no recipe .*none.json"):
        Recipe.read(tmp_path / "none.json")
