"""The known mistakes in attention weights, for every task whose solution holds these lines.

04.weights and 04.attention compute them in the same words; 04.head has them when its last line is written out.
"""

from softlookup.checks.known import known
from softlookup.checks.task import Mistake

ROOT = "math.sqrt(q.shape[-1])"
SOFT = "torch.softmax(s, dim=-1)"
FILL = 's.masked_fill(~mask, float("-inf"))'
CLEAN = "    if mask is not None:\n        a = a.masked_fill(~mask, 0.0)\n"
RENORMALISE = "        total = a.sum(dim=-1, keepdim=True)\n        a = a / total.masked_fill(total == 0, 1.0)\n"

WEIGHT_MISTAKES: tuple[Mistake, ...] = (
    known("no-sqrt", (f" / {ROOT}", "")),
    known("divided-by-width", (ROOT, "q.shape[-1]")),
    known("sqrt-of-tokens", (ROOT, "math.sqrt(k.shape[-2])")),
    known("scaled-after", (f" / {ROOT}", ""), ("return a", f"return a / {ROOT}")),
    known("always-eight", (ROOT, "8")),
    known("half-for-root", (ROOT, "(q.shape[-1] / 2)")),
    known("twice-the-width", (ROOT, "(q.shape[-1] * 2)")),
    known("multiplied", (f" / {ROOT}", f" * {ROOT}")),
    known("queries-with-queries", ("q @ k.transpose(-2, -1)", "q @ q.transpose(-2, -1)")),
    known("swapped", ("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)")),
    known("reversed-axes", ("k.transpose(-2, -1)", "k.permute(*reversed(range(k.ndim)))")),
    known("over-queries", ("dim=-1", "dim=-2")),
    known("fixed-axis", ("dim=-1", "dim=1")),
    known("first-axis", ("dim=-1", "dim=0")),
    known("no-softmax", (SOFT, "s")),
    known("whole-matrix", (SOFT, "torch.softmax(s.flatten(-2), dim=-1).reshape(s.shape)")),
    known("softmax-twice", (SOFT, f"torch.softmax({SOFT}, dim=-1)")),
    known("hard-argmax", (SOFT, "(s == s.amax(dim=-1, keepdim=True)).to(s.dtype)")),
    known("not-normalised", (SOFT, "torch.exp(s - s.amax(dim=-1, keepdim=True))")),
    known("no-max", (SOFT, "torch.exp(s) / torch.exp(s).sum(dim=-1, keepdim=True)")),
    known("mask-ignored", (FILL, "s"), (CLEAN, "")),
    known("mask-inverted", ("~mask", "mask")),
    known("mask-after-softmax", (FILL, "s")),
    known("mask-renormalised", (FILL, "s"), (CLEAN, CLEAN + RENORMALISE)),
    known("weak-fill", (FILL, "s.masked_fill(~mask, -1000.0)")),
    known("masked-to-zero", (FILL, "s.masked_fill(~mask, 0.0)"), (CLEAN, "")),
    known("nan-rows", (CLEAN, "")),
    known("uniform-where-blind", (FILL, "s.masked_fill(~mask, -1e9)"), (CLEAN, "")),
    known("mask-transposed", ("~mask", "~mask.transpose(-2, -1)")),
)
