"""Mutants of chapter 15 that are right: task, changed statement, and why nothing tells them apart."""

COMMUTES = "a sum, a product or a conjunction does not depend on the order of its parts"
BEHIND = "the same axis, counted from the other end, or the axis that is meant without a word"
SIZE = "both have that side in common"
ZEROS = "zeros of the same kind, whatever they are made from"
MIRRORED = "queries and keys are both mirrored in these numbers, so their products stay"
SAME = "there the two are equal"
COUNT = "a mean over all heads is their sum divided by one number, and the order stays"
ALL_BUT = "-1 keeps the side as it is, and that side is 1"
LAST = "a pair's second part is its last"
UNKNOWN = "numpy computes a side that is negative, whichever number it is"
WITHIN = "nothing is above 6 there, so the bound is not reached"
CONTINUOUS = "the rate is the same on both sides of the boundary"
HUNDREDS = "the task's scores are in the hundreds"
LEFT_OUT = "the indexer's sums are small, and hidden keys are left out again behind them"

EQUAL: list[tuple[str, ...]] = [
    ("15.route", "chosen = (gates + bias).topk(k).indices", BEHIND),
    ("15.route", "chosen = (gates + bias).topk(k, dim=1).indices", BEHIND),
    ("15.route", "kept = torch.zeros_like(gates).scatter(1, chosen, gates.gather(-1, chosen))", BEHIND),
    ("15.route", "kept = torch.zeros_like(gates).scatter(-1, chosen, gates.gather(1, chosen))", BEHIND),
    ("15.route", "return factor * kept / kept.sum(dim=1, keepdim=True)", BEHIND),
    ("15.experts", "weights = torch.cat((weights, torch.ones_like(weights[:, :1])), dim=-1)", BEHIND),
    ("15.experts", "weights = torch.cat((weights, torch.ones_like(x[:, :1])), dim=1)", SIZE),
    ("15.absorb", "scale = 1 / math.sqrt({}.shape[-1] + q_position.shape[-1])", SIZE, "w_k; w_v"),
    ("15.absorb", "scale = 1 / math.sqrt(q.shape[-1] + k_position.shape[-1])", SIZE),
    ("15.sinks", "sink = sink[:, None, None].expand(-1, scores.shape[1], -1)", ALL_BUT),
    ("15.qk-norm", "return torch.cat((b * sin - a * cos, a * sin + b * cos), dim=-1)", MIRRORED),
    ("15.qk-norm", "return q @ k.mT / math.sqrt({}.shape[-1])", SIZE, "k; k_gain; q_gain"),
    ("15.ring", "window = len(v_ring)", SIZE),
    ("15.ring", "weights = torch.softmax(k_ring[:written] @ q / math.sqrt(len(q)), dim=-1)", BEHIND),
    ("15.ring", "weights = torch.softmax(k_ring[:written] @ q / math.sqrt(len({})), dim=0)", SIZE, "k; v"),
    ("15.accept", "kept = torch.where(q > 0, (p / q).clamp(max=1), torch.ones_like(q))", SIZE),
    ("15.accept", "total = left.sum(dim=1, keepdim=True)", BEHIND),
    ("15.accept", "return (kept, torch.where(total > 0, left / total, q))", SAME),
    ("15.speculate", "while kept < len(q) and u[kept] * q[kept, drafted[kept]] < p[kept, drafted[kept]]:", SIZE),
    ("15.speculate", "if kept < len(q):", SIZE),
    ("15.speculate", "token = (left.cumsum(dim=-1) <= u[-1]).sum()", BEHIND),
    ("15.quantise", "return (rounded(k, 0), rounded(v, -1))", BEHIND),
    ("15.delta", "state = {}.new_zeros(q.shape[1], v.shape[1])", ZEROS, "decay; k; strength; v"),
    ("15.delta", "state = q.new_zeros(q.shape[-1], v.shape[1])", BEHIND),
    ("15.delta", "state = q.new_zeros(q.shape[1], v.shape[-1])", BEHIND),
    ("15.delta", "state = q.new_zeros(k.shape[1], v.shape[1])", SIZE),
    ("15.delta", "for t in range(len({})):", SIZE, "decay; k; strength; v"),
    ("15.delta", "outputs.append(q[t] @ state / math.sqrt(q.shape[-1]))", BEHIND),
    ("15.delta", "outputs.append(q[t] @ state / math.sqrt(k.shape[1]))", SIZE),
    ("15.pages", "weights = torch.softmax(keys @ q / math.sqrt(len(q)), dim=-1)", BEHIND),
    ("15.indexer", "sums = (w[:, :, None] * torch.relu(index_q @ index_k.mT)).mean(dim=1)", COUNT),
    ("15.indexer", "best = sums.topk(min(top, sums.shape[-1])).indices", BEHIND),
    ("15.indexer", "best = sums.topk(min(top, sums.shape[-1]), dim=1).indices", BEHIND),
    ("15.indexer", "best = sums.topk(min(top, sums.shape[1]), dim=-1).indices", BEHIND),
    ("15.indexer", "best = sums.topk(min(top, mask.shape[-1]), dim=-1).indices", SIZE),
    ("15.indexer", "chosen = torch.zeros_like(mask).scatter(1, best, True) & mask", BEHIND),
    ("15.indexer", "scores = (q @ k.mT / math.sqrt(q.shape[1])).masked_fill(~chosen, -torch.inf)", BEHIND),
    ("15.indexer", "scores = (q @ k.mT / math.sqrt(k.shape[-1])).masked_fill(~chosen, -torch.inf)", SIZE),
    ("15.indexer", "return (chosen, torch.softmax(scores, dim=1) @ v)", BEHIND),
    ("15.muon", "x = 3.4445 * x + (-4.775 * gram + gram @ (2.0315 * gram)) @ x", COMMUTES),
    ("15.muon", "factor = math.sqrt(max(1, weight.shape[0] / weight.shape[-1]))", BEHIND),
    ("15.muon", "factor = math.sqrt(max(1, {}.shape[0] / weight.shape[1]))", SIZE, "average; gradient; gram; x"),
    ("15.muon", "factor = math.sqrt(max(1, weight.shape[0] / {}.shape[1]))", SIZE, "average; gradient; x"),
    ("15.cache", "numbers = config['qk_rope_head_dim'] + config['kv_lora_rank']", COMMUTES),
    ("15.absorb", "weights = torch.softmax((scale * scores).masked_fill(~mask, -10000.0), dim=-1)", HUNDREDS),
    ("15.indexer", "sums = sums.masked_fill(~mask, -10000.0)", LEFT_OUT),
    ("15.schedule", "if step <= warmup:", CONTINUOUS),
    ("15.schedule", "if step < warmup + stable:", CONTINUOUS),
    (
        "15.mtp-input",
        "normed = [x / np.sqrt((x ** 2).mean(axis=1, keepdims=True) + eps) * gain for x, gain in pairs]",
        BEHIND,
    ),
    ("15.mtp-input", "return np.concatenate(normed, axis=1) @ w", BEHIND),
    ("15.per-layer", "P = w_gate.shape[-1]", BEHIND),
    ("15.per-layer", "y = y / np.sqrt((y ** 2).mean(axis=1, keepdims=True) + eps)", BEHIND),
    ("15.block-scales", "blocks = w.reshape(len(w), -2, block)", UNKNOWN),
    ("15.block-scales", "scale = 2.0 ** (np.frexp(np.abs(blocks).max(axis=-1, keepdims=True))[-1] - 3)", LAST),
    ("15.block-scales", "step = 2.0 ** (np.frexp(x)[1].clip(1, 4) - 2)", WITHIN),
    ("15.block-scales", "step = 2.0 ** (np.frexp(x)[-1].clip(1, 3) - 2)", LAST),
]
