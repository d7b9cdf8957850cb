"""Chapter 18: right answers written otherwise: other orders, other masks, transposed tiles, moved pointers."""

import math

import numpy as np

from softlookup.tiles import cdiv, jit, tl

LOG2_E = 1.4426950408889634


@jit
def add_clamped(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.minimum(tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), n - 1)
    tl.store(out + at, tl.load(y + at) + tl.load(x + at) * a)


@jit
def add_strided(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) + tl.num_programs(0) * tl.arange(0, BLOCK)
    is_inside = n > at
    x_tile = tl.load(x + at, is_inside, 0.0)
    y_tile = tl.load(y + at, is_inside, 0.0)
    tl.store(out + at, tl.where(is_inside, a * x_tile + y_tile, 0.0), is_inside)


@jit
def add_moved_pointers(x, y, out, a, n, BLOCK: tl.constexpr):
    first = tl.program_id(axis=0) * BLOCK
    x += first
    y += first
    out += first
    cols = tl.arange(0, BLOCK)
    mask = cols < n - first
    total = tl.load(x + cols, mask=mask)
    total *= a
    total += tl.load(cols + y, mask=mask)
    tl.store(out + cols, total.to(out.dtype.element_ty), mask=mask)


@jit
def softmax_exp2(x, y, n, BLOCK: tl.constexpr):
    x += tl.program_id(0) * n
    y += tl.program_id(0) * n
    cols = tl.arange(0, BLOCK)
    a = tl.load(x + cols, mask=cols < n, other=-math.inf) * (LOG2_E / 2.0)
    e = tl.exp2(a - tl.max(a, axis=0))
    tl.store(y + cols, e * (1.0 / tl.sum(e, axis=0)), mask=cols < n)


@jit
def softmax_logarithm(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    is_inside = tl.arange(0, BLOCK) < n
    a = tl.where(is_inside, tl.load(x + at, mask=is_inside) * 0.5, -float("inf"))
    top = tl.max(a, 0)
    tl.store(y + at, tl.exp(a - (top + tl.log(tl.sum(tl.exp(a - top), 0)))), mask=is_inside)


@jit
def softmax_two_axes(x, y, n, BLOCK: tl.constexpr):
    rows = (tl.program_id(0) + tl.arange(0, 1))[:, None]
    cols = tl.arange(0, BLOCK)[None, :]
    a = tl.load(x + rows * n + tl.minimum(cols, n - 1))
    e = tl.exp((a - tl.max(a, 1, keep_dims=True)) / 2.0)
    e = tl.where(cols < n, e, 0.0)
    tl.store(y + rows * n + cols, e / tl.sum(e, 1)[:, None], mask=cols < n)


@jit
def online_backwards(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top, total = -1e30, 0.0
    for tile in range(cdiv(n, BLOCK) - 1, -1, -1):
        cols = tile * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(x + row * n + cols, mask=cols < n, other=-float("inf"))
        before = top
        top = tl.maximum(tl.max(a, 0), before)
        total *= tl.exp(before - top)
        total += tl.sum(tl.exp(a - top), 0)
    inverse = 1 / total
    for tile in tl.static_range(0, tl.cdiv(n, BLOCK)):
        cols = tile * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(x + row * n + cols, mask=cols < n)
        tl.store(y + row * n + cols, tl.exp(a - top) * inverse, mask=cols < n)


@jit
def online_by_lanes(x, y, n, BLOCK: tl.constexpr):
    x += tl.program_id(0) * n
    y += tl.program_id(0) * n
    lanes = tl.arange(0, BLOCK)
    tops = tl.full((BLOCK,), -1e30, tl.float32)
    totals = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        a = tl.load(x + start + lanes, mask=start + lanes < n, other=-float("inf"))
        larger = tl.maximum(tops, a)
        totals = totals * tl.exp(tops - larger) + tl.exp(a - larger)
        tops = larger
    top = tl.max(tops, 0)
    total = tl.sum(totals * tl.exp(tops - top), 0)
    for start in range(0, n, BLOCK):
        a = tl.load(x + start + lanes, mask=start + lanes < n)
        tl.store(y + start + lanes, tl.exp(a - top) / total, mask=start + lanes < n)


@jit
def online_logarithm(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    logarithm = -float("inf")
    for start in tl.range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        a = tl.where(cols < n, tl.load(x + row + tl.minimum(cols, n - 1)), -float("inf"))
        top = tl.maximum(logarithm, tl.max(a, 0))
        logarithm = top + tl.log(tl.exp(logarithm - top) + tl.sum(tl.exp(a - top), 0))
    for start in tl.range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        a = tl.load(x + row + cols, mask=cols < n)
        tl.store(y + row + cols, tl.exp(a - logarithm), mask=cols < n)


@jit
def norm_sum_in_half(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    # A single sum of two numbers loses nothing that `total` could hold.
    cols = tl.arange(0, BLOCK)
    is_inside = cols < n
    at = tl.program_id(0) * n + cols
    both = tl.load(x + at, mask=is_inside, other=0.0) + tl.load(residual + at, mask=is_inside, other=0.0)
    tl.store(total + at, both, mask=is_inside)
    both = both.to(tl.float32)
    root = tl.sqrt(tl.sum(both * both, 0) / n + eps)
    tl.store(y + at, both / root * tl.load(w + cols, mask=is_inside), mask=is_inside)


@jit
def load_float32(pointer, mask):
    return tl.load(pointer, mask=mask, other=0.0).to(tl.float32)


@jit
def norm_helper(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    mask = cols < n
    a = load_float32(residual + row * n + cols, mask) + load_float32(x + row * n + cols, mask)
    inverse = 1.0 / tl.sqrt(eps + tl.sum(a * a, axis=0) * (1.0 / n))
    y_tile = load_float32(w + cols, mask) * (a * inverse)
    tl.store(y + row * n + cols, y_tile.to(tl.float16), mask=mask)
    tl.store(total + row * n + cols, a.to(tl.float16), mask=mask)


@jit
def norm_scaled(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    # The squares of numbers of at most 1 overflow in no dtype.
    cols = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + tl.minimum(cols, n - 1)
    a = tl.cast(tl.load(x + at), tl.float32) + tl.cast(tl.load(residual + at), tl.float32)
    tl.store(total + at, a, mask=cols < n)
    top = tl.maximum(tl.max(tl.abs(a), 0), 1e-6)
    small = tl.where(cols < n, a / top, 0.0)
    square = tl.sum(small * small, 0) / n
    small *= tl.rsqrt(square + eps / (top * top))
    tl.store(y + at, small * tl.load(w + tl.minimum(cols, n - 1)), mask=cols < n)


@jit
def product_moved_pointers(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    # Rows and columns behind the end begin again, as in Triton's tutorial: what they give is not stored.
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_at = a + (rows % m)[:, None] * k + inner[None, :]
    b_at = b + inner[:, None] * n + (cols % n)[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        a_tile = tl.load(a_at, mask=inner[None, :] < k - step * BK, other=0.0)
        b_tile = tl.load(b_at, mask=inner[:, None] < k - step * BK, other=0.0)
        acc = tl.dot(a_tile, b_tile, acc)
        a_at += BK
        b_at += BK * n
    tl.store(c + n * rows[:, None] + cols[None, :], acc, mask=(rows[:, None] < m) & (cols[None, :] < n))


@jit
def product_transposed(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[None, :]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[:, None]
    total = tl.zeros((BN, BM), tl.float32)
    for start in range(0, k, BK):
        at = start + tl.arange(0, BK)
        a_tile = tl.load(a + rows * k + at[:, None], mask=(rows < m) & (at[:, None] < k), other=0.0)
        b_tile = tl.load(b + at[None, :] * n + cols, mask=(at[None, :] < k) & (cols < n), other=0.0)
        total = total + tl.dot(b_tile, a_tile)
    tl.store(c + tl.trans(rows) * n + tl.trans(cols), tl.trans(total), mask=tl.trans((rows < m) & (cols < n)))


@jit
def product_backwards(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.expand_dims(tl.minimum(tl.program_id(0) * BM + tl.arange(0, BM), m - 1), 1)
    cols = tl.expand_dims(tl.minimum(tl.program_id(1) * BN + tl.arange(0, BN), n - 1), 0)
    total = tl.full((BM, BN), 0.0, tl.float32)
    for step in reversed(range(cdiv(k, BK))):
        at = step * BK + tl.arange(0, BK)
        a_tile = tl.load(a + rows * k + at[None, :], mask=at[None, :] < k, other=0.0)
        b_tile = tl.load(b + tl.minimum(at, k - 1)[:, None] * n + cols)
        total += tl.dot(a_tile, b_tile)
    # Several rows of the last tile may be the last row: all hold the same.
    tl.store(c + rows * n + cols, total)


def tile_root(m, n, k, number_bytes, chip_bytes):
    tile = 2 ** int(math.log2(math.isqrt(chip_bytes // (2 * number_bytes + 4))))
    return tile, number_bytes * k * (m * -(-n // tile) + n * -(-m // tile))


def tile_downwards(m, n, k, number_bytes, chip_bytes):
    tile = 1 << 40
    while 2 * tile * tile * number_bytes + 4 * tile * tile > chip_bytes:
        tile >>= 1
    read = sum(m * k for _ in range(0, n, tile)) + sum(k * n for _ in range(0, m, tile))
    return tile, read * number_bytes


def tile_programs(m, n, k, number_bytes, chip_bytes):
    tiles = 2 ** np.arange(20)
    tile = int(tiles[tiles**2 * (2 * number_bytes + 4) <= chip_bytes].max())
    read = 0
    for i in range(cdiv(m, tile)):
        for j in range(cdiv(n, tile)):
            read += (min(tile, m - i * tile) + min(tile, n - j * tile)) * k
    return np.array(tile), np.array(read * number_bytes)


@jit
def linear_rows_of_weights(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    outputs = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        at = start + tl.arange(0, BK)[None, :]
        x_tile = tl.load(x + rows[:, None] * k + at, mask=(rows[:, None] < m) & (at < k), other=0.0)
        w_tile = tl.load(w + outputs[:, None] * k + at, mask=(outputs[:, None] < n) & (at < k), other=0.0)
        acc = tl.dot(x_tile, tl.trans(w_tile), acc)
    z = acc + tl.load(bias + outputs, mask=outputs < n)[None, :]
    z = z / (1.0 + tl.exp(-1.702 * z))
    tl.store(y + rows[:, None] * n + outputs[None, :], z, mask=(rows[:, None] < m) & (outputs[None, :] < n))


@jit
def linear_bias_first(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    at = tl.arange(0, BK)
    z = tl.broadcast_to(tl.load(bias + cols, mask=cols < n, other=0.0), (BM, BN))
    x += rows * k + at[None, :]
    w += cols * k + at[:, None]
    for left in range(k, 0, -BK):
        x_tile = tl.load(x, mask=(rows < m) & (at[None, :] < left), other=0.0)
        z += tl.dot(x_tile, tl.load(w, mask=(cols < n) & (at[:, None] < left), other=0.0))
        x += BK
        w += BK
    tl.store(y + rows * n + cols, tl.sigmoid(z * 1.702) * z, mask=(rows < m) & (cols < n))


@jit
def gate(z):
    return 1 / (1 + tl.exp2(-1.702 * LOG2_E * z))


@jit
def linear_transposed(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[None, :]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[:, None]
    total = tl.zeros((BN, BM), tl.float32)
    for step in tl.static_range(cdiv(k, BK)):
        at = step * BK + tl.arange(0, BK)
        w_tile = tl.load(w + cols * k + at[None, :], mask=(cols < n) & (at[None, :] < k), other=0.0)
        x_tile = tl.load(x + rows * k + at[:, None], mask=(rows < m) & (at[:, None] < k), other=0.0)
        total += tl.dot(w_tile, x_tile)
    total += tl.load(bias + cols, mask=cols < n, other=0.0)
    tl.store(y + rows * n + cols, total * gate(total), mask=(rows < m) & (cols < n))


@jit
def attention_exp2(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    q_tile = tl.load(q + rows[:, None] * H + wide[None, :], mask=rows[:, None] < T, other=0.0)
    q_tile *= scale * LOG2_E
    top = tl.zeros((B,), tl.float32) - float("inf")
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    at = tl.arange(0, B)[:, None] * H + wide[None, :]
    for start in range(0, S, B):
        is_key = tl.arange(0, B) < S - start
        k_tile = tl.load(k + at, mask=is_key[:, None], other=0.0)
        scores = tl.dot(q_tile, tl.trans(k_tile)) + tl.where(is_key, 0.0, -float("inf"))[None, :]
        new = tl.maximum(tl.max(scores, axis=1), top)
        weights = tl.exp2(scores - new[:, None])
        fade = tl.exp2(top - new)
        total = total * fade + tl.sum(weights, axis=1)
        out = tl.dot(weights, tl.load(v + at, mask=is_key[:, None], other=0.0), out * fade[:, None])
        top = new
        k += B * H
        v += B * H
    tl.store(o + rows[:, None] * H + wide[None, :], out * (1 / total)[:, None], mask=rows[:, None] < T)


@jit
def attention_always_divided(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    # The output so far is a mean of values; its logarithm's weight is what all keys so far weigh together.
    rows = (tl.program_id(0) * B + tl.arange(0, B))[:, None]
    wide = tl.arange(0, H)[None, :]
    q_tile = tl.load(q + rows * H + wide, mask=rows < T, other=0.0)
    logarithm = tl.full((B, 1), -1e30, tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, S, B):
        cols = start + tl.arange(0, B)
        k_tile = tl.load(k + tl.minimum(cols, S - 1)[:, None] * H + wide)
        scores = tl.where(cols[None, :] < S, tl.dot(q_tile, k_tile.T) * scale, -1e30)
        top = tl.maximum(logarithm, tl.max(scores, 1, keep_dims=True))
        weights = tl.exp(scores - top)
        new = top + tl.log(tl.exp(logarithm - top) + tl.sum(weights, 1, keep_dims=True))
        v_tile = tl.load(v + cols[:, None] * H + wide, mask=cols[:, None] < S, other=0.0)
        out = out * tl.exp(logarithm - new) + tl.dot(weights * tl.exp(top - new), v_tile)
        logarithm = new
    tl.store(o + rows * H + wide, out, mask=rows < T)


@jit
def attention_backwards(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    rows = tl.minimum(tl.program_id(0) * B + tl.arange(0, B), T - 1)[:, None]
    wide = tl.arange(0, H)
    q_tile = tl.load(q + rows * H + wide[None, :])
    top = tl.full((B, 1), -float("inf"), tl.float32)
    total = tl.zeros((B, 1), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for tile in range(cdiv(S, B) - 1, -1, -1):
        cols = tile * B + tl.arange(0, B)
        k_tile = tl.load(k + wide[:, None] + cols[None, :] * H, mask=cols[None, :] < S, other=0.0)
        scores = tl.dot(q_tile, k_tile)
        scores = tl.where(cols[None, :] >= S, -float("inf"), scores * scale)
        before = top
        top = tl.maximum(before, tl.max(scores, 1)[:, None])
        fade = tl.exp(before - top)
        scores = tl.exp(scores - top)
        total *= fade
        total += tl.sum(scores, 1)[:, None]
        out *= fade
        out += tl.dot(scores, tl.load(v + cols[:, None] * H + wide[None, :], mask=cols[:, None] < S, other=0.0))
    tl.store(o + rows * H + wide[None, :], out / total)


@jit
def causal_diagonal_first(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0)
    rows = i * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    at = rows[:, None] * H + wide[None, :]
    q_tile = tl.load(q + at, mask=rows[:, None] < T, other=0.0) * scale
    # Keys of the diagonal lie where the queries do; behind it no tile has an end.
    scores = tl.dot(q_tile, tl.trans(tl.load(k + at, mask=rows[:, None] < T, other=0.0)))
    scores = tl.where(rows[None, :] <= rows[:, None], scores, -float("inf"))
    top = tl.max(scores, 1)
    weights = tl.exp(scores - top[:, None])
    total = tl.sum(weights, 1)
    out = tl.dot(weights, tl.load(v + at, mask=rows[:, None] < T, other=0.0))
    for j in range(i - 1, -1, -1):
        before = (j * B + tl.arange(0, B))[:, None] * H + wide[None, :]
        scores = tl.dot(q_tile, tl.trans(tl.load(k + before)))
        new = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        fade = tl.exp(top - new)
        total = fade * total + tl.sum(weights, 1)
        out = fade[:, None] * out + tl.dot(weights, tl.load(v + before))
        top = new
    tl.store(o + at, out / total[:, None], mask=rows[:, None] < T)


@jit
def causal_keys(start, T, B: tl.constexpr):
    cols = start + tl.arange(0, B)
    return cols, cols[:, None] < T


@jit
def causal_exp2(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    first = tl.program_id(0) * B
    rows, are_rows = causal_keys(first, T, B)
    wide = tl.arange(0, H)[None, :]
    q_tile = tl.load(q + rows[:, None] * H + wide, mask=are_rows, other=0.0)
    top = tl.full((B,), -1e30, tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, first + B, B):
        cols, are_keys = causal_keys(start, T, B)
        k_tile = tl.load(k + cols[:, None] * H + wide, mask=are_keys, other=0.0)
        scores = tl.dot(q_tile, tl.trans(k_tile)) * (scale * LOG2_E)
        scores += tl.where(rows[:, None] - cols[None, :] < 0, -float("inf"), 0.0)
        new = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp2(scores - new[:, None])
        fade = tl.exp2(top - new)
        total = total * fade + tl.sum(weights, 1)
        out = tl.dot(weights, tl.load(v + cols[:, None] * H + wide, mask=are_keys, other=0.0), acc=out * fade[:, None])
        top = new
    tl.store(o + rows[:, None] * H + wide, out / total[:, None], mask=are_rows)


@jit
def causal_zeroed(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    # Masked weights are set to zero behind the exponential; the maximum of all scores does no harm.
    i = tl.program_id(0)
    rows = (i * B + tl.arange(0, B))[:, None]
    wide = tl.arange(0, H)
    q_tile = tl.load(q + tl.minimum(rows, T - 1) * H + wide[None, :])
    top = tl.full((B, 1), -float("inf"), tl.float32)
    total = tl.zeros((B, 1), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for j in range(i + 1):
        cols = tl.minimum(j * B + tl.arange(0, B), T - 1)
        sees = (j * B + tl.arange(0, B))[None, :] <= rows
        scores = scale * tl.dot(q_tile, tl.load(k + wide[:, None] + cols[None, :] * H))
        new = tl.maximum(top, tl.max(tl.where(sees, scores, -1e30), 1, keep_dims=True))
        weights = tl.where(sees, tl.exp(scores - new), 0.0)
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(weights, 1, keep_dims=True)
        out = out * fade + tl.dot(weights, tl.load(v + cols[:, None] * H + wide[None, :]))
        top = new
    tl.store(o + rows * H + wide[None, :], out / total, mask=rows < T)


@jit
def paged_exp2(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):  # fmt: skip
    b = tl.program_id(0)
    q += b * H
    table += b * MOST
    length = tl.load(lengths + b)
    q_row = tl.load(q + tl.arange(0, H)) * (scale * LOG2_E)
    top, total = -1e30, 0.0
    out = tl.zeros((H,), tl.float32)
    for start in range(0, MOST * M, M):
        at = tl.load(table) * M * H + tl.arange(0, M)[:, None] * H + tl.arange(0, H)[None, :]
        mask = (tl.arange(0, M) < length - start)[:, None]
        k_tile = tl.load(k_pages + at, mask=mask, other=0.0)
        scores = tl.where(mask, tl.sum(q_row[None, :] * k_tile, 1, keep_dims=True), -float("inf"))
        new = tl.maximum(top, tl.max(scores))
        weights = tl.exp2(scores - new)
        fade = tl.exp2(top - new)
        total = total * fade + tl.sum(weights)
        out = out * fade + tl.sum(weights * tl.load(v_pages + at, mask=mask, other=0.0), 0)
        top = new
        table += 1
    tl.store(o + b * H + tl.arange(0, H), out * (1 / total))


@jit
def paged_by_slots(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):  # fmt: skip
    # Each slot of a page has a maximum and sums of its own, put together at the end.
    b, slots, wide = tl.program_id(0), tl.arange(0, M), tl.arange(0, H)
    length = tl.load(lengths + b)
    q_row = tl.load(q + b * H + wide)
    tops = tl.full((M,), -1e30, tl.float32)
    totals = tl.zeros((M,), tl.float32)
    outs = tl.zeros((M, H), tl.float32)
    for i in tl.static_range(MOST):
        page = tl.load(table + b * MOST + i)
        mask = slots + i * M < length
        at = page * (M * H) + slots[:, None] * H + wide[None, :]
        scores = scale * tl.sum(tl.load(k_pages + at, mask=mask[:, None], other=0.0) * q_row[None, :], axis=1)
        scores = tl.where(mask, scores, -float("inf"))
        larger = tl.maximum(tops, scores)
        fade = tl.exp(tops - larger)
        weights = tl.exp(scores - larger)
        totals = totals * fade + weights
        outs *= fade[:, None]
        outs += weights[:, None] * tl.load(v_pages + at, mask=mask[:, None], other=0.0)
        tops = larger
    fade = tl.exp(tops - tl.max(tops, 0))
    tl.store(o + b * H + wide, tl.sum(outs * fade[:, None], 0) / tl.sum(totals * fade, 0))


@jit
def paged_transposed(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):  # fmt: skip
    b = tl.program_id(0)
    slots, wide = tl.arange(0, M)[None, :], tl.arange(0, H)[:, None]
    length = tl.load(lengths + b)
    q_col = tl.load(q + b * H + wide) * scale
    top = tl.full((1,), -float("inf"), tl.float32)
    total = tl.zeros((1,), tl.float32)
    out = tl.zeros((H, 1), tl.float32)
    # The first page is never empty: going up, the maximum is finite from the first step on.
    for i in range(MOST):
        base = tl.load(table + b * MOST + i) * M
        mask = slots < length - i * M
        k_tile = tl.load(k_pages + (base + slots) * H + wide, mask=mask, other=0.0)
        scores = tl.sum(k_tile * q_col, 0)[None, :] + tl.where(mask, 0.0, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(weights, 1)
        v_tile = tl.load(v_pages + (base + slots) * H + wide, mask=mask, other=0.0)
        out = out * fade[:, None] + tl.sum(weights * v_tile, 1)[:, None]
        top = new
    tl.store(o + b * H + wide, out / total[:, None])


@jit
def quantised_zero_point_apart(
    x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    # The zero point is the same for all weights: 8 times the sum of a row's numbers.
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    pairs = tl.arange(0, GROUP // 2)
    total = tl.zeros((BM, BN), tl.float32)
    for group in range(0, k // GROUP):
        both = tl.load(packed + pairs[:, None] * n + cols, mask=cols < n, other=0)
        even = tl.load(x + rows * k + 2 * pairs[None, :], mask=rows < m, other=0.0)
        part = tl.dot(even, (both % 16).to(tl.float32)) - 8 * tl.sum(even, 1, keep_dims=True)
        odd = tl.load(x + rows * k + 2 * pairs[None, :] + 1, mask=rows < m, other=0.0)
        part += tl.dot(odd, (both // 16).to(tl.float32)) - 8 * tl.sum(odd, 1)[:, None]
        total += tl.load(scales + group * n + cols, mask=cols < n, other=0.0) * part
        packed += GROUP // 2 * n
        x += GROUP
    tl.store(y + rows * n + cols, total, mask=(rows < m) & (cols < n))


@jit
def unpack(both, shift, scale):
    return ((both.to(tl.int32) >> shift & 0xF) - 8).to(tl.float32) * scale


@jit
def quantised_weights_first(
    x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    rows = tl.minimum(tl.program_id(0) * BM + tl.arange(0, BM), m - 1)[:, None]
    cols = tl.minimum(tl.program_id(1) * BN + tl.arange(0, BN), n - 1)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, GROUP):
        pairs = start // 2 + tl.arange(0, GROUP // 2)
        both = tl.load(packed + pairs[:, None] * n + cols)
        scale = tl.load(scales + start // GROUP * n + cols)
        even = x + rows * k + pairs[None, :] * 2
        total = tl.dot(tl.load(even), unpack(both, 0, scale), total)
        total = tl.dot(tl.load(even + 1), unpack(both, 4, scale), total)
    tl.store(y + rows * n + cols, total)


@jit
def quantised_transposed(
    x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[None, :]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[:, None]
    total = tl.zeros((BN, BM), tl.float32)
    for group in reversed(range(k // GROUP)):
        pairs = group * GROUP // 2 + tl.arange(0, GROUP // 2)
        both = tl.load(packed + pairs[None, :] * n + cols, mask=cols < n, other=136)
        high = both >> 4
        low = both - (high << 4)
        at = x + rows * k + 2 * pairs[:, None]
        part = tl.dot(high.to(tl.float32) - 8, tl.load(at + 1, mask=rows < m, other=0.0))
        part = tl.dot(low.to(tl.float32) - 8, tl.load(at, mask=rows < m, other=0.0), part)
        total += part * tl.load(scales + group * n + cols, mask=cols < n, other=0.0)
    tl.store(y + rows * n + cols, total, mask=(rows < m) & (cols < n))


RIGHT = {
    "18.add": [add_clamped, add_strided, add_moved_pointers],
    "18.softmax": [softmax_exp2, softmax_logarithm, softmax_two_axes],
    "18.online": [online_backwards, online_by_lanes, online_logarithm],
    "18.norm": [norm_sum_in_half, norm_helper, norm_scaled],
    "18.product": [product_moved_pointers, product_transposed, product_backwards],
    "18.tile": [tile_root, tile_downwards, tile_programs],
    "18.linear": [linear_rows_of_weights, linear_bias_first, linear_transposed],
    "18.attention": [attention_exp2, attention_always_divided, attention_backwards],
    "18.causal": [causal_diagonal_first, causal_exp2, causal_zeroed],
    "18.paged": [paged_exp2, paged_by_slots, paged_transposed],
    "18.quantised": [quantised_zero_point_apart, quantised_weights_first, quantised_transposed],
}
