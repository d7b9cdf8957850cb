"""Right answers to the tasks of chapter 5, each written in another way than the published solution."""

import math

import numpy as np
import torch


def shapes_lists(t, d, n, h):
    return [[d, h], [n * h, d], [t, d], [t, h], [t, t], [t, h], [t, n * h], [t, d]]


def shapes_array(t, d, n, h):
    x, w = np.zeros((t, d)), [np.zeros((d, h))] * n
    q = [x @ weight for weight in w]
    a = q[0] @ q[0].T
    side = np.hstack(q)
    return np.array([m.shape for m in (w[0], np.zeros((n * h, d)), x, q[0], a, a @ q[0], side, x)])


def split_chunks(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=-3)


def split_numpy(x, n):
    a = np.asarray(x)
    return np.moveaxis(a.reshape(a.shape[:-1] + (n, -1)), -2, -3)


def merge_numpy(z):
    a = np.swapaxes(z.numpy(), -3, -2)
    return a.reshape(*a.shape[:-2], -1)


def project_einsum(x, w, n):
    return torch.einsum("...td,dnh->...nth", x, w.view(w.shape[0], n, -1))


def project_broadcast(x, w, n):
    return x.unsqueeze(-3) @ torch.stack(w.chunk(n, dim=1))


def packed_numpy(x, w, n):
    q, k, v = np.split(np.matmul(x, w), 3, axis=-1)
    return split_numpy(q, n), split_numpy(k, n), split_numpy(v, n)


def heads_folded(q, k, v, mask=None):
    """The heads folded into the batch; a mask is repeated N times for each sequence."""
    b, n, t, _ = q.shape
    q, k, v = (part.flatten(0, 1) for part in (q, k, v))
    s = torch.bmm(q, k.mT) / math.sqrt(q.size(-1))
    if mask is None:
        return torch.bmm(s.softmax(-1), v).unflatten(0, (b, n))
    mask = mask.expand(b, t, k.shape[1]) if mask.dim() < 3 else mask.expand(b, t, -1)
    mask = mask.repeat_interleave(n, dim=0)
    a = s.masked_fill(~mask, -1e30).softmax(-1) * mask
    return torch.bmm(a, v).unflatten(0, (b, n))


def heads_loop(q, k, v, mask=None):
    rows = []
    for b in range(q.shape[0]):
        sentence_mask = mask[b] if mask is not None and mask.ndim == 3 else mask
        heads = []
        for i in range(q.shape[1]):
            s = q[b, i] @ k[b, i].T * q.shape[-1] ** -0.5
            if sentence_mask is not None:
                s = torch.where(sentence_mask, s, -torch.inf)
            heads.append(torch.nan_to_num(s.softmax(-1), nan=0.0) @ v[b, i])
        rows.append(torch.stack(heads))
    return torch.stack(rows)


def output_summed(z, w_o):
    blocks = w_o.chunk(z.shape[-3])
    return sum(z[..., i, :, :] @ block for i, block in enumerate(blocks))


def output_numpy(z, w_o):
    return merge_numpy(z) @ w_o.numpy()


def shares_loop(z, w_o):
    h = z.shape[-1]
    return torch.stack([z[..., i, :, :] @ w_o[i * h : i * h + h] for i in range(z.shape[-3])], dim=-3)


def shares_einsum(z, w_o):
    return torch.einsum("...nth,nhd->...ntd", z, w_o.unflatten(0, z.shape[-3::2]))


def grouped_index(k, n):
    return torch.stack([k[..., i * k.shape[-3] // n, :, :] for i in range(n)], dim=-3)


def grouped_numpy(k, n):
    return np.repeat(k.numpy(), n // k.shape[-3], axis=-3)


def dropout_numpy(a, v, u, p, training):
    keep = np.asarray(u) >= p
    factor = keep.astype("float64") / (1 - p) if training else 1.0
    return (np.asarray(a) * factor) @ np.asarray(v)


def dropout_after(a, v, u, p, training):
    """Divided once, at the end: it is all linear."""
    if training:
        return torch.einsum("...ts,...sh->...th", a.masked_fill(u < p, 0.0), v) / (1 - p)
    return torch.einsum("...ts,...sh->...th", a, v)


def init_variance(d, n, h):
    variance = 2 / (d + n * h)
    return np.sqrt(3 * variance)


def init_torch(d, n, h):
    return torch.sqrt(torch.tensor(6.0, dtype=torch.float64) / (n * h + d))


def parameters_float(d, n, k, h, bias):
    return float(2 * d * h * (n + k) + (h * (n + 2 * k) + d if bias else 0.0))


def cost_products(b, t, d, n, k, h):
    def product(rows, inner, columns):
        return 2 * rows * inner * columns

    into = product(b * t, d, n * h) + 2 * product(b * t, d, k * h) + product(b * t, n * h, d)
    return into, b * n * (product(t, h, t) + product(t, t, h))


def cost_array(b, t, d, n, k, h):
    return np.array([4 * d * (n + k), 4 * n * t]) * b * t * h


def cache_product(*sizes):
    b, s, layers, _, k, h, size = sizes
    return math.prod((2, b, s, layers, k, h, size))


def cache_nbytes(b, s, layers, n, k, h, size):
    keys = torch.empty(b, k, s, h, device="meta", dtype={2: torch.float16, 4: torch.float32}[size])
    return layers * (keys.nbytes + keys.nbytes)


def layer_as_function(d, n, k, h, w_q, w_k, w_v, w_o, x, mask=None):
    """All in one call: the judge hands a function everything that a class would be made with."""
    q, keys, values = split_chunks(x @ w_q, n), split_chunks(x @ w_k, k), split_chunks(x @ w_v, k)
    return output_summed(heads_loop(q, grouped_index(keys, n), grouped_index(values, n), mask), w_o)


RIGHT = {
    "05.shapes": [shapes_lists, shapes_array],
    "05.split": [split_chunks, split_numpy],
    "05.merge": [merge_numpy],
    "05.project-heads": [project_einsum, project_broadcast],
    "05.packed": [packed_numpy],
    "05.heads": [heads_folded, heads_loop],
    "05.output": [output_summed, output_numpy],
    "05.shares": [shares_loop, shares_einsum],
    "05.grouped": [grouped_index, grouped_numpy],
    "05.dropout": [dropout_numpy, dropout_after],
    "05.init": [init_variance, init_torch],
    "05.parameters": [parameters_float],
    "05.cost": [cost_products, cost_array],
    "05.cache": [cache_product, cache_nbytes],
    "05.multi-head": [layer_as_function],
}
