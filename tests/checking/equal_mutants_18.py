"""Mutants of chapter 18 that are right: task, changed statement, and why nothing tells them apart."""

AXIS = "a tile with one axis: it is the first and the last"
FIRST_STEP = "the first step multiplies it by 0, since the maximum is minus infinity"
NOT_STORED = "what is masked goes into rows, columns or numbers that are not stored"
SAME = "behind the loop both names are the same number"
TIMES_ZERO = "what is masked here meets zeros of the other tile"

EQUAL: list[tuple[str, str, str]] = [
    ("18.softmax", "e = tl.exp(a - tl.max(a, -1))", AXIS),
    ("18.softmax", "tl.store(y + row * n + cols, e / tl.sum(e, -1), mask=there)", AXIS),
    ("18.online", "total = 1.0", FIRST_STEP),
    ("18.online", "total = -1.0", FIRST_STEP),
    ("18.online", "new = tl.maximum(top, tl.max(a, -1))", AXIS),
    ("18.online", "total = total * tl.exp(top - new) + tl.sum(tl.exp(a - new), -1)", AXIS),
    ("18.online", "a = tl.load(x + row + cols, mask=cols < n)", NOT_STORED),
    ("18.online", "a = tl.load(x + row + cols, mask=cols < n, other=float('inf'))", NOT_STORED),
    ("18.online", "tl.store(y + row + cols, tl.exp(a - new) / total, mask=cols < n)", SAME),
    ("18.norm", "square = tl.sum(a * a, -1) / n", AXIS),
    ("18.norm", "weight = tl.load(w + cols, mask=there).to(tl.float32)", NOT_STORED),
    ("18.norm", "weight = tl.load(w + cols, mask=there, other=1.0).to(tl.float32)", NOT_STORED),
    ("18.norm", "weight = tl.load(w + cols, mask=there, other=-1.0).to(tl.float32)", NOT_STORED),
    ("18.product", "a_tile = tl.load(a + a_at, mask=(rows < m) & (across < k), other=1.0)", TIMES_ZERO),
    ("18.product", "a_tile = tl.load(a + a_at, mask=(rows < m) & (across < k), other=-1.0)", TIMES_ZERO),
    ("18.product", "b_tile = tl.load(b + b_at, mask=(down < k) & (cols < n), other=1.0)", TIMES_ZERO),
    ("18.product", "b_tile = tl.load(b + b_at, mask=(down < k) & (cols < n), other=-1.0)", TIMES_ZERO),
    ("18.linear", "x_tile = tl.load(x + rows * k + across, mask=(rows < m) & (across < k), other=1.0)", TIMES_ZERO),
    ("18.linear", "x_tile = tl.load(x + rows * k + across, mask=(rows < m) & (across < k), other=-1.0)", TIMES_ZERO),
    ("18.linear", "w_tile = tl.load(w + w_at, mask=(down < k) & (cols < n), other=1.0)", TIMES_ZERO),
    ("18.linear", "w_tile = tl.load(w + w_at, mask=(down < k) & (cols < n), other=-1.0)", TIMES_ZERO),
    ("18.linear", "z = total + tl.load(bias + cols, mask=cols < n)", NOT_STORED),
    ("18.linear", "z = total + tl.load(bias + cols, mask=cols < n, other=1.0)", NOT_STORED),
    ("18.linear", "z = total + tl.load(bias + cols, mask=cols < n, other=-1.0)", NOT_STORED),
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
]
