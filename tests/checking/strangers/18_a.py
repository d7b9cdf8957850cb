# %% 18.add | wrong | a last block that is not full is skipped altogether (mask asks whether the whole block fits) | names=part-tile-skipped
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    at = start + tl.arange(0, BLOCK)
    there = (at < n) & (start + BLOCK <= n)
    s = a * tl.load(x + at, mask=there) + tl.load(y + at, mask=there)
    tl.store(out + at, s, mask=there)


# %% 18.add | right | moves the pointers to the program's place first, and masks by how many numbers are left there
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    lane = tl.arange(0, BLOCK)
    ok = lane < n - start
    total = tl.load(y + start + lane, mask=ok, other=0.0)
    total += tl.load(x + start + lane, mask=ok, other=0.0) * a
    tl.store(out + start + lane, total, mask=ok)


# %% 18.add | wrong | AIMED: the scale is made a whole number (as an index would be), wrong for a = 0.5 or -1.5 | names=factor-rounded
@jit
def scaled_add(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < n
    s = tl.cast(a, tl.int32) * tl.load(x + at, mask=there) + tl.load(y + at, mask=there)
    tl.store(out + at, s, mask=there)


# %% 18.attention | wrong | rescales the sum, but not the weighted values, when a maximum grows | names=output-not-rescaled
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.arange(0, H)
    queries = tl.load(q + t[:, None] * H + h[None, :], mask=t[:, None] < T, other=0.0)
    m = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, S, B):
        s = start + tl.arange(0, B)
        keys = tl.load(k + s[:, None] * H + h[None, :], mask=s[:, None] < S, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        scores = tl.where(s[None, :] < S, scores, -float("inf"))
        new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        total = total * tl.exp(m - new) + tl.sum(p, 1)
        values = tl.load(v + s[:, None] * H + h[None, :], mask=s[:, None] < S, other=0.0)
        out += tl.dot(p, values)
        m = new
    tl.store(o + t[:, None] * H + h[None, :], out / total[:, None], mask=t[:, None] < T)


# %% 18.attention | wrong | AIMED: scale is ignored, 1 / sqrt(H) is computed instead (right for the usual scale) | names=scale-of-width
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.arange(0, H)
    queries = tl.load(q + t[:, None] * H + h[None, :], mask=t[:, None] < T, other=0.0)
    m = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, S, B):
        s = start + tl.arange(0, B)
        keys = tl.load(k + s[:, None] * H + h[None, :], mask=s[:, None] < S, other=0.0)
        values = tl.load(v + s[:, None] * H + h[None, :], mask=s[:, None] < S, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * (1.0 / H**0.5)
        scores = tl.where(s[None, :] < S, scores, -float("inf"))
        new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        old = tl.exp(m - new)
        total = total * old + tl.sum(p, 1)
        out = out * old[:, None] + tl.dot(p, values)
        m = new
    tl.store(o + t[:, None] * H + h[None, :], out / total[:, None], mask=t[:, None] < T)


# %% 18.attention | wrong | AIMED: maxima start at 0, so a query whose scores are all below about -100 gets 0 / 0 | names=maximum-from-zero
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.arange(0, H)
    queries = tl.load(q + t[:, None] * H + h[None, :], mask=t[:, None] < T, other=0.0)
    m = tl.zeros((B,), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, S, B):
        s = start + tl.arange(0, B)
        keys = tl.load(k + s[:, None] * H + h[None, :], mask=s[:, None] < S, other=0.0)
        values = tl.load(v + s[:, None] * H + h[None, :], mask=s[:, None] < S, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        scores = tl.where(s[None, :] < S, scores, -float("inf"))
        new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        old = tl.exp(m - new)
        total = total * old + tl.sum(p, 1)
        out = out * old[:, None] + tl.dot(p, values)
        m = new
    tl.store(o + t[:, None] * H + h[None, :], out / total[:, None], mask=t[:, None] < T)


# %% 18.attention | right | everything transposed (keys down, queries across), powers of 2, the scale inside the queries
@jit
def attention(q, k, v, o, scale, T, S, H: tl.constexpr, B: tl.constexpr):
    t = (tl.program_id(0) * B + tl.arange(0, B))[None, :]
    h = tl.arange(0, H)
    queries = tl.load(q + t * H + h[:, None], mask=t < T, other=0.0) * (scale * 1.4426950408889634)
    m = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((H, B), tl.float32)
    for start in range(0, S, B):
        s = start + tl.arange(0, B)
        keys = tl.load(k + s[:, None] * H + h[None, :], mask=s[:, None] < S, other=0.0)
        scores = tl.where(s[:, None] < S, tl.dot(keys, queries), -float("inf"))
        new = tl.maximum(m, tl.max(scores, 0))
        factor = tl.exp2(m - new)
        p = tl.exp2(scores - new[None, :])
        total = total * factor + tl.sum(p, 0)
        values = tl.load(v + s[None, :] * H + h[:, None], mask=s[None, :] < S, other=0.0)
        out = out * factor[None, :] + tl.dot(values, p)
        m = new
    tl.store(o + t * H + h[:, None], out / total[None, :], mask=t < T)


# %% 18.causal | wrong | goes through all tiles and masks them: values right, but reads the keys and values above the diagonal | names=all-blocks-read
@jit
def causal_attention(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    t = tl.program_id(0) * B + tl.arange(0, B)
    h = tl.arange(0, H)
    queries = tl.load(q + t[:, None] * H + h[None, :], mask=t[:, None] < T, other=0.0)
    m = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for start in range(0, T, B):
        s = start + tl.arange(0, B)
        keys = tl.load(k + s[:, None] * H + h[None, :], mask=s[:, None] < T, other=0.0)
        values = tl.load(v + s[:, None] * H + h[None, :], mask=s[:, None] < T, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        scores = tl.where(s[None, :] <= t[:, None], scores, -float("inf"))
        new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        old = tl.exp(m - new)
        total = total * old + tl.sum(p, 1)
        out = out * old[:, None] + tl.dot(p, values)
        m = new
    tl.store(o + t[:, None] * H + h[None, :], out / total[:, None], mask=t[:, None] < T)


# %% 18.causal | wrong | the triangle of places inside a tile is laid over every tile, not over the diagonal one alone: wrong for T > B | names=mask-within-tiles
@jit
def causal_attention(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    t = pid * B + lane
    h = tl.arange(0, H)
    queries = tl.load(q + t[:, None] * H + h[None, :], mask=t[:, None] < T, other=0.0)
    m = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, H), tl.float32)
    for j in range(0, pid + 1):
        s = j * B + lane
        keys = tl.load(k + s[:, None] * H + h[None, :], mask=s[:, None] < T, other=0.0)
        values = tl.load(v + s[:, None] * H + h[None, :], mask=s[:, None] < T, other=0.0)
        scores = tl.dot(queries, tl.trans(keys)) * scale
        scores = tl.where(lane[None, :] <= lane[:, None], scores, -float("inf"))
        new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        old = tl.exp(m - new)
        total = total * old + tl.sum(p, 1)
        out = out * old[:, None] + tl.dot(p, values)
        m = new
    tl.store(o + t[:, None] * H + h[None, :], out / total[:, None], mask=t[:, None] < T)


# %% 18.causal | right | begins with the diagonal tile, where the maximum is found at once, then goes back to the first tile, without a mask there
@jit
def causal_attention(q, k, v, o, scale, T, H: tl.constexpr, B: tl.constexpr):
    pid = tl.program_id(0)
    lane = tl.arange(0, B)
    h = tl.arange(0, H)[None, :]
    t = (pid * B + lane)[:, None]
    queries = tl.load(q + t * H + h, mask=t < T, other=0.0) * scale
    keys = tl.load(k + t * H + h, mask=t < T, other=0.0)
    scores = tl.where(lane[None, :] <= lane[:, None], tl.dot(queries, tl.trans(keys)), -float("inf"))
    m = tl.max(scores, 1)
    p = tl.exp(scores - m[:, None])
    total = tl.sum(p, 1)
    out = tl.dot(p, tl.load(v + t * H + h, mask=t < T, other=0.0))
    for back in range(1, pid + 1):
        s = ((pid - back) * B + lane)[:, None]
        scores = tl.dot(queries, tl.trans(tl.load(k + s * H + h)))
        new = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        old = tl.exp(m - new)
        total = total * old + tl.sum(p, 1)
        out = out * old[:, None] + tl.dot(p, tl.load(v + s * H + h))
        m = new
    tl.store(o + t * H + h, out / total[:, None], mask=t < T)


# %% 18.linear | wrong | the ordinary SiLU, beta is taken as 1 | names=beta-forgotten
@jit
def linear_activated(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    z = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        s = tl.load(x + rows[:, None] * k + inner[None, :], mask=(rows[:, None] < m) & (inner[None, :] < k), other=0.0)
        t = tl.load(w + cols[:, None] * k + inner[None, :], mask=(cols[:, None] < n) & (inner[None, :] < k), other=0.0)
        z += tl.dot(s, tl.trans(t))
    z += tl.load(bias + cols, mask=cols < n, other=0.0)[None, :]
    tl.store(y + rows[:, None] * n + cols[None, :], z * tl.sigmoid(z), mask=(rows[:, None] < m) & (cols[None, :] < n))


# %% 18.linear | wrong | AIMED: the bias is added in every step along k, right only where k <= BK | names=bias-in-every-step
@jit
def linear_activated(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    shift = tl.load(bias + cols, mask=cols < n, other=0.0)
    z = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        s = tl.load(x + rows * k + inner[None, :], mask=(rows < m) & (inner[None, :] < k), other=0.0)
        t = tl.load(w + cols * k + inner[:, None], mask=(inner[:, None] < k) & (cols < n), other=0.0)
        z += tl.dot(s, t) + shift
    tl.store(y + rows * n + cols, z * tl.sigmoid(1.702 * z), mask=(rows < m) & (cols < n))


# %% 18.linear | wrong | AIMED: sigmoid as e / (1 + e) with e = exp(beta * z), which is inf / inf for z above about 52 | names=infinity-by-infinity
@jit
def linear_activated(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    z = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        s = tl.load(x + rows * k + inner[None, :], mask=(rows < m) & (inner[None, :] < k), other=0.0)
        t = tl.load(w + cols * k + inner[:, None], mask=(inner[:, None] < k) & (cols < n), other=0.0)
        z += tl.dot(s, t)
    z += tl.load(bias + cols, mask=cols < n, other=0.0)
    e = tl.exp(1.702 * z)
    tl.store(y + rows * n + cols, z * e / (1.0 + e), mask=(rows < m) & (cols < n))


# %% 18.linear | right | the sums start at the bias; w's tile is loaded as (BK, BN) by its pointers; sigmoid from the exponential of minus an absolute value
@jit
def linear_activated(x, w, bias, y, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM))[:, None]
    cols = (tl.program_id(1) * BN + tl.arange(0, BN))[None, :]
    z = tl.zeros((BM, BN), tl.float32) + tl.load(bias + cols, mask=cols < n, other=0.0)
    for start in range(0, k, BK):
        inner = start + tl.arange(0, BK)
        s = tl.load(x + rows * k + inner[None, :], mask=(rows < m) & (inner[None, :] < k), other=0.0)
        t = tl.load(w + inner[:, None] + cols * k, mask=(inner[:, None] < k) & (cols < n), other=0.0)
        z += tl.dot(s, t)
    e = tl.exp(-tl.abs(1.702 * z))
    gate = tl.where(z >= 0.0, 1.0, e) / (1.0 + e)
    tl.store(y + rows * n + cols, z * gate, mask=(rows < m) & (cols < n))


# %% 18.norm | wrong | converts to float32 only after the squares: squares of a few hundred become inf in float16 | names=squares-in-half-precision
@jit
def add_norm(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    ok = cols < n
    at = tl.program_id(0) * n + cols
    t = tl.load(x + at, mask=ok, other=0.0) + tl.load(residual + at, mask=ok, other=0.0)
    tl.store(total + at, t, mask=ok)
    mean = tl.sum((t * t).to(tl.float32), 0) / n
    g = tl.load(w + cols, mask=ok, other=0.0).to(tl.float32)
    tl.store(y + at, t.to(tl.float32) / tl.sqrt(mean + eps) * g, mask=ok)


# %% 18.norm | wrong | AIMED: the mean square is divided by BLOCK, wrong only where n < BLOCK | names=mean-over-tile
@jit
def add_norm(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    ok = cols < n
    at = tl.program_id(0) * n + cols
    t = tl.load(x + at, mask=ok, other=0.0).to(tl.float32) + tl.load(residual + at, mask=ok, other=0.0).to(tl.float32)
    tl.store(total + at, t.to(tl.float16), mask=ok)
    r = tl.rsqrt(tl.sum(t * t, 0) / BLOCK + eps)
    g = tl.load(w + cols, mask=ok, other=0.0).to(tl.float32)
    tl.store(y + at, (t * r * g).to(tl.float16), mask=ok)


# %% 18.norm | wrong | AIMED: eps is added to the root, not under it (seen where eps is large beside the mean square, or rows of nearly zeros) | names=eps-outside
@jit
def add_norm(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    ok = cols < n
    at = tl.program_id(0) * n + cols
    t = tl.load(x + at, mask=ok, other=0.0).to(tl.float32) + tl.load(residual + at, mask=ok, other=0.0).to(tl.float32)
    tl.store(total + at, t.to(tl.float16), mask=ok)
    rms = tl.sqrt(tl.sum(t * t, 0) / n) + eps
    g = tl.load(w + cols, mask=ok, other=0.0).to(tl.float32)
    tl.store(y + at, (t / rms * g).to(tl.float16), mask=ok)


# %% 18.norm | right | divides by the root of n first and sums those squares; root and quotient by exp and log; weights loaded first
@jit
def add_norm(x, residual, w, total, y, n, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    weight = tl.load(w + cols, mask=cols < n, other=0.0).to(tl.float32)
    t = tl.load(residual + row * n + cols, mask=cols < n, other=0.0).to(tl.float32)
    t += tl.load(x + row * n + cols, mask=cols < n, other=0.0).to(tl.float32)
    parts = t * t * (1.0 / n)
    inverse = tl.exp(-0.5 * tl.log(tl.sum(parts, 0) + eps))
    tl.store(y + row * n + cols, (weight * (t * inverse)).to(tl.float16), mask=cols < n)
    tl.store(total + row * n + cols, t.to(tl.float16), mask=cols < n)


# %% 18.online | wrong | rescales the sum with the factor upside down, exp(new - old) | names=rescaled-upside-down
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = tl.max(tl.load(x + row * n + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < n, other=-float("inf")), 0)
    s = m * 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        t = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
        new = tl.maximum(m, tl.max(t, 0))
        s = s * tl.exp(new - m) + tl.sum(tl.exp(t - new), 0)
        m = new
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        t = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
        tl.store(y + row * n + at, tl.exp(t - m) / s, mask=at < n)


# %% 18.online | wrong | AIMED: the maximum starts at 0 in place of minus infinity, so rows with all numbers below about -100 give 0 / 0 | names=maximum-from-zero
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = 0.0
    s = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        t = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
        new = tl.maximum(m, tl.max(t, 0))
        s = s * tl.exp(m - new) + tl.sum(tl.exp(t - new), 0)
        m = new
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        t = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
        tl.store(y + row * n + at, tl.exp(t - m) / s, mask=at < n)


# %% 18.online | right | keeps one number, the log of the sum of exponentials so far, and joins tiles by it
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    base = tl.program_id(0) * n
    lane = tl.arange(0, BLOCK)
    first = tl.load(x + base + lane, mask=lane < n, other=-float("inf"))
    top = tl.max(first, 0)
    lse = top + tl.log(tl.sum(tl.exp(first - top), 0))
    for start in range(BLOCK, n, BLOCK):
        t = tl.load(x + base + start + lane, mask=start + lane < n, other=-float("inf"))
        top = tl.maximum(lse, tl.max(t, 0))
        lse = top + tl.log(tl.exp(lse - top) + tl.sum(tl.exp(t - top), 0))
    for start in range(0, n, BLOCK):
        t = tl.load(x + base + start + lane, mask=start + lane < n, other=0.0)
        tl.store(y + base + start + lane, tl.exp(t - lse), mask=start + lane < n)


# %% 18.online | right | each of the BLOCK places keeps a maximum and a sum of its own, joined once between the two passes
@jit
def softmax_long(x, y, n, BLOCK: tl.constexpr):
    base = tl.program_id(0) * n
    lane = tl.arange(0, BLOCK)
    m = tl.full((BLOCK,), -3.0e38, tl.float32)
    s = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        t = tl.load(x + base + start + lane, mask=start + lane < n, other=-float("inf"))
        new = tl.maximum(m, t)
        s = s * tl.exp(m - new) + tl.exp(t - new)
        m = new
    top = tl.max(m, 0)
    total = tl.sum(s * tl.exp(m - top), 0)
    for start in range(0, n, BLOCK):
        t = tl.load(x + base + start + lane, mask=start + lane < n, other=0.0)
        tl.store(y + base + start + lane, tl.exp(t - top) / total, mask=start + lane < n)


# %% 18.paged | wrong | off by one, the token at lengths[b] itself still counts (<=) | names=token-too-many
@jit
def paged_attention(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):
    b = tl.program_id(0)
    h = tl.arange(0, H)
    query = tl.load(q + b * H + h)
    length = tl.load(lengths + b)
    m = tl.full((1,), -float("inf"), tl.float32)
    total = tl.zeros((1,), tl.float32)
    out = tl.zeros((H,), tl.float32)
    for i in range(0, MOST):
        lane = tl.arange(0, M)
        page = tl.load(table + b * MOST + i)
        ok = (i * M + lane <= length) & (page >= 0)
        at = (page * M + lane)[:, None] * H + h[None, :]
        keys = tl.load(k_pages + at, mask=ok[:, None], other=0.0)
        values = tl.load(v_pages + at, mask=ok[:, None], other=0.0)
        scores = tl.where(ok, tl.sum(keys * query[None, :], 1) * scale, -float("inf"))
        new = tl.maximum(m, tl.max(scores, 0))
        p = tl.exp(scores - new)
        total = total * tl.exp(m - new) + tl.sum(p, 0)
        out = out * tl.exp(m - new) + tl.sum(p[:, None] * values, 0)
        m = new
    tl.store(o + b * H + h, out / total)


# %% 18.paged | wrong | AIMED: values of places behind the end are not loaded, but their scores are 0 and count in the sum: wrong only where a length is below MOST * M | names=zeros-behind-the-end
@jit
def paged_attention(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):
    b = tl.program_id(0)
    h = tl.arange(0, H)
    query = tl.load(q + b * H + h)
    length = tl.load(lengths + b)
    m = tl.full((1,), -float("inf"), tl.float32)
    total = tl.zeros((1,), tl.float32)
    out = tl.zeros((H,), tl.float32)
    for i in range(0, MOST):
        lane = tl.arange(0, M)
        page = tl.load(table + b * MOST + i)
        ok = i * M + lane < length
        at = (page * M + lane)[:, None] * H + h[None, :]
        keys = tl.load(k_pages + at, mask=ok[:, None], other=0.0)
        values = tl.load(v_pages + at, mask=ok[:, None], other=0.0)
        scores = tl.sum(keys * query[None, :], 1) * scale
        new = tl.maximum(m, tl.max(scores, 0))
        p = tl.exp(scores - new)
        total = total * tl.exp(m - new) + tl.sum(p, 0)
        out = out * tl.exp(m - new) + tl.sum(p[:, None] * values, 0)
        m = new
    tl.store(o + b * H + h, out / total)


# %% 18.paged | wrong | AIMED: masks whole pages only (page >= 0): reads and counts places of the last page that hold no token of the sequence, right only where lengths are multiples of M | names=whole-pages-counted
@jit
def paged_attention(
    q, k_pages, v_pages, table, lengths, o, scale, MOST: tl.constexpr, M: tl.constexpr, H: tl.constexpr
):
    b = tl.program_id(0)
    h = tl.arange(0, H)
    query = tl.load(q + b * H + h)
    m = tl.full((1,), -float("inf"), tl.float32)
    total = tl.zeros((1,), tl.float32)
    out = tl.zeros((H,), tl.float32)
    for i in range(0, MOST):
        lane = tl.arange(0, M)
        page = tl.load(table + b * MOST + i)
        ok = (lane >= 0) & (page >= 0)
        at = (page * M + lane)[:, None] * H + h[None, :]
        keys = tl.load(k_pages + at, mask=ok[:, None], other=0.0)
        values = tl.load(v_pages + at, mask=ok[:, None], other=0.0)
        scores = tl.where(ok, tl.sum(keys * query[None, :], 1) * scale, -float("inf"))
        new = tl.maximum(m, tl.max(scores, 0))
        p = tl.exp(scores - new)
        total = total * tl.exp(m - new) + tl.sum(p, 0)
        out = out * tl.exp(m - new) + tl.sum(p[:, None] * values, 0)
        m = new
    tl.store(o + b * H + h, out / total)
