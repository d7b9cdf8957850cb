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
# # 4 · One head of self-attention
#
# You will write one head of attention: first with a pencil, then step by step in code, then whole, then its gradient.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *One head of
# self-attention* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 04-uniform | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` query positions, `S` key positions, `D` model width, `H` head width, `B` sequences in a batch.
# A name such as `q_BTH` says the shape: batch, positions, head width. Leading axes may be more (`B`, `N`, …) or none:
# write every step so that it works on the **last two** axes. (`.T` turns *all* axes round; `.mT` and `.transpose(-2, -1)` the last two.)
#
# **Arrays.** The inputs are torch tensors, except in the part *Backwards, by hand*, where they are numpy arrays. torch says `dim` and
# `keepdim` where numpy says `axis` and `keepdims`, and `x.max(dim=-1)` returns values *and* indices (`x.amax(dim=-1)`: the values alone).

# %% 04-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## By hand first
#
# Five tokens, three numbers each. The projections are the identity, so queries, keys and values are the rows of `X`.

# %% 04-example-two
X = np.array(
    [
        [1.0, 0.5, 0.2],
        [0.8, 1.2, 0.3],
        [0.6, 0.9, 1.1],
        [1.1, 0.4, 0.7],
        [0.9, 0.7, 0.8],
    ]
)

# %% [markdown]
# [[task 04.by-hand]]
#
# Take a pencil. Token **[[04.by-hand:ordinal]]** (row [[04.by-hand:ordinal]] of `X`, counted from 1) asks all five tokens, itself as well.
# Write down its five **scaled scores**: its dot product with each row of `X`, divided by the square root of the head width. Two decimals are enough.
# Return them as a list, in the order of the tokens.


# %% 04-by-hand
def by_hand():
    ### BEGIN SOLUTION
    token = 0  # variant 04.by-hand:token
    dots = X @ X[token]
    return [round(float(dot) / math.sqrt(3), 2) for dot in dots]
    ### END SOLUTION


# %% [markdown]
# ## The steps, one at a time
#
# [[task 04.project]]
#
# Each token's vector is turned into a query, a key and a value by three weight matrices. A vector is a **row** here, so a
# projection is the vector times the matrix: `x_BTD` with `w_q`, `w_k`, `w_v`, each of shape `(D, H)`.
# Return the three results in the order query, key, value.


# %% 04-project
def project(x, w_q, w_k, w_v):
    """x (..., T, D), each w (D, H) -> q, k, v, each (..., T, H)."""
    ### BEGIN SOLUTION
    q = x @ w_q
    k = x @ w_k
    v = x @ w_v
    return q, k, v
    ### END SOLUTION


# %% [markdown]
# [[task 04.scores]]
#
# How well does each query match each key? Return the table of dot products: row `t`, column `s` holds query `t` times key `s`.
# No scale yet.


# %% 04-scores
def scores(q, k):
    """q (..., T, H), k (..., S, H) -> (..., T, S)."""
    ### BEGIN SOLUTION
    return q @ k.transpose(-2, -1)
    ### END SOLUTION


# %% [markdown]
# [[task 04.scale]]
#
# Long vectors have large dot products. Divide the scores by $\tau\sqrt{H}$, where `head_width` is $H$ and the temperature is
# $\tau = $ **[[04.scale:tau]]**.


# %% 04-scale
def scale(scores, head_width):
    """scores (..., T, S) and the head width H -> (..., T, S)."""
    ### BEGIN SOLUTION
    tau = 1.0  # variant 04.scale:tau
    return scores / (tau * math.sqrt(head_width))
    ### END SOLUTION


# %% [markdown]
# [[task 04.softmax]]
#
# Turn each **row** of scores into weights: never negative, with sum 1, larger where the score is larger. Write it out with `exp` and
# a division; in this one task `softmax`, `log_softmax`, `softmin` and `logsumexp` are not allowed, neither torch's nor the library's. A row
# may hold numbers near 1000 or -1000, side by side, or $-\infty$ where a key must not be seen (its weight is 0). No row is $-\infty$ throughout.


# %% 04-softmax
def softmax(x):
    """x (..., S) -> weights over the last axis, same shape."""
    ### BEGIN SOLUTION
    top = x.max(dim=-1, keepdim=True).values
    e = torch.exp(x - top)
    return e / e.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% [markdown]
# [[task 04.mix]]
#
# Each query now takes a weighted sum of the values: row `t` of the result is the sum over `s` of weight `(t, s)` times value `s`.


# %% 04-mix
def mix(weights, v):
    """weights (..., T, S), v (..., S, H) -> (..., T, H)."""
    ### BEGIN SOLUTION
    return weights @ v
    ### END SOLUTION


# %% [markdown]
# [[task 04.column]]
#
# The same for one token alone, with no table at all: one query against all keys. The result needs nobody else's result.
# (In the first transformer $H = 64$, so the score was divided by 8. Yours has to work for any width.)


# %% 04-column
def one_token(q, k, v):
    """q (H,) of one token, k (S, H), v (S, H') of all tokens -> its result (H',)."""
    ### BEGIN SOLUTION
    score = k @ q
    scaled = score / math.sqrt(q.shape[-1])
    weight = torch.softmax(scaled, dim=-1)
    return (weight[:, None] * v).sum(dim=0)
    ### END SOLUTION


# %% [markdown]
# ## Put together, with a mask
#
# A mask says which query may attend to which key: boolean, `True` = may attend. It has the shape of the scores or one that broadcasts to it: `(T, S)`, `(B, T, S)`,
# `(B, 1, S)`, with more axes in front where the scores have them. Where it says `False` the weight is exactly 0, however large the score is (scores may be in the thousands, positive or negative), and the rest of the row still sums to 1.
# A query that may attend to nothing gets a row of zeros, never NaN.
#
# [[task 04.weights]]
#
# Queries and keys in, attention weights out: score, divide by $\sqrt{H}$ (no temperature), mask, softmax.


# %% 04-weights
def attention_weights(q, k, mask=None):
    """q (..., T, H), k (..., S, H), mask broadcastable to (..., T, S) -> weights (..., T, S)."""
    ### BEGIN SOLUTION
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    a = torch.softmax(s, dim=-1)
    if mask is not None:
        a = a.masked_fill(~mask, 0.0)
    return a
    ### END SOLUTION


# %% [markdown]
# [[task 04.attention]]
#
# The whole of $\mathrm{softmax}(QK^\top / \sqrt{H})\,V$, with the mask. Gradients must flow to `q`, `k` and `v` (a query with
# nothing to see sends back zeros, and no gradient is NaN, however large a hidden score is), and the result has the dtype of the inputs, float32 or float64. torch's own attention
# (`scaled_dot_product_attention`, `MultiheadAttention`) and this library's are not allowed here: you are writing it.


# %% 04-attention
def attention(q, k, v, mask=None):
    """q (..., T, H), k (..., S, H), v (..., S, H'), mask -> (..., T, H')."""
    ### BEGIN SOLUTION
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    a = torch.softmax(s, dim=-1)
    if mask is not None:
        a = a.masked_fill(~mask, 0.0)
    return a @ v
    ### END SOLUTION


# %% [markdown]
# ## Why the scale, and what it costs
#
# [[task 04.spread]]
#
# The `H` entries of a query are drawn independently with mean 0 and standard deviation `sigma_q`; those of a key with mean 0 and
# `sigma_k`. What is the **standard deviation** of their dot product, before any scale?


# %% 04-spread
def score_spread(head_width, sigma_q, sigma_k):
    """Standard deviation of one score q . k, a float."""
    ### BEGIN SOLUTION
    variance = head_width * sigma_q**2 * sigma_k**2
    return math.sqrt(variance)
    ### END SOLUTION


# %% [markdown]
# [[task 04.cost]]
#
# How many **bytes** does the table of scores take for one head, if it is kept in memory: `batch` sequences, `n_queries` queries
# each, `n_keys` keys each, `bytes_per_number` bytes for each number?


# %% 04-cost
def score_bytes(batch, n_queries, n_keys, bytes_per_number):
    """Bytes of the scores (B, T, S), a whole number."""
    ### BEGIN SOLUTION
    numbers = batch * n_queries * n_keys
    return numbers * bytes_per_number
    ### END SOLUTION


# %% [markdown]
# ## Backwards, by hand
#
# Inputs are numpy arrays in the two tasks of this part. No autograd here (`backward` and `grad` are not allowed): a pencil and the chain rule.
# You may use it in a cell of your own, to compare.
#
# [[task 04.softmax-backward]]
#
# `a` are weights that came out of a softmax over the last axis, `da` is the gradient of the loss with respect to them.
# Return the gradient with respect to the **scores** that went in.


# %% 04-softmax-backward
def softmax_backward(a, da):
    """a, da (..., S) -> gradient of the scores, same shape."""
    ### BEGIN SOLUTION
    inner = (a * da).sum(axis=-1, keepdims=True)
    return a * (da - inner)
    ### END SOLUTION


# %% [markdown]
# [[task 04.backward]]
#
# Now one head backwards, without a mask. `dz` is the gradient with respect to the result of attention. Return the gradients with respect to
# `q`, `k` and `v`, in that order. The scale $1/\sqrt{H}$ is part of it, and scores may be in the thousands here too.


# %% 04-backward
def attention_backward(q, k, v, dz):
    """q (T, H), k (S, H), v (S, H'), dz (T, H') -> dq, dk, dv with the shapes of q, k, v."""
    ### BEGIN SOLUTION
    root = math.sqrt(q.shape[-1])
    s = q @ k.T / root
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    a = e / e.sum(axis=-1, keepdims=True)
    dv = a.T @ dz
    da = dz @ v.T
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True))
    dq = ds @ k / root
    dk = ds.T @ q / root
    return dq, dk, dv
    ### END SOLUTION


# %% [markdown]
# ## One whole head
#
# [[task 04.head]]
#
# From token vectors to results, in torch again: project `x` with the given weights, score, scale, mask, softmax, mix.
# Gradients must reach all three weight matrices, and the result has the dtype of the inputs, float32 or float64. You may call your own functions from above;
# torch's attention and this library's are not allowed.


# %% 04-head
def one_head(x, w_q, w_k, w_v, mask=None):
    """x (..., T, D), each w (D, H), mask broadcastable to (..., T, T) -> (..., T, H)."""
    ### BEGIN SOLUTION
    q, k, v = project(x, w_q, w_k, w_v)
    return attention(q, k, v, mask)
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 04-uniform · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/04_one_head.html#one-head-uniform)
#
# A head returns the same vector for every token of a sentence. Say what its attention weights and its values could look like (there is
# more than one way), how you would tell the cases apart from the tensors, and why such a head tells a token nothing about its context. Three to six sentences.

# %% 04-uniform [markdown] points=3
# Every token gets the same mixture, so the rows of the weights lead to the same result. The plainest way is uniform weights: all scores of a row
# are equal, and the result is the mean of the values. The rows may also be equal without being uniform, when all queries are the
# same (or the keys do not tell them apart): then every token listens to the same few tokens. Or the values themselves are equal, and any weights give
# that same vector. Rarely, the weights differ and so do the values, and the differences cancel. Print the weights (are they 1/S, are the rows equal?), then
# the values (are their rows equal?), then the product. In each case the result does not depend on which token asks, so a token learns nothing
# about its own surroundings that every other token would not be told as well.
