"""Chapter 18: right answers on attention and small weights written otherwise."""

from softlookup.tiles import jit, tl

LOG2_E = tl.constexpr(1.4426950408889634)


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


ATTENTION_AND_WEIGHTS = {
    "18.attention": [attention_always_divided, attention_backwards],
    "18.causal": [causal_exp2, causal_zeroed],
    "18.paged": [paged_exp2, paged_transposed],
    "18.quantised": [quantised_weights_first, quantised_transposed],
}
