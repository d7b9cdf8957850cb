"""Chapter 13: right answers written otherwise: loops, numpy, other functions of torch, other orders."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def patches_unfold(images, patch):
    return F.unfold(images, patch, stride=patch).mT


def patches_numpy(images, patch):
    images = images.numpy()
    b, c, h, w = images.shape
    x = images.reshape(b, c, h // patch, patch, w // patch, patch)
    return np.einsum("bcipjq->bijcpq", x).reshape(b, -1, c * patch * patch)


def kernel_unflatten(w, channels, patch):
    return w.unflatten(0, (channels, patch, patch)).movedim(-1, 0)


def kernel_columns(w, channels, patch):
    return torch.stack([column.reshape(channels, patch, patch) for column in w.unbind(1)])


def tokens_padded(patches, w, b, class_token, positions):
    x = F.pad(torch.addmm(b, patches.flatten(0, 1), w).unflatten(0, patches.shape[:2]), (0, 0, 1, 0))
    return x + F.pad(class_token[None], (0, 0, 0, patches.shape[1])) + positions


def tokens_apart(patches, w, b, class_token, positions):
    rest = torch.einsum("btm,md->btd", patches, w) + (b + positions[1:])
    first = (class_token + positions[0]).repeat(len(patches), 1)
    return torch.hstack([first[:, None], rest])


def frames_unfold(samples, width, hop):
    return samples.unfold(1, width, hop)


def frames_numpy(samples, width, hop):
    return np.lib.stride_tricks.sliding_window_view(samples.numpy(), width, axis=1)[:, ::hop].copy()


def look_einsum(x, picture, w_q, w_k, w_v, w_o, gate, n):
    q, k, v = ((a @ w).unflatten(-1, (n, -1)) for a, w in ((x, w_q), (picture, w_k), (picture, w_v)))
    s = torch.einsum("btnh,bsnh->bnts", q, k) * q.shape[-1] ** -0.5
    return torch.einsum("bnts,bsnh->btnh", s.softmax(-1), v).flatten(2) @ w_o * gate.tanh() + x


def loss_log_softmax(images, texts, log_scale):
    s = F.cosine_similarity(images.unsqueeze(1), texts.unsqueeze(0), dim=2) * log_scale.exp()
    return -0.5 * (s.log_softmax(0) + s.log_softmax(1)).diagonal().mean()


def label_numpy(images, labels, scale):
    images, labels = images.numpy(), labels.numpy()
    i = images / np.linalg.norm(images, axis=-1, keepdims=True)
    t = (labels / np.linalg.norm(labels, axis=-1, keepdims=True)).sum(1)
    s = i @ (t / np.linalg.norm(t, axis=-1, keepdims=True)).T * scale
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def label_exponentials(images, labels, scale):
    t = F.normalize(F.normalize(labels, dim=2).sum(1), dim=1)
    s = scale * torch.einsum("bd,jd->bj", F.normalize(images), t)
    return (s - s.logsumexp(1, keepdim=True)).exp()


def rollout_numpy(maps):
    a = maps.numpy().astype(np.float64)
    total = np.eye(a.shape[-1])
    for layer in a:
        total = (layer.mean(0) @ total + total) / 2
    return total


def rollout_chain(maps):
    steps = (maps.mean(1) + torch.eye(maps.shape[-1])) / 2
    return steps[0] if len(steps) == 1 else torch.linalg.multi_dot(list(steps.flip(0)))


def linear_einsum(q, k, v):
    f, g = F.elu(q) + 1, F.elu(k) + 1
    summed = torch.einsum("...sh,...sv->...hv", g, v)
    return torch.einsum("...th,...hv->...tv", f, summed) / torch.einsum("...th,...sh->...t", f, g)[..., None]


def linear_key_by_key(q, k, v):
    f, g = nn.ELU()(q).add(1), nn.ELU()(k).add(1)
    summed = sum(g[..., s, :, None] * v[..., s, None, :] for s in range(k.shape[-2]))
    return (f[..., None] * summed[..., None, :, :]).sum(-2) / (f * g.sum(-2, keepdim=True)).sum(-1, keepdim=True)


def step_numpy(key_values, keys, q, k, v):
    key_values, keys, q, k, v = (tensor.numpy() for tensor in (key_values, keys, q, k, v))
    f, g = (np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (q, k))
    key_values, keys = key_values + g[..., None] * v[..., None, :], keys + g
    return (f[..., None] * key_values).sum(-2) / (f * keys).sum(-1)[..., None], key_values, keys


def step_past_and_self(key_values, keys, q, k, v):
    """What the past says and what the position itself says, added before the division."""
    f, g = F.elu(q) + 1, F.elu(k) + 1
    self_weight = (f * g).sum(-1, keepdim=True)
    past = (f[..., None] * key_values).sum(-2)
    y = (past + self_weight * v) / ((f * keys).sum(-1, keepdim=True) + self_weight)
    return y, key_values + g.unsqueeze(-1) @ v.unsqueeze(-2), g + keys


def merge_where(m_a, l_a, z_a, m_b, l_b, z_b):
    m = torch.where(m_a > m_b, m_a, m_b)
    a = torch.where(l_a == 0, 0.0, (m_a - m).exp())
    b = torch.where(l_b == 0, 0.0, (m_b - m).exp())
    return m, a * l_a + b * l_b, a.unsqueeze(-1) * z_a + b.unsqueeze(-1) * z_b


def merge_numpy(m_a, l_a, z_a, m_b, l_b, z_b):
    m_a, l_a, z_a, m_b, l_b, z_b = (tensor.numpy() for tensor in (m_a, l_a, z_a, m_b, l_b, z_b))
    m = np.maximum(m_a, m_b)
    with np.errstate(invalid="ignore"):
        a, b = (np.nan_to_num(np.exp(top - m), nan=0.0) for top in (m_a, m_b))
    return m, l_a * a + l_b * b, z_a * a[..., None] + z_b * b[..., None]


def published_modules(x, w_in, b_in, w_out, b_out, gain, bias):
    y = F.linear(F.gelu(F.linear(x, w_in, b_in)), w_out, b_out) + x
    return F.layer_norm(y, (x.shape[-1],), gain, bias, 1e-12)


RIGHT = {
    "13.patches": [patches_unfold, patches_numpy],
    "13.kernel": [kernel_unflatten, kernel_columns],
    "13.tokens": [tokens_padded, tokens_apart],
    "13.frames": [frames_unfold, frames_numpy],
    "13.look": [look_einsum],
    "13.contrastive": [loss_log_softmax],
    "13.zero-shot": [label_numpy, label_exponentials],
    "13.rollout": [rollout_numpy, rollout_chain],
    "13.linear": [linear_einsum, linear_key_by_key],
    "13.step": [step_numpy, step_past_and_self],
    "13.merge": [merge_where, merge_numpy],
    "13.published": [published_modules],
}
