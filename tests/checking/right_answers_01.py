"""Right answers to the tasks of chapter 1, each written in another way than the published solution."""

import sys

import numpy as np
import torch


def recurrent_list_double(x, w_x, w_h, b):
    print("reading", len(x), file=sys.stderr)
    x, w_x, w_h, b = (a.double() for a in (x, w_x, w_h, b))
    state, out = b * 0, []
    for t in range(x.shape[0]):
        state = (x[t] @ w_x + state @ w_h + b).tanh()
        out += [state]
    return out


def depth_recursive(needs):
    def done(i):
        return max((done(j) + 1 for j in range(len(needs)) if needs[i][j]), default=0)

    return np.array([done(i) for i in range(len(needs))])


def operations_floats(n_tokens, width):
    t, d = float(n_tokens), float(width)
    return np.array([4 * 2 * 2 * t * d**2, 4 * 2 * t * d**2 + 2 * 2 * t**2 * d, 2 * d])


def pairs_lists(ids):
    tokens = ids.tolist()
    n = len(tokens)
    features = [tokens[:t] + [0] * (n - 1 - t) for t in range(1, n)]
    return torch.tensor(features, dtype=ids.dtype), tokens[1:]


def pairs_numpy(ids):
    a = ids.numpy()
    t = np.arange(len(a) - 1)
    return np.where(t[None, :] <= t[:, None], a[:-1], 0), np.roll(a, -1)[:-1]


def push_in_two_steps(logits, labels):
    """Everything down by its probability, then the label up."""
    new = logits - torch.softmax(logits, -1) / (2 * len(labels))
    new[range(len(labels)), labels] += 1 / (2 * len(labels))
    return new


RIGHT = {
    "01.recurrent": [recurrent_list_double],
    "01.depth": [depth_recursive],
    "01.operations": [operations_floats],
    "01.pairs": [pairs_lists, pairs_numpy],
    "01.push-up": [push_in_two_steps],
}
