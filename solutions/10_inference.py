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
# # 10 · Inference
#
# You will generate text token by token: choose the next token in all common ways, write a beam search, cache keys and values instead of computing them
# again, and count what that saves.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Inference* in the
# book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 10-one-to-one | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences in a batch, `T` query positions (the newest tokens), `S` key positions (all tokens so far; in `10.append` and `10.step`, the length of the **old** cache), `D` model width, `N` query heads, `K` key-value heads, `H` the width of one head, `V` tokens of the vocabulary, `L` layers. In each projection matrix, head `i` has the columns of the slice `i*H : (i+1)*H`. **Randomness.** Nothing here is random: where a token is drawn, the random number is an argument. **Ties.** Where the largest number is chosen, no other one equals it, unless a task speaks of equal ones.

# %% 10-setup
import math

import torch

from softlookup import check, hint


def split_heads(x, n_heads):  # (B, T, N*H) -> (B, N, T, H)
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(z):  # (B, N, T, H) -> (B, T, N*H)
    return z.transpose(1, 2).flatten(2)


def sinusoidal(length, d_model):  # positions 0, 1, ... -> (T, D) for an even D, float64; sines in the even columns
    turns = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * turns
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% [markdown]
# ## Generate token by token
# [[task 10.next]]
#
# Return the most likely next token of each text of a batch, as its id. A model has read the texts and gives logits at **every** position. The texts have different lengths: row `b` has `lengths[b]` tokens, and the rest of the row is padding.


# %% 10-next
def next_tokens(logits, lengths):
    """logits (B, T, V), lengths (B,), integers from 1 to T -> ids (B,)."""
    ### BEGIN SOLUTION
    return logits[torch.arange(len(logits)), lengths - 1].argmax(dim=-1)
    ### END SOLUTION


# %% [markdown]
# [[task 10.greedy]]
#
# Continue `ids` greedily with the smallest language model: a table whose row `i` holds the logits of the token that follows token `i`, whatever came before. Always take the most likely next token, **stop after the end token**, and generate at most `limit` tokens, none if `limit` is 0. Return all ids in a list or a tensor: first the given ids, then the generated ones, including the end token. The given ids may contain the end token (GPT-2's texts begin with it); it does not stop generation.


# %% 10-greedy
def greedy(table, ids, end_id, limit):
    """table (V, V), ids (T,), two integers -> ids (T + at most limit,)."""
    ### BEGIN SOLUTION
    written = ids.tolist()
    for _ in range(limit):
        token = int(table[written[-1]].argmax())
        written.append(token)
        if token == end_id:
            break
    return written
    ### END SOLUTION


# %% [markdown]
# [[task 10.temperature]]
#
# Turn logits into probabilities at a temperature $\tau$. A $\tau$ above 0, however small (no $\tau$ lies between 0 and a millionth), **divides the logits** before the softmax. At exactly 0 the most likely token gets the probability 1 and all others 0 (no two logits are equal). The result has the dtype of the logits.


# %% 10-temperature
def with_temperature(logits, temperature):
    """logits (B, V), a number of at least 0 -> probabilities (B, V)."""
    ### BEGIN SOLUTION
    if temperature == 0:
        likeliest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(1, likeliest, 1.0)
    return torch.softmax(logits / temperature, dim=-1)
    ### END SOLUTION


# %% [markdown]
# [[task 10.top-k]]
#
# Keep **exactly** the `k` most likely tokens of each row (among equal logits, those with the lowest ids; all tokens, if there are fewer than `k`). Logits may be in the tens of thousands. Return probabilities: 0 for the other tokens, while those of the kept tokens sum to 1, in their original proportions.


# %% 10-top-k
def top_k(logits, k):
    """logits (B, V), an integer of at least 1 -> probabilities (B, V)."""
    ### BEGIN SOLUTION
    order = logits.sort(dim=-1, descending=True, stable=True).indices
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(1, order[:, :k], True)
    return torch.softmax(logits.masked_fill(~kept, float("-inf")), dim=-1)
    ### END SOLUTION


# %% [markdown]
# [[task 10.top-p]]
#
# Go through each row from the most likely token downwards, and keep tokens until their probabilities sum to `p` or more: **the token that crosses `p` is kept**, so at least one token always is. Return probabilities: 0 for the other tokens, while those of the kept tokens sum to 1, in their original proportions. No two probabilities of a row are equal, and no sum misses `p` by rounding alone.


# %% 10-top-p
def top_p(probabilities, p):
    """probabilities (B, V), a number above 0 and at most 1 -> probabilities (B, V)."""
    ### BEGIN SOLUTION
    in_order, order = probabilities.sort(dim=-1, descending=True)
    mass_before = in_order.cumsum(dim=-1) - in_order
    kept_in_order = mass_before < p
    kept = torch.zeros_like(kept_in_order).scatter(1, order, kept_in_order)
    left = probabilities * kept
    return left / left.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% [markdown]
# [[task 10.draw]]
#
# Draw a token for each row and return its id. The random numbers are given: one number `u` for each row, at least 0 and below 1. Each token gets one interval on the line from 0 to 1, in the order of the ids; the length of the interval is the token's probability. The drawn token is the one whose interval contains `u`. An interval contains its left end but not its right end, so a token of probability 0 is never drawn. (`u` always lies inside an interval.) Intervals may be short: add up in the dtype that you are given, not in a coarser one.


# %% 10-draw
def draw(probabilities, u):
    """probabilities (B, V), numbers u (B,) -> ids (B,)."""
    ### BEGIN SOLUTION
    right_ends = probabilities.cumsum(dim=-1)
    return (right_ends <= u[:, None]).sum(dim=-1)
    ### END SOLUTION


# %% [markdown]
# ## Beam search
# [[task 10.score]]
#
# Compute the scores of finished texts of different lengths. There are `E` texts in rows of `M` tokens: row `e` of `ids` is a text, and `log_p` holds the log-probability of each of its tokens, a finite number. After the first end token comes padding, which does not count and may be any ids, even the end token again; a text without an end token counts as a whole. The score is the sum of the log-probabilities, including the end token's, divided by $\left(([[10.score:base]] + n) / [[10.score:below]]\right)^{\alpha}$, where $n$ is the number of tokens, **including the end token**.


# %% 10-score
def scores_of(log_p, ids, end_id, alpha):
    """log_p and ids (E, M), an integer, a number of at least 0 -> scores (E,)."""
    ### BEGIN SOLUTION
    base = 5  # variant 10.score:base
    ends = (ids == end_id).int()
    ends_before = ends.cumsum(dim=1) - ends
    counted = ends_before == 0
    lengths = counted.sum(dim=1)
    totals = torch.where(counted, log_p, 0.0).sum(dim=1)
    return totals / ((base + lengths) / (base + 1)) ** alpha
    ### END SOLUTION


# %% [markdown]
# [[task 10.beam-step]]
#
# Compute one step of beam search. `W` texts are open; `totals` holds the log-probability of each so far, and row `w` of `log_p` holds the log-probability of every token that may follow text `w`. All `W * V` continuations compete. Return, for the `beams` most likely continuations, **best first**: their log-probabilities, the text that each continues (0 to W - 1), and the token that continues it.


# %% 10-beam-step
def beam_step(totals, log_p, beams):
    """totals (W,), log_p (W, V), a number of at most W * V -> totals, parents, tokens, each (beams,)."""
    ### BEGIN SOLUTION
    n_tokens = log_p.shape[1]
    everything = totals[:, None] + log_p
    best = everything.flatten().topk(beams)
    return best.values, best.indices // n_tokens, best.indices % n_tokens
    ### END SOLUTION


# %% [markdown]
# [[task 10.beam]]
#
# Write the whole beam search, with the table model again. Row `i` of `table` holds the **log-probabilities** of the token that follows token `i`. At first one text is open: `start_id` alone. One step of the search:
#
# 1. Continue every open text with every token. The log-probability of a continuation is that of its text plus that of the new token.
# 2. Keep the `beams` continuations with the largest log-probabilities, whichever texts they continue; keep all if there are fewer. Length does not matter here.
# 3. A kept text that ends with `end_id`, or that has `limit` tokens (not counting the start token), is **finished**: put it aside. The other kept texts are open in the next step. No other continuation replaces a finished text, so fewer than `beams` texts may be open.
#
# Repeat this until no text is open, even if finished texts have been found. Then choose among all finished texts: a text of $n$ tokens has the score log-probability $/ ((5 + n)/6)^\alpha$, where $n$ includes the end token but not the start token. Return the tokens of the text with the best score, without the start token, and that score. `beams` and `limit` are at least 1.


# %% 10-beam
def beam_search(table, start_id, end_id, beams, limit, alpha):
    """table (V, V), four integers, a number -> ids (at most limit,), and a score."""
    ### BEGIN SOLUTION
    texts, totals, best, best_score = [[start_id]], torch.zeros(1, dtype=table.dtype), [], -math.inf
    for length in range(1, limit + 1):
        log_p = table[torch.tensor([text[-1] for text in texts])]
        totals, parents, tokens = beam_step(totals, log_p, min(beams, log_p.numel()))
        grown = [[*texts[parent], token] for parent, token in zip(parents.tolist(), tokens.tolist(), strict=True)]
        ended = [text[-1] == end_id or length == limit for text in grown]
        for text, total, ends in zip(grown, totals.tolist(), ended, strict=True):
            score = total / ((5 + length) / 6) ** alpha
            if ends and score > best_score:
                best, best_score = text, score
        still_open = [place for place, ends in enumerate(ended) if not ends]
        if not still_open:
            break
        texts, totals = [grown[place] for place in still_open], totals[still_open]
    return best[1:], best_score
    ### END SOLUTION


# %% [markdown]
# ## The KV cache
# [[task 10.append]]
#
# Extend the KV cache of `B` texts after a step of beam search. Text `i` of the new batch continues text `rows[i]` of the old one (a text may be chosen twice, or not at all). Select these rows of the cache, then append the newest keys and values, which are already in the new order, **after** the old ones. Return the longer keys and values. `S` is the length of the old cache, which may be empty (`S = 0`); the new length is `S + T`. Values may have another width than keys.


# %% 10-append
def extend_cache(k, v, new_k, new_v, rows):
    """k, v (B, K, S, H), new_k, new_v (M, K, T, H), rows (M,) -> k, v (M, K, S + T, H)."""
    ### BEGIN SOLUTION
    return torch.cat((k[rows], new_k), dim=2), torch.cat((v[rows], new_v), dim=2)
    ### END SOLUTION


# %% [markdown]
# [[task 10.attend]]
#
# Compute causal attention for the newest tokens. There are `T` queries and `S` keys, `S` at least `T`; the queries belong to the **last** `T` of the `S` tokens, and each may attend to its own token and to all earlier ones. There are `N` query heads and `K` key-value heads; `K` divides `N`, and each key-value head serves `N/K` neighbouring query heads (query heads 0 to N/K - 1 use key-value head 0, and so on). Scores are divided by $\sqrt{H}$; they may be in the tens of thousands.


# %% 10-attend
def attend(q, k, v):
    """q (B, N, T, H), k (B, K, S, H), v (B, K, S, H) -> (B, N, T, H)."""
    ### BEGIN SOLUTION
    shared = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
    n_new, n_all = q.shape[2], k.shape[2]
    queries = torch.arange(n_all - n_new, n_all)
    keys = torch.arange(n_all)
    may = keys[None, :] <= queries[:, None]
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(s.masked_fill(~may, float("-inf")), dim=-1) @ v
    ### END SOLUTION


# %% [markdown]
# [[task 10.step]]
#
# Compute a whole layer of self-attention with a KV cache. `x` holds the newest tokens, one or several (a prompt); `k` and `v` hold the keys and values of all `S` earlier tokens (none at first: `S = 0`). Compute queries, keys and values of the newest tokens only, append the new keys and values to the cache, attend, merge the heads, and multiply by `w_o`. Return the output for the newest tokens, and the longer cache, of length `S + T`. Scores may be in the thousands. If a text is fed in pieces, the outputs must equal those of the whole text, up to rounding. `split_heads` and `merge_heads` are given at the top.


# %% 10-step
def cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_kv_heads, k, v):
    """x (B, T, D), w_q (D, N*H), w_k, w_v (D, K*H), w_o (N*H, D), k, v (B, K, S, H) -> y (B, T, D), longer k and v."""
    ### BEGIN SOLUTION
    q = split_heads(x @ w_q, n_heads)
    new_k, new_v = split_heads(x @ w_k, n_kv_heads), split_heads(x @ w_v, n_kv_heads)
    k, v = extend_cache(k, v, new_k, new_v, torch.arange(len(x)))
    z = attend(q, k, v)
    return merge_heads(z) @ w_o, k, v
    ### END SOLUTION


# %% [markdown]
# [[task 10.positions]]
#
# Return the positions of the newest tokens in a padded batch. `real` says which of all tokens so far are real (True) and which are padding (False); rows are padded **on the left**. The last `n_new` columns are the newest tokens, whose keys are not in the cache yet. A token's position is the number of real tokens before it in its row, so the first one has position 0; cached tokens count, padding does not. Padding itself gets position [[10.positions:for_padding]].


# %% 10-positions
def newest_positions(real, n_new):
    """real (B, S), True = a token, an integer from 1 to S -> positions (B, n_new), integers."""
    ### BEGIN SOLUTION
    for_padding = 0  # variant 10.positions:for_padding
    positions = (real.cumsum(dim=1) - 1).masked_fill(~real, for_padding)
    return positions[:, -n_new:]
    ### END SOLUTION


# %% [markdown]
# [[task 10.write]]
#
# Generate text with a small but complete model. A token's vector `x` is its row of `embedding` plus its sinusoidal position (`sinusoidal`, in the embedding's dtype; the embedding is not scaled). One layer of attention, with as many key-value heads as query heads, all of width `D / N`, gives `y`; the hidden state is `x + y`, and its dot products with the rows of `embedding` are the logits. Continue `prompt` greedily, stop after the end token, and generate at most `limit` tokens, at least one. (As in `greedy`, an end token in the prompt does not stop generation.) Read the prompt **in one pass**, then feed one token at a time, with a KV cache, and no token twice: the check counts the passes (products with `w_q`) and the vectors in them. You may feed in the last generated token or leave it out. For `cached_attention`, the text needs a batch axis of size 1, and the first cache is empty (`S = 0`). Return the ids that were **generated** (including the end token, without the prompt), and the logits from which each was chosen.


# %% 10-write
def write(embedding, w_q, w_k, w_v, w_o, n_heads, prompt, end_id, limit):
    """embedding (V, D), w_q, w_k, w_v, w_o (D, D), N, prompt (T,), two numbers -> ids (M,), logits (M, V)."""
    ### BEGIN SOLUTION
    d_model = embedding.shape[1]
    k = v = torch.zeros(1, n_heads, 0, d_model // n_heads, dtype=embedding.dtype)
    ids, written, logits, seen = prompt, [], [], 0
    for _ in range(limit):
        places = sinusoidal(seen + len(ids), d_model)[seen:].to(embedding)
        x = embedding[ids][None] + places
        y, k, v = cached_attention(x, w_q, w_k, w_v, w_o, n_heads, n_heads, k, v)
        seen = seen + len(ids)
        logits.append((x + y)[0, -1] @ embedding.T)
        token = int(logits[-1].argmax())
        written.append(token)
        if token == end_id:
            break
        ids = torch.tensor([token])
    return written, torch.stack(logits)
    ### END SOLUTION


# %% [markdown]
# ## What it costs
# [[task 10.cache-bytes]]
#
# Return the memory, in **bytes**, of the KV cache of `batch` texts of `n_tokens` tokens each. Every layer has keys and values of its own, and each number takes `bytes_each` bytes (2 in half precision).


# %% 10-cache-bytes
def cache_bytes(n_layers, n_heads, n_kv_heads, head_width, batch, n_tokens, bytes_each):
    """L, N, K, H, B, S, bytes of one number -> bytes, an integer."""
    ### BEGIN SOLUTION
    numbers = 2 * n_layers * batch * n_kv_heads * n_tokens * head_width
    return numbers * bytes_each
    ### END SOLUTION


# %% [markdown]
# [[task 10.cost]]
#
# A model continues a prompt of `n_prompt` tokens with `n_new` tokens, one at a time. The first new token is predicted from the prompt alone; the last one is never fed in. Return four integers: (1) the number of tokens that pass through the model in all if every step processes the **whole** text again; (2) the same with a KV cache; (3) the number of scores that one head of one layer computes in all if every step computes everything again; (4) the same with a KV cache. A score is a pair of a query and a key that it **may** attend to (causal, its own token included): a text of $n$ tokens has $1 + 2 + \dots + n$ of them.


# %% 10-cost
def writing_cost(n_prompt, n_new):
    """Two integers of at least 1 -> tokens again, tokens cached, scores again, scores cached."""
    ### BEGIN SOLUTION
    lengths = range(n_prompt, n_prompt + n_new)
    tokens_again = sum(lengths)
    tokens_cached = n_prompt + n_new - 1
    scores_again = sum(n * (n + 1) // 2 for n in lengths)
    scores_cached = tokens_cached * (tokens_cached + 1) // 2
    return tokens_again, tokens_cached, scores_again, scores_cached
    ### END SOLUTION


# %% [markdown]
# ## In your own words
# Task 10-one-to-one · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/10_inference.html#inference-training) · Training is sometimes called "all to all" and inference "one to one". But a program that generates three tokens may pass 2, then 3, then 4 tokens through the model. When is "one to one" right, what still grows, and why can a model be trained on all positions at once but not generate them at once? Three to six sentences.

# %% 10-one-to-one [markdown] points=3
# Without a KV cache each step passes the whole text through the model (2, 3 and 4 tokens, nine in all) and gives one token, so it is "prefix to one". With a cache the prompt goes in once, and then one token at a time: 2, 1 and 1, four in all; from then on "one to one" is right for what passes through the model. What still grows is what this one token attends to: the keys and values of all tokens before it, both in memory and in the time for reading them. In training all inputs are known beforehand (the right text is given), and the causal mask makes the state at each position the same as if the text ended there, so all of them can be computed in one pass. When the model generates, the input of the next step is the token that this step has yet to choose, so the steps must follow one another.
