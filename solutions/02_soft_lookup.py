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
# # 2 · From a dictionary to a soft lookup
#
# You will write a lookup that never comes back empty. You start with a hard lookup, in a dictionary and as a matrix, then write its soft
# counterpart step by step. At the end come its limits at low and high temperature, and some arithmetic with embeddings.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer and run the check below it, as
# often as you like. The chapter in the book is *From a dictionary to a soft lookup*.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 02-roles | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` queries, `S` keys, each with a value; `H` numbers in a query or key, `W` numbers in a value; `V` words in a table of
# embeddings, `D` numbers in an embedding. Vectors are **rows**: `q (T, H)` holds `T` queries, one in each row.
#
# **Arrays.** The inputs are numpy arrays and plain Python objects. `x.sum(axis=-1)` sums each row; `keepdims=True` keeps the axis, so that
# each row can be divided by its own sum: `x / x.sum(axis=-1, keepdims=True)`.

# %% 02-setup
import math

import numpy as np

from softlookup import check, hint

# %% [markdown]
# ## Hard lookups
#
# [[task 02.hard-lookup]]
#
# Look up the price of `name` in `prices`, a Python dictionary from names of fruit to prices in cents. Return the price. If there is no such
# key, return `otherwise`, and do not raise an error. A price may be 0. Leave the dictionary unchanged.


# %% 02-hard-lookup
def find_price(prices, name, otherwise):
    """prices: dict of names and numbers; name: text; otherwise: a number -> a number."""
    ### BEGIN SOLUTION
    if name in prices:
        return prices[name]
    return otherwise
    ### END SOLUTION


# %% [markdown]
# [[task 02.store]]
#
# Write a lookup as a matrix of weights. `orders`, shape `(S,)`, holds a number for each order in a store: all different, in any order, with
# gaps. `asked`, shape `(T,)`, holds the numbers to look up (both int64). Return a matrix of shape `(T, S)`, with a row for each number in `asked` and a
# column for each order: 1 where the two are equal and 0 elsewhere. A number that is not among the orders gets a row of zeros. (This matrix
# times the matrix of values *is* the lookup.)


# %% 02-store
def order_weights(asked, orders):
    """asked (T,) and orders (S,), whole numbers -> weights (T, S), zeros and ones."""
    ### BEGIN SOLUTION
    return (asked[:, None] == orders[None, :]).astype(float)
    ### END SOLUTION


# %% [markdown]
# ## Weighted means
#
# Here are three keys and their values, as points in a plane: apple : pomme, banana : banane, lemon : citron.

# %% 02-fruit
KEYS = np.array(
    [
        [1.0, 1.0],
        [0.5, 2.0],
        [3.0, -0.9],
    ]
)
VALUES = np.array(
    [
        [-2.0, -1.0],
        [2.0, -1.5],
        [0.5, 2.0],
    ]
)

# %% [markdown]
# [[task 02.by-hand]]
#
# With a pencil: the query *orange* gives the weight **[[02.by-hand:apple]]** to apple, **[[02.by-hand:banana]]** to banana and
# **[[02.by-hand:lemon]]** to lemon. What is the mixture of the values? Return its two numbers in a list; two decimals are enough.


# %% 02-by-hand
def by_hand():
    ### BEGIN SOLUTION
    apple = 0.1  # variant 02.by-hand:apple
    banana = 0.2  # variant 02.by-hand:banana
    lemon = 0.7  # variant 02.by-hand:lemon
    weights = np.array([apple, banana, lemon])
    return list(weights @ VALUES)
    ### END SOLUTION


# %% [markdown]
# [[task 02.mix]]
#
# Mix the values by amounts, as in a recipe: 1 part, 1 part, 8 parts. Each row of `amounts`, shape `(T, S)`, is one recipe; `values` has shape
# `(S, W)`. Divide each row of amounts by its sum, so that it becomes weights, and mix the values with them. Return shape `(T, W)`: row `t` is
# the mixture of recipe `t`. No amount is negative, each row has at least one amount above 0, and amounts may be whole numbers.


# %% 02-mix
def mix(amounts, values):
    """amounts (T, S), values (S, W) -> mixtures (T, W)."""
    ### BEGIN SOLUTION
    weights = amounts / amounts.sum(axis=-1, keepdims=True)
    return weights @ values
    ### END SOLUTION


# %% [markdown]
# ## From vectors to weights
#
# [[task 02.similarity]]
#
# How similar are the directions of two vectors? Divide their dot product by the product of their lengths: that is the **cosine** of the angle
# between them, from -1 to 1. For `q`, shape `(T, H)`, and `k`, shape `(S, H)`, return the table of all cosines, shape `(T, S)`: row `t`,
# column `s` holds that of query `t` and key `s`. A vector of zeros has no direction: its cosine with anything is 0. Every other vector has a
# direction, however short it is: lengths lie between 0.000005 and 1,000,000. Write the formula out.


# %% 02-similarity
def similarity(q, k):
    """q (T, H), k (S, H) -> cosines (T, S)."""
    ### BEGIN SOLUTION
    dots = q @ k.T
    lengths = np.linalg.norm(q, axis=-1)[:, None] * np.linalg.norm(k, axis=-1)[None, :]
    return dots / np.where(lengths == 0, 1, lengths)
    ### END SOLUTION


# %% [markdown]
# [[task 02.weights]]
#
# Turn scores into weights. Divide the scores, shape `(..., S)`, by the temperature `tau` (above 0), then take the softmax along the last
# axis: powers of e, divided by their sum. Return weights of the same shape; each row sums to 1. Scores may be negative and large, but weights
# are never negative. Write the softmax out with `exp`. Your function must
# also work for small temperatures, where the divided scores are in the tens of thousands: you may subtract each row's largest score first,
# since only differences count.


# %% 02-weights
def lookup_weights(scores, tau):
    """scores (..., S), tau > 0 -> weights (..., S), each row with sum 1."""
    ### BEGIN SOLUTION
    u = scores / tau
    e = np.exp(u - u.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
    ### END SOLUTION


# %% [markdown]
# [[task 02.lookup]]
#
# Combine the steps for many queries: dot products of every query with every key (no cosines), weights at the temperature $\tau = $
# **[[02.lookup:tau]]**, mixtures of the values. The inputs are `q` `(T, H)`, `k` `(S, H)` and `v` `(S, W)`. Return shape `(T, W)`: row `t`
# answers query `t`. Scores may be in the thousands. The attention, the lookup and the softmax of `softlookup.reference`
# are not allowed.


# %% 02-lookup
def soft_lookup(q, k, v):
    """q (T, H), k (S, H), v (S, W) -> answers (T, W)."""
    ### BEGIN SOLUTION
    tau = 0.5  # variant 02.lookup:tau
    scores = q @ k.T
    weights = lookup_weights(scores, tau)
    return weights @ v
    ### END SOLUTION


# %% [markdown]
# ## Temperature
#
# [[task 02.limit]]
#
# What does a soft lookup return as $\tau$ goes to 0, and what as $\tau$ grows without bound? The inputs are `scores` `(T, S)` and values `v`
# `(S, W)`. Return both limits, each of shape `(T, W)` with a row for each query: first the cold one ($\tau$ to 0), then the hot one. Pay
# attention to ties: softmax gives equal scores equal weights at every temperature. Only equal scores tie: as $\tau$ goes to 0, even a lead of
# 0.0001 takes all the weight, however large the scores are. (All of them are finite.)


# %% 02-limit
def limits(scores, v):
    """scores (T, S), v (S, W) -> cold (T, W), hot (T, W)."""
    ### BEGIN SOLUTION
    best = scores == scores.max(axis=-1, keepdims=True)
    cold = best / best.sum(axis=-1, keepdims=True) @ v
    hot = np.full_like(scores, 1 / scores.shape[-1]) @ v
    return cold, hot
    ### END SOLUTION


# %% [markdown]
# [[task 02.lead]]
#
# How large a lead does a key need? One key among `n_keys` is the right one. The scores of the others are all equal, and its own is larger by
# a *lead*. The temperature is $\tau = $ **[[02.lead:tau]]**. Return the lead, a number, for which the softmax gives the right key exactly
# `share` of the weight (between 0 and 1). (The lead may be negative, where the share is small.)


# %% 02-lead
def needed_lead(n_keys, share):
    """n_keys >= 2 and a share between 0 and 1 -> the lead, a number."""
    ### BEGIN SOLUTION
    tau = 0.5  # variant 02.lead:tau
    odds = share / (1 - share)
    return tau * math.log(odds * (n_keys - 1))
    ### END SOLUTION


# %% [markdown]
# ## Directions with a meaning
#
# [[task 02.analogy]]
#
# Complete an analogy with embeddings. `table`, shape `(V, D)`, has one row for each word of a vocabulary; `a`, `b` and `c` are numbers of
# three different rows. Compute the sum `a - b + c` of these rows as they are, without normalising them. Of all rows but these three, which
# has the largest cosine with the sum? Return its number and its cosine. Neither the sum nor a row is all zeros, but they may be as short as
# 0.00001.


# %% 02-analogy
def analogy(table, a, b, c):
    """table (V, D) and three row numbers -> the row's number, its cosine."""
    ### BEGIN SOLUTION
    target = table[a] - table[b] + table[c]
    cosines = table @ target / (np.linalg.norm(table, axis=1) * np.linalg.norm(target))
    cosines[[a, b, c]] = -np.inf
    row = int(np.argmax(cosines))
    return row, cosines[row]
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 02-roles · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/02_soft_lookup.html#soft-lookup-roles)
#
# A library's catalogue finds books by their subjects. Say what the query, the key and the value are there, and why it is useful that key and
# value are not the same thing. Then somebody searches for a subject that the catalogue does not have: say what a hard lookup returns, what a
# soft one returns, and one way in which the soft answer can mislead. Write four to seven sentences.

# %% 02-roles [markdown] points=3
# The reader's subject is the query: it says what the reader is looking for. The subjects on a book's card are its key: they make it possible
# to find the book. The value is what the reader takes home, the book itself. Key and value should not be the same: a key is short and made
# for comparing, a book is long and made for reading, and one can change without the other. A hard lookup of a subject that is not there
# returns nothing, or an error. A soft one compares the subject with all keys and returns a mixture, in which books with similar subjects have
# more weight. It always returns something, even where nothing fits: the weights sum to 1 whatever the scores are, so the best of many bad
# matches can look like a certain answer.
