"""Mutants of chapter 18 that are right: task, changed statement, and why nothing tells them apart."""

AXIS = "a tile with one axis: it is the first and the last"
FIRST_STEP = "the first step multiplies it by 0, since the maximum is minus infinity"
HIDDEN = "the scores of what is masked are minus infinity, whatever its keys are"
LAST_AXIS = "axis 1 of two is the last"
NO_WEIGHT = "the weights of what is masked are 0"
NOT_STORED = "what is masked goes into rows, columns or numbers that are not stored"
ON_DIAGONAL = "the last tile of keys is on the diagonal: its tokens are those of the queries"
SAME = "behind the loop both names are the same number"
SAME_LAYOUT = "keys and values lie in the same order in the published notebook"
SINGLE_STAGE = "one stage in the published notebook"
TIMES_ZERO = "what is masked here meets zeros of the other tile"

EQUAL: list[tuple[str, ...]] = [
    ("18.softmax", "e = tl.exp(a - tl.max(a, -1))", AXIS),
    ("18.softmax", "tl.store(y + row * n + cols, e / tl.sum(e, -1), mask=there)", AXIS),
    ("18.online", "total = {}", FIRST_STEP, "1.0; -1.0"),
    ("18.online", "new = tl.maximum(top, tl.max(a, -1))", AXIS),
    ("18.online", "total = total * tl.exp(top - new) + tl.sum(tl.exp(a - new), -1)", AXIS),
    ("18.online", "a = tl.load(x + at, mask=cols < n)", NOT_STORED),
    ("18.online", "a = tl.load(x + at, mask=cols < n, other=float('inf'))", NOT_STORED),
    ("18.online", "tl.store(y + at, tl.exp(a - new) / total, mask=cols < n)", SAME),
    ("18.norm", "square = tl.sum(a * a, -1) / n", AXIS),
    ("18.norm", "weight = tl.load(w + cols, mask=there).to(tl.float32)", NOT_STORED),
    ("18.norm", "weight = tl.load(w + cols, mask=there, other={}).to(tl.float32)", NOT_STORED, "1.0; -1.0"),
    ("18.product", "a_tile = tl.load(a + a_at, mask=(rows < m) & (across < k), other={})", TIMES_ZERO, "1.0; -1.0"),
    ("18.product", "b_tile = tl.load(b + b_at, mask=(down < k) & (cols < n), other={})", TIMES_ZERO, "1.0; -1.0"),
    ("18.linear", "x_tile = tl.load(x + rows * k + across, mask=(rows < m) & (across < k), other=1.0)", TIMES_ZERO),
    ("18.linear", "x_tile = tl.load(x + rows * k + across, mask=(rows < m) & (across < k), other=-1.0)", TIMES_ZERO),
    ("18.linear", "w_tile = tl.load(w + w_at, mask=(down < k) & (cols < n), other={})", TIMES_ZERO, "1.0; -1.0"),
    ("18.linear", "z = total + tl.load(bias + cols, mask=cols < n)", NOT_STORED),
    ("18.linear", "z = total + tl.load(bias + cols, mask=cols < n, other={})", NOT_STORED, "1.0; -1.0"),
    ("18.quantised", "both = tl.load(packed + pairs[:, None] * n + cols, mask=cols < n)", NOT_STORED),
    ("18.quantised", "part = tl.dot(tl.load(at, mask=rows < m), even.to(tl.float32) - zero)", NOT_STORED),
    ("18.quantised", "part += tl.dot(tl.load(at + 1, mask=rows < m), odd.to(tl.float32) - zero)", NOT_STORED),
    ("18.quantised", "total += part * tl.load(scales + group * n + cols, mask=cols < n)", NOT_STORED),
    ("18.quantised", "both = tl.load(packed + pairs[:, None] * n + cols, mask=cols < n, other=1)", NOT_STORED),
    ("18.quantised", "both = tl.load(packed + pairs[:, None] * n + cols, mask=cols < n, other=-1)", NOT_STORED),
    ("18.quantised", "part = tl.dot(tl.load(at, mask=rows < m, other=1.0), even.to(tl.float32) - zero)", NOT_STORED),
    ("18.quantised", "part = tl.dot(tl.load(at, mask=rows < m, other=-1.0), even.to(tl.float32) - zero)", NOT_STORED),
    (
        "18.quantised",
        "part += tl.dot(tl.load(at + 1, mask=rows < m, other=1.0), odd.to(tl.float32) - zero)",
        NOT_STORED,
    ),
    (
        "18.quantised",
        "part += tl.dot(tl.load(at + 1, mask=rows < m, other=-1.0), odd.to(tl.float32) - zero)",
        NOT_STORED,
    ),
    ("18.quantised", "total += part * tl.load(scales + group * n + cols, mask=cols < n, other=1.0)", NOT_STORED),
    ("18.quantised", "total += part * tl.load(scales + group * n + cols, mask=cols < n, other=-1.0)", NOT_STORED),
    ("18.tile", "while (-2 * tile) ** 2 * (2 * stages * number_bytes + 4) <= chip_bytes:", "a square has no sign"),
    ("18.tile", "while (2 * tile) ** 2 * (2 / stages * number_bytes + 4) <= chip_bytes:", SINGLE_STAGE),
    ("18.tile", "while (2 * tile) ** 2 * (2 * number_bytes + 4) <= chip_bytes:", SINGLE_STAGE),
    ("18.attention", "q_tile = tl.load(q + at, mask=rows[:, None] < T)", NOT_STORED),
    ("18.attention", "k_tile = tl.load(k + k_at, mask=cols[None, :] < S)", HIDDEN),
    ("18.attention", "q_tile = tl.load(q + at, mask=rows[:, None] < T, other={})", NOT_STORED, "1.0; -1.0"),
    ("18.attention", "k_tile = tl.load(k + k_at, mask=cols[None, :] < S, other={})", HIDDEN, "1.0; -1.0"),
    ("18.attention", "v_tile = tl.load(v + v_at, mask=cols[:, None] < S, other={})", NO_WEIGHT, "1.0; -1.0"),
    ("18.attention", "new = tl.maximum(top, tl.max(scores, -1))", LAST_AXIS),
    ("18.attention", "total = total * fade + tl.sum(weights, -1)", LAST_AXIS),
    ("18.causal", "q_tile = tl.load(q + at, mask=rows[:, None] < T)", NOT_STORED),
    ("18.causal", "k_tile = tl.load(k + k_at, mask=cols[None, :] < T)", HIDDEN),
    ("18.causal", "q_tile = tl.load(q + at, mask=rows[:, None] < T, other={})", NOT_STORED, "1.0; -1.0"),
    ("18.causal", "k_tile = tl.load(k + k_at, mask=cols[None, :] < T, other={})", HIDDEN, "1.0; -1.0"),
    ("18.causal", "v_tile = tl.load(v + v_at, mask=cols[:, None] < T, other={})", NO_WEIGHT, "1.0; -1.0"),
    ("18.causal", "new = tl.maximum(top, tl.max(scores, -1))", LAST_AXIS),
    ("18.causal", "total = total * fade + tl.sum(weights, -1)", LAST_AXIS),
    ("18.causal", "tl.store(o + v_at, out / total[:, None], mask=rows[:, None] < T)", ON_DIAGONAL),
    ("18.causal", "tl.store(o + at, out / total[:, None], mask=cols[:, None] < T)", ON_DIAGONAL),
    ("18.paged", "k_tile = tl.load(k_pages + page + k_at, mask=there[:, None])", HIDDEN),
    ("18.paged", "k_tile = tl.load(k_pages + page + k_at, mask=there[:, None], other={})", HIDDEN, "1.0; -1.0"),
    ("18.paged", "v_tile = tl.load(v_pages + page + v_at, mask=there[:, None], other={})", NO_WEIGHT, "1.0; -1.0"),
    ("18.paged", "total = {}", FIRST_STEP, "1.0; -1.0"),
    ("18.paged", "k_tile = tl.load(k_pages + page + v_at, mask=there[:, None], other=0.0)", SAME_LAYOUT),
    ("18.paged", "v_tile = tl.load(v_pages + page + k_at, mask=there[:, None], other=0.0)", SAME_LAYOUT),
    ("18.paged", "scores = tl.sum(k_tile * q_row[None, :], -1) * scale", LAST_AXIS),
    ("18.paged", "new = tl.maximum(top, tl.max(scores, -1))", AXIS),
    ("18.paged", "total = total * fade + tl.sum(weights, -1)", AXIS),
]
