"""Right answers to the tasks of chapter 4, each written in another way than the published solution.

Every one of them has to pass. Names say what is special: loops, einsum, numpy where torch is used and the other
way round, float64,
another order of operations, noise on stderr.
"""

import math
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

X = np.array([[1.0, 0.5, 0.2], [0.8, 1.2, 0.3], [0.6, 0.9, 1.1], [1.1, 0.4, 0.7], [0.9, 0.7, 0.8]])


# 04.by-hand
def by_hand_full_precision():
    return X @ X[0] / 3**0.5


def by_hand_tensor():
    return torch.tensor([0.74, 0.84, 0.73, 0.83, 0.81])


def by_hand_tuple_noisy():
    print("working", file=sys.stderr)
    return tuple(sum(a * b for a, b in zip(X[0], row, strict=True)) / 1.732 for row in X)


# 04.project
def project_einsum(x, w_q, w_k, w_v):
    return [torch.einsum("...td,dh->...th", x, w) for w in (w_q, w_k, w_v)]


def project_linear(x, w_q, w_k, w_v):
    return F.linear(x, w_q.T), F.linear(x, w_k.T), F.linear(x, w_v.T)


def project_numpy_double(x, w_q, w_k, w_v):
    x = np.asarray(x, dtype=np.float64)
    return x @ np.asarray(w_q), x @ np.asarray(w_k), x @ np.asarray(w_v)


def project_one_product(x, w_q, w_k, w_v):
    return torch.chunk(x @ torch.cat([w_q, w_k, w_v], dim=1), 3, dim=-1)


def project_columns(x, w_q, w_k, w_v):
    """q_i = W^T x_i, a column at a time."""
    return tuple((w.T @ x.unsqueeze(-1)).squeeze(-1) for w in (w_q, w_k, w_v))


# 04.scores
def scores_einsum(q, k):
    return torch.einsum("...th,...sh->...ts", q, k)


def scores_loops(q, k):
    rows = [[(q[..., t, :] * k[..., s, :]).sum(-1) for s in range(k.shape[-2])] for t in range(q.shape[-2])]
    return torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)


def scores_numpy(q, k):
    return np.matmul(q.numpy(), np.swapaxes(k.numpy(), -1, -2))


def scores_broadcast(q, k):
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1)


# 04.scale
def scale_multiplied(scores, head_width):
    return scores * head_width**-0.5


def scale_numpy(scores, head_width):
    return np.asarray(scores) / np.sqrt(head_width)


def scale_double(scores, head_width):
    return scores.double() / torch.sqrt(torch.tensor(float(head_width), dtype=torch.float64))


def scale_noisy(scores, head_width):
    warnings.warn("scaling", stacklevel=1)
    print("noise", file=sys.stderr)
    return scores.div(math.exp(0.5 * math.log(head_width)))


# 04.softmax
def softmax_numpy(x):
    x = x.numpy()
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_amax(x):
    e = (x - torch.amax(x, -1, True)).exp()
    return e * e.sum(-1, keepdim=True).reciprocal()


def softmax_double_list(x):
    def row(values):
        top = max(values)
        e = [math.exp(v - top) for v in values]
        return [a / sum(e) for a in e]

    def walk(t):
        return row(t) if not isinstance(t[0], list) else [walk(u) for u in t]

    return walk(x.tolist())


def softmax_half_max(x):
    """Any constant of the row will do as long as nothing overflows: here the maximum plus one."""
    e = torch.exp(x - x.max(-1, keepdim=True)[0] - 1)
    return e / e.sum(-1, keepdim=True)


# 04.mix
def mix_einsum(weights, v):
    return torch.einsum("...ts,...sh->...th", weights, v)


def mix_loops(weights, v):
    out = torch.zeros(*weights.shape[:-1], v.shape[-1])
    for t in range(weights.shape[-2]):
        for s in range(v.shape[-2]):
            out[..., t, :] += weights[..., t, s, None] * v[..., s, :]
    return out


def mix_numpy(weights, v):
    return np.einsum("...ts,...sh->...th", weights, v)


def mix_double(weights, v):
    return torch.matmul(weights.double(), v.double())


# 04.column
def column_python(q, k, v):
    width = len(q)
    s = [sum(float(a) * float(b) for a, b in zip(q, row, strict=True)) / math.sqrt(width) for row in k]
    top = max(s)
    e = [math.exp(a - top) for a in s]
    return [sum(a * float(row[j]) for a, row in zip(e, v, strict=True)) / sum(e) for j in range(v.shape[1])]


def column_numpy(q, k, v):
    q, k, v = q.numpy(), k.numpy(), v.numpy()
    s = np.dot(k, q) / len(q) ** 0.5
    e = np.exp(s - s.max())
    return e @ v / e.sum()


def column_scaled_query(q, k, v):
    return torch.softmax(k.double() @ (q.double() / q.numel() ** 0.5), 0) @ v.double()


def column_matrix(q, k, v):
    return (torch.softmax(q[None] @ k.T * q.shape[0] ** -0.5, dim=1) @ v).squeeze(0)


# 04.weights
def weights_where(q, k, mask=None):
    s = torch.einsum("...th,...sh->...ts", q, k) / q.shape[-1] ** 0.5
    if mask is None:
        return F.softmax(s, -1)
    a = F.softmax(torch.where(mask, s, torch.tensor(float("-inf"))), -1)
    return torch.where(mask.any(-1, keepdim=True), a, torch.zeros(()))


def weights_exponentials(q, k, mask=None):
    """exp, zero, divide; a sum of zero is replaced by one."""
    s = (q * q.shape[-1] ** -0.5) @ k.mT
    e = torch.exp(s - s.amax(-1, keepdim=True))
    if mask is not None:
        s = s.masked_fill(~mask, -torch.inf)
        e = torch.exp(s - s.amax(-1, keepdim=True).clamp(min=-1e30))
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, torch.ones_like(total), total)


def weights_numpy_double(q, k, mask=None):
    q, k = q.numpy().astype(float), k.numpy().astype(float)
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    allowed = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask.numpy(), s.shape)
    s = np.where(allowed, s, -1e300)
    e = np.exp(s - s.max(-1, keepdims=True)) * allowed
    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)


def weights_added_mask(q, k, mask=None):
    s = q @ k.transpose(-1, -2) / math.sqrt(q.size(-1))
    if mask is not None:
        s = s + torch.zeros(mask.shape).masked_fill(mask.logical_not(), float("-inf"))
    return torch.softmax(s, -1).nan_to_num(0.0)


# 04.attention
def attention_where(q, k, v, mask=None):
    s = torch.einsum("...th,...sh->...ts", q, k) * q.shape[-1] ** -0.5
    if mask is None:
        return torch.einsum("...ts,...sh->...th", torch.softmax(s, -1), v)
    s = torch.where(mask, s, torch.finfo(s.dtype).min)
    a = torch.softmax(s, -1) * mask
    return torch.einsum("...ts,...sh->...th", a, v)


def attention_log_weights(q, k, v, mask=None):
    s = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -1e30)
    a = torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
    if mask is not None:
        a = a.masked_fill(~mask, 0)
    return a @ v


def attention_noisy_additive(q, k, v, mask=None):
    print("shapes", q.shape, file=sys.stderr)
    warnings.warn("attention!", stacklevel=1)
    s = (q / q.shape[-1] ** 0.25) @ (k / k.shape[-1] ** 0.25).transpose(-1, -2)
    if mask is not None:
        s = s + (1.0 - mask.to(s.dtype)) * -1e30
    a = torch.softmax(s, dim=-1)
    return (a if mask is None else a * mask.to(a.dtype)) @ v


def attention_rows(q, k, v, mask=None):
    out = []
    for t in range(q.shape[-2]):
        s = (q[..., t : t + 1, :] * k).sum(-1) / q.shape[-1] ** 0.5
        if mask is not None:
            row = mask[..., 0 if mask.shape[-2] == 1 else t, :]
            a = torch.softmax(s.masked_fill(~row, -1e30), -1) * row
        else:
            a = torch.softmax(s, -1)
        out.append((a.unsqueeze(-1) * v).sum(-2))
    return torch.stack(out, dim=-2)


# 04.spread
def spread_product(head_width, sigma_q, sigma_k):
    return sigma_q * sigma_k * head_width**0.5


def spread_numpy(head_width, sigma_q, sigma_k):
    return np.sqrt(np.float64(head_width)) * sigma_q * sigma_k


def spread_summed(head_width, sigma_q, sigma_k):
    return math.sqrt(sum((sigma_q * sigma_k) ** 2 for _ in range(head_width)))


def spread_tensor(head_width, sigma_q, sigma_k):
    return torch.tensor(head_width, dtype=torch.float64).sqrt() * sigma_q * sigma_k


# 04.cost
def cost_float(batch, n_queries, n_keys, bytes_per_number):
    return float(bytes_per_number) * n_keys * n_queries * batch


def cost_tensor(batch, n_queries, n_keys, bytes_per_number):
    return torch.empty(batch, n_queries, n_keys, device="meta").numel() * bytes_per_number


def cost_numpy(batch, n_queries, n_keys, bytes_per_number):
    return np.prod((batch, n_queries, n_keys)) * bytes_per_number


# 04.softmax-backward
def soft_back_jacobian(a, da):
    flat_a, flat_d = a.reshape(-1, a.shape[-1]), da.reshape(-1, a.shape[-1])
    rows = [(np.diag(r) - np.outer(r, r)) @ d for r, d in zip(flat_a, flat_d, strict=True)]
    return np.array(rows).reshape(a.shape)


def soft_back_expanded(a, da):
    return a * da - a * np.einsum("...s,...s->...", a, da)[..., None]


def soft_back_torch(a, da):
    a, da = torch.from_numpy(a), torch.from_numpy(da)
    return a * (da - (a * da).sum(-1, keepdim=True))


def soft_back_loops(a, da):
    out = np.zeros_like(a)
    for index in np.ndindex(*a.shape[:-1]):
        inner = float(np.dot(a[index], da[index]))
        for s in range(a.shape[-1]):
            out[index][s] = a[index][s] * (da[index][s] - inner)
    return out


# 04.backward
def backward_torch(q, k, v, dz):
    q, k, v, dz = (torch.from_numpy(t) for t in (q, k, v, dz))
    a = torch.softmax(q @ k.T / q.shape[1] ** 0.5, -1)
    ds = a * (dz @ v.T - (dz * (a @ v)).sum(-1, keepdim=True)) / q.shape[1] ** 0.5
    return ds @ k, ds.T @ q, a.T @ dz


def backward_einsum(q, k, v, dz):
    scale = q.shape[-1] ** -0.5
    s = np.einsum("th,sh->ts", q, k) * scale
    e = np.exp(s - s.max(-1, keepdims=True))
    a = e / e.sum(-1, keepdims=True)
    da = np.einsum("th,sh->ts", dz, v)
    ds = scale * a * (da - np.einsum("ts,ts->t", a, da)[:, None])
    return [np.einsum("ts,sh->th", ds, k), np.einsum("ts,th->sh", ds, q), np.einsum("ts,th->sh", a, dz)]


def backward_rows(q, k, v, dz):
    root = math.sqrt(q.shape[-1])
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for t in range(len(q)):
        s = k @ q[t] / root
        a = np.exp(s - s.max())
        a /= a.sum()
        dv += np.outer(a, dz[t])
        ds = (np.diag(a) - np.outer(a, a)) @ (v @ dz[t]) / root
        dq[t] = ds @ k
        dk += np.outer(ds, q[t])
    return dq, dk, dv


# 04.head
def head_spelled(x, w_q, w_k, w_v, mask=None):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return attention_where(q, k, v, mask)


def head_merged_matrix(x, w_q, w_k, w_v, mask=None):
    """x (w_q w_k^T) x^T: the same scores, with the two matrices multiplied first."""
    s = x @ (w_q @ w_k.T) @ x.mT / math.sqrt(w_q.shape[1])
    if mask is None:
        return torch.softmax(s, -1) @ (x @ w_v)
    a = torch.softmax(s.masked_fill(~mask, -1e30), -1).masked_fill(~mask, 0.0)
    return (a @ x) @ w_v


def head_einsum_noisy(x, w_q, w_k, w_v, mask=None):
    print("x", x.shape, file=sys.stderr)
    q, k, v = (torch.einsum("...td,dh->...th", x, w) for w in (w_q, w_k, w_v))
    return attention_log_weights(q, k, v, mask)


RIGHT = {
    "04.by-hand": [by_hand_full_precision, by_hand_tensor, by_hand_tuple_noisy],
    "04.project": [
        project_einsum,
        project_linear,
        project_numpy_double,
        project_one_product,
        project_columns,
    ],
    "04.scores": [scores_einsum, scores_loops, scores_numpy, scores_broadcast],
    "04.scale": [scale_multiplied, scale_numpy, scale_double, scale_noisy],
    "04.softmax": [softmax_numpy, softmax_amax, softmax_double_list, softmax_half_max],
    "04.mix": [mix_einsum, mix_loops, mix_numpy, mix_double],
    "04.column": [column_python, column_numpy, column_scaled_query, column_matrix],
    "04.weights": [weights_where, weights_exponentials, weights_numpy_double, weights_added_mask],
    "04.attention": [attention_where, attention_log_weights, attention_noisy_additive, attention_rows],
    "04.spread": [spread_product, spread_numpy, spread_summed, spread_tensor],
    "04.cost": [cost_float, cost_tensor, cost_numpy],
    "04.softmax-backward": [soft_back_jacobian, soft_back_expanded, soft_back_torch, soft_back_loops],
    "04.backward": [backward_torch, backward_einsum, backward_rows],
    "04.head": [head_spelled, head_merged_matrix, head_einsum_noisy],
}
