"""States of runs, recipes and tokenizers that hold anything: taken up or refused in a sentence, and nothing changed."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from softlookup.model.whole import weights as files
from softlookup.model.whole.weights import RUN_KIND, CheckpointError, read_tensors
from softlookup.text.bpe import BytePairTokenizer
from softlookup.text.characters import CharacterTokenizer
from softlookup.text.wordpiece import WordPieceTokenizer
from softlookup.text.words import WordTokenizer
from softlookup.training.checkpoint import TrainingState, load_checkpoint, save_checkpoint
from softlookup.training.recipe import Recipe
from softlookup.training.run_folder import same_run
from tests.odd_files import TEXTS, odd_fields, refusal


@pytest.fixture
def path(tmp_path) -> Path:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    state = TrainingState(step=1, losses=[1.0, 2.0], validations=[(1, 2.0)])
    save_checkpoint(tmp_path / "run.safetensors", model=model, optimizer=optimizer, state=state, settings={"a": 1})
    return tmp_path / "run.safetensors"


def write(path: Path, tensors: dict, header: object) -> None:
    """Write a file whose digest is right, whatever its header."""
    content = header if isinstance(header, str) else json.dumps(header)
    save_file(tensors, path, metadata={"softlookup": content, "sha256": files._digest(tensors, content)})


def resume(path: Path) -> TrainingState:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    before = model.weight.detach().clone(), torch.get_rng_state()
    try:
        return load_checkpoint(path, model=model, optimizer=optimizer, settings={"a": 1})
    except ValueError:
        assert torch.equal(before[0], model.weight) and torch.equal(before[1], torch.get_rng_state())
        raise


@pytest.mark.slow
def test_a_header_with_any_field_left_out_or_of_another_type_is_refused(path):
    tensors, header = read_tensors(path)
    tensors = {name: tensor.clone() for name, tensor in tensors.items()}
    refused = set()
    for what, changed in odd_fields(header, 3):
        write(path, tensors, changed)
        if refusal(lambda: resume(path), path, what):
            refused.add(what)
    fields = ("kind", "version", "settings", "optimizer", "optimizer.groups", "state", "state.step", "random.numpy")
    odd = ("None", "[]", "{}", "x", "-1", "nan", "[[]]", "(left out)")
    expected = {f"{field} = {value}" for field in fields for value in odd}
    assert expected <= refused
    write(path, tensors, header)
    assert resume(path).losses == [1.0, 2.0]


@pytest.mark.parametrize("name", ["settings", "optimizer", "state", "random", "average_updates"])
def test_a_header_without_a_field_says_which(path, name):
    tensors, header = read_tensors(path)
    del header[name]
    write(path, {key: tensor.clone() for key, tensor in tensors.items()}, header)
    with pytest.raises(CheckpointError, match=f"run.safetensors is damaged: its header has no {name}"):
        resume(path)


@pytest.mark.parametrize("header", ["[]", "null", "1", '"x"', "{}", json.dumps({"kind": RUN_KIND}), "[" * 100_000])
def test_a_header_that_is_none_is_refused(path, header):
    write(path, {"a": torch.zeros(1)}, header)
    assert refusal(lambda: resume(path), path, header[:40])


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("optimizer/9/exp_avg", torch.zeros(2)),
        ("optimizer/x/exp_avg", torch.zeros(2)),
        ("optimizer/0", torch.zeros(2)),
        ("optimizer/-1/exp_avg", torch.zeros(2)),
        ("optimizer/0/exp_avg", torch.zeros(3, 3)),
        ("optimizer/0/exp_avg", torch.zeros(0)),
        ("optimizer/0/exp_avg", torch.zeros(2, 2, dtype=torch.bool)),
        ("optimizer/1/step", torch.zeros(7)),
        ("model/weight", torch.zeros(2, 3)),
        ("random/torch", torch.zeros(3)),
        ("random/torch", torch.zeros(3, dtype=torch.uint8)),
    ],
)
def test_tensors_that_no_optimizer_or_generator_can_have_are_refused(path, name, tensor):
    tensors, header = read_tensors(path)
    write(path, {key: value.clone() for key, value in tensors.items()} | {name: tensor}, header)
    assert refusal(lambda: resume(path), path, name)


@pytest.mark.usefixtures("unchecked")  # the check of annotations would come before a recipe's own
def test_settings_and_recipes_of_any_content_are_read_or_refused(tmp_path):
    path = tmp_path / "run" / "settings.json"
    same_run(path, Recipe())
    settings = json.loads(path.read_text())
    for data in [*TEXTS, *(json.dumps(changed).encode() for _, changed in odd_fields(settings))]:
        path.write_bytes(data)
        refusal(lambda: same_run(path, Recipe()), path.parent.parent, repr(data[:99]))
        refusal(lambda: Recipe.read(path), path, repr(data[:99]))
    path.write_text(json.dumps(asdict(Recipe())), encoding="utf-8-sig")
    assert Recipe.read(path) == Recipe()


PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"]
WORDPIECE = {
    "model": {
        "type": "WordPiece",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {piece: number for number, piece in enumerate(PIECES)},
    },
    "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "lowercase": True},
}


@pytest.mark.parametrize("kind", [WordTokenizer, CharacterTokenizer, BytePairTokenizer, WordPieceTokenizer])
def test_a_tokenizer_of_any_content_is_read_or_refused(tmp_path, kind):
    path, rest = tmp_path / "tokenizer", ""
    if kind is WordPieceTokenizer:
        content = WORDPIECE
    else:
        more = {"vocab_size": 8} if kind is BytePairTokenizer else {}
        kind.train(["aa bb aa"] * 5, **more).save(path)
        first, _, rest = path.read_text().partition("\n") if kind is BytePairTokenizer else (path.read_text(), "", "")
        content = json.loads(first)
    for data in [*TEXTS, *(json.dumps(changed).encode() for _, changed in odd_fields(content))]:
        path.write_bytes(data + b"\n" + rest.encode())
        refusal(lambda: kind.load(path).encode("a"), path, repr(data[:99]))
    path.write_text(json.dumps(content) + "\n" + rest, encoding="utf-8-sig")
    assert len(kind.load(path)) > 4
