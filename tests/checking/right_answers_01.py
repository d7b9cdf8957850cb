"""Right answers to the tasks of chapter 1, each written in another way than the published solution.

Every one of them has to pass: torch's and numpy's own ways, einsum, recursion, float64, lists, noise on stderr.
"""

import sys

import numpy as np
import torch


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


# 01.push-up
def push_by_logarithm(logits, labels):
    p = torch.log_softmax(logits, dim=1).exp()
    return logits - 0.5 / len(labels) * (p - torch.nn.functional.one_hot(labels, logits.shape[1]))


def push_in_two_steps(logits, labels):
    """Everything down by its probability, then the label up."""
    new = logits - torch.softmax(logits, -1) / (2 * len(labels))
    new[range(len(labels)), labels] += 1 / (2 * len(labels))
    return new


RIGHT = {
    "01.recurrent": [recurrent_itself, recurrent_list_double],
    "01.depth": [depth_numpy, depth_recursive],
    "01.operations": [operations_floats],
    "01.pairs": [pairs_lists, pairs_numpy],
    "01.push-up": [push_by_logarithm, push_in_two_steps],
}
