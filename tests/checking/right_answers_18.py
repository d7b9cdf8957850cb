"""Chapter 18: right answers written otherwise: other orders, other masks, transposed tiles, moved pointers."""

import math

from softlookup.tiles import jit, tl

LOG2_E = tl.constexpr(1.4426950408889634)


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
def softmax_exp2(x, y, n, BLOCK: tl.constexpr):
    x += tl.program_id(0) * n
    y += tl.program_id(0) * n
    cols = tl.arange(0, BLOCK)
    a = tl.load(x + cols, mask=cols < n, other=-math.inf) * (LOG2_E / 2.0)
    e = tl.exp2(a - tl.max(a, axis=0))
    tl.store(y + cols, e * (1.0 / tl.sum(e, axis=0)), mask=cols < n)


@jit
def online_backwards(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top, total = -1e30, 0.0
    for tile in range(tl.cdiv(n, BLOCK) - 1, -1, -1):
        cols = tile * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(x + row * n + cols, mask=cols < n, other=-float("inf"))
        before = top
        top = tl.maximum(tl.max(a, 0), before)
        total *= tl.exp(before - top)
        total += tl.sum(tl.exp(a - top), 0)
    inverse = 1 / total
    for tile in tl.range(0, tl.cdiv(n, BLOCK)):
        cols = tile * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(x + row * n + cols, mask=cols < n)
        tl.store(y + row * n + cols, tl.exp(a - top) * inverse, mask=cols < n)


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
def product_backwards(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.expand_dims(tl.minimum(tl.program_id(0) * BM + tl.arange(0, BM), m - 1), 1)
    cols = tl.expand_dims(tl.minimum(tl.program_id(1) * BN + tl.arange(0, BN), n - 1), 0)
    total = tl.full((BM, BN), 0.0, tl.float32)
    for step in range(tl.cdiv(k, BK) - 1, -1, -1):
        at = step * BK + tl.arange(0, BK)
        a_tile = tl.load(a + rows * k + at[None, :], mask=at[None, :] < k, other=0.0)
        b_tile = tl.load(b + tl.minimum(at, k - 1)[:, None] * n + cols)
        total += tl.dot(a_tile, b_tile)
    # Several rows of the last tile may be the last row: all hold the same.
    tl.store(c + rows * n + cols, total)


def tile_downwards(m, n, k, number_bytes, chip_bytes):
    tile = 1 << 40
    while 2 * tile * tile * number_bytes + 4 * tile * tile > chip_bytes:
        tile >>= 1
    read = sum(m * k for _ in range(0, n, tile)) + sum(k * n for _ in range(0, m, tile))
    return tile, read * number_bytes


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
    for tile in range(tl.cdiv(S, B) - 1, -1, -1):
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
    for group in range(k // GROUP - 1, -1, -1):
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
    "18.attention": [attention_always_divided, attention_backwards],
    "18.causal": [causal_zeroed],
    "18.paged": [paged_transposed],
    "18.quantised": [quantised_weights_first, quantised_transposed],
    "18.add": [add_clamped, add_strided],
    "18.softmax": [softmax_exp2],
    "18.online": [online_backwards],
    "18.norm": [norm_sum_in_half, norm_helper],
    "18.product": [product_backwards],
    "18.tile": [tile_downwards],
    "18.linear": [linear_rows_of_weights],
}
