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
# # 8 · The decoder and masks
#
# You will decide which token may attend to which, apply masks in the softmax, find out whether the future leaks, prepare inputs and labels for three kinds of model, and
# finally write your own encoder-decoder as a class.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *The decoder and
# masks* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 08-or | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences in a batch, `T` query positions, `S` key positions, `D` model width, `N` heads, `H` the width of one head, `F` the hidden width of the feed-forward network, `V` words, `L` layers. **Masks** are boolean, and
# **True means may attend**, unless a task says otherwise (one does, deliberately). A mask has one row for each query and one column for each key, or a shape that broadcasts to the scores `(B, N, T, S)`. **Weights.** A vector is a row, so a
# projection is `x @ w`. In each projection matrix, head `i` has the columns of the slice `i*H : (i+1)*H`.

# %% 08-setup
import math

import torch
from torch import nn

from softlookup import check, hint


def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(z):
    return z.transpose(1, 2).flatten(2)


# %% [markdown]
# ## Which tokens may attend to which?
#
# [[task 08.causal]]
#
# Return the causal mask of `T` queries and `S` keys, a boolean tensor of shape `(T, S)`. The queries are the **newest** of the tokens, so `S` is at least `T`: with a KV cache there are more keys than queries, and query `t` stands at position
# `S - T + t`. Each query may attend to its own position and to all earlier ones.


# %% 08-causal
def causal_mask(n_queries, n_keys):
    """T and S, two numbers -> (T, S), True = may attend."""
    ### BEGIN SOLUTION
    queries = torch.arange(n_queries) + n_keys - n_queries
    keys = torch.arange(n_keys)
    return keys[None, :] <= queries[:, None]
    ### END SOLUTION


# %% [markdown]
# [[task 08.padding]]
#
# Short rows of a batch are padded with `pad_id`. Return the padding mask, with four axes so that it broadcasts to scores `(B, N, T, S)`: no query may attend to padding, in any head. The padding may be at either end of a row, and a real
# token may have the id 0.


# %% 08-padding
def padding_mask(ids, pad_id):
    """ids (B, S), a number -> (B, 1, 1, S), True = a real token."""
    ### BEGIN SOLUTION
    return (ids != pad_id)[:, None, None, :]
    ### END SOLUTION


# %% [markdown]
# [[task 08.combine]]
#
# A token in a decoder may attend neither to later tokens nor to padding. Return one mask for both. Hide padding as keys only, but for every query, even one that is padding itself. The padding may be at either end of a row; a query that is left with no key
# keeps a row of False.


# %% 08-combine
def decoder_mask(ids, pad_id):
    """ids (B, T), a number -> (B, 1, T, T), True = may attend."""
    ### BEGIN SOLUTION
    length = ids.shape[1]
    return causal_mask(length, length) & padding_mask(ids, pad_id)
    ### END SOLUTION


# %% [markdown]
# [[task 08.convert]]
#
# You are given a mask from another library, in which **True means may NOT attend**. Convert it to an additive mask: a tensor of the scores' shape and dtype with 0 where a query may attend and -inf where it may not. The mask has any shape
# that broadcasts to the scores. (The values of the scores do not matter here: some may be -inf already. Their dtype may be half precision.)


# %% 08-convert
def to_additive(scores, mask):
    """scores (..., T, S), mask of a shape that broadcasts to it, True = may NOT attend -> like scores, 0 or -inf."""
    ### BEGIN SOLUTION
    return torch.zeros_like(scores).masked_fill(mask, float("-inf"))
    ### END SOLUTION


# %% [markdown]
# [[task 08.masked-softmax]]
#
# Compute attention weights from scores and a mask (True = may attend, again). Where the mask is False, the weight is exactly 0; the other weights of a row sum to 1. A fully masked row gets zeros, never NaN. Scores are finite and may be in the thousands;
# gradients must flow, and the result has the dtype of the scores.


# %% 08-masked-softmax
def masked_softmax(s, mask):
    """s (..., T, S), mask of a shape that broadcasts to it -> weights (..., T, S)."""
    ### BEGIN SOLUTION
    hidden = s.masked_fill(~mask, float("-inf"))
    a = torch.softmax(hidden, dim=-1)
    return a.masked_fill(~mask, 0.0)
    ### END SOLUTION


# %% [markdown]
# [[task 08.leak]]
#
# A model has `L` layers of self-attention. Each layer has its own mask and a **residual connection**, so that every token also keeps its own state. Return two things, the table `reached` and the verdict (True or False, as a bool or a tensor with one value). The table says which inputs can reach which outputs: `reached[t, s]` is True if
# changing the input token `s` can change the last layer's output at position `t` with some weights. The verdict says whether the future leaks: it is True if any output can be reached by a token that comes **after** it.


# %% 08-leak
def what_reaches(masks):
    """masks (L, T, T), from the first layer to the last -> reached (T, T), and True or False."""
    ### BEGIN SOLUTION
    itself = torch.eye(masks.shape[-1], dtype=torch.bool)
    reached = itself.float()
    for mask in masks:
        reached = ((mask | itself).float() @ reached).clamp(max=1)
    seen = reached > 0
    return seen, seen.triu(1).any()
    ### END SOLUTION


# %% [markdown]
# [[task 08.labels]]
#
# Make the inputs and the labels of a decoder from sentences, which are lists of ids without special tokens. The **labels** of a sentence, which the decoder has to predict, are its ids and then the end token. Its **inputs** are the labels
# shifted right by one position: the start token first, the last id dropped. Return two tables, inputs first, both padded on the right with `pad_id` to the length of the longest row. Drop the last id of each sentence's labels before you pad, so
# that an end token is never an input, not even in a shorter sentence. A sentence may be empty.


# %% 08-labels
def inputs_and_labels(sentences, start_id, end_id, pad_id):
    """Lists of ids, three numbers -> inputs (B, T) and labels (B, T), integers."""
    ### BEGIN SOLUTION
    rows = [[start_id, *sentence, end_id] for sentence in sentences]
    longest = max(map(len, rows)) - 1
    inputs = torch.full((len(rows), longest), pad_id)
    labels = torch.full((len(rows), longest), pad_id)
    for row, ids in enumerate(rows):
        inputs[row, : len(ids) - 1] = torch.tensor(ids[:-1])
        labels[row, : len(ids) - 1] = torch.tensor(ids[1:])
    return inputs, labels
    ### END SOLUTION


# %% [markdown]
# [[task 08.masked-tokens]]
#
# An encoder sees the tokens on both sides, so it is not trained to predict the next token, but tokens that are hidden from it. Two tables of random draws are given, of the shape of `ids`: numbers `u`, each at least 0 and below 1, and token ids
# `other`. A token is **chosen** if its number `u` is below `share` and it is not special. The same number decides what the inputs hold at a chosen position:
#
# - If `u` is below 0.8 times the share, `mask_id` replaces the token.
# - If `u` is 0.8 times the share or more, but below 0.9 times the share, the token of `other` at the same position replaces it.
# - If `u` is 0.9 times the share or more, the token stays as it is.
#
# The labels are the original ids of **all** chosen tokens, and **[[08.masked-tokens:ignore]]** everywhere else. Return inputs and labels.


# %% 08-masked-tokens
def hide_tokens(ids, special, u, other, mask_id, share):
    """ids, special (True = leave alone), u and other, all (B, T); two numbers -> inputs and labels, both (B, T)."""
    ### BEGIN SOLUTION
    ignore = -100  # variant 08.masked-tokens:ignore
    chosen = (u < share) & ~special
    masked = chosen & (u < 0.8 * share)
    exchanged = chosen & ~masked & (u < 0.9 * share)
    inputs = torch.where(masked, mask_id, torch.where(exchanged, other, ids))
    labels = torch.where(chosen, ids, ignore)
    return inputs, labels
    ### END SOLUTION


# %% [markdown]
# [[task 08.logits]]
#
# Compute the last step of a language model. The logit of a word is the dot product of a hidden state with that word's row in the embedding table (tied weights: there is no other matrix). Return [[08.logits:wording]] of the probabilities. Within
# one position, the logits may be so far apart that some probabilities are too small for a float. Between positions, all logits of one may be hundreds below those of another.


# %% 08-logits
def log_probabilities(x, table):
    """x (B, T, D), table (V, D) -> (B, T, V)."""
    ### BEGIN SOLUTION
    unit = 1.0  # variant 08.logits:unit
    return torch.log_softmax(x @ table.T, dim=-1) / unit
    ### END SOLUTION


# %% [markdown]
# ## The decoder
#
# [[task 08.cross-attention]]
#
# Compute attention in `N` heads from one sequence to another: queries come from `x`, keys and values from `memory`. Split into heads, compute the scores, divide by $\sqrt{H}$, mask, apply the softmax, mix the values, merge the heads, and
# multiply by `w_o`. The mask has any shape that broadcasts to `(B, N, T, S)`, so it may differ between heads, or have fewer axes. If all keys of a query are masked, its mixed values are zeros. Scores may be in the tens
# of thousands. `split_heads` and `merge_heads` are given at the top.


# %% 08-cross-attention
def cross_attention(x, memory, w_q, w_k, w_v, w_o, n_heads, mask=None):
    """x (B, T, D), memory (B, S, D), w_q, w_k, w_v (D, N*H), w_o (N*H, D), N, a mask -> (B, T, D)."""
    ### BEGIN SOLUTION
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(memory @ w_k, n_heads)
    v = split_heads(memory @ w_v, n_heads)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    a = torch.softmax(s, dim=-1) if mask is None else masked_softmax(s, mask)
    return merge_heads(a @ v) @ w_o
    ### END SOLUTION


# %% [markdown]
# The next cell is given. It makes a module with weights of its own from your function (with `memory` = `x` it is self-attention), and defines the other parts of a layer from earlier chapters. `nn.LayerNorm(D)` has a gain called `weight`, a
# bias called `bias`, and eps = 1e-5.


# %% 08-parts
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Parameter(torch.empty(d_model, d_model)) for _ in range(4))

    def forward(self, x, memory, mask=None):
        return cross_attention(x, memory, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads, mask)


def feed_forward(d_model, d_hidden):
    return nn.Sequential(nn.Linear(d_model, d_hidden), nn.ReLU(), nn.Linear(d_hidden, d_model))


class EncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = feed_forward(d_model, d_hidden)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask):
        normed = self.norm_1(x)
        x = x + self.attention(normed, normed, mask)
        return x + self.feed_forward(self.norm_2(x))


def sinusoidal(length, d_model):
    """Positions 0, 1, ... -> (T, D) for an even D: sine in the even columns, cosine in the odd ones."""
    turns = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * turns
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


# %% [markdown]
# [[task 08.decoder-layer]]
#
# Write the decoder layer in the style of `EncoderLayer`, with **the norm first**: $x + \text{part}(\text{norm}(x))$, three times. First self-attention with `mask`; then cross-attention to the encoder's output with `memory_mask` (the memory
# gets no further norm: the encoder has already normalised it); then the feed-forward network at each position. Name the parts `attention` and `cross` (a `MultiHeadAttention` each) and `feed_forward` (made by the function of that name), and the norms `norm_1`, `norm_2` and `norm_3`
# (`nn.LayerNorm` each), in this order; there are no other parameters. The check replaces your weights with its own. With the attention's biases at zero, this is `nn.TransformerDecoderLayer(..., norm_first=True)`.


# %% 08-decoder-layer
class DecoderLayer(nn.Module):
    """x (B, T, D), memory (B, S, D), mask (T, T) or (B, 1, T, T), memory_mask (B, 1, 1, S) -> (B, T, D)."""

    def __init__(self, d_model, n_heads, d_hidden):
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.cross = MultiHeadAttention(d_model, n_heads)
        self.feed_forward = feed_forward(d_model, d_hidden)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))
        ### END SOLUTION

    def forward(self, x, memory, mask, memory_mask):
        ### BEGIN SOLUTION
        normed = self.norm_1(x)
        x = x + self.attention(normed, normed, mask)
        x = x + self.cross(self.norm_2(x), memory, memory_mask)
        return x + self.feed_forward(self.norm_3(x))
        ### END SOLUTION


# %% [markdown]
# [[task 08.transformer]]
#
# Write your own encoder-decoder, from ids to logits. Sentences may be of any length; each has at least one real token.
#
# - **Embed** (`embed`) source and target in the same way: the rows of `embedding`, an `nn.Parameter` of shape `(V, D)`, times $\sqrt{D}$, plus sinusoidal positions from 0 on (`sinusoidal`, in the embedding's dtype).
# - **Encoder**: `encoder`, an `nn.ModuleList` of `L` `EncoderLayer`s (given above), then the norm `encoder_norm`. The source's padding is masked.
# - **Decoder**: `decoder`, an `nn.ModuleList` of `L` of your `DecoderLayer`s, then the norm `decoder_norm`. Self-attention is causal, and has no other mask; cross-attention attends to the encoder's output, whose padding is masked.
# - **Logits**: the dot products with the rows of `embedding`. No softmax.
#
# The norms are `nn.LayerNorm(D)`, eps = 1e-5, and come first in each layer (pre-LN); that is why each stack ends with one more. There are no parameters besides those of these parts. Between the embeddings and the logits this is what `nn.Transformer(...,
# norm_first=True)` computes with the biases of its attention at zero; in its masks, True means may NOT attend.


# %% 08-transformer
class Transformer(nn.Module):
    """source_ids (B, S), target_ids (B, T) -> logits (B, T, V)."""

    def __init__(self, vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id):
        super().__init__()
        ### BEGIN SOLUTION
        sizes = d_model, n_heads, d_hidden
        self.pad_id = pad_id
        self.embedding = nn.Parameter(torch.empty(vocab_size, d_model))
        self.encoder = nn.ModuleList([EncoderLayer(*sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(*sizes) for _ in range(n_layers)])
        self.encoder_norm = nn.LayerNorm(d_model)
        self.decoder_norm = nn.LayerNorm(d_model)
        ### END SOLUTION

    def embed(self, ids):
        ### BEGIN SOLUTION
        x = self.embedding[ids] * math.sqrt(self.embedding.shape[1])
        return x + sinusoidal(ids.shape[1], self.embedding.shape[1]).to(self.embedding)
        ### END SOLUTION

    def forward(self, source_ids, target_ids):
        ### BEGIN SOLUTION
        real = padding_mask(source_ids, self.pad_id)
        length = target_ids.shape[1]
        past = causal_mask(length, length)
        x = self.embed(source_ids)
        for layer in self.encoder:
            x = layer(x, real)
        memory = self.encoder_norm(x)
        y = self.embed(target_ids)
        for layer in self.decoder:
            y = layer(y, memory, past, real)
        return self.decoder_norm(y) @ self.embedding.T
        ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 08-or · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/08_decoder_and_masks.html#decoder-combine)
#
# "Several masks are combined by an element-wise OR." Suppose that this sentence stands beside a drawing of masks in which a tick means that a token may attend. Say for which masks the sentence is right, what goes wrong if it is applied to the ticks, and how you would notice the mistake in a program that
# runs without an error. Three to six sentences.

# %% 08-or [markdown] points=3
# OR is right for masks that say what is hidden: a pair is hidden if the key lies in the future or is padding. With ticks for "may attend", a pair is allowed only if both masks allow it, so the masks are combined by AND; by De Morgan the two
# are the same statement. With OR on ticks, one mask is enough: words may attend to later words, because these are not padding, and to padding, where it lies in the past. Nothing fails, shapes and sums are as they should be, and the training
# loss even gets better, because the answers leak. To notice it, change one later token and see whether earlier outputs change, or count the ticks; or compare the model in training with the model when it generates.
