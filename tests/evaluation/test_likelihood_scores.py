"""Choices against loops."""

import numpy as np
import pytest

from softlookup.evaluation import choose


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
