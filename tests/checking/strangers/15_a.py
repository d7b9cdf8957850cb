# %% 15.absorb | wrong | divides by the root of the head's width alone, the rotary width forgotten | names=scale-of-one-width
def latent_attention(q, q_position, latent, k_position, w_k, w_v, mask):
    lifted = q @ w_k.transpose(-1, -2)
    scores = (lifted @ latent.T + q_position @ k_position.T) / math.sqrt(q.shape[-1])
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    return weights @ latent @ w_v


# %% 15.absorb | right | keys are expanded after all and joined with the shared key, one head after the other, softmax by logsumexp
def latent_attention(q, q_position, latent, k_position, w_k, w_v, mask):
    heads = []
    for n in range(q.shape[0]):
        query = torch.cat([q[n], q_position[n]], dim=-1)
        key = torch.cat([latent @ w_k[n], k_position], dim=-1)
        scores = query @ key.T * query.shape[-1] ** -0.5
        scores = torch.where(mask, scores, torch.full_like(scores, -math.inf))
        logs = scores - scores.logsumexp(dim=-1, keepdim=True)
        heads.append(logs.exp() @ (latent @ w_v[n]))
    return torch.stack(heads)


# %% 15.accept | wrong | where p and q are equal nothing is left over and the row stays all zeros (division guarded by 1) | names=zeros-where-equal
def accept(p, q):
    keep = torch.where(q > 0, torch.minimum(p / q, torch.ones_like(p)), torch.ones_like(p))
    rest = (p - q).clamp(min=0)
    total = rest.sum(dim=-1, keepdim=True)
    return keep, rest / torch.where(total > 0, total, torch.ones_like(total))


# %% 15.accept | wrong | q + 1e-9 against division by zero, so a token with p = 0 and q = 0 is kept with 0, not 1 | names=small-number-added
def accept(p, q):
    keep = (p / (q + 1e-9)).clamp(max=1)
    rest = (p - q).relu()
    s = rest.sum(-1, keepdim=True)
    return keep, torch.where(s > 0, rest / s, p)


# %% 15.block-scales | wrong | halfway always to the smaller neighbour (argmin takes the first), so 0.75, 1.75 and 3.5 come out wrong | names=half-towards-zero logarithm-rounded
def block_scaled(w, block):
    levels = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    blocks = w.reshape(w.shape[0], -1, block)
    top = np.abs(blocks).max(axis=-1, keepdims=True)
    scale = 2.0 ** (np.floor(np.log2(np.where(top > 0, top, 1))) - 2)
    near = np.abs(np.abs(blocks / scale)[..., None] - levels).argmin(axis=-1)
    return (np.sign(blocks) * levels[near] * scale).reshape(w.shape)


# %% 15.block-scales | right | frexp for the exponent, np.round (half to even) in steps of 0.5, 1 or 2 by size, ldexp back
def block_scaled(w, block):
    M, D = w.shape
    out = np.zeros((M, D), dtype=w.dtype if w.dtype.kind == "f" else np.float64)
    for start in range(0, D, block):
        part = w[:, start : start + block].astype(np.float64)
        _, exponent = np.frexp(np.abs(part).max(axis=1, keepdims=True))
        exponent = exponent - 3
        size = np.minimum(np.abs(np.ldexp(part, -exponent)), 6)
        step = np.where(size <= 2, 0.5, np.where(size <= 4, 1.0, 2.0))
        size = np.round(size / step) * step
        out[:, start : start + block] = np.ldexp(np.copysign(size, part), exponent)
    return out


# %% 15.cache | wrong | with a latent the windows are forgotten: every layer counts all positions, wrong for kv_lora_rank together with sliding layers | names=latent-unwindowed
def cache_size(config, length, bytes_each):
    types = config["layer_types"]
    if config.get("kv_lora_rank"):
        return len(types) * length * (config["kv_lora_rank"] + config["qk_rope_head_dim"]) * bytes_each
    n = sum(length if t == "full_attention" else min(length, config["sliding_window"]) for t in types)
    return 2 * n * config["num_key_value_heads"] * config["head_dim"] * bytes_each


# %% 15.delta | wrong | the difference is taken before the state decays | names=difference-before-decay
def delta_rule(q, k, v, decay, strength):
    state = torch.zeros(k.shape[1], v.shape[1], dtype=q.dtype)
    outputs = []
    for t in range(len(q)):
        missing = v[t] - state.T @ k[t]
        state = decay[t] * state + strength[t] * torch.outer(k[t], missing)
        outputs.append(state.T @ q[t] / math.sqrt(q.shape[1]))
    return torch.stack(outputs), state


# %% 15.delta | wrong | divides by the root of the values' width, wrong where H' differs from H | names=for:v:q#5
def delta_rule(q, k, v, decay, strength):
    S = q.new_zeros(k.shape[-1], v.shape[-1])
    o = []
    for qt, kt, vt, g, b in zip(q, k, v, decay, strength):
        S = g * S
        S = S + b * kt[:, None] * (vt - kt @ S)
        o.append(qt @ S / vt.shape[-1] ** 0.5)
    return torch.stack(o), S


# %% 15.delta | right | other algebra: the old state is multiplied by decay (I - strength k k^T), then strength k v^T is added
def delta_rule(q, k, v, decay, strength):
    T, H = k.shape
    one = torch.eye(H, dtype=k.dtype)
    states = [torch.zeros(H, v.shape[1], dtype=k.dtype)]
    for t in range(T):
        kb = strength[t] * k[t]
        forget = decay[t] * (one - torch.outer(kb, k[t]))
        states.append(forget @ states[-1] + torch.outer(kb, v[t]))
    every = torch.stack(states[1:])
    return torch.einsum("th,thv->tv", q * H**-0.5, every), states[-1]


# %% 15.experts | wrong | the shared expert is taken to be the first, the routed ones follow | names=shared-first
def mixture(x, weights, w_gate, w_up, w_down):
    def expert(e):
        return (torch.nn.functional.silu(x @ w_gate[e]) * (x @ w_up[e])) @ w_down[e]

    out = expert(0)
    for e in range(weights.shape[1]):
        out = out + weights[:, e : e + 1] * expert(e + 1)
    return out


# %% 15.experts | right | the weights get a column of ones, and a token's weight is multiplied in before w_down, in one einsum
def mixture(x, weights, w_gate, w_up, w_down):
    full = torch.cat([weights, torch.ones_like(weights[:, :1])], dim=1)
    a = torch.einsum("td,edf->etf", x, w_gate)
    b = torch.einsum("td,edf->etf", x, w_up)
    hidden = a * torch.sigmoid(a) * b * full.T[:, :, None]
    return torch.einsum("etf,efd->td", hidden, w_down)


# %% 15.fork | wrong | a full last block that is shared is copied, too; it should only get a new block behind it | names=full-block-copied
def append_token(table, owners, length, block_size):
    t, o = table[:], owners[:]
    if t and o[t[-1]] > 1:
        old, new = t[-1], o.index(0)
        o[old] -= 1
        o[new] = 1
        t[-1] = new
        return t, o, [old, new]
    if length % block_size == 0:
        new = o.index(0)
        o[new] = 1
        t.append(new)
    return t, o, []


# %% 15.fork | wrong | the given owners list is changed in place (only the table is copied) | names=inputs-changed
def append_token(table, owners, length, block_size):
    table = table.copy()
    copied = []
    full = length == len(table) * block_size
    if full or owners[table[-1]] > 1:
        free = min(b for b, n in enumerate(owners) if n == 0)
        owners[free] = 1
        if full:
            table.append(free)
        else:
            copied = [table[-1], free]
            owners[table[-1]] -= 1
            table[-1] = free
    return table, owners, copied


# %% 15.hybrid-bytes | wrong | the convolution keeps at most `length` positions: wrong for texts shorter than the kernel | names=inputs-up-to-length
def hybrid_bytes(config, length, bytes_each):
    c, types = config, config["layer_types"]
    kv = 2 * c["num_key_value_heads"] * c["head_dim"] * bytes_each
    cache = kv * length * types.count("full_attention")
    cache += sum(kv * min(length, c["sliding_window"]) for t in types if t == "sliding_attention")
    vh, vd, kh, kd = (c["linear_" + n] for n in ("num_value_heads", "value_head_dim", "num_key_heads", "key_head_dim"))
    conv = min(length, c["linear_conv_kernel_dim"]) * (2 * kh * kd + vh * vd) * bytes_each
    return cache, types.count("linear_attention") * (4 * vh * kd * vd + conv)


# %% 15.indexer | wrong | hidden sums are set to 0 before the choice, so hidden keys are chosen before visible ones of negative sum | names=hidden-at-zero
def indexed_attention(index_q, index_k, w, q, k, v, mask, top):
    sums = (torch.relu(index_q @ index_k.T) * w[..., None]).sum(dim=1)
    sums = sums.masked_fill(~mask, 0)
    best = sums.topk(min(top, k.shape[0]), dim=-1).indices
    chosen = torch.zeros_like(mask).scatter(1, best, True) & mask
    scores = (q @ k.T / math.sqrt(q.shape[1])).masked_fill(~chosen, -math.inf)
    return chosen, torch.softmax(scores, dim=-1) @ v


# %% 15.indexer | wrong | leaves keys out by subtracting 1e4, too little where scores are in the tens of thousands | names=lowered
def indexed_attention(index_q, index_k, w, q, k, v, mask, top):
    s = torch.einsum("tn,tns->ts", w, torch.einsum("tnp,sp->tns", index_q, index_k).relu())
    s = s.masked_fill(~mask, -math.inf)
    idx = s.topk(min(top, s.shape[1])).indices
    c = torch.zeros_like(mask).scatter_(1, idx, True) & mask
    return c, (q @ k.T / q.shape[1] ** 0.5 - 1e4 * (~c)).softmax(-1) @ v


# %% 15.indexer | right | query by query: sorts the visible keys, keeps the first `top`, and attends to the gathered ones alone
def indexed_attention(index_q, index_k, w, q, k, v, mask, top):
    T, S = mask.shape
    chosen = torch.zeros(T, S, dtype=torch.bool)
    outputs = []
    for t in range(T):
        seen = torch.nonzero(mask[t])[:, 0]
        sums = w[t] @ torch.clamp(index_q[t] @ index_k[seen].T, min=0)
        kept = seen[torch.argsort(sums, descending=True)[:top]]
        chosen[t, kept] = True
        weights = torch.softmax(k[kept] @ q[t] / math.sqrt(q.shape[1]), dim=0)
        outputs.append(weights @ v[kept])
    return chosen, torch.stack(outputs)


# %% 15.layers | wrong | layer 0 is the first global one (i % global_every == 0) | names=first-is-global
def layer_plan(n_layers, global_every, window, no_rope_layers, length):
    held = [length if i % global_every == 0 else min(window, length) for i in range(n_layers)]
    return held, [i for i, flag in enumerate(no_rope_layers) if flag == 1]


# %% 15.mtp-input | wrong | joins each state with the embedding of its own token (ids[:-1]), not of the one that follows | names=not-shifted
def mtp_input(states, ids, table, e_gain, h_gain, w, eps):
    def norm(x, gain):
        return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * gain

    return np.concatenate([norm(table[ids[:-1]], e_gain), norm(states, h_gain)], axis=-1) @ w


# %% 15.muon | wrong | the shape's factor is taken the wrong way round, columns / rows | names=shape-inverted
def muon_step(weight, gradient, average, rate, momentum, weight_decay):
    avg = momentum * average + (1 - momentum) * gradient
    x = momentum * avg + (1 - momentum) * gradient
    x = x / torch.linalg.norm(x)
    for _ in range(5):
        G = x @ x.mT
        x = 3.4445 * x + (-4.7750 * G + 2.0315 * G @ G) @ x
    r, c = x.shape
    return weight * (1 - rate * weight_decay) - rate * max(1, c / r) ** 0.5 * x, avg


# %% 15.muon | right | by singular values: the polynomial of each, five times, between the two orthogonal matrices of an SVD
def muon_step(weight, gradient, average, rate, momentum, weight_decay):
    new = torch.lerp(gradient, average, momentum)
    ahead = torch.lerp(gradient, new, momentum)
    left, sizes, right = torch.linalg.svd(ahead, full_matrices=False)
    sizes = sizes / sizes.square().sum().sqrt()
    for _ in range(5):
        sizes = sizes * (3.4445 - 4.7750 * sizes**2 + 2.0315 * sizes**4)
    rows, columns = weight.shape
    stretch = math.sqrt(rows / columns) if rows > columns else 1.0
    step = (left * sizes) @ right
    return weight - rate * weight_decay * weight - rate * stretch * step, new


# %% 15.operations | wrong | a sliding layer always sees a whole window, also in a text shorter than it | names=window-not-full
def token_operations(config, weights, length):
    s = [config["sliding_window"] if t == "sliding_attention" else length for t in config["layer_types"]]
    return 2 * (weights + 2 * config["num_attention_heads"] * config["head_dim"] * sum(s))


# %% 15.operations | right | counts the two kinds of layers, and one full layer of all heads as a (N H) x length product, twice
def token_operations(config, weights, length):
    kinds = list(config["layer_types"])
    near = kinds.count("sliding_attention")
    positions = (len(kinds) - near) * length
    if near:
        positions += near * (length if length < config["sliding_window"] else config["sliding_window"])
    width = config["num_attention_heads"] * config["head_dim"]
    return 2 * weights + 2 * (width * positions) + 2 * (positions * width)


# %% 15.pages | wrong | attends to all blocks to their ends: the unfilled part of the last block takes part | names=last-block-whole
def paged_attention(q, k_blocks, v_blocks, table, length):
    H = q.shape[0]
    keys = k_blocks[table].reshape(-1, H)
    values = v_blocks[table].reshape(-1, H)
    weights = torch.softmax(keys @ q / math.sqrt(H), dim=0)
    return weights @ values


# %% 15.pages | wrong | the last block counts as filled up to length % P, so where the length is a multiple of P its last block is left out | names=last-block-by-remainder
def paged_attention(q, k_blocks, v_blocks, table, length):
    P = k_blocks.shape[1]
    n = -(-length // P)
    t = torch.as_tensor(table)[:n].tolist()
    ks = [k_blocks[b] for b in t[:-1]] + [k_blocks[t[-1], : length % P]]
    vs = [v_blocks[b] for b in t[:-1]] + [v_blocks[t[-1], : length % P]]
    w = (torch.cat(ks) @ q / q.shape[0] ** 0.5).softmax(0)
    return w @ torch.cat(vs)


# %% 15.pages | right | position by position with divmod, running maximum and running sums (online softmax), float64 inside
def paged_attention(q, k_blocks, v_blocks, table, length):
    P, H = k_blocks.shape[1:]
    query = q.double() / math.sqrt(H)
    top, total = -math.inf, 0.0
    mixed = torch.zeros(v_blocks.shape[-1], dtype=torch.float64)
    for position in range(int(length)):
        number, slot = divmod(position, P)
        block = int(table[number])
        score = float(query @ k_blocks[block, slot].double())
        new_top = max(top, score)
        shrink, weight = math.exp(top - new_top), math.exp(score - new_top)
        mixed = mixed * shrink + weight * v_blocks[block, slot].double()
        total = total * shrink + weight
        top = new_top
    return (mixed / total).to(q.dtype)


# %% 15.parameters | wrong | the head width is always hidden_size / num_attention_heads, an entry head_dim is ignored | names=head-by-division
def count_parameters(config):
    D, L = config["hidden_size"], config["num_hidden_layers"]
    N, K = config["num_attention_heads"], config["num_key_value_heads"]
    H = D // N
    layer = 2 * D * N * H + 2 * D * K * H + 2 * D
    if "num_experts" in config:
        expert = 3 * D * config["moe_intermediate_size"]
        router = D * config["num_experts"]
        stored, met = config["num_experts"] * expert + router, config["num_experts_per_tok"] * expert + router
    else:
        stored = met = 3 * D * config["intermediate_size"]
    tables = config["vocab_size"] * D * (1 if config.get("tie_word_embeddings") else 2)
    return L * (layer + stored) + D + tables, L * (layer + met) + D + tables


# %% 15.parameters | wrong | of the router a token is said to meet only the columns of its chosen experts | names=router-not-met
def count_parameters(config):
    g = config.get
    D, L, N, K, V = (
        config[n]
        for n in ("hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size")
    )
    H = g("head_dim") or D // N
    rest = V * D * (2 - bool(g("tie_word_embeddings"))) + D + L * (2 * D * H * (N + K) + 2 * D)
    if not g("num_experts"):
        n = rest + L * 3 * D * config["intermediate_size"]
        return n, n
    one = 3 * D * config["moe_intermediate_size"] + D
    return rest + L * config["num_experts"] * one, rest + L * config["num_experts_per_tok"] * one


# %% 15.parameters | right | a list of all matrix shapes is added up, and what is not met is subtracted at the end
def count_parameters(config):
    D, N, K = config["hidden_size"], config["num_attention_heads"], config["num_key_value_heads"]
    H = config["head_dim"] if config.get("head_dim") is not None else D // N
    layer = [(D, N * H), (D, K * H), (D, K * H), (N * H, D), (D, 1), (D, 1)]
    experts = config.get("num_experts")
    idle = 0
    if experts is None:
        layer += 3 * [(D, config["intermediate_size"])]
    else:
        F = config["moe_intermediate_size"]
        layer += [(D, experts)] + 3 * experts * [(D, F)]
        idle = 3 * D * F * (experts - config["num_experts_per_tok"])
    outside = [(config["vocab_size"], D), (D, 1)]
    if not config.get("tie_word_embeddings"):
        outside.append((D, config["vocab_size"]))
    L = config["num_hidden_layers"]
    total = L * sum(a * b for a, b in layer) + sum(a * b for a, b in outside)
    return total, total - L * idle


# %% 15.per-layer | wrong | takes every layers-th column (the layers' numbers interleaved), not P side by side | names=layers-interleaved
def per_layer_step(x, ids, table, layer, w_gate, w_out, gain, eps):
    P = w_gate.shape[1]
    layers = table.shape[1] // P
    own = table[ids][:, layer::layers] * math.sqrt(P)
    g = x @ w_gate
    g = g / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (g + 0.044715 * g**3)))
    added = (g * own) @ w_out
    return x + added / np.sqrt((added**2).mean(axis=-1, keepdims=True) + eps) * gain


# %% 15.qk-norm | wrong | rotates first and norms afterwards, so the gains fall on the turned numbers | names=rotated-first
def normed_scores(q, k, q_gain, k_gain, cos, sin, eps):
    def prepare(x, gain):
        a, b = x.chunk(2, dim=-1)
        x = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
        return x / torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * gain

    return prepare(q, q_gain) @ prepare(k, k_gain).transpose(-1, -2) / math.sqrt(q.shape[-1])


# %% 15.qk-norm | right | halves as complex numbers, times cos + i sin; the score is the real part of the Hermitian product
def normed_scores(q, k, q_gain, k_gain, cos, sin, eps):
    H = q.shape[-1]
    turn = torch.complex(cos, sin)

    def prepare(x, gain):
        size = torch.sqrt(torch.einsum("...h,...h->...", x, x) / H + eps)[..., None]
        y = gain * x / size
        return torch.complex(y[..., : H // 2].contiguous(), y[..., H // 2 :].contiguous()) * turn

    a, b = prepare(q, q_gain), prepare(k, k_gain)
    return torch.einsum("nth,nsh->nts", a, b.conj()).real * H**-0.5


# %% 15.quantise | wrong | keys by token and values by channel: the axes are mixed up | names=axes-exchanged
def quantised(k, v, bits):
    def back(x, dim):
        low, high = x.amin(dim, keepdim=True), x.amax(dim, keepdim=True)
        step = (high - low) / (2**bits - 1)
        whole = torch.round((x - low) / torch.where(step > 0, step, torch.ones_like(step)))
        return torch.where(step > 0, whole * step + low, x)

    return back(k, 1), back(v, 0)


# %% 15.quantise | wrong | stores int8, so with bits = 8 whole numbers from 128 on wrap round to negative | names=codes-in-int8
def quantised(k, v, bits):
    def f(x, d):
        lo = x.amin(d, keepdim=True)
        step = (x.amax(d, keepdim=True) - lo) / (2**bits - 1)
        safe = torch.where(step == 0, torch.ones_like(step), step)
        stored = ((x - lo) / safe).round().to(torch.int32).to(torch.int8)
        return stored.to(x.dtype) * step + lo

    return f(k, 0), f(v, 1)


# %% 15.quantise | right | group after group in a loop: a linspace of all levels, and the nearest by argmin of distances
def quantised(k, v, bits):
    def group(numbers):
        low, high = numbers.min(), numbers.max()
        if low == high:
            return numbers.clone()
        n = 2**bits - 1
        levels = low + (high - low) * torch.arange(n + 1, dtype=numbers.dtype) / n
        return levels[(numbers[:, None] - levels).abs().argmin(dim=1)]

    keys = torch.stack([group(column) for column in k.T], dim=1)
    values = torch.stack([group(row) for row in v])
    return keys, values


# %% 15.ring | wrong | while the ring fills, the new token's own slot is left out of the attention | names=new-one-seen-at-first
def ring_step(k_ring, v_ring, q, k, v, position):
    W, H = k_ring.shape
    k_ring, v_ring = k_ring.clone(), v_ring.clone()
    k_ring[position % W] = k
    v_ring[position % W] = v
    written = max(1, min(position, W))
    weights = torch.softmax(k_ring[:written] @ q / math.sqrt(H), dim=0)
    return weights @ v_ring[:written], k_ring, v_ring


# %% 15.ring | wrong | takes slots for unwritten if they hold zeros only; the text says arbitrary numbers | names=unwritten-seen
def ring_step(k_ring, v_ring, q, k, v, position):
    kr, vr = k_ring.clone(), v_ring.clone()
    kr[position % len(kr)], vr[position % len(vr)] = k, v
    s = kr @ q / q.shape[0] ** 0.5
    s[(kr == 0).all(-1)] = -math.inf
    return s.softmax(0) @ vr, kr, vr


# %% 15.ring | right | index list of the newest positions in the order of the text, gathered from rings made by torch.where
def ring_step(k_ring, v_ring, q, k, v, position):
    W = k_ring.shape[0]
    here = (torch.arange(W) == position % W)[:, None]
    k_new = torch.where(here, k, k_ring)
    v_new = torch.where(here, v, v_ring)
    slots = [t % W for t in range(max(0, position - W + 1), position + 1)]
    keys, values = k_new[slots], v_new[slots]
    scores = (keys * q).sum(dim=-1) / math.sqrt(len(q))
    raised = torch.exp(scores - scores.max())
    return (raised[:, None] * values).sum(dim=0) / raised.sum(), k_new, v_new


# %% 15.route | wrong | the weights are the gates plus bias of the chosen, not the gates alone | names=bias-in-the-weight
def route(x, w_router, bias, k, factor):
    gates = torch.sigmoid(x @ w_router) + bias
    values, chosen = gates.topk(k, dim=-1)
    values = values / values.sum(dim=-1, keepdim=True) * factor
    return torch.zeros_like(gates).scatter(-1, chosen, values)


# %% 15.route | wrong | divides by the sum only where k > 1 (as library code does), so for k = 1 the weight is gate * factor, not factor | names=alone-not-divided
def route(x, w_router, bias, k, factor):
    g = (x @ w_router).sigmoid()
    idx = (g + bias).topk(k).indices
    w = g.gather(1, idx)
    if k > 1:
        w = w / w.sum(1, keepdim=True)
    return torch.zeros_like(g).scatter_(1, idx, w * factor)


# %% 15.route | right | an expert is chosen if fewer than k others have a larger sum: comparisons of all pairs, no topk
def route(x, w_router, bias, k, factor):
    gates = 1 / (1 + torch.exp(-(x @ w_router)))
    chance = gates + bias
    larger = (chance[:, None, :] > chance[:, :, None]).sum(dim=-1)
    kept = torch.where(larger < k, gates, torch.zeros_like(gates))
    return kept * (factor / kept.sum(dim=1, keepdim=True))
