"""Chapter 19: right answers written otherwise: other trees, other directions of rings, products in place of loops."""

import math

import numpy as np


def broadcast_mirrored(x, root, dist):
    """Places count downwards from the root."""
    rank, world, x = dist.get_rank(), dist.get_world_size(), x.copy()
    place = (root - rank) % world
    for step in range(math.ceil(math.log2(world))):
        if place < 2**step:
            if place + 2**step < world:
                dist.send(x, (rank - 2**step) % world)
        elif place < 2 ** (step + 1):
            dist.recv(x, (rank + 2**step) % world)
    return x


def reduce_scatter_backwards(x, dist):
    """The ring turns the other way."""
    rank, world = dist.get_rank(), dist.get_world_size()
    total = x.copy().reshape(world, -1)
    buffer = np.empty_like(total[0])
    for far in range(1, world):
        pending = dist.irecv(buffer, (rank + 1) % world)
        dist.isend(total[(rank + far) % world].copy(), (rank - 1) % world).wait()
        pending.wait()
        total[(rank + far + 1) % world] += buffer
    return total[rank]


def reduce_scatter_blocking(x, dist):
    """Rank 0 receives first and so breaks the circle of ranks that wait."""
    rank, world = dist.get_rank(), dist.get_world_size()
    m = x.size // world
    running = x[(rank - 1) % world * m :][:m]
    for step in range(world - 1):
        received = np.empty(m, x.dtype)
        if rank:
            dist.send(running, (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        if not rank:
            dist.send(running, 1)
        running = received + x[(rank - 2 - step) % world * m :][:m]
    return running


def all_gather_blocking(part, dist):
    """Even ranks send first, and odd ones receive first; the last of an odd number does as the even ones."""
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = [None] * world
    rows[rank] = part
    for step in range(world - 1):
        arriving = np.empty_like(part)
        if rank % 2:
            dist.recv(arriving, rank - 1)
            dist.send(rows[rank - step], (rank + 1) % world)
        else:
            dist.send(rows[rank - step], (rank + 1) % world)
            dist.recv(arriving, (rank - 1) % world)
        rows[rank - step - 1] = arriving
    return np.hstack(rows)


def all_reduce_padded(x, dist):
    """Padded to equal parts, in a ring that turns the other way."""
    rank, world = dist.get_rank(), dist.get_world_size()
    m = math.ceil(x.size / world)
    rows = np.zeros((world, m), x.dtype)
    rows.reshape(-1)[: x.size] = x
    buffer = np.empty(m, x.dtype)
    for step in range(world - 1):
        sent = dist.isend(rows[(rank + step) % world], (rank - 1) % world)
        dist.recv(buffer, (rank + 1) % world)
        sent.wait()
        rows[(rank + step + 1) % world] += buffer
    for step in range(world - 1):
        sent = dist.isend(rows[(rank + step - 1) % world], (rank - 1) % world)
        dist.recv(rows[(rank + step) % world], (rank + 1) % world)
        sent.wait()
    return rows.reshape(-1)[: x.size]


def all_reduce_direct(x, dist):
    """Every rank adds its part of all arrays, and sends the sum to all."""
    rank, world = dist.get_rank(), dist.get_world_size()
    bounds = [x.size * part // world for part in range(world + 1)]
    spans = [slice(a, b) for a, b in zip(bounds, bounds[1:], strict=False)]
    others = [other for other in range(world) if other != rank]
    total = x.copy()
    received = {other: np.empty_like(x[spans[rank]]) for other in others}
    pending = [dist.irecv(received[other], other) for other in others]
    pending += [dist.isend(x[spans[other]], other) for other in others]
    for message in pending:
        message.wait()
    total[spans[rank]] += sum(received.values())
    pending = [dist.isend(total[spans[rank]].copy(), other) for other in others]
    for other in others:
        dist.recv(total[spans[other]], other)
    for message in pending:
        message.wait()
    return total


def gradient_of_two_reduces(w, x, y, dist):
    total, count = np.zeros(w.size), np.array([len(y)])
    for example, target in zip(x, y, strict=True):
        total += 2 * (np.dot(example, w) - target) * example
    dist.all_reduce(count)
    dist.all_reduce(total)
    return total / count


def gradient_weighted(w, x, y, dist):
    """The count first; what is added up then is the gradient already."""
    count = np.full(1, len(y), np.float32)
    dist.all_reduce(count)
    error = np.einsum("bd,d->b", x, w) - y
    slope = np.einsum("b,bd->d", 2 * error / count, x)
    dist.all_reduce(slope)
    return slope


def memory_by_table(parameters, world, stage):
    share = (parameters + world - 1) // world
    rest = parameters - share
    freed = [0, 12 * rest, 14 * rest, 16 * rest]
    return 16 * parameters - freed[stage], [4, 4, 4, 6][stage] * (world - 1) * share


def fsdp_in_loops(shard, velocity, x, y, rate, dist):
    world = dist.get_world_size()
    w = np.concatenate([shard] * world)
    dist.all_gather_into_tensor(w, shard.copy())
    slope = np.zeros_like(w)
    for example, target in zip(x, y, strict=True):
        slope += 2 * (sum(example * w) - target) * example
    slope /= x.shape[0] * world
    part = shard.copy()
    dist.reduce_scatter_tensor(part, slope)
    new = part + 0.9 * velocity
    return shard + -rate * new, new


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


RIGHT = {
    "19.broadcast": [broadcast_mirrored],
    "19.reduce-scatter": [reduce_scatter_backwards, reduce_scatter_blocking],
    "19.all-gather": [all_gather_blocking],
    "19.all-reduce": [all_reduce_padded, all_reduce_direct],
    "19.gradient": [gradient_of_two_reduces, gradient_weighted],
    "19.memory": [memory_by_table],
    "19.fsdp": [fsdp_in_loops],
    "19.feed-forward": [feed_forward_transposed],
    "19.heads": [heads_einsum],
    "19.schedule": [schedule_three_parts],
    "19.bubble": [time_by_events],
    "19.experts": [experts_last_first],
    "19.ring-attention": [ring_reversed],
    "19.two-by-two": [train_separate_sums],
}
