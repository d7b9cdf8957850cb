"""Chapter 15: right answers written otherwise: loops, einsum, numpy."""

import math

import numpy as np
import torch
from torch.nn import functional as F

from right_answers_configs import CONFIGS
from right_answers_formats import FORMATS


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


def latent_expanded(q, q_position, latent, k_position, w_k, w_v, mask):
    keys, values = latent @ w_k, latent @ w_v
    scores = torch.einsum("nth,nsh->nts", q, keys) + torch.einsum("ntp,sp->nts", q_position, k_position)
    scores = scores / (q.shape[-1] + q_position.shape[-1]) ** 0.5
    return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ values


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


def sinks_first_column(scores, values, sink):
    column = sink.view(-1, 1, 1).repeat(1, scores.shape[1], 1)
    weights = torch.cat((column, scores), dim=2).softmax(dim=2)
    return torch.bmm(weights[:, :, 1:], values), weights[:, :, 0]


def norms_rms(q, k, q_gain, k_gain, cos, sin, eps):
    half = q.shape[-1] // 2
    cosines, sines = torch.cat((cos, cos), -1), torch.cat((sin, sin), -1)

    def turned(x, gain):
        x = F.rms_norm(x, x.shape[-1:], gain, eps)
        return x * cosines + torch.cat((-x[..., half:], x[..., :half]), -1) * sines

    return turned(q, q_gain) @ turned(k, k_gain).transpose(1, 2) * q.shape[-1] ** -0.5


def norms_rsqrt(q, k, q_gain, k_gain, cos, sin, eps):
    out = []
    for x, gain in ((q, q_gain), (k, k_gain)):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain
        a, b = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
        out.append(torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1))
    return torch.einsum("nth,nsh->nts", *out) / q.shape[-1] ** 0.5


def layers_loop(n_layers, global_every, window, no_rope_layers, length):
    cached, rotary = [], []
    for layer in range(1, n_layers + 1):
        sees_all = layer % global_every == 0
        cached.append(length if sees_all or length < window else window)
        if no_rope_layers[layer - 1]:
            rotary.append(layer - 1)
    return cached, rotary


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


def yarn_torch(head_width, base, factor, trained_length, fast_turns, slow_turns):
    i = torch.arange(head_width // 2, dtype=torch.float64)
    speed = torch.exp(-2 * i / head_width * math.log(base))
    share = (torch.log(trained_length * speed / math.tau) - math.log(slow_turns)) / math.log(fast_turns / slow_turns)
    share = share.clamp(0, 1)
    return torch.lerp(speed / factor, speed, share), torch.tensor(0.1 * math.log(factor) + 1)


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


def accept_rows(p, q):
    chances, rests = [], []
    for a, b in zip(p, q, strict=True):
        chances.append(
            torch.tensor(
                [1.0 if y == 0 else min(1.0, x / y) for x, y in zip(a.tolist(), b.tolist(), strict=True)], dtype=p.dtype
            )
        )
        rest = torch.relu(a - b)
        rests.append(rest / rest.sum() if rest.any() else a)
    return torch.stack(chances), torch.stack(rests)


def speculate_at_once(p, q, drafted, u):
    rows = torch.arange(len(drafted))
    stays = u[:-1] * q[rows, drafted] < p[rows, drafted]
    n = int(stays.int().cumprod(0).sum())
    padded = torch.cat((q, torch.zeros_like(p[:1])))
    left = (p[n] - padded[n]).clamp(min=0)
    return torch.cat((drafted[:n], ((left / left.sum()).cumsum(0) <= u[-1]).sum().view(1)))


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


def quantised_nearest(k, v, bits):
    def nearest(x):
        least, most = x.amin(1, keepdim=True), x.amax(1, keepdim=True)
        steps = least + (most - least) * torch.arange(2**bits) / (2**bits - 1)
        return steps.gather(1, (x[:, :, None] - steps[:, None]).abs().argmin(2))

    return nearest(k.T.contiguous()).T, nearest(v)


def delta_projected(q, k, v, decay, strength):
    state, outputs = torch.zeros(q.shape[1], v.shape[1]).to(q), []
    for t in range(len(q)):
        keep = torch.eye(len(state)).to(q) - strength[t] * k[t][:, None] * k[t]
        state = keep @ (decay[t] * state) + strength[t] * k[t][:, None] * v[t]
        outputs.append(state.T @ q[t] / len(state) ** 0.5)
    return torch.stack(outputs), state


def delta_einsum(q, k, v, decay, strength):
    state = torch.zeros((q.shape[1], v.shape[1]), dtype=q.dtype)
    rows = torch.empty_like(v)
    for t, (key, value) in enumerate(zip(k, v, strict=True)):
        state *= decay[t]
        old_value = torch.einsum("h,hv->v", key, state)
        state += torch.einsum("h,v->hv", key, (value - old_value) * strength[t])
        rows[t] = torch.einsum("h,hv->v", q[t], state) * q.shape[1] ** -0.5
    return rows, state


def pages_masked(q, k_blocks, v_blocks, table, length):
    keys, values = (blocks[table].reshape(-1, len(q)) for blocks in (k_blocks, v_blocks))
    scores = (keys @ q / math.sqrt(len(q))).masked_fill(torch.arange(len(keys)) >= length, -torch.inf)
    return scores.softmax(0) @ values


def pages_fused(q, k_blocks, v_blocks, table, length):
    keys, values = (torch.cat([blocks[int(b)] for b in table])[:length] for blocks in (k_blocks, v_blocks))
    return F.scaled_dot_product_attention(q[None], keys, values)[0]


def fork_cases(table, owners, length, block_size):
    def first_free():
        return next(b for b, users in enumerate(owners) if users == 0)

    new = first_free()
    if length % block_size == 0:
        return table + [new], owners[:new] + [1] + owners[new + 1 :], []
    last = table[-1]
    if owners[last] == 1:
        return table[:], owners[:], []
    after = owners[:]
    after[new], after[last] = 1, after[last] - 1
    return table[:-1] + [new], after, [last, new]


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


def muon_singular_values(weight, gradient, average, rate, momentum, weight_decay):
    average = torch.lerp(gradient, average, momentum)
    u, s, vt = torch.linalg.svd(torch.lerp(gradient, average, momentum), full_matrices=False)
    s = s / s.norm()
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    step = max(1.0, len(weight) / weight.shape[1]) ** 0.5 * (u * s) @ vt
    return weight - rate * (weight_decay * weight + step), average


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


def schedule_least(step, peak, warmup, stable, decay):
    return peak * max(0, min(step / warmup, 1, (warmup + stable + decay - step) / decay))


RIGHT = {
    "15.route": [route_mask, route_numpy],
    "15.experts": [mixture_loop, mixture_batched],
    "15.absorb": [latent_expanded, latent_joined],
    "15.sinks": [sinks_shifted, sinks_first_column],
    "15.qk-norm": [norms_rms, norms_rsqrt],
    "15.layers": [layers_loop, layers_slices, layers_numpy],
    "15.ring": [ring_joined, ring_numpy],
    "15.yarn": [yarn_interpolated, yarn_torch],
    "15.accept": [accept_minimum, accept_numpy, accept_rows],
    "15.speculate": [speculate_at_once, speculate_numpy],
    "15.quantise": [quantised_numpy, quantised_nearest],
    "15.delta": [delta_projected, delta_einsum],
    "15.pages": [pages_masked, pages_fused],
    "15.fork": [fork_cases, fork_numpy, fork_dictionary],
    "15.indexer": [indexed_ranks, indexed_numpy],
    "15.muon": [muon_singular_values, muon_transposed],
    "15.schedule": [schedule_corners, schedule_least],
    **CONFIGS,
    **FORMATS,
}
