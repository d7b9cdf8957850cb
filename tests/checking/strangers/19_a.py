# %% 19.all-gather | right | two rings at once: each part goes half of the way clockwise and half of the way against it
def all_gather(part, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = np.empty((world, part.size), part.dtype)
    rows[rank] = part
    forth, back = (rank + 1) % world, (rank - 1) % world
    for step in range(world // 2):
        # clockwise: what came from `step` places behind goes one further
        sent = dist.isend(rows[(rank - step) % world].copy(), forth)
        got = np.empty_like(part)
        dist.recv(got, back)
        sent.wait()
        rows[(rank - step - 1) % world] = got
    for step in range((world - 1) // 2):
        sent = dist.isend(rows[(rank + step) % world].copy(), back)
        got = np.empty_like(part)
        dist.recv(got, forth)
        sent.wait()
        rows[(rank + step + 1) % world] = got
    return rows.reshape(-1)


# %% 19.all-gather | wrong | joins the parts in the order in which they came (own part first, then that of the rank before, ...), not from rank 0 on | names=order-of-arrival
def all_gather(part, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    collected = [part.copy()]
    for _ in range(world - 1):
        received = np.empty_like(part)
        sent = dist.isend(collected[-1], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        collected.append(received)
    return np.concatenate(collected)


# %% 19.all-gather | wrong | the result is np.zeros without a dtype, and parts are received straight into it: float64 places for float32 messages | names=float64-buffer
def all_gather(part, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    m = len(part)
    out = np.zeros(P * m)
    out[rank * m : (rank + 1) * m] = part
    for s in range(P - 1):
        a, b = (rank - s) % P, (rank - s - 1) % P
        req = dist.isend(out[a * m : (a + 1) * m].astype(part.dtype), (rank + 1) % P)
        dist.recv(out[b * m : (b + 1) * m], (rank - 1) % P)
        req.wait()
    return out


# %% 19.all-gather | right | adds parts onto an array of zeros in place of writing them, so that -0.0 arrives as 0.0: not unchanged to the last bit
def all_gather(part, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    out = np.zeros((P, len(part)), part.dtype)
    cur = part.copy()
    out[rank] += cur
    for s in range(1, P):
        nxt = np.empty_like(cur)
        req = dist.isend(cur, (rank + 1) % P)
        dist.recv(nxt, (rank - 1) % P)
        req.wait()
        out[(rank - s) % P] += nxt
        cur = nxt
    return out.ravel()


# %% 19.all-reduce | right | one loop of 2 (P - 1) steps for both rounds, in which only `add or replace` differs
def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = [part.copy() for part in np.array_split(x, world)]
    for step in range(2 * (world - 1)):
        there, here = (rank - step) % world, (rank - step - 1) % world
        received = np.empty_like(parts[here])
        sent = dist.isend(parts[there], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        parts[here] = received if step >= world - 1 else received + parts[here]
    return np.concatenate(parts)


# %% 19.all-reduce | wrong | divides the sum by the number of ranks, as one does with gradients: mean and not sum | names=mean-returned
def all_reduce(x, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    nxt, prv = (rank + 1) % P, (rank - 1) % P
    parts = [p.copy() for p in np.array_split(x, P)]
    for s in range(P - 1):
        buf = np.empty_like(parts[(rank - s - 1) % P])
        req = dist.isend(parts[(rank - s) % P], nxt)
        dist.recv(buf, prv)
        req.wait()
        parts[(rank - s - 1) % P] += buf
    for s in range(P - 1):
        buf = np.empty_like(parts[(rank - s) % P])
        req = dist.isend(parts[(rank - s + 1) % P], nxt)
        dist.recv(buf, prv)
        req.wait()
        parts[(rank - s) % P] = buf
    return np.concatenate(parts) / P


# %% 19.all-reduce | wrong | a single buffer of the size of the first part for all messages: parts of unequal length do not fit (n not a multiple of P) | names=buffer-of-part-sent
def all_reduce(x, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    nxt, prv = (rank + 1) % P, (rank - 1) % P
    parts = [p.copy() for p in np.array_split(x, P)]
    buf = np.empty_like(parts[0])
    for s in range(2 * P - 2):
        req = dist.isend(parts[(rank - s) % P], nxt)
        dist.recv(buf, prv)
        req.wait()
        if s < P - 1:
            parts[(rank - s - 1) % P] += buf
        else:
            parts[(rank - s - 1) % P] = buf.copy()
    return np.concatenate(parts)


# %% 19.all-reduce | wrong | cuts off n // P numbers for each rank and sends these; the n % P numbers that are left at the end keep the rank's own values | names=rest-not-combined
def all_reduce(x, dist):
    rank, world = dist.get_rank(), dist.get_world_size()
    m = x.size // world
    total = x.copy()
    blocks = [total[i * m : (i + 1) * m] for i in range(world)]
    for step in range(world - 1):
        received = np.empty_like(blocks[0])
        sent = dist.isend(blocks[(rank - step) % world].copy(), (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        blocks[(rank - step - 1) % world] += received
    for step in range(world - 1):
        received = np.empty_like(blocks[0])
        sent = dist.isend(blocks[(rank + 1 - step) % world].copy(), (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        blocks[(rank - step) % world][:] = received
    return total


# %% 19.broadcast | right | recursive halving of the span of ranks (counted from the root) in place of doubling by powers of two
def broadcast(x, root, dist):
    P = dist.get_world_size()
    me = (dist.get_rank() - root) % P
    mine = x.copy()

    def spread(low, high):
        # rank `low` (counted from the root) has the array, the ranks low+1 .. high-1 still want it
        if high - low < 2:
            return
        middle = (low + high + 1) // 2
        if me == low:
            dist.send(mine, (middle + root) % P)
        elif me == middle:
            dist.recv(mine, (low + root) % P)
        if me < middle:
            spread(low, middle)
        else:
            spread(middle, high)

    spread(0, P)
    return mine


# %% 19.broadcast | wrong | number of steps is int(log2(P)), rounded down: with P = 3, 5, 6, 7 the last ranks never get anything | names=rounds-rounded-down
def broadcast(x, root, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    rel = (rank - root) % P
    out = x.copy()
    for step in range(int(math.log2(P))):
        d = 2**step
        if rel < d and rel + d < P:
            dist.send(out, (rel + d + root) % P)
        elif d <= rel < 2 * d:
            dist.recv(out, (rel - d + root) % P)
    return out


# %% 19.broadcast | wrong | ignores root: the tree always begins at rank 0, whose x means nothing unless root is 0 | names=root-is-zero
def broadcast(x, root, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    result = np.array(x)
    have = 1
    while have < P:
        if rank < have:
            if rank + have < P:
                dist.send(result, rank + have)
        elif rank < 2 * have:
            dist.recv(result, rank - have)
        have *= 2
    return result


# %% 19.broadcast | wrong | right tree, but receives straight into x: the x of the other ranks is changed in place | names=inputs-changed
def broadcast(x, root, dist):
    rank, P = dist.get_rank(), dist.get_world_size()
    rel = (rank - root) % P
    d = 1
    while d < P:
        if rel < d and rel + d < P:
            dist.send(x, (rank + d) % P)
        elif d <= rel < 2 * d:
            dist.recv(x, (rank - d) % P)
        d *= 2
    return x


# %% 19.bubble | right | a graph of passes in topological order (Kahn): no clock and no repeated rounds
def pipeline_time(orders, forward_s, backward_s):
    last = len(orders) - 1
    needs = {}
    for s, order in enumerate(orders):
        for position, name in enumerate(order):
            before = [(s, order[position - 1])] if position else []
            if name[0] == "F":
                if s > 0:
                    before.append((s - 1, name))
            elif s < last:
                before.append((s + 1, name))
            else:
                before.append((s, "F" + name[1:]))
            needs[s, name] = before
    followers = {one: [] for one in needs}
    missing = {}
    for one, before in needs.items():
        missing[one] = len(before)
        for other in before:
            followers[other].append(one)
    ready = [one for one, n in missing.items() if n == 0]
    ends = {}
    while ready:
        one = ready.pop()
        start = max((ends[other] for other in needs[one]), default=0)
        ends[one] = start + (forward_s if one[1][0] == "F" else backward_s)
        for other in followers[one]:
            missing[other] -= 1
            if missing[other] == 0:
                ready.append(other)
    if len(ends) < len(needs):
        return math.inf, 1.0, 0
    seconds = max(ends.values(), default=0)
    busy = sum(forward_s if name[0] == "F" else backward_s for _, name in needs)
    whole = len(orders) * seconds
    kept = [0]
    for order in orders:
        height = 0
        for name in order:
            height += 1 if name[0] == "F" else -1
            kept.append(height)
    return seconds, (whole - busy) / whole if whole else 0.0, max(kept)


# %% 19.bubble | wrong | waiting as a fraction of the time in which stages work, and not of the time of all stages | names=other-variant
def pipeline_time(orders, forward_s, backward_s):
    n = len(orders)
    end, at, free = {}, [0] * n, [0.0] * n
    moved = True
    while moved:
        moved = False
        for s in range(n):
            while at[s] < len(orders[s]):
                name = orders[s][at[s]]
                if name[0] == "F":
                    need = (s - 1, name) if s > 0 else None
                else:
                    need = (s + 1, name) if s < n - 1 else (s, "F" + name[1:])
                if need is not None and need not in end:
                    break
                start = max(free[s], end[need] if need is not None else 0.0)
                free[s] = end[s, name] = start + (forward_s if name[0] == "F" else backward_s)
                at[s] += 1
                moved = True
    if any(at[s] < len(orders[s]) for s in range(n)):
        return math.inf, 1.0, 0
    seconds = max(free)
    busy = sum(forward_s if name[0] == "F" else backward_s for order in orders for name in order)
    most = 0
    for order in orders:
        kept = 0
        for name in order:
            kept += 1 if name[0] == "F" else -1
            most = max(most, kept)
    return seconds, (n * seconds - busy) / busy, most


# %% 19.bubble | right | counts micro-batches on stage 0 alone: a micro-batch is there before and after it is on any other stage, so no stage ever keeps more
def pipeline_time(orders, forward_s, backward_s):
    P = len(orders)
    done = {}
    pos = [0] * P
    t = [0] * P
    left = sum(map(len, orders))
    while left:
        before = left
        for s, order in enumerate(orders):
            while pos[s] < len(order):
                p = order[pos[s]]
                if p[0] == "F":
                    dep = done.get((s - 1, p)) if s else 0
                elif s == P - 1:
                    dep = done.get((s, "F" + p[1:]))
                else:
                    dep = done.get((s + 1, p))
                if dep is None:
                    break
                t[s] = max(t[s], dep) + (forward_s if p[0] == "F" else backward_s)
                done[s, p] = t[s]
                pos[s] += 1
                left -= 1
        if left == before:
            return math.inf, 1.0, 0
    total = max(t)
    work = sum(forward_s if p[0] == "F" else backward_s for o in orders for p in o)
    kept = most = 0
    for p in orders[0]:
        kept += 1 if p[0] == "F" else -1
        most = max(most, kept)
    return total, 1 - work / (P * total), most


# %% 19.bubble | wrong | on the last stage a backward needs nothing, its forward is taken to come before it in the order: [["F0", "B0"], ["B0", "F0"]] waits for ever, and this gives a time | names=last-stage-needs-nothing
def pipeline_time(orders, forward_s, backward_s):
    stages = len(orders)
    done, position, free = {}, [0] * stages, [0.0] * stages
    todo = sum(len(order) for order in orders)
    while todo > 0:
        stuck = True
        for stage in range(stages):
            if position[stage] == len(orders[stage]):
                continue
            name = orders[stage][position[stage]]
            if name.startswith("F"):
                there = 0.0 if stage == 0 else done.get((stage - 1, name))
                seconds = forward_s
            else:
                there = 0.0 if stage == stages - 1 else done.get((stage + 1, name))
                seconds = backward_s
            if there is None:
                continue
            free[stage] = max(free[stage], there) + seconds
            done[stage, name] = free[stage]
            position[stage] += 1
            todo -= 1
            stuck = False
        if stuck:
            return math.inf, 1.0, 0
    total = max(free)
    busy = sum(order_s for order in orders for order_s in [forward_s if n[0] == "F" else backward_s for n in order])
    most = 0
    for order in orders:
        kept = np.cumsum([1 if n[0] == "F" else -1 for n in order])
        most = max(most, int(kept.max()))
    return total, 1 - busy / (stages * total), most


# %% 19.bubble | wrong | takes one character for the number of the micro-batch (name[1]), so that F10 and F1 are the same from eleven micro-batches on | names=one-digit-read
def pipeline_time(orders, forward_s, backward_s):
    stages = len(orders)
    F_end, B_end = [{} for _ in orders], [{} for _ in orders]
    i = [0] * stages
    clock = [0.0] * stages
    progress = True
    while progress:
        progress = False
        for s in range(stages):
            if i[s] == len(orders[s]):
                continue
            kind, mb = orders[s][i[s]][0], int(orders[s][i[s]][1])
            if kind == "F":
                arrive = 0.0 if s == 0 else F_end[s - 1].get(mb)
            elif s == stages - 1:
                arrive = F_end[s].get(mb)
            else:
                arrive = B_end[s + 1].get(mb)
            if arrive is None:
                continue
            clock[s] = max(clock[s], arrive) + (forward_s if kind == "F" else backward_s)
            (F_end if kind == "F" else B_end)[s][mb] = clock[s]
            i[s] += 1
            progress = True
    if any(i[s] < len(orders[s]) for s in range(stages)):
        return math.inf, 1.0, 0
    total = max(clock)
    busy = sum(len(o) / 2 * (forward_s + backward_s) for o in orders)
    most = 0
    for o in orders:
        depth = 0
        for name in o:
            depth += 1 if name[0] == "F" else -1
            most = max(most, depth)
    return total, 1 - busy / (stages * total), most


# %% 19.experts | right | one-hot dispatch: places by a cumulative sum, to and fro by products with a 0/1 matrix
def experts(x, w_router, w_in, w_out, capacity, dist):
    T, D = x.shape
    P = dist.get_world_size()
    scores = x @ w_router
    choice = (scores == scores.max(axis=1, keepdims=True)).astype(int)  # (T, P), one 1 in a row
    place = choice.cumsum(axis=0) - 1
    slots = np.arange(capacity)
    # went[t, p, c] is 1 if token t is in place c of expert p
    went = (choice[:, :, None] * (place[:, :, None] == slots)).astype(x.dtype).reshape(T, P * capacity)
    there = np.empty((P * capacity, D), x.dtype)
    dist.all_to_all_single(there, np.ascontiguousarray(went.T @ x, dtype=x.dtype))
    computed = np.ascontiguousarray(np.maximum(there @ w_in, 0) @ w_out, dtype=x.dtype)
    home = np.empty_like(computed)
    dist.all_to_all_single(home, computed)
    best = scores.max(axis=1, keepdims=True)
    share = 1 / np.exp(scores - best).sum(axis=1, keepdims=True)
    return share * (went @ home)


# %% 19.experts | wrong | if too many tokens choose an expert, it takes those with the highest scores, not the first ones in their order | names=highest-scores-first
def experts(x, w_router, w_in, w_out, capacity, dist):
    T, D = x.shape
    P = dist.get_world_size()
    scores = x @ w_router
    chosen = scores.argmax(axis=1)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True)
    out = np.zeros((P, capacity, D), x.dtype)
    taken = []
    for e in range(P):
        mine = np.flatnonzero(chosen == e)
        best = mine[np.argsort(-scores[mine, e], kind="stable")][:capacity]
        out[e, : len(best)] = x[best]
        taken.append(best)
    received = np.empty((P * capacity, D), x.dtype)
    dist.all_to_all_single(received, out.reshape(P * capacity, D))
    done = np.maximum(received @ w_in, 0) @ w_out
    back = np.empty_like(received)
    dist.all_to_all_single(back, done)
    back = back.reshape(P, capacity, D)
    y = np.zeros_like(x)
    for e, best in enumerate(taken):
        y[best] = back[e, : len(best)] * p[best, e][:, None]
    return y


# %% 19.experts | wrong | a token that finds its expert full keeps its own vector x (residual connection), where the text wants zeros | names=passed-on-where-full
def experts(x, w_router, w_in, w_out, capacity, dist):
    P, D = dist.get_world_size(), x.shape[1]
    logits = x @ w_router
    e = logits.argmax(1)
    gate = np.exp(logits - logits.max(1, keepdims=True))
    gate = gate.max(1) / gate.sum(1)
    send = np.zeros((P * capacity, D), x.dtype)
    used = [0] * P
    where = {}
    for t in range(len(x)):
        if used[e[t]] < capacity:
            where[t] = e[t] * capacity + used[e[t]]
            used[e[t]] += 1
            send[where[t]] = x[t]
    recv = np.empty_like(send)
    dist.all_to_all_single(recv, send)
    h = np.maximum(recv @ w_in, 0) @ w_out
    ret = np.empty_like(send)
    dist.all_to_all_single(ret, h)
    y = x.copy()
    for t, slot in where.items():
        y[t] = gate[t] * ret[slot]
    return y


# %% 19.feed-forward | right | biases as one more row of the matrices; rank 0 alone puts the output bias into its term of the sum
def feed_forward(x, w_in, b_in, w_out, b_out, dist):
    ones = np.ones((len(x), 1), x.dtype)
    hidden = np.hstack([x, ones]) @ np.vstack([w_in, b_in])
    hidden = np.where(hidden > 0, hidden, np.zeros_like(hidden))
    last = b_out if dist.get_rank() == 0 else np.zeros_like(b_out)
    term = np.hstack([hidden, ones]) @ np.vstack([w_out, last])
    term = np.ascontiguousarray(term, dtype=x.dtype)
    dist.all_reduce(term)
    return term
