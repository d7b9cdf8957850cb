"""What the chapter on tokens and embeddings says in words, and no cell of it prints, holds."""

import numpy as np
import pytest
import torch

from softlookup import reference, text
from softlookup.model import load_translator


@pytest.fixture(scope="module")
def translator():
    return load_translator()


def test_a_lookup_is_the_product_to_the_last_bit(translator):
    table = translator.model.embedder.tokens.table.detach().double().numpy()[:300]
    ids = np.arange(0, 300, 7)
    assert np.abs(reference.one_hot(ids, 300) @ table - table[ids]).max() == 0.0


def test_tokenizers_hand_over_whole_numbers_alone():
    lines = ["the cat sat", "a dog ran"]
    for kind in (text.CharacterTokenizer, text.WordTokenizer):
        assert all(type(i) is int for i in kind.train(lines).encode("the dog", start=True, end=True))
    assert all(type(i) is int for i in text.BytePairTokenizer.train(lines, vocab_size=30).encode("the dog"))


def test_ties_go_to_the_older_tokens_in_the_library():
    first = next(iter(text.train_steps(["ba ba ca ca"], vocab_size=40)))
    assert first.pair == ("b", "a"), "b is older than c, and both than the marker"


def test_no_merge_of_either_list_crosses_the_end_of_a_word(translator):
    lines = [line for pair in text.grammar.sample(400, seed=3) for line in (pair.english, pair.french)]
    learned = [step.pair for step in text.train_steps(lines, vocab_size=2000)]
    for left, right in (*learned, *translator.tokenizer.merges):
        assert "▁" not in right, (left, right)


def test_a_whole_word_and_its_pieces_are_cut_by_the_order_of_learning(translator):
    tokens = translator.tokenizer.tokens
    assert "▁lamp" in translator.tokenizer.vocabulary and "light" in translator.tokenizer.vocabulary
    assert tokens("lamplight") != ["▁lamp", "light"]


def test_one_row_serves_both_courts(translator):
    table = translator.model.embedder.tokens.table.detach()
    unit = table / table.norm(dim=1, keepdim=True)
    of = translator.tokenizer.vocabulary.id
    assert translator.tokenizer.tokens("court") == ["▁court"]
    cosines = unit @ unit[of("▁court")]
    for words in (("courent", "courir", "courant"), ("terrain",)):
        nearest = max(float(cosines[of("▁" + word)]) for word in words)
        assert nearest > cosines.sort(descending=True).values[20], words


def test_what_is_named_together_has_like_rows(translator):
    table = translator.model.embedder.tokens.table.detach()
    unit = table / table.norm(dim=1, keepdim=True)
    vocabulary = translator.tokenizer.vocabulary
    nearest = (unit @ unit[vocabulary.id("▁deux")]).argsort(descending=True)[1]
    assert vocabulary.token(int(nearest)) in {"▁trois", "▁quatre", "▁plusieurs", "▁quelques"}
    guitars = unit @ unit[vocabulary.id("▁guitar")]
    assert guitars[vocabulary.id("▁guitare")] >= guitars.sort(descending=True).values[4]


def test_cosines_of_rows_are_not_around_zero(translator):
    table = translator.model.embedder.tokens.table.detach()[4:]
    unit = table / table.norm(dim=1, keepdim=True)
    assert 0.1 < (unit @ unit.T).mean() < 0.6


def test_words_speak_louder_than_their_places_after_the_scale(translator):
    lengths = translator.model.embedder.tokens.table.detach().norm(dim=1)
    width = translator.model.config.d_model
    assert lengths.mean() * width**0.5 > 2 * (width / 2) ** 0.5


def test_row_of_the_padding_is_moved_by_the_output_alone(translator):
    tokens = translator.model.embedder.tokens
    assert tokens.pad_id == 0 and tokens.table[0].norm() > 0.5
    x = tokens(torch.tensor([[0, 5]]))
    grad = torch.autograd.grad(x.sum(), tokens.table)[0]
    assert grad[0].abs().max() == 0 and grad[5].abs().min() > 0


@pytest.mark.parametrize("width", [4, 192, 1024])
def test_a_position_has_the_length_of_the_root_of_half_the_width(width):
    lengths = np.linalg.norm(reference.sinusoidal(50, width), axis=1)
    assert np.allclose(lengths, np.sqrt(width / 2), rtol=1e-12)


@pytest.mark.parametrize(
    ("optimizer", "options", "moved"),
    [
        (torch.optim.SGD, {}, [0, 0, 1, 0]),
        (torch.optim.Adam, {}, [1, 1, 1, 0]),
        (torch.optim.AdamW, {"weight_decay": 0.01}, [1, 1, 1, 1]),
    ],
)
def test_plain_descent_moves_the_rows_of_the_batch_and_adam_also_earlier_ones(optimizer, options, moved):
    table = torch.nn.Parameter(torch.arange(1.0, 13.0).reshape(4, 3))
    stepper = optimizer([table], lr=0.1, **options)
    for ids in ([0, 1], [2]):
        before = table.detach().clone()
        stepper.zero_grad()
        torch.nn.functional.embedding(torch.tensor(ids), table).square().sum().backward()
        stepper.step()
    assert (table.detach() != before).any(dim=1).int().tolist() == moved
