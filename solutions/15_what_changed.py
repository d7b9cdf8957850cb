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
# # 15 · What changed since the lectures
#
# You will write the parts that open models of 2024 to 2026 have in place of those of 2017: routed experts, a latent cache, sinks, windows, stretched positions, a draft model, a small cache, weights of few bits, a memory that overwrites, an indexer, and Muon. Many tasks say in which model the part is found.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *What changed since the
# lectures* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 15-choose | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` queries, `S` keys, `D` model width, `N` query heads, `K` key-value heads, `H` the width of one head, `E` experts, `R` the width of the latent, `L` layers. `...` stands for any leading axes. **Arrays** are torch tensors, but 15.mtp-input, 15.block-scales and 15.per-layer get numpy arrays, which have none of torch's methods.

# %% 15-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# [[task 15.route]]
#
# Send each token to `k` of `E` experts, as DeepSeek-V3 does (`transformers/models/deepseek_v3/modeling_deepseek_v3.py`). The gates are the sigmoid of `x` times the router's matrix. Chosen are the `k` experts with the largest gate **plus bias**; the weight of a chosen expert is its gate **without** the bias, divided by the sum of the chosen gates, and times `factor`. Return one row of weights for each token, 0 for experts that were not chosen. No two sums of a token are equal, and `k` may be `E`.


# %% 15-route
def route(x, w_router, bias, k, factor):
    """x (T, D), w_router (D, E), bias (E,), a whole number, a number -> weights (T, E)."""
    ### BEGIN SOLUTION
    gates = torch.sigmoid(x @ w_router)
    chosen = (gates + bias).topk(k, dim=-1).indices
    kept = torch.zeros_like(gates).scatter(-1, chosen, gates.gather(-1, chosen))
    return factor * kept / kept.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% [markdown]
# [[task 15.experts]]
#
# Compute a layer of experts. Expert `e` is a gated network, $(\text{silu}(x\, W_{\text{gate}}) \odot x\, W_{\text{up}})\, W_{\text{down}}$ with the matrices at position `e`. `weights` is what a router gives: one weight for each token and each of `E` experts, 0 where an expert was not chosen. There is **one matrix more of each kind than there are weights**: the last expert is shared, and every token passes through it with the weight 1. Return the weighted sum for each token. (Here every expert may compute every token; a real layer computes the chosen ones alone.)


# %% 15-experts
def mixture(x, weights, w_gate, w_up, w_down):
    """x (T, D), weights (T, E), matrices (E + 1, D, F), (E + 1, D, F), (E + 1, F, D) -> (T, D)."""
    ### BEGIN SOLUTION
    hidden = torch.nn.functional.silu(torch.einsum("td,edf->tef", x, w_gate))
    hidden = hidden * torch.einsum("td,edf->tef", x, w_up)
    outputs = torch.einsum("tef,efd->ted", hidden, w_down)
    weights = torch.cat((weights, torch.ones_like(weights[:, :1])), dim=1)
    return (weights[:, :, None] * outputs).sum(dim=1)
    ### END SOLUTION


# %% [markdown]
# [[task 15.absorb]]
#
# Compute multi-head latent attention on its cache. A token is cached as a latent vector of width `R`, from which head `n` gets its keys by `w_k[n]` and its values by `w_v[n]`, and as one short key `k_position`, which is already rotated and **shared by all heads**. Each head has a query `q` for the keys and a query `q_position` for the shared key. A score is the sum of both dot products; divide it by the square root of **both widths together**. `mask` is True where a query may attend, which is somewhere for every query. Move the matrices to the queries' side: the cache is multiplied by them, never expanded to keys. (Any way that gives the same numbers passes.) Scores may be in the hundreds.


# %% 15-absorb
def latent_attention(q, q_position, latent, k_position, w_k, w_v, mask):
    """q (N, T, H), q_position (N, T, P), latent (S, R), k_position (S, P), w_k, w_v (N, R, H), mask (T, S) -> (N, T, H)."""
    ### BEGIN SOLUTION
    scale = 1 / math.sqrt(q.shape[-1] + q_position.shape[-1])
    scores = q @ w_k.mT @ latent.mT + q_position @ k_position.mT
    weights = torch.softmax((scale * scores).masked_fill(~mask, -torch.inf), dim=-1)
    return weights @ latent @ w_v
    ### END SOLUTION


# %% [markdown]
# [[task 15.sinks]]
#
# Attend with a learned sink, as gpt-oss does (`transformers/models/gpt_oss/modeling_gpt_oss.py`). `scores` are scaled and masked: $-\infty$ where a query may not attend. Head `n` has one more logit, `sink[n]`, which takes part in the softmax of every query and has no value. Return the outputs, and the weight that each query gives to the sink. Scores and sinks may be in the thousands, of either sign, and a query may be masked everywhere: then all of its weight goes to the sink.


# %% 15-sinks
def sink_attention(scores, values, sink):
    """scores (N, T, S), values (N, S, H), sink (N,) -> outputs (N, T, H), weights of the sink (N, T)."""
    ### BEGIN SOLUTION
    sink = sink[:, None, None].expand(-1, scores.shape[1], 1)
    weights = torch.softmax(torch.cat((scores, sink), dim=-1), dim=-1)
    return weights[..., :-1] @ values, weights[..., -1]
    ### END SOLUTION


# %% [markdown]
# [[task 15.qk-norm]]
#
# Compute scaled scores with normalised queries and keys, as Qwen3 does (`transformers/models/qwen3/modeling_qwen3.py`). Divide each query, head by head, by the root of the mean of its squares (`eps` is added to that mean), and multiply it by `q_gain`; the same for keys with `k_gain`. **Then** rotate: the two halves `a` and `b` of a vector become $a \cos - b \sin$ and $a \sin + b \cos$. At last take dot products and divide by $\sqrt{H}$.


# %% 15-qk-norm
def normed_scores(q, k, q_gain, k_gain, cos, sin, eps):
    """q, k (N, T, H), q_gain, k_gain (H,), cos, sin (T, H/2), a number -> scores (N, T, T)."""

    ### BEGIN SOLUTION
    def normed(x, gain):
        return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt() * gain

    def rotated(x):
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)

    q, k = rotated(normed(q, q_gain)), rotated(normed(k, k_gain))
    return q @ k.mT / math.sqrt(q.shape[-1])
    ### END SOLUTION


# %% [markdown]
# [[task 15.layers]]
#
# Read a model's pattern of layers from three entries of its config. Layers count from 0. Every `global_every`-th layer attends to everything (in a model with 6, those are layers 5, 11, 17 and so on); all others attend through a window of `window` positions, which counts the query's own. `no_rope_layers` has one number for each layer, and **1 means that the layer has rotary positions**, whatever the name says (SmolLM3, `transformers/models/smollm3/configuration_smollm3.py`). Return two lists: how many positions each layer's cache holds after `length` tokens, and the numbers of the layers with rotary positions.


# %% 15-layers
def layer_plan(n_layers, global_every, window, no_rope_layers, length):
    """Three whole numbers, a list of 0 and 1, a whole number -> two lists of whole numbers."""
    ### BEGIN SOLUTION
    held = [length if (layer + 1) % global_every == 0 else min(window, length) for layer in range(n_layers)]
    rotary = [layer for layer in range(n_layers) if no_rope_layers[layer] == 1]
    return held, rotary
    ### END SOLUTION


# %% [markdown]
# [[task 15.ring]]
#
# Take one decoding step with a ring cache of `W` slots. The new token stands at `position`, counted from 0; its key and value go to slot `position % W` and overwrite what is there. Then its query attends to all slots that were ever written, its own included; the others hold arbitrary numbers. (Keys are stored rotated, so the order of the slots does not matter.) Scores are divided by $\sqrt{H}$. Return the output and both rings; leave the given ones as they are.


# %% 15-ring
def ring_step(k_ring, v_ring, q, k, v, position):
    """k_ring, v_ring (W, H), q, k, v (H,), a whole number -> output (H,), k_ring (W, H), v_ring (W, H)."""
    ### BEGIN SOLUTION
    window = len(k_ring)
    slot = position % window
    k_ring, v_ring = k_ring.clone(), v_ring.clone()
    k_ring[slot], v_ring[slot] = k, v
    written = min(position + 1, window)
    weights = torch.softmax(k_ring[:written] @ q / math.sqrt(len(q)), dim=0)
    return weights @ v_ring[:written], k_ring, v_ring
    ### END SOLUTION


# %% [markdown]
# [[task 15.yarn]]
#
# Stretch rotary positions by YaRN. (`fast_turns` is larger than `slow_turns`.) In training, pair `i` of `H/2` turned by `base ** (-2 * i / H)` from one position to the next, so it made $\text{length} \cdot \text{speed} / 2\pi$ turns within the trained length. Pairs with `fast_turns` turns or more keep their speed; pairs with `slow_turns` turns or fewer get it divided by `factor`. Between the two lies a ramp: solve for the pair numbers $i$ at which a pair would make exactly `fast_turns` and exactly `slow_turns` (they need not be whole). From the first to the second, the part of the *divided* speed in the blend grows from 0 to 1, **in a straight line over $i$**. Return the `H/2` speeds, and the number that queries and keys are both multiplied by: $0.1 \ln(\text{factor}) + 1$.


# %% 15-yarn
def yarn(head_width, base, factor, trained_length, fast_turns, slow_turns):
    """A whole number and five numbers -> speeds (H/2,), a number."""
    ### BEGIN SOLUTION
    pairs = np.arange(head_width // 2)
    speeds = base ** (-2 * pairs / head_width)

    def pair_with(turns):
        return head_width * math.log(trained_length / (2 * math.pi * turns)) / (2 * math.log(base))

    first, last = pair_with(fast_turns), pair_with(slow_turns)
    ramp = np.clip((pairs - first) / (last - first), 0, 1)
    speeds = speeds * (1 - ramp) + speeds / factor * ramp
    return speeds, 0.1 * math.log(factor) + 1
    ### END SOLUTION


# %% [markdown]
# [[task 15.accept]]
#
# A draft model drew a token from `q`, and the large model has the probabilities `p`. Return two things for each row. First, for each token the probability that it is kept if the draft has drawn it: $\min(1, p/q)$, and 1 where `q` is 0. Second, the distribution from which another token is drawn if it is not kept: $\max(p - q, 0)$, divided by its sum; where `p` and `q` are equal, nothing is left over, and it is `p`.


# %% 15-accept
def accept(p, q):
    """p, q (B, V) -> probabilities (B, V), distributions (B, V)."""
    ### BEGIN SOLUTION
    kept = torch.where(q > 0, (p / q).clamp(max=1), torch.ones_like(p))
    left = (p - q).clamp(min=0)
    total = left.sum(dim=-1, keepdim=True)
    return kept, torch.where(total > 0, left / total, p)
    ### END SOLUTION


# %% [markdown]
# [[task 15.speculate]]
#
# Take a whole step of speculative decoding. `drafted` are the ids of `T` tokens, drawn one after the other from the rows of `q`; `p` has the large model's probabilities at the same `T` positions and at the one behind them. Go from left to right: token $x$ at position $t$ is kept if `u[t]` times $q_x$ is **below** $p_x$. At the first that is not kept, stop, and draw one token from $\max(p - q, 0)$ of that position, divided by its sum. If all are kept, draw one more from the last row of `p`. Draw with the last number of `u`: take the first token at which the running sum of the probabilities is **above** that number. Return the ids of the kept tokens and of the drawn one, as a tensor or a list.


# %% 15-speculate
def speculate(p, q, drafted, u):
    """p (T + 1, V), q (T, V), ids drafted (T,), numbers u (T + 1,) -> ids."""
    ### BEGIN SOLUTION
    kept = 0
    while kept < len(drafted) and u[kept] * q[kept, drafted[kept]] < p[kept, drafted[kept]]:
        kept += 1
    left = p[kept]
    if kept < len(drafted):
        left = (p[kept] - q[kept]).clamp(min=0)
        left = left / left.sum()
    token = (left.cumsum(dim=0) <= u[-1]).sum()
    return torch.cat((drafted[:kept], token[None]))
    ### END SOLUTION


# %% [markdown]
# [[task 15.mtp-input]]
#
# Make the input of a multi-token prediction module, as `MtpLayer` of transformers does (`transformers/modeling_layers.py`). The main model has read `T` tokens and gives a state for each, in `states`. `ids` has one token more, the last of them just predicted. Row `t` of the input joins `states[t]` with the embedding of the **token that follows** position `t`, a row of `table`. Divide each of the two by the root of the mean of its own squares (`eps` is added to that mean) and multiply it by its own gain: `e_gain` for the embedding, `h_gain` for the state. Then concatenate them, **the embedding first**, and multiply by `w`.


# %% 15-mtp-input
def mtp_input(states, ids, table, e_gain, h_gain, w, eps):
    """numpy arrays: states (T, D), ids (T + 1,), table (V, D), e_gain, h_gain (D,), w (2 D, D), a number -> (T, D)."""
    ### BEGIN SOLUTION
    pairs = (table[ids[1:]], e_gain), (states, h_gain)
    normed = [x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * gain for x, gain in pairs]
    return np.concatenate(normed, axis=-1) @ w
    ### END SOLUTION


# %% [markdown]
# [[task 15.quantise]]
#
# Round a cache to `bits` bits, and return what can be read back from it. A group of numbers is stored as whole numbers from 0 to $2^{\text{bits}} - 1$: 0 stands for the least number of the group, the largest whole number for its largest, and the steps between are equal. Each number is rounded to the nearest step; none lies halfway. Keys are grouped **by channel** (one column over all tokens is a group), values **by token** (one row is a group). In a group whose numbers are all equal, they stay as they are.


# %% 15-quantise
def quantised(k, v, bits):
    """k, v (S, H), a whole number -> k, v (S, H)."""

    ### BEGIN SOLUTION
    def rounded(x, dim):
        least, most = x.amin(dim=dim, keepdim=True), x.amax(dim=dim, keepdim=True)
        step = (most - least) / (2**bits - 1)
        codes = torch.where(step > 0, (x - least) / step, torch.zeros_like(x)).round()
        return codes * step + least

    return rounded(k, 0), rounded(v, 1)
    ### END SOLUTION


# %% [markdown]
# [[task 15.block-scales]]
#
# Round a matrix of weights to MXFP4, and return what can be read back from it. Each row is cut into blocks of `block` numbers (32 in models), and a block stores one scale, the power of two $2^{e - 2}$, where $2^e$ is the largest power of two that is **at most** the largest absolute value of the block. Each number is divided by the scale and rounded to the nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6, with its sign. Halfway between two neighbours, **0, 1, 2 or 4** is taken. What is above 6 becomes 6. A block of zeros stays as it is, and `e` has no limits. `block` divides the length of a row.


# %% 15-block-scales
def block_scaled(w, block):
    """numpy array w (M, D), a whole number -> (M, D)."""
    ### BEGIN SOLUTION
    blocks = w.reshape(len(w), -1, block)
    scale = 2.0 ** (np.frexp(np.abs(blocks).max(axis=-1, keepdims=True))[1] - 3)
    x = np.clip(blocks / scale, -6, 6)
    step = 2.0 ** (np.frexp(x)[1].clip(1, 3) - 2)
    return (np.round(x / step) * step * scale).reshape(w.shape)
    ### END SOLUTION


# %% [markdown]
# [[task 15.delta]]
#
# Run the gated delta rule over `T` positions, as Qwen3-Next does (`transformers/models/qwen3_next/modeling_qwen3_next.py`). The state $S$, of shape (H, H'), begins with zeros. At each position, in this order: multiply the state by `decay[t]`; compare the value with what the key finds, $v - S^\top k$; add `strength[t]` times $k\,(v - S^\top k)^\top$; the output is $S^\top q / \sqrt{H}$, with the new state. Return all outputs and the last state.


# %% 15-delta
def delta_rule(q, k, v, decay, strength):
    """q, k (T, H), v (T, H'), decay, strength (T,) -> outputs (T, H'), state (H, H')."""
    ### BEGIN SOLUTION
    state = q.new_zeros(q.shape[1], v.shape[1])
    outputs = []
    for t in range(len(q)):
        state = decay[t] * state
        wrong = v[t] - k[t] @ state
        state = state + strength[t] * torch.outer(k[t], wrong)
        outputs.append(q[t] @ state / math.sqrt(q.shape[1]))
    return torch.stack(outputs), state
    ### END SOLUTION


# %% [markdown]
# [[task 15.hybrid-bytes]]
#
# Say how many bytes one sequence takes after `length` tokens in a model whose `layer_types` differ, as in Qwen3-Next (`transformers/models/qwen3_next/modeling_qwen3_next.py`). A layer of the type "full_attention" caches a key and a value for each of `num_key_value_heads` heads of the width `head_dim` at all positions, "sliding_attention" at no more than `sliding_window`. A layer of the type "linear_attention" caches none. It has for each of `linear_num_value_heads` heads a matrix of `linear_key_head_dim` by `linear_value_head_dim`, **always in float32**. It also keeps the inputs of a short convolution at `linear_conv_kernel_dim` positions, however short the text: queries and keys of `linear_num_key_heads` heads, and the values. Inputs and caches take `bytes_each` for each number. Return the bytes of all caches, and those of all that linear layers keep.


# %% 15-hybrid-bytes
def hybrid_bytes(config, length, bytes_each):
    """A dictionary with the keys of a config.json, two whole numbers -> two whole numbers."""
    ### BEGIN SOLUTION
    types, key_width = config["layer_types"], config["linear_key_head_dim"]
    window = min(config["sliding_window"], length)
    positions = types.count("full_attention") * length + types.count("sliding_attention") * window
    caches = bytes_each * 2 * config["num_key_value_heads"] * config["head_dim"] * positions
    values = config["linear_num_value_heads"] * config["linear_value_head_dim"]
    inputs = config["linear_conv_kernel_dim"] * (2 * config["linear_num_key_heads"] * key_width + values)
    return caches, types.count("linear_attention") * (4 * key_width * values + bytes_each * inputs)
    ### END SOLUTION


# %% [markdown]
# [[task 15.per-layer]]
#
# Add per-layer embeddings to the states behind one layer, as Gemma 4 does (`transformers/models/gemma4/modeling_gemma4.py`). A row of `table` has numbers for **all layers side by side**, `P` for each; take those of `layer`, counted from 0, for each token's id, and multiply them by $\sqrt{P}$. The state decides what of them passes: multiply it by `w_gate`, apply the GELU $\tfrac{g}{2}\big(1 + \tanh\big(\sqrt{2/\pi}\,(g + 0.044715\, g^3)\big)\big)$, and multiply by the token's numbers, entry by entry. Multiply the product by `w_out`, divide each row by the root of the mean of its squares (`eps` is added to that mean), multiply it by `gain`, and add it to the state. (Gemma also adds a part to the token's numbers that it makes from the first state; leave that out.)


# %% 15-per-layer
def per_layer_step(x, ids, table, layer, w_gate, w_out, gain, eps):
    """numpy arrays: x (T, D), ids (T,), table (V, layers * P), whole number, w_gate (D, P), w_out (P, D), gain (D,), number -> (T, D)."""
    ### BEGIN SOLUTION
    P = w_gate.shape[1]
    row = table[ids, layer * P : (layer + 1) * P] * np.sqrt(P)
    g = x @ w_gate
    g = g / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (g + 0.044715 * g**3)))
    y = (g * row) @ w_out
    y = y / np.sqrt((y**2).mean(axis=-1, keepdims=True) + eps)
    return x + y * gain
    ### END SOLUTION


# %% [markdown]
# [[task 15.pages]]
#
# Attend through a block table. `k_blocks` and `v_blocks` hold the blocks of all sequences, `P` positions each. `table` lists the blocks of one sequence in the order of its text; it has `length` positions, so its last block may be filled in part, and what stands behind is another sequence's, or nothing. Let the query attend to all of its positions, with scores divided by $\sqrt{H}$.


# %% 15-pages
def paged_attention(q, k_blocks, v_blocks, table, length):
    """q (H,), blocks (M, P, H), ids (m,), a whole number -> output (H,)."""
    ### BEGIN SOLUTION
    keys = k_blocks[table].flatten(0, 1)[:length]
    values = v_blocks[table].flatten(0, 1)[:length]
    weights = torch.softmax(keys @ q / math.sqrt(len(q)), dim=0)
    return weights @ values
    ### END SOLUTION


# %% [markdown]
# [[task 15.fork]]
#
# A sequence of `length` tokens is about to write one more into its paged cache. `table` lists its blocks; `owners[b]` says how many sequences use block `b`, 0 where it is free. A sequence of no tokens has no block yet, and its table is empty. A new block is the free one with the lowest number, and one block is always free. If all of its blocks are full, the sequence takes a new block, at the end of its table. If its last block has room but **others use it too**, it takes a new block in its place (what is in it is copied), and the old one has one user fewer. Otherwise nothing changes. Return the new table, the new owners, and which block is copied to which: `[old, new]`, or `[]` if none is. Leave the given lists as they are.


# %% 15-fork
def append_token(table, owners, length, block_size):
    """Two lists of whole numbers, two whole numbers -> three lists."""
    ### BEGIN SOLUTION
    table, owners, copied = list(table), list(owners), []
    full = length % block_size == 0
    shared = not full and owners[table[-1]] > 1
    if full or shared:
        new = owners.index(0)
        owners[new] = 1
        if shared:
            copied = [table[-1], new]
            owners[table[-1]] -= 1
            table[-1] = new
        else:
            table.append(new)
    return table, owners, copied
    ### END SOLUTION


# %% [markdown]
# [[task 15.indexer]]
#
# Attend to the keys that an indexer chooses, as DeepSeek-V3.2 does. The indexer has `N` small heads with queries of their own and one key for each token, which its heads share. Add up over the heads: `w`, which may be negative, times the ReLU of the dot product. Among the keys that the query may see (`mask`), the `top` with the largest sums are chosen; all of them where fewer are visible. Ties do not decide, and every query may see a key. Then the query attends to the chosen keys alone, with scores divided by $\sqrt{H}$, which may be in the tens of thousands. Return which keys are chosen, as booleans, and the outputs.


# %% 15-indexer
def indexed_attention(index_q, index_k, w, q, k, v, mask, top):
    """index_q (T, N, P), index_k (S, P), w (T, N), q (T, H), k (S, H), v (S, H'), mask (T, S), a whole number -> (T, S), (T, H')."""
    ### BEGIN SOLUTION
    sums = (w[:, :, None] * torch.relu(index_q @ index_k.mT)).sum(dim=1)
    sums = sums.masked_fill(~mask, -torch.inf)
    best = sums.topk(min(top, sums.shape[-1]), dim=-1).indices
    chosen = torch.zeros_like(mask).scatter(-1, best, True) & mask
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~chosen, -torch.inf)
    return chosen, torch.softmax(scores, dim=-1) @ v
    ### END SOLUTION


# %% [markdown]
# [[task 15.muon]]
#
# Take one step of Muon, as `torch.optim.Muon` does, but in the precision of what is given (`torch` takes the five steps below in bfloat16). Bring the running average up to date: `momentum` times the old one plus `1 - momentum` times the gradient. Look one step ahead (Nesterov): the direction is `momentum` times the **new** average plus `1 - momentum` times the gradient. Divide it by its norm (the root of the sum of all squares, which is never 0), and apply five times $X \leftarrow 3.4445\, X + (-4.7750\, G + 2.0315\, G^2)\, X$ with $G = X X^\top$. The step is `rate` times that, times $\sqrt{\max(1, \text{rows}/\text{columns})}$. Before it is subtracted, the weight is multiplied by `1 - rate * weight_decay`. Return the new weight and the new average.


# %% 15-muon
def muon_step(weight, gradient, average, rate, momentum, weight_decay):
    """Three matrices of one shape, three numbers -> two matrices."""
    ### BEGIN SOLUTION
    average = momentum * average + (1 - momentum) * gradient
    x = momentum * average + (1 - momentum) * gradient
    x = x / x.norm()
    for _ in range(5):
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    factor = math.sqrt(max(1, weight.shape[0] / weight.shape[1]))
    return weight * (1 - rate * weight_decay) - rate * factor * x, average
    ### END SOLUTION


# %% [markdown]
# [[task 15.schedule]]
#
# Return the learning rate of a step, counted from 1, under warmup-stable-decay. It rises linearly from 0, reaching `peak` at step `warmup`; it stays there for `stable` more steps; then it falls linearly over `decay` steps to 0, and stays 0. `warmup` and `decay` are at least 1; `stable` may be 0.


# %% 15-schedule
def wsd_rate(step, peak, warmup, stable, decay):
    """Five numbers -> a number."""
    ### BEGIN SOLUTION
    if step < warmup:
        return peak * step / warmup
    if step <= warmup + stable:
        return peak
    return peak * max(0.0, (warmup + stable + decay - step) / decay)
    ### END SOLUTION


# %% [markdown]
# ## Read a config.json
#
# The entries and the three formulas are explained in [Read a config.json](../../_build/html/book/15_what_changed_more.html#config-names).

# %% [markdown]
# [[task 15.parameters]]
#
# Count a model's parameters from its `config.json`. `config` is a dictionary with the keys that transformers uses. Each layer has four attention matrices without biases, one gated feed-forward network of three matrices with the hidden width `intermediate_size`, and two RMSNorms; one more norm stands at the end. Where there is an entry `num_experts`, every layer has so many networks of the width `moe_intermediate_size` in place of the one, and a router, which is one matrix; a token passes through `num_experts_per_tok` of them. Without an entry `head_dim`, the heads divide `hidden_size` evenly. Where `tie_word_embeddings` is true, the output matrix is the table of tokens. Return the number of all parameters, and of those that one token meets: all but the experts that are not chosen.


# %% 15-parameters
def count_parameters(config):
    """A dictionary with the keys of a config.json -> two whole numbers."""
    ### BEGIN SOLUTION
    d, n, k = config["hidden_size"], config["num_attention_heads"], config["num_key_value_heads"]
    h = config.get("head_dim", d // n)
    attention = 2 * d * n * h + 2 * d * k * h
    if "num_experts" in config:
        expert = 3 * d * config["moe_intermediate_size"]
        network = config["num_experts"] * (expert + d)
        unused = (config["num_experts"] - config["num_experts_per_tok"]) * expert
    else:
        network, unused = 3 * d * config["intermediate_size"], 0
    tables = config["vocab_size"] * d * (1 if config["tie_word_embeddings"] else 2)
    layers = config["num_hidden_layers"]
    total = tables + layers * (attention + network + 2 * d) + d
    return total, total - layers * unused
    ### END SOLUTION


# %% [markdown]
# [[task 15.cache]]
#
# Say how many bytes the KV cache of one sequence takes after `length` tokens. For each position that a layer holds, it keeps one key and one value for each key-value head (`num_key_value_heads` of the width `head_dim`). With an entry `kv_lora_rank` it keeps a latent of that width instead, and one rotary key of the width `qk_rope_head_dim`, which all heads share. `layer_types` has one entry for each layer: "sliding_attention" holds at most `sliding_window` positions, "full_attention" all.


# %% 15-cache
def cache_size(config, length, bytes_each):
    """A dictionary with the keys of a config.json, two whole numbers -> a whole number."""
    ### BEGIN SOLUTION
    if "kv_lora_rank" in config:
        numbers = config["kv_lora_rank"] + config["qk_rope_head_dim"]
    else:
        numbers = 2 * config["num_key_value_heads"] * config["head_dim"]
    types = config["layer_types"]
    positions = sum(min(config["sliding_window"], length) if kind == "sliding_attention" else length for kind in types)
    return bytes_each * numbers * positions
    ### END SOLUTION


# %% [markdown]
# [[task 15.operations]]
#
# Count the floating-point operations of one decoding step. `weights` is how many weights the token is multiplied by. In each layer, every query head (`num_attention_heads` of the width `head_dim`) also scores the positions that it sees and mixes their values. `length` is the number of tokens so far, the new one included; layers of the type "sliding_attention" see the newest `sliding_window` of them. Count a multiply-add as two operations, and nothing but products.


# %% 15-operations
def token_operations(config, weights, length):
    """A dictionary with the keys of a config.json, two whole numbers -> a whole number."""
    ### BEGIN SOLUTION
    types = config["layer_types"]
    seen = sum(min(config["sliding_window"], length) if kind == "sliding_attention" else length for kind in types)
    attention = 4 * config["num_attention_heads"] * config["head_dim"] * seen
    return 2 * weights + attention
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 15-choose · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/15_what_changed.html#what-changed-windows)
#
# You are to serve a chat model to many people at once, with conversations of up to 100,000 tokens, and the cache does not fit into memory. Name three changes of this chapter that make the cache smaller. For each, say what it saves and what it costs, and which of them can be applied to a model that has already been trained. Five to eight sentences.

# %% 15-choose [markdown] points=3
# Windows in most layers hold the newest W positions only: with five of six layers windowed and W much smaller than the text, about five sixths of the cache are saved. What lies outside is reached only through the layers that see everything; the model has to be trained so. Latent attention stores one vector and one short key for each token in place of all heads' keys and values, at the price of a matrix product on the query's side; it, too, is part of training. Fewer bits can be applied to a finished model: 4 bits take a quarter of bfloat16's bytes and a little for the scales of the groups, if keys are grouped by channel, and cost a little quality; at 2 bits the loss is large. Keeping the first tokens and a window of the newest also works on a finished model; it forgets the middle of the text. A paged cache with shared blocks loses nothing: it saves the reserved space that is not used, and common beginnings are stored once. (Three of these, each with what it saves and costs, and a right statement on training, are enough.)
