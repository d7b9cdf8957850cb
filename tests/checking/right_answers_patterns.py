"""Chapter 16, structured decoding and sums: right answers written otherwise: recursion, tables, loops over rows."""

from functools import reduce
from operator import add

import numpy as np
import torch


def token_mask_numpy(table, final, tokens, end, state):
    dead = np.vstack([table, np.full(len(table[0]), -1)])
    now = np.full(len(tokens), state)
    for place in range(max(map(len, tokens))):
        inside = [t for t, characters in enumerate(tokens) if len(characters) > place]
        now[inside] = dead[now[inside], [tokens[t][place] for t in inside]]
    allowed = (now >= 0) & np.array([len(characters) > 0 for characters in tokens])
    allowed[end] = state in final
    return allowed


def token_mask_sets(table, final, tokens, end, state):
    before = {(): state}
    for characters in tokens:
        for n in range(1, len(characters) + 1):
            source = before.get(tuple(characters[: n - 1]))
            if source is not None and table[source][characters[n - 1]] != -1:
                before[tuple(characters[:n])] = table[source][characters[n - 1]]
    allowed = [int(bool(characters) and tuple(characters) in before) for characters in tokens]
    allowed[end] = int(state in set(final))
    return tuple(allowed)


def constrained_rows(logits, mask, temperature, k):
    probabilities = torch.zeros_like(logits)
    for b in range(len(logits)):
        ids = mask[b].nonzero()[:, 0]
        ids = ids[logits[b, ids].argsort(descending=True)[:k]]
        probabilities[b, ids] = torch.softmax(logits[b, ids] / temperature, dim=0)
    return probabilities


def constrained_sorted(logits, mask, temperature, k):
    scores = torch.full_like(logits, -torch.inf)
    scores[:, : mask.shape[1]][mask] = logits[:, : mask.shape[1]][mask] / temperature
    ordered, ids = scores.sort(dim=-1, descending=True)
    ordered[:, k:] = -torch.inf
    probabilities = torch.zeros_like(logits).scatter(1, ids, torch.softmax(ordered, dim=-1))
    return probabilities.nan_to_num(0.0)


def split_sum_lists(x, size):
    rows = x.tolist()
    return [reduce(add, [reduce(add, row[i : i + size]) for i in range(0, len(row), size)]) for row in rows]


def split_sum_numpy(x, size):
    parts = [np.add.accumulate(part, axis=1)[:, -1] for part in np.split(x, range(size, x.shape[1], size), axis=1)]
    return np.add.accumulate(np.stack(parts), axis=0)[-1]


PATTERNS = {
    "16.token-mask": [token_mask_numpy, token_mask_sets],
    "16.constrained-step": [constrained_rows, constrained_sorted],
    "16.split-sum": [split_sum_lists, split_sum_numpy],
}
