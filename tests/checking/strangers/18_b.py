# %% 18.paged | right | each place of a page keeps a maximum, a sum and values of its own; they are joined once, after the loop
@jit
def paged_attention(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):
    b = tl.program_id(0)
    h = tl.arange(0, H)[None, :]
    lane = tl.arange(0, M)
    query = tl.load(q + b * H + h) * scale
    length = tl.load(lengths + b)
    low = -3.0e38
    m = tl.full((M,), low, tl.float32)
    total = tl.zeros((M,), tl.float32)
    out = tl.zeros((M, H), tl.float32)
    for i in range(0, MOST):
        ok = lane < length - i * M
        page = tl.load(table + b * MOST + i)
        at = (page * M + lane)[:, None] * H + h
        score = tl.sum(tl.load(k_pages + at, mask=ok[:, None], other=0.0) * query, 1)
        new = tl.where(ok, tl.maximum(m, score), m)
        keep = tl.exp(m - new)
        p = tl.where(ok, tl.exp(score - new), 0.0)
        total = total * keep + p
        out = out * keep[:, None] + p[:, None] * tl.load(v_pages + at, mask=ok[:, None], other=0.0)
        m = new
    part = tl.exp(m - tl.max(m, 0))
    out = tl.sum(out * part[:, None], 0) / tl.sum(total * part, 0)
    tl.store(o + b * H + tl.arange(0, H), out)


# %% 18.product | wrong | the sum is kept in float16 and widened at the end | names=sum-rounded
@jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), tl.float16)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        s = tl.load(a + rows * k + inner[None, :], mask=(rows < m) & (inner[None, :] < k), other=0.0)
        t = tl.load(b + inner[:, None] * n + cols, mask=(inner[:, None] < k) & (cols < n), other=0.0)
        total = (total + tl.dot(s, t)).to(tl.float16)
    tl.store(c + rows * n + cols, total.to(tl.float32), mask=(rows < m) & (cols < n))


# %% 18.product | wrong | rows of a are taken to be n numbers apart, as in c: right for square matrices only | names=rows-as-in-result
@jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        s = tl.load(a + rows * n + inner[None, :], mask=(rows < m) & (inner[None, :] < k), other=0.0)
        t = tl.load(b + inner[:, None] * n + cols, mask=(inner[:, None] < k) & (cols < n), other=0.0)
        total += tl.dot(s, t)
    tl.store(c + rows * n + cols, total, mask=(rows < m) & (cols < n))


# %% 18.product | wrong | AIMED: only whole steps along k are taken, what is left of k behind the last whole BK is lost | names=last-step-missing
@jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, k // BK):
        inner = step * BK + tl.arange(0, BK)
        s = tl.load(a + rows * k + inner[None, :], mask=rows < m, other=0.0)
        t = tl.load(b + inner[:, None] * n + cols, mask=cols < n, other=0.0)
        total += tl.dot(s, t)
    tl.store(c + rows * n + cols, total, mask=(rows < m) & (cols < n))


# %% 18.product | right | computes the transposed tile, b.T @ a.T, from tiles that are loaded transposed, and stores it transposed
@jit
def product(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM))[None, :]
    j = (tl.program_id(1) * BN + tl.arange(0, BN))[:, None]
    flipped = tl.zeros((BN, BM), tl.float32)
    for start in range(0, k, BK):
        p = start + tl.arange(0, BK)
        right = tl.load(b + p[None, :] * n + j, mask=(j < n) & (p[None, :] < k), other=0.0)
        left = tl.load(a + i * k + p[:, None], mask=(i < m) & (p[:, None] < k), other=0.0)
        flipped += tl.dot(right, left)
    tl.store(c + i * n + j, flipped, mask=(i < m) & (j < n))


# %% 18.quantised | wrong | the halves of a byte are exchanged, high bits for the even rows | names=halves-swapped
@jit
def quantised_product(x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    half = tl.arange(0, GROUP // 2)
    total = tl.zeros((BM, BN), tl.float32)
    for g in range(0, k // GROUP):
        pair = g * (GROUP // 2) + half
        bytes_ = tl.load(packed + pair[:, None] * n + cols, mask=cols < n, other=0)
        even = (bytes_ >> 4).to(tl.float32) - 8.0
        odd = (bytes_ & 15).to(tl.float32) - 8.0
        x0 = tl.load(x + rows * k + 2 * pair[None, :], mask=rows < m, other=0.0)
        x1 = tl.load(x + rows * k + 2 * pair[None, :] + 1, mask=rows < m, other=0.0)
        s = tl.load(scales + g * n + cols, mask=cols < n, other=0.0)
        total += (tl.dot(x0, even) + tl.dot(x1, odd)) * s
    tl.store(y + rows * n + cols, total, mask=(rows < m) & (cols < n))


# %% 18.quantised | wrong | AIMED: one row of scales for everything (that of the first group), right only where k = GROUP | names=first-scale-alone
@jit
def quantised_product(x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    half = tl.arange(0, GROUP // 2)
    s = tl.load(scales + cols, mask=cols < n, other=0.0)
    total = tl.zeros((BM, BN), tl.float32)
    for g in range(0, k // GROUP):
        pair = g * (GROUP // 2) + half
        bytes_ = tl.load(packed + pair[:, None] * n + cols, mask=cols < n, other=0)
        even = (bytes_ & 15).to(tl.float32) - 8.0
        odd = (bytes_ >> 4).to(tl.float32) - 8.0
        x0 = tl.load(x + rows * k + 2 * pair[None, :], mask=rows < m, other=0.0)
        x1 = tl.load(x + rows * k + 2 * pair[None, :] + 1, mask=rows < m, other=0.0)
        total += tl.dot(x0, even) + tl.dot(x1, odd)
    tl.store(y + rows * n + cols, total * s, mask=(rows < m) & (cols < n))


# %% 18.quantised | right | multiplies with the numbers 0 to 15 and takes 8 times the sum of the row's x off each group's product
@jit
def quantised_product(x, packed, scales, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, GROUP):
        pair = first // 2 + tl.arange(0, GROUP // 2)
        both = tl.load(packed + pair[:, None] * n + cols, mask=cols < n, other=0).to(tl.int32)
        high = both // 16
        low = both - 16 * high
        x0 = tl.load(x + rows * k + 2 * pair[None, :], mask=rows < m, other=0.0)
        x1 = tl.load(x + rows * k + 2 * pair[None, :] + 1, mask=rows < m, other=0.0)
        part = tl.dot(x0, low.to(tl.float32)) + tl.dot(x1, high.to(tl.float32))
        part -= 8.0 * tl.sum(x0 + x1, 1)[:, None]
        total += part * tl.load(scales + (first // GROUP) * n + cols, mask=cols < n, other=0.0)
    tl.store(y + rows * n + cols, total, mask=(rows < m) & (cols < n))


# %% 18.softmax | wrong | the plain softmax out of habit, tau is forgotten | names=temperature-forgotten
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    ok = cols < n
    t = tl.load(x + row * n + cols, mask=ok, other=-float("inf"))
    e = tl.exp(t - tl.max(t, 0))
    tl.store(y + row * n + cols, e / tl.sum(e, 0), mask=ok)


# %% 18.softmax | wrong | AIMED: masked entries are 0 in the maximum (but left out of the sum): rows whose numbers are all below about -250, with n < BLOCK, give 0 / 0 | names=masked-after-maximum
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    ok = cols < n
    t = tl.load(x + row * n + cols, mask=ok, other=0.0) / 2.0
    e = tl.where(ok, tl.exp(t - tl.max(t, 0)), 0.0)
    tl.store(y + row * n + cols, e / tl.sum(e, 0), mask=ok)


# %% 18.softmax | right | in log space: subtracts the log of the sum, and exponentiates once more
@jit
def softmax_rows(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    base = tl.program_id(0) * n
    z = tl.load(x + base + at, mask=at < n, other=-float("inf"))
    z = (z - tl.max(z, 0)) * 0.5
    log_sum = tl.log(tl.sum(tl.exp(z), 0))
    tl.store(y + base + at, tl.exp(z - log_sum), mask=at < n)


# %% 18.tile | wrong | AIMED: asks for strictly less than the chip, wrong where the tiles fill it exactly (64 bytes of each kind, e.g. number_bytes 2, chip_bytes 8 * 16 * 16) | names=must-leave-room
def largest_tile(m, n, k, number_bytes, chip_bytes):
    per_entry = 2 * number_bytes + 4
    tile = 1
    while per_entry * (2 * tile) ** 2 < chip_bytes:
        tile *= 2
    return tile, number_bytes * (m * k * cdiv(n, tile) + k * n * cdiv(m, tile))


# %% 18.tile | wrong | tiles at the edge counted as fractions (n / tile), not rounded up | names=fractions-of-bytes
def largest_tile(m, n, k, number_bytes, chip_bytes):
    tile = 1
    while (2 * number_bytes + 4) * (2 * tile) ** 2 <= chip_bytes:
        tile *= 2
    return tile, int(number_bytes * (m * k * n / tile + k * n * m / tile))


# %% 18.tile | right | by the integer root and its bit length; bytes of a program's strips, with edges clipped, summed up
def largest_tile(m, n, k, number_bytes, chip_bytes):
    import math

    side = math.isqrt(chip_bytes // (2 * number_bytes + 4))
    tile = 1 << (side.bit_length() - 1)
    across, down = len(range(0, n, tile)), len(range(0, m, tile))
    of_a = sum(min(tile, m - i) * k for i in range(0, m, tile)) * across
    of_b = sum(min(tile, n - j) * k for j in range(0, n, tile)) * down
    return tile, (of_a + of_b) * number_bytes
