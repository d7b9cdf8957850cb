"""Chapter 19 from layers cut in pieces on: right answers written otherwise."""

import math

import numpy as np


def feed_forward_bias_of_rank_zero(x, w_in, b_in, w_out, b_out, dist):
    """Rank 0 alone brings the bias into the sum."""
    y = np.clip(x @ w_in + b_in, 0, None) @ w_out
    if dist.get_rank() == 0:
        y += b_out
    dist.all_reduce(y)
    return y


def feed_forward_transposed(x, w_in, b_in, w_out, b_out, dist):
    hidden = w_in.T @ x.T + b_in[:, None]
    y = np.ascontiguousarray(w_out.T @ (hidden * (hidden > 0)))
    dist.all_reduce(y)
    return (y + b_out[:, None]).T


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


PARALLEL = {
    "19.feed-forward": [feed_forward_bias_of_rank_zero, feed_forward_transposed],
    "19.heads": [heads_einsum, heads_query_by_query],
    "19.schedule": [schedule_by_counts, schedule_three_parts],
    "19.bubble": [time_by_events],
    "19.experts": [experts_as_products, experts_last_first],
    "19.ring-attention": [ring_reversed, ring_blocking],
    "19.two-by-two": [train_separate_sums, train_example_by_example],
}
