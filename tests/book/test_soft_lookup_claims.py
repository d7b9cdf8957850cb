"""What the page of chapter 2 asserts in words holds in numbers."""

import numpy as np
import pytest

from softlookup import reference

K = np.array([[1, 1], [0.5, 2], [3, -0.9]])
V = np.array([[-2, -1], [2, -1.5], [0.5, 2]])
ORANGE = np.array([2.0, 1.0])


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


def test_leaving_the_words_out_does_most_of_the_work_and_arithmetic_the_rest():
    from softlookup.model import load_translator

    translator = load_translator()
    table = translator.model.embedder.tokens.table.detach().double().numpy()
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    plurals = [(word, word + "s") for word in "boy girl dog car tree horse player flower kid bike".split()]
    one, many = (np.array([translator.tokenizer.encode(pair[i])[0] for pair in plurals]) for i in (0, 1))
    allowed = left_out = alone = 0
    for i in range(len(plurals)):
        for j in set(range(len(plurals))) - {i}:
            three = [many[i], one[i], one[j]]
            for start, arithmetic in ((table[many[i]] - table[one[i]] + table[one[j]], True), (table[one[j]], False)):
                cosines = unit @ start
                allowed += arithmetic and cosines.argmax() == many[j]
                cosines[three] = -np.inf
                right = cosines.argmax() == many[j]
                left_out, alone = left_out + (arithmetic and right), alone + (not arithmetic and right)
    assert allowed < alone < left_out and left_out > 2 * allowed
