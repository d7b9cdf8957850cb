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
# You will write a lookup that never comes back empty: first a hard one, in a dictionary and as a matrix, then its soft sister step by step, then what
# becomes of it when it is very cold or very hot, and last some arithmetic with embeddings.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *From a dictionary
# to a soft lookup* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 02-roles | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` queries, `S` keys, each with a value; `H` numbers in a query or key, `W` numbers in a value; `V` words in a table of
# embeddings, `D` numbers in an embedding. Vectors are **rows**: `q (T, H)` holds `T` queries, one in each row.
#
# **Arrays.** The inputs are numpy arrays and plain Python things. `x.sum(axis=-1)` runs along each row; `keepdims=True` keeps the axis,
# so that the result can be divided by row: `x / x.sum(axis=-1, keepdims=True)`.

# %% 02-setup
import math

import numpy as np

from softlookup import check, hint

# %% [markdown]
# ## Hard lookups
#
# [[task 02.hard-lookup]]
#
# `prices` is a Python dictionary: names of fruit, and what each costs in cents. Return the price of `name`. If there is no such key, return
# `otherwise`, and do not raise an error. Something may cost 0. Leave the dictionary as it is.


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
# A store of orders has a number for each order (`orders`, all different, in any order, with gaps). Somebody asks for the numbers in `asked`.
# Write this lookup as a matrix of weights: a row for each number that was asked for, a column for each order, 1 where the two are equal
# and 0 elsewhere. A number that is not there gets a row of zeros. (Such a matrix times the matrix of values *is* the lookup.)


# %% 02-store
def order_weights(asked, orders):
    """asked (T,) and orders (S,), whole numbers -> weights (T, S), zeros and ones."""
    ### BEGIN SOLUTION
    return (asked[:, None] == orders[None, :]).astype(float)
    ### END SOLUTION


# %% [markdown]
# ## Weighted means
#
# Three keys and their values, as points in a plane: apple : pomme, banana : banane, lemon : citron.

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
# Take a pencil. An orange gives the weight **[[02.by-hand:apple]]** to apple, **[[02.by-hand:banana]]** to banana and
# **[[02.by-hand:lemon]]** to lemon. Write down the mixture of the values, its two numbers in a list. Two decimals are enough.


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
# Now amounts, as a recipe has them: 1 part, 1 part, 8 parts. Each row of `amounts` is a recipe of its own; no amount is negative, and each row
# holds one that is above 0; they may be whole numbers. Divide each row by its sum, so that it becomes weights, and mix the values: row `t`
# of the result is the mixture of recipe `t`.


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
# How alike are the directions of two vectors? Divide their dot product by the product of their lengths: that is the **cosine** of the
# angle between them, from -1 to 1. Return the table of all of them: row `t`, column `s` holds query `t` with key `s`. A vector of zeros has no
# direction: its cosine with anything is 0; any other has one, however short it is. Write it out; ready-made cosines are not allowed, scipy's `cdist` among them.


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
# Scores may be negative and large; weights may not. Divide the scores by the temperature `tau` (above 0), then take the softmax along the
# last axis: powers of e, divided by their sum. Write it out with `exp`; ready-made softmaxes are not allowed, and `logsumexp` counts as one. It has to work for small temperatures
# too, where the divided scores are in the tens of thousands: a row's largest one may be subtracted first, since only differences count.


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
# Put it together for many queries: dot products of every query with every key (plain ones, no cosines), weights at the temperature
# $\tau = $ **[[02.lookup:tau]]**, mixtures of the values. Row `t` of the result answers query `t`. Scores may be in the thousands. torch's attention is not allowed, nor is
# `softlookup.reference`: neither its attention and lookup nor its softmax.


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
# What does a soft lookup give as $\tau$ goes to 0, and what as $\tau$ grows without bound? Return both limits, first cold, then hot, with a row for each query.
# Look at ties: softmax treats equal scores alike at every temperature. Only equal scores tie: as $\tau$ goes to 0, a lead of 0.0001 takes all the weight, too.


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
# One key among `n_keys` is the right one. The scores of the others are all equal, and its own is larger by a *lead*. The temperature is
# $\tau = $ **[[02.lead:tau]]**. How large must the lead be, so that the softmax gives the key exactly `share` of the weight (between 0 and 1)?
# (It may be negative, where the share is small.)


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
# `table` holds an embedding for each word of a vocabulary, one in each row; `a`, `b` and `c` are rows of it. Add up `a - b + c`, with the rows as they are.
# Which row of the table points most nearly in that direction, by cosine, the three words of the question left out? Return its number and its cosine.


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
# A library's catalogue finds books by their subjects. Say what is query, key and value there, and why it is useful that key and value are not the same thing.
# Then somebody asks for a subject that the catalogue does not have: say what a hard lookup gives, what a soft one gives, and one way in which the soft
# answer can mislead. Four to seven sentences.

# %% 02-roles [markdown] points=3
# The reader's subject is the query: it says what is looked for. The subjects on a book's card are its key: by them it can be found. What the reader takes
# home, the book itself, is the value. They should not be the same, since what a book can be found by is short and made for comparing, and what it holds is
# long and made for reading; one can change without the other. A hard lookup of a subject that is not there gives nothing, or an error. A soft one compares the subject
# with all keys and hands over a mixture, with more of the books whose subjects are near. It always hands over something, even where nothing fits: the weights sum to 1
# whatever the scores are, so that the best of many bad matches can look like a sure answer.
