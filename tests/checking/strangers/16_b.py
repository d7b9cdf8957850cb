# %% 16.prefix | wrong | a prompt that is in the cache as a whole loses one token only, not the whole block of that token | names=one-token-computed
def reusable(prompt, earlier, block_size):
    best = 0
    for old in earlier:
        same = 0
        for a, b in zip(prompt, old):
            if a != b:
                break
            same += 1
        best = max(best, same // block_size * block_size)
    return min(best, len(prompt) - 1)


# %% 16.prefix | wrong | takes one block off whenever all full blocks of the prompt are there, even where a part of a block is left to compute | names=last-block-never
def reusable(prompt, earlier, block_size):
    best = 0
    for old in earlier:
        n = 0
        while n + block_size <= min(len(old), len(prompt)) and old[n : n + block_size] == prompt[n : n + block_size]:
            n += block_size
        best = max(best, n)
    if best and best == len(prompt) // block_size * block_size:
        best -= block_size
    return best


# %% 16.ragged | right | sequence by sequence and head by head, softmax by logsumexp in float64, no padding anywhere
def decode_attention(q, k_blocks, v_blocks, tables, lengths):
    B, N, H = q.shape
    M, K = k_blocks.shape[1], k_blocks.shape[2]
    rows = []
    for b in range(B):
        n = int(lengths[b])
        at = torch.arange(n)
        block = torch.as_tensor(tables[b])[torch.div(at, M, rounding_mode="floor")].long()
        k = k_blocks[block, at % M].double()
        v = v_blocks[block, at % M].double()
        heads = []
        for h in range(N):
            g = h * K // N
            score = k[:, g] @ q[b, h].double() / H**0.5
            heads.append(torch.exp(score - torch.logsumexp(score, 0)) @ v[:, g])
        rows.append(torch.stack(heads))
    return torch.stack(rows).to(q.dtype)


# %% 16.ragged | wrong | masks only the blocks numbered -1; the empty cells at the end of a sequence's last block are attended to | names=whole-blocks
def decode_attention(q, k_blocks, v_blocks, tables, lengths):
    B, N, H = q.shape
    P, M, K, _ = k_blocks.shape
    k = k_blocks[tables.clamp(min=0)].flatten(1, 2).repeat_interleave(N // K, dim=2)
    v = v_blocks[tables.clamp(min=0)].flatten(1, 2).repeat_interleave(N // K, dim=2)
    real = (tables >= 0).repeat_interleave(M, dim=1)
    scores = torch.einsum("bnh,bsnh->bns", q, k) / math.sqrt(H)
    weights = scores.masked_fill(~real[:, None], float("-inf")).softmax(-1)
    return torch.einsum("bns,bsnh->bnh", weights, v)


# %% 16.ragged | wrong | the heads share in turn (head n uses key-value head n % K), not as neighbours | names=heads-in-turn
def decode_attention(q, k_blocks, v_blocks, tables, lengths):
    B, N, H = q.shape
    M, K = k_blocks.shape[1:3]
    k = k_blocks[tables.clamp(min=0)].flatten(1, 2).repeat(1, 1, N // K, 1)
    v = v_blocks[tables.clamp(min=0)].flatten(1, 2).repeat(1, 1, N // K, 1)
    inside = torch.arange(k.shape[1])[None] < lengths[:, None]
    scores = torch.einsum("bnh,bsnh->bns", q, k) / H**0.5
    a = scores.masked_fill(~inside[:, None], -torch.inf).softmax(-1)
    return torch.einsum("bns,bsnh->bnh", a, v)


# %% 16.ragged | wrong | softmax over all cells first, then zeros outside and divides by the sum again; 0 / 0 where a cell outside scores far above all tokens of the sequence | names=mask-after-softmax-renormalised
def decode_attention(q, k_blocks, v_blocks, tables, lengths):
    B, N, H = q.shape
    M, K = k_blocks.shape[1:3]
    G = N // K
    k = k_blocks[tables.clamp(min=0)].flatten(1, 2)
    v = v_blocks[tables.clamp(min=0)].flatten(1, 2)
    scores = torch.einsum("bkgh,bskh->bkgs", q.reshape(B, K, G, H), k) / math.sqrt(H)
    weights = torch.softmax(scores, dim=-1)
    inside = torch.arange(k.shape[1])[None] < lengths[:, None]
    weights = weights * inside[:, None, None]
    weights = weights / weights.sum(-1, keepdim=True)
    return torch.einsum("bkgs,bskh->bkgh", weights, v).reshape(B, N, H)


# %% 16.schedule | right | one list of claims sorted by rank (decoding, prefill, waiting), then served in one loop
def schedule(running, waiting, budget, most):
    claims = []
    for i, (prompt, computed) in enumerate(running):
        missing = prompt - computed
        claims.append((0, i, 1) if missing == 0 else (1, i, missing))
    room = max(0, most - len(running))
    claims += [(2, i, length) for i, length in enumerate(waiting) if i < room]
    out = {0: [0] * len(running), 2: [0] * len(waiting)}
    out[1] = out[0]
    for rank, i, wanted in sorted(claims):
        out[rank][i] = min(wanted, budget)
        budget -= out[rank][i]
    return out[0], out[2]


# %% 16.schedule | wrong | goes through the running requests in one pass, so an earlier prefill is served before a later decoding request | names=in-order-of-arrival
def schedule(running, waiting, budget, most):
    left, a = budget, []
    for prompt, computed in running:
        n = min(left, prompt - computed if computed < prompt else 1)
        a.append(n)
        left -= n
    b, count = [], len(running)
    for prompt in waiting:
        n = min(left, prompt) if count < most else 0
        count += n > 0
        left -= n
        b.append(n)
    return a, b


# %% 16.schedule | wrong | a prefill with one token to go is taken for a decoding request and comes before earlier prefills (running [[8, 2], [5, 4]], budget 3) | names=last-token-as-decoding
def schedule(running, waiting, budget, most):
    a, b = [0] * len(running), [0] * len(waiting)
    for i, (prompt, computed) in enumerate(running):
        if prompt - computed <= 1 and budget:
            a[i] = 1
            budget -= 1
    for i, (prompt, computed) in enumerate(running):
        if prompt - computed > 1:
            a[i] = min(prompt - computed, budget)
            budget -= a[i]
    for i in range(min(len(waiting), max(most - len(running), 0))):
        b[i] = min(waiting[i], budget)
        budget -= b[i]
    return a, b


# %% 16.simulate | right | a dictionary of what is left of each request, the step's update written once for running and new ones
def simulate(requests, budget, most, fixed, each):
    n = len(requests)
    computed, written = [0] * n, [0] * n
    first, done = [None] * n, [None] * n
    running, now = [], 0.0
    while any(t is None for t in done):
        waiting = [i for i in range(n) if done[i] is None and i not in running and requests[i][0] <= now]
        if not running and not waiting:
            now = min(r[0] for r, t in zip(requests, done) if t is None)
            continue
        a, b = schedule(
            [[requests[i][1], computed[i]] for i in running], [requests[i][1] for i in waiting], budget, most
        )
        plan = [(i, m) for i, m in [*zip(running, a), *zip(waiting, b)] if m > 0]
        now = now + fixed + each * sum(m for _, m in plan)
        running = running + [i for i, m in zip(waiting, b) if m > 0]
        for i, m in plan:
            arrival, prompt, new = requests[i]
            if computed[i] < prompt:
                computed[i] += m
                if computed[i] < prompt:
                    continue
                first[i] = now - arrival
            written[i] += 1
            if written[i] == new:
                done[i] = now - arrival
                running.remove(i)
    return first, done


# %% 16.simulate | wrong | all requests are in the queue from the beginning, their arrivals are only subtracted at the end | names=all-there-at-first
def simulate(requests, budget, most, fixed, each):
    n = len(requests)
    first, done = [None] * n, [None] * n
    waiting, running = list(range(n)), []
    computed, written = [0] * n, [0] * n
    now = requests[0][0] if requests else 0
    while waiting or running:
        a, b = schedule(
            [[requests[i][1], computed[i]] for i in running], [requests[i][1] for i in waiting], budget, most
        )
        now += fixed + each * (sum(a) + sum(b))
        todo = list(zip(running, a)) + [(i, m) for i, m in zip(waiting, b) if m]
        waiting = [i for i, m in zip(waiting, b) if not m]
        running = [i for i, _ in todo]
        for i, m in todo:
            if computed[i] < requests[i][1]:
                computed[i] += m
                if computed[i] == requests[i][1]:
                    written[i] = 1
                    first[i] = now - requests[i][0]
            elif m:
                written[i] += 1
            if written[i] == requests[i][2]:
                done[i] = now - requests[i][0]
                running.remove(i)
    return first, done


# %% 16.simulate | wrong | looks whether a request is complete only after a decoding token, so one with new = 1 stays for one more step | names=first-token-never-the-last
def simulate(requests, budget, most, fixed, each):
    n = len(requests)
    first, done = [0.0] * n, [0.0] * n
    live, queue, now, nxt = [], [], 0.0, 0
    while live or queue or nxt < n:
        if not live and not queue:
            now = max(now, requests[nxt][0])
        while nxt < n and requests[nxt][0] <= now:
            queue.append(nxt)
            nxt += 1
        run, new = schedule([[s["prompt"], s["computed"]] for s in live], [requests[i][1] for i in queue], budget, most)
        now += fixed + each * (sum(run) + sum(new))
        steps = list(zip(live, run))
        rest = []
        for i, m in zip(queue, new):
            if m:
                state = {"i": i, "prompt": requests[i][1], "computed": 0, "written": 0}
                live.append(state)
                steps.append((state, m))
            else:
                rest.append(i)
        queue = rest
        for s, m in steps:
            if s["computed"] < s["prompt"]:
                s["computed"] += m
                if s["computed"] == s["prompt"]:
                    s["written"] = 1
                    first[s["i"]] = now - requests[s["i"]][0]
            elif m:
                s["written"] += 1
                if s["written"] >= requests[s["i"]][2]:
                    done[s["i"]] = now - requests[s["i"]][0]
                    live.remove(s)
    return first, done


# %% 16.small | right | everything in bits, groups as wholes, and the sequences from the bits that are left
def beside_small_weights(params, kept, bits, group, memory, sequence_bytes):
    groups = (params - kept) // group
    total = 16 * kept + groups * (group * bits + 16)
    return (total // 8 if total % 8 == 0 else total / 8), (8 * memory - total) // (8 * sequence_bytes)


# %% 16.small | wrong | scales for all parameters, those that are kept in 16 bits too | names=scales-for-all
def beside_small_weights(params, kept, bits, group, memory, sequence_bytes):
    size = (kept * 16 + (params - kept) * bits + params // group * 16) // 8
    return size, (memory - size) // sequence_bytes


# %% 16.small | wrong | adds 16 // group bits to each weight for its scale, which is 0 for groups of more than 16 | names=scales-in-whole-bits
def beside_small_weights(params, kept, bits, group, memory, sequence_bytes):
    per_weight = bits + 16 // group
    size = kept * 2 + (params - kept) * per_weight // 8
    return size, (memory - size) // sequence_bytes


# %% 16.speedup | right | drafts one more token only while its share of acceptance is above the cost times the rate so far (the rate never rises again after that)
def best_draft(acceptance, draft_cost, most):
    k, tokens, power = 0, 1.0, acceptance
    while k < most and power * (k * draft_cost + 1) > draft_cost * tokens:
        k += 1
        tokens += power
        power *= acceptance
    return k, tokens / (k * draft_cost + 1)


# %% 16.speedup | wrong | tries k from 1 on, the large model alone is never chosen | names=always-drafted
def best_draft(acceptance, draft_cost, most):
    best, rate = None, 0.0
    for k in range(1, max(most, 1) + 1):
        r = sum(acceptance**i for i in range(k + 1)) / (k * draft_cost + 1)
        if r > rate:
            best, rate = k, r
    return best, rate


# %% 16.speedup | wrong | range(most): the largest allowed k is never tried | names=limit-left-out
def best_draft(acceptance, draft_cost, most):
    rates = [sum(acceptance**i for i in range(k + 1)) / (k * draft_cost + 1) for k in range(max(most, 1))]
    k = rates.index(max(rates))
    return k, rates[k]


# %% 16.split-pools | right | seconds a request for each kind, all divisions in numpy arrays and argmax, which gives the first of equals
def split_pools(machines, prompt, answer, prefill_rate, step, batch, cache_bytes, bandwidth):
    first = np.arange(1, machines)
    busy = max(prompt / prefill_rate, prompt * cache_bytes / bandwidth)
    together = np.minimum(first / busy, (machines - first) * batch / (step * answer))
    best = int(together.argmax())
    return int(first[best]), float(together[best])


# %% 16.split-pools | wrong | the first token is taken to come from the prefill: answer - 1 steps for each answer | names=first-token-from-prefill
def split_pools(machines, prompt, answer, prefill_rate, step, batch, cache_bytes, bandwidth):
    a = min(prefill_rate, bandwidth / cache_bytes) / prompt
    b = batch / step / max(answer - 1, 1)
    rates = {p: min(p * a, (machines - p) * b) for p in range(1, machines)}
    best = max(rates, key=rates.get)
    return best, rates[best]


# %% 16.split-pools | wrong | solves p * a = (machines - p) * b and rounds p to the nearest, where the other neighbour may be better (a much larger than b, p below 1.5 and so on) | names=nearest-division
def split_pools(machines, prompt, answer, prefill_rate, step, batch, cache_bytes, bandwidth):
    a = min(prefill_rate / prompt, bandwidth / (cache_bytes * prompt))
    b = batch / (step * answer)
    p = round(machines * b / (a + b))
    p = min(max(p, 1), machines - 1)
    return p, min(p * a, (machines - p) * b)


# %% 16.split-sum | right | whole columns are added by functools.reduce, first within the splits and then over them
from functools import reduce
from operator import add


def split_sum(x, size):
    length = x.shape[1]
    parts = [
        reduce(add, [x[:, j] for j in range(start, min(start + size, length))]) for start in range(0, length, size)
    ]
    return reduce(add, parts)


# %% 16.split-sum | wrong | one total runs through the whole row: each number of a later split is added to what came before, not to its own split | names=one-sum-of-all
def split_sum(x, size):
    total = x[:, 0] * 1.0
    for start in range(0, x.shape[1], size):
        for j in range(max(start, 1), min(start + size, x.shape[1])):
            total = total + x[:, j]
    return total


# %% 16.split-sum | wrong | takes `size` as the number of splits | names=size-for-number
def split_sum(x, size):
    F = x.shape[1]
    width = max(1, -(-F // size))
    total = None
    for start in range(0, F, width):
        part = x[:, start]
        for j in range(start + 1, min(start + width, F)):
            part = part + x[:, j]
        total = part if total is None else total + part
    return total


# %% 16.split-sum | wrong | a last split that is shorter is added number by number to the split before it | names=short-split-joined
def split_sum(x, size):
    F = x.shape[1]
    parts = []
    for start in range(0, F, size):
        if start + size > F and parts:
            for j in range(start, F):
                parts[-1] = parts[-1] + x[:, j]
            continue
        part = x[:, start]
        for j in range(start + 1, min(start + size, F)):
            part = part + x[:, j]
        parts.append(part)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


# %% 16.stream | right | a regular expression finds the first stop string, a set of all proper beginnings says what to hold back
import re


def streamed(pieces, stops):
    pattern = re.compile("|".join(map(re.escape, stops))) if stops else None
    beginnings = {stop[:n] for stop in stops for n in range(1, len(stop))}
    held, out = "", []
    for number, piece in enumerate(pieces, 1):
        held += piece
        found = pattern.search(held) if pattern else None
        if found:
            return [*out, held[: found.start()]]
        cut = len(held)
        if number < len(pieces):
            cut = next((i for i in range(len(held)) if held[i:] in beginnings), cut)
        out.append(held[:cut])
        held = held[cut:]
    return out


# %% 16.stream | wrong | cuts at the first stop string of the list that occurs, not at the one that begins first in the text | names=first-of-the-list
def streamed(pieces, stops):
    text, sent, out = "", 0, []
    for i, piece in enumerate(pieces):
        text += piece
        for stop in stops:
            at = text.find(stop)
            if at >= 0:
                out.append(text[sent:at])
                return out
        end = len(text)
        if i < len(pieces) - 1:
            hold = max((n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)
            end -= hold
        out.append(text[sent:end])
        sent = end
    return out


# %% 16.stream | wrong | holds back the shortest end that could begin a stop string, not the longest (stop "aab": after the text "aa" it sends an "a" too early) | names=shortest-then-behind-it
def streamed(pieces, stops):
    text, sent, out = "", 0, []
    for i, piece in enumerate(pieces):
        text += piece
        places = [text.find(stop, sent) for stop in stops if text.find(stop, sent) >= 0]
        if places:
            out.append(text[sent : min(places)])
            return out
        hold = 0
        if i + 1 < len(pieces):
            for n in range(1, len(text) - sent + 1):
                if any(stop.startswith(text[-n:]) for stop in stops):
                    hold = n
                    break
        out.append(text[sent : len(text) - hold])
        sent = len(text) - hold
    return out


# %% 16.token-mask | right | walks through a copy of the table with a sink row, so that leaving is one more state; the end by its own rule
def token_mask(table, final, tokens, end, state):
    sink = len(table)
    width = len(table[0])
    graph = [[sink if to < 0 else to for to in row] for row in table] + [[sink] * width]

    def walk(at, characters):
        return at if not characters else walk(graph[at][characters[0]], characters[1:])

    allowed = [bool(len(t)) and walk(state, list(t)) != sink for t in tokens]
    allowed[end] = any(state == s for s in final)
    return allowed


# %% 16.token-mask | wrong | looks at the state after the last character only; -1 in between is used as an index and leads on from the last state | names=last-row
def token_mask(table, final, tokens, end, state):
    out = []
    for t, characters in enumerate(tokens):
        if t == end:
            out.append(state in final)
            continue
        s = state
        for c in characters:
            s = table[s][c]
        out.append(len(characters) > 0 and s >= 0)
    return out


# %% 16.token-mask | wrong | the end token must also be walked: it may follow only if its own characters fit, too | names=end-spelt-unless-empty
def token_mask(table, final, tokens, end, state):
    mask = []
    for t, chars in enumerate(tokens):
        s, ok = state, True
        for c in chars:
            s = table[s][c]
            if s == -1:
                ok = False
                break
        if t == end:
            ok = ok and state in final
        else:
            ok = ok and len(chars) > 0
        mask.append(ok)
    return mask


# %% 16.token-mask | wrong | tokens without characters are sorted out before the end is looked at, so an end token without characters may never follow | names=empty-end-refused
def token_mask(table, final, tokens, end, state):
    def allowed(t):
        if not tokens[t]:
            return False
        if t == end:
            return state in final
        s = state
        for c in tokens[t]:
            s = table[s][c]
            if s < 0:
                return False
        return True

    return [allowed(t) for t in range(len(tokens))]
