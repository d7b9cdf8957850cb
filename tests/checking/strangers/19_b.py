# %% 19.feed-forward | wrong | each rank adds b_out before the all-reduce, so that it counts P times | names=bias-on-every-rank
def feed_forward(x, w_in, b_in, w_out, b_out, dist):
    y = np.maximum(x @ w_in + b_in, 0) @ w_out + b_out
    dist.all_reduce(y)
    return y


# %% 19.feed-forward | wrong | takes "biases count once" for both: b_in is added on rank 0 only, though each rank has its own part of it | names=hidden-bias-on-one-rank
def feed_forward(x, w_in, b_in, w_out, b_out, dist):
    first = dist.get_rank() == 0
    hidden = x @ w_in
    if first:
        hidden = hidden + b_in
    y = np.maximum(hidden, 0) @ w_out
    if first:
        y = y + b_out
    dist.all_reduce(y)
    return y


# %% 19.fsdp | right | residuals and gradient in float64, example by example, cast to the shard's dtype only for the messages
def sharded_step(shard, velocity, x, y, rate, dist):
    P, dtype = dist.get_world_size(), shard.dtype
    whole = np.empty(P * shard.size, dtype)
    dist.all_gather_into_tensor(whole, shard.copy())
    whole = whole.astype(np.float64)
    grad = np.zeros(whole.size)
    for row, target in zip(x.astype(np.float64), y.astype(np.float64)):
        grad += (row.dot(whole) - target) * row
    grad *= 2.0 / (P * len(y))
    mine = np.empty(shard.size, dtype)
    dist.reduce_scatter_tensor(mine, grad.astype(dtype))
    new_velocity = 0.9 * velocity.astype(np.float64) + mine
    return shard - rate * new_velocity, new_velocity


# %% 19.fsdp | wrong | divides by the rank's own B only, so that the gradient is the sum of the ranks' means: P times too large | names=means-summed
def sharded_step(shard, velocity, x, y, rate, dist):
    world = dist.get_world_size()
    w = np.empty(world * len(shard), shard.dtype)
    dist.all_gather_into_tensor(w, shard)
    own = (2 * x.T @ (x @ w - y) / len(y)).astype(shard.dtype)
    part = np.empty_like(shard)
    dist.reduce_scatter_tensor(part, own)
    new_velocity = 0.9 * velocity + part
    return shard - rate * new_velocity, new_velocity


# %% 19.fsdp | wrong | the rate goes into the velocity (v = 0.9 v + rate g, w = w - v), as in some textbooks: other velocity always, other shard unless velocity was 0 | names=rate-in-velocity
def sharded_step(shard, velocity, x, y, rate, dist):
    P = dist.get_world_size()
    w = np.empty((P * shard.shape[0],), dtype=shard.dtype)
    dist.all_gather_into_tensor(w, shard)
    g = 2 / (P * x.shape[0]) * (x.T @ (x @ w - y))
    gs = np.empty_like(shard)
    dist.reduce_scatter_tensor(gs, g.astype(shard.dtype))
    v = 0.9 * velocity + rate * gs
    return shard - v, v


# %% 19.gradient | right | einsum and a sum over examples in float64; a column of ones makes the count the last number of the one all-reduce
def gradient(w, x, y, dist):
    x64, y64, w64 = (np.asarray(a, np.float64) for a in (x, y, w))
    miss = np.einsum("bd,d->b", x64, w64) - y64
    # one more column of ones turns the count into part of the same sum
    weights = np.concatenate([miss[:, None] * x64, np.ones((len(y64), 1))], axis=1)
    total = weights.sum(axis=0)
    dist.all_reduce(total)
    return 2.0 * total[:-1] / total[-1]


# %% 19.gradient | wrong | mean of means: averages over the ranks that have examples, as if all had equally many | names=mean-of-filled-batches
def gradient(w, x, y, dist):
    D = w.size
    packed = np.zeros(D + 1)
    if len(y) > 0:
        packed[:D] = 2 * x.T @ (x @ w - y) / len(y)
        packed[D] = 1
    dist.all_reduce(packed)
    return packed[:D] / packed[D]


# %% 19.gradient | wrong | a rank with B = 0 returns zeros at once and takes no part in the all-reduce: the others wait for it, and its own gradient is wrong | names=empty-batch-left-out
def gradient(w, x, y, dist):
    if len(y) == 0:
        return np.zeros_like(w)
    g = np.append(2 * x.T @ (x @ w - y), len(y)).astype(np.float64)
    dist.all_reduce(g)
    return g[:-1] / g[-1]


# %% 19.heads | right | a loop over heads, softmax in log-space, each head times its rows of w_o, then the sum
def attention_by_heads(x, w_q, w_k, w_v, w_o, heads, dist):
    H = w_q.shape[1] // heads
    y = np.zeros_like(x)
    for columns in np.split(np.arange(heads * H), heads):
        q, k, v = (x @ w[:, columns] for w in (w_q, w_k, w_v))
        scores = (q @ k.T) / math.sqrt(H)
        scores = scores - scores.max(axis=1, keepdims=True)
        log_sums = np.log(np.exp(scores).sum(axis=1, keepdims=True))
        y += np.exp(scores - log_sums) @ (v @ w_o[columns])
    dist.all_reduce(y)
    return y


# %% 19.heads | wrong | reads the columns as (H, heads): column i belongs to head i % heads, while the first H columns are those of the first head | names=interleaved-throughout
def attention_by_heads(x, w_q, w_k, w_v, w_o, heads, dist):
    T = x.shape[0]
    H = w_q.shape[1] // heads
    q, k, v = ((x @ w).reshape(T, H, heads).transpose(2, 0, 1) for w in (w_q, w_k, w_v))
    s = q @ k.transpose(0, 2, 1) / math.sqrt(H)
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    a = s / s.sum(axis=-1, keepdims=True)
    z = (a @ v).transpose(1, 2, 0).reshape(T, heads * H)
    y = z @ w_o
    dist.all_reduce(y)
    return y


# %% 19.heads | wrong | scores are divided by the square root of the model's width D in place of the heads' width H | names=sqrt-of-model-width
def attention_by_heads(x, w_q, w_k, w_v, w_o, heads, dist):
    T, D = x.shape
    q, k, v = ((x @ w).reshape(T, heads, -1).swapaxes(0, 1) for w in (w_q, w_k, w_v))
    scores = q @ k.swapaxes(1, 2) / math.sqrt(D)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    y = (weights @ v).swapaxes(0, 1).reshape(T, -1) @ w_o
    dist.all_reduce(y)
    return y


# %% 19.heads | wrong | subtracts one maximum of all heads and rows: a row whose scores are all some hundreds lower than another row's sums up to 0, and becomes NaN (float32 scores 200 apart) | names=one-max-for-all
def attention_by_heads(x, w_q, w_k, w_v, w_o, heads, dist):
    T = len(x)
    H = w_q.shape[1] // heads
    q, k, v = ((x @ w).reshape(T, heads, H).transpose(1, 0, 2) for w in (w_q, w_k, w_v))
    s = np.einsum("htd,hsd->hts", q, k) / math.sqrt(H)
    e = np.exp(s - s.max())
    z = e @ v / e.sum(-1, keepdims=True)
    y = z.transpose(1, 0, 2).reshape(T, heads * H) @ w_o
    dist.all_reduce(y)
    return y


# %% 19.memory | right | a loop over (bytes, first stage that shards it), divmod for the share
def zero_memory(parameters, world, stage):
    share, rest = divmod(parameters, world)
    share += rest > 0
    kept = 0
    for n_bytes, sharded_from in ((12, 1), (2, 2), (2, 3)):
        kept += n_bytes * (share if stage >= sharded_from else parameters)
    collectives = 3 if stage == 3 else 2
    return kept, collectives * (world - 1) * share * 2


# %% 19.memory | wrong | rounds up the share of the bytes and not that of the parameters: 12 * parameters / world, rounded up | names=bytes-rounded
def zero_memory(parameters, world, stage):
    def share(n_bytes):
        return -(-n_bytes * parameters // world)

    optimiser = share(12) if stage >= 1 else 12 * parameters
    gradients = share(2) if stage >= 2 else 2 * parameters
    weights = share(2) if stage >= 3 else 2 * parameters
    passes = 3 if stage == 3 else 2
    return optimiser + gradients + weights, passes * (world - 1) * share(2)


# %% 19.memory | wrong | in stage 1 gradients are still all-reduced whole and weights gathered on top: three times the shares for stage 1 | names=all-reduce-in-stage-one
def zero_memory(parameters, world, stage):
    share = math.ceil(parameters / world)
    keep = {
        0: 16 * parameters,
        1: 4 * parameters + 12 * share,
        2: 2 * parameters + 14 * share,
        3: 16 * share,
    }[stage]
    rounds = {0: 2, 1: 3, 2: 2, 3: 3}[stage]
    return keep, rounds * (world - 1) * share * 2


# %% 19.reduce-scatter | right | no ring: every rank sends part j straight to rank j, all messages at once, then adds what came
def reduce_scatter(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    table = x.reshape(world, x.size // world).copy()
    total = table[rank].copy()
    others = [r for r in range(world) if r != rank]
    boxes = {r: np.empty_like(total) for r in others}
    pending = [dist.isend(table[r], r) for r in others] + [dist.irecv(boxes[r], r) for r in others]
    for job in pending:
        job.wait()
    for r in others:
        total = total + boxes[r]
    return total


# %% 19.reduce-scatter | wrong | begins with its own part, so that rank r ends with part r + 1 and not with part r | names=other-variant
def reduce_scatter(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = [part.copy() for part in np.split(x, world)]
    received = np.empty_like(parts[0])
    for step in range(world - 1):
        sent = dist.isend(parts[(rank - step) % world], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        parts[(rank - step - 1) % world] += received
    return parts[(rank + 1) % world]


# %% 19.reduce-scatter | wrong | passes on what it received without adding its own part to the travelling sum (only the last rank adds): the same for P = 2, wrong from P = 3 on | names=last-rank-adds-alone
def reduce_scatter(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = np.split(x, world)
    travelling = parts[(rank - 1) % world].copy()
    for step in range(world - 1):
        received = np.empty_like(travelling)
        sent = dist.isend(travelling, (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        travelling = received
    return travelling + parts[rank] if world > 1 else travelling


# %% 19.reduce-scatter | wrong | messages are always float32, so that float64 inputs lose digits (right for float32 inputs) | names=sums-in-float32
def reduce_scatter(x, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    parts = x.reshape(P, -1)
    acc = parts[(rank - 1) % P].astype(np.float32)
    buf = np.empty(acc.shape, np.float32)
    for s in range(2, P + 1):
        req = dist.isend(acc, (rank + 1) % P)
        dist.recv(buf, (rank - 1) % P)
        req.wait()
        acc = (buf + parts[(rank - s) % P]).astype(np.float32)
    return acc


# %% 19.ring-attention | right | each block gives its own softmax and the logarithm of its sum (relative to its maximum); blocks are joined with logaddexp, and later blocks are passed on unread
def ring_attention(q, k, v, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    B, H = q.shape
    pair = np.stack([k, v])
    visible = np.tri(B, dtype=bool)
    out = height = log_sum = None  # the sum of a row is exp(height + log_sum)
    for step in range(P):
        owner = (rank - step) % P
        sent = None
        if step < P - 1:
            coming = np.empty_like(pair)
            sent = dist.isend(pair, (rank + 1) % P)
            dist.recv(coming, (rank - 1) % P)
        if owner <= rank:
            s = q @ pair[0].T / math.sqrt(H)
            if owner == rank:
                s = np.where(visible, s, -np.inf)
            top = s.max(axis=1, keepdims=True)
            e = np.exp(s - top)
            block_log = np.log(e.sum(axis=1, keepdims=True))
            block_out = e @ pair[1] / e.sum(axis=1, keepdims=True)
            if out is None:
                out, height, log_sum = block_out, top, block_log
            else:
                higher = np.maximum(height, top)
                old, new = log_sum + (height - higher), block_log + (top - higher)
                height, log_sum = higher, np.logaddexp(old, new)
                out = out * np.exp(old - log_sum) + block_out * np.exp(new - log_sum)
        if sent is not None:
            sent.wait()
            pair = coming
    return out


# %% 19.ring-attention | wrong | the running maximum begins at 0, so that scores far below 0 underflow: 0 / 0 where all scores of a query are about -11,000 | names=largest-begins-at-zero
def ring_attention(q, k, v, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    B, H = q.shape
    m, s, o = np.zeros((B, 1)), np.zeros((B, 1)), np.zeros((B, H))
    kv = np.stack([k, v])
    rows = rank * B + np.arange(B)[:, None]
    for step in range(P):
        block = (rank - step) % P
        scores = q @ kv[0].T / math.sqrt(H)
        scores = np.where(block * B + np.arange(B)[None, :] <= rows, scores, -np.inf)
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        e = np.exp(scores - new)
        s = s * np.exp(m - new) + e.sum(axis=1, keepdims=True)
        o = o * np.exp(m - new) + e @ kv[1]
        m = new
        if step < P - 1:
            nxt = np.empty_like(kv)
            sent = dist.isend(kv, (rank + 1) % P)
            dist.recv(nxt, (rank - 1) % P)
            sent.wait()
            kv = nxt
    return o / s


# %% 19.ring-attention | wrong | masks with the score -1e4 in place of minus infinity: real scores of -11,000 lose against masked ones | names=minus-ten-thousand
def ring_attention(q, k, v, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    B, H = q.shape
    kv = np.concatenate([k, v], axis=1)
    m = np.full((B, 1), -np.inf)
    l = np.zeros((B, 1))
    o = np.zeros((B, H))
    i = rank * B + np.arange(B)
    for step in range(P):
        j = (rank - step) % P * B + np.arange(B)
        s = q @ kv[:, :H].T / math.sqrt(H)
        s = np.where(i[:, None] >= j[None], s, -1e4)
        mn = np.maximum(m, s.max(1, keepdims=True))
        p = np.exp(s - mn)
        c = np.exp(m - mn)
        l = l * c + p.sum(1, keepdims=True)
        o = o * c + p @ kv[:, H:]
        m = mn
        if step + 1 < P:
            buf = np.empty_like(kv)
            r = dist.isend(kv, (rank + 1) % P)
            dist.recv(buf, (rank - 1) % P)
            r.wait()
            kv = buf
    return o / l


# %% 19.ring-attention | wrong | sends to the next rank, but believes that after each step it has the block of the rank after it: masks the wrong blocks from P = 3 on | names=owner-turned-round
def ring_attention(q, k, v, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    B, H = q.shape
    positions = np.arange(B)
    kv = np.stack([k, v])
    m, s, o = np.full((B, 1), -np.inf), np.zeros((B, 1)), np.zeros((B, H))
    for step in range(P):
        owner = (rank + step) % P
        scores = q @ kv[0].T / math.sqrt(H)
        seen = owner * B + positions[None, :] <= rank * B + positions[:, None]
        scores = np.where(seen, scores, -np.inf)
        new = np.maximum(m, scores.max(axis=1, keepdims=True))
        weights = np.exp(scores - new)
        s = s * np.exp(m - new) + weights.sum(axis=1, keepdims=True)
        o = o * np.exp(m - new) + weights @ kv[1]
        m = new
        if step < P - 1:
            received = np.empty_like(kv)
            sent = dist.isend(kv, (rank + 1) % P)
            dist.recv(received, (rank - 1) % P)
            sent.wait()
            kv = received
    return o / s


# %% 19.schedule | right | decides pass by pass from two counters: a forward while no more than (later stages + 1) micro-batches would be kept, else a backward
def one_forward_one_backward(stage, stages, micro_batches):
    order = []
    done = {"F": 0, "B": 0}
    room = stages - stage
    while done["B"] < micro_batches:
        kept = done["F"] - done["B"]
        kind = "F" if done["F"] < micro_batches and kept < room else "B"
        order.append(f"{kind}{done[kind]}")
        done[kind] += 1
    return order


# %% 19.schedule | wrong | warms up with stages - stage forwards, one more than there are later stages: the last stage begins F0 F1 B0 | names=warm-up-too-long
def one_forward_one_backward(stage, stages, micro_batches):
    warm_up = min(stages - stage, micro_batches)
    order = [f"F{i}" for i in range(warm_up)]
    for i in range(micro_batches - warm_up):
        order += [f"F{warm_up + i}", f"B{i}"]
    order += [f"B{i}" for i in range(micro_batches - warm_up, micro_batches)]
    return order


# %% 19.schedule | wrong | does not think of few micro-batches: with fewer than stages - 1 - stage of them it warms up with forwards that do not exist | names=warm-up-not-limited
def one_forward_one_backward(stage, stages, micro_batches):
    warm = stages - 1 - stage
    out = [f"F{i}" for i in range(warm)]
    b = 0
    for f in range(warm, micro_batches):
        out += [f"F{f}", f"B{b}"]
        b += 1
    return out + [f"B{i}" for i in range(b, micro_batches)]


# %% 19.two-by-two | right | one-hot labels and logaddexp; gradients and the batch's loss travel as one flat vector, cut apart afterwards
def train(x, labels, w_in, w_out, rate, steps, dist):
    groups = [dist.new_group(pair) for pair in ([0, 1], [2, 3], [0, 2], [1, 3])]
    rank = dist.get_rank()
    row, column = groups[rank // 2], groups[2 + rank % 2]
    count = np.array([float(len(labels))])
    dist.all_reduce(count, group=column)
    n = count[0]
    target = np.eye(w_out.shape[1])[np.asarray(labels, dtype=int)]
    theta = np.concatenate([w_in.ravel(), w_out.ravel()])
    cut = w_in.size
    losses = []
    for _ in range(int(steps)):
        a, b = theta[:cut].reshape(w_in.shape), theta[cut:].reshape(w_out.shape)
        before = x @ a
        hidden = before * (before > 0)
        logits = hidden @ b
        dist.all_reduce(logits, group=row)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        slope = np.exp(log_p) - target
        grad_b = hidden.T @ slope
        grad_a = x.T @ (slope @ b.T * (before > 0))
        message = np.concatenate([grad_a.ravel(), grad_b.ravel(), [-(log_p * target).sum()]])
        dist.all_reduce(message, group=column)
        message /= n
        losses.append(message[-1])
        theta = theta - rate * (message[:-1] + 0.1 * theta)
    return np.array(losses), theta[:cut].reshape(w_in.shape), theta[cut:].reshape(w_out.shape)


# %% 19.two-by-two | wrong | mean of each batch, then the mean of both means: other losses and gradients where the batches differ in length | names=mean-of-means
def train(x, labels, w_in, w_out, rate, steps, dist):
    rank = dist.get_rank()
    tensor_groups = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    data_groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]
    tg, dg = tensor_groups[rank // 2], data_groups[rank % 2]
    w_in, w_out = w_in.copy(), w_out.copy()
    B = len(labels)
    losses = np.zeros(steps)
    for step in range(steps):
        h = np.maximum(x @ w_in, 0)
        logits = h @ w_out
        dist.all_reduce(logits, group=tg)
        logits = logits - logits.max(axis=1, keepdims=True)
        logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        d = np.exp(logp)
        d[np.arange(B), labels] -= 1
        d /= B
        g_out = h.T @ d
        g_in = x.T @ ((d @ w_out.T) * (h > 0))
        packed = np.concatenate([g_in.ravel(), g_out.ravel(), [-logp[np.arange(B), labels].mean()]])
        dist.all_reduce(packed, group=dg)
        packed /= 2
        losses[step] = packed[-1]
        g_in, g_out = packed[: w_in.size].reshape(w_in.shape), packed[w_in.size : -1].reshape(w_out.shape)
        w_in -= rate * (g_in + 0.1 * w_in)
        w_out -= rate * (g_out + 0.1 * w_out)
    return losses, w_in, w_out


# %% 19.two-by-two | wrong | the decay shrinks the weight after the gradient step, (w - rate g)(1 - rate decay): differs by rate² · decay · g, about a thousandth of the decay's effect at a small rate | names=decay-after-the-step
def train(x, labels, w_in, w_out, rate, steps, dist):
    rank = dist.get_rank()
    g01, g23 = dist.new_group([0, 1]), dist.new_group([2, 3])
    g02, g13 = dist.new_group([0, 2]), dist.new_group([1, 3])
    tg = g01 if rank < 2 else g23
    dg = g02 if rank % 2 == 0 else g13
    N = np.array([len(labels)], dtype=np.float64)
    dist.all_reduce(N, group=dg)
    A, W = w_in.copy(), w_out.copy()
    idx = np.arange(len(labels))
    losses = []
    for _ in range(steps):
        h = np.maximum(x @ A, 0)
        z = h @ W
        dist.all_reduce(z, group=tg)
        z -= z.max(1, keepdims=True)
        lp = z - np.log(np.exp(z).sum(1, keepdims=True))
        d = np.exp(lp)
        d[idx, labels] -= 1
        d /= N[0]
        flat = np.concatenate([(x.T @ (d @ W.T * (h > 0))).ravel(), (h.T @ d).ravel(), [-lp[idx, labels].sum() / N[0]]])
        dist.all_reduce(flat, group=dg)
        losses.append(flat[-1])
        A = (A - rate * flat[: A.size].reshape(A.shape)) * (1 - rate * 0.1)
        W = (W - rate * flat[A.size : -1].reshape(W.shape)) * (1 - rate * 0.1)
    return np.array(losses), A, W
