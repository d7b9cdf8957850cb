"""Chapter 20, preferences and rewards: right answers written otherwise."""

import math

import numpy as np


def answer_logaddexp(logits, ids, is_answer):
    normaliser = np.logaddexp.reduce(logits[:, :-1], axis=-1)
    rows, columns = np.indices(ids[:, 1:].shape)
    log_p = logits[rows, columns, ids[:, 1:]] - normaliser
    return (log_p * is_answer[:, 1:]).sum(axis=1)


def answer_one_hot(logits, ids, is_answer):
    scores = logits - logits.max(axis=2)[:, :, None]
    log_p = scores - np.log(np.exp(scores).sum(axis=2))[:, :, None]
    counted = np.eye(logits.shape[2])[ids] * is_answer[:, :, None]
    return np.einsum("btv,btv->b", log_p[:, :-1], counted[:, 1:])


def reward_log1p(chosen, rejected):
    d = chosen - rejected
    small = np.exp(-np.abs(d))
    loss = np.maximum(-d, 0) + np.log1p(small)
    wrong = np.where(d > 0, small, 1.0) / (1 + small)
    return loss.mean(), -wrong / d.size


def reward_tanh(chosen, rejected):
    d = chosen - rejected
    return np.logaddexp(0, -d).sum() / len(d), 0.5 * (np.tanh(0.5 * d) - 1) / len(d)


def dpo_loop(chosen, rejected, reference_chosen, reference_rejected, beta):
    margins = []
    for i in range(len(chosen)):
        margins.append(beta * (chosen[i] - reference_chosen[i] - rejected[i] + reference_rejected[i]))
    losses = [max(-m, 0.0) + math.log1p(math.exp(-abs(m))) for m in margins]
    return np.mean(losses), np.array(margins)


def dpo_rewards(chosen, rejected, reference_chosen, reference_rejected, beta):
    rewards = beta * np.stack([chosen - reference_chosen, rejected - reference_rejected])
    margins = rewards[0] - rewards[1]
    return np.logaddexp(np.zeros(len(margins)), -margins).mean(), margins


def dpo_difference(chosen, rejected, reference_chosen, reference_rejected, beta):
    margins = beta * ((chosen - rejected) - (reference_chosen - reference_rejected))
    softplus = np.where(margins < 0, -margins, 0) + np.log1p(np.exp(-np.abs(margins)))
    return softplus.sum() / softplus.size, margins


def advantages_norm(rewards):
    centred = rewards - rewards.mean(axis=1)[:, None]
    is_equal = np.ptp(rewards, axis=1) <= 1e-15 * np.abs(rewards).max(axis=1)
    length = np.linalg.norm(centred, axis=1) / math.sqrt(rewards.shape[1])
    return centred / np.where(is_equal, np.inf, length)[:, None]


def advantages_masked(rewards):
    advantages = np.zeros_like(rewards)
    mixed = np.ptp(rewards / np.maximum(np.abs(rewards).max(axis=1, keepdims=True), 1e-300), axis=1) > 1e-15
    some = rewards[mixed]
    advantages[mixed] = (some - some.mean(axis=1, keepdims=True)) / some.std(axis=1, keepdims=True)
    return advantages


def grpo_selected(new, old, advantages, is_answer, clip):
    ratio = np.exp((new - old)[is_answer])
    weight = np.repeat(advantages, is_answer.sum(axis=1))
    return np.maximum(-ratio * weight, -ratio.clip(1 - clip, 1 + clip) * weight).mean()


def grpo_by_sign(new, old, advantages, is_answer, clip):
    ratio = np.exp(new - old)
    sign = advantages[:, None] > 0
    bounded = np.where(sign, np.minimum(ratio, 1 + clip), np.maximum(ratio, 1 - clip))
    return -(bounded * advantages[:, None] * is_answer).sum() / is_answer.sum()


def kl_loop(policy, reference):
    rows = []
    for p, q in zip(policy, reference, strict=True):
        log_r = q - p
        rows.append([-log_r, log_r * log_r / 2, math.exp(log_r) - 1 - log_r])
    return np.array(rows).mean(axis=0)


def kl_stacked(policy, reference):
    d = policy - reference
    return np.stack([d, d * d / 2, np.expm1(-d) + d]).mean(axis=1)


def kl_ratios(policy, reference):
    r = np.exp(reference - policy)
    log_r = np.log(r)
    return np.array([-log_r.mean(), (log_r**2).mean() / 2, (r - 1 - log_r).mean()])


def best_cumulative(rewards, n):
    rising, s = np.sort(rewards), len(rewards)
    all_below = [math.comb(i, n) / math.comb(s, n) for i in range(s + 1)]
    return (rising * np.diff(all_below)).sum(), math.log(n) + 1 / n - 1


def best_fractions(rewards, n):
    from fractions import Fraction

    rising = sorted(float(r) for r in rewards)
    sets = math.comb(len(rising), n)
    terms = [Fraction(math.comb(i, n - 1), sets) for i in range(len(rising))]
    return sum(r * float(p) for r, p in zip(rising, terms, strict=True)), math.log(n) - 1 + 1 / n


REWARDS = {
    "20.answer-log-probs": (answer_logaddexp, answer_one_hot),
    "20.reward": (reward_log1p, reward_tanh),
    "20.dpo": (dpo_loop, dpo_rewards, dpo_difference),
    "20.advantages": (advantages_norm, advantages_masked),
    "20.grpo": (grpo_selected, grpo_by_sign),
    "20.kl": (kl_loop, kl_stacked, kl_ratios),
    "20.best-of-n": (best_cumulative, best_fractions),
}
