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
# You will read a sentence word by word as a recurrent network does, count what that costs beside attention, and then make a training set out of plain
# text and learn one step from it.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *Why transformers*
# in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
#
# **Letters.** `T` tokens, `D` numbers in a token's vector, `M` numbers in a recurrent layer's state, `V` words in the vocabulary.
# A shape such as `(T, D)` says: one row for each token, `D` numbers in it. Tokens and steps are counted from 0, as in Python.

# %% 01-setup
import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## Recurrent layers
#
# [[task 01.recurrent]]
#
# A recurrent layer reads the tokens in their order. After each it has a **state** of `M` numbers, made of the token just read and
# of the state before it. Write it: $h_t = \tanh(x_t W_x + h_{t-1} W_h + b)$, where the state before the first token is zeros. Return
# all states, one row for each token, in the dtype of the inputs (float32 or float64); gradients must flow to all four. torch's own recurrent layers and this library's are not allowed here.


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
# A computation is a table of `n` steps, a numpy array of booleans: `needs[i, j]` is `True` where step `i` needs the result of step
# `j`. Steps need earlier ones alone, so only $j < i$ occurs. Each step takes one unit of time, and you have as many parallel units as you like,
# so that steps which do not wait for each other are done at the same time. What needs nothing is there at time **0**. Return the time at which each step is
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
# How many operations do two layers take for `n_tokens` tokens ($T$) of `width` numbers ($D$)? Count the matrix products alone; a
# multiply-add is **two** operations, so a product of an $(a, b)$ and a $(b, c)$ matrix takes $2abc$.
#
# - **Recurrent**: **[[01.operations:gates]]** pairs of $D \times D$ matrices ([[01.operations:layer]]). For each token, each pair multiplies the token by one
#   matrix and the state before it by the other.
# - **Attention**: four $D \times D$ matrices that every token is multiplied by (for queries, keys, values, and the output), then the scores
#   $QK^\top$ and the mixing $AV$, where every token meets every token.
#
# Return three whole numbers: the operations of the recurrent layer, those of attention, and the number of tokens at which the
# two are equal (for this `width`, whatever `n_tokens` is). This library's own functions are not allowed here.


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
# A text of `n` tokens is a training set: what stands before a token is a **feature**, the token itself is its **label**. `ids` is a torch tensor
# of `n` whole numbers, at least two. Return two tensors: the features, one row for each of the $n - 1$ pairs, and the labels. Row `t` holds
# tokens 0 to `t`, from the left, and is filled up to $n - 1$ places with **[[01.pairs:pad]]**; label `t` is the token that comes next.
# Features are to look up rows of a table, so they are whole numbers in the dtype of `ids` (int64 or int32); labels are whole numbers, too.


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
# At each of `T` positions a model has given every word of the vocabulary a logit. Let $p$ be their softmax. The loss is the **mean** over the positions of
# $-\log p_{\text{label}}$, and its gradient with respect to the logits of one position is $(p - y)/T$, where $y$ is 1 at the label and 0 elsewhere. Take one
# step of gradient descent on the logits, with learning rate **[[01.push-up:rate]]**, and return the new logits, in the dtype of the
# old. Logits may be near a thousand or minus a thousand, also side by side, where `exp` alone is too large for any number in the computer. No autograd here (`backward` and `grad` are not allowed): the formula is all you need.


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
