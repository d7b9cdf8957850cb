"""Right answers to the tasks of chapter 7, each written in another way than the published solution.

Every one of them has to pass: loops, einsum, numpy where torch is used, other orders of operations, modules of one's
own inside.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


# 07.residual
def layers_by_index(x, w):
    y = x.clone()
    for i in range(w.shape[0]):
        y = y + F.relu(torch.einsum("...d,de->...e", y, w[i]))
    return y


def layers_kept(x, w):
    states = [x]
    for matrix in w.unbind():
        states.append(states[-1] + (states[-1] @ matrix).clamp(min=0))
    return states[-1]


# 07.layer-norm
def norm_std(x, gain, shift, eps):
    spread = x.var(-1, correction=0, keepdim=True).add(eps).sqrt()
    return gain * ((x - x.mean(-1, keepdim=True)) / spread) + shift


def norm_rsqrt(x, gain, shift, eps):
    d = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / d
    second = ((x - mean) ** 2).sum(-1, keepdim=True) / d
    return torch.addcmul(shift, (x - mean) * torch.rsqrt(second + eps), gain)


def norm_by_projection(x, gain, shift, eps):
    """The mean taken away by a matrix, the length measured by vector_norm."""
    d = x.shape[-1]
    away = torch.eye(d, dtype=x.dtype) - 1.0 / d
    c = x @ away
    length = torch.linalg.vector_norm(c, dim=-1, keepdim=True)
    return c / torch.sqrt(length**2 / d + eps) * gain + shift


# 07.rms-norm
def rms_power(x, gain, eps):
    return gain * x * (x.pow(2).mean(-1, keepdim=True) + eps) ** -0.5


def rms_norm_of_vector(x, gain, eps):
    d = x.size(-1)
    return x * gain / torch.sqrt((x * x).sum(-1, keepdim=True) / d + eps)


def rms_einsum(x, gain, eps):
    squares = torch.einsum("...d,...d->...", x, x) / x.shape[-1]
    return torch.einsum("...d,...,d->...d", x, torch.rsqrt(squares + eps), gain)


# 07.layer-norm-backward
def backward_numpy(g, x, gain, eps):
    g, x, gain = (np.asarray(a, dtype=np.float64) for a in (g, x, gain))
    root = np.sqrt(x.var(axis=1) + eps)
    y = (x - x.mean(axis=1)[:, None]) / root[:, None]
    dx = np.empty_like(x)
    d = x.shape[1]
    for t in range(len(x)):
        jacobian = (np.eye(d) - 1 / d - np.outer(y[t], y[t]) / d) / root[t]
        dx[t] = jacobian @ (g[t] * gain)
    return dx, (g * y).sum(0), g.sum(0)


def backward_one_formula(g, x, gain, eps):
    d = x.shape[-1]
    root = (x.var(1, correction=0, keepdim=True) + eps).sqrt()
    y = (x - x.mean(1, keepdim=True)) / root
    h = gain * g
    dx = (d * h - h.sum(1, keepdim=True) - y * (h * y).sum(1, keepdim=True)) / (d * root)
    return [dx, torch.sum(y * g, 0), torch.sum(g, 0)]


# 07.feed-forward
def network_linear(x, w_1, b_1, w_2, b_2):
    return F.linear(F.relu(F.linear(x, w_1.T, b_1)), w_2.T, b_2)


def network_einsum(x, w_1, b_1, w_2, b_2):
    hidden = torch.einsum("...d,df->...f", x, w_1) + b_1
    hidden = torch.where(hidden > 0, hidden, torch.zeros_like(hidden))
    return torch.einsum("...f,fd->...d", hidden, w_2) + b_2


# 07.gelu
def gelu_normal(x):
    inner = (2 / math.pi) ** 0.5 * x * (1 + 0.044715 * x * x)
    return x * torch.special.ndtr(x), 0.5 * x * (1.0 + torch.tanh(inner))


def gelu_erfc(x):
    """By the complement, and tanh as a sigmoid of twice the number."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))
    return 0.5 * x * torch.erfc(-x * 0.5**0.5), x * torch.sigmoid(2 * inner)


def swiglu_einsum(x, w_gate, w_1, w_2):
    z = torch.einsum("...d,df->...f", x, w_gate)
    return torch.einsum("...f,fd->...d", z * z.sigmoid() * F.linear(x, w_1.mT), w_2)


# 07.sublayer
def sublayer_torch(x, w_1, b_1, w_2, b_2, gain, shift):
    y = x + network_linear(x, w_1, b_1, w_2, b_2)
    return F.layer_norm(y, (y.shape[-1],), gain, shift)


def sublayer_by_hand(x, w_1, b_1, w_2, b_2, gain, shift):
    return norm_std(network_einsum(x, w_1, b_1, w_2, b_2) + x, gain, shift, 1e-5)


def sublayer_rsqrt(x, w_1, b_1, w_2, b_2, gain, shift):
    return norm_rsqrt(x + (x @ w_1 + b_1).relu() @ w_2 + b_2, gain, shift, 0.00001)


# 07.parameters
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


def parameters_float(d, f, n, gated, bias, pre):
    total = 0.0
    for _ in range(n):
        total += 4 * d * d + (2 + gated) * d * f + 4 * d
        if bias:
            total += 5 * d + (1 + gated) * f
    return total + 2.0 * d * pre


# 07.encoder-layer
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


def layer_additive_mask(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):
    w_q, w_k, w_v, w_o = attention.unbind(0)
    q, k, v = (None, None, None)
    bias = 0.0
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, float("-inf"))[:, None, None]
    state = x
    for gain, shift, part in ((norms[0], norms[1], "look"), (norms[2], norms[3], "think")):
        inside = norm_rsqrt(state, gain, shift, 1e-5) if pre_norm else state
        if part == "look":
            q, k, v = (torch.stack((inside @ w).chunk(n_heads, -1), 1) for w in (w_q, w_k, w_v))
            a = ((q @ k.transpose(2, 3)) / q.size(-1) ** 0.5 + bias).softmax(dim=-1)
            added = torch.cat((a @ v).unbind(1), -1) @ w_o
        else:
            added = network_linear(inside, w_1, b_1, w_2, b_2)
        state = state + added if pre_norm else norm_rsqrt(state + added, gain, shift, 1e-5)
    return state


# 07.pooling
def pooled_loop(x, mask):
    return torch.stack([x[b][mask[b]].sum(0) / int(mask[b].sum()) for b in range(len(x))])


def pooled_where(x, mask):
    real = mask.unsqueeze(-1)
    return torch.where(real, x, torch.zeros_like(x)).sum(1) / real.sum(1)


# 07.encoder
class EncoderOfFunctions(nn.Module):
    """The layer written anew."""

    def __init__(self, d_model, n_heads, d_hidden, n_layers, pre_norm):
        super().__init__()
        sizes = {
            "attention": (4, d_model, d_model),
            "w_1": (d_model, d_hidden),
            "b_1": (d_hidden,),
            "w_2": (d_hidden, d_model),
            "b_2": (d_model,),
            "norms": (4, d_model),
        }
        for name, shape in sizes.items():
            self.register_parameter(name, nn.Parameter(torch.zeros(n_layers, *shape)))
        self.names, self.n_heads, self.pre_norm = tuple(sizes), n_heads, pre_norm
        if pre_norm:
            self.gain, self.shift = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x, mask=None):
        for weights in zip(*(getattr(self, name) for name in self.names), strict=True):
            x = layer_head_by_head(x, *weights, self.n_heads, self.pre_norm, mask)
        return norm_std(x, self.gain, self.shift, 1e-5) if self.pre_norm else x


def encoder_function(d_model, n_heads, d_hidden, n_layers, pre_norm, attention, w_1, b_1, w_2, b_2, norms, *rest):
    """All in one call, without a class."""
    last, rest = (rest[:2], rest[2:]) if pre_norm else ((), rest)
    x, *mask = rest
    for i in range(n_layers):
        x = layer_additive_mask(x, attention[i], w_1[i], b_1[i], w_2[i], b_2[i], norms[i], n_heads, pre_norm, *mask)
    return norm_by_projection(x, *last, 1e-5) if last else x


RIGHT = {
    "07.residual": [layers_by_index, layers_kept],
    "07.layer-norm": [norm_std, norm_rsqrt, norm_by_projection],
    "07.rms-norm": [rms_power, rms_norm_of_vector, rms_einsum],
    "07.layer-norm-backward": [backward_numpy, backward_one_formula],
    "07.feed-forward": [network_linear, network_einsum],
    "07.gelu": [gelu_normal, gelu_erfc],
    "07.swiglu": [swiglu_einsum],
    "07.sublayer": [sublayer_torch, sublayer_by_hand, sublayer_rsqrt],
    "07.parameters": [parameters_summed, parameters_of_modules, parameters_float],
    "07.encoder-layer": [layer_head_by_head, layer_sentence_by_sentence, layer_additive_mask],
    "07.pooling": [pooled_loop, pooled_where],
    "07.encoder": [EncoderOfFunctions, encoder_function],
}
