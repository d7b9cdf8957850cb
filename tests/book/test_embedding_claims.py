"""What chapters 2 and 3 say in words of the shipped translator's table, and of how texts are cut, holds."""

import numpy as np
import pytest
import torch

from softlookup import reference, text
from softlookup.model import load_translator


class Table:
    """The rows of the shipped translator's table, by word."""

    def __init__(self):
        translator = load_translator()
        self.tokenizer = translator.tokenizer
        self.rows = translator.model.embedder.tokens.table.detach().double().numpy()
        self.unit = self.rows / np.linalg.norm(self.rows, axis=1, keepdims=True)

    def id(self, word):
        (only,) = self.tokenizer.encode(word)
        return only

    def __getitem__(self, word):
        return self.rows[self.id(word)]

    def order(self, target, left_out=()):
        """All words, nearest first."""
        named = (self.tokenizer.decode([i]) for i in np.argsort(-(self.unit @ target)))
        return [name for name in named if name not in left_out]


@pytest.fixture(scope="module")
def table():
    return Table()


def test_neither_leaving_the_words_out_nor_arithmetic_does_it_alone(table):
    plurals = [(word, word + "s") for word in "boy girl dog car tree horse player flower kid bike".split()]
    singular, plural = (np.array([table.id(pair[i]) for pair in plurals]) for i in (0, 1))
    rows, unit = table.rows, table.unit
    allowed = left_out = alone = 0
    for i in range(len(plurals)):
        for j in set(range(len(plurals))) - {i}:
            three = [plural[i], singular[i], singular[j]]
            for start, arithmetic in (
                (rows[plural[i]] - rows[singular[i]] + rows[singular[j]], True),
                (rows[singular[j]], False),
            ):
                cosines = unit @ start
                allowed += arithmetic and cosines.argmax() == plural[j]
                cosines[three] = -np.inf
                right = cosines.argmax() == plural[j]
                left_out, alone = left_out + (arithmetic and right), alone + (not arithmetic and right)
    assert max(2 * allowed, alone) < left_out


@pytest.mark.parametrize(("question", "expected"), [("boys boy girl", "girls"), ("running run jump", "jumping")])
def test_sum_finds_the_word_once_the_words_put_in_are_left_out(table, question, expected):
    a, b, c = question.split()
    assert table.order(table[a] - table[b] + table[c], left_out=(a, b, c))[0] == expected


def test_steps_to_the_plural_lean_one_way_and_are_far_from_equal(table):
    words = "boy girl dog car tree horse player flower kid bike".split()
    steps = np.array([table[word + "s"] - table[word] for word in words])
    cosines = reference.cosine_similarity(steps, steps)[~np.eye(len(words), dtype=bool)]
    assert 0.15 < cosines.mean() < 0.6


@pytest.mark.parametrize(("query", "key", "answer"), [("lady", "woman", "femme"), ("cat", "dog", "chien")])
def test_real_lookup_finds_the_nearest_of_five_words(table, query, key, answer):
    english, french = "man woman boy girl dog".split(), "homme femme garçon fille chien".split()
    weights = reference.lookup_weights(np.array([table[word] for word in english]) @ table[query], 0.5)
    assert english[weights.argmax()] == key
    assert table.order(weights @ np.array([table[word] for word in french]))[0] == answer


def test_a_word_unlike_all_keys_is_answered_all_the_same(table):
    keys = np.array([table[word] for word in "man woman boy girl dog".split()])
    largest = {word: reference.lookup_weights(keys @ table[word], 0.5).max() for word in ("street", "lady")}
    assert largest["street"] < largest["lady"], "its weights say nothing clear, and sum to 1"


@pytest.fixture(scope="module")
def translator():
    return load_translator()


def test_no_merge_of_either_list_crosses_the_end_of_a_word(translator):
    lines = [line for pair in text.grammar.sample(400, seed=3) for line in (pair.english, pair.french)]
    learned = [step.pair for step in text.train_steps(lines, vocab_size=2000)]
    for left, right in (*learned, *translator.tokenizer.merges):
        assert "▁" not in right, (left, right)


def test_a_whole_word_and_its_pieces_are_cut_by_the_order_of_learning(translator):
    tokens = translator.tokenizer.tokens
    assert "▁lamp" in translator.tokenizer.vocabulary and "light" in translator.tokenizer.vocabulary
    assert tokens("lamplight") != ["▁lamp", "light"]


def test_one_row_serves_both_courts(table):
    cosines = table.unit @ table.unit[table.id("court")]
    for words in (("courent", "courir", "courant"), ("terrain",)):
        assert max(cosines[table.id(word)] for word in words) > np.sort(cosines)[-21], words


def test_what_is_named_together_has_like_rows(table):
    nearest = table.order(table.unit[table.id("deux")])[1]
    assert nearest in {"trois", "quatre", "plusieurs", "quelques"}
    guitars = table.unit @ table.unit[table.id("guitar")]
    assert guitars[table.id("guitare")] >= np.sort(guitars)[-5]


def test_cosines_of_rows_are_not_around_zero(table):
    unit = table.unit[4:]
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
