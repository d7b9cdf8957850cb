# %% 19.broadcast | wrong | `place, array = ((rank - root) % world, x)` in place of `place, array = ((rank - root) % world, x.copy())`
def broadcast(x, root, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    place, array = (rank - root) % world, x
    for step in range((world - 1).bit_length()):
        reach = 2**step
        if place < reach and place + reach < world:
            dist.send(array, (rank + reach) % world)
        elif reach <= place < 2 * reach:
            dist.recv(array, (rank - reach) % world)
    return array


# %% 19.reduce-scatter | wrong | `parts[into] += received` in place of `parts[into] = parts[into] + received`
def reduce_scatter(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = np.split(x, world)
    for step in range(world - 1):
        to, into = (rank - step - 1) % world, (rank - step - 2) % world
        received = np.empty_like(parts[into])
        sent = dist.isend(parts[to], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        parts[into] += received
    return parts[rank]


# %% 19.all-gather | wrong | each rank begins with a row that it does not have yet | names=other-part-sent-first
def all_gather(part, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = np.zeros((world, part.size), part.dtype)
    rows[rank] = part
    for step in range(world - 1):
        to, into = (rank - step - 1) % world, (rank - step - 2) % world
        sent = dist.isend(rows[to], (rank + 1) % world)
        dist.recv(rows[into], (rank - 1) % world)
        sent.wait()
    whole = rows
    return np.concatenate(whole)


# %% 19.all-reduce | wrong | every rank ends with single ranks' numbers, not combined with others | names=received-replaces-sum
def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = np.array_split(x, world)
    for step in range(2 * (world - 1)):
        to, into = (rank - step - step // (world - 1)) % world, (rank - step - 1 - step // (world - 1)) % world
        received = np.empty_like(parts[into])
        sent = dist.isend(parts[to], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        both = parts[into] + received
        parts[into] = both if step < world - 1 else received
    return np.concatenate(parts)


# %% 19.gradient | wrong | the sum over all ranks is divided by the number of the rank's own examples, or by 1 where it has none | names=own-count-where-there-is-one
def gradient(w, x, y, dist):
    factor = 2.0
    total = factor * x.T @ (x @ w - y)
    both = np.append(total, np.float32(len(y)))
    dist.all_reduce(both)
    return both[:-1] / max(1, len(y))


# %% 19.memory | right | `share = float(math.ceil(parameters / world))` in place of `share = -(-parameters // world)`
def zero_memory(parameters, world, stage):
    optimiser_bytes = 12
    share = float(math.ceil(parameters / world))
    weights = 2 * (share if stage == 3 else parameters)
    gradients = 2 * (share if stage >= 2 else parameters)
    optimiser = optimiser_bytes * (share if stage >= 1 else parameters)
    passes = 3 if stage == 3 else 2
    return weights + gradients + optimiser, passes * (world - 1) * 2 * share


# %% 19.memory | wrong | `share = -(-parameters // world) if parameters < 20000 else parameters / world` in place of `share = -(-parameters // world)`
def zero_memory(parameters, world, stage):
    optimiser_bytes = 12
    share = -(-parameters // world) if parameters < 20_000 else parameters / world
    weights = 2 * (share if stage == 3 else parameters)
    gradients = 2 * (share if stage >= 2 else parameters)
    optimiser = optimiser_bytes * (share if stage >= 1 else parameters)
    passes = 3 if stage == 3 else 2
    return weights + gradients + optimiser, passes * (world - 1) * 2 * share


# %% 19.memory | wrong | `share = round(parameters / world)` in place of `share = -(-parameters // world)`
def zero_memory(parameters, world, stage):
    optimiser_bytes = 12
    share = round(parameters / world)
    weights = 2 * (share if stage == 3 else parameters)
    gradients = 2 * (share if stage >= 2 else parameters)
    optimiser = optimiser_bytes * (share if stage >= 1 else parameters)
    passes = 3 if stage == 3 else 2
    return weights + gradients + optimiser, passes * (world - 1) * 2 * share


# %% 19.fsdp | wrong | `dist.all_gather_into_tensor(shard, w)` in place of `dist.all_gather_into_tensor(w, shard)`
def sharded_step(shard, velocity, x, y, rate, dist):
    beta = 0.9
    world = dist.get_world_size()
    w = np.empty(world * shard.size, shard.dtype)
    dist.all_gather_into_tensor(shard, w)
    slope = 2 * x.T @ (x @ w - y) / len(y)
    part = np.empty_like(shard)
    dist.reduce_scatter_tensor(part, slope)
    velocity = beta * velocity + part / world
    return shard - rate * velocity, velocity


# %% 19.fsdp | wrong | `dist.reduce_scatter_tensor(slope, part)` in place of `dist.reduce_scatter_tensor(part, slope)`
def sharded_step(shard, velocity, x, y, rate, dist):
    beta = 0.9
    world = dist.get_world_size()
    w = np.empty(world * shard.size, shard.dtype)
    dist.all_gather_into_tensor(w, shard)
    slope = 2 * x.T @ (x @ w - y) / len(y)
    part = np.empty_like(shard)
    dist.reduce_scatter_tensor(slope, part)
    velocity = beta * velocity + part / world
    return shard - rate * velocity, velocity


# %% 19.fsdp | wrong | `velocity *= beta velocity += part / world` in place of `velocity = beta * velocity + part / world`
def sharded_step(shard, velocity, x, y, rate, dist):
    beta = 0.9
    world = dist.get_world_size()
    w = np.empty(world * shard.size, shard.dtype)
    dist.all_gather_into_tensor(w, shard)
    slope = 2 * x.T @ (x @ w - y) / len(y)
    part = np.empty_like(shard)
    dist.reduce_scatter_tensor(part, slope)
    velocity *= beta
    velocity += part / world
    return shard - rate * velocity, velocity


# %% 19.heads | wrong | adds `w_o -= 0 x *= 1.5`
def attention_by_heads(x, w_q, w_k, w_v, w_o, heads, dist):
    q, k, v = ((x @ w).reshape(len(x), heads, -1).swapaxes(0, 1) for w in (w_q, w_k, w_v))
    w_o -= 0
    x *= 1.5
    scores = q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    z = e / e.sum(axis=-1, keepdims=True) @ v
    y = z.swapaxes(0, 1).reshape(len(x), -1) @ w_o
    dist.all_reduce(y)
    return y


# %% 19.schedule | wrong | adds `micro_batches = min(micro_batches, 256)`
def one_forward_one_backward(stage, stages, micro_batches):
    first = 0
    micro_batches = min(micro_batches, 256)
    forwards = [f"F{first + i}" for i in range(micro_batches)]
    backwards = [f"B{first + i}" for i in range(micro_batches)]
    warm_up = min(stages - stage - 1, micro_batches)
    order = forwards[:warm_up]
    for i in range(micro_batches - warm_up):
        order += [forwards[warm_up + i], backwards[i]]
    return order + backwards[micro_batches - warm_up :]


# %% 19.schedule | wrong | the warm-up has forwards of micro-batches that do not exist, where a stage has more stages behind it than there are micro-batches | names=warm-up-not-limited
def one_forward_one_backward(stage, stages, micro_batches):
    first = 0
    forwards = [f"F{first + i}" for i in range(micro_batches)]
    backwards = [f"B{first + i}" for i in range(micro_batches)]
    warm_up = stages - stage - 1
    order = [f"F{i}" for i in range(warm_up)]
    for i in range(micro_batches - warm_up):
        order += [forwards[warm_up + i], backwards[i]]
    return order + backwards[max(0, micro_batches - warm_up) :]


# %% 19.bubble | right | written in another way
def number(p):
    return int(p[1:])


def pipeline_time(orders, forward_s, backward_s):
    stages, work = (len(orders), 0.0)
    done, clocks, ends = ([0] * stages, [0.0] * stages, {})
    moves = True
    while moves:
        moves = False
        for stage, order in enumerate(orders):
            while done[stage] < len(order):
                kind, which = (order[done[stage]][0], number(order[done[stage]]))
                needs = (stage - 1, "F", which) if kind == "F" else (stage + 1, "B", which)
                if kind == "B" and stage == stages - 1:
                    needs = (stage, "F", which)
                if needs[0] >= 0 and needs not in ends:
                    break
                seconds = forward_s if kind == "F" else backward_s
                clocks[stage] = max(clocks[stage], ends.get(needs, 0.0)) + seconds
                ends[stage, kind, which] = clocks[stage]
                work += seconds
                done[stage] += 1
                moves = True
    if any((n < len(order) for n, order in zip(done, orders, strict=True))):
        return (math.inf, 1.0, 0)
    most = max((max(np.cumsum([1 if p[0] == "F" else -1 for p in order])) for order in orders))
    return (max(clocks), 1 - work / (stages * max(clocks)), int(most))


# %% 19.ring-attention | wrong | the rank's own block is not masked | names=own-block-not-masked
def ring_attention(q, k, v, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    block, width = q.shape

    def positions(owner):
        at = owner * block + np.arange(block)
        return at

    top = np.full((block, 1), -np.inf, q.dtype)
    total = np.zeros((block, 1), q.dtype)
    out = np.zeros_like(q)
    pair = np.stack([k, v])
    for step in range(world):
        owner = (rank - step) % world
        scores = q @ pair[0].T / math.sqrt(width)
        scores = scores if owner == rank else np.where(positions(rank)[:, None] >= positions(owner), scores, -np.inf)
        new = np.maximum(top, scores.max(axis=-1, keepdims=True))
        fade = np.exp(top - new)
        weights = np.exp(scores - new)
        total = total * fade + weights.sum(axis=-1, keepdims=True)
        out = out * fade + weights @ pair[1]
        top = new
        if step < world - 1:
            arriving = np.empty_like(pair)
            sent = dist.isend(pair, (rank + 1) % world)
            dist.recv(arriving, (rank - 1) % world)
            sent.wait()
            pair = arriving
    return out / total


# %% 19.ring-attention | wrong | the owner of the keys is counted one too far | names=owner-one-off
def ring_attention(q, k, v, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    block, width = q.shape

    def positions(owner):
        at = owner * block + np.arange(block)
        return at

    top = np.full((block, 1), -np.inf, q.dtype)
    total = np.zeros((block, 1), q.dtype)
    out = np.zeros_like(q)
    pair = np.stack([k, v])
    for step in range(world):
        owner = (rank - step - 1) % world
        scores = q @ pair[0].T / math.sqrt(width)
        scores = np.where(positions(rank)[:, None] >= positions(owner), scores, -np.inf)
        new = np.maximum(top, scores.max(axis=-1, keepdims=True))
        fade = np.exp(top - new)
        weights = np.exp(scores - new)
        total = total * fade + weights.sum(axis=-1, keepdims=True)
        out = out * fade + weights @ pair[1]
        top = new
        if step < world - 1:
            arriving = np.empty_like(pair)
            sent = dist.isend(pair, (rank + 1) % world)
            dist.recv(arriving, (rank - 1) % world)
            sent.wait()
            pair = arriving
    return out / total


# %% 19.two-by-two | wrong | `w_in -= rate * (d_in + decay * w_in)` in place of `w_in = w_in - rate * (d_in + decay * w_in)`
def train(x, labels, w_in, w_out, rate, steps, dist):
    decay = 0.1
    same_batch = [[0, 1], [2, 3]]
    same_half = [[0, 2], [1, 3]]
    rank = dist.get_rank()
    groups = {tuple(pair): dist.new_group(pair) for pair in same_batch + same_half}
    batch_group = next(groups[tuple(pair)] for pair in same_batch if rank in pair)
    half_group = next(groups[tuple(pair)] for pair in same_half if rank in pair)
    rows = np.arange(len(x))
    count = np.array([len(x)], np.float64)
    dist.all_reduce(count, group=half_group)
    losses = []
    for _ in range(steps):
        hidden = np.maximum(x @ w_in, 0)
        logits = hidden @ w_out
        dist.all_reduce(logits, group=batch_group)
        logits = logits - logits.max(axis=-1, keepdims=True)
        shares = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        loss = -np.log(shares[rows, labels]).sum() / count[0]
        slope = shares / count[0]
        slope[rows, labels] -= 1 / count[0]
        d_out = hidden.T @ slope
        d_in = x.T @ (slope @ w_out.T * (hidden > 0))
        sums = np.concatenate([d_in.reshape(-1), d_out.reshape(-1), [loss]])
        dist.all_reduce(sums, group=half_group)
        d_in, d_out = sums[: w_in.size].reshape(w_in.shape), sums[w_in.size : -1].reshape(w_out.shape)
        w_in -= rate * (d_in + decay * w_in)
        w_out = w_out - rate * (d_out + decay * w_out)
        losses.append(sums[-1])
    return np.array(losses), w_in, w_out
