"""Chapter 10, beam search and scores: right answers written otherwise."""

import math

import numpy as np
import torch


def score_loop(log_p, ids, end_id, alpha):
    scores = []
    for row, text in zip(log_p.tolist(), ids.tolist(), strict=True):
        total, n = 0.0, 0
        for value, token in zip(row, text, strict=True):
            total, n = total + value, n + 1
            if token == end_id:
                break
        scores.append(total / ((5 + n) / 6) ** alpha)
    return torch.tensor(scores, dtype=torch.float64)


def score_places(log_p, ids, end_id, alpha):
    m = ids.shape[1]
    places = torch.arange(m).expand_as(ids)
    lengths = torch.where(ids == end_id, places, m - 1).amin(1) + 1
    total = log_p.cumsum(1).gather(1, lengths[:, None] - 1)[:, 0]
    return total * (6 / (5 + lengths)) ** alpha


def score_numpy(log_p, ids, end_id, alpha):
    seen = np.maximum.accumulate(ids.numpy() == end_id, axis=1)
    counted = ~np.pad(seen, ((0, 0), (1, 0)))[:, :-1]
    n = counted.sum(1)
    return (log_p.numpy() * counted).sum(1) / np.exp(alpha * np.log((5 + n) / 6))


def step_sorted(totals, log_p, beams):
    flat = (totals.unsqueeze(1) + log_p).reshape(-1)
    values, places = flat.sort(descending=True)
    return values[:beams], places[:beams].div(log_p.shape[1], rounding_mode="floor"), places[:beams] % log_p.shape[1]


def step_python(totals, log_p, beams):
    candidates = []
    for parent, row in enumerate(log_p.tolist()):
        for token, value in enumerate(row):
            candidates.append((totals[parent].item() + value, parent, token))
    return tuple(zip(*sorted(candidates, reverse=True)[:beams], strict=True))


def step_numpy(totals, log_p, beams):
    table = totals.numpy()[:, None] + log_p.numpy()
    places = np.argsort(-table, axis=None)[:beams]
    parents, tokens = np.unravel_index(places, table.shape)
    return table[parents, tokens], parents, tokens


def beam_lists(table, start_id, end_id, beams, limit, alpha):
    rows = table.tolist()
    alive, finished = [(0.0, [])], []
    while alive:
        longer = [
            (total + value, [*text, token])
            for total, text in alive
            for token, value in enumerate(rows[text[-1] if text else start_id])
        ]
        longer.sort(key=lambda pair: -pair[0])
        alive = []
        for total, text in longer[:beams]:
            if text[-1] == end_id or len(text) == limit:
                finished.append((total / ((5 + len(text)) / 6) ** alpha, text))
            else:
                alive.append((total, text))
    score, text = max(finished)
    return text, score


def beam_early(table, start_id, end_id, beams, limit, alpha):
    """Stops when no open text can become better any more, as the library does."""
    alive, best = {(start_id,): 0.0}, ((), -math.inf)
    for n in range(1, limit + 1):
        longer = {(*t, i): s + float(table[t[-1], i]) for t, s in alive.items() for i in range(len(table))}
        top = sorted(longer.items(), key=lambda item: item[1])[-beams:]
        alive = {}
        for text, total in reversed(top):
            if text[-1] == end_id or n == limit:
                best = max(best, (text[1:], total / ((5 + n) / 6) ** alpha), key=lambda pair: pair[1])
            else:
                alive[text] = total
        if not alive or max(alive.values()) / ((5 + limit) / 6) ** alpha <= best[1]:
            break
    return list(best[0]), best[1]


def beam_arrays(table, start_id, end_id, beams, limit, alpha):
    t = table.numpy()
    texts, totals = np.array([[start_id]]), np.zeros(1)
    best, best_score = None, -np.inf
    for n in range(1, limit + 1):
        all_totals = totals[:, None] + t[texts[:, -1]]
        places = np.argsort(-all_totals.ravel(), kind="stable")[:beams]
        parents, tokens = places // len(t), places % len(t)
        texts, totals = np.column_stack((texts[parents], tokens)), all_totals.ravel()[places]
        ends = (tokens == end_id) | (n == limit)
        for text, total in zip(texts[ends], totals[ends], strict=True):
            score = total * (6 / (5 + n)) ** alpha
            if score > best_score:
                best, best_score = text[1:], score
        texts, totals = texts[~ends], totals[~ends]
        if not len(texts):
            break
    return best, best_score
