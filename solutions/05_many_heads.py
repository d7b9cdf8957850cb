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
# # 5 · Many heads
#
# You will write a multi-head attention layer: first the axes, then the projections, the heads with a mask, the output matrix, shared keys and
# values, and finally the whole layer as a class. On the way you count what it costs.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer and run the check below it, as
# often as you like. The chapter in the book is *Many heads*.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 05-slide | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences in a batch, `T` query positions, `S` key positions, `D` model width, `N` query heads, `K` key-value heads, `H`
# the width of one head. A name such as `q_BNTH` states the shape. `N*H` need not equal `D`.
#
# **Weights.** A vector is a row, so a projection is `x @ w`. `w_q` is `(D, N*H)`, `w_k` and `w_v` are `(D, K*H)`, `w_o` is `(N*H, D)`. In
# each projection matrix, head `i` owns the columns of the slice `i*H : (i+1)*H`: from `i*H` up to, not including, `(i+1)*H`. After the split the axes are `(B, N, T, H)`. There are no
# biases unless a task says so.
#
# **Leading axes.** Where a docstring writes `(..., T, D)`, there may be any number of leading axes, including none; a function that works
# with one batch axis earns most of the points. Count axes from the end: the last is -1.

# %% 05-setup
import math

import torch
from torch import nn

from softlookup import check, hint

# %% [markdown]
# ## On paper first
#
# [[task 05.shapes]]
#
# Fill in a table of shapes. A sequence of $T$ tokens of width $D$ passes through $N$ heads of width $H$, each with its own keys and values.
# Return a list of eight pairs (rows, columns), in this order:
#
# 1. the query matrix of **one** head;
# 2. the output matrix $W_O$;
# 3. $X$;
# 4. the queries of one head;
# 5. its attention weights;
# 6. its result;
# 7. the heads' results side by side (concatenated);
# 8. the layer's output.
#
# Begin with $T = 2$, $D = 4$, $N = 5$, $H = 3$ on paper.


# %% 05-shapes
def shape_table(n_tokens, d_model, n_heads, head_width):
    """The sizes T, D, N, H -> eight pairs (rows, columns)."""
    ### BEGIN SOLUTION
    wide = n_heads * head_width
    return [
        (d_model, head_width),  # one head's query matrix
        (wide, d_model),  # the output matrix
        (n_tokens, d_model),  # X
        (n_tokens, head_width),  # its queries
        (n_tokens, n_tokens),  # its weights
        (n_tokens, head_width),  # its result
        (n_tokens, wide),  # concatenated
        (n_tokens, d_model),  # the layer's output
    ]
    ### END SOLUTION


# %% [markdown]
# ## Split and merge
#
# [[task 05.split]]
#
# Split queries into heads. One product computes the queries of all heads: a row of `N*H` numbers for each token, head 0 first. Give the heads
# an axis of their own: `(..., T, N*H)` becomes `(..., N, T, H)`. Head `i` gets the columns of the slice `i*H : (i+1)*H` of every token.


# %% 05-split
def split_heads(x, n_heads):
    """x (..., T, N*H) -> (..., N, T, H)."""
    ### BEGIN SOLUTION
    head_width = x.shape[-1] // n_heads
    cut = x.reshape(*x.shape[:-1], n_heads, head_width)
    return cut.transpose(-3, -2)
    ### END SOLUTION


# %% [markdown]
# [[task 05.merge]]
#
# Undo the split: concatenate the heads of each token again, head 0 first. `(..., N, T, H)` becomes `(..., T, N*H)`.


# %% 05-merge
def merge_heads(z):
    """z (..., N, T, H) -> (..., T, N*H)."""
    ### BEGIN SOLUTION
    return z.transpose(-3, -2).flatten(-2)
    ### END SOLUTION


# %% [markdown]
# [[task 05.project-heads]]
#
# Project tokens for all heads at once, then split. `x` has shape `(..., T, D)`, `w` has `(D, N*H)`; return shape `(..., N, T, H)`. Every head
# reads all `D` numbers of every token.


# %% 05-project-heads
def project_heads(x, w, n_heads):
    """x (..., T, D), w (D, N*H) -> (..., N, T, H)."""
    ### BEGIN SOLUTION
    return split_heads(x @ w, n_heads)
    ### END SOLUTION


# %% [markdown]
# [[task 05.packed]]
#
# Project with a packed matrix and split the result. Many models keep one matrix for all three projections, `w_qkv` of shape `(D, 3*N*H)`. Its
# columns are three blocks of `N*H` columns each, in the order **[[05.packed:wording]]**. Within a block, head `i` has the columns of the
# slice `i*H : (i+1)*H`, as always. Return queries, keys and values, in *this* order, each split into heads: `(..., N, T, H)`.


# %% 05-packed
def unpack_heads(x, w_qkv, n_heads):
    """x (..., T, D), w_qkv (D, 3*N*H) -> q, k, v, each (..., N, T, H)."""
    ### BEGIN SOLUTION
    order = (0, 1, 2)  # variant 05.packed:order
    blocks = (x @ w_qkv).chunk(3, dim=-1)
    q, k, v = (split_heads(blocks[i], n_heads) for i in order)
    return q, k, v
    ### END SOLUTION


# %% [markdown]
# ## Attention in all heads
#
# A mask is boolean, `True` = may attend. It applies to every head and has **no** axis for them. There is no mask (`None`), or it has one of
# these shapes:
#
# - `(T, S)`: one mask for the whole batch.
# - `(B, T, S)`: a mask for each sequence.
# - `(B, 1, S)`: one row for each sequence, which holds for all its queries (padding, for example).
#
# Where the mask is `False`, the weight is exactly 0. A query that may attend to no key gets zeros, never NaN.
#
# [[task 05.heads]]
#
# Compute attention in all heads at once, each head by itself: scores divided by $\sqrt{H}$, mask, softmax, mix. `q` has shape `(B, N, T, H)`,
# `k` has `(B, N, S, H)` and `v` has `(B, N, S, H')`. Return shape `(B, N, T, H')`, in the dtype of the inputs. Gradients must flow to `q`,
# `k` and `v`. Scores may be in the tens of thousands, masked ones too: no result and no gradient may be NaN.


# %% 05-heads
def attend_heads(q, k, v, mask=None):
    """q (B, N, T, H), k (B, N, S, H), v (B, N, S, H'), mask (T, S), (B, T, S), (B, 1, S) or None -> (B, N, T, H')."""
    ### BEGIN SOLUTION
    if mask is not None and mask.ndim == 3:
        mask = mask[:, None]
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    a = torch.softmax(s, dim=-1)
    if mask is not None:
        a = a.masked_fill(~mask, 0.0)
    return a @ v
    ### END SOLUTION


# %% [markdown]
# [[task 05.output]]
#
# Concatenate the heads' results and multiply them by the output matrix. `z` has shape `(..., N, T, H)`, `w_o` has `(N*H, D)`; return shape
# `(..., T, D)`. (The width `D` need not equal `N*H`.)


# %% 05-output
def blend_heads(z, w_o):
    """z (..., N, T, H), w_o (N*H, D) -> (..., T, D)."""
    ### BEGIN SOLUTION
    return merge_heads(z) @ w_o
    ### END SOLUTION


# %% [markdown]
# [[task 05.shares]]
#
# Split the same output by heads: what does **each head** contribute? Return one table `(T, D)` for each head, shape `(..., N, T, D)`; their
# sum over the heads is the layer's output.


# %% 05-shares
def head_shares(z, w_o):
    """z (..., N, T, H), w_o (N*H, D) -> (..., N, T, D)."""
    ### BEGIN SOLUTION
    n_heads, head_width = z.shape[-3], z.shape[-1]
    rows = w_o.reshape(n_heads, head_width, w_o.shape[-1])
    return z @ rows
    ### END SOLUTION


# %% [markdown]
# ## Shared heads, dropout, initialisation
#
# [[task 05.grouped]]
#
# Repeat keys (or values) so that there is one for each query head. `K` key-value heads are shared by `N` query heads, `N / K` neighbouring
# heads each: query head `i` reads key-value head `i // (N / K)`. `(..., K, S, H)` becomes `(..., N, S, H)`.


# %% 05-grouped
def share_heads(k, n_heads):
    """k (..., K, S, H) and N, a multiple of K -> (..., N, S, H)."""
    ### BEGIN SOLUTION
    group = n_heads // k.shape[-3]
    return k.repeat_interleave(group, dim=-3)
    ### END SOLUTION


# %% [markdown]
# [[task 05.dropout]]
#
# Mix values with dropout on the attention weights. In training, dropout sets each weight to 0 with probability `p` and divides the kept
# weights by `1 - p`, so that the mean over many draws stays the same. Outside training nothing is dropped. `a` has shape `(..., T, S)`, `v`
# has `(..., S, H)`; `p` is at least 0 and less than 1. `u`, of the shape of `a`, holds a number from 0 to 1 for each weight, drawn for you: a
# weight is dropped where `u < p` (and kept where `u` equals `p`). Return the values mixed by these weights, shape `(..., T, H)`. (torch's own dropout draws its own
# numbers.)


# %% 05-dropout
def mix_with_dropout(a, v, u, p, training):
    """Weights a (..., T, S), v (..., S, H), u like a, a number p, True or False -> (..., T, H)."""
    ### BEGIN SOLUTION
    if not training:
        return a @ v
    kept = (u >= p) * a / (1 - p)
    return kept @ v
    ### END SOLUTION


# %% [markdown]
# [[task 05.init]]
#
# The query matrix `w_q`, of shape `(D, N*H)`, is to be initialised by Xavier's rule: independent entries of mean 0 and variance 2 / (rows +
# columns). The whole matrix is drawn at once, for all heads, and separately from the other matrices. Return [[05.init:asked]] that has this
# variance.


# %% 05-init
def init_scale(d_model, n_heads, head_width):
    """The sizes D, N, H of w_q -> a float."""
    ### BEGIN SOLUTION
    numerator = 6.0  # variant 05.init:numerator
    fan_in, fan_out = d_model, n_heads * head_width
    return math.sqrt(numerator / (fan_in + fan_out))
    ### END SOLUTION


# %% [markdown]
# ## Parameters and operations
#
# These are three tasks of arithmetic. Return whole numbers: no units, no rounding.
#
# [[task 05.parameters]]
#
# How many parameters does a layer have? Count the four matrices and, where `bias` is `True`, a bias for each of the four as well (one number
# for each column).


# %% 05-parameters
def count_parameters(d_model, n_heads, n_kv_heads, head_width, bias):
    """The sizes D, N, K, H, and whether there are biases -> a whole number."""
    ### BEGIN SOLUTION
    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    weights = 2 * d_model * wide + 2 * d_model * narrow
    biases = wide + 2 * narrow + d_model if bias else 0
    return weights + biases
    ### END SOLUTION


# %% [markdown]
# [[task 05.cost]]
#
# How many operations do the matrix products of one forward pass take, for self-attention over `B` sequences of `T` tokens, without a mask? A
# multiply-add is **two** operations. Return a pair: all four projections together; scores and mixing together. (Softmax and scale are not
# counted.)


# %% 05-cost
def attention_flops(batch, n_tokens, d_model, n_heads, n_kv_heads, head_width):
    """The sizes B, T, D, N, K, H -> (projections, scores and mixing), whole numbers."""
    ### BEGIN SOLUTION
    tokens = batch * n_tokens
    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    projections = 2 * tokens * d_model * (2 * wide + 2 * narrow)
    attention = 4 * tokens * n_tokens * wide
    return projections, attention
    ### END SOLUTION


# %% [markdown]
# [[task 05.cache]]
#
# How many **bytes** does a KV cache take? A decoder that generates token by token keeps the keys and values of all earlier positions, in
# every layer. There are `B` sequences of `S` positions so far, `L` layers, `N` query heads and `K` key-value heads of width `H`, and each
# number takes `bytes_per_number` bytes.


# %% 05-cache
def cache_bytes(batch, n_keys, n_layers, n_heads, n_kv_heads, head_width, bytes_per_number):
    """The sizes B, S, L, N, K, H, and the bytes of a number -> a whole number."""
    ### BEGIN SOLUTION
    numbers = 2 * batch * n_layers * n_keys * n_kv_heads * head_width
    return numbers * bytes_per_number
    ### END SOLUTION


# %% [markdown]
# ## The multi-head attention layer
#
# Now write a class, as a model contains it. Its four parameters have the names and shapes given above, and it has no others. Make each with
# `nn.Parameter(torch.empty(rows, columns))`: the check replaces the weights with its own, so their first values do not matter here.
#
# [[task 05.multi-head]]
#
# Write the layer from tokens to output: project, split, share keys and values where `K < N` (`N` is a multiple of `K`), attend with the mask, merge, multiply by the
# output matrix. `x` has shape `(B, T, D)`, the mask has `(T, T)`, `(B, T, T)` or `(B, 1, T)`, or is `None`. Return shape `(B, T, D)`, in the dtype of the
# inputs. Gradients must reach all four parameters and the tokens. You may call your own functions from above.


# %% 05-multi-head
class MultiHeadAttention(nn.Module):
    """x (B, T, D), mask (T, T), (B, T, T), (B, 1, T) or None -> (B, T, D)."""

    def __init__(self, d_model, n_heads, n_kv_heads, head_width):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        wide, narrow = n_heads * head_width, n_kv_heads * head_width
        self.w_q = nn.Parameter(torch.empty(d_model, wide))
        self.w_k = nn.Parameter(torch.empty(d_model, narrow))
        self.w_v = nn.Parameter(torch.empty(d_model, narrow))
        self.w_o = nn.Parameter(torch.empty(wide, d_model))
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        q = project_heads(x, self.w_q, self.n_heads)
        k = project_heads(x, self.w_k, self.n_kv_heads)
        v = project_heads(x, self.w_v, self.n_kv_heads)
        k, v = share_heads(k, self.n_heads), share_heads(v, self.n_heads)
        z = attend_heads(q, k, v, mask)
        return blend_heads(z, self.w_o)
        ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 05-slide · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/05_many_heads.html#many-heads-project-then-split)
#
# Suppose that a layer splits its input among two heads: the first head gets the first two of the four numbers of each token, the second head the other two, and each projects
# its own slice. Say what such a head cannot read, how you would show the difference by changing one number, and how the number of parameters
# changes. Write three to six sentences.

# %% 05-slide [markdown] points=3
# A head that gets a slice of each token cannot read the other numbers, for its queries, its keys or its values; as one big matrix, its
# projection would have zeros everywhere outside its block. To show it, change the last number of one token and inspect the first head's queries, keys
# and values: with the slice they stay the same, with projections of the whole token they change (unless a weight happens to be 0). Each of
# the three matrices of a head shrinks from D x H to (D/N) x H, so the three projections together have only 1/N of the parameters. This layer
# is cheaper, but it is a different layer: the heads can no longer choose which of the D numbers to read. The output matrix mixes the heads
# afterwards, but by then the attention weights have been computed.
