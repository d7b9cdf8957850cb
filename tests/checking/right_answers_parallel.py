"""Chapter 19 from layers cut in pieces on: right answers written otherwise."""

import math
from collections import deque

import numpy as np


def feed_forward_messages_in_rows(x, w_in, b_in, w_out, b_out, dist):
    hidden = np.einsum("td,df->tf", x, w_in) + b_in[None]
    hidden[hidden < 0] = 0
    total = np.zeros_like(x)
    np.matmul(hidden, w_out, out=total)
    dist.all_reduce(total.reshape(-1))
    total += b_out
    return total


def feed_forward_bias_of_rank_zero(x, w_in, b_in, w_out, b_out, dist):
    """Rank 0 alone brings the bias into the sum."""
    y = np.clip(x @ w_in + b_in, 0, None) @ w_out
    if dist.get_rank() == 0:
        y += b_out
    dist.all_reduce(y)
    return y


def feed_forward_bias_in_parts(x, w_in, b_in, w_out, b_out, dist):
    """Each rank brings its share of the bias; two of them gather the products, which costs as little."""
    world = dist.get_world_size()
    y = np.maximum(0, np.concatenate([x, np.ones_like(x[:, :1])], 1) @ np.vstack([w_in, b_in])) @ w_out + b_out / world
    if world == 2:
        both = np.empty((2, *y.shape), y.dtype)
        dist.all_gather_into_tensor(both, y)
        return both[0] + both[1]
    dist.all_reduce(y)
    return y


def feed_forward_transposed(x, w_in, b_in, w_out, b_out, dist):
    hidden = w_in.T @ x.T + b_in[:, None]
    y = np.ascontiguousarray(w_out.T @ (hidden * (hidden > 0)))
    dist.all_reduce(y)
    return (y + b_out[:, None]).T


def heads_one_by_one(x, w_q, w_k, w_v, w_o, heads, dist):
    width = w_q.shape[1] // heads
    y = np.zeros_like(x)
    for head in range(heads):
        columns = slice(head * width, (head + 1) * width)
        scores = (x @ w_q[:, columns]) @ (x @ w_k[:, columns]).T * width**-0.5
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        y += weights @ (x @ w_v[:, columns]) @ w_o[columns]
    dist.all_reduce(y)
    return y


def heads_einsum(x, w_q, w_k, w_v, w_o, heads, dist):
    q, k, v = (np.einsum("td,dnh->tnh", x, w.reshape(x.shape[1], heads, -1)) for w in (w_q, w_k, w_v))
    scores = np.einsum("tnh,snh->nts", q, k) / np.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max(-1)[..., None])
    z = np.einsum("nts,snh->tnh", e, v) / e.sum(-1).T[..., None]
    y = np.einsum("tnh,nhd->td", z, w_o.reshape(heads, -1, x.shape[1])).astype(x.dtype)
    dist.all_reduce(y)
    return y


def heads_query_by_query(x, w_q, w_k, w_v, w_o, heads, dist):
    k, v = (np.split(x @ w, heads, axis=1) for w in (w_k, w_v))
    rows = []
    for query in x @ w_q:
        parts = []
        for q, keys, values in zip(np.split(query, heads), k, v, strict=True):
            scores = keys @ q / math.sqrt(len(q))
            logarithm = np.logaddexp.reduce(scores)
            parts.append(np.exp(scores - logarithm) @ values)
        rows.append(np.concatenate(parts) @ w_o)
    out = np.array(rows, x.dtype)
    dist.all_reduce(out)
    return [list(row) for row in out]


def schedule_by_counts(stage, stages, micro_batches):
    """Whichever comes next: a forward while few micro-batches are alive."""
    order, alive, done = [], 0, 0
    for forward in range(micro_batches):
        if alive == stages - stage:
            order.append(f"B{done}")
            alive, done = alive - 1, done + 1
        order.append(f"F{forward}")
        alive += 1
    return order + [f"B{number}" for number in range(done, micro_batches)]


def schedule_three_parts(stage, stages, micro_batches):
    warm_up = stages - 1 - stage
    warm_up = micro_batches if warm_up > micro_batches else warm_up
    first = ["F" + str(i) for i in range(warm_up)]
    pairs = [
        name for i in range(warm_up, micro_batches) for name in ("F" + str(i), "B" + str(i - warm_up))
    ]  # fmt: skip
    return tuple(first + pairs + ["B" + str(i) for i in range(micro_batches - warm_up, micro_batches)])


def schedule_queue(stage, stages, micro_batches):
    forwards = deque(range(micro_batches))
    backwards = deque()
    order = []
    while forwards or backwards:
        if forwards and len(backwards) <= stages - stage - 1:
            backwards.append(forwards.popleft())
            order.append(f"F{backwards[-1]:d}")
        else:
            order.append(f"B{backwards.popleft():d}")
    return order


def time_recursive(orders, forward_s, backward_s):
    """When a step ends, looked for from its end; a step that waits for itself waits for ever."""
    last = len(orders) - 1
    ends, pending = {}, set()

    def end(stage, position):
        if (stage, position) in pending:
            raise ValueError("for ever")
        if (stage, position) not in ends:
            pending.add((stage, position))
            kind, number = orders[stage][position][0], orders[stage][position][1:]
            begin = end(stage, position - 1) if position else 0.0
            if kind == "F" and stage:
                begin = max(begin, end(stage - 1, orders[stage - 1].index("F" + number)))
            elif kind == "B" and stage == last:
                begin = max(begin, end(stage, orders[stage].index("F" + number)))
            elif kind == "B":
                begin = max(begin, end(stage + 1, orders[stage + 1].index("B" + number)))
            ends[stage, position] = begin + {"F": forward_s, "B": backward_s}[kind]
            pending.remove((stage, position))
        return ends[stage, position]

    try:
        seconds = max(end(stage, len(order) - 1) for stage, order in enumerate(orders))
    except ValueError:
        return math.inf, 1.0, 0
    waits = [
        seconds - sum(forward_s if step.startswith("F") else backward_s for step in order) for order in orders
    ]  # fmt: skip
    alive = [[1 - 2 * (step[0] == "B") for step in order] for order in orders]
    return seconds, sum(waits) / len(orders) / seconds, max(np.cumsum(each).max() for each in alive)


def time_relaxed(orders, forward_s, backward_s):
    """Times grow until nothing changes; where they grow for ever, more rounds than passes show it."""
    stages = len(orders)
    steps = [(stage, step) for stage, order in enumerate(orders) for step in order]
    ends = dict.fromkeys(steps, 0.0)
    for _ in range(len(steps) + 1):
        before = dict(ends)
        for stage, order in enumerate(orders):
            free = 0.0
            for step in order:
                ready = 0.0
                if step[0] == "F" and stage > 0:
                    ready = before[stage - 1, step]
                if step[0] == "B":
                    ready = before[stage, f"F{step[1:]}"] if stage == stages - 1 else before[stage + 1, step]
                free = max(free, ready) + (forward_s if step[0] == "F" else backward_s)
                ends[stage, step] = free
        if ends == before:
            break
    else:
        return float("inf"), 1, 0
    seconds = max(ends.values())
    busy = sum(forward_s if step[0] == "F" else backward_s for _, step in steps)
    most = 0
    for order in orders:
        alive = set()
        for step in order:
            alive.add(step[1:]) if step[0] == "F" else alive.discard(step[1:])
            most = max(most, len(alive))
    return np.float64(seconds), (seconds * stages - busy) / (seconds * stages), most


def time_by_events(orders, forward_s, backward_s):
    """Always the step that can begin first."""
    stages, at, free, ends = len(orders), [0] * len(orders), [0.0] * len(orders), {}
    busy = most_alive = 0
    alive = [0] * stages
    while True:
        can = []
        for stage in range(stages):
            if at[stage] < len(orders[stage]):
                kind, number = orders[stage][at[stage]][0], int(orders[stage][at[stage]][1:])
                if kind == "F":
                    ready = 0.0 if stage == 0 else ends.get(("F", number, stage - 1))
                else:
                    ready = ends.get(("F", number, stage) if stage + 1 == stages else ("B", number, stage + 1))
                if ready is not None:
                    can.append((max(ready, free[stage]), stage, kind, number))
        if not can:
            break
        begin, stage, kind, number = min(can)
        time = forward_s if kind == "F" else backward_s
        ends[kind, number, stage] = free[stage] = begin + time
        at[stage] += 1
        busy += time
        alive[stage] += 1 if kind == "F" else -1
        most_alive = max(most_alive, alive[stage])
    if any(position < len(order) for position, order in zip(at, orders, strict=True)):
        return math.inf, 1.0, 0
    return max(free), 1 - busy / max(free) / stages, most_alive


def experts_sorted(x, w_router, w_in, w_out, capacity, dist):
    """Tokens sorted by their expert, and their places by counting."""
    world, (count, width) = dist.get_world_size(), x.shape
    scores = x @ w_router
    chosen = np.argmax(scores, axis=1)
    gates = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
    one_hot = chosen[:, None] == np.arange(world)
    place = (np.cumsum(one_hot, axis=0) - 1)[np.arange(count), chosen]
    there = place < capacity
    slots = chosen[there] * capacity + place[there]
    sent = np.zeros((world * capacity, width), x.dtype)
    sent[slots] = x[there]
    arrived, back = np.empty_like(sent), np.empty_like(sent)
    dist.all_to_all_single(arrived, sent)
    dist.all_to_all_single(back, np.ascontiguousarray(np.maximum(arrived @ w_in, 0) @ w_out))
    y = np.zeros_like(x)
    y[there] = gates[np.arange(count), chosen][there][:, None] * back[slots]
    return y


def experts_as_products(x, w_router, w_in, w_out, capacity, dist):
    """Dispatch and combine as products with a tensor of zeros and ones, as in GShard; weighted before the expert."""
    world = dist.get_world_size()
    scores = x @ w_router
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = e / e.sum(axis=-1, keepdims=True)
    one_hot = np.eye(world, dtype=x.dtype)[shares.argmax(axis=-1)]
    position = (np.cumsum(one_hot, axis=0) - 1) * one_hot
    slots = np.eye(capacity + 1, dtype=x.dtype)[np.minimum(position.sum(axis=1), capacity).astype(int)][:, :capacity]
    dispatch = one_hot[:, :, None] * slots[:, None, :]
    sent = np.einsum("tec,td->ecd", dispatch * shares[:, :, None], x)
    arrived = np.zeros_like(sent)
    dist.all_to_all_single(arrived, np.ascontiguousarray(sent))
    hidden = np.maximum(np.einsum("ecd,df->ecf", arrived, w_in), 0)
    results = np.ascontiguousarray(np.einsum("ecf,fd->ecd", hidden, w_out))
    dist.all_to_all_single(arrived, results)
    return np.einsum("tec,ecd->td", dispatch, arrived)


def experts_last_first(x, w_router, w_in, w_out, capacity, dist):
    """Each expert's places are filled from the last one; sent in one buffer that is used again."""
    world = dist.get_world_size()
    rows = [np.flatnonzero((x @ w_router).argmax(-1) == expert)[:capacity] for expert in range(world)]
    buffer = np.zeros((world, capacity, x.shape[-1]), x.dtype)
    for expert, tokens in enumerate(rows):
        for place, t in enumerate(tokens):
            buffer[expert, -1 - place] = x[t]
    arrived = np.empty_like(buffer)
    dist.all_to_all_single(arrived, buffer)
    for part in arrived:
        part[...] = ((part @ w_in) * (part @ w_in > 0)) @ w_out
    dist.all_to_all_single(buffer, arrived)
    y = np.zeros(x.shape)
    for expert, tokens in enumerate(rows):
        for place, t in enumerate(tokens):
            scores = x[t] @ w_router
            y[t] = buffer[expert, -1 - place] / np.exp(scores - scores[expert]).sum()
    return y


def ring_reversed(q, k, v, dist):
    """Round the other way, receiving first; keys and values in two messages."""
    rank, world = dist.get_rank(), dist.get_world_size()
    n, h = q.shape
    rows = np.arange(rank * n, rank * n + n)
    logarithm, out = np.full(n, -np.inf), np.zeros((n, h))
    k, v = k.copy(), v.copy()
    for step in range(world):
        cols = (rank + step) % world * n + np.arange(n)
        scores = (q / math.sqrt(h)) @ k.T + np.where(cols[None, :] > rows[:, None], -np.inf, 0)
        with np.errstate(divide="ignore"):
            both = np.logaddexp(logarithm, np.logaddexp.reduce(scores, axis=1))
        out = out * np.exp(logarithm - both)[:, None] + np.exp(scores - both[:, None]) @ v
        logarithm = both
        if step + 1 < world:
            next_k, next_v = np.empty_like(k), np.empty_like(v)
            pending = [dist.irecv(next_k, (rank + 1) % world), dist.irecv(next_v, (rank + 1) % world)]
            pending += [dist.isend(k, (rank - 1) % world), dist.isend(v, (rank - 1) % world)]
            for each in pending:
                each.wait()
            k, v = next_k, next_v
    return out


def ring_blocking(q, k, v, dist):
    """Blocking messages: even ranks send first, and in an odd world rank 0 sends to the last one, which receives.

    Blocks that are masked altogether are passed on without a look.
    """
    rank, world = dist.get_rank(), dist.get_world_size()
    n = len(q)
    pair = np.concatenate([k, v], axis=1)
    seen = []
    for step in range(world):
        owner = (rank - step) % world
        if owner <= rank:
            seen.append((owner, pair))
        if step == world - 1:
            break
        got = np.empty_like(pair)
        if rank % 2 == 0 and rank != world - 1 or world == 1:
            dist.send(pair, (rank + 1) % world)
            dist.recv(got, (rank - 1) % world)
        elif rank % 2 == 1:
            dist.recv(got, (rank - 1) % world)
            dist.send(pair, (rank + 1) % world)
        else:
            pending = dist.irecv(got, (rank - 1) % world)
            dist.send(pair, (rank + 1) % world)
            pending.wait()
        pair = got
    seen.sort(key=lambda both: both[0])
    keys, values = np.split(np.concatenate([each for _, each in seen]), 2, axis=1)
    scores = q @ keys.T / math.sqrt(q.shape[1])
    scores[np.arange(len(keys)) > rank * n + np.arange(n)[:, None]] = -math.inf
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (e / e.sum(axis=1, keepdims=True)) @ values


def ring_everybody_to_everybody(q, k, v, dist):
    """No ring: each rank sends its block to those that need it, which carry less."""
    rank, world = dist.get_rank(), dist.get_world_size()
    n, h = q.shape
    parts = np.zeros((rank + 1, 2, n, h), q.dtype)
    parts[rank] = k, v
    pending = [dist.irecv(parts[src], src) for src in range(rank)]
    pending += [dist.isend(parts[rank], dst) for dst in range(rank + 1, world)]
    for each in pending:
        each.wait()
    top, total, out = np.full(n, -1e30), np.zeros(n), np.zeros((n, h))
    for owner in range(rank + 1):  # the rank's own block, which no query of it misses, comes last
        for i in range(n):
            for j in range(n):
                if owner * n + j <= rank * n + i:
                    score = float(q[i] @ parts[owner, 0, j]) / math.sqrt(h)
                    new = max(top[i], score)
                    total[i] = total[i] * math.exp(top[i] - new) + math.exp(score - new)
                    out[i] = out[i] * math.exp(top[i] - new) + math.exp(score - new) * parts[owner, 1, j]
                    top[i] = new
    return out / total[:, None]


def train_separate_sums(x, labels, w_in, w_out, rate, steps, dist):
    """Sums first, divided at the end; each gradient in an all-reduce of its own, and copies of weights in place."""
    w_in, w_out = w_in.copy(), w_out.copy()
    data, tensor = divmod(dist.get_rank(), 2)
    shared = [dist.new_group([2 * each, 2 * each + 1]) for each in range(2)][data]
    alike = [dist.new_group([each, each + 2]) for each in range(2)][tensor]
    losses = np.zeros(steps)
    one_hot = np.eye(w_out.shape[1])[labels]
    for step in range(steps):
        z = x @ w_in
        a = np.where(z > 0, z, 0)
        logits = a @ w_out
        dist.all_reduce(logits, group=shared)
        top = logits.max(1, keepdims=True)
        log_shares = logits - top - np.log(np.exp(logits - top).sum(1, keepdims=True))
        slope = np.exp(log_shares) - one_hot
        gradient_out = a.T @ slope
        gradient_in = np.ascontiguousarray(x.T @ np.where(z > 0, slope @ w_out.T, 0))
        numbers = np.array([-(one_hot * log_shares).sum(), len(x)])
        for each in (gradient_out, gradient_in, numbers):
            dist.all_reduce(each, group=alike)
        losses[step] = numbers[0] / numbers[1]
        w_out -= rate / numbers[1] * gradient_out + 0.1 * rate * w_out
        w_in -= rate / numbers[1] * gradient_in + 0.1 * rate * w_in
    return losses, w_in, w_out


def train_example_by_example(x, labels, w_in, w_out, rate, steps, dist):
    rank = dist.get_rank()
    groups = [dist.new_group(pair) for pair in ([1, 3], [0, 1], [2, 3], [2, 0])]
    shared, alike = groups[1 + rank // 2], groups[3 if rank % 2 == 0 else 0]
    count = np.array(float(len(x)))
    dist.all_reduce(count, group=alike)
    history = []
    for _ in range(steps):
        logits = np.maximum(x @ w_in, 0) @ w_out
        dist.all_reduce(logits, group=shared)
        sums = np.zeros(1 + w_in.size + w_out.size)
        d_in, d_out = sums[1 : 1 + w_in.size].reshape(w_in.shape), sums[1 + w_in.size :].reshape(w_out.shape)
        for example, label, row in zip(x, labels, logits, strict=True):
            hidden = np.maximum(example @ w_in, 0)
            log_shares = row - np.logaddexp.reduce(row)
            sums[0] -= log_shares[label] / count
            slope = np.exp(log_shares)
            slope[label] -= 1
            d_out += np.outer(hidden, slope) / count
            d_in += np.outer(example, (w_out @ slope) * (hidden > 0)) / count
        dist.all_reduce(sums, group=alike)
        history.append(float(sums[0]))
        w_in, w_out = w_in - rate * (0.1 * w_in + d_in), w_out - rate * (0.1 * w_out + d_out)
    return history, w_in, w_out


def train_mean_of_weighted_means(x, labels, w_in, w_out, rate, steps, dist):
    """The own batch's mean loss and gradient, weighted with its share of the examples before they are summed."""
    rank = dist.get_rank()
    numbers = [[0, 1], [2, 3], [0, 2], [1, 3]]
    batches, halves = np.split(np.array([dist.new_group(pair) for pair in numbers], object), 2)
    examples = np.array([len(x)], np.int64)
    dist.all_reduce(examples, group=halves[rank % 2])
    share = len(x) / examples.item()
    losses = []
    for _ in range(steps):
        hidden = x @ w_in
        hidden *= hidden > 0
        logits = hidden @ w_out
        dist.all_reduce(logits, group=batches[rank // 2])
        e = np.exp(logits - logits.max(axis=1)[:, None])
        p = e / e.sum(axis=1)[:, None]
        loss = -np.mean(np.log(p[range(len(x)), labels]))
        d_logits = (p - (labels[:, None] == np.arange(p.shape[1]))) / len(x)
        d_hidden = d_logits @ w_out.T
        d_hidden[hidden == 0] = 0
        parts = [share * np.atleast_1d(loss), share * (x.T @ d_hidden).ravel(), share * (hidden.T @ d_logits).ravel()]
        flat = np.concatenate(parts)
        dist.all_reduce(flat, group=halves[rank % 2])
        losses.append(flat[0])
        flat *= rate
        w_in = w_in * (1 - 0.1 * rate) - flat[1:][: w_in.size].reshape(w_in.shape)
        w_out = w_out * (1 - 0.1 * rate) - flat[-w_out.size :].reshape(w_out.shape)
    return tuple(losses), w_in, w_out


PARALLEL = {
    "19.feed-forward": [
        feed_forward_messages_in_rows,
        feed_forward_bias_of_rank_zero,
        feed_forward_bias_in_parts,
        feed_forward_transposed,
    ],
    "19.heads": [heads_one_by_one, heads_einsum, heads_query_by_query],
    "19.schedule": [schedule_by_counts, schedule_three_parts, schedule_queue],
    "19.bubble": [time_recursive, time_relaxed, time_by_events],
    "19.experts": [experts_sorted, experts_as_products, experts_last_first],
    "19.ring-attention": [ring_reversed, ring_blocking, ring_everybody_to_everybody],
    "19.two-by-two": [train_separate_sums, train_example_by_example, train_mean_of_weighted_means],
}
