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
# You will say which token may attend to which, make a softmax obey, find out whether the future leaks, lay out inputs and labels for three kinds of model, and in
# the end write an encoder-decoder of your own, as a class.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *The decoder and
# masks* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 08-or | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences in a batch, `T` query positions, `S` key positions, `D` model width, `N` heads, `H` the width of one head, `F` the hidden width of the feed-forward network, `V` words, `L` layers. **Masks** are boolean, and
# **True means may attend**, unless a task says otherwise (one does, on purpose). A mask has one row for each query and one column for each key, or a shape that broadcasts to the scores `(B, N, T, S)`. **Weights.** A vector is a row, so a
# projection is `x @ w`. Head `i` owns the columns `i*H` to `(i+1)*H`.

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
# `T` tokens look at `S` keys, `S` at least `T`. The queries are the **newest** of the tokens: where keys of earlier tokens are kept in a cache, there are more keys than queries, and query `t` stands at position `S - T + t`. Each may attend
# at itself and at what came before it. Return the boolean mask, as a tensor.


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
# Short rows of a batch are filled up with `pad_id`. Nobody may attend to such a place, whichever head and whichever query asks. Return a mask of four axes that broadcasts to scores `(B, N, T, S)`. Rows may be filled up at either end, and a
# real token may have the id 0.


# %% 08-padding
def padding_mask(ids, pad_id):
    """ids (B, S), a number -> (B, 1, 1, S), True = a real token."""
    ### BEGIN SOLUTION
    return (ids != pad_id)[:, None, None, :]
    ### END SOLUTION


# %% [markdown]
# [[task 08.combine]]
#
# A decoder's tokens may attend neither ahead nor at padding. Return one mask for both.


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
# A program hands you a mask from another library, in which **True means may NOT look**. Write it in the form that is added to the scores: a tensor of the scores' shape and dtype that holds 0 where one may attend, and -inf where one may
# not. The mask has any shape that broadcasts to the scores. (The numbers of the scores do not matter here: some may be -inf already. Their dtype may be half precision.)


# %% 08-convert
def to_additive(scores, mask):
    """scores (..., T, S), mask of a shape that broadcasts to it, True = may NOT look -> like scores, 0 or -inf."""
    ### BEGIN SOLUTION
    return torch.zeros_like(scores).masked_fill(mask, float("-inf"))
    ### END SOLUTION


# %% [markdown]
# [[task 08.masked-softmax]]
#
# From scores and a mask (True = may attend, again) to weights. Where the mask says False the weight is exactly 0, and the others of the row sum to 1. A query that may attend to nothing gets zeros, never NaN. Scores may be in the thousands;
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
# A model has `L` layers of self-attention, each with a mask of its own and a **residual connection**, so that a token also keeps what it has. Say which inputs can reach which outputs: `reached[t, s]` is True if a change of token `s` at
# the bottom can change what stands at `t` on top. Say besides whether the future leaks: whether any output can be reached by a token that comes **after** it. Return both.


# %% 08-leak
def what_reaches(masks):
    """masks (L, T, T), the first layer's first -> reached (T, T), and one truth value."""
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
# Sentences come as lists of ids without any special token. What a decoder is to **predict** is a sentence and the end token. What it is **given** is the same, shifted right by one place: the start token in front, the last id gone. Both
# tables are filled up behind with `pad_id`, to the length of the longest row: so an end token is never given, not in a shorter sentence either. Return them, inputs first.


# %% 08-labels
def inputs_and_labels(sentences, start_id, end_id, pad_id):
    """Lists of ids, three numbers -> inputs (B, T) and labels (B, T), whole numbers."""
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
# An encoder sees both sides, so it is not asked for the next word but for words that are hidden from it. A token is **chosen** if its number `u` is below `share` and it is not special. The same number says
# what becomes of a chosen token in the inputs:
#
# - If `u` is below 0.8 times the share, `mask_id` takes its place.
# - If `u` is 0.8 times the share or more, but below 0.9 times the share, the token of `other` at the same place takes its place.
# - If `u` is 0.9 times the share or more, the token stays as it is.
#
# Labels are the original ids of **all** chosen tokens, and **[[08.masked-tokens:ignore]]** everywhere else.


# %% 08-masked-tokens
def hide_tokens(ids, special, u, other, mask_id, share):
    """ids, special (True = leave alone), u and other, all (B, T); two numbers -> inputs and labels, (B, T)."""
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
# The last step: a logit for each word of the vocabulary is the dot product of a state with that word's row in the table of embeddings (tied weights: there is no other matrix). Return [[08.logits:named]] of the probabilities. Logits may
# lie so far apart that some probabilities are too small for a float, and those of one position may lie hundreds below those of another.


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
# Attention in `N` heads from one sequence to another: `x` asks, `memory` answers. Split, score, divide by $\sqrt{H}$, mask, softmax, mix, merge, and blend with `w_o`. The mask has any shape that broadcasts to `(B, N, T, S)`, so it may differ
# from head to head, or have fewer axes; where it leaves a query nothing to see, its mixture is zeros. `split_heads` and `merge_heads` are given at the top. torch's own attention and this library's are not allowed.


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
# The next cell is given. It turns your function into a part with weights of its own (with `memory` = `x` it is self-attention), and brings the other parts of a layer from earlier chapters. `nn.LayerNorm(D)` has the gain and the bias that
# its own names `weight` and `bias` hold, and eps = 1e-5.


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
# The decoder's layer, in the same style, with **the norm first**: $x + \text{part}(\text{norm}(x))$, three times. First the tokens look back at each other, with `mask`; then across at the encoder's output, with `memory_mask` (the memory
# is not normed again: it comes normed from the encoder); then each thinks for itself. The parts are called `attention`, `cross`, `feed_forward`, the norms `norm_1`, `norm_2`, `norm_3`, in this order. The check puts weights of its own in
# place of yours. With the attention's biases at zero this is `nn.TransformerDecoderLayer(..., norm_first=True)`. torch's own layers and attention are not allowed.


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
# Your own encoder-decoder, from ids to logits. Sentences may be of any length.
#
# - **Embed** (`embed`) source and target alike: the rows of `embedding`, an `nn.Parameter` of shape `(V, D)`, times $\sqrt{D}$, plus sinusoidal positions from 0 on (`sinusoidal`, in the embedding's dtype).
# - **Encoder**: `L` layers in a `nn.ModuleList` called `encoder`, then the norm `encoder_norm`. The source's padding is hidden.
# - **Decoder**: `L` layers in `decoder`, then `decoder_norm`. Self-attention is causal, and has no other mask; cross-attention sees the encoder's output, its padding hidden.
# - **Logits**: the dot products with the rows of `embedding`. No softmax.
#
# The norms are `nn.LayerNorm(D)`, eps = 1e-5, and come first in each layer (pre-LN); that is why each stack ends with one more. There are no other parameters. Between the embeddings and the logits this is what `nn.Transformer(...,
# norm_first=True)` computes with the biases of its attention at zero; there, masks say True for may NOT look. It is not allowed here, nor are its layers and its attention.


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
# A slide says that several masks are combined by an element-wise OR. Beside it, a tick means that a token may attend. Say when the sentence is right, what goes wrong with the ticks, and how you would notice it in a program that runs
# without an error. Three to six sentences.

# %% 08-or [markdown] points=3
# OR is right for masks that say what is hidden: a pair is hidden if it lies in the future or is padding. With ticks for "may attend" a pair is allowed only if both masks allow it, so they are joined by AND; by De Morgan the two are the
# same statement. With OR on ticks, one of the two is enough: words may attend to later words, because these are no padding, and at padding, because it lies in the past. Nothing fails, shapes and sums are as they should be, and the training
# loss even gets better, since answers leak. To notice it, change one later token and look whether earlier outputs change, or count the ticks; or compare what the model does in training and when it writes alone.
