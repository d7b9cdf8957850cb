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
# # 6 · Positions
#
# You will show that attention does not see order, and then give it order in three ways: by adding sinusoids, by scoring distances, and by rotating queries and keys.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer and run the check below it, as often as you like. The chapter
# in the book is *Positions*.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 06-slide | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences in a batch, `T` query positions, `S` key positions, `D` model width, `N` heads, `H` the width of one head. A name such as `q_BNTH` states the
# shape.
#
# **Positions** are counted from 0. **Rows.** A vector is a row, so a matrix stands on its right: `x @ m`. **Conventions.** In a table of sinusoids, the sine and the cosine
# of a pair stand side by side; rotary positions pair neighbours, numbers 2i and 2i + 1. The distance of a key `j` from a query `i` is `j - i`, negative for earlier keys.

# %% 06-setup
import math

import torch
from torch import nn

from softlookup import check, hint


def attend(x, causal=False):
    """Self-attention at its simplest: the tokens x (T, D) are the queries, the keys and the values -> (T, D)."""
    scores = x @ x.T / math.sqrt(x.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).tril() == 0, float("-inf"))
    return torch.softmax(scores, dim=-1) @ x


# %% [markdown]
# ## Does attention see order?

# %% [markdown]
# [[task 06.equivariance]]
#
# Does it matter whether you permute the tokens before attention, or the outputs after it? In the new order, token `order[0]` comes first, then token `order[1]`, and so on.
# `x` has shape `(T, D)`, `order` has `(T,)`. Use `attend` from the cell above and pass `causal` on to it. Return *outputs for permuted tokens* minus *permuted outputs*,
# shape `(T, D)`, one row for each token. (What do you expect without a mask? And with one?)


# %% 06-equivariance
def permutation_gap(x, order, causal):
    """Tokens x (T, D), their new order (T,), with a causal mask or not -> (T, D)."""
    ### BEGIN SOLUTION
    moved_first = attend(x[order], causal)
    moved_after = attend(x, causal)[order]
    return moved_first - moved_after
    ### END SOLUTION


# %% [markdown]
# ## Sinusoids

# %% [markdown]
# [[task 06.angles]]
#
# Compute the angles of a position encoding. A position is written as the hands of several clocks, one hand for each pair of the `D` numbers. Per position, hand `i` turns
# by `base ** (-2i / D)` radians: hand 0 by one radian, each later hand more slowly. Where `D` is odd, the last number has a hand to itself. The inputs are `positions`,
# whole numbers of shape `(T,)`, the width `D` and `base`. Return each hand's angle at each position, shape `(T, pairs)`, in radians; `pairs` is `D / 2`, rounded up. It is best to work in float64: float32
# has too few digits for angles of many radians.


# %% 06-angles
def position_angles(positions, width, base):
    """Whole numbers (T,), a width D, a base -> angles (T, pairs), in radians."""
    ### BEGIN SOLUTION
    i = torch.arange((width + 1) // 2, dtype=torch.float64)
    speeds = base ** (-2 * i / width)
    return positions[:, None] * speeds
    ### END SOLUTION


# %% [markdown]
# [[task 06.sinusoids]]
#
# Compute the table of sinusoids for positions 0, 1, 2, …, with base 10,000: column 2i holds the sine of hand `i`, column 2i + 1 its cosine. Return shape `(length, D)`.
# Where `D` is odd, the last cosine is left out.


# %% 06-sinusoids
def sinusoids(length, d_model):
    """The number of positions, the width D -> (length, D)."""
    ### BEGIN SOLUTION
    base = 10000.0
    turned = position_angles(torch.arange(length), d_model, base)
    table = torch.zeros(length, d_model, dtype=turned.dtype)
    table[:, 0::2] = turned.sin()
    table[:, 1::2] = turned.cos()[:, : d_model // 2]
    return table
    ### END SOLUTION


# %% [markdown]
# [[task 06.add]]
#
# Compute the input of the first layer: the embeddings times $\sqrt{D}$, plus the rows of a table of positions (sinusoids, or learned ones). `x` has shape `(B, T, D)`, the
# table has `(rows, D)`, and the first token of every sequence is at position `start` (the table has all rows that are needed). Return shape `(B, T, D)`, in the dtype of the embeddings, even where the table has a
# different one. Gradients must flow to the embeddings and to the table.


# %% 06-add
def add_positions(x, table, start):
    """Embeddings x (B, T, D), a table (rows, D), the first token's position -> (B, T, D)."""
    ### BEGIN SOLUTION
    length, d_model = x.shape[1], x.shape[2]
    rows = table[start : start + length].to(x.dtype)
    return x * math.sqrt(d_model) + rows
    ### END SOLUTION


# %% [markdown]
# [[task 06.probe]]
#
# Can the position still be read from the sum? Fit a linear probe by least squares: append a 1 to each vector `x`, turn each label into a one-hot row, and find the weights
# that map the vectors to these rows with the smallest sum of squared errors. `x` has shape `(M, D)`, in float64 and with `M` much larger than `D`, `labels` has `(M,)`, and the new vectors have `(R, D)`. Return the
# scores of the new vectors, shape `(R, classes)`, one column for each class. (Classes are 0, 1, …, and each occurs among the labels. The largest score is the probe's
# guess.)


# %% 06-probe
def probe(x, labels, new):
    """Vectors x (M, D) and their classes (M,), new vectors (R, D) -> scores (R, classes)."""
    ### BEGIN SOLUTION
    x, new = (torch.cat([a, torch.ones(len(a), 1, dtype=a.dtype)], dim=1) for a in (x, new))
    wanted = nn.functional.one_hot(labels).to(x.dtype)
    weights = torch.linalg.lstsq(x, wanted).solution
    return new @ weights
    ### END SOLUTION


# %% [markdown]
# [[task 06.shift]]
#
# Write the matrix that shifts positions. In a fixed number of steps, every hand turns by an angle that does not depend on where it started. So one matrix maps the row of
# *any* position p to that of p + steps: `row @ matrix`. Return this matrix, shape `(D, D)`, for a table as in 06.sinusoids (base 10,000, sine and cosine side by side; `D`
# is even). `steps` may be negative.


# %% 06-shift
def shift_matrix(steps, d_model):
    """The number of steps, an even width D -> (D, D)."""
    ### BEGIN SOLUTION
    base = 10000.0
    turned = position_angles(torch.tensor([steps]), d_model, base)[0]
    matrix = torch.zeros(d_model, d_model, dtype=turned.dtype)
    for i, angle in enumerate(turned):
        s, c = 2 * i, 2 * i + 1
        matrix[s, s] = matrix[c, c] = angle.cos()
        matrix[c, s] = angle.sin()
        matrix[s, c] = -angle.sin()
    return matrix
    ### END SOLUTION


# %% [markdown]
# ## Relative positions

# %% [markdown]
# [[task 06.relative]]
#
# Find the row of a distance table for each query and each key. The table holds one row for each distance `j - i` between a key and a query, from **-[[06.relative:clip]]**
# to **[[06.relative:clip]]**, in this order. Keys farther away share the row at their end of the table. Keys are at positions 0, 1, 2, …; the first query is at position
# `start`. Return the row numbers, counted from 0, as whole numbers of shape `(T, S)`.


# %% 06-relative
def distance_rows(n_queries, n_keys, start):
    """The sizes T and S, the first query's position -> whole numbers (T, S)."""
    ### BEGIN SOLUTION
    clip = 4  # variant 06.relative:clip
    i = torch.arange(n_queries)[:, None] + start
    j = torch.arange(n_keys)[None, :]
    return (j - i).clamp(-clip, clip) + clip
    ### END SOLUTION


# %% [markdown]
# [[task 06.shaw]]
#
# Compute scores with relative positions as Shaw does: the query is multiplied by the key *and* by the vector of the distance, $(q \cdot k + q \cdot r) / \sqrt{H}$. `q` has
# shape `(B, N, T, H)`, `k` has `(B, N, S, H)`, and `table` has `(distances, H)`. `rows`, shape `(T, S)`, gives the row of the table for each query and key (06.relative
# computes such rows; use the ones you are given). Return the scores, shape `(B, N, T, S)`, in the dtype of the inputs. Gradients must flow to queries, keys and table.


# %% 06-shaw
def relative_scores(q, k, table, rows):
    """q (B, N, T, H), k (B, N, S, H), table (distances, H), rows (T, S) -> scores (B, N, T, S)."""
    ### BEGIN SOLUTION
    own = table[rows]
    content = q @ k.transpose(-2, -1)
    distance = torch.einsum("bnth,tsh->bnts", q, own)
    return (content + distance) / math.sqrt(q.shape[-1])
    ### END SOLUTION


# %% [markdown]
# [[task 06.buckets]]
#
# Sort distances into T5's *buckets*: T5 learns one number for each bucket. Use the rule of its decoder, with **[[06.buckets:n_buckets]]** buckets and farthest =
# **[[06.buckets:farthest]]**. `back`, whole numbers of any shape, says how many positions back a key is. The first half of the buckets (let `alone` be their number) holds
# one distance each: 0, 1, 2, … From there on, bucket numbers grow with the logarithm: with $r = \log(d / \text{alone}) / \log(\text{farthest} / \text{alone})$, a distance
# $d$ goes into bucket $\text{alone} + \lfloor (\text{buckets} - \text{alone}) \cdot r \rfloor$, and the last bucket also takes all distances from farthest on. Return the bucket numbers,
# in the shape of `back`. Keys ahead of the query (`back` is negative) go into bucket 0.


# %% 06-buckets
def bucket(back):
    """Whole numbers of any shape -> the numbers of their buckets, in the same shape."""
    ### BEGIN SOLUTION
    n_buckets = 32  # variant 06.buckets:n_buckets
    farthest = 128  # variant 06.buckets:farthest
    alone = n_buckets // 2
    back = back.clamp(min=0)
    ratio = torch.log(back.clamp(min=1) / alone) / math.log(farthest / alone)
    far = alone + (ratio * (n_buckets - alone)).long()
    far = far.clamp(max=n_buckets - 1)
    return torch.where(back < alone, back, far)
    ### END SOLUTION


# %% [markdown]
# [[task 06.alibi]]
#
# Compute ALiBi's biases, which are added to the scores: minus the head's slope times the number of positions that the key is back. The slopes are powers of 2: from head to
# head the exponent falls by the same amount, down to $2^{-[[06.alibi:wording]]}$ for the last head, and head 0 has the slope $2^{-[[06.alibi:wording]]/N}$. (`N` is a power of
# 2.) Keys are at positions 0, 1, 2, …; the first query is at position `start`. Return shape `(N, T, S)`. A key ahead of its query gets 0 (a mask will hide it).


# %% 06-alibi
def alibi(n_heads, n_queries, n_keys, start):
    """The sizes N, T and S, the first query's position -> numbers to add to the scores (N, T, S)."""
    ### BEGIN SOLUTION
    steep = 8.0  # variant 06.alibi:steep
    head = torch.arange(1, n_heads + 1, dtype=torch.float64)
    slopes = 2.0 ** (-steep * head / n_heads)
    i = torch.arange(n_queries)[:, None] + start
    j = torch.arange(n_keys)[None, :]
    back = (i - j).clamp(min=0)
    return -slopes[:, None, None] * back
    ### END SOLUTION


# %% [markdown]
# ## Rotations

# %% [markdown]
# [[task 06.turn]]
#
# Rotate points of the plane by an angle (in radians), counter-clockwise: (a, b) becomes (a cos - b sin, a sin + b cos). `x` has shape `(..., 2)`; return the same shape, in
# the dtype of the points.


# %% 06-turn
def turn(x, angle):
    """Points x (..., 2), an angle in radians -> (..., 2)."""
    ### BEGIN SOLUTION
    a, b = x[..., 0], x[..., 1]
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    ### END SOLUTION


# %% [markdown]
# [[task 06.rotary]]
#
# Apply rotary positions: in each row, rotate the pair of neighbours 2i and 2i + 1 by the angle of hand `i` at the row's position, with base 10,000. `x` has shape
# `(B, N, T, H)` with an even `H`, and its first row is at position `start`, which may be a million. Return the same shape, in the dtype of `x` (compute the angles in float64, then cast). Gradients must flow
# through.


# %% 06-rotary
def rotate(x, start):
    """Queries or keys x (B, N, T, H), the first row's position -> (B, N, T, H)."""
    ### BEGIN SOLUTION
    base = 10000.0
    where = torch.arange(start, start + x.shape[2])
    turned = position_angles(where, x.shape[-1], base)
    cos, sin = turned.cos().to(x.dtype), turned.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * cos - b * sin
    second = a * sin + b * cos
    return torch.stack([first, second], dim=-1).flatten(-2)
    ### END SOLUTION


# %% [markdown]
# [[task 06.convert]]
#
# Reorder the columns of a query or key matrix, shape `(D, N*H)` with an even `H`, for a program that pairs number `i` with number `i + H/2`. A model that was trained with pairs of
# neighbours gives nonsense there unless these columns are reordered first. In each head, the first numbers of all pairs go to the first half, in their order, and the
# second numbers to the second half. Return the same shape.


# %% 06-convert
def to_halves(w, n_heads):
    """w (D, N*H), learned with neighbours -> (D, N*H), for a program that pairs halves."""
    ### BEGIN SOLUTION
    d_model, wide = w.shape
    pairs = w.reshape(d_model, n_heads, wide // n_heads // 2, 2)
    return pairs.transpose(-2, -1).flatten(1)
    ### END SOLUTION


# %% [markdown]
# [[task 06.cached]]
#
# Compute one whole step of a decoder with a KV cache. There are `S` keys, at positions 0, 1, 2, …, not rotated yet; the `T` queries are those of the **newest** `T` tokens.
# Rotate what must be rotated, scale by $1/\sqrt{H}$, let no query attend to later keys, and mix the values. `q` has shape `(B, N, T, H)`, `k` has `(B, N, S, H)`, `v` has
# `(B, N, S, H')`; `H` is even, and `T` is at most `S`. Return shape `(B, N, T, H')`. Scores may be in the tens of thousands, also those of later keys.


# %% 06-cached
def cached_attention(q, k, v):
    """q (B, N, T, H), k (B, N, S, H), v (B, N, S, H'), T at most S -> (B, N, T, H')."""
    ### BEGIN SOLUTION
    n_queries, n_keys = q.shape[2], k.shape[2]
    start = n_keys - n_queries
    q, k = rotate(q, start), rotate(k, 0)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    i = torch.arange(n_queries)[:, None] + start
    j = torch.arange(n_keys)[None, :]
    s = s.masked_fill(j > i, float("-inf"))
    return torch.softmax(s, dim=-1) @ v
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 06-slide · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/06_positions.html#positions-order)
#
# It is often said that self-attention is permutation *invariant*, and that "cat ate mouse" is therefore the same to it as "mouse ate cat". Say what is right about this and
# what is not, how you would show it in two lines, and what a causal mask changes. Write three to six sentences.

# %% 06-slide [markdown] points=3
# Without positions, the output vector for *cat* is the same in both sentences, so nothing that reads this vector alone can tell who ate whom: this much is right. But the
# two tables of outputs are not the same: their rows are permuted as the words are. This is called equivariant; invariant would mean that the table of outputs does not
# change at all, which holds only after something like a mean over the tokens. To show it, compute attend(x[order]) and attend(x)[order]: their difference is 0 up to
# rounding, while attend(x[order]) - attend(x) is not. With a causal mask a token attends only to itself and earlier tokens, so permuting the tokens changes what each may
# attend to; the first difference is no longer 0, and a decoder can learn something about order even without positions.
