"""Kernels in the manner of Triton's tutorials, read twice: with the names of softlookup.tiles, and with Triton's.

``CASES`` gives what each is launched with: grid, arguments, and the positions of what it writes.
"""

import numpy as np

from softlookup.tiles import jit, tl


@jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(axis=0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    total = tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask)
    tl.store(out + at, total, mask=mask)


@jit
def scaled(x, y, out, a, n, BLOCK: tl.constexpr):
    """A number that is an argument is float32, and the sum with it too; one in the text is no wider than the tile."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    half = 0.1 * tl.load(y + at, mask=mask, other=0.0)
    tl.store(out + at, a * tl.load(x + at, mask=mask, other=0.0) + half, mask=mask)


@jit
def softmax(out, x, stride_in, stride_out, n_rows, n_cols, BLOCK: tl.constexpr):
    """Each program takes rows in turn."""
    step = tl.num_programs(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    for row in tl.range(tl.program_id(0), n_rows, step, num_stages=2):
        scores = tl.load(x + row * stride_in + cols, mask=mask, other=-float("inf"))
        numerator = tl.exp(scores - tl.max(scores, axis=0))
        tl.store(out + row * stride_out + cols, numerator / tl.sum(numerator, axis=0), mask=mask)


@jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@jit
def matmul(
    a, b, c, M, N, K, s_am, s_ak, s_bk, s_bn, s_cm, s_cn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr = "",
):  # fmt: skip
    pid = tl.program_id(axis=0)
    pids_m, pids_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    in_group = GROUP * pids_n
    first_m = pid // in_group * GROUP
    group_m = min(pids_m - first_m, GROUP)
    pid_m = first_m + ((pid % in_group) % group_m)
    pid_n = (pid % in_group) // group_m
    tl.assume(pid_m >= 0)
    rows = (pid_m * BM + tl.arange(0, BM)) % M
    cols = (pid_n * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    a_at = a + (rows[:, None] * s_am + inner[None, :] * s_ak)
    b_at = b + (inner[:, None] * s_bk + cols[None, :] * s_bn)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(a_at, mask=inner[None, :] < K - k * BK, other=0.0)
        right = tl.load(b_at, mask=inner[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(left, right, acc, input_precision="ieee")
        a_at += BK * s_ak
        b_at += BK * s_bk
    if ACTIVATION == "leaky_relu":
        acc = leaky_relu(acc)
    rows = pid_m * BM + tl.arange(0, BM)
    cols = pid_n * BN + tl.arange(0, BN)
    places = c + s_cm * rows[:, None] + s_cn * cols[None, :]
    tl.store(places, acc.to(tl.float16), mask=(rows[:, None] < M) & (cols[None, :] < N))


@jit
def dropout(x, keep, out, n, p, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    kept_numbers = tl.load(keep + at, mask=mask)
    tl.store(out + at, tl.where(kept_numbers, tl.load(x + at, mask=mask) / (1 - p), 0.0), mask=mask)


@jit
def layer_norm(x, y, weight, bias, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    y += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x + cols, mask=cols < n, other=0.0).to(tl.float32)
    average = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        part = tl.load(x + cols, mask=cols < n, other=0.0).to(tl.float32)
        part = tl.where(cols < n, part - average, 0.0)
        squares += part * part
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        mask = cols < n
        normed = (tl.load(x + cols, mask=mask, other=0.0).to(tl.float32) - average) * scale
        tl.store(y + cols, normed * tl.load(weight + cols, mask=mask) + tl.load(bias + cols, mask=mask), mask=mask)


@jit
def attention(
    q, k, v, out, scale, T,
    H: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0) * BM
    rows = start + tl.arange(0, BM)
    cols = tl.arange(0, H)
    queries = tl.load(q + rows[:, None] * H + cols[None, :])
    highest = tl.full([BM], float("-inf"), dtype=tl.float32)
    total = tl.zeros([BM], dtype=tl.float32)
    acc = tl.zeros([BM, H], dtype=tl.float32)
    end = start + BM if CAUSAL else T
    for first in range(0, end, BN):
        keys = first + tl.arange(0, BN)
        scores = tl.dot(queries, tl.trans(tl.load(k + keys[:, None] * H + cols[None, :]))) * (scale * 1.44269504)
        if CAUSAL:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(highest - higher)
        total = total * shrink + tl.sum(weights, 1)
        acc = acc * shrink[:, None]
        acc += tl.dot(weights.to(v.dtype.element_ty), tl.load(v + keys[:, None] * H + cols[None, :]))
        highest = higher
    tl.store(out + rows[:, None] * H + cols[None, :], (acc / total[:, None]).to(out.type.element_ty))


@jit
def reductions(x, rows_out, cols_out, all_out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(rows_out + i, tl.sum(tile, axis=1) + tl.min(tile, axis=-1))
    kept_axis = tl.max(tile, axis=0, keep_dims=True)
    tl.store(cols_out + j[None, :], kept_axis + tile.sum(0, keep_dims=True))
    tl.store(all_out, tl.sum(tile) - tl.max(tile))


@jit
def halves(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at, mask=at < n, other=1), tl.load(y + at, mask=at < n, other=1)
    product = a * b + 0.3 - a / b
    tl.store(out + at, product + tl.sigmoid(a.to(tl.float32)) + tl.abs(b), mask=at < n)


@jit
def whole_numbers(x, y, quotients, rests, bits, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(quotients + at, a // b)
    tl.store(rests + at, a % b)
    tl.store(bits + at, ((a << 2) ^ (a >> 1)) | (~b & 7))


@jit
def unpack(packed, out, n, BLOCK: tl.constexpr):
    """Two numbers of four bits from each byte."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed + at // 2, mask=at < n, other=0)
    four = (byte >> (at % 2 * 4).to(tl.uint8)) & 15
    tl.store(out + at, four.to(tl.float32) - 8, mask=at < n)


@jit
def gather(table, lengths, x, out, stride, BLOCK: tl.constexpr):
    """A scalar from memory says where a row lies, and how much of it counts."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    place = tl.load(table + row)
    length = tl.load(lengths + row)
    numbers = tl.load(x + place * stride + at, mask=at < length, other=-1.0)
    tl.store(out + row * BLOCK + at, numbers * length)


@jit
def narrow_places(x, places, out, BLOCK: tl.constexpr):
    """Places in one byte each: their sum is no byte."""
    at = tl.arange(0, BLOCK)
    first = tl.load(places + at)
    tl.store(out + at, tl.load(x + first + first))


@jit
def transposed(x, out, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + i[:, None] * N + j[None, :])
    tl.store(out + j[:, None] * M + i[None, :], tl.trans(tile) + tl.reshape(tile.T, (N, M)))


@jit
def rotated(x, out, n, BLOCK: tl.constexpr):
    """Pairs, by strides of two, in loops that run downwards."""
    pairs = tl.arange(0, BLOCK)
    for step in tl.static_range(1, -1, -1):
        at = (tl.program_id(0) * 2 + step) * BLOCK + pairs
        even = tl.load(x + 2 * at, mask=2 * at < n, other=0)
        odd = tl.load(x + 2 * at + 1, mask=2 * at + 1 < n, other=0)
        tl.store(out + 2 * at, even - odd, mask=2 * at < n)
        tl.store(out + 2 * at + 1, tl.maximum(even, odd), mask=2 * at + 1 < n)


@jit
def grids(out, n_x, n_y):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    if (x + y) % 2 == 0:
        tl.store(out + (z * n_y + y) * n_x + x, 100 * z + 10 * y + x - 7 // (x - 4) + tl.num_programs(1))


def _rng():
    return np.random.default_rng(18)


def _floats(*shape, dtype="float32"):
    return _rng().standard_normal(shape).astype(dtype)


def _matmul_case(M, N, K, **options):
    a, b = _floats(M, K, dtype="float16"), _floats(K, N, dtype="float16")
    strides = (K, 1, N, 1, N, 1)
    sizes = {"BM": 32, "BN": 16, "BK": 16, "GROUP": 2}
    return (-(-M // 32) * -(-N // 16),), (a, b, np.zeros((M, N), "float16"), M, N, K, *strides), sizes | options, (2,)


def _attention_case(causal):
    q, k, v = (part.astype("float16") for part in _rng().standard_normal((3, 64, 16)))
    sizes = {"H": 16, "BM": 32, "BN": 16, "CAUSAL": causal}
    return (2,), (q, k, v, np.zeros_like(q), 0.25, 64), sizes, (3,)


def _whole_case(dtype):
    x = _rng().integers(-100 if dtype[0] == "i" else 0, 100, 32).astype(dtype)
    y = np.where(np.arange(32) % 2, 7, 3).astype(dtype) * (np.int8(-1) if dtype[0] == "i" else np.uint8(1)).astype(
        dtype
    )
    return (1,), (x, y, *(np.zeros_like(x) for _ in range(3))), {"BLOCK": 32}, (2, 3, 4)


CASES = {
    "add": (add, (3,), (_floats(70), _floats(70), _floats(70) * 0, 70), {"BLOCK": 32}, (2,)),
    "scaled": (
        *(scaled, (3,)),
        (_floats(70, dtype="float16"), _floats(70, dtype="float16"), _floats(70) * 0, 0.3, 70),
        *({"BLOCK": 32}, (2,)),
    ),
    "softmax": (softmax, (2,), (_floats(5, 20) * 0, _floats(5, 20), 20, 20, 5, 20), {"BLOCK": 32}, (0,)),
    "matmul": (matmul, *_matmul_case(70, 40, 50)),
    "matmul with a function": (matmul, *_matmul_case(64, 32, 32, ACTIVATION="leaky_relu")),
    "dropout": (dropout, (2,), (_floats(50), _rng().random(50) > 0.5, _floats(50) * 0, 50, 0.5), {"BLOCK": 32}, (2,)),
    "layer norm": (
        *(layer_norm, (3,)),
        (*(_floats(3, 40), _floats(3, 40) * 0, _floats(40), _floats(40)), _floats(3) * 0, _floats(3) * 0, 40, 40, 1e-5),
        *({"BLOCK": 16}, (1, 4, 5)),
    ),
    "attention": (attention, *_attention_case(False)),
    "causal attention": (attention, *_attention_case(True)),
    **{
        f"reductions of {dtype}": (
            *(reductions, (1,)),
            (_floats(8, 16, dtype=dtype), *(np.zeros(n, dtype) for n in (8, 16, 1))),
            *({"M": 8, "N": 16}, (1, 2, 3)),
        )
        for dtype in ("float32", "float16", "int32")
    },
    "halves": (
        *(halves, (1,)),
        (_floats(30, dtype="float16"), _floats(30, dtype="float16"), _floats(30) * 0, 30),
        *({"BLOCK": 32}, (2,)),
    ),
    **{
        f"whole numbers, {dtype}": (whole_numbers, *_whole_case(dtype)) for dtype in ("int32", "int8", "uint8", "int64")
    },
    "unpack": (unpack, (2,), (np.arange(100, 125, dtype="uint8"), _floats(50) * 0, 50), {"BLOCK": 32}, (1,)),
    "gather": (
        *(gather, (3,)),
        (np.array([2, 0, 3], "int32"), np.array([5, 16, 1], "int64"), _floats(4, 16), _floats(3, 16) * 0, 16),
        *({"BLOCK": 16}, (3,)),
    ),
    "narrow places": (
        *(narrow_places, (1,)),
        (_floats(400), np.arange(190, 198, dtype="uint8"), _floats(8) * 0),
        *({"BLOCK": 8}, (2,)),
    ),
    "transposed": (transposed, (1,), (_floats(8, 4), _floats(4, 8) * 0), {"M": 8, "N": 4}, (1,)),
    "rotated": (rotated, (2,), (_rng().integers(0, 9, 30), np.zeros(30, "int64"), 30), {"BLOCK": 8}, (1,)),
    "grids": (grids, (3, 2, 2), (np.zeros((2, 2, 3), "int32"), 3, 2), {}, (0,)),
}
"""By name: kernel, grid, arguments, arguments by name, and the positions of what it writes."""
