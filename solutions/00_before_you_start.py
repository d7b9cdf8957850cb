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
# Are you ready for this course? Ten short questions say so: matrix products and shapes, softmax and logarithms, slopes, and a little torch.
# Each has a cell to fill in and, below it, a cell that checks it, as often as you like. The check says what is right, and if something is
# not, which refresher of the chapter to read: a few minutes each.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
#
# Nobody needs ten out of ten to begin. Seven will do, if you read the refreshers of the others. Less, and it is wise to read the whole
# chapter *Before you start* first.
#
# **Letters.** `B` sequences in a batch, `T` and `S` rows and columns of a table (later: positions that look, and that are looked at), `D` numbers
# in a vector, `V` tokens in a vocabulary. A name such as `x_BTD` says the shape.
#
# **How to answer.** Take out the line `raise NotImplementedError()` and write your own. A pencil question wants numbers: `return [1, 2]`, or
# `return [[1, 2], [3, 4]]` for a table. You may also let Python work them out, but a pencil tells you more. The others want a function that
# works for any input of the shape that is said.

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
# `x` has shape [[00.shapes:x]], `w` has shape [[00.shapes:w]] and `v` has shape [[00.shapes:v]], rows first. What is the shape of `x @ w @ v.T`?
# Return it as a list of whole numbers. (`@` is the matrix product, `.T` exchanges rows and columns.)


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
# Take a pencil. What is `A @ B`? Return it as a list of rows.

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
# `counts` holds whole numbers (dtype `torch.int64`), in two or more axes. Divide each number by the sum of its **row**, so that each row along
# the last axis sums to 1. No row is all zeros.


# %% 00-shares
def row_shares(counts):
    """counts (..., T, S), whole numbers -> shares (..., T, S), fractions."""
    ### BEGIN SOLUTION
    totals = counts.sum(dim=-1, keepdim=True)
    return counts / totals
    ### END SOLUTION


# %% [markdown]
# [[task 00.error]]
#
# A model gives `predicted`, one row for each of `B` examples, and the data say what they should be: `target`. Look at the two shapes.
# Return the **mean of the squared differences**: a tensor with a single number, through which a gradient can flow back to `predicted`.


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
# With a pencil again: take the softmax of each **row** of `U`. The scores are logarithms, so that their exponentials are easy. Two decimals
# are enough. Return a list of two rows.

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
# Row `b` of `logits` scores all tokens of a vocabulary; `target[b]` is the number of the token that really came (counted from 0). Softmax turns
# a row of scores into probabilities. Return the **mean, over the batch, of minus the natural logarithm of the target's probability**. You may
# use any function of torch, or none.


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
# With a pencil: $L = (w x - t)^2$. What is $\mathrm{d}L / \mathrm{d}w$ at $w = $ **[[00.slope:w]]**, $x = $ **[[00.slope:x]]**, $t = $ **[[00.slope:t]]**? Return one number.


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
# The same for many numbers, in **numpy**: $L$ is the mean of the `B` squared errors `(x @ w - y) ** 2`. Return the gradient of $L$ with respect to `w`, by
# a formula of your own: autograd (`backward`, `grad`) is not allowed here.


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
# `x_BTD` holds `B` sentences of `T` tokens with `D` numbers each. Return the same numbers, in the same dtype, with tokens and numbers exchanged:
# place `[b, d, t]` of the result holds what place `[b, t, d]` of `x_BTD` held.


# %% 00-transpose
def turned(x):
    """x (B, T, D) -> (B, D, T)."""
    ### BEGIN SOLUTION
    return x.transpose(-2, -1)
    ### END SOLUTION


# %% [markdown]
# [[task 00.descent]]
#
# Start from `w` and take **two** steps of gradient descent on the mean of `(x @ w - y) ** 2`: each time compute the loss where you are, find its gradient,
# and move by `rate` times the gradient, downhill. Return the weights after the second step, and leave the `w` that you were given as it was: work on a copy.
# Here autograd is welcome, by `loss.backward()` or `torch.autograd.grad`; write the steps out, without `torch.optim`.


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
