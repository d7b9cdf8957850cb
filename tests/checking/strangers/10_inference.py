# %% 10.next | wrong | `return logits[torch.arange(len(logits)), lengths - 1].argmax(-1).byte().long()` in place of `return logits[torch.arange(len(logits)), lengths - 1].argmax(dim=-1)`
def next_tokens(logits, lengths):
    return logits[torch.arange(len(logits)), lengths - 1].argmax(-1).byte().long()


# %% 10.next | wrong | `return logits[torch.arange(len(logits)), lengths - 1].argmax(-1).float()` in place of `return logits[torch.arange(len(logits)), lengths - 1].argmax(dim=-1)`
def next_tokens(logits, lengths):
    return logits[torch.arange(len(logits)), lengths - 1].argmax(-1).float()


# %% 10.next | wrong | `return logits[torch.arange(len(logits)), lengths - 1].argmax(-1).to(torch.uint8)` in place of `return logits[torch.arange(len(logits)), lengths - 1].argmax(dim=-1)`
def next_tokens(logits, lengths):
    return logits[torch.arange(len(logits)), lengths - 1].argmax(-1).to(torch.uint8)


# %% 10.greedy | wrong | has `out = ids.tolist() for _ in range(max(limit, 1)): out.append(int(table[out[-1]].argmax())) if out[-1] == en ...`
def greedy(table, ids, end_id, limit):
    out = ids.tolist()
    for _ in range(max(limit, 1)):
        out.append(int(table[out[-1]].argmax()))
        if out[-1] == end_id:
            break
    return out


# %% 10.temperature | right | has `return (logits == logits.amax(-1, keepdim=True)).to(logits) return torch.softmax(logits / temperature, -1)`
def with_temperature(logits, temperature):
    if temperature == 0:
        return (logits == logits.amax(-1, keepdim=True)).to(logits)
    return torch.softmax(logits / temperature, -1)


# %% 10.temperature | wrong | has `return logits == logits.amax(-1, keepdim=True) return torch.softmax(logits / temperature, -1)`
def with_temperature(logits, temperature):
    if temperature == 0:
        return logits == logits.amax(-1, keepdim=True)
    return torch.softmax(logits / temperature, -1)


# %% 10.top-k | right | has `values, ids = logits.sort(dim=-1, descending=True, stable=True) return torch.zeros_like(logits).scatter(1,  ...`
def top_k(logits, k):
    values, ids = logits.sort(dim=-1, descending=True, stable=True)
    return torch.zeros_like(logits).scatter(1, ids[:, :k], values[:, :k].softmax(-1))


# %% 10.top-k | wrong | `return torch.softmax(logits.masked_fill(~kept, -10000.0), dim=-1)` in place of `return torch.softmax(logits.masked_fill(~kept, float('-inf')), dim=-1)`
def top_k(logits, k):
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(1, order[:, :k], True)
    return torch.softmax(logits.masked_fill(~kept, -1e4), dim=-1)


# %% 10.top-p | right | has `s, o = probabilities.sort(-1, descending=True) before = s.cumsum(-1) - s kept = torch.zeros_like(s, dtype=t ...`
def top_p(probabilities, p):
    s, o = probabilities.sort(-1, descending=True)
    before = s.cumsum(-1) - s
    kept = torch.zeros_like(s, dtype=torch.bool).scatter(1, o, before < p)
    x = probabilities * kept
    return x / x.sum(-1, keepdim=True)


# %% 10.top-p | wrong | the token that crosses p is dropped, so the kept tokens may hold less than p | variant=2, names=crossing-dropped
def first_kept_and_crossing_dropped(probabilities, p):
    s, ids = probabilities.sort(dim=-1, descending=True)
    cut = s * ((s.cumsum(dim=-1) <= p) | (torch.arange(s.shape[-1]) == 0))
    cut = torch.zeros_like(probabilities).scatter(-1, ids, cut)
    return cut / cut.sum(dim=-1, keepdim=True)


def top_p(p, x):
    return first_kept_and_crossing_dropped(x.mT, p).mT


# %% 10.top-p | wrong | if the kept tokens hold exactly p, the code keeps one more | names=reached-goes-on
def top_p(probabilities, p):
    s, o = probabilities.sort(-1, descending=True)
    before = s.cumsum(-1) - s
    kept = torch.zeros_like(s, dtype=torch.bool).scatter(1, o, before <= p)
    x = probabilities * kept
    return x / x.sum(-1, keepdim=True)


# %% 10.draw | wrong | `return (probabilities.half().cumsum(-1) <= u[:, None]).sum(-1)` in place of `right_ends = probabilities.cumsum(dim=-1) return (right_ends <= u[:, None]).sum(dim=-1)`
def draw(probabilities, u):
    return (probabilities.half().cumsum(-1) <= u[:, None]).sum(-1)


# %% 10.draw | wrong | has `return (probabilities.bfloat16().cumsum(-1) <= u[:, None]).sum(-1)`
def draw(probabilities, u):
    return (probabilities.bfloat16().cumsum(-1) <= u[:, None]).sum(-1)


# %% 10.draw | wrong | `return (probabilities.float().cumsum(-1) <= u[:, None]).sum(-1)` in place of `right_ends = probabilities.cumsum(dim=-1) return (right_ends <= u[:, None]).sum(dim=-1)`
def draw(probabilities, u):
    return (probabilities.float().cumsum(-1) <= u[:, None]).sum(-1)


# %% 10.score | right | has `e = (ids == end_id).int() m = e.cumsum(1) - e == 0 n = m.sum(1) return torch.where(m, log_p, 0).sum(1) / (( ...`
def scores_of(log_p, ids, end_id, alpha):
    e = (ids == end_id).int()
    m = e.cumsum(1) - e == 0
    n = m.sum(1)
    return torch.where(m, log_p, 0).sum(1) / ((5 + n) / 6) ** alpha


# %% 10.score | wrong | has `e = (ids == end_id).int() m = e.cumsum(1) - e == 0 n = m.sum(1) return torch.where(m, log_p, 0).exp().prod( ...`
def scores_of(log_p, ids, end_id, alpha):
    e = (ids == end_id).int()
    m = e.cumsum(1) - e == 0
    n = m.sum(1)
    return torch.where(m, log_p, 0).exp().prod(1).log() / ((5 + n) / 6) ** alpha


# %% 10.score | wrong | one end
def scored(log_p, ids, end_id, counted, lengths, alpha):
    return torch.where(counted, log_p, 0.0).sum(dim=1) / ((5 + lengths) / 6) ** alpha


def scores_of(log_p, ids, end_id, alpha):
    counted = ids != end_id
    return scored(log_p, ids, end_id, counted, counted.sum(dim=1) + 1, alpha)


# %% 10.score | wrong | whole steps
def scores_of(log_p, ids, end_id, alpha):
    ends = (ids == end_id).int()
    counted = ends.cumsum(dim=1) - ends == 0
    return torch.where(counted, log_p, 0.0).sum(dim=1) / ((5 + counted.sum(dim=1)) // 6) ** alpha


# %% 10.beam-step | wrong | has `v = log_p.shape[1] b = (totals[:, None] + log_p).flatten() b = b.topk(beams) return (b.values, (b.indices / ...`
def beam_step(totals, log_p, beams):
    v = log_p.shape[1]
    b = (totals[:, None] + log_p).flatten()
    b = b.topk(beams)
    return b.values, (b.indices // v).byte().long(), (b.indices % v).byte().long()


# %% 10.beam | right | has `going, done = ([(0.0, [start_id])], []) for n in range(1, limit + 1): grown = [(s + float(table[t[-1], j]), ...`
def beam_search(table, start_id, end_id, beams, limit, alpha):
    going, done = [(0.0, [start_id])], []
    for n in range(1, limit + 1):
        grown = [(s + float(table[t[-1], j]), t + [j]) for s, t in going for j in range(len(table))]
        grown = sorted(grown, reverse=True)
        done += [(s / ((5 + n) / 6) ** alpha, t[1:]) for s, t in grown[:beams] if t[-1] == end_id or n == limit]
        going = [one for one in grown[:beams] if one[1][-1] != end_id] if n < limit else []
        if not going:
            break
    score, text = max(done)
    return text, score


# %% 10.beam | wrong | every open text keeps `beams` continuations of its own, so the number of open texts grows | names=never-pruned
def beam_search(table, start_id, end_id, beams, limit, alpha):
    own = lambda t, grown: sorted([c for c in grown if c[1][:-1] == t], reverse=True)[:beams]
    going, done = [(0.0, [start_id])], []
    for n in range(1, limit + 1):
        grown = [(s + float(table[t[-1], j]), t + [j]) for s, t in going for j in range(len(table))]
        grown = [c for _, t in going for c in own(t, grown)]
        done += [(s / ((5 + n) / 6) ** alpha, t[1:]) for s, t in grown if t[-1] == end_id or n == limit]
        going = [one for one in grown if one[1][-1] != end_id] if n < limit else []
        if not going:
            break
    score, text = max(done)
    return text, score


# %% 10.beam | wrong | the search stops as soon as `beams` texts have ended | names=stops-when-full
def beam_search(table, start_id, end_id, beams, limit, alpha):
    going, done = [(0.0, [start_id])], []
    for n in range(1, limit + 1):
        grown = [(s + float(table[t[-1], j]), t + [j]) for s, t in going for j in range(len(table))]
        grown = sorted(grown, reverse=True)
        done += [(s / ((5 + n) / 6) ** alpha, t[1:]) for s, t in grown[:beams] if t[-1] == end_id or n == limit]
        going = [one for one in grown[:beams] if one[1][-1] != end_id] if n < limit else []
        if not going or len(done) >= beams:
            break
    score, text = max(done)
    return text, score


# %% 10.attend | right | has `B, N, T, H = q.shape K, S = k.shape[1:3] k, v = (k.repeat_interleave(N // K, 1), v.repeat_interleave(N // K ...`
def attend(q, k, v):
    B, N, T, H = q.shape
    K, S = k.shape[1:3]
    k, v = k.repeat_interleave(N // K, 1), v.repeat_interleave(N // K, 1)
    s = q @ k.mT / math.sqrt(H)
    i, j = torch.arange(T)[:, None] + S - T, torch.arange(S)
    return torch.softmax(s.masked_fill(j > i, -1e9), -1) @ v


# %% 10.attend | wrong | has `B, N, T, H = q.shape K, S = k.shape[1:3] k, v = (k.repeat_interleave(N // K, 1), v.repeat_interleave(N // K ...`
def attend(q, k, v):
    B, N, T, H = q.shape
    K, S = k.shape[1:3]
    k, v = k.repeat_interleave(N // K, 1), v.repeat_interleave(N // K, 1)
    s = q @ k.mT / math.sqrt(H)
    i, j = torch.arange(T)[:, None] + S - T, torch.arange(S)
    return torch.softmax(s.masked_fill(j > i, -100.0), -1) @ v


# %% 10.attend | wrong | the scores are divided by H | names=divided-by-width
def attend(q, k, v):
    B, N, T, H = q.shape
    K, S = k.shape[1:3]
    k, v = k.repeat_interleave(N // K, 1), v.repeat_interleave(N // K, 1)
    s = q @ k.mT / H
    i, j = torch.arange(T)[:, None] + S - T, torch.arange(S)
    return torch.softmax(s.masked_fill(j > i, -torch.inf), -1) @ v


# %% 10.positions | wrong | has `positions = (real.cumsum(dim=1, dtype=torch.uint8).long() - 1).masked_fill(~real, for_padding)`
def newest_positions(real, n_new):
    for_padding = 0
    positions = (real.cumsum(dim=1, dtype=torch.uint8).long() - 1).masked_fill(~real, for_padding)
    return positions[:, -n_new:]


# %% 10.positions | wrong | `return positions[:, -n_new:].float()` in place of `return positions[:, -n_new:]`
def newest_positions(real, n_new):
    for_padding = 0
    positions = (real.cumsum(dim=1) - 1).masked_fill(~real, for_padding)
    return positions[:, -n_new:].float()


# %% 10.positions | wrong | `return positions[:, -n_new:].to(torch.uint8)` in place of `return positions[:, -n_new:]`
def newest_positions(real, n_new):
    for_padding = 0
    positions = (real.cumsum(dim=1) - 1).masked_fill(~real, for_padding)
    return positions[:, -n_new:].to(torch.uint8)


# %% 10.write | wrong | has `d, ids, out = (embedding.shape[1], prompt.tolist(), []) none = torch.zeros(1, n_heads, 0, d // n_heads, dty ...`
def write(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    d, ids, out = embedding.shape[1], prompt.tolist(), []
    none = torch.zeros(1, n_heads, 0, d // n_heads, dtype=embedding.dtype)
    for _ in range(limit):
        x = (embedding[ids] + sinusoidal(len(ids), d).to(embedding))[None]
        y, _, _ = cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_heads, none, none)
        out.append((x + y)[0, -1] @ embedding.T)
        ids.append(int(out[-1].argmax()))
        if ids[-1] == end_id:
            break
    return ids[len(prompt) :], torch.stack(out)
