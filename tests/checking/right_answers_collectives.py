"""Chapter 19: right answers on messages, rings, data and shards written otherwise: other trees, other directions."""

import math

import numpy as np


def broadcast_from_afar(x, root, dist):
    """The longest way first: half of the ranks lies behind the first message."""
    rank, world = dist.get_rank(), dist.get_world_size()
    place, x = (rank - root) % world, x.copy()
    for level in reversed(range((world - 1).bit_length())):
        near = 1 << level
        if place % (2 * near) == 0 and place + near < world:
            dist.send(x, (place + near + root) % world)
        elif place % (2 * near) == near:
            dist.recv(x, (place - near + root) % world)
    return x


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


def all_gather_backwards(part, dist):
    """The ring turns the other way, and parts are collected in a list."""
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = [part] * world
    latest = part
    for step in range(1, world):
        arriving = np.empty_like(part)
        pending = dist.irecv(arriving, (rank + 1) % world)
        sent = dist.isend(latest, (rank - 1) % world)
        pending.wait()
        sent.wait()
        parts[(rank + step) % world] = latest = arriving
    return np.concatenate(parts)


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


def memory_by_cases(parameters, world, stage):
    share = math.ceil(parameters / world)
    if stage == 0:
        held_bytes = 16 * parameters
    elif stage == 1:
        held_bytes = 4 * parameters + 12 * share
    elif stage == 2:
        held_bytes = 2 * parameters + 14 * share
    else:
        held_bytes = 16 * share
    one_way = 2 * share * (world - 1)
    return held_bytes, one_way * 3 if stage == 3 else one_way * 2


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


def fsdp_in_float64(shard, velocity, x, y, rate, dist):
    """Computed in float64, sent as the shard is."""
    world = dist.get_world_size()
    w = np.empty(x.shape[1], shard.dtype)
    dist.all_gather_into_tensor(w, shard)
    x, y = x.astype(np.float64), y.astype(np.float64)
    slope = (2 * ((x @ w - y)[:, None] * x).mean(axis=0)).astype(shard.dtype)
    part = np.empty(shard.size, shard.dtype)
    dist.reduce_scatter_tensor(part, slope)
    velocity = 0.9 * velocity.astype(np.float64) + part.astype(np.float64) / world
    return shard - velocity * rate, velocity


COLLECTIVES = {
    "19.broadcast": [broadcast_from_afar, broadcast_mirrored],
    "19.reduce-scatter": [reduce_scatter_backwards, reduce_scatter_blocking],
    "19.all-gather": [all_gather_backwards, all_gather_blocking],
    "19.all-reduce": [all_reduce_padded, all_reduce_direct],
    "19.gradient": [gradient_of_two_reduces, gradient_weighted],
    "19.memory": [memory_by_table, memory_by_cases],
    "19.fsdp": [fsdp_in_loops, fsdp_in_float64],
}
