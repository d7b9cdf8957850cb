"""softlookup tune: what it reads and refuses, what it learns from, that it goes on exactly, and that talk uses it."""

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result

from softlookup.model.published.chat_folder import load_chat
from softlookup.model.published.lora import add_lora, load_adapter, merge_lora, save_adapter
from softlookup.model.whole.weights import CheckpointError, read_tensors
from softlookup.post_training.tune import TuneSettings, answer_loss, answer_loss_of, learning_rate, tune
from softlookup.post_training.tune_data import ExampleBatches, hold_out, read_examples
from softlookup.training.loop import Progress
from softlookup_command.commands import main
from tests.odd_files import TEXTS, odd_fields, refusal
from tests.post_training.tiny_folder import write_tiny_folder

WORDS = ("red", "blue", "green", "grey", "black", "white", "pink", "brown", "gold", "teal", "lime", "rust")


def conversation(word: str) -> dict:
    return {"messages": [{"role": "user", "content": f"{word}?"}, {"role": "assistant", "content": f"<{word}>"}]}


def answer_with(**entries: object) -> dict:
    question, answer = conversation("red")["messages"]
    return {"messages": [question, answer | entries]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_tiny_folder(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "examples.jsonl"
    path.write_text("".join(json.dumps(conversation(word)) + "\n" for word in WORDS))
    return path


def call(*words: object) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def test_every_conversation_has_a_system_message_as_a_question_has(folder, file) -> None:
    chat = load_chat(folder)
    chat.system = "Be brief."
    example = read_examples(file, chat)[0]
    text = chat.prompt("red?") + "<red><|im_end|>\n"
    assert chat.decode(list(example.ids), skip_specials=False) == text
    answer = [number for number, is_answer in zip(example.ids, example.is_answer, strict=True) if is_answer]
    assert chat.decode(answer, skip_specials=False) == "<red><|im_end|>"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "it is no JSON"),
        ("[1]", "it has no list of messages; wanted"),
        ('{"messages": []}', "it has no list of messages; wanted"),
        ('{"messages": ["Hi"]}', 'message 0 is "Hi"; wanted a role and a content'),
        ('{"messages": [{"role": "user", "content": 3}]}', "wanted a role and a content, both texts"),
        ('{"messages": [{"role": "user", "content": "Hi"}]}', "there is no answer to learn from"),
        (
            '{"messages": [{"role": "bot", "content": ""}, {"role": "assistant", "content": ""}]}',
            "message 0 has the role 'bot'",
        ),
        ('{"messages": [{"role": "assistant", "content": "<|im_end|>"}]}', "holds <|im_end|>"),
        (json.dumps(conversation("a" * 100)), "tokens; the model takes at most 160"),
        (json.dumps(answer_with(tool_calls=[{"id": 1}])), "message 1 has 'tool_calls', for which ChatML has no place"),
        (json.dumps(answer_with(reasoning_content="Hm.")), "message 1 has 'reasoning_content'"),
        (json.dumps(answer_with(weight=0)), "message 1 has 'weight'"),
        (json.dumps(conversation("red") | {"tools": [{"name": "f"}]}), "it has tools, which a template would write"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number_and_nothing_is_written(folder, file, tmp_path, line, message) -> None:
    file.write_text(json.dumps(conversation("red")) + "\n\n" + line + "\n")
    result = call("tune", file, "--model", folder, "--out", tmp_path / "out")
    assert result.exit_code == 2 and f"{file}, line 3: " in result.stderr and message in result.stderr
    assert not (tmp_path / "out").exists() and len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("data", TEXTS)
def test_a_line_of_any_content_is_refused_with_its_number(folder, file, data) -> None:
    file.write_bytes(json.dumps(conversation("red")).encode() + b"\n" + (data or b"{}") + b"\n")
    message = refusal(lambda: read_examples(file, load_chat(folder)), file, repr(data[:40]))
    assert f"{file}, line 2: it " in message


def test_a_conversation_with_any_value_is_read_or_refused(folder, file) -> None:
    chat = load_chat(folder)
    for what, changed in odd_fields(conversation("red"), 4):
        file.write_text(json.dumps(changed))
        refusal(lambda: read_examples(file, chat), file, what)


def test_a_byte_order_mark_is_no_part_of_the_first_line_and_a_long_line_is_not_read(folder, file) -> None:
    chat = load_chat(folder)
    plain = read_examples(file, chat)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_examples(file, chat) == plain
    with open(file, "wb") as sparse:
        sparse.truncate(10 * 2**30)
    with pytest.raises(ValueError, match="line 1: it has more than 8,000,000 bytes"):
        read_examples(file, chat)


def test_entries_without_a_value_or_a_part_in_the_text_change_nothing(folder, file) -> None:
    chat = load_chat(folder)
    plain = read_examples(file, chat)[0]
    file.write_text(json.dumps(answer_with(tool_calls=None, name=None) | {"tools": None, "source": "a book"}))
    assert read_examples(file, chat)[0].ids == plain.ids


def test_what_cannot_be_done_is_refused_in_a_sentence(folder, file, tmp_path) -> None:
    empty, single = tmp_path / "empty", tmp_path / "single"
    empty.write_text("\n")
    single.write_text(json.dumps(conversation("red")) + "\n")
    out = ("--out", tmp_path / "out")
    for words, message in (
        ((tmp_path / "none", "--model", folder, *out), "there is no file"),
        ((empty, "--model", folder, *out), "holds no example"),
        ((single, "--model", folder, *out), "too few examples (1)"),
        ((file, "--model", tmp_path / "none", *out), "wanted 'smollm2' or the folder of a model"),
        ((file, "--model", tmp_path, *out), "there is no file"),
        ((file, "--model", folder, "--alpha", 0, *out), "alpha is 0.0; wanted a finite number above 0"),
        ((file, "--model", folder, "--device", "abacus", *out), "wanted cpu or cuda"),
        ((file, "--model", folder, "--out", single), "is a file"),
    ):
        result = call("tune", *words)
        assert result.exit_code == 2 and message in result.stderr, result.output
    assert not (tmp_path / "out").exists()


def test_held_out_examples_and_their_copies_are_not_learned_from(folder, file) -> None:
    file.write_text(file.read_text() * 2)
    examples = read_examples(file, load_chat(folder))
    learned, apart = hold_out(examples, 3)
    assert len(apart) == 2 and not {example.ids for example in apart} & {example.ids for example in learned}
    assert hold_out(examples, 3) == (learned, apart)


def test_the_loss_is_that_of_the_assistants_tokens_whatever_the_filling(folder, file) -> None:
    chat = load_chat(folder)
    file.write_text("".join(json.dumps(conversation(word)) + "\n" for word in ("red", "a" * 30)))
    examples = read_examples(file, chat)
    (batch,) = ExampleBatches(examples, pad_id=2, rows=4).epoch(0)
    expected = 0.0
    for example in examples:
        surprises = -chat.model(torch.tensor([example.ids]))[0].log_softmax(-1)
        pairs = zip(example.ids[1:], example.is_answer[1:], strict=True)
        expected += sum(surprises[t, number].item() for t, (number, is_answer) in enumerate(pairs) if is_answer)
    assert answer_loss(chat.model, batch, 0.0).item() == pytest.approx(expected, rel=1e-5)
    assert batch.tokens == sum(sum(example.is_answer) for example in examples)
    mean = answer_loss_of(chat.model, ExampleBatches(examples, pad_id=2, rows=1))
    assert mean == pytest.approx(expected / batch.tokens, rel=1e-5)


def test_the_rate_rises_and_falls() -> None:
    rates = [learning_rate(step, 30, 2.0) for step in range(1, 31)]
    assert max(rates) == 2.0 == rates[2] and min(rates) > 0
    assert rates[:3] == sorted(rates[:3]) and rates[2:] == sorted(rates[2:], reverse=True)
    assert learning_rate(1, 1, 2.0) == 2.0


class Killed(Exception):
    """Stands for a kill."""


@pytest.mark.slow
def test_a_killed_run_goes_on_exactly(folder, file, tmp_path) -> None:
    settings = TuneSettings(rank=2, epochs=4, batch=3, every=3, learning_rate=1e-2)

    def run(out: Path, on_step=None):
        chat = load_chat(folder)
        return tune(chat, read_examples(file, chat), out, settings, on_step=on_step)

    def kill(progress: Progress) -> None:
        if progress.step == 8:
            raise Killed

    whole = run(tmp_path / "whole")
    with pytest.raises(Killed):
        run(tmp_path / "parts", kill)
    steps: list[int] = []
    parts = run(tmp_path / "parts", lambda progress: steps.append(progress.step))
    assert steps == list(range(7, 17)) and parts.losses == whole.losses
    assert (parts.loss_before, parts.loss_after, parts.samples) == (whole.loss_before, whole.loss_after, whole.samples)
    weights = [read_tensors(tmp_path / name / "adapter_model.safetensors")[0] for name in ("whole", "parts")]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(tensor, weights[1][name]) for name, tensor in weights[0].items())
    state = next((tmp_path / "whole" / "run").glob("step-*.safetensors"))
    assert state.stat().st_size < (folder / "model.safetensors").stat().st_size  # the frozen weights are not in it
    other = load_chat(write_tiny_folder(tmp_path / "other", seed=1))
    with pytest.raises(CheckpointError, match="model was"):
        tune(other, read_examples(file, other), tmp_path / "whole", settings)


def test_tune_learns_and_talk_uses_the_adapter(folder, file, tmp_path) -> None:
    out = tmp_path / "tuned"
    words = ("--model", folder, "--out", out, "--epochs", 30, "--learning-rate", 0.02, "--rank", 4)
    result = call("tune", file, *words)
    assert result.exit_code == 0, result.output
    report = json.loads((out / "report.json").read_text())
    assert report["loss_after"] < report["loss_before"] - 1 and report["trained_parameters"] == 4 * 2 * (32 + 24)
    for text in (
        "held-out examples: ",
        "trained parameters",
        "before: ",
        "after: ",
        f"softlookup talk --adapter {out}",
    ):
        assert text in result.output
    assert "step 1/90" in result.output
    chat = load_chat(folder)
    load_adapter(chat.model, out)
    merge_lora(chat.model)
    sample = report["samples"][0]
    assert "".join(chat.stream(sample["question"], max_new_tokens=60)) == sample["after"]
    talk = call("talk", "red?", "--adapter", out, "--tokens", 9)
    assert talk.exit_code == 0 and talk.output == chat.answer("red?", max_new_tokens=9) + "\n"
    assert talk.output != load_chat(folder).answer("red?", max_new_tokens=9) + "\n"


def test_talk_refuses_a_folder_without_an_adapter_or_with_a_wrong_adapter(folder, file, tmp_path) -> None:
    result = call("talk", "Hi", "--adapter", tmp_path / "none")
    assert result.exit_code == 2 and "holds no adapter" in result.stderr
    chat = load_chat(folder)
    add_lora(chat.model, 2)
    save_adapter(chat.model, tmp_path / "a", base=str(tmp_path / "gone"))
    result = call("talk", "Hi", "--adapter", tmp_path / "a")
    assert result.exit_code == 2 and "there is no folder" in result.stderr


def test_a_folder_of_another_kind_is_refused(tmp_path) -> None:
    folder = write_tiny_folder(tmp_path)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    for edit, message in (
        ({"model": {"type": "Unigram"}}, "'Unigram' tokenizer"),
        ({"pre_tokenizer": None}, "wanted 'BPE' with single digits before bytes"),
        ({"added_tokens": [tokenizer["added_tokens"][0] | {"id": 9}]}, "leaves ids out"),
    ):
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer | edit))
        with pytest.raises(ValueError, match=message):
            load_chat(folder)
    (folder / "tokenizer.json").write_text("[]")
    with pytest.raises(ValueError, match="holds a list; wanted a JSON object"):
        load_chat(folder)
