"""`softlookup train`: what it reads, what it says, and how it goes on."""

import builtins
import gzip
import io
import json
from dataclasses import asdict

import pytest
import torch
from rich.console import Console
from tiny_translation import TINY, before_each_step, some_pairs

from softlookup.model.published.translator import load_translator
from softlookup.training import command, command_frame
from softlookup.training.command import TrainingRefused, train_command
from softlookup.training.grammar_run import grammar_recipe
from softlookup.training.loop import DivergedError
from softlookup.training.recipe import Recipe


def write_pairs(folder, split, pairs, *, endings=("en", "fr"), packed=False):
    """Write sentence pairs as two files."""
    folder.mkdir(exist_ok=True)
    for side, ending in enumerate(endings):
        text = "".join(pair[side] + "\n" for pair in pairs).encode()
        if packed:
            (folder / f"{split}.{ending}.gz").write_bytes(gzip.compress(text))
        else:
            (folder / f"{split}.{ending}").write_bytes(text)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder as the current one, with a tiny recipe and a state after every fourth step."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command_frame, "EVERY", 4)
    (tmp_path / "tiny.json").write_text(json.dumps(asdict(TINY)))
    return tmp_path


def call(*arguments, **options):
    """Run the command; give its exit status and what it printed."""
    console = Console(file=io.StringIO(), width=200)
    status = train_command(*arguments, console=console, **options)
    return status, console.file.getvalue()


@pytest.mark.slow
def test_a_folder_of_text_files_becomes_a_translator(here):
    write_pairs(here / "texts", "train", [*some_pairs(), ("", "vide")])
    write_pairs(here / "texts", "val", some_pairs(12, seed=1), packed=True)
    status, output = call("texts", recipe="tiny.json")
    assert status == 0
    assert "1 lines of train are empty on a side and are left out" in output
    assert "70 pairs to learn from, 12 to choose by, into translator-en-fr" in output
    assert "step 16/16" in output and "validation loss" in output
    assert "translating 12 validation sentences with a beam of 4" in output
    assert "validation BLEU " in output and "tok:13a" in output and "test files were not looked at" in output
    assert 'load_translator("translator-en-fr").translate("...") uses it' in output
    assert load_translator(here / "translator-en-fr").translate("The dog sleeps.").tokens
    status, again = call("texts", recipe="tiny.json")
    assert status == 0 and "going on from step-00000016" in again and "step 16/16" not in again


@pytest.mark.slow
def test_other_languages_and_another_place(here):
    turned = [(french, english) for english, french in some_pairs()]
    write_pairs(here / "texts", "train", turned, endings=("fr", "en"), packed=True)
    status, output = call("texts", source="fr", target="en", recipe="tiny.json", out=here / "mine")
    assert status == 0 and "val" in output
    translator = load_translator(here / "mine")
    assert translator.translate("Le chien dort.").source_tokens[-1] == "</s>"
    assert not (here / "translator-fr-en").exists()


def test_without_validation_files_pairs_are_held_out(here):
    pairs = some_pairs(60)
    copies = [pairs[7]] * 20
    write_pairs(here / "texts", "train", [*pairs, *copies])
    corpus = command._read(here / "texts", "en", "fr", 3)
    assert len(corpus.validation) == 80 // 20
    assert not set(corpus.pairs) & set(corpus.validation), "no copy of a held-out pair is learned from"
    assert set(corpus.pairs) | set(corpus.validation) == set(pairs)
    assert corpus.notes == ["no val.en and val.fr: 4 pairs are held out to choose by (seed 3)"]
    again, other = (command._read(here / "texts", "en", "fr", seed).validation for seed in (3, 4))
    assert again == corpus.validation != other
    many = [(str(number), str(number)) for number in range(30_000)]
    remaining, held_out = command._hold_out(many, 0)
    assert (
        len(held_out) == 1000
        and len(remaining) == 29_000
        and remaining == sorted(remaining, key=lambda pair: int(pair[0]))
    )


def test_without_a_folder_the_grammar_is_taken(here, monkeypatch):
    arguments = {}

    def stand_in(out, recipe, **options):
        arguments.update(options, out=out, recipe=recipe)
        return "a report"

    monkeypatch.setattr(command, "train_on_grammar", stand_in)
    status, output = call()
    assert status == 0 and "generated grammar" in output and "a report" in output
    assert arguments["recipe"] == grammar_recipe() and str(arguments["out"]) == "translator-grammar"
    assert arguments["device"] == "cpu" and arguments["every"] == 4
    assert arguments["devices"] == 1 and arguments["sharded"] is False
    status, output = call(recipe="tiny.json", out="mine")
    assert arguments["recipe"] == TINY and str(arguments["out"]) == "mine"


def test_the_default_recipe_is_that_of_the_library(here, monkeypatch):
    recipes = []
    monkeypatch.setattr(command, "_run", lambda corpus, out, recipe, *rest: recipes.append(recipe))
    write_pairs(here / "texts", "train", some_pairs())
    assert call("texts")[0] == 0 and recipes == [Recipe()]


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(here, monkeypatch):
    write_pairs(here / "texts", "train", some_pairs())
    at = [2]

    def stop(progress):
        if progress.step == at[0]:
            raise KeyboardInterrupt

    before_each_step(monkeypatch, stop)
    status, output = call("texts", recipe="tiny.json")
    assert status == 130 and "Stopped. No state had been written: run the same command to start again." in output
    at[0] = 11
    status, output = call("texts", recipe="tiny.json")
    assert status == 130 and "Stopped. Run the same command to continue from step 8." in output
    at[0] = -1
    status, output = call("texts", recipe="tiny.json")
    assert status == 0 and "going on from step-00000008" in output and "validation BLEU" in output


@pytest.mark.slow
def test_when_the_minutes_are_over_it_stops_after_a_state_was_written(here):
    write_pairs(here / "texts", "train", some_pairs())
    status, output = call("texts", recipe="tiny.json", minutes=1e-6)
    assert status == 0 and "The 1e-06 minutes are over. Run the same command to continue from step 4." in output
    status, output = call("texts", recipe="tiny.json", minutes=1e-6)
    assert "continue from step 8" in output
    status, output = call("texts", recipe="tiny.json", minutes=60)
    assert status == 0 and "done" in output


def test_without_sacrebleu_it_says_so(here, monkeypatch):
    write_pairs(here / "texts", "train", some_pairs())
    real = builtins.__import__

    def missing(name, *rest):
        if name.startswith("sacrebleu"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    status, output = call("texts", recipe="tiny.json")
    assert status == 0 and "BLEU needs the package sacrebleu" in output and "done" in output


def test_validation_sentences_that_are_too_long_are_not_translated(here):
    write_pairs(here / "texts", "train", some_pairs())
    long = ("The dog sleeps. " * 30, "Le chien dort. " * 30)
    write_pairs(here / "texts", "val", [*some_pairs(12, seed=1), long])
    status, output = call("texts", recipe="tiny.json")
    assert status == 0 and "translating 12 validation sentences" in output


@pytest.mark.parametrize(
    "options, message",
    [
        ({"folder": "none"}, "looked for train.en and train.en.gz in none; found neither"),
        ({"folder": "texts", "source": "de"}, "looked for train.de"),
        ({"folder": "texts", "target": "en"}, "source and target are both 'en': give two different suffixes"),
        ({"folder": "half"}, "looked for val.fr and val.fr.gz in half; found neither"),
        ({"folder": "one"}, r"there are too few pairs \(1\): none is left to train on beside those held out"),
        ({"folder": "texts", "recipe": "none.json"}, "there is no recipe none.json"),
        ({"folder": "texts", "recipe": "bad.json"}, "bad.json names layers; a recipe has"),
        ({"folder": "texts", "out": "tiny.json"}, "tiny.json is a file: name a folder for the model"),
        ({"source": "fr", "target": "en"}, "the generated grammar is English to French, not fr to en"),
        ({"device": "abacus"}, "device is 'abacus'; wanted cpu or cuda"),
        ({"device": "meta"}, "device is 'meta'; wanted cpu or cuda"),
        ({"minutes": 0.0}, "minutes is 0.0: give a number above 0"),
    ],
)
def test_what_can_be_mended_is_refused_in_a_sentence(here, options, message):
    write_pairs(here / "texts", "train", some_pairs())
    write_pairs(here / "half", "train", some_pairs())
    write_pairs(here / "one", "train", some_pairs(1))
    (here / "half" / "val.en").write_text("One dog sleeps.\n")
    (here / "bad.json").write_text('{"layers": 2}')
    with pytest.raises(TrainingRefused, match=message):
        call(**options)
    assert not list(here.glob("translator*")), "nothing is left behind"


def test_cuda_is_refused_where_there_is_none(here, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(TrainingRefused, match="no CUDA device is here: train on cpu"):
        call(device="cuda")


def test_another_run_in_the_folder_is_refused(here, monkeypatch):
    write_pairs(here / "texts", "train", some_pairs())
    assert call("texts", recipe="tiny.json")[0] == 0
    (here / "other.json").write_text(json.dumps(asdict(TINY) | {"d_model": 32}))
    with pytest.raises(TrainingRefused, match=r"translator-en-fr holds a run .* d_model was 16, is 32\. Give another"):
        call("texts", recipe="other.json")

    def diverge(*rest):
        raise DivergedError("the loss is nan at step 3")

    monkeypatch.setattr(command, "_run", diverge)
    with pytest.raises(TrainingRefused, match="the loss is nan at step 3"):
        call("texts", recipe="tiny.json")
