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
# # 14 · Find the error
#
# Slides have slips. You will write small functions that find them: rows that are no softmax, a rank that cannot be, cells that break a checksum, the
# recipe that made a table, a unit that was lost. Each is checked on fresh tables, some with a slip and some without, so that a sound table is not
# accused.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *The slides,
# recomputed* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 14-first | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` queries, `S` keys, `D` width of a token, `H` width of a head, `N` heads. Rows are tokens: queries are `x @ w`, scores `q @ k.T`. **Printed numbers.** A slide prints so many `places` after the point, and every number was
# rounded to the nearest one. A number that lies exactly between two is never asked for. Tables are numpy arrays. **The slides' own tables** are in `softlookup.slide_audit`, as they are printed. Each task says which one it grew from: try your
# function on that, too.

# %% 14-setup
import math

import numpy as np

from softlookup import check, hint
from softlookup.slide_audit import first_head, identity_head, masks_004, positions_001, uniform_head


def softmax(scores, axis=-1):
    """Weights that sum to 1 along an axis."""
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


# %% [markdown]
# ## Sums
#
# [[task 14.printed]]
#
# Before anything is called wrong: could it be rounding? `printed` and `true` are tables of one shape (or two numbers). Return a table of truth values: **True** where the true number, rounded to `places`, is the printed one. *The slide:*
# `first_head.QUERIES` beside `first_head.X @ first_head.W_Q`, printed to 2 places.


# %% 14-printed
def agrees(printed, true, places):
    """Two tables of one shape, a whole number -> truth values of that shape."""
    ### BEGIN SOLUTION
    return np.round(true, places) == np.round(printed, places)
    ### END SOLUTION


# %% [markdown]
# [[task 14.rows]]
#
# `weights` (..., T, S) are printed as the weights of attention. Return for every row whether it is **impossible**, True or False, of shape (..., T). A row is impossible if rounding does not explain its sum (each of its `S` numbers is off
# by half a unit of the last place at most), or if a number in it is below 0. Sums exactly at the limit are not asked for. *The slide:* `identity_head.WEIGHTS`, printed to 3 places, and said to sum to 1 in every row.


# %% 14-rows
def impossible_rows(weights, places):
    """weights (..., T, S), a whole number -> truth values (..., T)."""
    ### BEGIN SOLUTION
    units = np.abs(weights.sum(axis=-1) - 1) * 10**places
    return (units > weights.shape[-1] / 2) | (weights < 0).any(axis=-1)
    ### END SOLUTION


# %% [markdown]
# [[task 14.checksum]]
#
# A product of a table can be tested without making it again. Add up each row of `x @ w`: that is `x` times the **row sums** of `w`, one number for each token. Add up each column: that is the **column sums** of `x`, times `w`. Do the same
# with the printed table, and compare. A sum is broken if it is off by more than rounding can do, half a unit for each number in it. A cell is **suspect** if its row and its column are both broken. Return truth values of the table's shape.
# *The slide:* the keys, `first_head.KEYS`, which are `first_head.X` times `first_head.W_K`, printed to 2 places. (Where many cells are off, most are suspect.)


# %% 14-checksum
def suspects(x, w, printed, places):
    """x (T, D), w (D, H), printed (T, H), a whole number -> truth values (T, H)."""
    ### BEGIN SOLUTION
    half = 0.5 * 10.0**-places
    rows = np.abs(printed.sum(axis=1) - x @ w.sum(axis=1)) > half * printed.shape[1]
    columns = np.abs(printed.sum(axis=0) - x.sum(axis=0) @ w) > half * printed.shape[0]
    return rows[:, None] & columns
    ### END SOLUTION


# %% [markdown]
# ## Order and rank
#
# [[task 14.place]]
#
# A sentence says of each query which key it attends to most. `claimed` (T) holds the numbers of these keys, counted from 0. Return at which **place** each of them really stands, by the true scores: 1 for the key that is looked at most, `S`
# for the one that is looked at least. No two scores of a row are equal. (Why does neither the scale nor the softmax matter here?) *The slide:* queries and keys are both `identity_head.X`; the first token is said to look hardest at the
# third, which is number 2.


# %% 14-place
def place_of(q, k, claimed):
    """q (T, H), k (S, H), claimed (T) -> places (T), from 1."""
    ### BEGIN SOLUTION
    scores = q @ k.T
    own = scores[np.arange(len(q)), claimed]
    return 1 + (scores > own[:, None]).sum(axis=1)
    ### END SOLUTION


# %% [markdown]
# [[task 14.rank]]
#
# Nobody says what the queries and keys were; only the `scores` (T, S) of a head of that `width` are printed. What can be said all the same? Return two things: the **largest rank** that such scores can have; and whether the printed table is
# **impossible**, since it has too much of it.
#
# Every rounded table has full rank, so look at singular values (`np.linalg.svd(scores, compute_uv=False)`, largest first). If the true table has rank `r`, rounding can raise the singular value after the `r`-th from 0 to half a unit of the
# last place, times the root of the number of cells, and no further. Above that the table is impossible. Where the table has no singular value after the `r`-th, nothing can be said, and the answer is False. *The slide:*
# `identity_head.SCORES`, a head of width 3, printed to 2 places.


# %% 14-rank
def too_much_rank(scores, width, places):
    """scores (T, S), two whole numbers -> the largest rank, a truth value."""
    ### BEGIN SOLUTION
    largest = min(*scores.shape, width)
    values = np.append(np.linalg.svd(scores, compute_uv=False), 0.0)
    rounding = 0.5 * 10.0**-places * math.sqrt(scores.size)
    return largest, values[largest] > rounding
    ### END SOLUTION


# %% [markdown]
# ## What made it?
#
# [[task 14.hypothesis]]
#
# A table is wrong. How was it made? `candidates` (n, T, H) are unrounded tables that different recipes would give. Return two whole numbers: which candidate explains the **most cells** of the printed table, counted from 0 (of equals the
# first), and how many cells it explains. *The slide:* `first_head.QUERIES` again. Try `X @ W_Q`, `X @ W_Q.T`, and the product without the tokens' third number.


# %% 14-hypothesis
def best_hypothesis(printed, candidates, places):
    """printed (T, H), candidates (n, T, H), a whole number -> number of a candidate, number of cells."""
    ### BEGIN SOLUTION
    counts = [agrees(printed, one, places).sum() for one in candidates]
    best = int(np.argmax(counts))
    return best, counts[best]
    ### END SOLUTION


# %% [markdown]
# [[task 14.uniform]]
#
# An output is printed, and the weights are not. How were the values `v` (S, H') mixed? Return the number of the first way that gives **every** cell: **0**, the softmax of the scaled scores, as it should be (they are divided by $\sqrt{H}$);
# **1**, the softmax of the scores, without the root; **2**, the softmax of the scaled scores down each column, over the queries; **3**, equal weights, each 1/S; **4**, none of these. *The slide:* `uniform_head.OUTPUT`, from
# `uniform_head.Q`, `K` and `V`, printed to 2 places.


# %% 14-uniform
def how_mixed(q, k, v, printed, places):
    """q (T, H), k (S, H), v (S, H'), printed (T, H'), a whole number -> 0, 1, 2, 3 or 4."""
    ### BEGIN SOLUTION
    scores = q @ k.T
    scaled = scores / math.sqrt(q.shape[1])
    ways = [softmax(scaled), softmax(scores), softmax(scaled, axis=0), np.full_like(scores, 1 / len(k))]
    fits = [agrees(printed, weights @ v, places).all() for weights in ways]
    return [*fits, True].index(True)
    ### END SOLUTION


# %% [markdown]
# [[task 14.split]]
#
# Queries of `N` heads are printed, (N, T, H), made of tokens `x` (T, D) and one matrix `w` (D, D) with `D = N * H`. In the paper's layer the whole token is projected first, and head `i` owns the columns from `i * H` on, `H` of them. The
# slide's heads each got a **slice of the token** instead, of the same columns, and multiplied it by the block of `w` in these rows and columns. Return for each head: **0** if its table is what projecting first gives, **1** if it is what
# cutting the token first gives, **2** if neither. Where both give it, 0. *The slide* shows no numbers of its own, only the shapes, and the first product.


# %% 14-split
def cut_or_projected(x, w, printed, places):
    """x (T, D), w (D, D), printed (N, T, H), a whole number -> N numbers, each 0, 1 or 2."""
    ### BEGIN SOLUTION
    n_heads, _, width = printed.shape
    found = []
    for i in range(n_heads):
        own = slice(i * width, (i + 1) * width)
        whole = agrees(printed[i], x @ w[:, own], places).all()
        cut = agrees(printed[i], x[:, own] @ w[own, own], places).all()
        found.append(0 if whole else 1 if cut else 2)
    return found
    ### END SOLUTION


# %% [markdown]
# ## Words
#
# [[task 14.moved]]
#
# A slide says that attention is *invariant* when tokens change places. Is it? `before` is what a map makes of tokens `x`; `after` is what it makes of `x[order]`, the same tokens in another order. Return two truth values. The map is
# **invariant** here if nothing changed. It is **equivariant** if there is a row for each token, and every row moved to where its token went. A map that gives one row for all tokens has no rows to move: not equivariant, unless there is only
# one token. Numbers that differ by rounding alone are equal (`np.allclose` will do). *The slide:* say what attention does, what a mean over all tokens does, and what attention does once positions are added.


# %% 14-moved
def invariant_or_equivariant(before, after, order):
    """before, after (T, D) or (1, D), order (T) -> two truth values."""
    ### BEGIN SOLUTION
    invariant = np.allclose(before, after)
    equivariant = len(before) == len(order) and np.allclose(before[order], after)
    return invariant, equivariant
    ### END SOLUTION


# %% [markdown]
# [[task 14.scores]]
#
# Two models are compared, one row of scores each: `printed` (2, n), for n tasks. What both papers report is in `published` (2, 2, n): model, then set (0 is the validation set, 1 the test set), then task. Return two things. For each printed
# row, from which **set** it is, 0 or 1, if the whole row agrees with what was published; 2 if with neither, and 0 if with both. And in how many tasks the first model is **ahead** of the second when both are measured on the validation set.
# *The slide:* `positions_001.BERT` beside `positions_001.ROFORMER`; `positions_001.DEV` has validation scores of a BERT.


# %% 14-scores
def measured_on(printed, published, places):
    """printed (2, n), published (2, 2, n), a whole number -> two sets, a whole number of tasks."""
    ### BEGIN SOLUTION
    sets = []
    for model in range(2):
        fits = [agrees(printed[model], report, places).all() for report in published[model]]
        sets.append([*fits, True].index(True))
    return sets, (published[0, 0] > published[1, 0]).sum()
    ### END SOLUTION


# %% [markdown]
# ## Masks
#
# [[task 14.polarity]]
#
# A mask of ones and zeros is printed, (T, S), or (1, S) where it is the same for all queries; and the weights (T, S) that came of it. Nothing says what a one stands for. Return **1** if a one means *may attend*, **0** if a one means
# *hidden*, **-1** if neither fits. A hidden weight is exactly 0; an allowed one may be so small that 0 is printed. Where both meanings fit, 1. *The slide:* `masks_004.WORDS` and `masks_004.TICKS`.


# %% 14-polarity
def what_a_one_means(mask, weights):
    """mask (T, S) or (1, S), weights (T, S) -> 1, 0 or -1."""
    ### BEGIN SOLUTION
    mask = np.broadcast_to(mask, weights.shape)
    look = (weights[mask == 0] == 0).all()
    hide = (weights[mask == 1] == 0).all()
    return 1 if look else 0 if hide else -1
    ### END SOLUTION


# %% [markdown]
# [[task 14.leaks]]
#
# Two masks were joined somehow, and the `joined` mask is printed. In all three a one means *may attend* where `one_means_look` is True, and *hidden* where it is False. Return truth values (T, S): **True** at every pair that leaks, which the
# joined mask lets through although at least one of the two hides it. The second mask may be one row (1, S) for all queries. *The slide:* `masks_004.TICKS` and `masks_004.WORDS`, joined by OR; a tick and a one mean *may attend*.


# %% 14-leaks
def leaks(first, second, joined, one_means_look):
    """first (T, S), second (T, S) or (1, S), joined (T, S), a truth value -> truth values (T, S)."""
    ### BEGIN SOLUTION
    look = 1 if one_means_look else 0
    allowed = (first == look) & (second == look)
    return (joined == look) & ~allowed
    ### END SOLUTION


# %% [markdown]
# ## Units
#
# [[task 14.balance]]
#
# A slide prints a machine's balance, a whole number of operations for each byte: a peak divided by a bandwidth. Which ones? `peaks` are a data sheet's, in **TFLOP/s**, one for each kind of number; `bandwidths` are in
# **[[14.balance:named]]**. Prefixes are powers of ten. Return two numbers, which peak and which bandwidth, counted from 0: the first pair whose quotient, rounded, is the printed number (go through all bandwidths of the first peak first).
# -1 and -1 if there is none. *The slide:* an A100's 312 TFLOP/s, a bandwidth of 800 GB/s, and a table with 1,935 and 2,039 GB/s right below. Which of them gives 390, and which 153?


# %% 14-balance
def which_quotient(peaks, bandwidths, printed):
    """Two lists of numbers, a whole number -> number of a peak, number of a bandwidth."""
    ### BEGIN SOLUTION
    unit = 1e9  # variant 14.balance:unit
    for i, peak in enumerate(peaks):
        for j, bandwidth in enumerate(bandwidths):
            if round(peak * 1e12 / (bandwidth * unit)) == printed:
                return i, j
    return -1, -1
    ### END SOLUTION


# %% [markdown]
# [[task 14.intensity]]
#
# A loop does `flops` operations for each place of its arrays, and so many `loads` and `stores` of numbers of `bytes_per_number` bytes. A load moves its number once. **[[14.intensity:named]]**. A slide prints an arithmetic intensity. Return
# two numbers. First **0** if operations for each byte are printed, **1** if it is operations for each number, **2** if neither; where both fit, 0. Then the true intensity, in operations for each byte. *The slide:* one addition, two loads
# and one store of four bytes each, and an intensity of 1/3.


# %% 14-intensity
def counted_how(flops, loads, stores, bytes_per_number, printed, places):
    """Six numbers -> 0, 1 or 2, and an intensity."""
    ### BEGIN SOLUTION
    moves = 1  # variant 14.intensity:moves
    numbers = loads + moves * stores
    per_byte = flops / (numbers * bytes_per_number)
    per_number = flops / numbers
    fits = [agrees(printed, per_byte, places), agrees(printed, per_number, places)]
    return [*fits, True].index(True), per_byte
    ### END SOLUTION


# %% [markdown]
# [[task 14.conventions]]
#
# A column of a table counts the work of products. `products` is a list, each entry four whole numbers: how many products of a kind, then rows, inner size and columns. `printed` are the counts of the column. Return two things. For each
# entry **2** if its count is that of operations (a multiply-add is two), **1** if it is that of multiply-adds, **0** if neither. And whether the column is **mixed**: its entries are not all of one kind. *The slide:* in units of $bsh^2$,
# three projections are 1, one is 1, and the feed-forward network, which holds as many weights as eight projections, is 16.


# %% 14-conventions
def conventions(products, printed):
    """A list of lists of four numbers, a list of counts -> a list of 2, 1 and 0, and a truth value."""
    ### BEGIN SOLUTION
    kinds = []
    for i, count in enumerate(printed):
        times, rows, inner, columns = products[i]
        adds = times * rows * inner * columns
        kinds.append(2 if count == 2 * adds else 1 if count == adds else 0)
    return kinds, len(set(kinds)) > 1
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 14-first · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/14_slides_recomputed.html#slides-tell)
#
# Somebody hands you a slide: queries, keys and values of six tokens in a head of width 2, printed to two places, then scores, weights and an output. You have five minutes and no computer. Which three tests do you make first, in which
# order, and what does each of them find that the others do not? Name one kind of slip that none of your three would find. Four to seven sentences.

# %% 14-first [markdown] points=3
# First the row sums of the weights: six additions of numbers below one, and whatever is off by more than three hundredths is no softmax. They say nothing of where the scores came from. So next I look at one row of scores beside its
# weights: the largest score must have the largest weight, and equal steps must give equal factors, which finds a table of weights that belongs to other scores, though its rows sum to 1. Third a checksum: the sum of all keys, and one query
# times that sum is the sum of its row of scores, which finds slips in the products before. With a width of 2 the output must also lie between the smallest and the largest value of each column, but that is weak. None of the three finds a
# wrong matrix that was used all the way through, such as a transposed one: every later table agrees with it. Nor do they find that queries were made from a slice of each token.
