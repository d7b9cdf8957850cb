"""What the page of chapter 2 asserts in words holds in numbers."""

import numpy as np
import pytest

from softlookup import reference
from softlookup.model import load_translator

K = np.array([[1, 1], [0.5, 2], [3, -0.9]])
V = np.array([[-2, -1], [2, -1.5], [0.5, 2]])
ORANGE = np.array([2.0, 1.0])


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


def test_orange_fits_lemon_by_dot_product_and_apple_by_cosine():
    assert (K @ ORANGE).argmax() == 2
    assert reference.cosine_similarity(ORANGE[None], K).argmax() == 0
    np.testing.assert_allclose(reference.lookup_weights(K @ ORANGE, 1.0), [0.1, 0.1, 0.8], atol=0.005)


def test_apple_is_not_its_own_best_match_but_by_cosine_every_key_is():
    assert (K @ K[0]).argmax() == 1
    assert reference.cosine_similarity(K, K).argmax(axis=1).tolist() == [0, 1, 2]


def test_apples_own_ground_is_where_every_key_has_a_negative_score():
    across = np.linspace(-3.5, 3.5, 141)
    queries = np.array([(x, y) for x in across for y in across if (x, y) != (0, 0)])
    scores = queries @ K.T
    won = scores.argmax(axis=1) == 0
    assert won.any() and (scores[won] < 0).all()


def test_query_twice_as_long_is_half_the_temperature():
    np.testing.assert_allclose(
        reference.soft_lookup(2 * ORANGE[None], K, V, 0.8), reference.soft_lookup(ORANGE[None], K, V, 0.4), rtol=1e-12
    )


def test_slope_is_small_at_both_ends_of_the_temperature():
    def slope(tau):
        ends = reference.soft_lookup(ORANGE + np.array([[0, -0.001], [0, 0.001]]), K, V, tau)
        return np.linalg.norm(ends[1] - ends[0]) / 0.002

    assert slope(0.0) == 0 and slope(100.0) < 0.05 < 1 < slope(1.0)
    assert slope(0.05) < 1e-5, "a clear leader has all the weight long before the temperature is 0"


@pytest.mark.parametrize("keys", [2, 11, 5000])
@pytest.mark.parametrize("share", [0.05, 0.5, 0.99])
def test_formula_of_the_lead_gives_the_share(keys, share):
    lead = 0.3 * (np.log(share / (1 - share)) + np.log(keys - 1))
    scores = np.r_[lead, np.zeros(keys - 1)]
    assert reference.lookup_weights(scores, 0.3)[0] == pytest.approx(share, rel=1e-12)


def test_bell_of_the_distance_is_the_softmax_where_keys_are_equally_long():
    turns = np.random.default_rng(1).uniform(0, 6, 5)
    keys = 1.7 * np.column_stack([np.cos(turns), np.sin(turns)])
    bells = np.exp(-((keys - ORANGE) ** 2).sum(axis=1) / (2 * 0.9))
    np.testing.assert_allclose(bells / bells.sum(), reference.lookup_weights(keys @ ORANGE, 0.9), rtol=1e-12)


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
