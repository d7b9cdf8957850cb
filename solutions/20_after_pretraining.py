# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 20 · After pre-training
#
# You will write what turns a language model into an assistant: the text of a conversation, the labels and the loss of supervised fine-tuning, packed batches, a low-rank adapter and distillation; the losses of preferences and rewards; and the scores by which models are compared. All in numpy.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *After pre-training* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 20-explain | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` examples in a batch, `T` tokens, `V` tokens of the vocabulary, `D` and `F` the widths before and after a linear layer, `r` the rank of an adapter, `P` prompts or problems, `G` answers to a prompt, `S` samples.

# %% 20-setup
import math

import numpy as np

from softlookup import check, hint

# %% [markdown]
# ## Supervised fine-tuning

# %% [markdown]
# [[task 20.template]]
#
# Write a conversation as the text that a chat model reads. `messages` is a list of dictionaries, each with a `"role"` (`"system"`, `"user"` or `"assistant"`) and a `"content"`, in the order in which they were said. Each message becomes `[[20.template:start]]`, its role, a line end, its content exactly as it is, `[[20.template:end]]`, and a line end. If `add_generation_prompt` is true, the text goes on with what an answer of the assistant begins with: `[[20.template:start]]assistant` and a line end, whatever the last message was. Nothing is added that is not in `messages`, and there may be no message at all.


# %% 20-template
def chat_text(messages, add_generation_prompt):
    """A list of dictionaries with "role" and "content", True or False -> text."""
    ### BEGIN SOLUTION
    start = "<|im_start|>"  # variant 20.template:start
    end = "<|im_end|>"  # variant 20.template:end
    text = ""
    for message in messages:
        text += f"{start}{message['role']}\n{message['content']}{end}\n"
    if add_generation_prompt:
        text += f"{start}assistant\n"
    return text
    ### END SOLUTION


# %% [markdown]
# [[task 20.loss-mask]]
#
# Make the inputs and the labels of one training example. `ids` are the tokens of a whole conversation, and `is_answer` is `True` for each token that the assistant wrote, the end token of its turns included. The **inputs** are all tokens but the last one. The **label** of an input is the token that follows it, if the assistant wrote **that** token, and [[20.loss-mask:ignored]] if it did not: this number tells the loss to ignore the position. Inputs and labels have T - 1 entries each. There may be several answers in an example, or none.


# %% 20-loss-mask
def targets(ids, is_answer):
    """ids (T,) integers, is_answer (T,) booleans, T >= 2 -> inputs (T - 1,), labels (T - 1,), integers."""
    ### BEGIN SOLUTION
    ignored = -100  # variant 20.loss-mask:ignored
    labels = np.where(is_answer[1:], ids[1:], ignored)
    return ids[:-1], labels
    ### END SOLUTION


# %% [markdown]
# [[task 20.sft-loss]]
#
# Return the loss of supervised fine-tuning: the mean cross-entropy, in nats, over **all** labelled tokens of the batch. Where a label is -100, the position has no label and does not count; any other label is the id of the right token. Labels are shifted already. A row may have no label at all, but the batch has at least one. Logits may be in the thousands, so compute the logarithm of the softmax without overflow, row by row.


# %% 20-sft-loss
def sft_loss(logits, labels):
    """logits (B, T, V), labels (B, T) integers -> the loss, a number."""
    ### BEGIN SOLUTION
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    counted = labels != -100
    rows, right_ids = log_p[counted], labels[counted]
    losses = -rows[np.arange(len(rows)), right_ids]
    return losses.mean()
    ### END SOLUTION


# %% [markdown]
# ## Packing

# %% [markdown]
# [[task 20.packed]]
#
# Short examples are put one behind the other into one row of `T` tokens, so that nothing is spent on padding. `lengths` says how many tokens each example has, at least one. Return the position of each token, counted from 0 in **its own** example, and the mask: `True` in row `t` and column `s` where token `t` may attend to token `s`. A token attends to itself and to earlier tokens of its own example.


# %% 20-packed
def packed(lengths):
    """lengths (E,) integers with the sum T -> positions (T,) integers, may_attend (T, T) booleans."""
    ### BEGIN SOLUTION
    example = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum(lengths) - lengths
    t = np.arange(len(example))
    positions = t - begins[example]
    is_same = example[:, None] == example[None, :]
    may_attend = is_same & (t[:, None] >= t[None, :])
    return positions, may_attend
    ### END SOLUTION


# %% [markdown]
# ## Fewer weights, a smaller model

# %% [markdown]
# [[task 20.lora]]
#
# A linear layer with the frozen weights `w` gets a low-rank adapter: `a` has `r` rows, `b` has `r` columns, and only these two are trained. The adapter adds $\frac{\alpha}{r}\, x A^\top B^\top$ to the output $x W^\top$. Return the output `y`, and `merged`: one matrix with which a plain layer gives the same output, $x\,\mathtt{merged}^\top = y$. Change none of the inputs. All vectors are rows.


# %% 20-lora
def lora(x, w, a, b, alpha):
    """x (..., D), w (F, D), a (r, D), b (F, r), alpha, a number -> y (..., F), merged (F, D)."""
    ### BEGIN SOLUTION
    scale = alpha / len(a)
    y = x @ w.T + scale * (x @ a.T @ b.T)
    merged = w + scale * (b @ a)
    return y, merged
    ### END SOLUTION


# %% [markdown]
# [[task 20.distill]]
#
# A small model, the student, learns to predict the next token as a large model, the teacher, does. Both logits are divided by the temperature `tau` before the softmax. Return `tau` squared times the mean over the tokens of $\mathrm{KL}(\text{teacher} \,\|\, \text{student})$: with the teacher's probabilities $p$ and the student's $q$, both at `tau`, the divergence of a token is $\sum_v p_v \,(\log p_v - \log q_v)$, in nats. Logits are finite and may be in the thousands.


# %% 20-distill
def distill_loss(student, teacher, tau):
    """student (T, V) and teacher (T, V), logits, tau > 0 -> the loss, a number."""
    ### BEGIN SOLUTION
    q, p = student / tau, teacher / tau
    q, p = q - q.max(axis=-1, keepdims=True), p - p.max(axis=-1, keepdims=True)
    log_q = q - np.log(np.exp(q).sum(axis=-1, keepdims=True))
    log_p = p - np.log(np.exp(p).sum(axis=-1, keepdims=True))
    divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=-1)
    return tau**2 * divergence.mean()
    ### END SOLUTION


# %% [markdown]
# ## Preferences

# %% [markdown]
# [[task 20.answer-log-probs]]
#
# Return the log-probability of each row's answer, in nats: the **sum** over its tokens. `logits[b, t]` are the model's scores for the token at `t + 1`, given all tokens up to `t`. `is_answer` is `True` for the answer's tokens. Nothing predicts the token at position 0, so it never counts. A row without an answer has the sum 0. Logits may be in the thousands, so compute the logarithm of the softmax without overflow.


# %% 20-answer-log-probs
def answer_log_probs(logits, ids, is_answer):
    """logits (B, T, V), ids (B, T) integers, is_answer (B, T) booleans -> log-probabilities (B,)."""
    ### BEGIN SOLUTION
    scores, labels = logits[:, :-1], ids[:, 1:]
    shifted = scores - scores.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    of_tokens = np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
    return np.where(is_answer[:, 1:], of_tokens, 0.0).sum(axis=1)
    ### END SOLUTION


# %% [markdown]
# [[task 20.reward]]
#
# A reward model gave the preferred answers of B pairs the rewards `chosen`, and the others `rejected`. Return its loss, the mean over the pairs of $-\log \sigma(\mathtt{chosen} - \mathtt{rejected})$ with the logistic function $\sigma(x) = 1 / (1 + e^{-x})$, and the gradient of this loss with respect to `chosen`. Differences may be in the thousands: both results stay finite and right.


# %% 20-reward
def reward_loss(chosen, rejected):
    """chosen (B,), rejected (B,) -> the loss, a number, and its gradient with respect to chosen (B,)."""
    ### BEGIN SOLUTION
    difference = chosen - rejected
    losses = np.logaddexp(0.0, -difference)
    in_order = np.exp(-losses)  # the probability that the model gives to the preference
    gradient = (in_order - 1) / len(chosen)
    return losses.mean(), gradient
    ### END SOLUTION


# %% [markdown]
# [[task 20.dpo]]
#
# `chosen` and `rejected` are the log-probabilities of B chosen and B rejected answers under the policy, `reference_chosen` and `reference_rejected` those under the reference. The margin of a pair is `beta` times the difference of two log-ratios: $\log \pi(\text{chosen}) - \log \pi_\text{ref}(\text{chosen})$ minus the same for the rejected answer. Return the loss of direct preference optimisation, the mean of $-\log \sigma(\text{margin})$, and the margins. Margins may be in the thousands.


# %% 20-dpo
def dpo_loss(chosen, rejected, reference_chosen, reference_rejected, beta):
    """Log-probabilities (B,) four times, beta > 0 -> the loss, a number, and margins (B,)."""
    ### BEGIN SOLUTION
    gained = chosen - reference_chosen
    lost = rejected - reference_rejected
    margins = beta * (gained - lost)
    losses = np.logaddexp(0.0, -margins)
    return losses.mean(), margins
    ### END SOLUTION


# %% [markdown]
# ## Rewards

# %% [markdown]
# [[task 20.advantages]]
#
# Each of P prompts was answered G times, and each answer has a reward. Return the advantages: a reward minus the mean of its prompt's rewards, divided by their standard deviation (the root of the mean squared difference, with G in the denominator). Where all rewards of a prompt are equal up to rounding, the advantages are exactly 0: where the largest and the smallest differ by at most 1e-15 times the largest absolute value among them. `G` may be 1. Compare the rewards themselves: the standard deviation of three times 0.1 is not quite 0 in floats, and that of three times 1e8 + 0.1 is more than a billionth. Add no small number to it: rewards may differ by a millionth, or be as small as 1e-20.


# %% 20-advantages
def group_advantages(rewards):
    """rewards (P, G) -> advantages (P, G)."""
    ### BEGIN SOLUTION
    mean = rewards.mean(axis=1, keepdims=True)
    spread = np.sqrt(((rewards - mean) ** 2).mean(axis=1, keepdims=True))
    largest = np.abs(rewards).max(axis=1, keepdims=True)
    differs = np.ptp(rewards, axis=1, keepdims=True) > 1e-15 * largest
    return np.where(differs, (rewards - mean) / np.where(differs, spread, 1.0), 0.0)
    ### END SOLUTION


# %% [markdown]
# [[task 20.grpo]]
#
# Return the loss of GRPO for B answers. `new` and `old` are log-probabilities of the tokens under the policy that learns and under the policy that wrote them, and `ratio` is the probability under `new` divided by that under `old`. A token's gain is the smaller of `ratio` times the advantage of its answer, and the ratio clipped to [1 − clip, 1 + clip] times that advantage. The loss is **minus** the mean of the gains over all answer tokens of the batch together. Only tokens where `is_answer` is `True` count; there is one at least.


# %% 20-grpo
def grpo_loss(new, old, advantages, is_answer, clip):
    """new, old (B, T), advantages (B,), is_answer (B, T) booleans, 0 < clip < 1 -> the loss, a number."""
    ### BEGIN SOLUTION
    ratio = np.exp(new - old)
    weight = advantages[:, None]
    clipped = np.clip(ratio, 1 - clip, 1 + clip)
    gains = np.minimum(ratio * weight, clipped * weight)
    return -gains[is_answer].mean()
    ### END SOLUTION


# %% [markdown]
# [[task 20.kl]]
#
# Estimate $\mathrm{KL}(\text{policy} \,\|\, \text{reference})$ from samples that were drawn from the policy. `policy` and `reference` are their log-probabilities under both, in nats, which may be as low as minus some thousands and differ by up to 30. With $r$, the probability under the reference divided by that under the policy, return the means over the samples of $k_1 = -\log r$, $k_2 = \frac12 (\log r)^2$ and $k_3 = r - 1 - \log r$, in this order, as one array.


# %% 20-kl
def kl_estimates(policy, reference):
    """policy (S,), reference (S,), log-probabilities -> the means of k1, k2 and k3 (3,)."""
    ### BEGIN SOLUTION
    log_r = reference - policy
    k1 = -log_r
    k2 = 0.5 * log_r**2
    k3 = np.exp(log_r) - 1 - log_r
    return np.array([k1.mean(), k2.mean(), k3.mean()])
    ### END SOLUTION


# %% [markdown]
# [[task 20.best-of-n]]
#
# `rewards` are the rewards of S answers to one prompt. If `n` of them are drawn without replacement, each set of `n` being equally probable, what is the expected reward of the best? Return it, and the bound $\log n - (n - 1) / n$ on the KL divergence of the best of `n` from the model, in nats. Sort the rewards, and ask for each how many sets there are in which it is the largest. S may be in the thousands, and the number of sets far too large for int64: `math.comb` gives whole numbers of Python, which never overflow. Divide them by each other before you make floats of them.


# %% 20-best-of-n
def best_of_n(rewards, n):
    """rewards (S,), 1 <= n <= S -> the expected largest reward and the bound, two numbers."""
    ### BEGIN SOLUTION
    rising = np.sort(rewards)
    sets = math.comb(len(rising), n)
    # The other n - 1 are among the i that are smaller.
    probabilities = [math.comb(i, n - 1) / sets for i in range(len(rising))]
    expected = (rising * probabilities).sum()
    return expected, math.log(n) - (n - 1) / n
    ### END SOLUTION


# %% [markdown]
# ## Evaluation

# %% [markdown]
# [[task 20.bits-per-byte]]
#
# A language model gave each token of a text a probability. `log_probs` (T,) are the natural logarithms of these probabilities, and `text` is the text itself, a str of one character or more. Return how many **bits** the model needs for each **byte** of the text in UTF-8. Models with different tokenizers can be compared by this number. `text.encode()` gives the bytes; a letter may have up to four.


# %% 20-bits-per-byte
def bits_per_byte(log_probs, text):
    """log_probs (T,) of all tokens, a str -> bits for each byte of the text, a number."""
    ### BEGIN SOLUTION
    bits = -log_probs.sum() / math.log(2)
    return bits / len(text.encode())
    ### END SOLUTION


# %% [markdown]
# [[task 20.pass-at-k]]
#
# A model wrote `n` programs for each of `P` problems, and `c` (P,) of them passed the tests. **pass@k** is the probability that at least one of `k` programs passes, where the `k` are drawn from the `n` without replacement. Return its mean over the problems. `k` is at most `n`, and the answer has to be right for `n = 200` and more, too, where numbers of subsets are far too large for int64.


# %% 20-pass-at-k
def pass_at_k(n, c, k):
    """n samples of each problem, c (P,) of them correct, 1 <= k <= n -> the mean pass@k, a number."""
    ### BEGIN SOLUTION
    wrong = n - c
    misses = np.ones(len(c))
    for earlier in range(k):
        misses = misses * (wrong - earlier) / (n - earlier)
    return 1 - misses.mean()
    ### END SOLUTION


# %% [markdown]
# [[task 20.paired]]
#
# Two models answered the same `P` problems: `first` (P,) and `second` (P,) are their scores. How certain is the difference? Compute a **paired bootstrap** interval. Each row of `draws` (R, P) is a resample: the numbers of `P` problems, counted from 0 and drawn with replacement. Both models are judged on the same resampled problems. Return three numbers: the mean of `second - first` over the `P` problems, and the two ends of the [[20.paired:level]] interval: the quantiles [[20.paired:tail]] and 1 - [[20.paired:tail]] of the `R` resampled means. Take the quantiles of `np.quantile`, which interpolates linearly.


# %% 20-paired
def paired_interval(first, second, draws):
    """Scores of two models (P,) and (P,), resampled problems (R, P) -> mean difference, low end, high end (3,)."""
    ### BEGIN SOLUTION
    tail = 0.025  # variant 20.paired:tail
    gains = second - first
    means = gains[draws].mean(axis=1)
    low, high = np.quantile(means, [tail, 1 - tail])
    return np.array([gains.mean(), low, high])
    ### END SOLUTION


# %% [markdown]
# [[task 20.contamination]]
#
# A benchmark's problem may have been in the training data. Words are what `str.split()` gives of a text in lower case (`str.lower()`), so punctuation stays with its word. An n-gram is a run of `n` words, one behind the other in one text. Return the fraction of the problem's n-grams that occur in at least one of the `documents`. All n-grams of the problem count; an n-gram that comes twice counts twice. A problem with fewer than `n` words has none: return 0.0.


# %% 20-contamination
def contaminated(problem, documents, n):
    """A str, a list of str, the words of an n-gram -> the fraction of the problem's n-grams in any document."""

    ### BEGIN SOLUTION
    def ngrams(text):
        words = text.lower().split()
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    trained = {gram for document in documents for gram in ngrams(document)}
    grams = ngrams(problem)
    return sum(gram in trained for gram in grams) / max(len(grams), 1)
    ### END SOLUTION


# %% [markdown]
# [[task 20.choice]]
#
# A multiple-choice problem is given to a language model as text, and the continuation to which it gives the highest log-probability is its choice. `log_probs` (P, C) are the log-probabilities of `C` continuations for each of `P` problems, summed over their tokens, and `lengths` (P, C) are their bytes. Return two choices for each problem, (P, 2): first the continuation with the highest sum, then that with the highest sum **per byte**, the sum divided by the bytes. Of equal scores, take the first.


# %% 20-choice
def choose(log_probs, lengths):
    """Summed log_probs (P, C), lengths (P, C) in bytes -> the choices by sum and by sum per byte (P, 2)."""
    ### BEGIN SOLUTION
    by_sum = log_probs.argmax(axis=1)
    by_byte = (log_probs / lengths).argmax(axis=1)
    return np.stack([by_sum, by_byte], axis=1)
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 20-explain · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/20_after_pretraining_evaluation.html#after-pretraining-intervals)
#
# A report says: "Before reinforcement learning our model solved 58.0 % of the 200 problems of a benchmark, and now it solves 61.5 %. Its mean reward rose from 0.4 to 0.9. Forty of the problems were later found in the training data, and left in." What does this show, and what does it not show? Name three figures that you would ask for, and say what each would tell you. Five to eight sentences.

# %% 20-explain [markdown] points=3
# The difference is 7 problems of 200. With independent answers, the standard error of such a difference is about 5 points, so that 3.5 points alone show no gain. Both models answered the same problems, so I ask first for the paired comparison: how many problems did only the new model solve, and how many only the old one? Seven against none would be convincing, 27 against 20 would not. I ask second for the scores on the 160 problems that are not in the training data: if the gain stands in the other 40, the model has learned these by heart. That the reward rose says that training worked as an optimisation; the score grew much less, so that the reward may have been cheated. So I ask third for the length of the answers and the KL divergence from the model before, or for a reward by people on a sample of answers: they would tell whether the answers became better or only look so to the reward. (The size of the difference against chance, the dirty problems, and the reward as no evidence by itself are a point each; other figures are as good if the reason is given, such as several seeds of training.)
