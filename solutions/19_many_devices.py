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
# **Ranks.** A function with the argument `dist` is what one rank does; every rank runs the same one. `dist.get_rank()` is its number and `dist.get_world_size()` how many there are, `P` in the texts. `dist.send(array, dst)` waits until rank `dst` receives, and `dist.recv(array, src)` fills an array with what rank `src` sends; `isend` and `irecv` return at once with something that has `wait()`. What else `dist` has, a task says. Arrays belong to one rank: what another rank knows has to be sent.
#
# **Judged on traffic.** A program whose values are right earns most of the points. The rest is for the bytes that a link carries or a rank sends, the number of messages, and the longest chain of messages that wait for each other: each task says what it may use.

# %% 19-setup
import numpy as np

from softlookup import check, hint
from softlookup.ranks import RankError, WorldError, run_here

# %% [markdown]
# ## Messages

# %% [markdown]
# [[task 19.broadcast]]
#
# Rank `root` has an array `x` of `n` numbers. Return it on every rank; what the others were called with is an array of the same shape, whose numbers mean nothing. Here `dist` has only `send` and `recv`, so that a rank sends one message at a time. Send along a **tree**, in which the number of ranks that have `x` doubles in each step. For `P` ranks, `P - 1` messages and log2(P) steps, rounded up, are allowed.


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
# Every rank has an array `x` of `P * m` numbers: `P` parts of `m`, one after the other. Add the arrays of all ranks, and return one part of the sum on each rank: rank `r` gets part `[[19.reduce-scatter:which]]`, counted from 0. A link may carry the bytes of `P - 1` parts, and a rank may send and receive as much. In a **ring**, each rank sends to the next one and receives from the one before: a sum begins at one rank, and every rank that it passes adds its part.


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
# Every rank has an array `part` of `m` numbers. Return the arrays of all ranks one after the other, `P * m` numbers, on every rank: **[[19.all-gather:which]]**. A link may carry the bytes of `P - 1` parts, and a rank may send and receive as much. In a ring, each rank passes on the part that it received last.


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
# Every rank has an array `x` of `n` numbers, where `n` need not be a multiple of the number of ranks and may be smaller. Return the **[[19.all-reduce:which]]** of all ranks' arrays, number by number, on every rank. Cut `x` into `P` parts with `np.array_split`, and go twice round the ring: a reduce-scatter, then an all-gather. Where `P` divides `n`, a link may carry 2 (P - 1) / P of the bytes of `x`, and a rank may send and receive as much.


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
# **Data parallel.** Every rank has the same weights `w` (D,) and a batch of its own: examples `x` (B, D) and targets `y` (B,). `B` differs between ranks, and may be 0 on some of them. The loss is [[19.gradient:loss]] with the mean over the examples of **all** ranks. Return its gradient for `w`, on every rank. Here `dist` has `all_reduce(array)`, which replaces an array by the sum over all ranks, in place. Two all-reduces are allowed; one is enough.


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
# Here `dist` has `all_gather_into_tensor(output, input)`, `reduce_scatter_tensor(output, input)` and `all_reduce(array)`. A rank may send and receive the bytes of `2 (P - 1)` shards: half for the weights, half for the gradient.


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
