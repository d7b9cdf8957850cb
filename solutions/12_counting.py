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
# # 12 · Counting a transformer
#
# You will count operations, bytes, parameters and memory: of one product, of a layer, of whole models, of a training run and of a model that generates.
# Every answer is a few numbers.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Counting a
# transformer* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 12-batching | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences in a batch (`batch`), `T` tokens that pass through (`n_tokens`), `S` tokens that they attend to (`context`), `D` model width (`d_model`), `N` query heads (`n_heads`), `K` key-value heads (`n_kv_heads`), `H` the width
# of one head (`head_width`), `F` the hidden width of the feed-forward network (`d_hidden`), `V` words (`vocab_size`), `L` layers (`n_layers`).
#
# **Conventions.** They hold everywhere unless a task says otherwise. A multiply-add is **two** operations. The scores are computed for **all pairs** of queries and keys, masked or not. There are **no biases**. Every step reads its inputs from
# memory once and writes its result there once, like a separate kernel. Where a task says bytes, the answer is the count of numbers times `bytes_per_number`. A GB is 10^9 bytes, a GiB is 2^30 bytes; a TFLOP/s is 10^12 operations per second.

# %% 12-setup
import math

from softlookup import check, hint

# %% [markdown]
# ## One product, one layer

# %% [markdown]
# [[task 12.product]]
#
# Return three numbers for the product of `x` (`rows`, `d_in`) and a weight matrix (`d_in`, `d_out`): its operations; the bytes that are moved (both factors are read, the result is written); and its arithmetic intensity, in operations per
# byte.


# %% 12-product
def product_cost(rows, d_in, d_out, bytes_per_number):
    """Four numbers -> operations, bytes, operations per byte."""
    ### BEGIN SOLUTION
    flops = 2 * rows * d_in * d_out
    numbers = rows * d_in + d_in * d_out + rows * d_out
    n_bytes = numbers * bytes_per_number
    return flops, n_bytes, flops / n_bytes
    ### END SOLUTION


# %% [markdown]
# [[task 12.table]]
#
# Count the operations and bytes of each step of a layer, by the conventions above. The layer is like those of the first transformer: `D = N * H`, as many key-value heads as query heads, and `F = 4 * D`. `B` sequences of `T` tokens pass through it. Return a list of **eight
# rows**, in this order, each with three numbers: operations, bytes, intensity.
#
# 1. Queries, keys and values together: three products, each of which reads the tokens again, and its own matrix.
# 2. Scores: queries times keys, for each head.
# 3. Softmax: reads the scores and writes the weights. Count **six** operations for each score (divide by $\sqrt{H}$, maximum, subtract, exp, sum, divide).
# 4. Mixing: weights times values.
# 5. Output: the mixed values times $W_O$.
# 6. Up: tokens times the first matrix of the feed-forward network.
# 7. ReLU: one operation for each hidden number, which is read and written.
# 8. Down: hidden numbers times the second matrix.
#
# Norms and residual connections are left out; transposing and reshaping cost nothing.


# %% 12-table
def layer_table(batch, n_tokens, n_heads, head_width, bytes_per_number):
    """Five numbers -> eight rows of three numbers."""
    ### BEGIN SOLUTION
    d_model = n_heads * head_width
    tokens = batch * n_tokens
    x = tokens * d_model
    hidden = 4 * x
    scores = batch * n_heads * n_tokens**2
    square = d_model**2
    dense = 2 * x * d_model, 2 * x + square
    pairs = 2 * scores * head_width, 2 * x + scores
    wide = 2 * hidden * d_model, x + 4 * square + hidden
    softmax, relu = (6 * scores, 2 * scores), (hidden, 2 * hidden)
    three = [3 * one for one in dense]
    table = []
    for flops, numbers in [three, pairs, softmax, pairs, dense, wide, relu, wide]:
        n_bytes = numbers * bytes_per_number
        table.append([flops, n_bytes, flops / n_bytes])
    return table
    ### END SOLUTION


# %% [markdown]
# [[task 12.layer]]
#
# Return the operations of the **matrix products** of one layer, for one sequence. The text has `S = context` tokens. The **last** `T` of them are new and pass through the layer; the keys and values of the first `S - T` are cached (with
# `S = T` there is no cache). Key-value heads may be shared: `K` may be smaller than `N`, and `N * H` need not be `D`. The feed-forward network has two matrices, or three if `gated` is True (a gate and up, both `D` to `F`, then
# down).
#
# If `causal` is True, scores and mixing compute only the pairs that the causal mask allows, each of them exactly once: count these pairs. If it is False, they compute all `T * S` pairs.


# %% 12-layer
def layer_flops(n_tokens, context, d_model, n_heads, n_kv_heads, head_width, d_hidden, gated, causal):
    """Seven numbers and two booleans -> operations of the products, one layer, one sequence."""
    ### BEGIN SOLUTION
    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    projections = 2 * n_tokens * d_model * (2 * wide + 2 * narrow)
    hidden = 2 * n_tokens * d_model * d_hidden * (3 if gated else 2)
    pairs = n_tokens * context
    if causal:
        pairs -= n_tokens * (n_tokens - 1) // 2
    attention = 4 * pairs * wide
    return projections + attention + hidden
    ### END SOLUTION


# %% [markdown]
# ## Whole models

# %% [markdown]
# [[task 12.parameters]]
#
# Count the parameters of a decoder-only model like the Llama models. It has an embedding table with `V` rows; `L` layers, each with attention (`N` query heads, `K` key-value heads, all of width `H`), a gated feed-forward network (three
# matrices) and two RMS norms (a gain of `D` numbers each, no bias); one more RMS norm at the end; and an output matrix of the table's size. If `tied` is True, there is no output matrix: the table is used again.
#
# Return two numbers: all parameters, and how many of them take part in a **matrix product** for every token: all matrices of the layers, and the matrix that makes the logits, tied or not. (Looking up a row of the table is not a product, and
# neither is multiplying by a gain.)


# %% 12-parameters
def count_model(vocab_size, d_model, n_heads, n_kv_heads, head_width, d_hidden, n_layers, tied):
    """Seven numbers and a boolean -> all parameters, and those in products."""
    ### BEGIN SOLUTION
    wide, narrow = n_heads * head_width, n_kv_heads * head_width
    attention = 2 * d_model * wide + 2 * d_model * narrow
    hidden = 3 * d_model * d_hidden
    table = vocab_size * d_model
    matrices = n_layers * (attention + hidden)
    norms = (2 * n_layers + 1) * d_model
    tables = table if tied else 2 * table
    return tables + matrices + norms, matrices + table
    ### END SOLUTION


# %% [markdown]
# [[task 12.token]]
#
# Count the operations of a decoder-only model **for one token**, matrix products only. `n_weights` is the number of weights in products (the second number of the previous task). The token attends to `S = context` tokens,
# including itself. Return two numbers: the operations of the forward pass; and those of training on this token, forward and backward pass together. In the backward pass each product of the forward pass becomes two of the same size.


# %% 12-token
def token_flops(n_weights, n_layers, n_heads, head_width, context):
    """Five numbers -> operations of the forward pass, operations of training."""
    ### BEGIN SOLUTION
    attention = 4 * n_layers * n_heads * head_width * context
    forward = 2 * n_weights + attention
    return forward, 3 * forward
    ### END SOLUTION


# %% [markdown]
# [[task 12.encoder-decoder]]
#
# Return the operations of the matrix products in the forward pass of an encoder-decoder: those of the encoder, and those of the decoder (with the logits). The model reads a source of `S` tokens and is given a target of `T` tokens, for `B`
# sentence pairs. Both stacks have `L` layers, `N * H = D`, as many key-value heads as query heads, and a feed-forward network of two matrices. A decoder layer also has cross-attention: queries from the target, keys and values from the
# encoder's output, scores for all pairs; all of it counts for the decoder. The logits are computed at every position of the target.


# %% 12-encoder-decoder
def translator_flops(batch, source, target, d_model, d_hidden, n_layers, vocab_size):
    """Seven numbers -> operations of the encoder, operations of the decoder."""
    ### BEGIN SOLUTION
    square, hidden = d_model**2, d_model * d_hidden
    encoder = source * (8 * square + 4 * hidden) + 4 * source**2 * d_model
    decoder = target * (8 * square + 4 * hidden) + 4 * target**2 * d_model
    cross = 4 * target * square + 4 * source * square + 4 * target * source * d_model
    logits = 2 * target * d_model * vocab_size
    return batch * n_layers * encoder, batch * (n_layers * (decoder + cross) + logits)
    ### END SOLUTION


# %% [markdown]
# ## Training

# %% [markdown]
# [[task 12.days]]
#
# How long does a training run take, in **[[12.days:unit]]**? Take six operations for each parameter and token (this estimate leaves out scores and mixing). `sheet` is a dictionary with the data sheet of one device, in **TFLOP/s**: the peak of dense products
# under `"dense"`, the peak with structured sparsity under `"sparse"`. The weights are ordinary ones, without a pattern of zeros. `share` is the fraction of the peak that is reached, between 0 and 1.


# %% 12-days
def training_time(n_parameters, n_tokens, n_devices, sheet, share):
    """Three numbers, a dictionary, a number -> a time."""
    ### BEGIN SOLUTION
    unit_s = 86400.0  # variant 12.days:unit_s
    flops = 6 * n_parameters * n_tokens
    flops_per_s = n_devices * sheet["dense"] * 1e12 * share
    return flops / flops_per_s / unit_s
    ### END SOLUTION


# %% [markdown]
# [[task 12.states]]
#
# How many **bytes** do weights, gradients, master copy and optimizer states take during training? (They do not depend on the batch.) Adam stores two numbers of its own for each parameter, always in float32 here. The recipe is one of three strings:
#
# - `"float32"`: weights and gradients in float32.
# - `"master"`: weights and gradients in half precision, and a float32 copy of the weights, to which the updates are applied.
# - `"autocast"`: weights and gradients in float32. Half-precision copies of the weights are made where a product needs them and saved until the backward pass: do not count them.
#
# Return four numbers: the bytes of the weights, the gradients, the master copy (0 where there is none) and Adam's states.


# %% 12-states
def state_bytes(n_parameters, recipe):
    """A number and a string -> bytes of weights, gradients, master copy, optimizer."""
    ### BEGIN SOLUTION
    size = 2 if recipe == "master" else 4
    weights = gradients = size * n_parameters
    master = 4 * n_parameters if recipe == "master" else 0
    adam = 2 * 4 * n_parameters
    return weights, gradients, master, adam
    ### END SOLUTION


# %% [markdown]
# [[task 12.activations]]
#
# Return the bytes that one layer saves in the forward pass for the backward pass. All numbers are in half precision, two bytes. The layer has `N * H = D`, as many key-value heads as query heads, and a feed-forward network of two matrices
# with an activation function between them. There is no dropout. The layer saves: the input of the first norm; the input of queries, keys and values (one tensor, which all three need); queries; keys; values; the attention weights (the
# softmax's result); the input of the output matrix; the input of the second norm; the input of the first matrix of the network; the input of the activation function; the input of the second matrix.
#
# If `fused` is True, scores, softmax and mixing are one kernel, which computes the attention weights again in the backward pass and does not save them.


# %% 12-activations
def activation_bytes(batch, n_tokens, d_model, n_heads, d_hidden, fused):
    """Five numbers and a boolean -> bytes saved by one layer."""
    ### BEGIN SOLUTION
    tokens = batch * n_tokens
    narrow = 8 * tokens * d_model
    wide = 2 * tokens * d_hidden
    weights = 0 if fused else batch * n_heads * n_tokens**2
    return 2 * (narrow + wide + weights)
    ### END SOLUTION


# %% [markdown]
# ## Writing, and batches

# %% [markdown]
# [[task 12.cache]]
#
# How many sequences fit into memory at the same time, each with a KV cache of `S = context` tokens? The memory is a whole number of **GB**. All numbers (weights, keys and values) are stored in **[[12.cache:number_format]]** each. The weights are stored once. The cache
# holds keys and values, in every layer. Return an integer, 0 if not even one sequence fits.


# %% 12-cache
def largest_batch(memory, n_parameters, n_layers, n_heads, n_kv_heads, head_width, context):
    """Seven numbers -> the number of sequences."""
    ### BEGIN SOLUTION
    size = 2  # variant 12.cache:size
    free = memory * 10**9 - size * n_parameters
    each = 2 * size * n_layers * n_kv_heads * head_width * context
    return max(0, int(free // each))
    ### END SOLUTION


# %% [markdown]
# [[task 12.decode]]
#
# Return the arithmetic intensities of two steps of decoding. A model generates one new token in each of `B` sequences, each with `S = context` tokens so far (the new one included). The two steps are:
#
# - **dense**: the vectors of the `B` new tokens, `(B, D)`, times a matrix `(D, F)`;
# - **scores**: in each sequence and head, the new query times the keys. Each sequence has its own keys, `K` heads of `S` keys of width `H`, which are read once, even if several query heads share them. Queries and keys are read, the scores
#   are written.


# %% 12-decode
def decode_intensities(batch, context, d_model, d_hidden, n_heads, n_kv_heads, head_width, bytes_per_number):
    """Eight numbers -> intensity of the dense product, intensity of the scores."""
    ### BEGIN SOLUTION
    dense_flops = 2 * batch * d_model * d_hidden
    dense_numbers = batch * d_model + d_model * d_hidden + batch * d_hidden
    score_flops = 2 * batch * n_heads * context * head_width
    queries = batch * n_heads * head_width
    keys = batch * n_kv_heads * context * head_width
    scores = batch * n_heads * context
    score_numbers = queries + keys + scores
    dense = dense_flops / (dense_numbers * bytes_per_number)
    return dense, score_flops / (score_numbers * bytes_per_number)
    ### END SOLUTION


# %% [markdown]
# [[task 12.ridge]]
#
# From which batch size on is a dense layer no longer limited by memory? `B` sequences of `T` tokens pass through a matrix `(D, F)`. `ridge` is the machine's ridge point, above 0: peak divided by bandwidth, in operations per byte. Return the
# **smallest** `B`, at least 1, at which the product's intensity is not below the ridge; or 0 if no batch is large enough.


# %% 12-ridge
def smallest_batch(n_tokens, d_model, d_hidden, bytes_per_number, ridge):
    """Five numbers -> the number of sequences."""
    ### BEGIN SOLUTION
    needed = ridge * bytes_per_number * d_model * d_hidden
    gained = 2 * d_model * d_hidden - ridge * bytes_per_number * (d_model + d_hidden)
    if gained <= 0:
        return 0
    return math.ceil(needed / gained / n_tokens)
    ### END SOLUTION


# %% [markdown]
# [[task 12.step]]
#
# Return the least time of one decoding step in seconds, by the roofline, and the throughput in tokens per second, over all sequences together. A step takes at least as long as its bytes take to move and as its operations take to compute, and
# both can happen at the same time. The weights are read once for the whole batch; each sequence has a KV cache of its own, which is read once. `weight_bytes` and `cache_bytes` (of one sequence) are in bytes; `token_flops` is the number of
# operations for the token of one sequence. `gb_per_s` is the memory bandwidth in GB/s, `tflop_per_s` the processor's peak in TFLOP/s.


# %% 12-step
def decode_step(batch, weight_bytes, cache_bytes, token_flops, gb_per_s, tflop_per_s):
    """Six numbers -> seconds, tokens per second."""
    ### BEGIN SOLUTION
    moving_s = (weight_bytes + batch * cache_bytes) / (gb_per_s * 1e9)
    computing_s = batch * token_flops / (tflop_per_s * 1e12)
    step_s = max(moving_s, computing_s)
    return step_s, batch / step_s
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 12-batching · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/12_counting.html#counting-decode)
#
# Somebody serves a model and says: "We generate for 64 people at once, so every byte that we read now does 64 times the work, in attention as everywhere." Say for which steps that is right, for which it is not and why, and name two things that
# do raise the intensity of attention during generation. Four to seven sentences.

# %% 12-batching [markdown] points=3
# It is right for the products with weights: queries, keys, values, output, feed-forward network and logits. There the matrix is read once and multiplied by 64 vectors instead of one, so its bytes are shared and the intensity is
# nearly 64 times as high. It is wrong for scores and mixing. Each sequence has its own keys and values, which no other sequence can use: 64 sequences bring 64 times the operations and 64 times the bytes, and the ratio does not change: it stays
# below one operation per byte. The more sequences and the longer their texts, the more of a step's time is spent on reading caches. What does help is reading each key for more than one query: heads that share keys and values (grouped-query or
# multi-query attention), several new tokens at once (checking guessed tokens, or reading a prompt), or a common prefix of many sequences whose keys are read once. Fewer bytes per number help as well.
