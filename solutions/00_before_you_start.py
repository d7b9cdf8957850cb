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
# # 0 · Before you start: ten questions
#
# Are you ready for this course? These ten short questions tell you. They cover matrix products and shapes, softmax and logarithms,
# derivatives, and a little torch. Each has a cell to fill in and, below it, a cell that checks your answer, as often as you like. The check
# says what is right and, if something is wrong, which refresher of the chapter to read; each takes a few minutes.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
#
# You do not need ten out of ten to begin. Seven are enough if you read the refreshers for the others. With fewer than seven, read the whole
# chapter *Before you start* first.
#
# **Letters.** `B` sequences in a batch, `T` and `S` rows and columns of a table (later: query positions and key positions), `D` numbers in a
# vector, `V` tokens in a vocabulary. A name such as `x_BTD` states the shape.
#
# **How to answer.** Replace the line `raise NotImplementedError()` with your own code. A pencil question expects numbers: `return [1, 2]`, or
# `return [[1, 2], [3, 4]]` for a table. You may also let Python compute them, but a pencil tells you more. The other questions expect a
# function that works for any input of the stated shape.

# %% 00-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## Products and shapes
#
# [[task 00.shapes]]
#
# What is the shape of `x @ w @ v.T`? `x` has shape [[00.shapes:x]], `w` has shape [[00.shapes:w]] and `v` has shape [[00.shapes:v]], rows
# first. Return the shape of the product as a list of whole numbers. (`@` is the matrix product; `.T` transposes a matrix: it swaps rows and
# columns.)


# %% 00-shapes
def shape_of_product():
    ### BEGIN SOLUTION
    x_shape = (5, 3)  # variant 00.shapes:x
    w_shape = (3, 4)  # variant 00.shapes:w
    v_shape = (2, 4)  # variant 00.shapes:v
    x, w, v = np.zeros(x_shape), np.zeros(w_shape), np.zeros(v_shape)
    return list((x @ w @ v.T).shape)
    ### END SOLUTION


# %% [markdown]
# [[task 00.product]]
#
# With a pencil: what is the product `A @ B` of the two matrices below? Return its numbers as a list of rows. (`return A @ B` would pass, too, but
# it would not tell you whether you can do it.)

# %% 00-a-and-b
A = np.array([[1, 2, 0], [3, 1, 2]])
B = np.array([[2, 1], [0, 3], [1, 4]])


# %% 00-product
def product_by_hand():
    ### BEGIN SOLUTION
    return (A @ B).tolist()
    ### END SOLUTION


# %% [markdown]
# ## Axes and broadcasting
#
# [[task 00.shares]]
#
# Divide each number in `counts` by the sum of its **row**, so that each row along the last axis sums to 1. `counts` holds whole numbers
# (dtype `torch.int64`) and has two or more axes. Return a tensor of fractions with the same shape. No row is all zeros.


# %% 00-shares
def row_shares(counts):
    """counts (..., T, S), whole numbers -> fractions (..., T, S), each row with sum 1."""
    ### BEGIN SOLUTION
    totals = counts.sum(dim=-1, keepdim=True)
    return counts / totals
    ### END SOLUTION


# %% [markdown]
# [[task 00.error]]
#
# Compute the **mean of the squared differences** between `predicted` and `target`. `predicted` has shape `(B, 1)`: it is a model's output,
# one row for each of `B` examples. `target` has shape `(B,)`: it holds the values that the model should have predicted. Note that the two
# shapes differ. Return a tensor with a single number, shape `()`, through which a gradient can flow back to `predicted`.


# %% 00-error
def mean_square(predicted, target):
    """predicted (B, 1), target (B,) -> one number, shape ()."""
    ### BEGIN SOLUTION
    difference = predicted[:, 0] - target
    return (difference**2).mean()
    ### END SOLUTION


# %% [markdown]
# ## Softmax and logarithms
#
# [[task 00.softmax]]
#
# With a pencil again: take the softmax of each **row** of the matrix `U` below. Its scores are logarithms, so their exponentials are easy.
# Return a list of two rows; two decimals are enough.

# %% 00-u
U = np.array(
    [
        [math.log(1), math.log(2), math.log(5)],
        [math.log(3), math.log(1), math.log(4)],
    ]
)


# %% 00-softmax
def softmax_by_hand():
    ### BEGIN SOLUTION
    e = np.exp(U)
    return (e / e.sum(axis=1, keepdims=True)).tolist()
    ### END SOLUTION


# %% [markdown]
# [[task 00.cross-entropy]]
#
# Compute the **mean, over the batch, of minus the natural logarithm of the target's probability**. Row `b` of `logits`, shape `(B, V)`,
# scores all tokens of a vocabulary; softmax turns a row of scores into probabilities. `target[b]` is the number of the token that really
# came, counted from 0; `target` has shape `(B,)`. Return one number. You may use any function of torch, or none.


# %% 00-cross-entropy
def cross_entropy(logits, target):
    """logits (B, V), target (B,) whole numbers from 0 to V - 1 -> one number."""
    ### BEGIN SOLUTION
    log_p = torch.log_softmax(logits, dim=-1)
    picked = log_p[torch.arange(len(target)), target]
    return -picked.mean()
    ### END SOLUTION


# %% [markdown]
# ## Derivatives and gradients
#
# [[task 00.slope]]
#
# With a pencil: $L = (w x - t)^2$. What is $\mathrm{d}L / \mathrm{d}w$ at $w = $ **[[00.slope:w]]**, $x = $ **[[00.slope:x]]**, $t = $
# **[[00.slope:t]]**? Return one number.


# %% 00-slope
def slope_by_hand():
    ### BEGIN SOLUTION
    w = 2.0  # variant 00.slope:w
    x = 3.0  # variant 00.slope:x
    t = 1.0  # variant 00.slope:t
    error = w * x - t
    return 2 * error * x
    ### END SOLUTION


# %% [markdown]
# [[task 00.gradient]]
#
# Now compute a gradient with respect to many numbers, in **numpy**: $L$ is the mean of the `B` squared errors `(x @ w - y) ** 2`. `x` has
# shape `(B, D)`, `w` has shape `(D,)` and `y` has shape `(B,)`. Return the gradient of $L$ with respect to `w`, shape `(D,)`, from a formula
# of your own.


# %% 00-gradient
def gradient_by_hand(x, w, y):
    """x (B, D), w (D,), y (B,), numpy arrays -> dL/dw, shape (D,)."""
    ### BEGIN SOLUTION
    error = x @ w - y
    return 2 * x.T @ error / len(y)
    ### END SOLUTION


# %% [markdown]
# ## Tensors in torch
#
# [[task 00.transpose]]
#
# Swap the last two axes of `x_BTD`, which holds `B` sentences of `T` tokens with `D` numbers each. Return the same numbers, in the same
# dtype, with shape `(B, D, T)`: position `[b, d, t]` of the result holds what position `[b, t, d]` of `x_BTD` held.


# %% 00-transpose
def turned(x):
    """x (B, T, D) -> (B, D, T)."""
    ### BEGIN SOLUTION
    return x.transpose(-2, -1)
    ### END SOLUTION


# %% [markdown]
# [[task 00.descent]]
#
# Take **two** steps of gradient descent on the mean of `(x @ w - y) ** 2`. Start from `w`, shape `(D,)`; `x` has shape `(B, D)` and `y` has
# shape `(B,)`. In each step, compute the loss at the current weights and its gradient, and subtract `rate` times the gradient from the
# weights. Return the weights after the second step, shape `(D,)`. Leave the `w` that you were given unchanged: work on a copy. Autograd is
# allowed here, with `loss.backward()` or `torch.autograd.grad`; write the steps out, without `torch.optim`.


# %% 00-descent
def two_steps(w, x, y, rate):
    """w (D,), x (B, D), y (B,), rate a number -> weights after two steps, shape (D,)."""
    ### BEGIN SOLUTION
    w = w.clone().requires_grad_()
    for _ in range(2):
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= rate * w.grad
        w.grad = None
    return w.detach()
    ### END SOLUTION


# %% [markdown]
# ## What next?
#
# Read the refreshers that your checks named. Then go on with chapter 1, or with whatever made you open this course.
