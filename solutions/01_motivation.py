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
# # 1 · Why transformers
#
# You will run a recurrent layer over a sentence word by word, compare its cost with that of attention, then turn plain text into a training
# set and take one training step on it.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer and run the check below it, as
# often as you like. The chapter in the book is *Why transformers*.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
#
# **Letters.** `T` tokens, `D` numbers in a token's vector, `M` numbers in a recurrent layer's state, `V` words in the vocabulary. A shape
# such as `(T, D)` means one row for each token, with `D` numbers in it. Tokens and steps are counted from 0, as in Python.

# %% 01-setup
import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## Recurrent layers
#
# [[task 01.recurrent]]
#
# Write a recurrent layer. It reads the tokens in order; after each token it has a **state** of `M` numbers, computed from that token and the
# previous state: $h_t = \tanh(x_t W_x + h_{t-1} W_h + b)$, where the state before the first token is all zeros. The inputs are the tokens
# `x`, shape `(T, D)`, and the weights `w_x` `(D, M)`, `w_h` `(M, M)` and `b` `(M,)`. Return all states, shape `(T, M)`, one row for each
# token, in the dtype of the inputs (float32 or float64). Gradients must flow to all four inputs.


# %% 01-recurrent
def recurrent(x, w_x, w_h, b):
    """x (T, D), w_x (D, M), w_h (M, M), b (M,) -> states (T, M)."""
    ### BEGIN SOLUTION
    state = x.new_zeros(w_h.shape[0])
    states = []
    for x_t in x:
        state = torch.tanh(x_t @ w_x + state @ w_h + b)
        states.append(state)
    return torch.stack(states)
    ### END SOLUTION


# %% [markdown]
# ## Sequential and parallel steps
#
# [[task 01.depth]]
#
# When is each step of a computation done, if you have as many parallel units as you like? A computation of `n` steps is given as a numpy
# array of booleans, shape `(n, n)`: `needs[i, j]` is `True` where step `i` needs the result of step `j`. A step needs only earlier ones, so
# this occurs only for $j < i$. A step that needs nothing is done at time **0**. Every other step starts when the last of the steps that it
# needs is done, and takes one unit of time; steps that do not wait for each other run at the same time. Return the time at which each step is
# done, `n` whole numbers. (The largest of them is the computation's *depth*. This library's own functions are not allowed here.)


# %% 01-depth
def finish_times(needs):
    """needs (n, n), True where step i needs step j -> the time at which each step is done (n,)."""
    ### BEGIN SOLUTION
    done = [0] * len(needs)
    for i in range(len(needs)):
        before = [done[j] for j in range(i) if needs[i, j]]
        if before:
            done[i] = 1 + max(before)
    return done
    ### END SOLUTION


# %% [markdown]
# [[task 01.operations]]
#
# How many operations do a recurrent layer and attention take for `n_tokens` tokens ($T$) of `width` numbers ($D$)? Count only the matrix
# products; a multiply-add is **two** operations, so the product of an $(a, b)$ and a $(b, c)$ matrix takes $2abc$.
#
# - **Recurrent**: **[[01.operations:gates]]** pairs of $D \times D$ matrices ([[01.operations:layer]]). For each token, each pair multiplies
#   the token by one matrix and the previous state by the other.
# - **Attention**: four $D \times D$ matrices that multiply every token (for queries, keys, values, and the output), then the scores $QK^\top$
#   and the mixing $AV$, which pair every token with every token.
#
# Return three whole numbers: the operations of the recurrent layer, those of attention, and the number of tokens at which the two are equal
# (for this `width`, whatever `n_tokens` is). This library's own functions are not allowed here.


# %% 01-operations
def operations(n_tokens, width):
    """T and D -> operations of the recurrent layer, of attention, and the T at which they are equal."""
    ### BEGIN SOLUTION
    gates = 4  # variant 01.operations:gates
    multiply_add = 2
    one_matrix = multiply_add * n_tokens * width**2
    recurrent = gates * 2 * one_matrix
    projections = 4 * one_matrix
    table = 2 * multiply_add * n_tokens**2 * width
    attention = projections + table
    equal_at = (gates - 2) * width
    return recurrent, attention, equal_at
    ### END SOLUTION


# %% [markdown]
# ## Learning from plain text
#
# [[task 01.pairs]]
#
# Turn a text into a training set: the tokens before a position are a **feature**, the token at that position is its **label**. `ids` is a
# torch tensor of `n` whole numbers, at least two. Return two tensors: the features, shape `(n - 1, n - 1)`, one row for each of the $n - 1$
# pairs, and the labels, shape `(n - 1,)`. Row `t` of the features holds tokens 0 to `t`, from the left, padded with **[[01.pairs:pad]]** to
# $n - 1$ positions; label `t` is the token that comes next. Features will be used to look up rows of a table, so they are whole numbers in
# the dtype of `ids` (int64 or int32); labels are whole numbers, too.


# %% 01-pairs
def next_token_pairs(ids):
    """ids (n,) -> features (n - 1, n - 1) and labels (n - 1,)."""
    ### BEGIN SOLUTION
    pad = 0  # variant 01.pairs:pad
    n = len(ids)
    labels = ids[1:]
    features = torch.full((n - 1, n - 1), pad, dtype=ids.dtype)
    for t in range(n - 1):
        features[t, : t + 1] = ids[: t + 1]
    return features, labels
    ### END SOLUTION


# %% [markdown]
# [[task 01.push-up]]
#
# Take one step of gradient descent on logits. At each of `T` positions a model has given every word of the vocabulary a logit: `logits` has
# shape `(T, V)`, and `labels`, shape `(T,)`, holds whole numbers. Let $p$ be the softmax of the logits at a position. The loss is the
# **mean** over the positions of $-\log p_{\text{label}}$, and its gradient with respect to the logits of one position is $(p - y)/T$, where
# $y$ is 1 at the label and 0 elsewhere. The learning rate is **[[01.push-up:rate]]**. Return the new logits, shape `(T, V)`, in the dtype of
# the old. Logits may be near a thousand or minus a thousand, even in the same row; `exp` of a thousand overflows. The formula
# is all you need.


# %% 01-push-up
def push_up(logits, labels):
    """logits (T, V), labels (T,) whole numbers -> the logits after one step (T, V)."""
    ### BEGIN SOLUTION
    rate = 0.5  # variant 01.push-up:rate
    p = torch.softmax(logits, dim=-1)
    onehot = torch.zeros_like(p)
    onehot[torch.arange(len(labels)), labels] = 1.0
    gradient = (p - onehot) / len(labels)
    return logits - rate * gradient
    ### END SOLUTION
