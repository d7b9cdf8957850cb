"""Chapter 20: right answers written otherwise: loops, exact whole numbers, logarithms, sorting."""

import math

import numpy as np

IM_START, IM_END = "<|im_start|>", "<|im_end|>"


def template_formatted(messages, add_generation_prompt):
    turns = "".join("{}{role}\n{content}{}\n".format(IM_START, IM_END, **m) for m in messages)
    return turns + (IM_START + "assistant\n" if add_generation_prompt else "")


def mask_copied(ids, is_answer):
    labels = ids.copy()
    labels[~is_answer] = -100
    return ids[:-1], labels[1:]


def loss_take_along(logits, labels):
    is_label = labels >= 0
    right = np.take_along_axis(logits, np.where(is_label, labels, 0)[..., None], axis=-1)[..., 0]
    largest = logits.max(axis=-1)
    normaliser = largest + np.log(np.exp(logits - largest[..., None]).sum(axis=-1))
    return np.where(is_label, normaliser - right, 0.0).sum() / is_label.sum()


def packed_by_begins(lengths):
    ends = np.cumsum(lengths)
    t = np.arange(ends[-1])
    example = np.searchsorted(ends, t, side="right")
    begins = (ends - lengths)[example]
    return t - begins, (t[None, :] <= t[:, None]) & (t[None, :] >= begins[:, None])


def packed_pairs(lengths):
    tokens = [(e, p) for e, length in enumerate(lengths) for p in range(length)]
    may_attend = [[e == f and q <= p for f, q in tokens] for e, p in tokens]
    return np.array([p for _, p in tokens]), np.array(may_attend)


def lora_merged_first(x, w, a, b, alpha):
    merged = w + b @ a * (alpha / a.shape[0])
    return x @ merged.T, merged


def lora_einsum(x, w, a, b, alpha):
    inner = np.einsum("...d,rd->...r", x, a) * alpha / b.shape[1]
    update = np.einsum("fr,rd->fd", b, a) * alpha / b.shape[1]
    return np.einsum("...d,fd->...f", x, w) + np.einsum("...r,fr->...f", inner, b), w + update


def distill_entropies(student, teacher, tau):
    log_q = student / tau - np.logaddexp.reduce(student / tau, axis=1)[:, None]
    log_p = teacher / tau - np.logaddexp.reduce(teacher / tau, axis=1)[:, None]
    p = np.exp(log_p)
    return tau**2 * ((p * log_p).sum() - (p * log_q).sum()) / len(p)


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


def bits_in_base_two(log_probs, text):
    return float(np.mean(-np.asarray(log_probs) * np.log2(np.e))) * len(log_probs) / len(bytes(text, "utf-8"))


def bits_from_a_dot_product(log_probs, text):
    weights = np.full(len(log_probs), 1 / np.frombuffer(text.encode("utf8"), np.uint8).size)
    return -(weights @ log_probs) / np.log(2.0)


def pass_at_k_by_subsets(n, c, k):
    return sum(1 - math.comb(n - int(correct), k) / math.comb(n, k) for correct in c) / len(c)


def interval_of_two_means(first, second, draws):
    gaps = np.take(second, draws).mean(-1) - np.take(first, draws).mean(-1)
    ends = np.percentile(gaps, (2.5, 97.5))
    return np.concatenate(([np.mean(second - first)], ends))


def contaminated_by_slices(problem, documents, n):
    words = problem.lower().split()
    texts = [document.lower().split() for document in documents]
    hits = total = 0
    for start in range(len(words) - n + 1):
        total += 1
        gram = words[start : start + n]
        hits += any(text[i : i + n] == gram for text in texts for i in range(len(text) - n + 1))
    return hits / total if total else 0.0


def contaminated_by_strings(problem, documents, n):
    words = problem.lower().split()
    whole = "\n".join(" " + " ".join(document.lower().split()) + " " for document in documents)
    grams = [" ".join(["", *words[i : i + n], ""]) for i in range(max(0, len(words) - n + 1))]
    return float(np.mean([gram in whole for gram in grams])) if grams else 0.0


def choose_the_least_bits(log_probs, lengths):
    return np.stack([-log_probs, -log_probs / lengths]).argmin(axis=2).T


def choose_by_sorting(log_probs, lengths):
    columns = [np.argsort(-scores, axis=1, kind="stable")[:, 0] for scores in (log_probs, log_probs / lengths)]
    return np.column_stack(columns)


RIGHT = {
    "20.template": [template_formatted],
    "20.loss-mask": [mask_copied],
    "20.sft-loss": [loss_take_along],
    "20.packed": [packed_by_begins, packed_pairs],
    "20.lora": [lora_merged_first, lora_einsum],
    "20.distill": [distill_entropies],
    "20.answer-log-probs": [answer_logaddexp, answer_one_hot],
    "20.reward": [reward_log1p, reward_tanh],
    "20.dpo": [dpo_loop, dpo_rewards],
    "20.advantages": [advantages_norm, advantages_masked],
    "20.grpo": [grpo_selected],
    "20.kl": [kl_stacked, kl_ratios],
    "20.best-of-n": [best_cumulative],
    "20.bits-per-byte": [bits_in_base_two, bits_from_a_dot_product],
    "20.pass-at-k": [pass_at_k_by_subsets],
    "20.paired": [interval_of_two_means],
    "20.contamination": [contaminated_by_slices, contaminated_by_strings],
    "20.choice": [choose_the_least_bits, choose_by_sorting],
}
