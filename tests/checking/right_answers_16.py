"""Chapter 16: right answers written otherwise: loops, numpy, fractions."""

import heapq
import math
from collections import deque
from fractions import Fraction
from itertools import pairwise

import numpy as np
import torch
from torch.nn import functional as F


def phases_numpy(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    operations = 2 * params * np.array([prompt, batch])
    moved = params * bytes_each + np.array([0, batch * cached * cache_bytes])
    return np.maximum(operations / peak, moved / bandwidth)


def latencies_inverted(requests):
    first = [times[0] - arrival for arrival, times in requests]
    between = np.concatenate([np.diff(times) for _, times in requests])
    return tuple(np.percentile(values, [50, 95], method="inverted_cdf") for values in (first, between))


def limit_bytes(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    ridge = peak / bandwidth
    left = 2 * params - ridge * cached * cache_bytes
    rates = [peak / (2 * params)]
    if cached:
        rates.append(bandwidth / (cached * cache_bytes))
    return ridge * params * bytes_each / left if left > 0 else math.inf, min(rates)


def batches_heap(arrivals, lengths, slots):
    ends, time, i = [], 0, 0
    while i < len(arrivals):
        time, j = max(time, arrivals[i]), i
        while j < len(arrivals) and j < i + slots and arrivals[j] <= time:
            ends.append(time + lengths[j])
            j += 1
        time, i = max(ends[i:j]), j
    free, continuous_ends = [0] * slots, []
    for arrival, length in zip(arrivals, lengths, strict=True):
        end = max(heapq.heappop(free), arrival) + length
        heapq.heappush(free, end)
        continuous_ends.append(end)
    return ends, continuous_ends


def admit_pop(memory, weights, reserve, config, bytes_each, block_size, queue):
    shape = (2, config["num_hidden_layers"], config["num_key_value_heads"], block_size, config["head_dim"])
    blocks = (memory - (weights + reserve)) // (math.prod(shape) * bytes_each)
    waiting, free, inside = deque(queue), blocks, 0
    while waiting:
        free -= (sum(waiting.popleft()) + block_size - 1) // block_size
        if free < 0:
            return blocks, inside
        inside += 1
    return blocks, inside


def schedule_tokens(running, waiting, budget, most):
    tokens = [0] * (len(running) + len(waiting))
    decoding = [i for i, (prompt, done) in enumerate(running) if done >= prompt]
    prefills = [i for i, (prompt, done) in enumerate(running) if done < prompt]
    wants = {i: 1 for i in decoding} | {i: running[i][0] - running[i][1] for i in prefills}
    wants |= {len(running) + i: n for i, n in enumerate(waiting) if len(running) + i < most}
    for i, n in wants.items():
        tokens[i] = min(n, budget)
        budget -= tokens[i]
    return tokens[: len(running)], tokens[len(running) :]


def schedule_numpy(running, waiting, budget, most):
    left = np.array([prompt - done for prompt, done in running], dtype=int)
    places = max(0, most - len(running))
    wants = np.concatenate([np.maximum(left, 1), waiting[:places]]).astype(int)
    last = np.concatenate([left > 0, np.full(len(wants) - len(left), 2)])
    order = np.argsort(last, kind="stable")
    before = np.cumsum(wants[order]) - wants[order]
    tokens = np.zeros(len(running) + len(waiting), dtype=int)
    tokens[order] = np.clip(budget - before, 0, wants[order])
    return tokens[: len(running)], tokens[len(running) :]


def stream_places(pieces, stops):
    text = "".join(pieces)
    ends = np.cumsum([len(piece) for piece in pieces]).tolist()
    seen = next((k for k, end in enumerate(ends) if any(stop in text[:end] for stop in stops)), None)
    reached = []
    for k, end in enumerate(ends):
        if k == seen:
            reached.append(min(i for i in (text[:end].find(stop) for stop in stops) if i >= 0))
            break
        safe = [i for i in range(end) if any(stop.startswith(text[i:end]) for stop in stops)]
        reached.append(end if k == len(ends) - 1 or not safe else safe[0])
    return [text[a:b] for a, b in pairwise([0, *reached])]


def simulate_numpy(requests, budget, most, fixed, each):
    arrival, prompt, new = (np.array(column, dtype=float) for column in zip(*requests, strict=True))
    need, left = prompt.copy(), new - 1
    first, last = np.full(len(new), np.nan), np.full(len(new), np.nan)
    begun, clock = np.zeros(len(new), dtype=bool), 0.0
    while np.isnan(last).any():
        alive = np.isnan(last)
        if not (alive & (arrival <= clock)).any():
            clock = arrival[alive].min()
        places = most - (begun & alive).sum()
        fresh = np.flatnonzero(alive & ~begun & (arrival <= clock))[: max(0, int(places))]
        old = np.flatnonzero(alive & begun)
        order = np.concatenate([old[need[old] == 0], old[need[old] > 0], fresh])
        wants = np.maximum(need[order], 1)
        gets = np.clip(budget - (np.cumsum(wants) - wants), 0, wants)
        clock += fixed + each * gets.sum()
        decoding = need[order] == 0
        left[order[decoding]] -= gets[decoding]
        need[order[~decoding]] -= gets[~decoding]
        begun[order[gets > 0]] = True
        first[begun & (need == 0) & np.isnan(first)] = clock
        last[begun & (need == 0) & (left == 0) & np.isnan(last)] = clock
    return first - arrival, last - arrival


def small_groups(params, kept, bits, group, memory, sequence_bytes):
    groups = (params - kept) / group
    weights = groups * (group * bits + 16) / 8 + kept * 2
    return weights, math.floor((memory - weights) / sequence_bytes)


def speedup_formula(acceptance, draft_cost, most):
    def speed(k):
        tokens = k + 1 if acceptance == 1 else (1 - acceptance ** (k + 1)) / (1 - acceptance)
        return tokens / (k * draft_cost + 1)

    best = max(range(most + 1), key=speed)
    return best, speed(best)


def cost_numpy(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    each = np.array([price * machines]) / (3600 * utilisation * np.array([input_rate, output_rate]))
    return [*(1e6 * each), each @ np.array([prompt, answer])]


def pools_lines(machines, prompt, answer, prefill_rate, step, batch, cache_bytes, bandwidth):
    here = min(prefill_rate / prompt, bandwidth / prompt / cache_bytes)
    there = batch / answer / step
    rates = [min(p * here, (machines - p) * there) for p in range(1, machines)]
    best = next(p for p, rate in enumerate(rates) if rate >= max(rates) * (1 - 1e-12))
    return best + 1, rates[best]


def pools_fractions(machines, prompt, answer, prefill_rate, step, batch, cache_bytes, bandwidth):
    request = max(Fraction(prompt) / Fraction(prefill_rate), Fraction(prompt) * cache_bytes / Fraction(bandwidth))
    text = Fraction(answer) * Fraction(step) / batch
    rate, fewest = max((min(p / request, (machines - p) / text), -p) for p in range(1, machines))
    return -fewest, float(rate)


def append_recursive(tables, lengths, owners, block_size):
    tables, owners, copies, out = [t[:] for t in tables], owners[:], [], []

    def serve(i):
        if i in out:
            return
        last = tables[i][-1] if lengths[i] % block_size else None
        if last is not None and owners[last] == 1:
            return
        free = [b for b, users in enumerate(owners) if users == 0]
        if not free:
            victim = max(set(range(len(tables))) - set(out))
            out.append(victim)
            for b in tables[victim]:
                owners[b] -= 1
            tables[victim] = []
            return serve(i)
        owners[free[0]] += 1
        if last is None:
            tables[i] = tables[i] + [free[0]]
        else:
            owners[last] -= 1
            tables[i] = tables[i][:-1] + [free[0]]
            copies.append([last, free[0]])

    for i in range(len(tables)):
        serve(i)
    return tables, owners, copies, out


def free_numpy(tables, owners, ended):
    once, owners, order = list(dict.fromkeys(ended)), np.array(owners), []
    for sequence in once:
        blocks = np.array(tables[sequence][::-1], dtype=int)
        owners[blocks] -= 1
        order += blocks[owners[blocks] == 0].tolist()
    return [table * (i not in once) for i, table in enumerate(tables)], owners, order


def ragged_fused(q, k_blocks, v_blocks, tables, lengths):
    keys, values = (blocks[tables.clamp(min=0)].flatten(1, 2).transpose(1, 2) for blocks in (k_blocks, v_blocks))
    mask = torch.arange(keys.shape[2]) < lengths[:, None]
    mask = mask[:, None, None]
    return F.scaled_dot_product_attention(q[:, :, None], keys, values, attn_mask=mask, enable_gqa=True)[:, :, 0]


def prefix_blocks(prompt, earlier, block_size):
    most, best = (len(prompt) - 1) // block_size, 0
    for other in earlier:
        blocks = 0
        while blocks < most:
            part = slice(blocks * block_size, (blocks + 1) * block_size)
            if prompt[part] != other[part]:
                break
            blocks += 1
        best = max(best, blocks)
    return best * block_size


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


def split_sum_numpy(x, size):
    parts = [np.add.accumulate(part, axis=1)[:, -1] for part in np.split(x, range(size, x.shape[1], size), axis=1)]
    return np.add.accumulate(np.stack(parts), axis=0)[-1]


RIGHT = {
    "16.phases": [phases_numpy],
    "16.latencies": [latencies_inverted],
    "16.batch-limit": [limit_bytes],
    "16.batches": [batches_heap],
    "16.admit": [admit_pop],
    "16.schedule": [schedule_tokens, schedule_numpy],
    "16.split-pools": [pools_lines, pools_fractions],
    "16.stream": [stream_places],
    "16.simulate": [simulate_numpy],
    "16.small": [small_groups],
    "16.speedup": [speedup_formula],
    "16.cost": [cost_numpy],
    "16.append": [append_recursive],
    "16.free": [free_numpy],
    "16.ragged": [ragged_fused],
    "16.prefix": [prefix_blocks],
    "16.token-mask": [token_mask_sets],
    "16.constrained-step": [constrained_rows, constrained_sorted],
    "16.split-sum": [split_sum_numpy],
}
