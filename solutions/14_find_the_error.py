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
# Slides contain mistakes. You will write small functions that find them: rows that cannot come from a softmax, an impossible rank, cells that break a
# checksum, the calculation behind a wrong table, a lost unit. The check runs each function on new tables, some with a mistake and some without, so a
# function must not report a correct table.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *The slides,
# recomputed* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 14-first | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` queries, `S` keys, `D` width of a token, `H` width of a head, `N` heads. Rows are tokens: queries are `x @ w`, scores `q @ k.T`. **Printed numbers.** A slide prints numbers with `places` digits after the decimal point, from 0 to 4, and
# every number was rounded to the nearest one. A number exactly halfway between two never occurs. Tables are numpy arrays. **The slides' own tables** are in `softlookup_course.slide_audit`, as they are printed. Each task names the one behind it: try
# your function on that table, too.

# %% 14-setup
import math

import numpy as np

from softlookup import check, hint
from softlookup_course.slide_audit import first_head, identity_head, masks_004, positions_001, uniform_head


def softmax(scores, axis=-1):
    """Weights that sum to 1 along an axis."""
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return raised / raised.sum(axis=axis, keepdims=True)


# %% [markdown]
# ## Sums
#
# [[task 14.printed]]
#
# Could a difference be rounding? `printed` and `true` are tables of the same shape (or two numbers). Return a boolean table of that shape: **True** where the true number, rounded to `places` decimal places, is the printed one. *The slide:*
# `first_head.QUERIES` beside `first_head.X @ first_head.W_Q`, printed to 2 places.


# %% 14-printed
def agrees(printed, true, places):
    """Two tables of one shape, an integer -> booleans of that shape."""
    ### BEGIN SOLUTION
    return np.round(true, places) == np.round(printed, places)
    ### END SOLUTION


# %% [markdown]
# [[task 14.rows]]
#
# Return for each row of `weights` (..., T, S), which are printed as attention weights, whether it is **impossible**: booleans of shape (..., T). A row is impossible if rounding does not explain its sum (each of its `S` numbers is off by at
# most half a unit of the last place), or if it contains a negative number. Sums exactly at the limit do not occur. *The slide:* `identity_head.WEIGHTS`, printed to 3 places, with the claim that every row sums to 1.


# %% 14-rows
def impossible_rows(weights, places):
    """weights (..., T, S), an integer -> booleans (..., T)."""
    ### BEGIN SOLUTION
    units = np.abs(weights.sum(axis=-1) - 1) * 10**places
    return (units > weights.shape[-1] / 2) | (weights < 0).any(axis=-1)
    ### END SOLUTION


# %% [markdown]
# [[task 14.checksum]]
#
# Find the suspect cells of a printed product, without computing the product. The sums of the rows of `x @ w` are `x` times the **row sums** of `w`, one number for each token. The sums of its columns are the **column sums** of `x`, times `w`.
# Add up the rows and the columns of the printed table, and compare. A sum is broken if it is off by more than rounding can explain, half a unit of the last place for each number in it. A cell is **suspect** if the sums of its row and of its
# column are both broken. Return booleans of the table's shape. *The slide:* the keys, `first_head.KEYS`, which are `first_head.X` times `first_head.W_K`, printed to 2 places. (Where many cells are wrong, most cells are suspect.)


# %% 14-checksum
def suspects(x, w, printed, places):
    """x (T, D), w (D, H), printed (T, H), an integer -> booleans (T, H)."""
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
# A text claims for each query to which key it attends most. `claimed` (T) holds the indices of these keys, counted from 0. Return the true **place** of each claimed key in the order of its query's true scores: 1 for the key with the
# largest weight, `S` for the key with the smallest. No two scores of a row are equal, and they may be in the thousands. (Why does neither the scale nor the softmax matter here?) *The slide:* queries and keys are both `identity_head.X`; the slide says that the first token
# attends most to the third, which has index 2.


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
# The queries and keys of a head are unknown; only its `scores` (T, S) and its `width` are printed. Return two things: the **largest rank** that the scores of such a head can have; and a boolean: whether the printed table is **impossible**,
# because its rank is too large.
#
# A rounded table mostly has full rank, so use singular values (`np.linalg.svd(scores, compute_uv=False)`, largest first). Let `r` be that largest rank. If the true table has rank `r`, rounding can raise the singular value after the `r`-th from
# 0 to at most half a unit of the last place, times the square root of the number of cells. Above that the table is impossible. If the table has no singular value after the `r`-th, nothing can be said, and the answer is False. *The slide:*
# `identity_head.SCORES`, a head of width 3, printed to 2 places.


# %% 14-rank
def too_much_rank(scores, width, places):
    """scores (T, S), two integers -> the largest rank, a boolean."""
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
# Find the calculation that produced a wrong table. `candidates` (n, T, H) are the unrounded tables that different calculations would give. Return two integers: the index of the candidate that explains the **most cells** of the printed table,
# counted from 0 (the first of equal ones), and the number of cells that it explains. *The slide:* `first_head.QUERIES` again. Try `X @ W_Q`, `X @ W_Q.T`, and the product without the third number of each token.


# %% 14-hypothesis
def best_hypothesis(printed, candidates, places):
    """printed (T, H), candidates (n, T, H), an integer -> index of a candidate, number of cells."""
    ### BEGIN SOLUTION
    counts = [agrees(printed, one, places).sum() for one in candidates]
    best = int(np.argmax(counts))
    return best, counts[best]
    ### END SOLUTION


# %% [markdown]
# [[task 14.uniform]]
#
# How were the values `v` (S, H') mixed? An output is printed, and the weights are not. Return the number of the first way that explains **every** cell: **0**, the softmax of the scaled scores, which is correct (they are divided by
# $\sqrt{H}$); **1**, the softmax of the unscaled scores; **2**, the softmax of the scaled scores over the queries, down each column; **3**, equal weights, each 1/S; **4**, none of these. *The slide:* `uniform_head.OUTPUT`, from
# `uniform_head.Q`, `K` and `V`, printed to 2 places.


# %% 14-uniform
def how_mixed(q, k, v, printed, places):
    """q (T, H), k (S, H), v (S, H'), printed (T, H'), an integer -> 0, 1, 2, 3 or 4."""
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
# How were the queries of `N` heads computed? They are printed, (N, T, H), and come from tokens `x` (T, D) and one matrix `w` (D, D) with `D = N * H`. In the paper's layer the whole token is projected first, and head `i` has the `H` columns
# from `i * H` on. On the slide each head got a **slice of the token** instead, the same columns of `x`, and multiplied it by the block of `w` in these rows and columns. Return for each head: **0** if projecting first gives its table, **1**
# if slicing the token first gives it, **2** if neither does. If both do, 0. *The slide* shows no numbers of its own, only the shapes and the first product.


# %% 14-split
def cut_or_projected(x, w, printed, places):
    """x (T, D), w (D, D), printed (N, T, H), an integer -> N numbers, each 0, 1 or 2."""
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
# A slide says that attention is *invariant* when tokens are permuted. Is it? `before` is the output of a map for tokens `x`; `after` is its output for `x[order]`, the same tokens in another order. Return two booleans. The map is
# **invariant** here if the output did not change. It is **equivariant** if there is a row for each token, and every row moved with its token. A map that gives one row for all tokens is not equivariant, unless there is only one token. Numbers
# that differ only by rounding count as equal (`np.allclose` will do). *The slide:* say what attention does, what a mean over all tokens does, and what attention does once positions are added.


# %% 14-moved
def invariant_or_equivariant(before, after, order):
    """before, after (T, D) or (1, D), order (T) -> two booleans."""
    ### BEGIN SOLUTION
    invariant = np.allclose(before, after)
    equivariant = len(before) == len(order) and np.allclose(before[order], after)
    return invariant, equivariant
    ### END SOLUTION


# %% [markdown]
# [[task 14.scores]]
#
# A table compares two models on n tasks: `printed` (2, n) has one row of scores for each. `published` (2, 2, n) holds the scores that the papers report: model, then set (0 is the validation set, 1 the test set), then task. Return two things.
# First, for each printed row, the **set** that it comes from: 0 or 1, if the whole row agrees with the published scores; 2 if it agrees with neither set, and 0 if it agrees with both. Second, the number of tasks in which the first model is
# **ahead** of the second when both are measured on the validation set: its published score is higher. *The slide:* `positions_001.BERT` beside `positions_001.ROFORMER`; `positions_001.DEV` has validation scores of a BERT.


# %% 14-scores
def measured_on(printed, published, places):
    """printed (2, n), published (2, 2, n), an integer -> two sets, a number of tasks."""
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
# What does a one in a mask mean? The mask of ones and zeros is printed, (T, S), or (1, S) if it is the same for all queries, and so are the weights (T, S) that were computed with it. Return **1** if a one means *may attend*, **0** if a one
# means *hidden*, **-1** if neither fits. A hidden weight is exactly 0; an allowed weight may be so small that it is printed as 0. If both meanings fit, return 1. *The slide:* `masks_004.WORDS` and `masks_004.TICKS`.


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
# Find the pairs that leak through a combined mask. Two masks were combined in an unknown way, and the result `joined` is printed. In all three masks a one means *may attend* if `one_means_look` is True, and *hidden* if it is False. Return
# booleans (T, S): **True** for every pair that leaks, that is, which the joined mask allows although at least one of the two masks hides it. The second mask may be one row (1, S) for all queries. *The slide:* `masks_004.TICKS` and
# `masks_004.WORDS`, combined with OR; a tick and a one mean *may attend*.


# %% 14-leaks
def leaks(first, second, joined, one_means_look):
    """first (T, S), second (T, S) or (1, S), joined (T, S), a boolean -> booleans (T, S)."""
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
# A slide prints the balance of a machine, an integer number of operations per byte: a peak divided by a bandwidth. Which ones? `peaks` are those of a data sheet, in **TFLOP/s**, one for each data type; `bandwidths` are in
# **[[14.balance:wording]]**. Prefixes are powers of ten. Return two indices, of a peak and of a bandwidth, counted from 0: the first pair whose quotient, rounded, is the printed number (go through all bandwidths of the first peak first).
# Return -1 and -1 if there is none. *The slide:* an A100's 312 TFLOP/s, a bandwidth of 800 GB/s, and a table with 1,935 and 2,039 GB/s right below. Which of them gives 390, and which 153?


# %% 14-balance
def which_quotient(peaks, bandwidths, printed):
    """Two lists of numbers, an integer -> index of a peak, index of a bandwidth."""
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
# What does a printed arithmetic intensity count? A loop does `flops` operations for each position of its arrays, and the given numbers of `loads` and `stores` (not both 0), each of one number of `bytes_per_number` bytes. A load moves its number once.
# **[[14.intensity:wording]]**. Return two numbers. First, **0** if the printed intensity is in operations per byte, **1** if it is in operations per number, **2** if neither; if both fit, 0. Second, the true intensity, in operations per byte.
# *The slide:* one addition, two loads and one store of four bytes each, and an intensity of 1/3.


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
# What does a column of a table count? `products` is a list with one entry for each count, of four integers: the number of matrix products, then their rows, inner size and columns. `printed` holds the counts of the column. Return two things.
# First, for each entry, **2** if its count is the number of operations (a multiply-add is two), **1** if it is the number of multiply-adds, **0** if neither. Second, whether the column is **mixed**: its entries are not all of one kind, of these three. *The
# slide:* in units of $bsh^2$, three projections are 1, one is 1, and the feed-forward network, which has as many weights as eight projections, is 16.


# %% 14-conventions
def conventions(products, printed):
    """A list of lists of four numbers, a list of counts -> a list of 2, 1 and 0, and a boolean."""
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
# Somebody gives you a slide: queries, keys and values of six tokens in a head of width 2, printed to two places, then scores, weights and an output. You have five minutes and no computer. Which three tests do you make first, in which
# order, and what does each of them find that the others do not? Name one kind of mistake that none of your three tests would find. Four to seven sentences.

# %% 14-first [markdown] points=3
# First I check the row sums of the weights: six sums of numbers below one, and a row that is off by more than three hundredths cannot come from a softmax. The row sums do not show where the scores came from. So next I compare one row of
# scores with its weights: the largest score must have the largest weight, and equal differences must give equal factors. This finds a table of weights that belongs to other scores, although its rows sum to 1. Third comes a checksum: one
# query times the sum of all keys is the sum of its row of scores, which finds mistakes in the products before. With a width of 2 the output must also be between the smallest and the largest value of each column, but this test is weak. None
# of the three finds a wrong matrix that was used throughout, such as a transposed one: every later table agrees with it. Nor do they find that queries were made from a slice of each token.
