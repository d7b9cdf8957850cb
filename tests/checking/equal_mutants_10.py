"""Mutants of chapter 10 that are right: task, changed statement, and why nothing tells them apart."""

AXIS = "an axis counted from the front or from behind is the same one where their number is fixed"
COMMUTES = "sums, products and masks do not depend on the order of their operands"
DTYPE = "all weights and the cache have one dtype, that of the embedding"
EMPTY = "the cache is empty at first, and what is joined to it brings its own dtype"
LAST = "sort runs along the last axis unless it is told otherwise"
LIMIT = "at the limit every text is finished, so a further step finds nothing open"
ROWS = "the layer takes as many rows of the cache as there are texts"
SIGN = "only whether a count is 0 is asked, whatever its sign"
SIZE = "both have the same size along that axis"
STABLE = "torch's sort of few numbers on a CPU keeps the order of equal ones without being asked"
STRICT = "parents and tokens are equally many, so that a strict zip has nothing to complain of"
ZERO = "the first total is 0 in every dtype, and what is added to it brings its own"
GROWN = "grown = [[*texts[parent], token] for parent, token in zip(parents.tolist(), tokens.tolist(){})]"

EQUAL: list[tuple[str, ...]] = [
    ("10.next", "return logits[torch.arange(len(lengths)), lengths - 1].argmax(dim=-1)", SIZE),
    ("10.next", "return logits[torch.arange(len(logits)), lengths - 1].argmax(dim=1)", AXIS),
    ("10.temperature", "return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)", AXIS),
    ("10.temperature", "likeliest = logits.argmax(dim=1, keepdim=True)", AXIS),
    ("10.temperature", "return torch.softmax(logits / temperature, dim=1)", AXIS),
    ("10.top-k", "order = logits.sort(descending=True, stable=True).indices", LAST),
    ("10.top-k", "order = logits.sort(dim=-1, descending=True).indices", STABLE),
    ("10.top-k", "order = logits.sort(dim=1, descending=True, stable=True).indices", AXIS),
    ("10.top-k", "order = logits.sort(dim=-1, descending=True, stable=False).indices", STABLE),
    ("10.top-k", "kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order[:, :k], True)", AXIS),
    ("10.top-k", "kept = torch.zeros_like(order, dtype=torch.bool).scatter(1, order[:, :k], True)", SIZE),
    ("10.top-k", "return torch.softmax(logits.masked_fill(~kept, float('-inf')), dim=1)", AXIS),
    ("10.top-p", "in_order, order = probabilities.sort(descending=True)", LAST),
    ("10.top-p", "in_order, order = probabilities.sort(dim=1, descending=True)", AXIS),
    ("10.top-p", "mass_before = in_order.cumsum(dim=1) - in_order", AXIS),
    ("10.top-p", "kept = torch.zeros_like(kept_in_order).scatter(-1, order, kept_in_order)", AXIS),
    ("10.top-p", "return left / left.sum(dim=1, keepdim=True)", AXIS),
    ("10.draw", "right_ends = probabilities.cumsum(dim=1)", AXIS),
    ("10.draw", "return (right_ends <= u[:, None]).sum(dim=1)", AXIS),
    ("10.score", "ends_before = ends - ends.cumsum(dim=1)", SIGN),
    ("10.score", "ends_before = ends.cumsum(dim=-1) - ends", AXIS),
    ("10.score", "lengths = counted.sum(dim=-1)", AXIS),
    ("10.score", "totals = torch.where(counted, log_p, 0.0).sum(dim=-1)", AXIS),
    ("10.beam-step", "n_tokens = log_p.shape[-1]", AXIS),
    ("10.beam-step", "everything = log_p + totals[:, None]", COMMUTES),
    ("10.positions", "positions = (real.cumsum(dim=-1) - 1).masked_fill(~real, for_padding)", AXIS),
    ("10.append", "return (torch.cat((k[rows], new_k), dim=-2), torch.cat((v[rows], new_v), dim=2))", AXIS),
    ("10.append", "return (torch.cat((k[rows], new_k), dim=2), torch.cat((v[rows], new_v), dim=-2))", AXIS),
    ("10.attend", "shared = q.shape[1] // v.shape[1]", SIZE),
    ("10.attend", "n_new, n_all = (q.shape[-2], k.shape[2])", AXIS),
    ("10.attend", "n_new, n_all = (q.shape[2], k.shape[-2])", AXIS),
    ("10.attend", "n_new, n_all = (q.shape[2], v.shape[2])", SIZE),
    ("10.attend", "s = q @ k.transpose(2, -1) / math.sqrt(q.shape[-1])", AXIS),
    ("10.attend", "s = q @ k.transpose(-2, -1) / math.sqrt({}.shape[-1])", SIZE, "k; v"),
    ("10.step", "k, v = extend_cache(k, v, new_k, new_v, torch.arange(len({})))", SIZE, "k; new_k; new_v; q; v"),
    ("10.write", "d_model = embedding.shape[-1]", AXIS),
    ("10.write", "d_model = {}.shape[1]", SIZE, "w_k; w_o; w_q; w_v"),
    ("10.write", "k = v = torch.zeros(1, n_heads, 0, d_model // n_heads)", EMPTY),
    ("10.write", "k = v = torch.zeros(2, n_heads, 0, d_model // n_heads, dtype=embedding.dtype)", ROWS),
    ("10.write", "k = v = torch.zeros(1, n_heads, 0, d_model // n_heads, dtype=prompt.dtype)", EMPTY),
    ("10.write", "k = v = torch.zeros(1, n_heads, 0, d_model // n_heads, dtype={}.dtype)", DTYPE, "w_k; w_o; w_q; w_v"),
    ("10.write", "x = places + embedding[ids][None]", COMMUTES),
    ("10.write", "places = sinusoidal(seen + len(ids), d_model)[seen:].to({})", DTYPE, "k; v; w_k; w_o; w_q; w_v"),
    ("10.write", "seen = seen + len(places)", SIZE),
    ("10.write", "logits.append((y + x)[0, -1] @ embedding.T)", COMMUTES),
    ("10.write", "logits.append((x + y)[-1, -1] @ embedding.T)", AXIS),
    ("10.cost", "lengths = range(n_prompt, n_new + n_prompt)", COMMUTES),
    ("10.cost", "tokens_cached = n_new + n_prompt - 1", COMMUTES),
    ("10.beam", "texts, totals, best, best_score = ([[start_id]], torch.zeros(1), [], -math.inf)", ZERO),
    ("10.beam", "for length in range(1, limit + 2):", LIMIT),
    ("10.beam", "for text, total, ends in zip(grown, totals.tolist(), ended):", STRICT),
    ("10.beam", "for text, total, ends in zip(grown, totals.tolist(), ended, strict=False):", STRICT),
    ("10.beam", GROWN.format(""), STRICT),
    ("10.beam", GROWN.format(", strict=False"), STRICT),
    (
        "10.beam",
        "texts, totals, best, best_score = ([[start_id]], torch.zeros(1, dtype=table.dtype), [], -10000.0)",
        "no score of a few tokens is so low",
    ),
    ("10.beam", "if ends and score >= best_score:", "the task does not say which of two equal scores wins"),
]
