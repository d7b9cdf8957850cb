"""The figure of answers that rewards move: its numbers against sums by hand, its stand-in, and bad input."""

import json
from itertools import pairwise

import numpy as np
import pytest

from softlookup_course.widgets import AnswerShift, answer_shift

TEXTS, REFERENCE, RIGHT, COURTESIES = zip(*answer_shift.ANSWERS, strict=True)


def path(figure, mode, reward):
    return next(each for each in figure.paths if each["mode"] == mode and each["reward"] == reward)


def test_flawed_reward_counts_how_an_answer_begins_and_its_courtesies():
    assert answer_shift.flawed_rewards() == [1.0, 0.0, 1.5, 0.5, 2.0, 1.5]
    assert [bool(right) for right in RIGHT] == [text in ("The sea.", "The sea, my lord.") for text in TEXTS]
    assert list(COURTESIES) == [text.lower().count("my lord") for text in TEXTS]


def test_states_are_what_sums_by_hand_give():
    figure = AnswerShift()
    for reward, values in enumerate((RIGHT, answer_shift.flawed_rewards())):
        for beta, state in zip(answer_shift.BETAS, path(figure, "beta", reward)["states"][1:], strict=True):
            weights = [p * np.exp(value / beta) for p, value in zip(REFERENCE, values, strict=True)]
            policy = [weight / sum(weights) for weight in weights]
            np.testing.assert_allclose(state["policy"], policy, atol=1e-6)
            kl = sum(p * np.log(p / q) for p, q in zip(policy, REFERENCE, strict=True) if p > 0)
            mean, right = (sum(p * x for p, x in zip(policy, each, strict=True)) for each in (values, RIGHT))
            np.testing.assert_allclose([state["reward"], state["true"], state["kl"]], [mean, right, kl], atol=1e-5)


@pytest.mark.parametrize("mode", ["beta", "steps"])
def test_flawed_reward_rises_while_right_answers_fall_and_the_true_one_lifts_them(mode):
    figure = AnswerShift()
    true, flawed = (path(figure, mode, reward)["states"] for reward in (0, 1))
    for states in (true, flawed):
        assert all(b["reward"] >= a["reward"] - 1e-6 for a, b in pairwise(states))
        assert states[0]["kl"] == 0 < min(state["kl"] for state in states[1:])
    assert true[-1]["true"] > 0.95 > true[0]["true"] and flawed[-1]["true"] < 0.2
    assert TEXTS[int(np.argmax(flawed[-1]["policy"]))] == "The sea, my lord, my lord."


def test_figure_is_small_and_its_stand_in_has_its_numbers():
    figure = AnswerShift()
    assert len(json.dumps(figure.paths)) < 40_000
    assert figure.fallback.count("<tr>") == 1 + len(TEXTS)
    assert '<th scope="row">The sea.</th><td>56%</td>' in figure.fallback
