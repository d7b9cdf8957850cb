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
# # 18 · Kernels
#
# You will write kernels in Triton's language: from the sum of two vectors to attention that keeps its scores on chip, decoding from a paged cache, and a product with weights of 4 bits. Each is judged on its values, and on the bytes that it moves between main memory and chip.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Kernels* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 18-explain | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` query positions, `S` key positions, `H` the width of one head. Letters of this notebook's own: `BLOCK`, `BM`, `BN`, `BK` and `B` are sizes of tiles, `M` is the tokens that a page of the cache holds, `GROUP` the weights that share a scale: all of these and `H` are powers of 2, and in products with `tl.dot` 16 or more.
#
# **Kernels.** Arrays come as pointers to their first number, stored row after row unless a task says otherwise. `x + row * n + cols` points to the numbers `cols` of a row. Numbers are float32 unless a task says otherwise. A pointer outside its array is an error. All numbers are finite. Scores, and the numbers of a softmax divided by its temperature, lie between -300,000 and 300,000.
#
# **Judged on traffic.** A kernel whose values are right earns most of the points. The rest is for the bytes: each task says what it may read, the chip has room for the tiles of one step and little more, and each program moves its share.

# %% 18-setup
import numpy as np

from softlookup import check, hint
from softlookup.tiles import KernelError, LaunchError, cdiv, jit, tl

# %% [markdown]
# ## Programs and tiles

# %% [markdown]
# [[task 18.add]]
#
# Write a kernel that computes `a * x + y` for vectors of `n` numbers and stores it in `out`. Each program computes `BLOCK` numbers. `n` need not be a multiple of `BLOCK`, so **mask** what lies behind the end. Read `x` and `y` once.


# %% 18-add
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    """x, y, out (n,), two numbers -> out = a * x + y, with n / BLOCK programs, rounded up."""
    ### BEGIN SOLUTION
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < n
    total = a * tl.load(x + at, mask=there) + tl.load(y + at, mask=there)
    tl.store(out + at, total, mask=there)
    ### END SOLUTION


# %% [markdown]
# Your kernel, launched, with what it cost:

# %%
x, y = np.arange(10, dtype=np.float32), np.ones(10, np.float32)
out = np.empty_like(x)
try:
    traffic = scaled_add[(cdiv(10, 4),)](x, y, out, 2.0, 10, BLOCK=4)
    print(out, traffic, sep="\n")
except NotImplementedError:
    print("Write the kernel first.")
except (KernelError, LaunchError) as error:
    print("Not yet:", error)

# %% [markdown]
# ## Rows on the chip

# %% [markdown]
# [[task 18.softmax]]
#
# Write the softmax of each row of `x / tau`, with the temperature `tau = [[18.softmax:tau]]`. Each program has one row of `n` numbers, which fits into one tile of `BLOCK` numbers. Read every number once and write every result once. Numbers may be large, so subtract the row's maximum; what is masked must not count in the sum.


# %% 18-softmax
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    """x, y (rows, n), a number -> y = softmax(x / tau) along rows, with one program for each row."""
    ### BEGIN SOLUTION
    tau = 2.0  # variant 18.softmax:tau
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    there = cols < n
    a = tl.load(x + row * n + cols, mask=there, other=-float("inf")) / tau
    e = tl.exp(a - tl.max(a, 0))
    tl.store(y + row * n + cols, e / tl.sum(e, 0), mask=there)
    ### END SOLUTION


# %% [markdown]
# [[task 18.online]]
#
# Now the softmax of rows that do not fit, without a temperature: a program may hold five tiles of `BLOCK` numbers on chip, and a row has many. Read the row **twice**: in the first pass keep the maximum so far and the sum of `exp(x - maximum)` so far, and rescale the sum whenever the maximum grows; in the second pass write the results.
#
# `x` and `y` are stored **[[18.online:stored]]**: number `j` of row `i` lies at `[[18.online:position]]`. There are `tl.num_programs(0)` rows.


# %% 18-online
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    """x, y (rows, n), a number -> y = softmax of the rows of x, with one program for each row."""
    ### BEGIN SOLUTION
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        at = row * n + cols  # variant 18.online:at
        a = tl.load(x + at, mask=cols < n, other=-float("inf"))
        new = tl.maximum(top, tl.max(a, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(a - new), 0)
        top = new
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        at = row * n + cols  # variant 18.online:at
        a = tl.load(x + at, mask=cols < n, other=-float("inf"))
        tl.store(y + at, tl.exp(a - top) / total, mask=cols < n)
    ### END SOLUTION


# %% [markdown]
# [[task 18.norm]]
#
# Fuse the residual addition with RMSNorm. Store `x + residual` in `total`, and in `y` its RMSNorm: each row divided by the root of its mean square plus `eps`, times the weights `w`. All arrays are float16, and the sums fit into it; `eps` is above 0. **Compute in float32**, since squares of a few hundred are too large for float16. Read each row of `x` and `residual` once: the sum is on the chip when the norm needs it.


# %% 18-norm
@jit
def add_norm(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    """x, residual, total, y (rows, n) and w (n,) in float16, two numbers -> total = x + residual, y = its RMSNorm."""
    ### BEGIN SOLUTION
    cols = tl.arange(0, BLOCK)
    there = cols < n
    at = tl.program_id(0) * n + cols
    a = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
    a = a + tl.load(residual + at, mask=there, other=0.0).to(tl.float32)
    tl.store(total + at, a, mask=there)
    square = tl.sum(a * a, 0) / n
    weight = tl.load(w + cols, mask=there, other=0.0).to(tl.float32)
    tl.store(y + at, a * tl.rsqrt(square + eps) * weight, mask=there)
    ### END SOLUTION


# %% [markdown]
# ## Products in tiles

# %% [markdown]
# [[task 18.product]]
#
# Multiply `a` (m, k) with `b` (k, n), both float16, into `c` (m, n) in float32. `a` is stored **[[18.product:a_stored]]**, `b` **[[18.product:b_stored]]**. Program `(i, j)` computes the tile of `BM` rows and `BN` columns that begins at row `i * BM` and column `j * BN`: it goes along `k` in steps of `BK`, loads a tile of each matrix, and adds their product to a sum in **float32**. No size need be a multiple of its tile. Each program reads its rows of `a` and its columns of `b` once.


# %% 18-product
@jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """a (m, k), b (k, n) in float16, c (m, n) in float32, three numbers -> c = a @ b, with (m / BM, n / BN) programs."""
    ### BEGIN SOLUTION
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        across = start + tl.arange(0, BK)[None, :]
        down = start + tl.arange(0, BK)[:, None]
        a_at = rows * k + across  # variant 18.product:a_at
        b_at = down * n + cols  # variant 18.product:b_at
        a_tile = tl.load(a + a_at, mask=(rows < m) & (across < k), other=0.0)
        b_tile = tl.load(b + b_at, mask=(down < k) & (cols < n), other=0.0)
        total += tl.dot(a_tile, b_tile)
    tl.store(c + rows * n + cols, total, mask=(rows < m) & (cols < n))
    ### END SOLUTION


# %% [markdown]
# [[task 18.tile]]
#
# A plain function, no kernel: the largest tile for a chip. `product` runs with `BM = BN = BK = tile`. On the chip lie **[[18.tile:loaded]]**, with `number_bytes` bytes for each number, and a tile of sums with 4 bytes for each. Return the largest power of 2 for which all of them fit into `chip_bytes` (tiles of 1 always do), and how many bytes all programs read together for matrices (m, k) and (k, n).


# %% 18-tile
def largest_tile(m, n, k, number_bytes, chip_bytes):
    """Five whole numbers -> the size of the tile, and the bytes that are read."""
    ### BEGIN SOLUTION
    stages = 1  # variant 18.tile:stages
    tile = 1
    while (2 * tile) ** 2 * (2 * stages * number_bytes + 4) <= chip_bytes:
        tile *= 2
    numbers = m * k * cdiv(n, tile) + k * n * cdiv(m, tile)
    return tile, numbers * number_bytes
    ### END SOLUTION


# %% [markdown]
# [[task 18.linear]]
#
# Fuse what follows a product into its kernel. `w` has the layout of [[18.linear:layout]]. Compute [[18.linear:product]], and store `z * sigmoid(beta * z)` in `y`, with `beta = [[18.linear:beta]]`. Nothing but `y` is written, and `z` is never read back.


# %% 18-linear
@jit
def linear_activated(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """x (m, k), w as in the text, bias (n,), y (m, n), three numbers -> y = z * sigmoid(beta * z)."""
    ### BEGIN SOLUTION
    beta = 1.702  # variant 18.linear:beta
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        across = start + tl.arange(0, BK)[None, :]
        down = start + tl.arange(0, BK)[:, None]
        x_tile = tl.load(x + rows * k + across, mask=(rows < m) & (across < k), other=0.0)
        w_at = cols * k + down  # variant 18.linear:w_at
        w_tile = tl.load(w + w_at, mask=(down < k) & (cols < n), other=0.0)
        total += tl.dot(x_tile, w_tile)
    z = total + tl.load(bias + cols, mask=cols < n, other=0.0)
    z = z * tl.sigmoid(beta * z)
    tl.store(y + rows * n + cols, z, mask=(rows < m) & (cols < n))
    ### END SOLUTION


# %% [markdown]
# ## Attention on the chip

# %% [markdown]
# [[task 18.attention]]
#
# Attention without its scores in memory. Each program has `B` queries and goes through keys and values in tiles of `B`: it computes a tile of scores, and keeps for each query the maximum so far, the sum of exponentials so far, and the sum of values weighted by them. When a maximum grows, both sums are rescaled. Divide at the end. The keys have the shape **[[18.attention:k_shape]]**, the values **[[18.attention:v_shape]]**. Neither `T` nor `S` need be a multiple of `B`: keys behind the end must not count.


# %% 18-attention
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    """q, o (T, H), k and v as in the text, three numbers -> o = attention, with T / B programs."""
    ### BEGIN SOLUTION
    rows = tl.program_id(0) * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    at = rows[:, None] * H + wide[None, :]
    q_tile = tl.load(q + at, mask=rows[:, None] < T, other=0.0)
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, S, B):
        cols = start + tl.arange(0, B)
        k_at = cols[None, :] * H + wide[:, None]  # variant 18.attention:k_at
        v_at = cols[:, None] * H + wide[None, :]  # variant 18.attention:v_at
        k_tile = tl.load(k + k_at, mask=cols[None, :] < S, other=0.0)
        scores = tl.where(cols[None, :] < S, scale * tl.dot(q_tile, k_tile), -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        fade = tl.exp(top - new)
        weights = tl.exp(scores - new[:, None])
        v_tile = tl.load(v + v_at, mask=cols[:, None] < S, other=0.0)
        total = total * fade + tl.sum(weights, 1)
        out = out * fade[:, None] + tl.dot(weights, v_tile)
        top = new
    tl.store(o + at, out / total[:, None], mask=rows[:, None] < T)
    ### END SOLUTION


# %% [markdown]
# [[task 18.causal]]
#
# The same for causal attention, where query `t` sees the keys up to `t`. Nearly half of the tiles of scores are fully masked: **do not read their keys and values**. Only the tile on the diagonal needs a mask. Here the keys have the shape **[[18.causal:k_shape]]**, the values **[[18.causal:v_shape]]**. `T` need not be a multiple of `B`.


# %% 18-causal
@jit
def causal_attention(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    """q, o (T, H), k and v as in the text, two numbers -> o = causal attention, with T / B programs."""
    ### BEGIN SOLUTION
    i = tl.program_id(0)
    rows = i * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    at = rows[:, None] * H + wide[None, :]
    q_tile = tl.load(q + at, mask=rows[:, None] < T, other=0.0)
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for j in range(0, i + 1):
        cols = j * B + tl.arange(0, B)
        k_at = cols[None, :] * H + wide[:, None]  # variant 18.causal:k_at
        v_at = cols[:, None] * H + wide[None, :]  # variant 18.causal:v_at
        k_tile = tl.load(k + k_at, mask=cols[None, :] < T, other=0.0)
        scores = tl.where(rows[:, None] >= cols[None, :], scale * tl.dot(q_tile, k_tile), -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        fade = tl.exp(top - new)
        weights = tl.exp(scores - new[:, None])
        v_tile = tl.load(v + v_at, mask=cols[:, None] < T, other=0.0)
        total = total * fade + tl.sum(weights, 1)
        out = out * fade[:, None] + tl.dot(weights, v_tile)
        top = new
    tl.store(o + at, out / total[:, None], mask=rows[:, None] < T)
    ### END SOLUTION


# %% [markdown]
# [[task 18.paged]]
#
# One step of decoding from a paged cache. Program `b` has the one query of sequence `b`. Its `lengths[b]` keys and values, one or more, lie in pages of `M` tokens: `table[b, i]` is the page that holds tokens `i * M` to `i * M + M - 1`. The keys have the shape **[[18.paged:k_shape]]**, the values **[[18.paged:v_shape]]**, for `P` pages. A row of the table has `MOST` entries; those behind the sequence's end are -1. Read the keys and values of tokens that are there, and no others: a loop runs over all `MOST` entries, and masks do the rest.


# %% 18-paged
@jit
def paged_attention(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):
    """q, o (sequences, H), pages as in the text, table (sequences, MOST), lengths (sequences,), a number -> o."""
    ### BEGIN SOLUTION
    b = tl.program_id(0)
    wide = tl.arange(0, H)
    slots = tl.arange(0, M)
    length = tl.load(lengths + b)
    q_row = tl.load(q + b * H + wide)
    top = -float("inf")
    total = 0.0
    out = tl.zeros((H,), tl.float32)
    for i in range(0, MOST):
        page = tl.load(table + b * MOST + i) * M * H
        there = i * M + slots < length
        k_at = slots[:, None] * H + wide[None, :]  # variant 18.paged:k_at
        v_at = slots[:, None] * H + wide[None, :]  # variant 18.paged:v_at
        k_tile = tl.load(k_pages + page + k_at, mask=there[:, None], other=0.0)
        scores = tl.sum(k_tile * q_row[None, :], 1) * scale
        scores = tl.where(there, scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 0))
        fade = tl.exp(top - new)
        weights = tl.exp(scores - new)
        v_tile = tl.load(v_pages + page + v_at, mask=there[:, None], other=0.0)
        total = total * fade + tl.sum(weights, 0)
        out = out * fade + tl.sum(weights[:, None] * v_tile, 0)
        top = new
    tl.store(o + b * H + wide, out / total)
    ### END SOLUTION


# %% [markdown]
# ## Small weights

# %% [markdown]
# [[task 18.quantised]]
#
# Multiply `x` (m, k) with weights of 4 bits that are unpacked on chip. `packed` (k / 2, n) holds two weights in each byte: row `i` has weight row `2 * i` in its **[[18.quantised:first]]** four bits and weight row `2 * i + 1` in its **[[18.quantised:second]]** four bits. A weight's value is its number minus **[[18.quantised:zero]]**, times the scale of its group: `scales` (k / GROUP, n) has one row for each `GROUP` rows of weights. One step of the loop takes one group, and multiplies the even and the odd columns of `x` with it. `m` and `n` need not be multiples of their tiles; `k` is a multiple of `GROUP`, which is 32 or more.


# %% 18-quantised
@jit
def quantised_product(x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """x (m, k), packed (k / 2, n) in uint8, scales (k / GROUP, n), y (m, n), three numbers -> y = x @ weights."""
    ### BEGIN SOLUTION
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    zero = 8.0  # variant 18.quantised:zero
    total = tl.zeros((BM, BN), tl.float32)
    for group in range(0, k // GROUP):
        pairs = group * (GROUP // 2) + tl.arange(0, GROUP // 2)
        both = tl.load(packed + pairs[:, None] * n + cols, mask=cols < n, other=0)
        even = both & 15  # variant 18.quantised:even
        odd = both >> 4  # variant 18.quantised:odd
        at = x + rows * k + 2 * pairs[None, :]
        part = tl.dot(tl.load(at, mask=rows < m, other=0.0), even.to(tl.float32) - zero)
        part += tl.dot(tl.load(at + 1, mask=rows < m, other=0.0), odd.to(tl.float32) - zero)
        total += part * tl.load(scales + group * n + cols, mask=cols < n, other=0.0)
    tl.store(y + rows * n + cols, total, mask=(rows < m) & (cols < n))
    ### END SOLUTION


# %% [markdown]
# ## On Triton itself
#
# The text of your kernels is Triton's. Where Triton is installed (`pip install softlookup[kernels]`, on Linux), this cell runs your `scaled_add` with its interpreter, and on a GPU it is compiled.

# %%
from softlookup.tiles import on_triton

try:
    print(on_triton(scaled_add, (3,), x, y, out, 2.0, 10, BLOCK=4))
except NotImplementedError:
    print("Write the kernel first.")
except (KernelError, LaunchError) as error:
    print("Not yet:", error)

# %% [markdown]
# ## In your own words
#
# Task 18-explain · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/18_kernels.html#kernels-attention)
#
# Attention without its scores in memory does more operations than the plain way, because sums are rescaled, and is faster all the same. Explain why, for one head with `T = S = 4096` and `H = 64` in float16: how many bytes the scores are, what the kernel keeps on chip instead, and for which sizes the advantage goes away. Five to eight sentences.

# %% 18-explain [markdown] points=3
# The scores of one head are 4096 × 4096 numbers, 33.6 MB in float16, and the plain way writes them, reads them for the softmax, writes the weights and reads those again: about 134 MB. Queries, keys, values and the output are 0.5 MB each. The kernel keeps one tile of scores on chip, with a maximum and a sum for each of its queries and a sum of weighted values, and forgets the scores when the next tile comes. It reads the queries once and keys and values once for each block of queries: with 128 queries a block these are 32 passes over 1 MB, much less than the scores. The extra operations are a few for each score, beside 4 × 64 = 256 for both products, and the chip has operations to spare as long as bytes are what limits it. The advantage goes away for short texts, where the scores are no larger than keys and values (S near H), and in decoding, where there is one query: a row of scores is small, and what counts is that keys and values are read once. (The size of the scores against that of q, k and v, the running maximum and sums, and one case without advantage are enough for full points.)
