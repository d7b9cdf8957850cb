"""Chapter 18: right answers written otherwise: other orders, other masks, transposed tiles, moved pointers."""

import math

from right_answers_kernels import ATTENTION_AND_WEIGHTS
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
def softmax_logarithm(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    is_inside = tl.arange(0, BLOCK) < n
    a = tl.where(is_inside, tl.load(x + at, mask=is_inside) * 0.5, -float("inf"))
    top = tl.max(a, 0)
    tl.store(y + at, tl.exp(a - (top + tl.log(tl.sum(tl.exp(a - top), 0)))), mask=is_inside)


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
    for step in range(tl.cdiv(k, BK) - 1, -1, -1):
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
def gate(z):
    return 1 / (1 + tl.exp2(-1.702 * LOG2_E * z))


@jit
def linear_transposed(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[None, :]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[:, None]
    total = tl.zeros((BN, BM), tl.float32)
    for step in tl.range(tl.cdiv(k, BK), num_stages=2):
        at = step * BK + tl.arange(0, BK)
        w_tile = tl.load(w + cols * k + at[None, :], mask=(cols < n) & (at[None, :] < k), other=0.0)
        x_tile = tl.load(x + rows * k + at[:, None], mask=(rows < m) & (at[:, None] < k), other=0.0)
        total += tl.dot(w_tile, x_tile)
    total += tl.load(bias + cols, mask=cols < n, other=0.0)
    tl.store(y + rows * n + cols, total * gate(total), mask=(rows < m) & (cols < n))


RIGHT = ATTENTION_AND_WEIGHTS | {
    "18.add": [add_clamped, add_strided],
    "18.softmax": [softmax_exp2, softmax_logarithm],
    "18.online": [online_backwards],
    "18.norm": [norm_sum_in_half, norm_helper],
    "18.product": [product_transposed, product_backwards],
    "18.tile": [tile_root, tile_downwards],
    "18.linear": [linear_rows_of_weights, linear_transposed],
}
