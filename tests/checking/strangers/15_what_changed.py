# %% 15.route | wrong | has `left, chosen = ((gates + bias).clone(), []) for _ in range(k): chosen.append(left.argmax(-1, keepdim=True)) ...`
def route(x, w_router, bias, k, factor):
    gates = torch.sigmoid(x @ w_router)
    left, chosen = (gates + bias).clone(), []
    for _ in range(k):
        chosen.append(left.argmax(-1, keepdim=True))
        left.scatter_(-1, chosen[-1], 0.0)
    chosen = torch.cat(chosen, -1)
    kept = torch.zeros_like(gates).scatter(-1, chosen, gates.gather(-1, chosen))
    return factor * kept / kept.sum(dim=-1, keepdim=True)


# %% 15.experts | wrong | adds `v, i = weights.topk(2, -1) weights = torch.zeros_like(weights).scatter(-1, i, v)`
def mixture(x, weights, w_gate, w_up, w_down):
    v, i = weights.topk(2, -1)
    weights = torch.zeros_like(weights).scatter(-1, i, v)
    hidden = torch.nn.functional.silu(torch.einsum("td,edf->tef", x, w_gate))
    hidden = hidden * torch.einsum("td,edf->tef", x, w_up)
    outputs = torch.einsum("tef,efd->ted", hidden, w_down)
    weights = torch.cat((weights, torch.ones_like(weights[:, :1])), dim=1)
    return (weights[:, :, None] * outputs).sum(dim=1)


# %% 15.experts | wrong | has `weights = torch.cat((weights, (weights.sum(1, keepdim=True) > 0).to(weights.dtype)), dim=1)`
def mixture(x, weights, w_gate, w_up, w_down):
    hidden = torch.nn.functional.silu(torch.einsum("td,edf->tef", x, w_gate))
    hidden = hidden * torch.einsum("td,edf->tef", x, w_up)
    outputs = torch.einsum("tef,efd->ted", hidden, w_down)
    weights = torch.cat((weights, (weights.sum(1, keepdim=True) > 0).to(weights.dtype)), dim=1)
    return (weights[:, :, None] * outputs).sum(dim=1)


# %% 15.absorb | wrong | has `weights = (scale * scores).exp() * mask weights = weights / weights.sum(dim=-1, keepdim=True)`
def latent_attention(q, q_position, latent, k_position, w_k, w_v, mask):
    scale = 1 / math.sqrt(q.shape[-1] + q_position.shape[-1])
    scores = q @ w_k.mT @ latent.mT + q_position @ k_position.mT
    weights = (scale * scores).exp() * mask
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ latent @ w_v


# %% 15.sinks | wrong | has `weights = (torch.cat((scores, sink), dim=-1) - sink).exp() weights = weights / weights.sum(dim=-1, keepdim= ...`
def sink_attention(scores, values, sink):
    sink = sink[:, None, None].expand(-1, scores.shape[1], 1)
    weights = (torch.cat((scores, sink), dim=-1) - sink).exp()
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights[..., :-1] @ values, weights[..., -1]


# %% 15.yarn | wrong | `first, last = (pair_with(fast_turns), min(pair_with(slow_turns), head_width / 2 - 1))` in place of `first, last = (pair_with(fast_turns), pair_with(slow_turns))`
def yarn(head_width, base, factor, trained_length, fast_turns, slow_turns):
    pairs = np.arange(head_width // 2)
    speeds = base ** (-2 * pairs / head_width)

    def pair_with(turns):
        return head_width * math.log(trained_length / (2 * math.pi * turns)) / (2 * math.log(base))

    first, last = pair_with(fast_turns), min(pair_with(slow_turns), head_width / 2 - 1)
    ramp = np.clip((pairs - first) / (last - first), 0, 1)
    speeds = speeds * (1 - ramp) + speeds / factor * ramp
    return speeds, 0.1 * math.log(factor) + 1


# %% 15.yarn | wrong | `first, last = (max(0, pair_with(fast_turns)), pair_with(slow_turns))` in place of `first, last = (pair_with(fast_turns), pair_with(slow_turns))`
def yarn(head_width, base, factor, trained_length, fast_turns, slow_turns):
    pairs = np.arange(head_width // 2)
    speeds = base ** (-2 * pairs / head_width)

    def pair_with(turns):
        return head_width * math.log(trained_length / (2 * math.pi * turns)) / (2 * math.log(base))

    first, last = max(0, pair_with(fast_turns)), pair_with(slow_turns)
    ramp = np.clip((pairs - first) / (last - first), 0, 1)
    speeds = speeds * (1 - ramp) + speeds / factor * ramp
    return speeds, 0.1 * math.log(factor) + 1


# %% 15.accept | wrong | `return (kept, p if left.sum() == 0 else left / total)` in place of `return (kept, torch.where(total > 0, left / total, p))`
def accept(p, q):
    kept = torch.where(q > 0, (p / q).clamp(max=1), torch.ones_like(p))
    left = (p - q).clamp(min=0)
    total = left.sum(dim=-1, keepdim=True)
    return kept, p if left.sum() == 0 else left / total


# %% 15.accept | wrong | `return (kept, torch.where(total > 0.001, left / total, p))` in place of `return (kept, torch.where(total > 0, left / total, p))`
def accept(p, q):
    kept = torch.where(q > 0, (p / q).clamp(max=1), torch.ones_like(p))
    left = (p - q).clamp(min=0)
    total = left.sum(dim=-1, keepdim=True)
    return kept, torch.where(total > 1e-3, left / total, p)


# %% 15.speculate | wrong | `left = p[min(kept, len(drafted) - 1)]` in place of `left = p[kept]`
def speculate(p, q, drafted, u):
    kept = 0
    while kept < len(drafted) and u[kept] * q[kept, drafted[kept]] < p[kept, drafted[kept]]:
        kept += 1
    left = p[min(kept, len(drafted) - 1)]
    if kept < len(drafted):
        left = (p[kept] - q[kept]).clamp(min=0)
        left = left / left.sum()
    token = (left.cumsum(dim=0) <= u[-1]).sum()
    return torch.cat((drafted[:kept], token[None]))


# %% 15.speculate | wrong | has `while kept < len(drafted) and u[kept] * q[kept, drafted[kept]] <= p[kept, drafted[kept]]:`
def speculate(p, q, drafted, u):
    kept = 0
    while kept < len(drafted) and u[kept] * q[kept, drafted[kept]] <= p[kept, drafted[kept]]:
        kept += 1
    left = p[kept]
    if kept < len(drafted):
        left = (p[kept] - q[kept]).clamp(min=0)
        left = left / left.sum()
    token = (left.cumsum(dim=0) <= u[-1]).sum()
    return torch.cat((drafted[:kept], token[None]))


# %% 15.speculate | wrong | `token = (left.cumsum(dim=0) < u[-1]).sum()` in place of `token = (left.cumsum(dim=0) <= u[-1]).sum()`
def speculate(p, q, drafted, u):
    kept = 0
    while kept < len(drafted) and u[kept] * q[kept, drafted[kept]] < p[kept, drafted[kept]]:
        kept += 1
    left = p[kept]
    if kept < len(drafted):
        left = (p[kept] - q[kept]).clamp(min=0)
        left = left / left.sum()
    token = (left.cumsum(dim=0) < u[-1]).sum()
    return torch.cat((drafted[:kept], token[None]))


# %% 15.quantise | wrong | has `codes = torch.where(step > 0, (x - least) / step, torch.zeros_like(x)).round().clamp(0, 15)`
def quantised(k, v, bits):
    def rounded(x, dim):
        least, most = x.amin(dim=dim, keepdim=True), x.amax(dim=dim, keepdim=True)
        step = (most - least) / (2**bits - 1)
        codes = torch.where(step > 0, (x - least) / step, torch.zeros_like(x)).round().clamp(0, 15)
        return codes * step + least

    return rounded(k, 0), rounded(v, 1)


# %% 15.fork | wrong | `owners[table[-1]] = 1` in place of `owners[table[-1]] -= 1`
def append_token(table, owners, length, block_size):
    table, owners, copied = list(table), list(owners), []
    full = length % block_size == 0
    shared = not full and owners[table[-1]] > 1
    if full or shared:
        new = owners.index(0)
        owners[new] = 1
        if shared:
            copied = [table[-1], new]
            owners[table[-1]] = 1
            table[-1] = new
        else:
            table.append(new)
    return table, owners, copied


# %% 15.fork | wrong | `shared = not full and owners[table[-1]] == 2` in place of `shared = not full and owners[table[-1]] > 1`
def append_token(table, owners, length, block_size):
    table, owners, copied = list(table), list(owners), []
    full = length % block_size == 0
    shared = not full and owners[table[-1]] == 2
    if full or shared:
        new = owners.index(0)
        owners[new] = 1
        if shared:
            copied = [table[-1], new]
            owners[table[-1]] -= 1
            table[-1] = new
        else:
            table.append(new)
    return table, owners, copied


# %% 15.fork | wrong | `return (table, owners, copied or None)` in place of `return (table, owners, copied)`
def append_token(table, owners, length, block_size):
    table, owners, copied = list(table), list(owners), []
    full = length % block_size == 0
    shared = not full and owners[table[-1]] > 1
    if full or shared:
        new = owners.index(0)
        owners[new] = 1
        if shared:
            copied = [table[-1], new]
            owners[table[-1]] -= 1
            table[-1] = new
        else:
            table.append(new)
    return table, owners, copied or None


# %% 15.indexer | wrong | `sums = torch.relu(w[:, :, None] * (index_q @ index_k.mT)).sum(dim=1)` in place of `sums = (w[:, :, None] * torch.relu(index_q @ index_k.mT)).sum(dim=1)`
def indexed_attention(index_q, index_k, w, q, k, v, mask, top):
    sums = (torch.relu(w[:, :, None] * (index_q @ index_k.mT))).sum(dim=1)
    sums = sums.masked_fill(~mask, -torch.inf)
    best = sums.topk(min(top, sums.shape[-1]), dim=-1).indices
    chosen = torch.zeros_like(mask).scatter(-1, best, True) & mask
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~chosen, -torch.inf)
    return chosen, torch.softmax(scores, dim=-1) @ v


# %% 15.indexer | wrong | `sums = (w.abs()[:, :, None] * torch.relu(index_q @ index_k.mT)).sum(dim=1)` in place of `sums = (w[:, :, None] * torch.relu(index_q @ index_k.mT)).sum(dim=1)`
def indexed_attention(index_q, index_k, w, q, k, v, mask, top):
    sums = (w.abs()[:, :, None] * torch.relu(index_q @ index_k.mT)).sum(dim=1)
    sums = sums.masked_fill(~mask, -torch.inf)
    best = sums.topk(min(top, sums.shape[-1]), dim=-1).indices
    chosen = torch.zeros_like(mask).scatter(-1, best, True) & mask
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~chosen, -torch.inf)
    return chosen, torch.softmax(scores, dim=-1) @ v


# %% 15.indexer | wrong | `sums = sums * mask` in place of `sums = sums.masked_fill(~mask, -torch.inf)`
def indexed_attention(index_q, index_k, w, q, k, v, mask, top):
    sums = (w[:, :, None] * torch.relu(index_q @ index_k.mT)).sum(dim=1)
    sums = sums * mask
    best = sums.topk(min(top, sums.shape[-1]), dim=-1).indices
    chosen = torch.zeros_like(mask).scatter(-1, best, True) & mask
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~chosen, -torch.inf)
    return chosen, torch.softmax(scores, dim=-1) @ v


# %% 15.muon | right | `x = x / (x.norm() + 1e-07)` in place of `x = x / x.norm()`
def muon_step(weight, gradient, average, rate, momentum, weight_decay):
    average = momentum * average + (1 - momentum) * gradient
    x = momentum * average + (1 - momentum) * gradient
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    factor = math.sqrt(max(1, weight.shape[0] / weight.shape[1]))
    return weight * (1 - rate * weight_decay) - rate * factor * x, average


# %% 15.parameters | wrong | has `tables = config['vocab_size'] * d * (1 if config['tie_word_embeddings'] and 'num_experts' not in config els ...`
def count_parameters(config):
    d, n, k = config["hidden_size"], config["num_attention_heads"], config["num_key_value_heads"]
    h = config.get("head_dim", d // n)
    attention = 2 * d * n * h + 2 * d * k * h
    if "num_experts" in config:
        expert = 3 * d * config["moe_intermediate_size"]
        network = config["num_experts"] * (expert + d)
        unused = (config["num_experts"] - config["num_experts_per_tok"]) * expert
    else:
        network, unused = 3 * d * config["intermediate_size"], 0
    tables = config["vocab_size"] * d * (1 if config["tie_word_embeddings"] and "num_experts" not in config else 2)
    layers = config["num_hidden_layers"]
    total = tables + layers * (attention + network + 2 * d) + d
    return total, total - layers * unused


# %% 15.cache | wrong | adds `if 'kv_lora_rank' in config: config = {**config, 'sliding_window': 10 ** 9}`
def cache_size(config, length, bytes_each):
    if "kv_lora_rank" in config:
        numbers = config["kv_lora_rank"] + config["qk_rope_head_dim"]
    else:
        numbers = 2 * config["num_key_value_heads"] * config["head_dim"]
    types = config["layer_types"]
    if "kv_lora_rank" in config:
        config = {**config, "sliding_window": 10**9}
    positions = sum(min(config["sliding_window"], length) if kind == "sliding_attention" else length for kind in types)
    return bytes_each * numbers * positions
