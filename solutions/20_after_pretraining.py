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
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *After pre-training* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]

# %% 20-setup
import math

import numpy as np

from softlookup import check, hint

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
    """n samples of each problem, c (P,) of them correct, k <= n -> the mean pass@k, a number."""
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
# Two models answered the same `P` problems: `first` (P,) and `second` (P,) are their scores. How certain is the difference? Compute a **paired bootstrap** interval. Each row of `draws` (R, P) is a resample: the numbers of `P` problems, drawn with replacement. Both models are judged on the same resampled problems. Return three numbers: the mean of `second - first` over the `P` problems, and the two ends of the [[20.paired:level]] interval: the quantiles [[20.paired:tail]] and 1 - [[20.paired:tail]] of the `R` resampled means. Take the quantiles of `np.quantile`, which interpolates linearly.


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
# A benchmark's problem may have been in the training data. Words are what `str.split()` gives of a text in lower case (`str.lower()`), so punctuation stays with its word. An n-gram is a run of `n` words, one behind the other in one text. Return the fraction of the problem's n-grams that occur in at least one of the `documents`. All n-grams of the problem count, those that come several times as often as they come. A problem with fewer than `n` words has none: return 0.0.


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
# A multiple-choice problem is given to a language model as text, and the continuation to which it gives the highest log-probability is its choice. `log_probs` (P, C) are the log-probabilities of `C` continuations for each of `P` problems, summed over their tokens, and `lengths` (P, C) are their bytes. Return two choices for each problem, (P, 2): first the continuation with the highest sum, then that with the highest sum **per byte**. Of equal scores, take the first.


# %% 20-choice
def choose(log_probs, lengths):
    """Summed log_probs (P, C), lengths (P, C) in bytes -> the choices by sum and by sum per byte (P, 2)."""
    ### BEGIN SOLUTION
    by_sum = log_probs.argmax(axis=1)
    by_byte = (log_probs / lengths).argmax(axis=1)
    return np.stack([by_sum, by_byte], axis=1)
    ### END SOLUTION
