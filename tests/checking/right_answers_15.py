"""Chapter 15: right answers written otherwise: loops, einsum, numpy."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def route_mask(x, w_router, bias, k, factor):
    gates = 1 / (1 + torch.exp(-(x @ w_router)))
    least = (gates + bias).sort(dim=-1, descending=True).values[:, k - 1 : k]
    chosen = gates * (gates + bias >= least)
    return chosen * (factor / chosen.sum(1)[:, None])


def route_numpy(x, w_router, bias, k, factor):
    x, w_router, bias = (tensor.numpy() for tensor in (x, w_router, bias))
    gates = 1 / (1 + np.exp(-(x @ w_router)))
    weights = np.zeros_like(gates)
    best = np.argpartition(-(gates + bias), k - 1, axis=1)[:, :k]
    np.put_along_axis(weights, best, np.take_along_axis(gates, best, axis=1), axis=1)
    return factor * weights / weights.sum(axis=1, keepdims=True)


def mixture_loop(x, weights, w_gate, w_up, w_down):
    y = (F.silu(x @ w_gate[-1]) * (x @ w_up[-1])) @ w_down[-1]
    for e in range(weights.shape[1]):
        y = y + weights[:, e, None] * ((F.silu(x @ w_gate[e]) * (x @ w_up[e])) @ w_down[e])
    return y


def mixture_batched(x, weights, w_gate, w_up, w_down):
    hidden = F.silu(x @ w_gate) * (x @ w_up)  # (E + 1, T, F)
    outputs = hidden @ w_down
    return (weights.T[:, :, None] * outputs[:-1]).sum(0) + outputs[-1]


def latent_joined(q, q_position, latent, k_position, w_k, w_v, mask):
    queries = torch.cat((q @ w_k.transpose(1, 2), q_position), dim=-1)
    keys = torch.cat((latent, k_position), dim=-1)
    scale = (q.shape[-1] + q_position.shape[-1]) ** -0.5
    weights = torch.softmax(torch.where(mask, scale * (queries @ keys.T), -torch.inf), dim=-1)
    return torch.einsum("nts,sr,nrh->nth", weights, latent, w_v)


def sinks_shifted(scores, values, sink):
    sink = sink[:, None, None]
    most = torch.maximum(scores.amax(-1, keepdim=True), sink)
    raised, of_sink = (scores - most).exp(), (sink - most).exp()
    total = raised.sum(-1, keepdim=True) + of_sink
    return raised / total @ values, (of_sink / total)[..., 0]


def norms_rms(q, k, q_gain, k_gain, cos, sin, eps):
    half = q.shape[-1] // 2
    cosines, sines = torch.cat((cos, cos), -1), torch.cat((sin, sin), -1)

    def turned(x, gain):
        x = F.rms_norm(x, x.shape[-1:], gain, eps)
        return x * cosines + torch.cat((-x[..., half:], x[..., :half]), -1) * sines

    return turned(q, q_gain) @ turned(k, k_gain).transpose(1, 2) * q.shape[-1] ** -0.5


def layers_slices(n_layers, global_every, window, no_rope_layers, length):
    cached = [min(window, length)] * n_layers
    cached[global_every - 1 :: global_every] = [length] * len(cached[global_every - 1 :: global_every])
    return cached, [i for i, turns in enumerate(no_rope_layers) if turns]


def layers_numpy(n_layers, global_every, window, no_rope_layers, length):
    number = np.arange(1, n_layers + 1)
    cached = np.where(number % global_every, min(window, length), length)
    return cached.tolist(), np.flatnonzero(no_rope_layers).tolist()


def ring_joined(k_ring, v_ring, q, k, v, position):
    at = position % len(k_ring)
    k_ring, v_ring = (torch.cat((r[:at], n[None], r[at + 1 :])) for r, n in ((k_ring, k), (v_ring, v)))
    n = min(len(k_ring), 1 + position)
    out = F.scaled_dot_product_attention(q[None], k_ring[:n], v_ring[:n])
    return out[0], k_ring, v_ring


def ring_numpy(k_ring, v_ring, q, k, v, position):
    k_ring, v_ring, q = k_ring.numpy().copy(), v_ring.numpy().copy(), q.numpy()
    k_ring[position % len(k_ring)], v_ring[position % len(v_ring)] = k.numpy(), v.numpy()
    n = min(len(k_ring), position + 1)
    scores = k_ring[:n] @ q / np.sqrt(len(q))
    weights = np.exp(scores - scores.max())
    return (weights / weights.sum()) @ v_ring[:n], k_ring, v_ring


def yarn_interpolated(head_width, base, factor, trained_length, fast_turns, slow_turns):
    speeds = np.array([base ** (-2 * i / head_width) for i in range(head_width // 2)])
    turns = np.log(trained_length * speeds / (2 * np.pi))
    unscaled = np.interp(turns, [np.log(slow_turns), np.log(fast_turns)], [0.0, 1.0])
    return speeds * unscaled + speeds * (1 - unscaled) / factor, 1 + 0.1 * np.log(factor)


def accept_minimum(p, q):
    both = torch.minimum(p, q)
    chance = torch.where(q == 0, 1.0, both / q)
    rest = p - both
    total = rest.sum(1, keepdim=True)
    return chance, torch.where(total == 0, p, rest / total)


def accept_numpy(p, q):
    p, q = p.numpy(), q.numpy()
    chance = np.divide(np.minimum(p, q), q, out=np.ones_like(p), where=q > 0)
    rest = np.maximum(p - q, 0)
    total = rest.sum(axis=1, keepdims=True)
    return chance, np.divide(rest, total, out=p.copy(), where=total > 0)


def speculate_numpy(p, q, drafted, u):
    p, q, drafted, u = (tensor.numpy() for tensor in (p, q, drafted, u))
    at = np.arange(len(drafted))
    lost = np.flatnonzero(u[:-1] * q[at, drafted] >= p[at, drafted])
    n = lost[0] if len(lost) else len(drafted)
    left = np.maximum(p[n] - q[n], 0) if n < len(drafted) else p[n]
    token = np.searchsorted(np.cumsum(left / left.sum()), u[-1], side="right")
    return np.append(drafted[:n], token)


def quantised_numpy(k, v, bits):
    def rounded(x, axis):
        least, most = x.min(axis, keepdims=True), x.max(axis, keepdims=True)
        step = np.where(most > least, (most - least) / (2**bits - 1), 1)
        return np.rint((x - least) / step) * step + least

    return rounded(k.numpy(), 0), rounded(v.numpy(), 1)


def delta_einsum(q, k, v, decay, strength):
    state = torch.zeros((q.shape[1], v.shape[1]), dtype=q.dtype)
    rows = torch.empty_like(v)
    for t, (key, value) in enumerate(zip(k, v, strict=True)):
        state *= decay[t]
        old_value = torch.einsum("h,hv->v", key, state)
        state += torch.einsum("h,v->hv", key, (value - old_value) * strength[t])
        rows[t] = torch.einsum("h,hv->v", q[t], state) * q.shape[1] ** -0.5
    return rows, state


def pages_fused(q, k_blocks, v_blocks, table, length):
    keys, values = (torch.cat([blocks[int(b)] for b in table])[:length] for blocks in (k_blocks, v_blocks))
    return F.scaled_dot_product_attention(q[None], keys, values)[0]


def fork_numpy(table, owners, length, block_size):
    users, blocks, copied = np.array(owners), table.copy(), []
    room = len(table) * block_size - length
    if room == 0 or users[table[-1]] > 1:
        new = int(np.flatnonzero(users == 0)[0])
        users[new] += 1
        if room:
            copied = [table[-1], new]
            users[blocks.pop()] -= 1
        blocks.append(new)
    return blocks, users.tolist(), copied


def fork_dictionary(table, owners, length, block_size):
    users = dict(enumerate(owners))
    new = min(block for block in users if not users[block])
    if not length % block_size:
        users[new] = 1
        return [*table, new], list(users.values()), []
    *before, last = table
    if users[last] < 2:
        return list(table), list(owners), []
    users[last] -= 1
    users[new] = 1
    return [*before, new], list(users.values()), [last, new]


def indexed_ranks(index_q, index_k, w, q, k, v, mask, top):
    sums = torch.einsum("tn,tns->ts", w, torch.einsum("tnp,sp->tns", index_q, index_k).clamp(min=0))
    sums = torch.where(mask, sums, -torch.inf)
    rank = (sums[:, None, :] > sums[:, :, None]).sum(-1)
    chosen = mask & (rank < top)
    return chosen, F.scaled_dot_product_attention(q, k, v, attn_mask=chosen)


def indexed_numpy(index_q, index_k, w, q, k, v, mask, top):
    dots = np.maximum(index_q.numpy() @ index_k.numpy().T, 0)
    sums = np.where(mask.numpy(), (w.numpy()[:, :, None] * dots).sum(1), -np.inf)
    chosen = np.zeros(mask.shape, dtype=bool)
    np.put_along_axis(chosen, np.argsort(-sums, axis=1)[:, :top], True, axis=1)
    chosen &= mask.numpy()
    scores = np.where(chosen, q.numpy() @ k.numpy().T / np.sqrt(q.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(1, keepdims=True))
    return chosen, weights / weights.sum(1, keepdims=True) @ v.numpy()


def muon_transposed(weight, gradient, average, rate, momentum, weight_decay):
    new = momentum * average + gradient * (1 - momentum)
    x = (momentum * new + gradient * (1 - momentum)).T
    x = F.normalize(x.flatten(), dim=0).view_as(x)
    for _ in range(5):
        g = x.T @ x
        x = x @ (3.4445 * torch.eye(len(g)).to(g) - 4.7750 * g + 2.0315 * g @ g)
    scale = math.sqrt(max(weight.shape[0] / weight.shape[1], 1))
    return weight * (1 - rate * weight_decay) - rate * scale * x.T, new


def schedule_corners(step, peak, warmup, stable, decay):
    return float(np.interp(step, [0, warmup, warmup + stable, warmup + stable + decay], [0, peak, peak, 0]))


def parameters_by_layer(config):
    d, vocab = config["hidden_size"], config["vocab_size"]
    head = config.get("head_dim", d // config["num_attention_heads"])
    total = met = vocab * d if config["tie_word_embeddings"] else 2 * vocab * d
    for _ in range(config["num_hidden_layers"]):
        layer = 2 * d + 2 * d * head * (config["num_attention_heads"] + config["num_key_value_heads"])
        if config.get("num_experts"):
            expert = 3 * d * config["moe_intermediate_size"]
            layer += d * config["num_experts"]
            total += layer + config["num_experts"] * expert
            met += layer + config["num_experts_per_tok"] * expert
        else:
            total += layer + 3 * d * config["intermediate_size"]
            met += layer + 3 * d * config["intermediate_size"]
    return np.int64(total + d), np.int64(met + d)


def _seen(config, length):
    return [
        min(length, config["sliding_window"]) if kind.startswith("sliding") else length
        for kind in config["layer_types"]
    ]


def cache_layers(config, length, bytes_each):
    latent = config.get("kv_lora_rank")
    total = 0
    for cached in _seen(config, length):
        if latent is None:
            total += cached * (config["num_key_value_heads"] * config["head_dim"] * 2)
        else:
            total += cached * (latent + config["qk_rope_head_dim"])
    return total * bytes_each


def cache_numpy(config, length, bytes_each):
    narrow = np.array([kind == "sliding_attention" for kind in config["layer_types"]])
    cached = np.where(narrow, min(config.get("sliding_window", length), length), length)
    each = 2 * config["num_key_value_heads"] * config["head_dim"]
    if "kv_lora_rank" in config:
        each = config["kv_lora_rank"] + config["qk_rope_head_dim"]
    return cached.sum() * each * bytes_each


def operations_layers(config, weights, length):
    width = config["head_dim"] * config["num_attention_heads"]
    return weights * 2 + sum(2 * 2 * width * keys for keys in _seen(config, length))


def operations_numpy(config, weights, length):
    keys = np.array(_seen(config, length), dtype=np.int64)
    return np.int64(2) * (weights + 2 * config["num_attention_heads"] * config["head_dim"] * keys.sum())


def hybrid_layers(config, length, bytes_each):
    keys = config["linear_key_head_dim"] * config["linear_num_key_heads"]
    totals = {"caches": 0, "states": 0}
    for layer in config["layer_types"]:
        if layer.startswith("linear"):
            heads, width = config["linear_num_value_heads"], config["linear_value_head_dim"]
            totals["states"] += heads * width * config["linear_key_head_dim"] * 4
            totals["states"] += (heads * width + keys + keys) * config["linear_conv_kernel_dim"] * bytes_each
        else:
            rows = min(length, config["sliding_window"] if layer.startswith("sliding") else length)
            totals["caches"] += rows * config["num_key_value_heads"] * config["head_dim"] * 2 * bytes_each
    return list(totals.values())


def hybrid_numpy(config, length, bytes_each):
    kinds = np.array(config["layer_types"])
    most = np.select(
        [kinds == "full_attention", kinds == "sliding_attention"], [length, min(length, config["sliding_window"])], 0
    )
    row = np.array([2, config["num_key_value_heads"], config["head_dim"], bytes_each]).prod()
    names = ("linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim")
    state = 4 * np.array([config[name] for name in names]).prod()
    channels = 2 * config[names[1]] * config["linear_num_key_heads"] + config[names[2]] * config[names[0]]
    each = state + channels * config["linear_conv_kernel_dim"] * bytes_each
    return most.sum() * row, each * (kinds == "linear_attention").sum()


def mtp_split(states, ids, table, e_gain, h_gain, w, eps):
    d = states.shape[-1]
    after = table[ids][1:]
    token = after * e_gain / np.sqrt(np.mean(after * after, axis=1, keepdims=True) + eps)
    state = states * h_gain / np.sqrt(np.mean(states * states, axis=1, keepdims=True) + eps)
    return token @ w[:d] + state @ w[d:]


def mtp_torch(states, ids, table, e_gain, h_gain, w, eps):
    states, table, e_gain, h_gain, w = (torch.as_tensor(x) for x in (states, table, e_gain, h_gain, w))
    pair = torch.nn.functional.embedding(torch.as_tensor(ids)[1:], table), states
    normed = [
        torch.nn.functional.rms_norm(x, x.shape[-1:], gain, eps) for x, gain in zip(pair, (e_gain, h_gain), strict=True)
    ]
    return (torch.hstack(normed) @ w).numpy()


def blocks_looked_up(w, block):
    codes = np.array([0, 1, 2, 4, 0.5, 1.5, 3, 6])  # the even ones first: ties are theirs
    blocks = w.reshape(w.shape[0], -1, block)
    largest = np.abs(blocks).max(-1, keepdims=True)
    scale = np.exp2(np.floor(np.log2(np.where(largest == 0, 1, largest.astype(np.float64))))) / 4
    nearest = np.argmin(np.abs(np.abs(blocks)[..., None] / scale[..., None] - codes), axis=-1)
    return (np.copysign(codes[nearest], blocks) * scale).reshape(w.shape)


def blocks_torch(w, block):
    x = torch.as_tensor(w).double().unflatten(-1, (-1, block))
    exponent = torch.frexp(x.abs().amax(-1, keepdim=True)).exponent
    x = torch.ldexp(x, 3 - exponent).clamp(-6, 6)
    step = torch.where(x.abs() < 2, 0.5, torch.where(x.abs() < 4, 1.0, 2.0)).double()
    return torch.ldexp((x / step).round() * step, exponent - 3).flatten(-2).numpy()


def table_packed(x, ids, table, layer, w_gate, w_out, gain, eps):
    width = w_gate.shape[1]
    row = table.reshape(len(table), -1, width)[ids][:, layer]
    g = x @ w_gate
    inner = (2 / np.pi) ** 0.5 * (g + 0.044715 * g * g * g)
    y = (0.5 * g * (1 + np.tanh(inner)) * row * width**0.5) @ w_out
    return x + gain * y * (np.mean(y * y, axis=1, keepdims=True) + eps) ** -0.5


def table_torch(x, ids, table, layer, w_gate, w_out, gain, eps):
    x, w_gate, w_out, gain = (torch.as_tensor(value).double() for value in (x, w_gate, w_out, gain))
    width = w_gate.shape[1]
    row = torch.as_tensor(table)[torch.as_tensor(ids)].double().split(width, dim=1)[layer] * width**0.5
    y = (torch.nn.functional.gelu(x @ w_gate, approximate="tanh") * row) @ w_out
    return (x + torch.nn.functional.rms_norm(y, y.shape[-1:], gain, eps)).numpy()


RIGHT = {
    "15.route": [route_mask, route_numpy],
    "15.experts": [mixture_loop, mixture_batched],
    "15.absorb": [latent_joined],
    "15.sinks": [sinks_shifted],
    "15.qk-norm": [norms_rms],
    "15.layers": [layers_slices, layers_numpy],
    "15.ring": [ring_joined, ring_numpy],
    "15.yarn": [yarn_interpolated],
    "15.accept": [accept_minimum, accept_numpy],
    "15.speculate": [speculate_numpy],
    "15.quantise": [quantised_numpy],
    "15.delta": [delta_einsum],
    "15.pages": [pages_fused],
    "15.fork": [fork_numpy, fork_dictionary],
    "15.indexer": [indexed_ranks, indexed_numpy],
    "15.muon": [muon_transposed],
    "15.schedule": [schedule_corners],
    "15.parameters": [parameters_by_layer],
    "15.cache": [cache_layers, cache_numpy],
    "15.hybrid-bytes": [hybrid_layers, hybrid_numpy],
    "15.operations": [operations_layers, operations_numpy],
    "15.per-layer": [table_packed, table_torch],
    "15.mtp-input": [mtp_split, mtp_torch],
    "15.block-scales": [blocks_looked_up, blocks_torch],
}
