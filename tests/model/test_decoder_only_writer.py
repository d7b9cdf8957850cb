"""The language model that comes with the library, and the loading of any other."""

import shutil

import pytest
import torch

from softlookup.model import load_writer
from softlookup.model.published.writer import SHIPPED, Writer
from softlookup.text.bpe import BytePairTokenizer

SCENE = "ROMEO:\nWhat light is"


@pytest.fixture(scope="module")
def writer():
    return load_writer()


def test_shipped_writer_keeps_its_promises(writer):
    size = sum(p.numel() for p in writer.model.parameters())
    assert 2_000_000 <= size <= 4_000_000
    assert (SHIPPED / "model.safetensors").stat().st_size < 10_000_000
    card, config = (SHIPPED / "CARD.md").read_text(encoding="utf-8"), writer.model.config
    assert f"{size:,}" in card and f"{config.n_layers} layers, D = {config.d_model}" in card
    for word in ("public domain", "seed", "bits per character", "hardware", "limits"):
        assert word in card.lower()


def test_shipped_writer_is_built_as_models_are_today(writer):
    config = writer.model.config
    assert (config.norm, config.positions, config.activation) == ("rms", "rotary", "swiglu")
    assert config.pre_norm and config.tied and not config.hidden_bias and config.n_kv_heads < config.n_heads


def test_next_logits_are_those_of_the_plain_model(writer):
    ids = writer.tokenizer.encode("ROMEO: ↵ What light is")
    assert writer.encode(SCENE) == ids
    with torch.no_grad():
        torch.testing.assert_close(writer.next_logits(SCENE), writer.model(torch.tensor([ids]))[0, -1])


@torch.no_grad()
def test_greedy_text_is_written_by_argmax_over_the_whole_text_again(writer):
    ids = writer.encode(SCENE)
    for _ in range(12):
        ids.append(int(writer.model(torch.tensor([ids]))[0, -1].argmax()))
    text = writer.write(SCENE, max_new_tokens=12)
    assert text == writer.decode(ids) and text.startswith(SCENE)


def test_a_seed_gives_the_same_text_and_another_another(writer):
    text, again, other = (writer.write(SCENE, max_new_tokens=12, temperature=1.0, seed=seed) for seed in (1, 1, 2))
    assert text == again != other


def test_settings_reach_the_draw(writer):
    greedy = writer.write(SCENE, max_new_tokens=12)
    assert writer.write(SCENE, max_new_tokens=12, temperature=1.5, top_k=1) == greedy
    assert writer.write(SCENE, max_new_tokens=12, temperature=1.5, top_p=0.0) == greedy


def test_writing_ends_where_the_context_is_full(writer):
    most = writer.model.config.max_length
    long = "and " * (most - 3)
    assert len(writer.encode(long)) == most - 3
    assert len(writer.encode(writer.write(long, max_new_tokens=50, temperature=0))) <= most + 1
    with pytest.raises(ValueError, match=f"the text has {most + 1} tokens; the model takes 1 to {most}"):
        writer.write("and " * (most + 1))
    with pytest.raises(ValueError, match="the text has 0 tokens"):
        writer.next_logits("  ")


def test_another_tokenizer_is_refused(writer):
    with pytest.raises(ValueError, match="the model has 2000 tokens, the tokenizer 14"):
        Writer(writer.model, BytePairTokenizer.train(["an anagram"], vocab_size=14, min_count=1))


def test_a_missing_file_is_named(tmp_path):
    shutil.copy(SHIPPED / "merges.txt", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"config\.json is missing.*softlookup train-writer"):
        load_writer(tmp_path)
