# %% 10.append | wrong | room for the values made with the width of the keys: fails where values have another width
def extend_cache(k, v, new_k, new_v, rows):
    S, T = k.shape[2], new_k.shape[2]
    out_k = k.new_empty(len(rows), k.shape[1], S + T, k.shape[3])
    out_v = torch.empty_like(out_k)
    out_k[:, :, :S], out_k[:, :, S:] = k[rows], new_k
    out_v[:, :, :S], out_v[:, :, S:] = v[rows], new_v
    return out_k, out_v


# %% 10.attend | wrong | repeat instead of repeat_interleave: query head i uses key-value head i mod K | names=tiled
def attend(q, k, v):
    g = q.size(1) // k.size(1)
    k, v = k.repeat(1, g, 1, 1), v.repeat(1, g, 1, 1)
    T, S = q.size(2), k.size(2)
    s = (q @ k.mT) * q.size(-1) ** -0.5
    s = s + torch.full((T, S), float("-inf"), dtype=s.dtype).triu(S - T + 1)
    return s.softmax(-1) @ v


# %% 10.attend | right | query by query, each with its slice of the cache, so no mask at all
def attend(q, k, v):
    n_batch, n_heads, n_new, width = q.shape
    n_kv, n_all = k.shape[1], k.shape[2]
    q = q.reshape(n_batch, n_kv, n_heads // n_kv, n_new, width)
    columns = []
    for t in range(n_new):
        until = n_all - n_new + t + 1
        s = torch.einsum("bkgh,bksh->bkgs", q[:, :, :, t], k[:, :, :until]) / width**0.5
        a = torch.exp(s - s.amax(dim=-1, keepdim=True))
        a = a / a.sum(dim=-1, keepdim=True)
        columns.append(torch.einsum("bkgs,bksh->bkgh", a, v[:, :, :until]))
    return torch.stack(columns, dim=3).reshape(n_batch, n_heads, n_new, -1)


# %% 10.attend | wrong | masked scores become -10000: a future token wins where the allowed scores are far below -10000 | names=minus-ten-thousand
def attend(q, k, v):
    n_new, n_all = q.shape[2], k.shape[2]
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    future = torch.arange(n_all) > torch.arange(n_all - n_new, n_all)[:, None]
    return torch.softmax(s.masked_fill(future, -1e4), dim=-1) @ v


# %% 10.beam | wrong | refills: finished texts use up no place, always `beams` open texts go on; seldom shows: beams = 1, alpha = 1, after the start: end 0.4, token a 0.36; after a: end 0.98 | names=refilled
def beam_search(table, start_id, end_id, beams, limit, alpha):
    live, done = [([start_id], 0.0)], []
    for _ in range(limit):
        cand = [(t + [j], s + table[t[-1], j].item()) for t, s in live for j in range(table.shape[1])]
        cand.sort(key=lambda c: -c[1])
        done += [c for c in cand[:beams] if c[0][-1] == end_id]
        live = [c for c in cand if c[0][-1] != end_id][:beams]
    done += live
    t, s = max(done, key=lambda c: c[1] / ((4 + len(c[0])) / 6) ** alpha)
    return t[1:], s / ((4 + len(t)) / 6) ** alpha


# %% 10.beam | wrong | only texts with an end token may win, those cut off at the limit count only if there is no other | names=cut-off-second
def beam_search(table, start_id, end_id, beams, limit, alpha):
    open_texts, ended = [([], 0.0)], []
    for _ in range(limit):
        continued = []
        for text, total in open_texts:
            row = table[text[-1] if text else start_id].tolist()
            continued += [(text + [t], total + x) for t, x in enumerate(row)]
        continued.sort(key=lambda c: c[1], reverse=True)
        kept = continued[:beams]
        ended += [c for c in kept if c[0][-1] == end_id]
        open_texts = [c for c in kept if c[0][-1] != end_id]
        if not open_texts:
            break
    pool = ended if ended else open_texts
    text, total = max(pool, key=lambda c: c[1] / ((5 + len(c[0])) / 6) ** alpha)
    return text, total / ((5 + len(text)) / 6) ** alpha


# %% 10.beam | right | recursion over the steps, tensors of totals and texts instead of lists
def beam_search(table, start_id, end_id, beams, limit, alpha):
    scores = table.double()
    n_tokens = table.shape[1]

    def search(texts, totals):
        last = texts[:, -1]
        flat = (totals[:, None] + scores[last]).reshape(-1)
        best, at = torch.topk(flat, min(int(beams), flat.numel()))
        rows = torch.div(at, n_tokens, rounding_mode="floor")
        texts = torch.cat([texts[rows], (at % n_tokens)[:, None]], dim=1)
        n = texts.shape[1] - 1
        over = (texts[:, -1] == end_id) | (n >= limit)
        finished = [(float(t) / ((5 + n) / 6) ** alpha, row[1:].tolist()) for t, row in zip(best[over], texts[over])]
        if bool((~over).any()):
            finished += search(texts[~over], best[~over])
        return finished

    score, text = max(search(torch.tensor([[int(start_id)]]), scores.new_zeros(1)))
    return text, score


# %% 10.beam-step | wrong | quotient and remainder by W instead of V (right for W = V) | names=wrong-width
def beam_step(totals, log_p, beams):
    all_totals = (totals[:, None] + log_p).flatten()
    best, at = all_totals.topk(beams)
    width = log_p.shape[0]
    return best, at // width, at % width


# %% 10.beam-step | wrong | competition by log_p alone, the totals are added to the winners only afterwards | names=history-added-later
def beam_step(totals, log_p, beams):
    _, at = log_p.flatten().topk(beams)
    parents, tokens = at // log_p.size(1), at % log_p.size(1)
    return totals[parents] + log_p[parents, tokens], parents, tokens


# %% 10.cache-bytes | wrong | all query heads are cached (N instead of K) | names=query-heads
def cache_bytes(n_layers, n_heads, n_kv_heads, head_width, batch, n_tokens, bytes_each):
    return 2 * n_layers * batch * n_tokens * n_heads * head_width * bytes_each


# %% 10.cost | wrong | the last new token is fed in too, once more than needed | names=last-fed-too one-step-more
def writing_cost(n_prompt, n_new):
    lengths = range(n_prompt, n_prompt + n_new + 1)
    again = sum(lengths)
    scores_again = sum(n * (n + 1) // 2 for n in lengths)
    n = n_prompt + n_new
    return again, n, scores_again, n * (n + 1) // 2


# %% 10.cost | wrong | with a cache the scores of the prompt are n_prompt squared (no causal mask within the prompt) | names=prompt-unmasked
def writing_cost(n_prompt, n_new):
    ns = [n_prompt + i for i in range(n_new)]
    return sum(ns), ns[-1], sum(n * (n + 1) // 2 for n in ns), n_prompt**2 + sum(ns[1:])


# %% 10.draw | wrong | searchsorted with its default side: u at the left end of an interval draws the token before it, u = 0 a token of probability 0 | names=right-ends-held
def draw(probabilities, u):
    ends = torch.cumsum(probabilities, dim=-1)
    return torch.searchsorted(ends, u[:, None])[:, 0]


# %% 10.greedy | right | recursion, a limit smaller by one each time
def greedy(table, ids, end_id, limit):
    ids = [int(i) for i in ids]

    def more(last, left):
        if left == 0:
            return []
        token = int(table[last].argmax())
        return [token] if token == end_id else [token] + more(token, left - 1)

    return ids + more(ids[-1], limit)


# %% 10.greedy | wrong | a loop "while the last id is not the end token": generates nothing where the given ids end with it | names=ended-before-it-began
def greedy(table, ids, end_id, limit):
    out = [int(i) for i in ids]
    generated = 0
    while out[-1] != end_id and generated < limit:
        out.append(int(torch.argmax(table[out[-1]])))
        generated += 1
    return out


# %% 10.next | wrong | length - 1 of the first row for all rows: right where all texts are equally long | names=first-texts-length
def next_tokens(logits, lengths):
    return logits[:, int(lengths[0]) - 1].argmax(-1)


# %% 10.positions | wrong | counts within the newest columns only, tokens in the cache are forgotten | names=cache-forgotten
def newest_positions(real, n_new):
    return (real[:, -n_new:].long().cumsum(-1) - 1).clamp(min=0)


# %% 10.positions | wrong | -1 for padding (no clamp): wrong only where the newest columns contain padding | names=below-zero
def newest_positions(real, n_new):
    return torch.cumsum(real.long(), dim=1)[:, -n_new:] - 1


# %% 10.score | wrong | place of the first end token by argmax: a text without an end token counts as one token | names=endless-is-one
def scores_of(log_p, ids, end_id, alpha):
    n = (ids == end_id).int().argmax(dim=1) + 1
    counted = torch.arange(ids.shape[1]) < n[:, None]
    total = (log_p * counted).sum(dim=1)
    return total / ((5 + n) / 6) ** alpha


# %% 10.step | wrong | a causal mask only where the cache is empty: several tokens after a cache see each other's future | names=prompt-mask-alone
def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k, v):
    q = split_heads(x @ w_q, n_heads)
    first = k.shape[2] == 0
    k = torch.cat([k, split_heads(x @ w_k, n_kv_heads)], dim=2)
    v = torch.cat([v, split_heads(x @ w_v, n_kv_heads)], dim=2)
    groups = n_heads // n_kv_heads
    s = q @ k.repeat_interleave(groups, dim=1).mT / math.sqrt(q.shape[-1])
    if first:
        future = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1)
        s = s.masked_fill(future, float("-inf"))
    z = torch.softmax(s, dim=-1) @ v.repeat_interleave(groups, dim=1)
    return merge_heads(z) @ w_o, k, v


# %% 10.step | right | heads by slices of the columns, each head's part of w_o added up
def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k, v):
    h = w_q.shape[1] // n_heads
    new_k = torch.stack([x @ w_k[:, i * h : (i + 1) * h] for i in range(n_kv_heads)], dim=1)
    new_v = torch.stack([x @ w_v[:, i * h : (i + 1) * h] for i in range(n_kv_heads)], dim=1)
    k, v = torch.cat([k, new_k], dim=2), torch.cat([v, new_v], dim=2)
    n_all, n_new = k.shape[2], x.shape[1]
    own = torch.arange(n_all - n_new, n_all).unsqueeze(1)
    allowed = torch.arange(n_all).unsqueeze(0) <= own
    y = 0
    for i in range(n_heads):
        j = i * n_kv_heads // n_heads
        columns = slice(i * h, (i + 1) * h)
        s = x @ w_q[:, columns] @ k[:, j].mT / math.sqrt(h)
        a = torch.softmax(torch.where(allowed, s, -math.inf), dim=-1)
        y = y + a @ v[:, j] @ w_o[columns]
    return y, k, v


# %% 10.temperature | wrong | every temperature below 0.001 counts as 0: wrong for 1e-5 and two logits that differ by 1e-5
def with_temperature(logits, temperature):
    if temperature < 1e-3:
        result = torch.zeros_like(logits)
        result[torch.arange(len(logits)), logits.argmax(dim=-1)] = 1
        return result
    return torch.softmax(logits / temperature, dim=-1)


# %% 10.temperature | wrong | at 0 the result is a one-hot of integers, not in the dtype of the logits | names=dtype-lost
def with_temperature(logits, temperature):
    if not temperature:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1])
    return (logits / temperature).softmax(-1)


# %% 10.temperature | right | distances to the row's maximum in float64; at 0 the comparison with the maximum
def with_temperature(logits, temperature):
    gap = logits.double() - logits.double().amax(dim=1, keepdim=True)
    if temperature == 0:
        return (gap == 0).to(logits.dtype)
    e = torch.exp(gap / temperature)
    return (e / e.sum(dim=1, keepdim=True)).to(logits.dtype)


# %% 10.top-k | right | rank of each token: how many are larger, or equal with a lower id
def top_k(logits, k):
    a, b = logits[:, :, None], logits[:, None, :]
    ids = torch.arange(logits.shape[1])
    before = (b > a) | ((b == a) & (ids[None, :] < ids[:, None]))
    kept = before.sum(dim=2) < k
    e = torch.exp(logits - logits.max(dim=1, keepdim=True).values) * kept
    return e / e.sum(dim=1, keepdim=True)


# %% 10.top-k | wrong | all logits not below the k-th largest: more than k where some are equal | names=ties-kept
def top_k(logits, k):
    k = min(k, logits.shape[1])
    smallest_kept = logits.topk(k, dim=-1).values[:, -1:]
    return torch.softmax(logits.masked_fill(logits < smallest_kept, float("-inf")), dim=-1)


# %% 10.top-k | wrong | sorted upwards and turned round: among equal logits the highest ids are kept | names=highest-at-ties
def top_k(logits, k):
    order = torch.sort(logits, dim=-1, stable=True).indices.flip(-1)[:, :k]
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(1, order, True)
    return torch.softmax(logits.masked_fill(~kept, float("-inf")), dim=-1)


# %% 10.top-p | wrong | keeps tokens while the sum is at most p; the one that crosses p is dropped (the first always kept) | names=only-first-kept
def top_p(probabilities, p):
    values, order = probabilities.sort(dim=-1, descending=True)
    keep = values.cumsum(dim=-1) <= p
    keep[:, 0] = True
    kept = torch.zeros_like(probabilities).scatter(1, order, values * keep)
    return kept / kept.sum(dim=-1, keepdim=True)


# %% 10.top-p | wrong | one token too many where the sum hits p exactly (0.5 + 0.25 with p = 0.75) | names=reached-goes-on
def top_p(probabilities, p):
    v, idx = probabilities.sort(-1, descending=True)
    drop = v.cumsum(-1) - v > p
    v = v.masked_fill(drop, 0.0)
    out = torch.zeros_like(v).scatter(-1, idx, v)
    return out / out.sum(-1, keepdim=True)


# %% 10.top-p | right | no sorting: a token is kept if those likelier than it sum to less than p
def top_p(probabilities, p):
    x = probabilities.double()
    likelier = x[:, None, :] > x[:, :, None]
    sums = (likelier * x[:, None, :]).sum(dim=-1)
    kept = torch.where(sums < p, x, torch.zeros_like(x))
    return (kept / kept.sum(dim=-1, keepdim=True)).to(probabilities.dtype)


# %% 10.write | wrong | every token that is fed alone gets position 0 | names=offset-forgotten
def write(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    d = embedding.shape[1]
    k = v = embedding.new_zeros(1, n_heads, 0, d // n_heads)
    new = torch.as_tensor(prompt)
    ids, logits = [], []
    while True:
        x = (embedding[new] + sinusoidal(len(new), d).to(embedding.dtype))[None]
        y, k, v = cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_heads, k, v)
        logits.append((x + y)[0, -1] @ embedding.T)
        ids.append(int(logits[-1].argmax()))
        if ids[-1] == end_id or len(ids) == limit:
            return torch.tensor(ids), torch.stack(logits)
        new = torch.tensor(ids[-1:])


# %% 10.write | wrong | the prompt's last token is fed a second time with the first step (logits taken from there)
def write(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    d = embedding.shape[1]
    places = sinusoidal(len(prompt) + limit, d).to(embedding.dtype)
    k = v = embedding.new_zeros(1, n_heads, 0, d // n_heads)
    text = [int(i) for i in prompt]
    x = (embedding[text] + places[: len(text)])[None]
    _, k, v = cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_heads, k, v)
    k, v = k[:, :, :-1], v[:, :, :-1]
    rows = []
    for _ in range(limit):
        x = (embedding[text[-1]] + places[len(text) - 1])[None, None]
        y, k, v = cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_heads, k, v)
        rows.append((x + y)[0, 0] @ embedding.T)
        text.append(int(rows[-1].argmax()))
        if text[-1] == end_id:
            break
    return torch.tensor(text[len(prompt) :]), torch.stack(rows)


# %% 10.write | right | a generator yields the logits; positions from one table
def write(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    d = embedding.shape[1]
    prompt = [int(i) for i in prompt]
    places = sinusoidal(len(prompt) + int(limit), d).to(embedding.dtype)

    def steps():
        k = torch.zeros(1, n_heads, 0, d // n_heads, dtype=embedding.dtype)
        v = k.clone()
        pending, done = prompt, 0
        while True:
            x = embedding[torch.tensor(pending)] + places[done : done + len(pending)]
            y, k, v = cached_attention(x.unsqueeze(0), w_q, w_k, w_v, w_o, n_heads, n_heads, k, v)
            done += len(pending)
            row = embedding @ (x[-1] + y[0, -1])
            pending = [int(row.argmax())]
            yield pending[0], row

    ids, logits = [], []
    for token, row in steps():
        ids.append(token)
        logits.append(row)
        if token == end_id or len(ids) >= limit:
            break
    return torch.tensor(ids), torch.stack(logits)
