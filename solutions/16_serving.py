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
# # 16 · Serving
#
# You will write the parts of a server for language models: what a step costs at least, how latencies are reported, how blocks of the cache are given out and taken back, which prompts share them, what a step of continuous batching computes, which latencies to expect, what a million tokens cost, and which tokens may follow where the text has to fit a pattern.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Serving* in the
# book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 16-choose | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences of a batch, `S` cached tokens, `N` query heads, `K` key-value heads, `H` the width of one head, `L` layers. Letters of this notebook's own: `P` blocks of the cache, `M` tokens that a block holds, `W` logits of a row.

# %% 16-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## Time

# %% [markdown]
# [[task 16.phases]]
#
# Compute the least time of a prefill and of a decoding step from a data sheet. The layers of a model have `params` parameters of `bytes_each` bytes, and a token's keys and values take `cache_bytes` bytes in all layers together. The machine does at most `peak` operations a second and reads at most `bandwidth` bytes a second; it can do both at once, so the slower of the two decides.
#
# - **Prefill** computes the `prompt` tokens of one prompt together. It reads the weights once.
# - **A decoding step** computes one token for each of `batch` sequences. It reads the weights once, and the keys and values of the `cached` tokens that **each** sequence has.
#
# Each parameter costs a token one multiply-add, which is two operations. Leave out the table of embeddings, the output matrix, attention's own products and everything that is written: no real step takes less. Return both times in seconds.


# %% 16-phases
def least_times(params, bytes_each, cache_bytes, peak, bandwidth, prompt, batch, cached):
    """Eight numbers -> prefill in seconds, decoding step in seconds."""
    ### BEGIN SOLUTION
    weights = params * bytes_each
    caches = batch * cached * cache_bytes
    prefill = max(2 * params * prompt / peak, weights / bandwidth)
    step = max(2 * params * batch / peak, (weights + caches) / bandwidth)
    return prefill, step
    ### END SOLUTION


# %% [markdown]
# [[task 16.latencies]]
#
# Report the latencies of a server. `requests` has an entry `[arrival, times]` for each request: when it arrived, and when each of its tokens came, in seconds on one clock. Collect the **time to first token** of every request, counted from its arrival, and the **times between tokens**: the waits from each token of a request to the next one, of all requests together. The wait for the first token is not one of them.
#
# Return the 50th and the 95th percentile of both, by the **nearest-rank** definition: the `p`-th percentile of `n` values is the value at place $\lceil p\,n / 100 \rceil$, counted from 1, when they are sorted from small to large. Nothing is interpolated.


# %% 16-latencies
def latencies(requests):
    """A list of [arrival, list of times] -> [p50, p95] of first tokens, [p50, p95] between tokens."""

    ### BEGIN SOLUTION
    def percentile(values, percent):
        return sorted(values)[math.ceil(percent * len(values) / 100) - 1]

    first = [times[0] - arrival for arrival, times in requests]
    between = [wait for _, times in requests for wait in np.diff(times)]
    return [percentile(first, 50), percentile(first, 95)], [percentile(between, 50), percentile(between, 95)]
    ### END SOLUTION


# %% [markdown]
# [[task 16.batch-limit]]
#
# Say when a larger batch stops helping. A decoding step of `B` sequences computes `2 * params` operations for each of them, at `peak` operations a second; it reads the weights once and `cached` tokens of cache for each sequence (`cache_bytes` bytes a token), at `bandwidth` bytes a second.
#
# With a small batch, reading takes longer than computing. Return the batch at which **both take the same time**; it need not be a whole number. If reading takes longer for every batch, however large, return `math.inf`. Return also the **limit of the throughput**: the tokens a second that the step approaches, or reaches, as the batch grows.


# %% 16-batch-limit
def batch_limit(params, bytes_each, cache_bytes, peak, bandwidth, cached):
    """Six numbers -> a batch, tokens a second."""
    ### BEGIN SOLUTION
    weights = params * bytes_each / bandwidth
    computing = 2 * params / peak
    reading = cached * cache_bytes / bandwidth
    batch = weights / (computing - reading) if computing > reading else math.inf
    return batch, 1 / max(computing, reading)
    ### END SOLUTION


# %% [markdown]
# [[task 16.batches]]
#
# Compare batches that wait with continuous batching. The server has `slots` places, and each step takes one unit of time and writes one token for every request in a place. Request `i` arrives at the whole time `arrivals[i]` (in this order) and needs `lengths[i]` tokens; prefill takes no time here.
#
# - **Batches that wait**: whenever all places are empty, the first waiting requests enter, up to `slots` of them. A request's text is complete after its own last token, but nobody enters before the longest of the batch is complete. If nobody waits, the server stands still until the next arrival.
# - **Continuous batching**: whenever a place is empty, the first waiting request enters it at once, with the next step.
#
# Return the times at which the requests' texts are complete: a list for batches that wait, and one for continuous batching. A request that arrives at the time at which a step begins can take part in it.


# %% 16-batches
def finish_times(arrivals, lengths, slots):
    """Two lists of whole numbers, a whole number -> two lists of whole numbers."""
    ### BEGIN SOLUTION
    waiting, time = [], 0
    while len(waiting) < len(lengths):
        first = len(waiting)
        time = max(time, arrivals[first])
        batch = [lengths[i] for i in range(first, len(lengths)) if arrivals[i] <= time][:slots]
        waiting += [time + length for length in batch]
        time += max(batch)
    continuous, free_at = [], [0] * slots
    for arrival, length in zip(arrivals, lengths, strict=True):
        place = free_at.index(min(free_at))
        free_at[place] = max(free_at[place], arrival) + length
        continuous.append(free_at[place])
    return waiting, continuous
    ### END SOLUTION


# %% [markdown]
# ## Blocks of the cache

# %% [markdown]
# [[task 16.append]]
#
# Give blocks to a batch that is about to write one token for each of its sequences. (Task 15.fork does this for one sequence, while a block is always free.) `tables[i]` lists the blocks of sequence `i`, as many as its `lengths[i]` tokens in the cache need; the sequences stand in the order of their arrival. `owners[b]` says how many sequences use block `b`, 0 where it is free. Serve the sequences in their order:
#
# - If its blocks are all full, it takes a new block, at the end of its table.
# - If its last block has room but is **used by others, too**, it takes a new block in its place, and the old one has one user fewer. Note the pair `[old, new]`: what is in it will be copied.
# - Otherwise nothing changes.
#
# A new block is the free one with the lowest number. If **none is free**, the sequence that arrived **last** of those still running is preempted: its table becomes empty, and its blocks have one user fewer. (It will be computed again later.) That may be the sequence that needs the block; if it is not, look again at what is needed now, as often as necessary. A preempted sequence writes nothing.
#
# Return the new tables, the new owners, the list of the pairs, and the numbers of the preempted sequences in the order in which they were. Leave the given lists as they are.


# %% 16-append
def append_all(tables, lengths, owners, block_size):
    """A list of lists, two lists of whole numbers, a whole number -> four lists."""
    ### BEGIN SOLUTION
    tables, owners = [list(table) for table in tables], list(owners)
    copies, preempted, running = [], [], list(range(len(tables)))
    for one in range(len(tables)):
        while one in running:
            table = tables[one]
            full = lengths[one] % block_size == 0
            shared = not full and owners[table[-1]] > 1
            if not (full or shared):
                break
            if 0 in owners:
                new = owners.index(0)
                owners[new] = 1
                if shared:
                    copies.append([table[-1], new])
                    owners[table[-1]] -= 1
                    table[-1] = new
                else:
                    table.append(new)
                break
            last = running.pop()
            for block in tables[last]:
                owners[block] -= 1
            tables[last] = []
            preempted.append(last)
    return tables, owners, copies, preempted
    ### END SOLUTION


# %% [markdown]
# [[task 16.free]]
#
# Take back the blocks of sequences that have ended. `tables` and `owners` are as in task 16.append. `ended` lists the numbers of sequences that have finished or were cancelled, in this order; a sequence that finishes in the moment in which its reader goes away is **listed twice**. Each block of an ended sequence has one user fewer, and becomes free when it has none. Go through a table **from its last block to its first**: blocks that become free early are given away early, and the beginning of a text is what other prompts may still use.
#
# Return the tables, empty for the ended sequences; the owners; and the blocks that became free, in the order in which they did. Leave the given lists as they are.


# %% 16-free
def release(tables, owners, ended):
    """A list of lists, two lists of whole numbers -> three lists."""
    ### BEGIN SOLUTION
    tables, owners, freed = [list(table) for table in tables], list(owners), []
    for one in ended:
        for block in reversed(tables[one]):
            owners[block] -= 1
            if owners[block] == 0:
                freed.append(block)
        tables[one] = []
    return tables, owners, freed
    ### END SOLUTION


# %% [markdown]
# [[task 16.ragged]]
#
# Compute the attention of a decoding step for a batch whose sequences differ in length. (Task 15.pages does this for one sequence and one head.) `k_blocks` and `v_blocks` hold `P` blocks of `M` tokens for `K` key-value heads. Row `b` of `tables` lists the blocks of sequence `b` in the order of its text, filled up with `-1` at the end to the longest; `lengths[b]` says how many tokens it has, the newest included. Each sequence has **one** query for each of `N` heads, and `N / K` **neighbouring** heads share a key-value head. A query attends to all tokens of its own sequence, and to nothing else. Divide scores by $\sqrt{H}$; they may be in the tens of thousands.


# %% 16-ragged
def decode_attention(q, k_blocks, v_blocks, tables, lengths):
    """q (B, N, H), blocks (P, M, K, H), tables (B, m), lengths (B,) -> output (B, N, H)."""
    ### BEGIN SOLUTION
    groups = q.shape[1] // k_blocks.shape[2]
    keys = k_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=2)
    values = v_blocks[tables].flatten(1, 2).repeat_interleave(groups, dim=2)
    scores = torch.einsum("bnh,bsnh->bns", q, keys) / math.sqrt(q.shape[-1])
    behind = torch.arange(keys.shape[1]) >= lengths[:, None]
    weights = torch.softmax(scores.masked_fill(behind[:, None], -torch.inf), dim=-1)
    return torch.einsum("bns,bsnh->bnh", weights, values)
    ### END SOLUTION


# %% [markdown]
# [[task 16.prefix]]
#
# Find out how much of a prompt need not be computed. The keys and values of `earlier` prompts are still in the cache, in blocks of `block_size` tokens. Keys depend on everything before them, so a block can be used again only if the prompt agrees with **one** of the earlier prompts in **all tokens up to the end of that block**, from the first token on. Blocks that are not full are not shared. And **at least one token** of the prompt has to be computed, because its logits give the first token of the answer; its whole block is then computed.
#
# Return how many tokens can be taken from the cache.


# %% 16-prefix
def reusable(prompt, earlier, block_size):
    """A list of ids, a list of lists of ids, a whole number -> a whole number."""
    ### BEGIN SOLUTION
    longest = 0
    for other in earlier:
        same = 0
        while same < min(len(prompt), len(other)) and prompt[same] == other[same]:
            same += 1
        longest = max(longest, same)
    return min(longest, len(prompt) - 1) // block_size * block_size
    ### END SOLUTION


# %% [markdown]
# [[task 16.admit]]
#
# Admit as many waiting requests as are sure to fit. Of `memory` bytes, `weights` bytes hold the model and `reserve` bytes are kept for everything else; the rest (there is some) is divided into blocks of `block_size` tokens. For each token, every layer stores a key and a value for each **key-value** head; each number takes `bytes_each` bytes. `config` is a dictionary with the keys `num_hidden_layers`, `num_attention_heads`, `num_key_value_heads` and `head_dim`.
#
# `queue` lists `[prompt, new]` for each waiting request: the length of its prompt and the most tokens that it may write. A request is admitted if whole blocks for **both together** are left; they are then its own. The requests are admitted in their order, and **nobody overtakes**: at the first that does not fit, stop. Return the number of all blocks, and how many requests are admitted.


# %% 16-admit
def admitted(memory, weights, reserve, config, bytes_each, block_size, queue):
    """Three whole numbers, a dictionary, two whole numbers, a list of pairs -> two whole numbers."""
    ### BEGIN SOLUTION
    numbers = 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * config["head_dim"]
    blocks = (memory - weights - reserve) // (block_size * numbers * bytes_each)
    left, count = blocks, 0
    for prompt, new in queue:
        needed = math.ceil((prompt + new) / block_size)
        if needed > left:
            break
        left -= needed
        count += 1
    return blocks, count
    ### END SOLUTION


# %% [markdown]
# ## A step of the loop

# %% [markdown]
# [[task 16.schedule]]
#
# Decide what one step of continuous batching computes. `running` has an entry `[prompt, computed]` for each running request: the length of its prompt, and how many tokens of the prompt stand in the cache. A request whose whole prompt is computed is decoding and computes **one** token; the others are still in their prefill. `waiting` lists the lengths of the prompts that have not begun. Both stand in the order of arrival. The step computes at most `budget` tokens:
#
# 1. Every decoding request gets one token, in order, while the budget lasts.
# 2. What is left goes to the running prefills, in order; each gets as much as it needs, or what is left of the budget (**chunked prefill**).
# 3. What is left then goes to waiting requests in the same way, in order, as long as at most `most` requests are running, those of `running` included.
#
# Return how many tokens each running request computes, and how many each waiting one does (0 for those that go on waiting).


# %% 16-schedule
def schedule(running, waiting, budget, most):
    """A list of pairs, a list of whole numbers, two whole numbers -> two lists of whole numbers."""
    ### BEGIN SOLUTION
    now, new = [0] * len(running), [0] * len(waiting)
    for i, (prompt, computed) in enumerate(running):
        if computed >= prompt:
            now[i] = min(1, budget)
            budget -= now[i]
    for i, (prompt, computed) in enumerate(running):
        if computed < prompt:
            now[i] = min(prompt - computed, budget)
            budget -= now[i]
    for i, prompt in enumerate(waiting):
        if len(running) + i < most:
            new[i] = min(prompt, budget)
            budget -= new[i]
    return now, new
    ### END SOLUTION


# %% [markdown]
# [[task 16.split-pools]]
#
# Divide machines between prefill and decode. All requests are alike: a prompt of `prompt` tokens, an answer of `answer` tokens. A machine of the first kind computes `prefill_rate` tokens of prompts a second, and meanwhile sends the cache of an earlier prompt, `cache_bytes` for each token of it, over a link of its own with `bandwidth` bytes a second. A machine of the second kind runs `batch` answers side by side, and each step of `step` seconds writes one token of each of them, the first token of an answer included. Each kind needs at least one of the `machines`. Return how many machines prefill, and how many requests a second all of them complete, for the **best division**; where several are as good, take the one with the fewest machines that prefill.


# %% 16-split-pools
def split_pools(machines, prompt, answer, prefill_rate, step, batch, cache_bytes, bandwidth):
    """Eight numbers -> a whole number, a number."""
    ### BEGIN SOLUTION
    best, most = 0, 0.0
    for senders in range(1, machines):
        computed = senders * prefill_rate / prompt
        sent = senders * bandwidth / (prompt * cache_bytes)
        written = (machines - senders) * batch / (answer * step)
        rate = min(computed, sent, written)
        if rate > most:
            best, most = senders, rate
    return best, most
    ### END SOLUTION


# %% [markdown]
# [[task 16.stream]]
#
# Send a text while it is written, and stop at a stop string. `pieces` are the texts of the tokens, in the order in which the model writes them; a stop string may begin in one piece and end in another. After each piece, send what is new, but hold back an end of the text **that could be the beginning of a stop string**, and nothing more than that. As soon as the text holds a stop string, send what is not sent yet and stands before it (of several, before the one that begins first), and stop: the stop string itself and everything behind it are never sent. If the pieces end without a stop string, what was held back is sent with the last piece.
#
# Return what is sent after each piece that was read, as a list of texts; a text may be empty, and so may a piece. There may be no stop strings at all, and none of them is empty.


# %% 16-stream
def streamed(pieces, stops):
    """Two lists of texts -> a list of texts."""
    ### BEGIN SOLUTION
    text, sent, parts = "", 0, []
    for piece in pieces:
        text += piece
        found = [text.find(stop) for stop in stops if stop in text]
        if found:
            parts.append(text[sent : min(found)])
            return parts
        held = max((n for stop in stops for n in range(len(stop)) if text.endswith(stop[:n])), default=0)
        parts.append(text[sent : len(text) - held])
        sent = len(text) - held
    parts[-1] += text[sent:]
    return parts
    ### END SOLUTION


# %% [markdown]
# [[task 16.simulate]]
#
# Predict latencies before anything is measured. `requests` has an entry `[arrival, prompt, new]` for each request, in the order of arrival: the second in which it arrives, the length of its prompt, and how many tokens will be written. A step that computes `n` tokens takes `fixed + each * n` seconds. Before each step, the requests that have arrived by then, and no others, are waiting or running, and your `schedule` of task 16.schedule decides with `budget` and `most` what the step computes. If nobody is there, the clock moves on to the next arrival.
#
# The step in which a request's prompt is **completed** gives its first token, at the step's end. Each later step in which it computes a token gives one more. When all `new` tokens are written (at least one), the request leaves, and its place is empty in the next step.
#
# Return two lists, in seconds counted from each request's arrival: the times to first token, and the times at which the requests are complete.


# %% 16-simulate
def simulate(requests, budget, most, fixed, each):
    """A list of [arrival, prompt, new], two whole numbers, two numbers -> two lists of numbers."""
    ### BEGIN SOLUTION
    many = len(requests)
    computed, written, first, last = [0] * many, [0] * many, [0.0] * many, [0.0] * many
    now, queue, running = 0.0, list(range(many)), []
    for _ in range(1000):  # with a scheduler that gives nobody a token, a while loop would never end
        if not (queue or running):
            break
        if not running:
            now = max(now, requests[queue[0]][0])
        waiting = [i for i in queue if requests[i][0] <= now]
        prompts = [requests[i][1] for i in waiting]
        old, begun = schedule([[requests[i][1], computed[i]] for i in running], prompts, budget, most)
        tokens = dict(zip(running + waiting, [*old, *begun], strict=True))
        now += fixed + each * sum(tokens.values())
        running += [i for i in waiting if tokens[i] > 0]
        queue = [i for i in queue if i not in running]
        for i in running:
            arrival, prompt, _ = requests[i]
            if computed[i] < prompt:
                computed[i] += tokens[i]
                if computed[i] == prompt:
                    written[i], first[i] = 1, now - arrival
            else:
                written[i] += tokens[i]
            last[i] = now - arrival
        running = [i for i in running if written[i] < requests[i][2]]
    return first, last
    ### END SOLUTION


# %% [markdown]
# ## Small numbers, drafts and money

# %% [markdown]
# [[task 16.small]]
#
# Say what weights of fewer bits leave for caches. Of `params` parameters, `kept` stay in 16 bits (the table of tokens, the norms). The others are stored in `bits` bits each, in groups of `group` neighbours (which divides their number), and each group has one scale of 16 bits. (llama.cpp's format Q4_0 has groups of 32.) Return how many **bytes** the weights take, and how many whole sequences of `sequence_bytes` bytes of cache fit beside them into `memory` bytes, which hold more than the weights.


# %% 16-small
def beside_small_weights(params, kept, bits, group, memory, sequence_bytes):
    """Six whole numbers -> bytes, a whole number."""
    ### BEGIN SOLUTION
    small = params - kept
    weights = (16 * kept + bits * small + 16 * small / group) / 8
    return weights, (memory - weights) // sequence_bytes
    ### END SOLUTION


# %% [markdown]
# [[task 16.speedup]]
#
# Find out how many tokens to draft. In a round of speculative decoding a draft model writes `k` tokens, one after the other; each takes `draft_cost` of the time of one step of the large model, which then checks all of them in **one** step. A drafted token is accepted with the probability `acceptance`, if all before it were. The round writes the accepted tokens and **one more**, which the large model gives in any case. So it writes $1 + a + a^2 + \dots + a^k$ tokens on average (that is $(1 - a^{k+1}) / (1 - a)$, but `acceptance` may be 1), in the time of $k\,c + 1$ steps.
#
# Return the `k` from 0 to `most` with the most tokens for each step's time, the smaller one if two are equal, and how many tokens that are. With `k = 0` it is 1: the large model alone.


# %% 16-speedup
def best_draft(acceptance, draft_cost, most):
    """Two numbers, a whole number -> a whole number, a number."""
    ### BEGIN SOLUTION
    best, gain = 0, 1.0
    for k in range(1, most + 1):
        tokens = sum(acceptance**i for i in range(k + 1))
        steps = k * draft_cost + 1
        if tokens / steps > gain:
            best, gain = k, tokens / steps
    return best, gain
    ### END SOLUTION


# %% [markdown]
# [[task 16.cost]]
#
# Compute what tokens cost. `machines` machines serve one model together, each for `price` an hour. Together they compute `input_rate` tokens of prompts a second while they prefill, or write `output_rate` tokens a second while they decode. They are busy for a share `utilisation` of the time, and are paid for all of it. Return the cost of a **million** input tokens, of a million output tokens, and of one request with `prompt` input and `answer` output tokens.


# %% 16-cost
def token_costs(price, machines, input_rate, output_rate, utilisation, prompt, answer):
    """Seven numbers -> three numbers."""
    ### BEGIN SOLUTION
    second = price * machines / 3600
    for_input = 1e6 * second / (input_rate * utilisation)
    for_output = 1e6 * second / (output_rate * utilisation)
    return for_input, for_output, (prompt * for_input + answer * for_output) / 1e6
    ### END SOLUTION


# %% [markdown]
# ## Structured text

# %% [markdown]
# [[task 16.token-mask]]
#
# Say which tokens a pattern allows. The pattern is an automaton over characters: `table[s][c]` is the state to which character `c` leads from state `s`, or `-1` where that character may not follow. `final` lists the states in which the text is complete; from every state of the table, one of them can be reached. Token `t` consists of the characters `tokens[t]`, in this order. The text so far has led to `state`. For each token, say whether it may follow:
#
# - A token may follow if **none of its characters** leaves the automaton. It may cross several states, and end in any of them.
# - A token without characters may never follow: the text would stay as it is.
# - The token `end` ends the text, whatever its characters are. It may follow exactly where `state` is final.
#
# Return a list of truth values, one for each token.


# %% 16-token-mask
def token_mask(table, final, tokens, end, state):
    """A list of lists, a list, a list of lists, two whole numbers -> a list of truth values."""
    ### BEGIN SOLUTION
    allowed = []
    for token, characters in enumerate(tokens):
        now = state
        for character in characters:
            now = table[now][character]
            if now == -1:
                break
        fits = len(characters) > 0 and now != -1
        allowed.append(state in final if token == end else fits)
    return allowed
    ### END SOLUTION


# %% [markdown]
# [[task 16.constrained-step]]
#
# Turn logits into the probabilities of the next token under a mask. `mask` is True where a token may follow. The model has been padded and has `W` logits for each row, the mask has `V` entries, with `V <= W`: the logits **behind the vocabulary** belong to no token and are never allowed. Divide the logits by `temperature` (above 0), and keep the `k` likeliest **of the allowed** tokens, or all of them where fewer are allowed (`k` may be more than `W`); the logits of a row are all different. The tokens that are kept share the whole probability. A row in which **no** token is allowed gets zeros throughout, so that the server can end its request. Logits may be in the tens of thousands, on either side of 0.


# %% 16-constrained-step
def constrained_step(logits, mask, temperature, k):
    """logits (B, W), mask (B, V), a number, a whole number -> probabilities (B, W)."""
    ### BEGIN SOLUTION
    allowed = torch.nn.functional.pad(mask, (0, logits.shape[1] - mask.shape[1]))
    scores = (logits / temperature).masked_fill(~allowed, -torch.inf)
    least = scores.topk(min(k, scores.shape[1]), dim=-1).values[:, -1:]
    p = torch.softmax(scores.masked_fill(scores < least, -torch.inf), dim=-1)
    return p.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)
    ### END SOLUTION


# %% [markdown]
# ## The same bits in every batch

# %% [markdown]
# [[task 16.split-sum]]
#
# Add up each row of `x` in an order that depends on nothing but the row's length. A long sum is cut into **splits** of `size` neighbouring numbers, which a card can add side by side; the last split may be shorter. Within a split, add **from left to right**: the first number and the second, then the third to their sum, and so on. When all splits are there, add their sums from left to right, too. In floating point each order of additions has its own result; `x` is float64, and so is every addition. Small numbers beside huge ones show which order it was, and the check looks at exactly that. What a library's `sum` does inside is its own affair and changes with shapes: do not leave the order to it.


# %% 16-split-sum
def split_sum(x, size):
    """x (B, F), a whole number -> sums (B,)."""
    ### BEGIN SOLUTION
    total = 0.0
    for start in range(0, x.shape[1], size):
        part = 0.0
        for column in x[:, start : start + size].unbind(dim=1):
            part = part + column
        total = total + part
    return total
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 16-choose · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/16_serving.html#serving-loop)
#
# You are to serve a chat model of 8 billion parameters on one accelerator. All conversations begin with the same instructions of 3,000 tokens; questions are short, but now and then somebody sends a document of 60,000 tokens. The first token has to come within one second for 95 of 100 requests, and nobody may wait longer than 100 milliseconds between two tokens. At noon twice as many people come as can be served. Which mechanisms of this chapter do you turn on, what does each of them do for one of these wishes, and what would you not turn on? Six to ten sentences.

# %% 16-choose [markdown] points=3
# Continuous batching lets a request enter with the next step and leave when it is finished, so that the weights are read once for many users and nobody waits for the longest text of a batch. A paged cache gives every request the blocks that it needs and no reserved room for tokens that may never come, so more requests fit, and prefix caching takes the 3,000 common tokens from the cache: their blocks are stored once, and the time to first token of a short question falls by the time of that prefill. Chunked prefill with a token budget for each step cuts the documents of 60,000 tokens into parts: the step stays short enough for 100 milliseconds between tokens, while the document's own first token comes later. For those documents one second cannot be kept if the prefill alone takes longer, which the machine's data sheet says before anything is measured; they belong to the five of 100, or into a queue of their own. Requests are admitted by the blocks that are left, and at noon the queue has to have a limit: those who would wait longer than a second are refused at once, because a queue that only grows helps nobody, and cancelled requests give their blocks back at once. Weights or a cache in fewer bits give room for more sequences and shorten the reading in a step, after the quality has been measured. Speculative decoding I would leave off at noon: with a large batch the step is limited by operations, and checking drafted tokens takes operations from other users; at night, with a few requests, it shortens the time between tokens. (Three mechanisms with the wish that each serves, the conflict between long prompts and the time between tokens, and a limit on admission under overload are enough for full points.)
