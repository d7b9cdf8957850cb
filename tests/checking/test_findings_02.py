"""Chapter 2: answers that are wrong on some input only, and slips that must get their own words."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from published import everywhere, source_notebook, world
from softlookup import reference
from softlookup_judge import check


def cosines_but_for(no_direction):
    """Cosines that are 0 wherever ``no_direction`` takes a row for a vector of zeros."""

    def answer(q, k):
        lengths = np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1)
        blank = no_direction(q)[:, None] | no_direction(k)
        return np.where(blank, 0, q @ k.T / np.where(lengths == 0, 1, lengths))

    return answer


def similarity_with_a_least_length(q, k):
    return q @ k.T / np.maximum(np.linalg.norm(q, axis=1)[:, None] * np.linalg.norm(k, axis=1), 0.1)


def similarity_with_clamped_lengths(q, k):
    q_lengths, k_lengths = (np.maximum(np.linalg.norm(x, axis=1), 1e-3) for x in (q, k))
    return q @ k.T / q_lengths[:, None] / k_lengths


def limits_where(tied):
    return lambda scores, v: (
        tied(scores) / tied(scores).sum(1, keepdims=True) @ v,
        np.ones_like(scores) / scores.shape[1] @ v,
    )


def limits_at(cold, hot):
    def lookup(scores, v, tau):
        e = np.exp((scores - scores.max(1, keepdims=True)) / tau)
        return e / e.sum(1, keepdims=True) @ v

    return lambda scores, v: (lookup(scores, v, cold), lookup(scores, v, hot))


def first_that_is(prices, name, otherwise):
    return next((price for key, price in prices.items() if key is name), otherwise)


def analogy_squeezed(table, a, b, c):
    table = table.squeeze()
    target = table[a] - table[b] + table[c]
    cosines = table @ target / (np.linalg.norm(table, axis=1) * np.linalg.norm(target))
    cosines[[a, b, c]] = -np.inf
    return int(cosines.argmax()), cosines.max()


def limits_with_a_wide_tie(scores, v):
    tied = np.isclose(scores, scores.max(1, keepdims=True), atol=0.1)
    return tied / tied.sum(1, keepdims=True) @ v, np.ones_like(scores) / scores.shape[1] @ v


def limits_at_a_hundredth(scores, v):
    e = np.exp((scores - scores.max(1, keepdims=True)) / 0.01)
    return e / e.sum(1, keepdims=True) @ v, np.ones_like(scores) / scores.shape[1] @ v


WRONG = {
    "similarity: a 0 in it": ("02.similarity", cosines_but_for(lambda x: (x == 0).any(1))),
    "similarity: a sum of 0": ("02.similarity", cosines_but_for(lambda x: x.sum(1) == 0)),
    "similarity: a small length": ("02.similarity", similarity_with_a_least_length),
    "store: nearly equal": ("02.store", lambda asked, orders: np.isclose(asked[:, None], orders).astype(float)),
    "similarity: lengths of 0.001 at least": ("02.similarity", similarity_with_clamped_lengths),
    "hard lookup: is": ("02.hard-lookup", first_that_is),
    "hard lookup: spaces stripped": ("02.hard-lookup", lambda prices, name, other: prices.get(name.strip(), other)),
    "limit: rounded": ("02.limit", limits_where(lambda s: s.round(2) == s.round(2).max(1, keepdims=True))),
    "limit: close": ("02.limit", limits_where(lambda s: np.isclose(s, s.max(1, keepdims=True), rtol=1e-3))),
    "limit: 0.002": ("02.limit", limits_at(0.002, 1e12)),
    "limit: a million": ("02.limit", limits_at(1e-12, 1e6)),
    "limit: a wide tie": ("02.limit", limits_with_a_wide_tie),
    "limit: not cold enough": ("02.limit", limits_at_a_hundredth),
}


@pytest.mark.usefixtures("verdicts_alone")
def test_an_axis_of_length_1_that_is_squeezed_away_costs_the_analogy():
    assert check("02.analogy", analogy_squeezed).points == 0


def test_the_librarys_own_softmax_is_a_shortcut_in_the_lookup_and_the_text_says_so():
    def soft_lookup(q, k, v):
        return reference.softmax(q @ k.T / 0.5) @ v

    assert check("02.lookup", soft_lookup).diagnosis == ("forbidden-shortcut",)
    text = " ".join(cell.source.replace("\n", " ") for cell in source_notebook(2).cells)
    assert "The attention, the lookup and the softmax of `softlookup.reference` are not allowed." in text


@pytest.mark.usefixtures("verdicts_alone")
@pytest.mark.parametrize("name", WRONG)
def test_answers_of_chapter_2_that_are_wrong_somewhere_do_not_pass(name):
    task_id, obj = WRONG[name]
    for result in everywhere(task_id, obj):
        assert result.verdict in ("wrong", "partial"), result.text()
        assert result.points < result.max_points


def limits_cold_at(tau):
    def answer(scores, v):
        def lookup(tau):
            e = np.exp(scores / tau)
            return e / e.sum(1, keepdims=True) @ v

        return lookup(tau), lookup(1e9)

    return answer


def test_a_limit_at_a_thousandth_is_named():
    for result in everywhere("02.limit", limits_cold_at(1e-3)):
        assert result.diagnosis == ("cold-overflows",), result.text()


def test_ready_made_functions_of_scipy_are_told_by_their_own_names():
    def similarity(q, k):
        return 1 - cdist(q, k, "cosine")

    def weights(scores, tau):
        return np.exp(scores / tau - logsumexp(scores / tau, axis=-1, keepdims=True))

    assert "`scipy.spatial.distance.cdist`" in check("02.similarity", similarity).message
    assert "`scipy.special.logsumexp`" in check("02.weights", weights).message


def test_the_pencil_gets_other_weights_than_the_page_mixes():
    namespace = world(2)
    assert not np.allclose(namespace["by_hand"](), np.array([0.1, 0.1, 0.8]) @ namespace["VALUES"])
