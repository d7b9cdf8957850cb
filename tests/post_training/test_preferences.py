"""Learning from comparisons: against sums by hand, torch's own losses, and gradients by differences."""

import math

import pytest
import torch
import torch.nn.functional as F

from softlookup.post_training import answer_log_probs, dpo_loss


def drawn(seed, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_log_probabilities_are_sums_over_the_answers_tokens():
    logits, ids = drawn(0, 2, 5, 4), torch.tensor([[0, 3, 1, 2, 2], [1, 0, 0, 3, 1]])
    mask = torch.tensor([[True, False, True, True, False], [False] * 5])
    expected = -F.cross_entropy(logits[0, 1:3], ids[0, 2:4], reduction="sum")
    torch.testing.assert_close(answer_log_probs(logits, ids, mask), torch.stack([expected, expected * 0]))


def test_probabilities_of_all_answers_sum_to_one():
    """With two tokens of four, all sixteen answers to one prompt; the model does not look at what it reads."""
    row = drawn(1, 3, 4)
    answers = torch.cartesian_prod(torch.arange(4), torch.arange(4))
    ids = torch.cat([torch.zeros(16, 1, dtype=torch.long), answers], dim=1)
    mask = torch.tensor([False, True, True]).expand(16, 3)
    sums = answer_log_probs(row.expand(16, 3, 4), ids, mask)
    torch.testing.assert_close(sums.exp().sum(), torch.tensor(1.0, dtype=torch.float64))


def test_log_probabilities_of_logits_in_half_precision_are_summed_in_float32():
    """Four hundred tokens: in bfloat16 such a sum is off by several nats."""
    logits = drawn(20, 1, 401, 50).bfloat16()
    ids = torch.arange(401)[None] % 50
    mask = torch.ones(1, 401, dtype=torch.bool)
    exact = answer_log_probs(logits.double(), ids, mask)
    torch.testing.assert_close(answer_log_probs(logits, ids, mask), exact.float(), rtol=1e-5, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_losses_of_pairs_in_half_precision_are_means_in_float32(dtype):
    sums = [(drawn(seed, 300) - 20).to(dtype) for seed in (21, 22, 23, 24)]
    exact = [each.double() for each in sums]
    torch.testing.assert_close(dpo_loss(*sums, beta=0.3).loss, dpo_loss(*exact, beta=0.3).loss.float())


def test_dpo_is_that_of_trl():
    """By the lines of TRL 1.16 (dpo_trainer.py), for the loss "sigmoid" and the divergence "reverse_kl"."""
    chosen, rejected, reference_chosen, reference_rejected = (drawn(seed, 9) - 30 for seed in (25, 26, 27, 28))
    chosen_scores, rejected_scores = chosen - reference_chosen, rejected - reference_rejected
    per_sequence_loss = -F.logsigmoid(0.1 * (chosen_scores - rejected_scores))
    got = dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta=0.1).loss
    torch.testing.assert_close(got, per_sequence_loss.mean(), rtol=1e-9, atol=1e-9)


def test_a_row_of_minus_infinity_outside_the_answer_spoils_nothing():
    logits = drawn(2, 1, 3, 4)
    logits[0, 0] = -math.inf
    logits[0, 0, 1] = 0.0
    sums = answer_log_probs(logits, torch.tensor([[0, 2, 3]]), torch.tensor([[False, False, True]]))
    assert torch.isfinite(sums).all()


def test_dpo_begins_at_log_two_and_its_gradient_is_beta_times_the_doubt():
    sums = [drawn(seed, 5).requires_grad_() for seed in (5, 6)]
    result = dpo_loss(*sums, *(each.detach().clone() for each in sums), beta=0.3)
    torch.testing.assert_close(result.loss, torch.tensor(math.log(2), dtype=torch.float64))
    result.loss.backward()
    torch.testing.assert_close(sums[0].grad, torch.full((5,), -0.3 * 0.5 / 5, dtype=torch.float64))
    torch.testing.assert_close(sums[1].grad, -sums[0].grad)


def test_dpo_margins_are_differences_of_implicit_rewards():
    policy, reference = drawn(7, 2, 4), drawn(8, 2, 4).requires_grad_()
    result = dpo_loss(*policy, *reference, beta=2)
    rewards = 2 * (policy - reference)
    torch.testing.assert_close(result.margins, (rewards[0] - rewards[1]).detach())
    assert not result.loss.requires_grad  # the reference gets no gradient


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="a pair at least"):
        dpo_loss(*[torch.zeros(0)] * 4, beta=1)
    for beta in (0, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"beta is {beta}; wanted a finite number above 0"):
            dpo_loss(*[torch.zeros(2)] * 4, beta=beta)
    with pytest.raises(ValueError, match="T of 2 at least"):
        answer_log_probs(torch.zeros(1, 1, 3), torch.zeros(1, 1, dtype=torch.long), torch.ones(1, 1, dtype=torch.bool))
