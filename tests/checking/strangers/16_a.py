# %% 16.admit | right | running sums of the needed blocks, and how many of the sums fit
from itertools import accumulate


def admitted(memory, weights, reserve, config, bytes_each, block_size, queue):
    width = config["num_key_value_heads"] * config["head_dim"]
    one_block = block_size * config["num_hidden_layers"] * (width + width) * bytes_each
    blocks, _ = divmod(memory - weights - reserve, one_block)
    needed = accumulate((sum(pair) + block_size - 1) // block_size for pair in queue)
    return blocks, sum(total <= blocks for total in needed)


# %% 16.admit | wrong | a request that does not fit is passed over and smaller ones behind it still enter | names=overtaken
def admitted(memory, weights, reserve, config, bytes_each, block_size, queue):
    per_token = 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * config["head_dim"] * bytes_each
    n_blocks = (memory - weights - reserve) // (per_token * block_size)
    free, n = n_blocks, 0
    for p, m in queue:
        need = -(-(p + m) // block_size)
        if need <= free:
            free -= need
            n += 1
    return n_blocks, n


# %% 16.admit | wrong | the memory in tokens is rounded down before it is divided into blocks, and requests are counted in tokens of it, not in whole blocks | names=tokens-for-blocks
def admitted(memory, weights, reserve, config, bytes_each, block_size, queue):
    per_token = 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * config["head_dim"] * bytes_each
    tokens = (memory - weights - reserve) // per_token
    n = 0
    for p, m in queue:
        tokens -= p + m
        if tokens < 0:
            break
        n += 1
    return (memory - weights - reserve) // per_token // block_size, n


# %% 16.append | right | the free blocks stand in a heap, those of a preempted sequence are pushed back, running sequences in a set
import heapq


def append_all(tables, lengths, owners, block_size):
    tables = [[*table] for table in tables]
    owners = [*owners]
    free = [b for b, users in enumerate(owners) if users == 0]
    heapq.heapify(free)
    running = set(range(len(tables)))
    pairs, gone = [], []

    def drop(block):
        owners[block] -= 1
        if owners[block] == 0:
            heapq.heappush(free, block)

    for i in range(len(tables)):
        while i in running:
            full = lengths[i] == len(tables[i]) * block_size
            if not full and owners[tables[i][-1]] == 1:
                break
            if not free:
                last = max(running)
                running.discard(last)
                gone.append(last)
                while tables[last]:
                    drop(tables[last].pop())
                continue
            new = heapq.heappop(free)
            owners[new] = 1
            if full:
                tables[i].append(new)
            else:
                old = tables[i][-1]
                drop(old)
                tables[i][-1] = new
                pairs.append([old, new])
            break
    return tables, owners, pairs, gone


# %% 16.append | wrong | decides once what is needed: after a preemption it still copies the last block, though nobody else uses it any more | names=not-looked-again
def append_all(tables, lengths, owners, block_size):
    tables, owners = [list(t) for t in tables], list(owners)
    pairs, preempted = [], []
    for i in range(len(tables)):
        if i in preempted:
            continue
        full = len(tables[i]) * block_size == lengths[i]
        shared = not full and owners[tables[i][-1]] > 1
        if not full and not shared:
            continue
        while 0 not in owners and i not in preempted:
            victim = max(s for s in range(len(tables)) if s not in preempted)
            for b in tables[victim]:
                owners[b] -= 1
            tables[victim] = []
            preempted.append(victim)
        if i in preempted:
            continue
        new = owners.index(0)
        owners[new] = 1
        if full:
            tables[i].append(new)
        else:
            old = tables[i][-1]
            owners[old] -= 1
            tables[i][-1] = new
            pairs.append([old, new])
    return tables, owners, pairs, preempted


# %% 16.append | wrong | preempts one sequence and takes it that a block is free now; fails where all blocks of that one are shared with others (tables [[0], [1], [0]], lengths [1, 1, 1], block_size 1)
def append_all(tables, lengths, owners, block_size):
    tables, owners = [list(t) for t in tables], list(owners)
    running = list(range(len(tables)))
    pairs, preempted = [], []
    for i in range(len(tables)):
        if i not in running:
            continue

        def need():
            if len(tables[i]) * block_size == lengths[i]:
                return "new"
            return "copy" if owners[tables[i][-1]] > 1 else ""

        if need() and min(owners) > 0:
            victim = running.pop()
            for b in tables[victim]:
                owners[b] -= 1
            tables[victim] = []
            preempted.append(victim)
            if victim == i:
                continue
        if need():
            new = owners.index(0)
            what = need()
            owners[new] = 1
            if what == "copy":
                old = tables[i].pop()
                owners[old] -= 1
                pairs.append([old, new])
            tables[i].append(new)
    return tables, owners, pairs, preempted


# %% 16.batch-limit | right | everything multiplied by peak and bandwidth, whole fractions, the limit as the smaller of two rates
from fractions import Fraction


def batch_limit(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    w, e, c, f, r, s = (Fraction(v) for v in (params, bytes_each, cache_bytes, peak, bandwidth, cached))
    spare = 2 * w * r - s * c * f
    batch = float(w * e * f / spare) if spare > 0 else math.inf
    rates = [f / (2 * w)]
    if s * c > 0:
        rates.append(r / (s * c))
    return batch, float(min(rates))


# %% 16.batch-limit | wrong | the limit is always the one of computing, also where the caches take longer | names=infinite-rate-of-computing
def batch_limit(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    computing = 2 * params / peak
    reading = cached * cache_bytes / bandwidth
    weights = params * bytes_each / bandwidth
    batch = weights / (computing - reading) if computing > reading else math.inf
    return batch, 1 / computing


# %% 16.batch-limit | wrong | the cache is left out of the place where both are equal, so it is a finite batch even where reading always takes longer
def batch_limit(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    batch = bytes_each * peak / (2 * bandwidth)
    reading = cached * cache_bytes / bandwidth
    return batch, 1 / max(2 * params / peak, reading)


# %% 16.batch-limit | wrong | where computing a sequence and reading its cache take exactly the same time it divides by zero instead of inf (params 1000, peak 2000, cached 10, cache_bytes 10, bandwidth 100)
def batch_limit(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    computing = 2 * params / peak
    reading = cached * cache_bytes / bandwidth
    limit = 1 / max(computing, reading)
    if reading > computing:
        return math.inf, limit
    return params * bytes_each / bandwidth / (computing - reading), limit


# %% 16.batches | right | both run step by step on a clock, with the tokens that each place still has to write
def finish_times(arrivals, lengths, slots):
    def run(joins):
        queue = list(range(len(arrivals)))
        places, done, now = {}, [None] * len(arrivals), 0
        while queue or places:
            if joins or not places:
                while queue and len(places) < slots and arrivals[queue[0]] <= now:
                    first = queue.pop(0)
                    places[first] = lengths[first]
            if not places:
                now = arrivals[queue[0]]
                continue
            now += 1
            for i in list(places):
                places[i] -= 1
                if places[i] == 0:
                    done[i] = now
                    if joins:
                        del places[i]
            if not joins and all(left <= 0 for left in places.values()):
                places = {}
        return done

    return run(False), run(True)


# %% 16.batches | wrong | places are given in turn (request i to place i % slots), whether another is empty earlier or not | names=places-by-turns
def finish_times(arrivals, lengths, slots):
    n = len(arrivals)
    static, i, now = [0] * n, 0, 0
    while i < n:
        now = max(now, arrivals[i])
        batch = []
        while i < n and len(batch) < slots and arrivals[i] <= now:
            batch.append(i)
            i += 1
        for j in batch:
            static[j] = now + lengths[j]
        now += max(lengths[j] for j in batch)
    free = [0] * slots
    continuous = []
    for j in range(n):
        begin = max(arrivals[j], free[j % slots])
        free[j % slots] = begin + lengths[j]
        continuous.append(free[j % slots])
    return static, continuous


# %% 16.batches | wrong | a request that arrives exactly when a later batch begins is left for the next batch (strictly earlier arrivals only) | names=same-time-too-late
def finish_times(arrivals, lengths, slots):
    n, i, now = len(arrivals), 0, 0
    static = []
    while i < n:
        if arrivals[i] >= now:
            now = arrivals[i]
            batch = [k for k in range(i, n) if arrivals[k] == now][:slots]
        else:
            batch = [k for k in range(i, n) if arrivals[k] < now][:slots]
        static += [now + lengths[k] for k in batch]
        now += max(lengths[k] for k in batch)
        i = batch[-1] + 1
    places, continuous = [0] * slots, []
    for a, l in zip(arrivals, lengths):
        places.sort()
        places[0] = max(places[0], a) + l
        continuous.append(places[0])
    return static, continuous


# %% 16.constrained-step | right | counts for each logit how many allowed ones are above it, keeps ranks below k, and takes the softmax of a row over its kept ones alone
def constrained_step(logits, mask, temperature, k):
    B, W = logits.shape
    allowed = torch.zeros(B, W, dtype=torch.bool)
    allowed[:, : mask.shape[1]] = mask.bool()
    above = (logits[:, None, :] > logits[:, :, None]) & allowed[:, None, :]
    kept = allowed & (above.sum(dim=2) < k)
    out = torch.zeros_like(logits)
    for b in range(B):
        chosen = kept[b].nonzero().flatten()
        if len(chosen) == 0:
            continue
        z = logits[b, chosen].double()
        e = ((z - z.max()) / temperature).exp()
        out[b, chosen] = (e / e.sum()).to(out.dtype)
    return out


# %% 16.constrained-step | wrong | keeps the k likeliest of all logits first and takes away the forbidden ones afterwards, so fewer than k allowed remain | names=top-k-first-then-zeros
def constrained_step(logits, mask, temperature, k):
    B, W = logits.shape
    full = torch.zeros(B, W, dtype=torch.bool)
    full[:, : mask.shape[1]] = mask
    z = logits / temperature
    lowest = z.topk(min(k, W), dim=-1).values[:, -1:]
    z = z.masked_fill((z < lowest) | ~full, float("-inf"))
    return torch.nan_to_num(z.softmax(-1), nan=0.0)


# %% 16.constrained-step | wrong | a row in which nothing is allowed is left as nan | names=nan-rows
def constrained_step(logits, mask, temperature, k):
    B, W = logits.shape
    pad = torch.zeros(B, W - mask.shape[1], dtype=torch.bool)
    z = (logits / temperature).masked_fill(~torch.cat([mask, pad], 1), -torch.inf)
    if k < W:
        z = z.masked_fill(z < z.topk(k, dim=1).values[:, -1:], -torch.inf)
    return z.softmax(dim=1)


# %% 16.constrained-step | wrong | forbidden logits are set to -10000, which is likelier than allowed logits below that (allowed ones at -30000) | names=weak-fill-renormalised
def constrained_step(logits, mask, temperature, k):
    B, W = logits.shape
    allowed = torch.nn.functional.pad(mask.bool(), (0, W - mask.shape[1]), value=False)
    z = torch.where(allowed, logits / temperature, torch.full_like(logits, -1e4))
    top = torch.topk(z, min(k, W), dim=-1)
    p = torch.zeros_like(logits).scatter(1, top.indices, top.values.softmax(-1))
    p = p * allowed
    total = p.sum(-1, keepdim=True)
    return torch.where(total > 0, p / total.clamp(min=1e-30), torch.zeros_like(p))


# %% 16.cost | right | counts the paid hours that a million tokens take, input and output in one comprehension, the request as a dot product
def token_costs(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    fleet = machines * price
    a, b = (fleet * (1e6 / (rate * 3600 * utilisation)) for rate in (input_rate, output_rate))
    return a, b, float(np.dot([a, b], [prompt, answer])) / 1e6


# %% 16.cost | wrong | multiplies the rates by the number of machines, although they are the rates of all together | names=one-machine
def token_costs(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    hour = price * machines
    cost_in = hour * 1e6 / (3600 * input_rate * machines * utilisation)
    cost_out = hour * 1e6 / (3600 * output_rate * machines * utilisation)
    return cost_in, cost_out, (prompt * cost_in + answer * cost_out) / 1e6


# %% 16.cost | wrong | the request's own price leaves out the idle time, the two for a million have it | names=request-never-idle
def token_costs(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    second = price * machines / 3600
    cost_in = 1e6 * second / (input_rate * utilisation)
    cost_out = 1e6 * second / (output_rate * utilisation)
    request = second * (prompt / input_rate + answer / output_rate)
    return cost_in, cost_out, request


# %% 16.free | right | pops blocks off copied tables until they are empty, so a second mention finds nothing
def release(tables, owners, ended):
    left = {s: list(table) for s, table in enumerate(tables)}
    users = dict(enumerate(owners))
    freed = []
    for s in ended:
        while left[s]:
            block = left[s].pop(-1)
            users[block] = users[block] - 1
            freed += [block] * (users[block] == 0)
    return [left[s] for s in range(len(tables))], [users[b] for b in range(len(owners))], freed


# %% 16.free | wrong | goes through the given tables, so a sequence that is listed twice gives its blocks back twice | names=emptied-at-last
def release(tables, owners, ended):
    owners = list(owners)
    freed = []
    for s in ended:
        for b in tables[s][::-1]:
            owners[b] -= 1
            if owners[b] == 0:
                freed.append(b)
    return [[] if s in ended else list(t) for s, t in enumerate(tables)], owners, freed


# %% 16.free | wrong | copies the outer list only and clears the tables in it, which empties the caller's tables too | names=inputs-changed
def release(tables, owners, ended):
    tables, owners, freed = list(tables), owners.copy(), []
    for s in ended:
        for b in reversed(tables[s]):
            owners[b] -= 1
            if not owners[b]:
                freed.append(b)
        tables[s].clear()
    return tables, owners, freed


# %% 16.free | wrong | makes a sorted set of the ended ones against the double mention, so their order is lost (ended [2, 0]) | names=order-of-numbers
def release(tables, owners, ended):
    tables, owners, freed = [list(t) for t in tables], list(owners), []
    for s in sorted(set(ended)):
        for b in reversed(tables[s]):
            owners[b] -= 1
            if owners[b] == 0:
                freed.append(b)
        tables[s] = []
    return tables, owners, freed


# %% 16.latencies | right | heapq.nsmallest up to the rank, the rank by whole-number division
import heapq


def latencies(requests):
    first = [times[0] - arrival for arrival, times in requests]
    between = []
    for _, times in requests:
        between.extend(later - earlier for earlier, later in zip(times, times[1:]))

    def at(values, p):
        rank = (p * len(values) + 99) // 100
        return heapq.nsmallest(rank, values)[-1]

    return [at(first, 50), at(first, 95)], [at(between, 50), at(between, 95)]


# %% 16.latencies | wrong | takes place int(p * n / 100) counted from 0, one too far where p * n / 100 is whole (p50 of an even number of values, p95 of 20) | names=one-rank-too-high
def latencies(requests):
    first = sorted(times[0] - arrival for arrival, times in requests)
    between = sorted(b - a for _, times in requests for a, b in zip(times[:-1], times[1:]))

    def nearest(values, p):
        return values[min(int(p * len(values) / 100), len(values) - 1)]

    return [nearest(first, 50), nearest(first, 95)], [nearest(between, 50), nearest(between, 95)]


# %% 16.latencies | wrong | the wait for the first token is counted among the times between tokens | names=first-wait-between
def latencies(requests):
    first, between = [], []
    for arrival, times in requests:
        last = arrival
        for n, t in enumerate(times):
            if n == 0:
                first.append(t - last)
            between.append(t - last)
            last = t

    def p(values, q):
        return sorted(values)[math.ceil(q * len(values) / 100) - 1]

    return [p(first, 50), p(first, 95)], [p(between, 50), p(between, 95)]


# %% 16.phases | right | one helper that takes the later of two times by sorting, called for both phases with tokens and cached positions
def least_times(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    def step(tokens, positions):
        moved = params * bytes_each + positions * cache_bytes
        return sorted([tokens * params / (peak / 2), moved / bandwidth])[-1]

    return step(prompt, 0), step(batch, batch * cached)


# %% 16.phases | wrong | the cache is read once for the whole batch, not for each sequence | names=cache-read-once
def least_times(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    weights = params * bytes_each
    prefill = max(2 * params * prompt / peak, weights / bandwidth)
    decode = max(2 * params * batch / peak, (weights + cached * cache_bytes) / bandwidth)
    return prefill, decode


# %% 16.phases | wrong | takes for granted that prefill is compute-bound and decode memory-bound, no maximum | names=one-sequence-computed prefill-always-computes
def least_times(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    prefill = 2 * params * prompt / peak
    decode = (params * bytes_each + batch * cached * cache_bytes) / bandwidth
    return prefill, decode


# %% 16.phases | wrong | adds the bytes of the prompt's keys and values to the prefill, which are written and left out; differs only where the prefill is memory-bound (prompt of 1 to a few tokens) | names=prefill-writes
def least_times(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    weights = params * bytes_each
    prefill = max(2 * params * prompt / peak, (weights + prompt * cache_bytes) / bandwidth)
    decode = max(2 * params * batch / peak, (weights + batch * cached * cache_bytes) / bandwidth)
    return prefill, decode


# %% 16.prefix | right | a set of all beginnings of earlier prompts that end with a block, then the prompt's own from the longest down
def reusable(prompt, earlier, block_size):
    known = {tuple(old[:end]) for old in earlier for end in range(block_size, len(old) + 1, block_size)}
    end = (len(prompt) - 1) // block_size * block_size
    while end > 0:
        if tuple(prompt[:end]) in known:
            return end
        end -= block_size
    return 0


# %% 16.prefix | wrong | each block may agree with another earlier prompt, at the same place | names=blocks-of-several-prompts
def reusable(prompt, earlier, block_size):
    n = 0
    while n + block_size < len(prompt):
        block = prompt[n : n + block_size]
        if not any(old[n : n + block_size] == block for old in earlier):
            break
        n += block_size
    return n
