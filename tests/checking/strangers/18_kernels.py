# %% 18.add | wrong | `there = at <= n` in place of `there = at < n`
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at <= n
    total = a * tl.load(x + at, mask=there) + tl.load(y + at, mask=there)
    tl.store(out + at, total, mask=there)


# %% 18.softmax | right | `a = tl.load(x + row * n + cols, mask=there, other=-1000000000.0) / tau` in place of `a = tl.load(x + row * n + cols, mask=there, other=-float('inf')) / tau`
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    tau = 2.0
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    there = cols < n
    a = tl.load(x + row * n + cols, mask=there, other=-1e9) / tau
    e = tl.exp(a - tl.max(a, 0))
    tl.store(y + row * n + cols, e / tl.sum(e, 0), mask=there)


# %% 18.softmax | wrong | has `a = tl.load(x + row * n + cols, mask=there, other=0.0) / tau e = tl.exp(a - tl.max(tl.abs(a), 0))`
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    tau = 2.0
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    there = cols < n
    a = tl.load(x + row * n + cols, mask=there, other=0.0) / tau
    e = tl.exp(a - tl.max(tl.abs(a), 0))
    tl.store(y + row * n + cols, e / tl.sum(e, 0), mask=there)


# %% 18.softmax | wrong | the temperature has no effect | names=temperature-forgotten
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    tau = 2.0
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    there = cols < n
    a = tl.load(x + row * n + cols, mask=there, other=-float("inf"))
    e = tl.exp(a - tl.max(a, 0)) / tau
    tl.store(y + row * n + cols, e / tl.sum(e, 0), mask=there)


# %% 18.norm | wrong | leaves out `tl.store(total + at, a, mask=there)`
@jit
def add_norm(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    there = cols < n
    at = tl.program_id(0) * n + cols
    a = tl.load(x + at, mask=there, other=0.0).to(tl.float32)
    a = a + tl.load(residual + at, mask=there, other=0.0).to(tl.float32)
    square = tl.sum(a * a, 0) / n
    weight = tl.load(w + cols, mask=there, other=0.0).to(tl.float32)
    tl.store(y + at, a * tl.rsqrt(square + eps) * weight, mask=there)


# %% 18.tile | wrong | the products are divided by the tile, as if a part of a tile read a part of a matrix | names=fractions-of-tiles
def largest_tile(m, n, k, number_bytes, chip_bytes):
    stages = 1
    tile = 1
    while (2 * tile) ** 2 * (2 * stages * number_bytes + 4) <= chip_bytes:
        tile *= 2
    numbers = m * k * n // tile + k * n * m // tile
    return tile, numbers * number_bytes


# %% 18.attention | wrong | adds `B = 16`
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    B = 16
    rows = tl.program_id(0) * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    at = rows[:, None] * H + wide[None, :]
    q_tile = tl.load(q + at, mask=rows[:, None] < T, other=0.0)
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, S, B):
        cols = start + tl.arange(0, B)
        k_at = cols[None, :] * H + wide[:, None]
        v_at = cols[:, None] * H + wide[None, :]
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


# %% 18.attention | wrong | the scores are divided by the root of `H`, whatever `scale` is | names=scale-of-width
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    scale = 1 / H**0.5
    rows = tl.program_id(0) * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    at = rows[:, None] * H + wide[None, :]
    q_tile = tl.load(q + at, mask=rows[:, None] < T, other=0.0)
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, S, B):
        cols = start + tl.arange(0, B)
        k_at = cols[None, :] * H + wide[:, None]
        v_at = cols[:, None] * H + wide[None, :]
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


# %% 18.causal | wrong | adds `B = 16`
@jit
def causal_attention(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0)
    B = 16
    rows = i * B + tl.arange(0, B)
    wide = tl.arange(0, H)
    at = rows[:, None] * H + wide[None, :]
    q_tile = tl.load(q + at, mask=rows[:, None] < T, other=0.0)
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for j in range(0, i + 1):
        cols = j * B + tl.arange(0, B)
        k_at = cols[None, :] * H + wide[:, None]
        v_at = cols[:, None] * H + wide[None, :]
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


# %% 18.causal | wrong | leaves out `top = new`
@jit
def causal_attention(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
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
        k_at = cols[None, :] * H + wide[:, None]
        v_at = cols[:, None] * H + wide[None, :]
        k_tile = tl.load(k + k_at, mask=cols[None, :] < T, other=0.0)
        scores = tl.where(rows[:, None] >= cols[None, :], scale * tl.dot(q_tile, k_tile), -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        fade = tl.exp(top - new)
        weights = tl.exp(scores - new[:, None])
        v_tile = tl.load(v + v_at, mask=cols[:, None] < T, other=0.0)
        total = total * fade + tl.sum(weights, 1)
        out = out * fade[:, None] + tl.dot(weights, v_tile)
    tl.store(o + at, out / total[:, None], mask=rows[:, None] < T)


# %% 18.paged | wrong | has `total = total + tl.sum(weights, 0) out = out + tl.sum(weights[:, None] * v_tile, 0)`
@jit
def paged_attention(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):
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
        k_at = slots[:, None] * H + wide[None, :]
        v_at = slots[:, None] * H + wide[None, :]
        k_tile = tl.load(k_pages + page + k_at, mask=there[:, None], other=0.0)
        scores = tl.sum(k_tile * q_row[None, :], 1) * scale
        scores = tl.where(there, scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 0))
        fade = tl.exp(top - new)
        weights = tl.exp(scores - new)
        v_tile = tl.load(v_pages + page + v_at, mask=there[:, None], other=0.0)
        total = total + tl.sum(weights, 0)
        out = out + tl.sum(weights[:, None] * v_tile, 0)
        top = new
    tl.store(o + b * H + wide, out / total)


# %% 18.paged | wrong | the scores are divided by the root of `H`, whatever `scale` is | names=scale-of-width
@jit
def paged_attention(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):
    b = tl.program_id(0)
    scale = 1 / H**0.5
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
        k_at = slots[:, None] * H + wide[None, :]
        v_at = slots[:, None] * H + wide[None, :]
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


# %% 18.quantised | wrong | the upper four bits are masked, and not moved down | names=high-bits-not-shifted
@jit
def quantised_product(x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    zero = 8.0
    total = tl.zeros((BM, BN), tl.float32)
    for group in range(0, k // GROUP):
        pairs = group * (GROUP // 2) + tl.arange(0, GROUP // 2)
        both = tl.load(packed + pairs[:, None] * n + cols, mask=cols < n, other=0)
        even = both & 15
        odd = both & 0xF0
        at = x + rows * k + 2 * pairs[None, :]
        part = tl.dot(tl.load(at, mask=rows < m, other=0.0), even.to(tl.float32) - zero)
        part += tl.dot(tl.load(at + 1, mask=rows < m, other=0.0), odd.to(tl.float32) - zero)
        total += part * tl.load(scales + group * n + cols, mask=cols < n, other=0.0)
    tl.store(y + rows * n + cols, total, mask=(rows < m) & (cols < n))
