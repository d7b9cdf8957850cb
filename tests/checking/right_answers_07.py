"""Right answers to the tasks of chapter 7, each written in another way than the published solution."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def layers_by_index(x, w):
    y = x.clone()
    for i in range(w.shape[0]):
        y = y + F.relu(torch.einsum("...d,de->...e", y, w[i]))
    return y


def norm_std(x, gain, shift, eps):
    spread = x.var(-1, correction=0, keepdim=True).add(eps).sqrt()
    return gain * ((x - x.mean(-1, keepdim=True)) / spread) + shift


def norm_rsqrt(x, gain, shift, eps):
    d = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / d
    second = ((x - mean) ** 2).sum(-1, keepdim=True) / d
    return torch.addcmul(shift, (x - mean) * torch.rsqrt(second + eps), gain)


def rms_power(x, gain, eps):
    return gain * x * (x.pow(2).mean(-1, keepdim=True) + eps) ** -0.5


def rms_einsum(x, gain, eps):
    squares = torch.einsum("...d,...d->...", x, x) / x.shape[-1]
    return torch.einsum("...d,...,d->...d", x, torch.rsqrt(squares + eps), gain)


def backward_one_formula(g, x, gain, eps):
    d = x.shape[-1]
    root = (x.var(1, correction=0, keepdim=True) + eps).sqrt()
    y = (x - x.mean(1, keepdim=True)) / root
    h = gain * g
    dx = (d * h - h.sum(1, keepdim=True) - y * (h * y).sum(1, keepdim=True)) / (d * root)
    return [dx, torch.sum(y * g, 0), torch.sum(g, 0)]


def network_linear(x, w_1, b_1, w_2, b_2):
    return F.linear(F.relu(F.linear(x, w_1.T, b_1)), w_2.T, b_2)


def network_einsum(x, w_1, b_1, w_2, b_2):
    hidden = torch.einsum("...d,df->...f", x, w_1) + b_1
    hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
    return torch.einsum("...f,fd->...d", hidden, w_2) + b_2


def gelu_erfc(x):
    """By the complement, and tanh as a sigmoid of twice the number."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))
    return 0.5 * x * torch.erfc(-x * 0.5**0.5), x * torch.sigmoid(2 * inner)


def swiglu_einsum(x, w_gate, w_1, w_2):
    z = torch.einsum("...d,df->...f", x, w_gate)
    return torch.einsum("...f,fd->...d", z * z.sigmoid() * F.linear(x, w_1.mT), w_2)


def sublayer_torch(x, w_1, b_1, w_2, b_2, gain, shift):
    y = x + network_linear(x, w_1, b_1, w_2, b_2)
    return F.layer_norm(y, (y.shape[-1],), gain, shift)


def sublayer_by_hand(x, w_1, b_1, w_2, b_2, gain, shift):
    return norm_std(network_einsum(x, w_1, b_1, w_2, b_2) + x, gain, shift, 1e-5)


def parameters_summed(d, f, n_layers, gated, bias, pre):
    shapes = [(d, d)] * 4 + [(d, f)] * (2 if gated else 1) + [(f, d)]
    per_layer = sum(rows * columns + (columns if bias else 0) for rows, columns in shapes) + 4 * d
    return n_layers * per_layer + (2 * d if pre else 0)


def parameters_of_modules(d_model, d_hidden, n_layers, gated, bias, pre_norm):
    with torch.device("meta"):
        square = nn.Linear(d_model, d_model, bias=bias)
        wide = nn.Linear(d_model, d_hidden, bias=bias)
        narrow = nn.Linear(d_hidden, d_model, bias=bias)
        norm = nn.LayerNorm(d_model)
    square, wide, narrow, norm = (sum(p.numel() for p in m.parameters()) for m in (square, wide, narrow, norm))
    total = 4 * square + wide + narrow + 2 * norm
    if gated:
        total += wide
    return total * n_layers + norm * int(pre_norm)


def heads_one_by_one(x, w_q, w_k, w_v, w_o, n_heads, mask):
    h = x.shape[-1] // n_heads
    y = torch.zeros_like(x)
    for i in range(n_heads):
        columns = slice(i * h, (i + 1) * h)
        u = (x @ w_q[:, columns]) @ (x @ w_k[:, columns]).mT * h**-0.5
        if mask is not None:
            u = u + torch.where(mask, 0.0, float("-inf")).to(u.dtype)[:, None, :]
        y = y + u.softmax(-1) @ (x @ w_v[:, columns]) @ w_o[columns]
    return y


def layer_head_by_head(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):
    def n(i, x):
        return F.layer_norm(x, x.shape[-1:], norms[2 * i], norms[2 * i + 1])

    if not pre_norm:
        x = n(0, x + heads_one_by_one(x, *attention, n_heads, mask))
        return n(1, x + network_linear(x, w_1, b_1, w_2, b_2))
    x = x + heads_one_by_one(n(0, x), *attention, n_heads, mask)
    return x + network_linear(n(1, x), w_1, b_1, w_2, b_2)


def layer_sentence_by_sentence(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):
    """Only the keys of real tokens are kept: no mask is left."""
    rows = []
    for b, tokens in enumerate(x):
        real = slice(None) if mask is None else mask[b]

        def look(inside, real=real, tokens=tokens):
            q, k, v = (inside @ attention[i] for i in range(3))
            k, v = k[real], v[real]
            q, k, v = (part.reshape(len(part), n_heads, -1).permute(1, 0, 2) for part in (q, k, v))
            a = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
            return (a @ v).permute(1, 0, 2).reshape(len(tokens), -1) @ attention[3]

        def think(inside):
            return network_einsum(inside, w_1, b_1, w_2, b_2)

        y = tokens
        for i, part in enumerate((look, think)):
            gain, shift = norms[2 * i], norms[2 * i + 1]
            y = y + part(norm_std(y, gain, shift, 1e-5)) if pre_norm else norm_std(y + part(y), gain, shift, 1e-5)
        rows.append(y)
    return torch.stack(rows)


def pooled_loop(x, mask):
    return torch.stack([x[b][mask[b]].sum(0) / int(mask[b].sum()) for b in range(len(x))])


def pooled_where(x, mask):
    real = mask.unsqueeze(-1)
    return torch.where(real, x, torch.zeros_like(x)).sum(1) / real.sum(1)


def encoder_function(d_model, n_heads, d_hidden, n_layers, pre_norm, attention, w_1, b_1, w_2, b_2, norms, *rest):
    """All in one call, without a class."""
    last, rest = (rest[:2], rest[2:]) if pre_norm else ((), rest)
    x, *mask = rest
    for i in range(n_layers):
        x = layer_head_by_head(x, attention[i], w_1[i], b_1[i], w_2[i], b_2[i], norms[i], n_heads, pre_norm, *mask)
    return norm_rsqrt(x, *last, 1e-5) if last else x


RIGHT = {
    "07.residual": [layers_by_index],
    "07.layer-norm": [norm_std, norm_rsqrt],
    "07.rms-norm": [rms_power, rms_einsum],
    "07.layer-norm-backward": [backward_one_formula],
    "07.feed-forward": [network_linear, network_einsum],
    "07.gelu": [gelu_erfc],
    "07.swiglu": [swiglu_einsum],
    "07.sublayer": [sublayer_torch, sublayer_by_hand],
    "07.parameters": [parameters_summed, parameters_of_modules],
    "07.encoder-layer": [layer_head_by_head, layer_sentence_by_sentence],
    "07.pooling": [pooled_loop, pooled_where],
    "07.encoder": [encoder_function],
}
