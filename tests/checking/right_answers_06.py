"""Right answers to the tasks of chapter 6, each written in another way than the published solution."""

import cmath
import math

import numpy as np
import torch
import torch.nn.functional as F


def gap_by_matrix(x, order, causal):
    """The order as a matrix of zeros and ones."""
    p = torch.eye(len(x), dtype=x.dtype)[order]
    return _plain(p @ x, causal) - p @ _plain(x, causal)


def gap_by_torch(x, order, causal):
    def f(y):
        return F.scaled_dot_product_attention(y[None], y[None], y[None], is_causal=causal)[0]

    return f(x.index_select(0, order)) - f(x).index_select(0, order)


def _plain(x, causal):
    s = x @ x.T * x.shape[1] ** -0.5
    if causal:
        s = s + torch.full_like(s, -torch.inf).triu(1)
    return s.softmax(-1) @ x


def angles_numpy(positions, width, base):
    return np.outer(positions.numpy(), 1 / np.power(base, np.arange(0, width, 2) / width))


def table_tutorial(length, d_model):
    """In float32 with exp and log, as tutorials have it; odd widths cut at the end."""
    even = d_model + d_model % 2
    pe = torch.zeros(length, even)
    position = torch.arange(0, length, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe[:, :d_model]


def table_phase(length, d):
    """A cosine is a sine a quarter turn ahead."""
    c = np.arange(d)
    return np.sin(np.arange(length)[:, None] * 1e4 ** (-(c // 2 * 2) / d) + np.pi / 2 * (c % 2))


def add_loop(x, table, start):
    return torch.stack([x[:, t] * x.shape[-1] ** 0.5 + table[start + t].to(x.dtype) for t in range(x.shape[1])], dim=1)


def add_embedding(x, table, start):
    where = torch.arange(x.shape[1]).add(start).expand(x.shape[:2])
    return torch.addcmul(F.embedding(where, table.to(x)), x, x.new_tensor(x.shape[-1]).sqrt())


def probe_numpy(x, labels, new):
    one_hot = np.eye(int(labels.max()) + 1)[labels.numpy()]
    a, b = (np.hstack([np.ones((len(m), 1)), m.numpy()]) for m in (x, new))
    return b @ np.linalg.lstsq(a, one_hot, rcond=None)[0]


def probe_by_class(x, labels, new):
    a, b = F.pad(x, (1, 0), value=1.0), F.pad(new, (1, 0), value=1.0)
    inverse = torch.linalg.pinv(a)
    return torch.stack([b @ (inverse @ (labels == c).double()) for c in range(int(labels.max()) + 1)], dim=1)


def shift_blocks(steps, d):
    def block(i):
        a = steps / 10000 ** (2 * i / d)
        return torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]], dtype=torch.float64)

    return torch.block_diag(*(block(i) for i in range(d // 2)))


def shift_power(steps, d):
    """One step, so many times over."""
    return np.linalg.matrix_power(shift_blocks(1, d).numpy(), steps)


def relative_loop(t, s, start):
    return [[min(max(j - i - start, -4), 4) + 4 for j in range(s)] for i in range(t)]


def relative_numpy(t, s, start):
    apart = np.arange(s) - np.arange(start, start + t)[:, None]
    return np.clip(apart + 4, 0, 8)


def shaw_gather(q, k, table, rows):
    """Each query meets the few vectors once, and the scores are dealt out."""
    each = q @ table.mT
    dealt = each.gather(-1, rows.expand(*q.shape[:2], *rows.shape))
    return (q @ k.mT + dealt) * q.shape[-1] ** -0.5


def shaw_sum(q, k, table, rows):
    keys = k.unsqueeze(2) + table[rows]
    return (q.unsqueeze(3) * keys).sum(-1) / math.sqrt(k.shape[-1])


def bucket_loop(back):
    def bucket(d):
        if d < 16:
            return max(d, 0)
        return min(31, 16 + int(16 * math.log(d / 16) / math.log(8)))

    return torch.tensor([bucket(d) for d in back.flatten().tolist()]).view(back.shape)


def bucket_search(back):
    edges = torch.tensor([float(d) for d in range(1, 17)] + [16 * 8 ** (k / 16) for k in range(1, 16)])
    return torch.bucketize(back.float(), edges, right=True)


def alibi_loop(n, t, s, start):
    return [[[-max(start + i - j, 0) * 2 ** (-8 * (h + 1) / n) for j in range(s)] for i in range(t)] for h in range(n)]


def alibi_ratio(n, t, s, start):
    """As the published code: a first slope, and powers of it."""
    first = 2 ** (-(2 ** -(math.log2(n) - 3)))
    slopes = torch.tensor([first ** (h + 1) for h in range(n)])
    ahead = torch.arange(s)[None, :] - torch.arange(start, start + t)[:, None]
    return slopes.view(-1, 1, 1) * ahead.clamp(max=0)


def turn_matrix(x, angle):
    c, s = math.cos(angle), math.sin(angle)
    return x @ torch.tensor([[c, s], [-s, c]], dtype=x.dtype)


def turn_complex(x, angle):
    z = torch.view_as_complex(x.contiguous()) * cmath.exp(1j * angle)
    return torch.view_as_real(z)


def rotary_complex(x, start):
    t, h = x.shape[-2:]
    freqs = 1.0 / (10000.0 ** (torch.arange(0, h, 2, dtype=torch.float64) / h))
    turns = torch.outer(torch.arange(start, start + t, dtype=torch.float64), freqs)
    z = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous()) * torch.polar(turns * 0 + 1, turns)
    return torch.view_as_real(z).flatten(-2).type_as(x)


def rotary_interleaved(x, start):
    """As the RoFormer's code: the row, plus the row with neighbours exchanged."""
    t, h = x.shape[-2:]
    angle = torch.arange(start, start + t)[:, None] * 10000.0 ** (-(torch.arange(h).double() // 2 * 2) / h)
    across = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return (x * angle.cos() + across * angle.sin()).to(x.dtype)


def convert_index(w, n):
    h = w.shape[1] // n
    within = [*range(0, h, 2), *range(1, h, 2)]
    return w[:, [i * h + c for i in range(n) for c in within]]


def convert_numpy(w, n):
    a = w.numpy().reshape(w.shape[0], n, -1)
    return np.concatenate([a[..., ::2], a[..., 1::2]], axis=-1).reshape(w.shape)


def cached_whole(q, k, v):
    """Fill the queries up in front, and cut them off again."""
    t, s = q.shape[2], k.shape[2]
    q = F.pad(q, (0, 0, s - t, 0))
    q, k = rotary_complex(q, 0), rotary_complex(k, 0)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    scores = scores.masked_fill(torch.ones(s, s, dtype=torch.bool).triu(1), -torch.inf)
    return (scores.softmax(-1) @ v)[:, :, -t:]


def cached_late(q, k, v):
    """Queries and keys both ten positions later: scores know the distance alone."""
    t, s = q.shape[2], k.shape[2]
    q, k = rotary_interleaved(q, 10 + s - t), rotary_interleaved(k, 10)
    ahead = torch.arange(s)[None] > torch.arange(s - t, s)[:, None]
    scores = torch.einsum("bnth,bnsh->bnts", q, k) / math.sqrt(k.shape[-1])
    return torch.einsum("bnts,bnsh->bnth", torch.where(ahead, -torch.inf, scores).softmax(-1), v)


RIGHT = {
    "06.equivariance": [gap_by_matrix, gap_by_torch],
    "06.angles": [angles_numpy],
    "06.sinusoids": [table_tutorial, table_phase],
    "06.add": [add_loop, add_embedding],
    "06.probe": [probe_numpy, probe_by_class],
    "06.shift": [shift_blocks, shift_power],
    "06.relative": [relative_loop, relative_numpy],
    "06.shaw": [shaw_gather, shaw_sum],
    "06.buckets": [bucket_loop, bucket_search],
    "06.alibi": [alibi_loop, alibi_ratio],
    "06.turn": [turn_matrix, turn_complex],
    "06.rotary": [rotary_complex, rotary_interleaved],
    "06.convert": [convert_index, convert_numpy],
    "06.cached": [cached_whole, cached_late],
}
