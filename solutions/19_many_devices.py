# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 19 · Many devices
#
# You will write programs for many devices: the collectives that all of them are made of, then training and attention spread over ranks. Each is judged on its values, and on the messages and bytes that it sends.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Many devices* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 19-explain | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Ranks.** A function with the argument `dist` is what one rank does; every rank runs the same one. `dist.get_rank()` is its number and `dist.get_world_size()` how many there are, `P` in the texts. `dist.send(array, dst)` waits until rank `dst` receives, and `dist.recv(array, src)` fills an array with what rank `src` sends and returns the number of the sender; `isend` and `irecv` return at once with something that has `wait()`. What else `dist` has, a task says. Arrays belong to one rank: what another rank knows has to be sent. What a rank is called with stays as it is, so work on copies: the parts of `np.split` are views of its array. You may call your own functions from earlier tasks, but here the check puts no correct ones in their place: if such a function is still blank or raises an exception, the verdict names it, and you write it first.
#
# **Judged on traffic.** A program whose values are right earns most of the points. The rest is for the bytes that a link carries or a rank sends, the number of messages, and the longest chain of messages that wait for each other: each task says what it may use, and any way within these limits is right. A program is run several times and has to do the same each time, so it may use neither random numbers nor the clock. **Digits count, too:** inputs are float32 or float64, and a message carries its numbers in the dtype of the inputs. Some questions are in float64 and need all of its digits, so that numbers in a smaller dtype, rounded or packed into fewer bits, give other results. What a function returns may have any dtype of floats. A message is its bytes alone: shape and dtype are those of the array that `recv` fills.

# %% 19-setup
import math

import numpy as np

from softlookup import check, hint
from softlookup.ranks import RankError, WorldError, run_here

# %% [markdown]
# ## Messages

# %% [markdown]
# [[task 19.broadcast]]
#
# Rank `root` has an array `x` of `n` numbers. Return it on every rank. The other ranks get an `x` of the same shape whose numbers mean nothing. Messages carry numbers in the dtype of `x`, and they arrive unchanged. Here `dist` has only `send` and `recv`, so that a rank sends one message at a time. Send along a **tree**, in which the number of ranks that have `x` doubles in each step. `P - 1` messages are allowed, and a longest chain of log2(P) messages, rounded up.


# %% 19-broadcast
def broadcast(x, root, dist):
    """x (n,), which counts on rank root alone, a rank -> x of root (n,), on each rank."""
    ### BEGIN SOLUTION
    rank, world = dist.get_rank(), dist.get_world_size()
    place, array = (rank - root) % world, x.copy()
    for step in range((world - 1).bit_length()):
        reach = 2**step
        if place < reach and place + reach < world:
            dist.send(array, (rank + reach) % world)
        elif reach <= place < 2 * reach:
            dist.recv(array, (rank - reach) % world)
    return array
    ### END SOLUTION


# %% [markdown]
# ## Rings

# %% [markdown]
# [[task 19.reduce-scatter]]
#
# Every rank has an array `x` of `P * m` numbers: `P` parts of `m`, one after the other. Add the arrays of all ranks, and return one part of the sum on each rank: rank `r` gets part `[[19.reduce-scatter:which]]`, counted from 0. A link may carry the bytes of `P - 1` parts, in the dtype of `x`, and a rank may send and receive as much; sums have all digits of that dtype. In a **ring**, each rank sends to the next one and receives from the one before: a sum begins at one rank, and every rank that it passes adds its part.


# %% 19-reduce-scatter
def reduce_scatter(x, dist):
    """x (P * m,) of each rank -> its part of the sum over all ranks (m,)."""
    ### BEGIN SOLUTION
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = np.split(x, world)  # variant 19.reduce-scatter:parts
    for step in range(world - 1):
        to, into = (rank - step - 1) % world, (rank - step - 2) % world
        received = np.empty_like(parts[into])
        sent = dist.isend(parts[to], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        parts[into] = parts[into] + received
    return parts[rank]
    ### END SOLUTION


# %% [markdown]
# [[task 19.all-gather]]
#
# Every rank has an array `part` of `m` numbers. Return the arrays of all ranks one after the other, `P * m` numbers, on every rank: **[[19.all-gather:which]]**. A link may carry the bytes of `P - 1` parts, in the dtype of `part`, and a rank may send and receive as much; numbers arrive unchanged. In a ring, each rank passes on the part that it received last.


# %% 19-all-gather
def all_gather(part, dist):
    """part (m,) of each rank -> the parts of all ranks (P * m,), on each."""
    ### BEGIN SOLUTION
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = np.zeros((world, part.size), part.dtype)
    rows[rank] = part
    for step in range(world - 1):
        to, into = (rank - step) % world, (rank - step - 1) % world
        sent = dist.isend(rows[to], (rank + 1) % world)
        dist.recv(rows[into], (rank - 1) % world)
        sent.wait()
    whole = rows  # variant 19.all-gather:whole
    return np.concatenate(whole)
    ### END SOLUTION


# %% [markdown]
# [[task 19.all-reduce]]
#
# Every rank has an array `x` of `n` numbers, where `n` need not be a multiple of the number of ranks and may be smaller. Return the **[[19.all-reduce:which]]** of all ranks' arrays, number by number, on every rank. Cut `x` into `P` parts with `np.array_split`, and go twice round the ring: a reduce-scatter, then an all-gather. Where `P` divides `n`, a link may carry 2 (P - 1) / P of the bytes of `x`, and a rank may send and receive as much. Messages have the dtype of `x`, and results all of its digits.


# %% 19-all-reduce
def all_reduce(x, dist):
    """x (n,) of each rank -> all ranks' arrays combined (n,), on each."""
    ### BEGIN SOLUTION
    rank, world = dist.get_rank(), dist.get_world_size()
    parts = np.array_split(x, world)
    for step in range(2 * (world - 1)):
        to, into = (rank - step) % world, (rank - step - 1) % world
        received = np.empty_like(parts[into])
        sent = dist.isend(parts[to], (rank + 1) % world)
        dist.recv(received, (rank - 1) % world)
        sent.wait()
        both = parts[into] + received  # variant 19.all-reduce:both
        parts[into] = both if step < world - 1 else received
    return np.concatenate(parts)
    ### END SOLUTION


# %% [markdown]
# Your program on four ranks, with what it sent:

# %%
inputs = [(np.arange(8, dtype=np.float32) + 10 * rank,) for rank in range(4)]
try:
    outcome = run_here(all_reduce, inputs)
    print("rank 0 returns", *outcome.results[0])
    for (src, dst), n_bytes in sorted(outcome.traffic.link_bytes.items()):
        print(f"rank {src} to rank {dst}: {n_bytes} bytes in {outcome.traffic.link_messages[src, dst]} messages")
    print("longest chain of messages:", outcome.traffic.steps, "steps")
except NotImplementedError:
    print("Write the program first.")
except (RankError, WorldError) as error:
    print("Not yet:", error)

# %% [markdown]
# The words of `dist` are those of torch.distributed. With `start = True` this cell runs the same function on two real processes, which send each other tensors. It needs torch, and a system that can start processes.

# %%
from softlookup.ranks import ProcessError, run_on_torch

start = False
try:
    for rank, results in enumerate(run_on_torch(all_reduce, inputs[:2]) if start else ()):
        print(f"rank {rank} returns", *results)
except (ImportError, OSError) as error:
    print("Not on this system:", error)
except ProcessError as error:
    print("Not yet:", error)

# %% [markdown]
# ## Data

# %% [markdown]
# [[task 19.gradient]]
#
# **Data parallel.** Every rank has the same weights `w` (D,) and a batch of its own: examples `x` (B, D) and targets `y` (B,). `B` may differ between ranks, and may be 0 on some of them. The loss is [[19.gradient:loss]] with the mean over the examples of **all** ranks. Return its gradient for `w`, on every rank. Here `dist` has `all_reduce(array)`, which replaces an array by the sum over all ranks, in place. Two all-reduces of up to `D + 1` numbers in float64 are allowed; one is enough. The result has the digits of the inputs, which are float32 or float64.


# %% 19-gradient
def gradient(w, x, y, dist):
    """w (D,) on all ranks, x (B, D) and y (B,) of each -> the gradient of the mean loss over all examples (D,)."""
    ### BEGIN SOLUTION
    factor = 2.0  # variant 19.gradient:factor
    total = factor * x.T @ (x @ w - y)
    both = np.append(total, np.float32(len(y)))
    dist.all_reduce(both)
    return both[:-1] / both[-1]
    ### END SOLUTION


# %% [markdown]
# ## Shards

# %% [markdown]
# [[task 19.memory]]
#
# A plain function, no program: what ZeRO saves. Training keeps for each parameter a weight and a gradient in float16, 2 bytes each, and [[19.memory:optimiser]] for the optimiser. A rank keeps all of it in stage 0; its share of the optimiser's bytes from stage 1 on, of the gradients from stage 2 on, and of the weights in stage 3. A share is `parameters / world`, rounded up.
#
# Return the bytes that a rank keeps, and the bytes that it sends in one step. All collectives are rings on the 2-byte numbers, in which a rank sends `world - 1` shares for a reduce-scatter and as many for an all-gather. Stage 0 all-reduces the gradients. Stages 1 and 2 reduce-scatter the gradients and gather the new weights. Stage 3 gathers the weights for the forward pass, again for the backward pass, and reduce-scatters the gradients.


# %% 19-memory
def zero_memory(parameters, world, stage):
    """Three whole numbers -> the bytes that a rank keeps, and the bytes that it sends in a step."""
    ### BEGIN SOLUTION
    optimiser_bytes = 12  # variant 19.memory:optimiser_bytes
    share = -(-parameters // world)
    weights = 2 * (share if stage == 3 else parameters)
    gradients = 2 * (share if stage >= 2 else parameters)
    optimiser = optimiser_bytes * (share if stage >= 1 else parameters)
    passes = 3 if stage == 3 else 2
    return weights + gradients + optimiser, passes * (world - 1) * 2 * share
    ### END SOLUTION


# %% [markdown]
# [[task 19.fsdp]]
#
# One step of training with everything sharded. The model has `P * m` weights `w`, of which rank `r` holds part `r`: `shard` (m,). `velocity` (m,) is its part of the optimiser's state. Each rank has a batch `x` (B, P * m) and `y` (B,), with the same `B`. The loss is `mean((x @ w - y) ** 2)` over the examples of all ranks. Gather the weights, compute the gradient of the rank's own batch, and reduce-scatter it. Then `velocity` becomes `[[19.fsdp:beta]] * velocity` plus the gradient's part, and `shard` becomes `shard - rate * velocity`, with the new velocity. Return both.
#
# Here `dist` has `all_gather_into_tensor(output, input)`, `reduce_scatter_tensor(output, input)` and `all_reduce(array)`; the first two are `all_gather_single` and `reduce_scatter_single` in torch 2.13, and may be called so here. A rank may send and receive the bytes of `2 (P - 1)` shards: half for the weights, half for the gradient. Both travel in the dtype of `shard`, float32 or float64, and results have all of its digits.


# %% 19-fsdp
def sharded_step(shard, velocity, x, y, rate, dist):
    """shard, velocity (m,), x (B, P * m) and y (B,) of each rank, a number -> its new shard and velocity (m,)."""
    ### BEGIN SOLUTION
    beta = 0.9  # variant 19.fsdp:beta
    world = dist.get_world_size()
    w = np.empty(world * shard.size, shard.dtype)
    dist.all_gather_into_tensor(w, shard)
    slope = 2 * x.T @ (x @ w - y) / len(y)
    part = np.empty_like(shard)
    dist.reduce_scatter_tensor(part, slope)
    velocity = beta * velocity + part / world
    return shard - rate * velocity, velocity
    ### END SOLUTION


# %% [markdown]
# ## Layers cut in pieces

# %% [markdown]
# [[task 19.feed-forward]]
#
# Compute a feed-forward layer whose hidden numbers are spread over the ranks. All ranks have the same `x` (T, D) and `b_out` (D,). Each has F of the hidden numbers: the columns `w_in` (D, F) of the first matrix with their part `b_in` (F,) of its bias, and the matching rows `w_out` (F, D) of the second one. The activation is **[[19.feed-forward:activation]]**. Return `y` (T, D) of the whole layer, on every rank.
#
# `dist` has `all_reduce(array)`, which replaces the array of every rank by their sum, and `all_gather_into_tensor(output, input)`. One all-reduce of T × D numbers is allowed, in the dtype of `x`, and `y` has all digits of that dtype.


# %% 19-feed-forward
def feed_forward(x, w_in, b_in, w_out, b_out, dist):
    """x (T, D), w_in (D, F), b_in (F,), w_out (F, D), b_out (D,) of one rank -> y (T, D) of the whole layer."""
    ### BEGIN SOLUTION
    z = x @ w_in + b_in
    a = np.maximum(z, 0.0)  # variant 19.feed-forward:a
    y = a @ w_out
    dist.all_reduce(y)
    return y + b_out
    ### END SOLUTION


# %% [markdown]
# [[task 19.heads]]
#
# Spread self-attention over the ranks by its heads. All ranks have the same `x` (T, D). Each has `heads` heads of width H: the columns `w_q`, `w_k` and `w_v` (D, heads × H) of the projections, the first H of which belong to its first head, and the matching rows `w_o` (heads × H, D) of the output matrix. Nothing is masked, and scores may be in the hundreds. Return `y` (T, D) of all heads, on every rank.
#
# One all-reduce of T × D numbers is allowed, in the dtype of `x`, and `y` has all digits of that dtype. Where `x` is float32, a root from `np.sqrt` is float64 and makes all that follows twice as large: `math.sqrt` does not.


# %% 19-heads
def attention_by_heads(x, w_q, w_k, w_v, w_o, heads, dist):
    """x (T, D), w_q, w_k, w_v (D, heads * H), w_o (heads * H, D) of one rank -> y (T, D) of all heads."""
    ### BEGIN SOLUTION
    q, k, v = ((x @ w).reshape(len(x), heads, -1).swapaxes(0, 1) for w in (w_q, w_k, w_v))
    scores = q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    z = e / e.sum(axis=-1, keepdims=True) @ v
    y = z.swapaxes(0, 1).reshape(len(x), -1) @ w_o
    dist.all_reduce(y)
    return y
    ### END SOLUTION


# %% [markdown]
# ## Layers one after the other

# %% [markdown]
# [[task 19.schedule]]
#
# A plain function, no rank: the order of work of one stage of a pipeline by the schedule **1F1B** (one forward, one backward). A stage warms up with one forward for each later stage, then does a forward and a backward by turns, and ends with the backwards that are left. With few micro-batches there are fewer forwards to warm up with.
#
# Return the order as a list: `"F2"` is the forward pass of micro-batch 2, `"B2"` its backward pass. Stages are counted from 0, micro-batches from **[[19.schedule:first]]**; both kinds of pass go in the order of the micro-batches.


# %% 19-schedule
def one_forward_one_backward(stage, stages, micro_batches):
    """Three whole numbers -> the order of the stage's passes, a list of text."""
    ### BEGIN SOLUTION
    first = 0  # variant 19.schedule:first
    forwards = [f"F{first + i}" for i in range(micro_batches)]
    backwards = [f"B{first + i}" for i in range(micro_batches)]
    warm_up = min(stages - stage - 1, micro_batches)
    order = forwards[:warm_up]
    for i in range(micro_batches - warm_up):
        order += [forwards[warm_up + i], backwards[i]]
    return order + backwards[micro_batches - warm_up :]
    ### END SOLUTION


# %% [markdown]
# [[task 19.bubble]]
#
# A plain function again: how long do given orders take? `orders[s]` is the order of stage `s`, as in the task before; it may be that of any schedule, with both passes of every micro-batch on each stage. A forward takes `forward_s` seconds and a backward `backward_s`, on every stage; messages take no time. A stage begins with the next pass of its order as soon as it is free and what the pass needs is there: for a forward, the same forward on the stage before; for a backward, the same backward on the next stage, and on the last stage its own forward of that micro-batch.
#
# Return three numbers: the seconds until all is done; the time in which stages wait, added up over the stages, as a fraction of **[[19.bubble:fraction]]**; and the most micro-batches that any stage keeps at a time, from the start of the forward to the end of the backward. If stages wait for each other for ever, return `math.inf`, 1.0 and 0.


# %% 19-bubble
def pipeline_time(orders, forward_s, backward_s):
    """A list of lists of text, two numbers -> seconds, fraction in which stages wait, most micro-batches kept."""
    ### BEGIN SOLUTION
    stages = len(orders)
    to_do = [list(order) for order in orders]
    clocks = [0.0] * stages
    ends = {}
    work = 0.0
    for _ in range(sum(len(order) for order in orders)):
        for stage in range(stages):
            if not to_do[stage]:
                continue
            step = to_do[stage][0]
            needs = (stage - 1, step) if step[0] == "F" else (stage + 1, step)
            if step[0] == "B" and stage == stages - 1:
                needs = (stage, "F" + step[1:])
            if step[0] == "F" and stage == 0:
                ready = 0.0
            elif needs in ends:
                ready = ends[needs]
            else:
                continue
            duration = forward_s if step[0] == "F" else backward_s
            clocks[stage] = max(clocks[stage], ready) + duration
            ends[stage, step] = clocks[stage]
            work += duration
            to_do[stage].pop(0)
    if any(to_do):
        return math.inf, 1.0, 0
    seconds = max(clocks)
    idle = 1 - work / (stages * seconds)  # variant 19.bubble:idle
    most = 0
    for order in orders:
        alive = 0
        for step in order:
            alive += 1 if step[0] == "F" else -1
            most = max(most, alive)
    return seconds, idle, most
    ### END SOLUTION


# %% [markdown]
# ## Experts on different ranks

# %% [markdown]
# [[task 19.experts]]
#
# Spread a mixture of experts: rank `r` has expert `r`, with `w_in` (D, F) and `w_out` (F, D), and computes `relu(t @ w_in) @ w_out` for each token `t` that comes to it. Each rank has tokens of its own, `x` (T, D), where T may differ between ranks; the router `w_router` (D, P) is the same on all. A token goes to the expert with its highest score; scores may be in the thousands, and no two of a token are equal. Of each rank's tokens, an expert takes the first `capacity` that choose it, in their order. Return `y` (T, D) for the rank's own tokens: the expert's output times **[[19.experts:gate]]**, and zeros for a token that found its expert full.
#
# `dist` has `all_to_all_single(output, input)`: both arrays are cut along their first axis into P equal parts, and part `j` of the input of rank `i` becomes part `i` of the output of rank `j`. It has `all_gather_into_tensor`, too. Allowed are two all-to-alls with `capacity` places of D numbers for each expert, in the dtype of `x`: places that stay empty hold zeros. `y` has all digits of that dtype.


# %% 19-experts
def experts(x, w_router, w_in, w_out, capacity, dist):
    """x (T, D), w_router (D, P), w_in (D, F), w_out (F, D), a number, of one rank -> y (T, D) for its tokens."""
    ### BEGIN SOLUTION
    world, width = dist.get_world_size(), x.shape[1]
    scores = x @ w_router
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    gates = e / e.sum(axis=-1, keepdims=True)  # variant 19.experts:gates
    chosen = scores.argmax(axis=-1)
    sent = np.zeros((world, capacity, width), x.dtype)
    taken = [[] for _ in range(world)]
    for t, expert in enumerate(chosen):
        if len(taken[expert]) < capacity:
            sent[expert, len(taken[expert])] = x[t]
            taken[expert].append(t)
    arrived = np.empty_like(sent)
    dist.all_to_all_single(arrived, sent)
    results = np.maximum(arrived @ w_in, 0) @ w_out
    back = np.empty_like(sent)
    dist.all_to_all_single(back, results)
    y = np.zeros_like(x)
    for expert in range(world):
        for place, t in enumerate(taken[expert]):
            y[t] = gates[t, expert] * back[expert, place]
    return y
    ### END SOLUTION


# %% [markdown]
# ## A sequence in blocks

# %% [markdown]
# [[task 19.ring-attention]]
#
# Compute causal attention for a sequence that is spread over the ranks. It is cut **[[19.ring-attention:cut]]** position `[[19.ring-attention:position]]` of the sequence as its query, key and value `i`, in `q`, `k` and `v` (B, H). A query sees the keys of its own position and of earlier ones; scores are divided by the square root of H, and may be up to 11,000 in size. Return the output (B, H) of the rank's own queries.
#
# Keys and values travel round the ring; the queries stay, and keep the maximum, the sum and the output so far. `dist` has messages alone. Each link may carry, and each rank may send and receive, the keys and values of P - 1 ranks: 2 × (P - 1) × B × H numbers, in the dtype of `q`; the output has all digits of that dtype. A block may be masked altogether for some queries, or for all.


# %% 19-ring-attention
def ring_attention(q, k, v, dist):
    """q, k, v (B, H) of one rank -> the output (B, H) of its queries, for causal attention over P * B positions."""
    ### BEGIN SOLUTION
    rank, world = dist.get_rank(), dist.get_world_size()
    block, width = q.shape

    def positions(owner):
        at = owner * block + np.arange(block)  # variant 19.ring-attention:at
        return at

    top = np.full((block, 1), -np.inf, q.dtype)
    total = np.zeros((block, 1), q.dtype)
    out = np.zeros_like(q)
    pair = np.stack([k, v])
    for step in range(world):
        owner = (rank - step) % world
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
    ### END SOLUTION


# %% [markdown]
# ## All together

# %% [markdown]
# [[task 19.two-by-two]]
#
# Train a small classifier on four ranks, two by two. Rank `2 * data + tensor` has the half `tensor` of the weights and the batch `data` of the examples, where both are 0 or 1. The network is `relu(x @ w_in) @ w_out`, followed by a softmax over C classes, whose logits may be in the thousands: a rank has F of its hidden numbers, with `w_in` (D, F) and `w_out` (F, C). Two ranks that share a batch have the same `x` (B, D) and `labels` (B,), whole numbers; the two batches may differ in length. The loss is the mean of the cross-entropy over the examples of **both** batches.
#
# Do `steps` steps of SGD with weight decay, `w -= rate * (gradient + decay * w)` with `decay = [[19.two-by-two:decay]]`, and write the gradients out. The decay is not part of the loss. Return the loss before each step (steps,), the same on all ranks, and the rank's own `w_in` and `w_out` after the last one. All is float64, messages too, and has to agree with training on one device to twelve digits.
#
# `dist` has `new_group(ranks)`, which all four ranks call for every group, in the same order, and `all_reduce(array, group=…)`, the sum over a group. In each step a link may carry as many bytes as the larger of two: the logits (B, C) of the longer batch, or the gradients of a rank's weights and three numbers. Before the first step it may carry three numbers.


# %% 19-two-by-two
def train(x, labels, w_in, w_out, rate, steps, dist):
    """x (B, D), labels (B,), w_in (D, F), w_out (F, C), two numbers, of one rank -> losses (steps,), w_in, w_out."""
    ### BEGIN SOLUTION
    decay = 0.1  # variant 19.two-by-two:decay
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
        w_in = w_in - rate * (d_in + decay * w_in)
        w_out = w_out - rate * (d_out + decay * w_out)
        losses.append(sums[-1])
    return np.array(losses), w_in, w_out
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 19-explain · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/19_many_devices.html#many-devices-together)
#
# A model of 70 billion parameters, with 80 layers and width 8192, is to be trained on 64 cards of 80 GB: 8 nodes of 8 cards. Within a node a card sends 450 GB/s to others, between nodes 50 GB/s. Training takes 16 bytes for each parameter, without activations. Choose a layout: how many ways of data, tensor and pipeline parallelism, and what is sharded. Give the memory of a card, say which traffic crosses which links, and name one layout that you rejected, with the reason. Five to eight sentences.

# %% 19-explain [markdown] points=3
# Weights, gradients and optimiser state take 70e9 × 16 bytes = 1.12 TB, 17.5 GB for each of 64 cards if nothing is kept twice, so that plain data parallelism, with 1.12 TB on each card, is out. I choose tensor parallelism over the 8 cards of a node, pipeline parallelism over 4 nodes with 20 layers a stage, and 2 data-parallel copies with the optimiser state sharded between them (ZeRO stage 1). A card then has 70e9 / 32 = 2.2 billion parameters: 4 bytes each for weights and gradients and half of 12 bytes for the optimiser, together 10 bytes or 22 GB, which leaves most of the 80 GB for activations. Tensor parallelism has two all-reduces in each layer forward and two backward, of all activations, and nothing can be computed meanwhile: it stays on the fast links in a node. Between the stages only the activations at a stage's end cross, once for each micro-batch and direction, which the slow links can carry. The gradients of 2.2 billion parameters cross between nodes once a step, beside the backward pass. The pipeline has a bubble of (4 - 1) / (m + 3), so that I take 24 micro-batches or more: at most 11 %. Tensor parallelism over 16 cards I rejected: its all-reduces are as many bytes for half as much computing on a card, and they would pass the network, together over all eight links of a node, with longer latencies and in the way of all other traffic. (A layout that multiplies to 64 and fits with a figure, tensor parallelism within the node with the reason, and one rejected layout are enough for full points; sharding everything over all 64 cards, at 17.5 GB a card, is as good an answer if the traffic of gathering weights is named.)
