"""Policies of one prompt: the optimum against ascent, and the path of the policy gradient."""

import numpy as np
import pytest

from softlookup.reference import grpo_path, kl_optimum

REFERENCE, REWARDS = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.0, 1.0, 0.4, 2.0])


def goal(policy, beta):
    return policy @ REWARDS - beta * (policy * np.log(policy / REFERENCE)).sum()


@pytest.mark.parametrize("beta", [0.3, 1.0, 5.0])
def test_optimum_is_better_than_any_policy_beside_it_and_where_ascent_ends(beta):
    best = kl_optimum(REFERENCE, REWARDS, beta)
    rng = np.random.default_rng(0)
    for scale in (1.0, 0.1, 1e-3):
        other = best * np.exp(scale * rng.normal(size=4))
        assert goal(other / other.sum(), beta) < goal(best, beta)
    logits = np.zeros(4)
    for _ in range(20_000):
        policy = np.exp(logits - logits.max())
        policy /= policy.sum()
        slope = REWARDS - beta * np.log(policy / REFERENCE)
        logits += 0.2 / max(1, beta) * policy * (slope - policy @ slope)
    np.testing.assert_allclose(policy, best, atol=1e-3)


def test_optimum_of_a_strong_penalty_is_the_reference_and_of_none_the_best_answer():
    np.testing.assert_allclose(kl_optimum(REFERENCE, REWARDS, 1e9), REFERENCE, atol=1e-8)
    np.testing.assert_allclose(kl_optimum(REFERENCE, REWARDS, 1e-3), [0, 0, 0, 1], atol=1e-12)


def test_path_begins_at_the_reference_and_every_step_earns_more():
    path = grpo_path(REFERENCE, REWARDS, steps=40)
    np.testing.assert_array_equal(path[0], REFERENCE)
    np.testing.assert_allclose(path.sum(axis=1), 1)
    assert (np.diff(path @ REWARDS) > 0).all() and path[-1].argmax() == 3


def test_step_goes_along_the_gradient_of_the_expected_reward():
    before, after = grpo_path(REFERENCE, REWARDS, steps=1, rate=1e-4)
    moved = np.log(after / before)
    slopes = []
    for i in range(4):
        nudged = np.log(REFERENCE) + 1e-6 * (np.arange(4) == i)
        policy = np.exp(nudged) / np.exp(nudged).sum()
        slopes.append((policy @ REWARDS - REFERENCE @ REWARDS) / 1e-6)
    ratio = (moved - moved[0])[1:] / (np.array(slopes) - slopes[0])[1:]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-3)
    assert ratio[0] > 0


def test_equal_rewards_move_nothing():
    np.testing.assert_allclose(grpo_path(REFERENCE, np.ones(4), steps=3), [REFERENCE] * 4)


def test_what_is_no_distribution_is_refused():
    with pytest.raises(ValueError, match="probabilities above 0"):
        kl_optimum([1.0, 0.0], [1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="one of each for each answer"):
        grpo_path([0.5, 0.5], [1.0])
    with pytest.raises(ValueError, match="beta is 0.0"):
        kl_optimum([0.5, 0.5], [1.0, 2.0], 0.0)
