"""Right answers to the tasks of chapter 6, each written in another way than the published solution.

Every one of them has to pass: loops, complex numbers, numpy where torch is used, other orders of operations.
"""

import cmath
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F


# 06.equivariance
def gap_by_matrix(x, order, causal):
    """The order as a matrix of zeros and ones."""
    p = torch.eye(len(x), dtype=x.dtype)[order]
    return _plain(p @ x, causal) - p @ _plain(x, causal)


def gap_by_torch(x, order, causal):
    def f(y):
        return F.scaled_dot_product_attention(y[None], y[None], y[None], is_causal=causal)[0]

    return f(x.index_select(0, order)) - f(x).index_select(0, order)


def gap_by_rows(x, order, causal):
    permuted, original = _plain(torch.stack([x[i] for i in order]), causal).numpy(), _plain(x, causal).numpy()
    return np.stack([permuted[t] - original[int(i)] for t, i in enumerate(order)])


def _plain(x, causal):
    s = x @ x.T * x.shape[1] ** -0.5
    if causal:
        s = s + torch.full_like(s, -torch.inf).triu(1)
    return s.softmax(-1) @ x


# 06.angles
def angles_loop(positions, width, base):
    return [[int(p) / base ** (2 * i / width) for i in range((width + 1) // 2)] for p in positions]


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


def table_complex(length, d):
    print("a table of", length, file=sys.stderr)
    hands = [[cmath.exp(1j * p / 10000 ** (i / d)) for i in range(0, d, 2)] for p in range(length)]
    return np.array([[part for z in row for part in (z.imag, z.real)][:d] for row in hands])


# 06.add
def add_loop(x, table, start):
    return torch.stack([x[:, t] * x.shape[-1] ** 0.5 + table[start + t].to(x.dtype) for t in range(x.shape[1])], dim=1)


def add_embedding(x, table, start):
    where = torch.arange(x.shape[1]).add(start).expand(x.shape[:2])
    return torch.addcmul(F.embedding(where, table.to(x)), x, x.new_tensor(x.shape[-1]).sqrt())


def add_narrow(x, table, start):
    rows = table.narrow(0, start, x.shape[1]).unsqueeze(0)
    return (torch.mul(math.sqrt(table.shape[1]), x) + rows).type_as(x)


# 06.probe
def probe_numpy(x, labels, new):
    one_hot = np.eye(int(labels.max()) + 1)[labels.numpy()]
    a, b = (np.hstack([np.ones((len(m), 1)), m.numpy()]) for m in (x, new))
    return b @ np.linalg.lstsq(a, one_hot, rcond=None)[0]


def probe_normal(x, labels, new):
    """Through the normal equations."""
    a, b = F.pad(x, (0, 1), value=1.0), F.pad(new, (0, 1), value=1.0)
    y = torch.zeros(len(x), int(labels.max()) + 1, dtype=x.dtype)
    y[torch.arange(len(x)), labels] = 1
    return b @ torch.linalg.solve(a.T @ a, a.T @ y)


def probe_by_class(x, labels, new):
    a, b = F.pad(x, (1, 0), value=1.0), F.pad(new, (1, 0), value=1.0)
    inverse = torch.linalg.pinv(a)
    return torch.stack([b @ (inverse @ (labels == c).double()) for c in range(int(labels.max()) + 1)], dim=1)


# 06.shift
def shift_blocks(steps, d):
    def block(i):
        a = steps / 10000 ** (2 * i / d)
        return torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]], dtype=torch.float64)

    return torch.block_diag(*(block(i) for i in range(d // 2)))


def shift_power(steps, d):
    """One step, so many times over."""
    return np.linalg.matrix_power(shift_blocks(1, d).numpy(), steps)


def shift_solved(steps, d):
    """The matrix that leads from one stretch of the table to another; least squares finds it."""
    p = np.arange(3 * d)[:, None]
    speeds = 1e4 ** (-np.arange(0, d, 2) / d)

    def rows(p):
        return np.stack([np.sin(p * speeds), np.cos(p * speeds)], axis=-1).reshape(len(p), d)

    return np.linalg.lstsq(rows(500 * p), rows(500 * p + steps), rcond=None)[0]


# 06.relative
def relative_loop(t, s, start):
    return [[min(max(j - i - start, -4), 4) + 4 for j in range(s)] for i in range(t)]


def relative_numpy(t, s, start):
    apart = np.arange(s) - np.arange(start, start + t)[:, None]
    return np.clip(apart + 4, 0, 8)


def relative_where(t, s, start):
    apart = torch.arange(s).view(1, -1) - torch.arange(t).view(-1, 1) - start
    apart = torch.where(apart > 4, 4, torch.where(apart < -4, -4, apart))
    return apart + 4


# 06.shaw
def shaw_gather(q, k, table, rows):
    """Each query meets the few vectors once, and the scores are dealt out."""
    each = q @ table.mT
    dealt = each.gather(-1, rows.expand(*q.shape[:2], *rows.shape))
    return (q @ k.mT + dealt) * q.shape[-1] ** -0.5


def shaw_sum(q, k, table, rows):
    keys = k.unsqueeze(2) + table[rows]
    return (q.unsqueeze(3) * keys).sum(-1) / math.sqrt(k.shape[-1])


def shaw_loop(q, k, table, rows):
    q = q / q.shape[-1] ** 0.5
    columns = [(q * (k[:, :, s : s + 1] + table[rows[:, s]])).sum(-1) for s in range(k.shape[2])]
    return torch.stack(columns, dim=-1)


# 06.buckets
def bucket_loop(back):
    def bucket(d):
        if d < 16:
            return max(d, 0)
        return min(31, 16 + int(16 * math.log(d / 16) / math.log(8)))

    return torch.tensor([bucket(d) for d in back.flatten().tolist()]).view(back.shape)


def bucket_numpy(back):
    d = np.maximum(np.asarray(back), 0)
    with np.errstate(divide="ignore"):
        far = 16 + np.floor(np.log2(d / 16) / 3 * 16)
    return np.where(d < 16, d, np.minimum(far, 31)).astype(int)


def bucket_search(back):
    edges = torch.tensor([float(d) for d in range(1, 17)] + [16 * 8 ** (k / 16) for k in range(1, 16)])
    return torch.bucketize(back.float(), edges, right=True)


# 06.alibi
def alibi_loop(n, t, s, start):
    return [[[-max(start + i - j, 0) * 2 ** (-8 * (h + 1) / n) for j in range(s)] for i in range(t)] for h in range(n)]


def alibi_numpy(n, t, s, start):
    back = np.subtract.outer(np.arange(start, start + t), np.arange(s))
    return np.where(back > 0, -back * 2.0 ** (-8 * np.arange(1, n + 1) / n)[:, None, None], 0.0)


def alibi_ratio(n, t, s, start):
    """As the published code: a first slope, and powers of it."""
    first = 2 ** (-(2 ** -(math.log2(n) - 3)))
    slopes = torch.tensor([first ** (h + 1) for h in range(n)])
    ahead = torch.arange(s)[None, :] - torch.arange(start, start + t)[:, None]
    return slopes.view(-1, 1, 1) * ahead.clamp(max=0)


# 06.turn
def turn_matrix(x, angle):
    c, s = math.cos(angle), math.sin(angle)
    return x @ torch.tensor([[c, s], [-s, c]], dtype=x.dtype)


def turn_complex(x, angle):
    z = torch.view_as_complex(x.contiguous()) * cmath.exp(1j * angle)
    return torch.view_as_real(z)


def turn_numpy(x, angle):
    a = x.numpy()
    across = np.stack([-a[..., 1], a[..., 0]], axis=-1)
    return (np.cos(angle) * a + np.sin(angle) * across).astype(a.dtype)


# 06.rotary
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


# 06.convert
def convert_index(w, n):
    h = w.shape[1] // n
    within = [*range(0, h, 2), *range(1, h, 2)]
    return w[:, [i * h + c for i in range(n) for c in within]]


def convert_numpy(w, n):
    a = w.numpy().reshape(w.shape[0], n, -1)
    return np.concatenate([a[..., ::2], a[..., 1::2]], axis=-1).reshape(w.shape)


def convert_product(w, n):
    h = w.shape[1] // n
    order = torch.arange(h).view(-1, 2).T.flatten()
    move = torch.block_diag(*[torch.eye(h, dtype=w.dtype)[:, order]] * n)
    return w @ move


# 06.cached
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


def cached_keys_alone(q, k, v):
    """Turn the keys alone, back by the distance from each query: the same scores."""
    h, t, s = q.shape[-1], q.shape[2], k.shape[2]
    rows = []
    for i in range(t):
        place = s - t + i
        turned = torch.stack([k[:, :, j] @ shift_blocks(place - j, h).to(k.dtype) for j in range(place + 1)], dim=2)
        a = (turned @ q[:, :, i, :, None] / h**0.5).softmax(-2)
        rows.append((a.mT @ v[:, :, : place + 1]).squeeze(-2))
    return torch.stack(rows, dim=2)


RIGHT = {
    "06.equivariance": [gap_by_matrix, gap_by_torch, gap_by_rows],
    "06.angles": [angles_loop, angles_numpy],
    "06.sinusoids": [table_tutorial, table_phase, table_complex],
    "06.add": [add_loop, add_embedding, add_narrow],
    "06.probe": [probe_numpy, probe_normal, probe_by_class],
    "06.shift": [shift_blocks, shift_power, shift_solved],
    "06.relative": [relative_loop, relative_numpy, relative_where],
    "06.shaw": [shaw_gather, shaw_sum, shaw_loop],
    "06.buckets": [bucket_loop, bucket_numpy, bucket_search],
    "06.alibi": [alibi_loop, alibi_numpy, alibi_ratio],
    "06.turn": [turn_matrix, turn_complex, turn_numpy],
    "06.rotary": [rotary_complex, rotary_interleaved],
    "06.convert": [convert_index, convert_numpy, convert_product],
    "06.cached": [cached_whole, cached_late, cached_keys_alone],
}
