"""Mutants of chapter 20's supervised half that are right: task, changed statement, and why nothing tells them apart."""

AXIS = "both arrays have two axes, so that axis 1 is the last one, and Python reads two minus signs as none"
SIZE = "there are as many rows as right ids"

SFT: list[tuple[str, str, str]] = [
    ("20.sft-loss", "losses = -rows[np.arange(len(right_ids)), right_ids]", SIZE),
    ("20.distill", "q, p = (q - q.max(axis=1, keepdims=True), p - p.max(axis=-1, keepdims=True))", AXIS),
    ("20.distill", "q, p = (q - q.max(axis=-1, keepdims=True), p - p.max(axis=1, keepdims=True))", AXIS),
    ("20.distill", "log_q = q - np.log(np.exp(q).sum(axis=1, keepdims=True))", AXIS),
    ("20.distill", "log_p = p - np.log(np.exp(p).sum(axis=1, keepdims=True))", AXIS),
    ("20.distill", "divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=1)", AXIS),
]
