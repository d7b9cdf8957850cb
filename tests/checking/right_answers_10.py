"""Chapter 10: right answers written otherwise: loops, numpy, other functions of torch, other orders."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def next_loop(logits, lengths):
    return [max(range(logits.shape[2]), key=logits[b, n - 1].tolist().__getitem__) for b, n in enumerate(lengths)]


def next_numpy(logits, lengths):
    return np.take_along_axis(logits.numpy(), lengths.numpy()[:, None, None] - 1, axis=1).argmax(-1)[:, 0]


def greedy_while(table, ids, end_id, limit):
    written = []
    last = int(ids[-1])
    while len(written) < limit and (not written or written[-1] != end_id):
        last = int(np.argmax(table[last].numpy()))
        written.append(last)
    return np.concatenate((ids.numpy(), written)).astype(int)


def temperature_powers(logits, temperature):
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    log_p = F.log_softmax(logits, dim=-1)
    return F.normalize(torch.exp((log_p - log_p.amax(1, keepdim=True)) / temperature), p=1, dim=-1)


def top_k_sorted_python(logits, k):
    rows = []
    for row in logits.tolist():
        top = sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]
        total = sum(math.exp(row[i] - row[top[0]]) for i in top)
        rows.append([math.exp(row[i] - row[top[0]]) / total if i in top else 0.0 for i in range(len(row))])
    return torch.tensor(rows)


def top_p_shifted(probabilities, p):
    """As transformers has it: mark what lies beyond, shifted by one so that the crossing token stays."""
    in_order, order = probabilities.sort(descending=True)
    beyond = in_order.cumsum(-1) >= p
    beyond[:, 1:] = beyond[:, :-1].clone()
    beyond[:, 0] = False
    left = probabilities.masked_fill(beyond.gather(1, order.argsort(1)), 0.0)
    return left / left.sum(-1, keepdim=True)


def top_p_by_count(probabilities, p):
    sums = np.sort(probabilities.numpy(), axis=1)[:, ::-1].cumsum(1)
    n_kept = (sums < p).sum(1) + 1
    rows = []
    for row, n in zip(probabilities.numpy(), n_kept, strict=True):
        least = np.sort(row)[::-1][min(n, len(row)) - 1]
        cut = np.where(row >= least, row, 0)
        rows.append(cut / cut.sum())
    return np.array(rows)


def draw_searchsorted(probabilities, u):
    return torch.searchsorted(probabilities.cumsum(-1), u.unsqueeze(-1), right=True).squeeze(-1)


def draw_first_true(probabilities, u):
    return (np.cumsum(probabilities.numpy(), axis=1) > u.numpy()[:, None]).argmax(1)


def positions_lengths(real, n_new):
    s = real.shape[1]
    padding = s - real.sum(1, keepdim=True)
    return (torch.arange(s - n_new, s)[None, :] - padding).clamp(min=0)


def positions_numpy(real, n_new):
    places = np.cumsum(real.numpy(), axis=1)
    return np.where(places > 0, places - 1, 0)[:, real.shape[1] - n_new :]


def append_numpy(k, v, new_k, new_v, rows):
    chosen = np.take(k.numpy(), rows.numpy(), axis=0), np.take(v.numpy(), rows.numpy(), axis=0)
    return tuple(np.concatenate(pair, axis=2) for pair in zip(chosen, (new_k.numpy(), new_v.numpy()), strict=True))


def append_selected(k, v, new_k, new_v, rows):
    def longer(old, new):
        return torch.hstack((old.index_select(0, rows).transpose(1, 2), new.transpose(1, 2))).transpose(1, 2)

    return longer(k, new_k), longer(v, new_v)


def attend_grouped(q, k, v):
    b, n, t, h = q.shape
    kv, s = k.shape[1:3]
    q = q.reshape(b, kv, n // kv, t, h)
    scores = torch.einsum("bkgth,bksh->bkgts", q, k) * h**-0.5
    scores = scores + torch.full((t, s), -math.inf).triu(s - t + 1)
    return torch.einsum("bkgts,bksh->bkgth", scores.softmax(-1), v).reshape(b, n, t, h)


def attend_numpy(q, k, v):
    q, k, v = q.numpy(), k.numpy(), v.numpy()
    k, v = np.repeat(k, q.shape[1] // k.shape[1], 1), np.repeat(v, q.shape[1] // v.shape[1], 1)
    s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]).astype(q.dtype)
    t, n = s.shape[2:]
    s = np.where(np.tri(t, n, n - t, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True)).astype(q.dtype)
    return e / e.sum(-1, keepdims=True) @ v


def _cut(y, n):
    return y.reshape(*y.shape[:2], n, -1).permute(0, 2, 1, 3)


def step_grouped(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k, v):
    k = torch.cat((k, _cut(x @ w_k, n_kv_heads)), -2)
    v = torch.cat((v, _cut(x @ w_v, n_kv_heads)), -2)
    z = attend_grouped(_cut(x @ w_q, n_heads), k, v)
    return z.permute(0, 2, 1, 3).flatten(2) @ w_o, k, v


def step_numpy_layer(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k, v):
    new = [np.stack(np.split((x @ w).numpy(), n_kv_heads, axis=-1), axis=1) for w in (w_k, w_v)]
    k, v = np.concatenate((k.numpy(), new[0]), 2), np.concatenate((v.numpy(), new[1]), 2)
    q = np.stack(np.split((x @ w_q).numpy(), n_heads, axis=-1), axis=1)
    z = attend_numpy(*(torch.from_numpy(a) for a in (q, k, v)))
    return np.concatenate(list(z.swapaxes(0, 1)), axis=-1) @ w_o.numpy(), k, v


def _rows(start, end, d):
    out = torch.zeros(end - start, d, dtype=torch.float64)
    for place in range(start, end):
        for i in range(d // 2):
            angle = place / 10000 ** (2 * i / d)
            out[place - start, 2 * i], out[place - start, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return out


def write_by_hand(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    """Keys and values in lists, head by head; the token that ends the text is fed as well."""
    d = embedding.shape[1]
    place = torch.cat([_rows(i, i + 1, d) for i in range(len(prompt) + limit)]).to(embedding.dtype)
    head_columns = [slice(i * d // n_heads, (i + 1) * d // n_heads) for i in range(n_heads)]
    keys, values, seen = [[] for _ in head_columns], [[] for _ in head_columns], 0

    def feed(ids):
        nonlocal seen
        x = embedding[ids] + place[seen : seen + len(ids)]
        seen, heads = seen + len(ids), []
        for at, columns in enumerate(head_columns):
            keys[at] += list(x @ w_k[:, columns])
            values[at] += list(x @ w_v[:, columns])
            s = torch.nn.functional.linear(x, w_q.T[columns]) @ torch.stack(keys[at]).T / (d / n_heads) ** 0.5
            s = s + torch.full_like(s, -math.inf).triu(seen - len(ids) + 1)
            heads.append(s.softmax(-1) @ torch.stack(values[at]))
        return embedding @ (x + torch.cat(heads, dim=-1) @ w_o)[-1]

    next_logits, written, logits = feed(prompt.tolist()), [], []
    while len(written) < limit and end_id not in written:
        logits.append(next_logits)
        written.append(int(next_logits.argmax()))
        next_logits = feed(written[-1:])
    return written, logits


def write_numpy(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    e, d = embedding.numpy(), embedding.shape[1]
    table = _rows(0, len(prompt) + limit, d).numpy().astype(e.dtype)
    k = v = torch.zeros(1, n_heads, 0, d // n_heads, dtype=embedding.dtype)
    new, written, logits = prompt.tolist(), [], []
    while len(written) < limit and end_id not in written:
        seen = k.shape[2]
        x = torch.from_numpy(e[new] + table[seen : seen + len(new)])[None]
        y, k, v = (torch.as_tensor(a) for a in step_numpy_layer(x, w_q, w_k, w_v, w_o, n_heads, n_heads, k, v))
        logits.append((x[0, -1] + y[0, -1]).numpy() @ e.T)
        new = [int(logits[-1].argmax())]
        written += new
    return np.array(written), np.array(logits)


def bytes_by_tensor(n_layers, n_heads, n_kv_heads, head_width, batch, n_tokens, bytes_each):
    keys = torch.empty(batch, n_kv_heads, n_tokens, head_width, device="meta")
    return sum(t.numel() * bytes_each for _ in range(n_layers) for t in (keys, keys))


def bytes_from_float32(n_layers, n_heads, n_kv_heads, head_width, batch, n_tokens, bytes_each):
    return float(n_layers * batch * n_tokens * n_kv_heads * head_width * 16 / 8 * bytes_each)


def cost_loop(n_prompt, n_new):
    tokens = scores = cached = fed = 0
    for step in range(n_new):
        length = n_prompt + step
        tokens += length
        scores += sum(range(length + 1))
        new = n_prompt if step == 0 else 1
        cached += sum(range(fed + 1, fed + new + 1))
        fed += new
    return tokens, fed, scores, cached


def cost_formulas(n_prompt, n_new):
    last = n_prompt + n_new - 1
    tetra = last * (last + 1) * (last + 2) // 6 - (n_prompt - 1) * n_prompt * (n_prompt + 1) // 6
    return n_new * n_prompt + n_new * (n_new - 1) // 2, last, tetra, math.comb(last + 1, 2)


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


RIGHT = {
    "10.next": [next_loop, next_numpy],
    "10.greedy": [greedy_while],
    "10.temperature": [temperature_powers],
    "10.top-k": [top_k_sorted_python],
    "10.top-p": [top_p_shifted, top_p_by_count],
    "10.draw": [draw_searchsorted, draw_first_true],
    "10.score": [score_places, score_numpy],
    "10.beam-step": [step_python, step_numpy],
    "10.beam": [beam_early],
    "10.positions": [positions_lengths, positions_numpy],
    "10.append": [append_numpy, append_selected],
    "10.attend": [attend_grouped, attend_numpy],
    "10.step": [step_grouped, step_numpy_layer],
    "10.write": [write_by_hand, write_numpy],
    "10.cache-bytes": [bytes_by_tensor, bytes_from_float32],
    "10.cost": [cost_loop, cost_formulas],
}
