"""Chapter 16: right answers written otherwise: loops, numpy, fractions."""

import heapq
import math
from collections import deque
from fractions import Fraction
from itertools import pairwise

import numpy as np

from right_answers_blocks import BLOCKS
from right_answers_patterns import PATTERNS


def phases_numpy(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    operations = 2 * params * np.array([prompt, batch])
    moved = params * bytes_each + np.array([0, batch * cached * cache_bytes])
    return np.maximum(operations / peak, moved / bandwidth)


def phases_branches(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    seconds = []
    for tokens, context in ((prompt, 0), (batch, cached)):
        computing = tokens * params / (peak / 2)
        reading = params * bytes_each / bandwidth
        for _ in range(batch if context else 0):
            reading += context * cache_bytes / bandwidth
        seconds.append(computing if computing > reading else reading)
    return tuple(seconds)


def latencies_inverted(requests):
    first = [times[0] - arrival for arrival, times in requests]
    between = np.concatenate([np.diff(times) for _, times in requests])
    return tuple(np.percentile(values, [50, 95], method="inverted_cdf") for values in (first, between))


def latencies_fractions(requests):
    first = sorted(times[0] - arrival for arrival, times in requests)
    between = sorted(b - a for _, times in requests for a, b in pairwise(times))

    def at(values, share):
        return values[math.ceil(share * len(values)) - 1]

    return tuple([at(values, Fraction(1, 2)), at(values, Fraction(19, 20))] for values in (first, between))


def limit_bytes(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    ridge = peak / bandwidth
    left = 2 * params - ridge * cached * cache_bytes
    rates = [peak / (2 * params)]
    if cached:
        rates.append(bandwidth / (cached * cache_bytes))
    return ridge * params * bytes_each / left if left > 0 else math.inf, min(rates)


def limit_fractions(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    compute = Fraction(2 * params) / Fraction(peak)
    read = Fraction(cached * cache_bytes) / Fraction(bandwidth)
    once = Fraction(params) * Fraction(bytes_each) / Fraction(bandwidth)
    if read >= compute:
        return float("inf"), float(1 / read)
    return float(once / (compute - read)), float(1 / compute)


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


def batches_numpy(arrivals, lengths, slots):
    arrivals, lengths = np.array(arrivals), np.array(lengths)
    waiting, first, time = np.zeros_like(lengths), 0, 0
    while first < len(lengths):
        time = max(time, int(arrivals[first]))
        last = min(first + slots, int(np.searchsorted(arrivals, time, side="right")))
        waiting[first:last] = time + lengths[first:last]
        time, first = int(waiting[first:last].max()), last
    ends = np.zeros(slots, dtype=int)
    continuous = []
    for a, n in zip(arrivals, lengths, strict=True):
        place = ends.argmin()
        ends[place] = max(ends[place], a) + n
        continuous.append(int(ends[place]))
    return waiting, np.array(continuous)


def admit_accumulate(memory, weights, reserve, config, bytes_each, block_size, queue):
    per_token = bytes_each * config["head_dim"] * config["num_key_value_heads"] * config["num_hidden_layers"] * 2
    blocks = int((memory - weights - reserve) / (per_token * block_size))
    needs = np.cumsum([-(-(a + b) // block_size) for a, b in queue])
    return blocks, int((needs <= blocks).sum())


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


def stream_partition(pieces, stops):
    out, pending = [], ""
    for piece in pieces:
        pending += piece
        heads = [pending.partition(stop)[0] for stop in stops if stop in pending]
        if heads:
            out.append(min(heads, key=len))
            return out
        going, pending = pending, ""
        while going and not any(stop.startswith(going) for stop in stops):
            pending += going[0]
            going = going[1:]
        out.append(pending)
        pending = going
    out[-1] += pending
    return out


def simulate_schedule(requests, budget, most, fixed, each):
    """With a scheduler from above, and a dictionary for each request."""
    todo = [{"at": a, "prompt": p, "new": n, "done": 0, "written": 0} for a, p, n in requests]
    running, now, moments = [], 0.0, {}
    while todo or running:
        if not running and todo[0]["at"] > now:
            now = todo[0]["at"]
        waiting = [request for request in todo if request["at"] <= now]
        parts = schedule_tokens(
            [[r["prompt"], r["done"]] for r in running], [w["prompt"] for w in waiting], budget, most
        )
        tokens = parts[0] + parts[1]
        now += fixed + each * sum(tokens)
        for entry, many in zip(running + waiting, tokens, strict=True):
            if entry["done"] >= entry["prompt"]:
                entry["written"] += many
            elif many:
                entry["done"] += many
                if entry["done"] >= entry["prompt"]:
                    entry["written"], entry["first"] = 1, now
            if entry["written"] >= entry["new"]:
                moments[requests.index([entry["at"], entry["prompt"], entry["new"]])] = entry["first"], now
        started = [w for w, many in zip(waiting, parts[1], strict=True) if many]
        todo = [request for request in todo if request not in started]
        running = [request for request in running + started if request["written"] < request["new"]]
    times = [[t - requests[i][0] for t in moments[i]] for i in range(len(requests))]
    return [t[0] for t in times], [t[1] for t in times]


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


def small_fractions(params, kept, bits, group, memory, sequence_bytes):
    weights = Fraction((params - kept) * (bits * group + 16), 8 * group) + 2 * kept
    return float(weights), int((memory - weights) / sequence_bytes)


def speedup_formula(acceptance, draft_cost, most):
    def speed(k):
        tokens = k + 1 if acceptance == 1 else (1 - acceptance ** (k + 1)) / (1 - acceptance)
        return tokens / (k * draft_cost + 1)

    best = max(range(most + 1), key=speed)
    return best, speed(best)


def speedup_numpy(acceptance, draft_cost, most):
    k = np.arange(most + 1)
    speeds = np.cumsum(np.power(float(acceptance), k)) / (1 + k * draft_cost)
    return int(speeds.argmax()), speeds.max()


def cost_numpy(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    each = np.array([price * machines]) / (3600 * utilisation * np.array([input_rate, output_rate]))
    return [*(1e6 * each), each @ np.array([prompt, answer])]


def cost_fractions(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    hour = Fraction(price) * machines / Fraction(utilisation)
    costs = [hour / 3600 / Fraction(rate) for rate in (input_rate, output_rate)]
    return float(costs[0] * 1_000_000), float(costs[1] * 1_000_000), float(costs[0] * prompt + costs[1] * answer)


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


RIGHT = {
    "16.phases": [phases_numpy, phases_branches],
    "16.latencies": [latencies_inverted, latencies_fractions],
    "16.batch-limit": [limit_bytes, limit_fractions],
    "16.batches": [batches_heap, batches_numpy],
    "16.admit": [admit_accumulate, admit_pop],
    "16.schedule": [schedule_tokens, schedule_numpy],
    "16.split-pools": [pools_lines, pools_fractions],
    "16.stream": [stream_places, stream_partition],
    "16.simulate": [simulate_schedule, simulate_numpy],
    "16.small": [small_groups, small_fractions],
    "16.speedup": [speedup_formula, speedup_numpy],
    "16.cost": [cost_numpy, cost_fractions],
    **BLOCKS,
    **PATTERNS,
}
