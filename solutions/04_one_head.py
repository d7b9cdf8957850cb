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
# You will write one head of attention: first with a pencil, then step by step in code, then the whole head and its backward pass.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer and run the check below it, as
# often as you like. The chapter in the book is *One head of self-attention*.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 04-uniform | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` query positions, `S` key positions, `D` model width, `H` head width, `B` sequences in a batch. A name such as `q_BTH`
# states the shape: batch, positions, head width. There may be more leading axes (`B`, `N`, …) or none: write every step so that it works on
# the **last two** axes. (`.T` reverses *all* axes; `.mT` and `.transpose(-2, -1)` swap the last two.)
#
# **Arrays.** The inputs are torch tensors, except in the part *Backwards, by hand*, where they are numpy arrays. torch says `dim` and
# `keepdim` where numpy says `axis` and `keepdims`, and `x.max(dim=-1)` returns values *and* indices (`x.amax(dim=-1)` returns only the
# values).

# %% 04-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## By hand first
#
# The rows of `X` are five tokens of three numbers each. The projections are the identity, so queries, keys and values are the rows of `X`.

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
# Take a pencil. Token **[[04.by-hand:ordinal]]** (row [[04.by-hand:ordinal]] of `X`, counted from 1) is the query; the keys are all five
# tokens, itself included. Compute the five **scaled scores**: the dot product of the query with each row of `X`, divided by the square root
# of the head width. Return them as a list, in the order of the tokens. Two decimals are enough.


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
# Project each token's vector to a query, a key and a value, with three weight matrices. A vector is a **row** here, so a projection is the
# vector times the matrix. `x` has shape `(..., T, D)`; `w_q`, `w_k` and `w_v` have shape `(D, H)`. Return three results, each of shape
# `(..., T, H)`, in the order query, key, value.


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
# How well does each query match each key? Compute the table of dot products of `q`, shape `(..., T, H)`, with `k`, shape `(..., S, H)`.
# Return shape `(..., T, S)`: row `t`, column `s` holds the dot product of query `t` and key `s`. Do not scale yet.


# %% 04-scores
def scores(q, k):
    """q (..., T, H), k (..., S, H) -> (..., T, S)."""
    ### BEGIN SOLUTION
    return q @ k.transpose(-2, -1)
    ### END SOLUTION


# %% [markdown]
# [[task 04.scale]]
#
# Wide vectors have large dot products. Divide the scores, shape `(..., T, S)`, by $\tau\sqrt{H}$, where `head_width` is $H$ and the
# temperature is $\tau = $ **[[04.scale:tau]]**. Return the same shape.


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
# Turn each **row** of scores (the last axis) into weights: never negative, with sum 1, larger where the score is larger. Return the same
# shape. Write the softmax out with `exp` and a division. A row may hold numbers near 1000 and -1000, even side by side, and $-\infty$ where a key is
# masked (its weight is 0). No row is $-\infty$ throughout.


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
# For each query, compute the weighted sum of the values. `weights` has shape `(..., T, S)`, `v` has shape `(..., S, H)`. Return shape
# `(..., T, H)`: row `t` is the sum over `s` of weight `(t, s)` times value `s`.


# %% 04-mix
def mix(weights, v):
    """weights (..., T, S), v (..., S, H) -> (..., T, H)."""
    ### BEGIN SOLUTION
    return weights @ v
    ### END SOLUTION


# %% [markdown]
# [[task 04.column]]
#
# Compute attention for one token alone, without the table of scores. The inputs are one query `q`, shape `(H,)`, all keys `k`, shape
# `(S, H)`, and all values `v`, shape `(S, H')`. Divide the scores by $\sqrt{H}$, without a temperature. Return the token's result, shape
# `(H',)`; it does not depend on any other token's result. (In the first transformer $H = 64$, so the score was divided by 8. Your function
# must work for any width.) Scores may be in the thousands.


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
# A mask says which query may attend to which key: boolean, `True` = may attend. It has the shape of the scores or one that broadcasts to it:
# `(T, S)`, `(B, T, S)`, `(B, 1, S)`, with more leading axes where the scores have them. Where the mask is `False`, the weight is exactly 0,
# however large the score is (scores may be in the tens of thousands, positive or negative), and the rest of the row still sums to 1. A query
# that may attend to no key (a fully masked row) gets a row of zeros, never NaN.
#
# [[task 04.weights]]
#
# Compute attention weights from `q`, shape `(..., T, H)`, and `k`, shape `(..., S, H)`: score, divide by $\sqrt{H}$ (no temperature), mask,
# softmax. `mask` is `True` where a query may attend; a query that may attend to nothing gets a row of zeros. Return shape `(..., T, S)`.


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
# Compute the whole of $\mathrm{softmax}(QK^\top / \sqrt{H})\,V$, with the mask, which is `True` where a query may attend. `q` has shape
# `(..., T, H)`, `k` has `(..., S, H)` and `v` has `(..., S, H')`. Return shape `(..., T, H')`, in the dtype of the inputs, float32 or
# float64. Gradients must flow to `q`, `k` and `v`; a
# fully masked query sends back zeros, and no gradient is NaN, however large a masked score is.


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
# What is the **standard deviation** of the dot product of a query and a key, before scaling? All entries are drawn independently: the $H$
# entries of the query (`head_width`) with mean 0 and standard deviation `sigma_q`, those of the key with mean 0 and standard deviation
# `sigma_k`. Return a float.


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
# How many **bytes** does the table of scores of one head take, if it is kept in memory? There are `batch` sequences with `n_queries` queries
# and `n_keys` keys each, and each number takes `bytes_per_number` bytes. Return a whole number.


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
# In the two tasks of this part, inputs are numpy arrays. Use a pencil and the chain rule. You may use
# autograd in a cell of your own, to compare.
#
# [[task 04.softmax-backward]]
#
# Write the backward pass of softmax. `a`, shape `(..., S)`, holds the weights that came out of a softmax over the last axis; `da`, of the
# same shape, is the gradient of the loss with respect to them. Return the gradient with respect to the **scores** that went in, in the same
# shape.


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
# Write the backward pass of one head, without a mask. `q` has shape `(T, H)`, `k` has `(S, H)` and `v` has `(S, H')`; `dz`, shape `(T, H')`,
# is the gradient with respect to the result of attention. Return the gradients with respect to `q`, `k` and `v`, in that order and in their
# shapes. The scale $1/\sqrt{H}$ is part of the head, and scores may be in the thousands here too.


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
# Compute one head from token vectors to results, in torch again: project `x` with the given weights, score, divide by $\sqrt{H}$ (no
# temperature), mask, softmax, mix. `x` has shape `(..., T, D)`, each weight matrix has `(D, H)`, and the mask broadcasts to `(..., T, T)`.
# Return shape `(..., T, H)`, in the dtype of the inputs, float32 or float64. Gradients must reach `x` and all three weight matrices. You may call
# your own functions from above.


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
# Task 04-uniform · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/04_one_head_practice.html#one-head-uniform)
#
# A head returns the same vector for every token of a sentence. Say what its attention weights and its values could be (there is more than one
# way), how you would distinguish the cases by inspecting the tensors, and why such a head tells a token nothing about its context. Write
# three to six sentences.

# %% 04-uniform [markdown] points=3
# Every token gets the same mixture, so every row of weights leads to the same result. The simplest way is uniform weights: all scores of a
# row are equal, and the result is the mean of the values. The rows may also be equal without being uniform, when all queries are the same (or
# the keys do not distinguish them): then every token attends to the same few tokens. Or the values themselves are equal, and any weights give
# that same vector. Rarely, both the weights and the values differ, and the differences cancel. To find out, print the weights (are they 1/S,
# are the rows equal?), then the values (are their rows equal?), then the product. In each case the result does not depend on which token is
# the query, so a token learns nothing about its own context that every other token does not learn as well.
