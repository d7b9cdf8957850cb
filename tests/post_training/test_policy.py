"""Learning from rewards: against enumeration of all answers, and against differences."""

import math

import pytest
import torch

from softlookup.post_training import clipped_policy_loss, group_advantages, kl_penalty


def drawn(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_advantages_have_mean_zero_and_spread_one_in_each_group():
    rewards = drawn(0, 4, 6) * torch.tensor([[1.0], [100.0], [1e-3], [5.0]]) + 7
    advantages = group_advantages(rewards)
    torch.testing.assert_close(advantages.mean(dim=1), torch.zeros(4, dtype=torch.float64))
    torch.testing.assert_close(advantages.std(dim=1, unbiased=False), torch.ones(4, dtype=torch.float64))


def test_equal_rewards_give_zeros_whatever_their_mean_rounds_to():
    assert group_advantages(torch.tensor([[0.1, 0.1, 0.1], [0.3, 0.3, 0.3]])).tolist() == [[0.0] * 3] * 2


def test_rewards_that_are_equal_up_to_rounding_give_zeros():
    """0.1 + 0.2 is not 0.3 in floats; rewards that differ by more keep their advantages, however little it is."""
    rewards = torch.tensor([[0.1 + 0.2, 0.3, 0.3, 0.3], [1e8 + 0.1] * 4], dtype=torch.float64)
    assert group_advantages(rewards).tolist() == [[0.0] * 4] * 2
    close = torch.tensor([[2.0, 2.000001, 2.0]], dtype=torch.float64)
    assert group_advantages(close)[0, 1].item() == pytest.approx(math.sqrt(2), rel=1e-8)


@pytest.mark.parametrize("reward", [math.inf, -math.inf, math.nan])
def test_a_reward_that_is_no_number_is_refused(reward):
    with pytest.raises(ValueError, match=f"a reward is {reward}; wanted finite numbers"):
        group_advantages(torch.tensor([[0.0, 1.0], [reward, 1.0]]))


def test_whole_numbers_and_half_precision_are_rewards_too():
    expected = torch.tensor([[-1.0, 1.0], [0.0, 0.0]])
    for dtype in (torch.int64, torch.bool, torch.bfloat16):
        torch.testing.assert_close(group_advantages(torch.tensor([[0, 1], [1, 1]]).to(dtype)), expected)


def test_losses_of_numbers_in_half_precision_are_computed_in_float32():
    """A mean of thousands of tokens, in bfloat16, is off in its third digit."""
    new, old = (-drawn(seed, 4, 900).abs().bfloat16() - 1 for seed in (10, 11))
    advantages, mask = drawn(12, 4).bfloat16(), torch.ones(4, 900, dtype=torch.bool)
    for loss in (
        lambda new, old, advantages: clipped_policy_loss(new, old, advantages, mask),
        lambda new, old, advantages: kl_penalty(new.flatten(), old.flatten()),
    ):
        got, exact = loss(new, old, advantages), loss(new.double(), old.double(), advantages.double())
        torch.testing.assert_close(got, exact.float(), rtol=1e-5, atol=1e-6)


def test_clipped_loss_is_that_of_trl():
    """By the lines of TRL 1.16 (grpo_trainer.py), with the mean over the batch's tokens, called "bnpo" there."""
    new, old, advantages = drawn(13, 5, 7) - 2, drawn(14, 5, 7) - 2, drawn(15, 5)
    mask = drawn(16, 5, 7) > 0
    coef_1 = torch.exp(new - old)
    coef_2 = torch.clamp(coef_1, 1 - 0.2, 1 + 0.2)
    per_token_loss = -torch.min(coef_1 * advantages[:, None], coef_2 * advantages[:, None])
    expected = (per_token_loss * mask).sum() / mask.sum().clamp(min=1.0)
    torch.testing.assert_close(clipped_policy_loss(new, old, advantages, mask), expected, rtol=1e-9, atol=1e-9)


def test_clipped_loss_has_the_policy_gradient_where_nothing_has_moved():
    new = drawn(2, 3, 4).requires_grad_()
    mask = torch.tensor([[False, True, True, True], [False, True, False, False], [False, True, True, False]])
    advantages = drawn(3, 3)
    (got,) = torch.autograd.grad(clipped_policy_loss(new, new.detach(), advantages, mask), new)
    expected = -torch.where(mask, advantages[:, None], 0.0) / 6
    torch.testing.assert_close(got, expected)


@pytest.mark.parametrize(
    ("moved", "advantage", "is_flat"),
    [(0.5, 1.0, True), (0.5, -1.0, False), (-0.5, -1.0, True), (-0.5, 1.0, False), (0.1, 1.0, False)],
)
def test_clip_stops_the_gradient_in_the_direction_of_the_advantage_alone(moved, advantage, is_flat):
    new = torch.tensor([[moved]], dtype=torch.float64, requires_grad=True)
    loss = clipped_policy_loss(
        new, torch.zeros(1, 1).double(), torch.tensor([advantage]).double(), torch.tensor([[True]])
    )
    (slope,) = torch.autograd.grad(loss, new)
    assert (slope.item() == 0) == is_flat


def test_padding_of_minus_infinity_changes_nothing():
    new, mask = torch.tensor([[-1.0, -math.inf]]), torch.tensor([[True, False]])
    assert torch.isfinite(clipped_policy_loss(new, new, torch.tensor([1.0]), mask))


@pytest.mark.parametrize("distance", [0.1, 1.0])
def test_k1_and_k3_are_unbiased_and_k2_is_not(distance):
    reference = drawn(4, 6).softmax(0)
    policy = (reference.log() + distance * drawn(5, 6)).softmax(0)
    exact = (policy * (policy / reference).log()).sum()

    def mean_of(estimator):
        each = [kl_penalty(policy[i].log().view(1), reference[i].log().view(1), estimator=estimator) for i in range(6)]
        return (policy * torch.stack(each)).sum()

    torch.testing.assert_close(mean_of("k1"), exact)
    torch.testing.assert_close(mean_of("k3"), exact)
    bias = abs(mean_of("k2") / exact - 1).item()
    assert 1e-6 < bias < distance
    assert kl_penalty(drawn(6, 50), drawn(7, 50), estimator="k3") > 0


def test_what_does_not_fit_is_refused():
    mask = torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match="an answer at least"):
        group_advantages(torch.zeros(0, 3))
    with pytest.raises(ValueError, match="no token is an answer's"):
        clipped_policy_loss(torch.zeros(2, 3), torch.zeros(2, 3), torch.zeros(2), ~mask)
    with pytest.raises(ValueError, match=r"the clip 0\.0"):
        clipped_policy_loss(torch.zeros(2, 3), torch.zeros(2, 3), torch.zeros(2), mask, clip=0.0)
    with pytest.raises(ValueError, match="equal shapes and a sample"):
        kl_penalty(torch.zeros(0), torch.zeros(0))
    with pytest.raises(ValueError, match="no estimator 'k4'"):
        kl_penalty(torch.zeros(2), torch.zeros(2), estimator="k4")
