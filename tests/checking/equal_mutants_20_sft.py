"""Mutants of chapter 20's supervised half that are right: task, changed statement, and why nothing tells them apart."""

AXIS = "both arrays have two axes, so that axis 1 is the last one, and Python reads two minus signs as none"
NO_ORDER = "sums, products and masks do not depend on the order of their operands"
SIZE = "there are as many rows as right ids"

SFT: list[tuple[str, str, str]] = [
    ("20.sft-loss", "losses = -rows[np.arange(len(right_ids)), right_ids]", SIZE),
    ("20.packed", "may_attend = (t[:, None] >= t[None, :]) & is_same", NO_ORDER),
    ("20.lora", "y = scale * (x @ a.T @ b.T) + x @ w.T", NO_ORDER),
    ("20.lora", "y = x @ w.T + x @ a.T @ b.T * scale", NO_ORDER),
    ("20.lora", "merged = scale * (b @ a) + w", NO_ORDER),
    ("20.lora", "merged = w + b @ a * scale", NO_ORDER),
    ("20.distill", "q, p = (q - q.max(axis=1, keepdims=True), p - p.max(axis=-1, keepdims=True))", AXIS),
    ("20.distill", "q, p = (q - q.max(axis=-1, keepdims=True), p - p.max(axis=1, keepdims=True))", AXIS),
    ("20.distill", "q, p = (q - q.max(axis=--1, keepdims=True), p - p.max(axis=-1, keepdims=True))", AXIS),
    ("20.distill", "q, p = (q - q.max(axis=-1, keepdims=True), p - p.max(axis=--1, keepdims=True))", AXIS),
    ("20.distill", "log_q = q - np.log(np.exp(q).sum(axis=1, keepdims=True))", AXIS),
    ("20.distill", "log_q = q - np.log(np.exp(q).sum(axis=--1, keepdims=True))", AXIS),
    ("20.distill", "log_p = p - np.log(np.exp(p).sum(axis=1, keepdims=True))", AXIS),
    ("20.distill", "log_p = p - np.log(np.exp(p).sum(axis=--1, keepdims=True))", AXIS),
    ("20.distill", "divergence = ((log_p - log_q) * np.exp(log_p)).sum(axis=-1)", NO_ORDER),
    ("20.distill", "divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=1)", AXIS),
    ("20.distill", "divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=--1)", AXIS),
    ("20.distill", "return divergence.mean() * tau ** 2", NO_ORDER),
]
