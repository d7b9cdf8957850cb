"""Bits per byte against the length of a code, choices against loops."""

import math

import numpy as np
import pytest

from softlookup.evaluation import bits_per_byte, choose


def test_bits_of_a_uniform_model_over_bytes_are_eight():
    text = "Zoë, 日本 🙂"
    assert bits_per_byte([-math.log(256)] * len(text.encode()), text) == pytest.approx(8)


def test_bits_do_not_depend_on_how_a_text_is_cut_into_tokens():
    bytes_each = np.log(np.random.default_rng(0).random(12))
    pairs = bytes_each.reshape(6, 2).sum(axis=1)
    assert bits_per_byte(bytes_each, "Hello, world") == pytest.approx(bits_per_byte(pairs, "Hello, world"))


def test_bits_are_those_of_dyadic_probabilities():
    assert bits_per_byte(np.log([1 / 2, 1 / 8, 1 / 16]), "été") == pytest.approx((1 + 3 + 4) / 5)


@pytest.mark.parametrize(
    ("log_probs", "text", "says"),
    [
        ([-1.0], "", "the text is empty"),
        ([], "a", r"log_probs has the shape \(0,\); wanted is \(P,\) with P at least 1"),
        ([-1.0, 0.5], "a", r"log_probs\[1\] is 0.5; wanted are logarithms of probabilities, at most 0"),
        ([-1.0, -np.inf], "a", r"log_probs\[1\] is -inf"),
        ([[-1.0]], "a", r"the shape \(1, 1\)"),
    ],
)
def test_bits_of_what_is_no_text_with_log_probs_are_refused(log_probs, text, says):
    with pytest.raises(ValueError, match=says):
        bits_per_byte(log_probs, text)


def test_choices_are_those_of_a_loop():
    rng = np.random.default_rng(1)
    log_probs, lengths = -20 * rng.random((50, 4)), rng.integers(1, 30, size=(50, 4))
    chosen = choose(log_probs, lengths)
    assert (chosen[:, 0] != chosen[:, 1]).any()
    for row, scores, sizes in zip(chosen, log_probs, lengths, strict=True):
        assert scores[row[0]] == max(scores)
        assert scores[row[1]] / sizes[row[1]] == max(s / n for s, n in zip(scores, sizes, strict=True))


def test_choice_of_equal_scores_is_the_first_and_impossible_ones_are_never_chosen():
    assert choose([[-np.inf, -2.0, -2.0]], [[1, 3, 3]]).tolist() == [[1, 1]]


@pytest.mark.parametrize(
    ("log_probs", "lengths", "says"),
    [
        ([[-1.0, -2.0]], [[1, 2, 3]], r"\(1, 2\) and lengths \(1, 3\)"),
        ([-1.0, -2.0], [1, 2], r"wanted are two arrays \(P, C\)"),
        ([[-1.0, -2.0]], [[1, 0]], "the smallest length is 0 bytes"),
        ([[-1.0, 2.0]], [[1, 1]], "the largest log-probability is 2"),
        ([[-1.0, np.nan]], [[1, 1]], "the largest log-probability is nan"),
    ],
)
def test_choices_among_what_is_no_table_are_refused(log_probs, lengths, says):
    with pytest.raises(ValueError, match=says):
        choose(log_probs, lengths)
