"""Right answers to the tasks of chapter 1, each written in another way than the published solution.

Every one of them has to pass: torch's and numpy's own ways, einsum, recursion, float64, lists, noise on stderr.
"""

import sys
import warnings

import numpy as np
import torch


# 01.recurrent
def recurrent_ahead(x, w_x, w_h, b):
    """All tokens meet their matrix at once; only the state is carried from step to step."""
    driven = torch.addmm(b, x, w_x)
    states = [torch.tanh(driven[0])]
    for t in range(1, len(x)):
        states.append(torch.tanh(driven[t] + torch.einsum("m,mn->n", states[-1], w_h)))
    return torch.stack(states)


def recurrent_one_matrix(x, w_x, w_h, b):
    """Token and state side by side, the two matrices on top of each other."""
    both = torch.cat([w_x, w_h])
    out = torch.zeros(0, len(b), dtype=x.dtype)
    state = torch.zeros(1, len(b), dtype=x.dtype)
    for row in x.split(1):
        state = torch.tanh(torch.cat([row, state], dim=1) @ both + b)
        out = torch.cat([out, state])
    return out


def recurrent_itself(x, w_x, w_h, b):
    """A function that calls itself: the states of all tokens but the last, then one more."""
    if len(x) == 0:
        return x.new_zeros(0, len(b))
    before = recurrent_itself(x[:-1], w_x, w_h, b)
    last = before[-1] if len(before) else torch.zeros_like(b)
    new = 2 * torch.sigmoid(2 * (w_x.T @ x[-1] + w_h.T @ last + b)) - 1
    return torch.cat([before, new[None]])


def recurrent_list_double(x, w_x, w_h, b):
    print("reading", len(x), file=sys.stderr)
    x, w_x, w_h, b = (a.double() for a in (x, w_x, w_h, b))
    state, out = b * 0, []
    for t in range(x.shape[0]):
        state = (x[t] @ w_x + state @ w_h + b).tanh()
        out += [state]
    return out


# 01.depth
def depth_numpy(needs):
    done = np.zeros(len(needs), dtype=int)
    for i, row in enumerate(needs):
        done[i] = max(done[row] + 1, default=0)
    return done


def depth_peeling(needs):
    """Time after time, all steps are done whose needs are done."""
    n = len(needs)
    time, done = [-1] * n, set()
    now = 0
    while len(done) < n:
        ready = [i for i in range(n) if i not in done and all(j in done for j in np.flatnonzero(needs[i]))]
        for i in ready:
            time[i] = now
        done |= set(ready)
        now += 1
    return tuple(time)


def depth_recursive(needs):
    def done(i):
        return max((done(j) + 1 for j in range(len(needs)) if needs[i][j]), default=0)

    return np.array([done(i) for i in range(len(needs))])


def depth_until_it_rests(needs):
    a = needs.astype(int)
    time = np.zeros(len(a), dtype=int)
    for _ in range(len(a)):
        time = np.where(a.any(axis=1), (a * (time + 1)).max(axis=1), 0)
    return torch.from_numpy(time)


# 01.operations
def operations_factored(n_tokens, width):
    per_token = width * width
    return 16 * n_tokens * per_token, 4 * n_tokens * width * (2 * width + n_tokens), 2 * width


def operations_listed(n_tokens, width):
    products = [(n_tokens, width, width)] * 4 + [(n_tokens, width, n_tokens), (n_tokens, n_tokens, width)]
    recurrent = sum(2 * width * width for _ in range(n_tokens) for _ in range(8))
    return [recurrent, sum(2 * a * b * c for a, b, c in products), width + width]


def operations_floats(n_tokens, width):
    t, d = float(n_tokens), float(width)
    return np.array([4 * 2 * 2 * t * d**2, 4 * 2 * t * d**2 + 2 * 2 * t**2 * d, 2 * d])


# 01.pairs
def pairs_triangle(ids):
    rows = ids[:-1].expand(len(ids) - 1, -1)
    return torch.tril(rows), ids[1:].clone()


def pairs_lists(ids):
    tokens = ids.tolist()
    n = len(tokens)
    features = [tokens[:t] + [0] * (n - 1 - t) for t in range(1, n)]
    return torch.tensor(features, dtype=ids.dtype), tokens[1:]


def pairs_numpy(ids):
    a = ids.numpy()
    t = np.arange(len(a) - 1)
    return np.where(t[None, :] <= t[:, None], a[:-1], 0), np.roll(a, -1)[:-1]


def pairs_padded(ids):
    warnings.warn("a warning is noise", stacklevel=1)
    rows = [ids[: t + 1] for t in range(len(ids) - 1)]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.stack([*ids[1:]])


# 01.push-up
def push_by_logarithm(logits, labels):
    p = torch.log_softmax(logits, dim=1).exp()
    return logits - 0.5 / len(labels) * (p - torch.nn.functional.one_hot(labels, logits.shape[1]))


def push_loops(logits, labels):
    new = logits.clone()
    for t, label in enumerate(labels.tolist()):
        p = torch.softmax(logits[t].double(), dim=0)
        for v in range(logits.shape[1]):
            new[t, v] -= 0.5 * (p[v] - float(v == label)) / len(labels)
    return new


def push_in_two_steps(logits, labels):
    """Everything down by its probability, then the label up."""
    new = logits - torch.softmax(logits, -1) / (2 * len(labels))
    new[range(len(labels)), labels] += 1 / (2 * len(labels))
    return new


def push_numpy(logits, labels):
    a = logits.numpy()
    e = np.exp(a - a.max(axis=1, keepdims=True))
    y = np.eye(a.shape[1], dtype=a.dtype)[labels.numpy()]
    return (a - a.dtype.type(0.5 / len(a)) * (e / e.sum(axis=1, keepdims=True) - y)).astype(a.dtype)


RIGHT = {
    "01.recurrent": [recurrent_ahead, recurrent_one_matrix, recurrent_itself, recurrent_list_double],
    "01.depth": [depth_numpy, depth_peeling, depth_recursive, depth_until_it_rests],
    "01.operations": [operations_factored, operations_listed, operations_floats],
    "01.pairs": [pairs_triangle, pairs_lists, pairs_numpy, pairs_padded],
    "01.push-up": [push_by_logarithm, push_loops, push_in_two_steps, push_numpy],
}
