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
# # 13 · Beyond text
#
# You will cut pictures and sounds into tokens, let a text look at a picture, put pictures and texts into one space and name things by labels that were
# never seen, follow attention through all layers, do without the square of scores in two ways, and run a part of somebody else's model.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *Beyond text* in the
# book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 13-maps | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` pictures, sounds or texts in a batch, `T` tokens or query positions, `S` key positions, `D` model width, `N` heads, `H` the width of one head, `F` the hidden width of the feed-forward network, `L` layers. Besides: `C`
# channels of a picture, `P` the side of a patch in pixels, `M` numbers of a patch. A vector is a row, so a projection is `x @ w`. Head `i` owns the columns `i*H` to `(i+1)*H`.

# %% 13-setup
import math

import torch
from torch.nn import functional as F

from softlookup import check, hint


def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(z):
    return z.transpose(1, 2).flatten(2)


# %% [markdown]
# ## Tokens that are no words
#
# [[task 13.patches]]
#
# Cut each picture into square patches of `patch` by `patch` pixels, and lay each patch out as one row of numbers. The patches come in reading order: the top row from left to right, then the next. Inside a patch the numbers go
# **[[13.patches:named]]**. `patch` divides height and width; pictures need not be square.


# %% 13-patches
def patchify(images, patch):
    """images (B, C, height, width), P -> patches (B, T, C*P*P), T = (height / P) * (width / P)."""
    ### BEGIN SOLUTION
    order = (0, 2, 4, 1, 3, 5)  # variant 13.patches:order
    b, c, height, width = images.shape
    x = images.reshape(b, c, height // patch, patch, width // patch, patch)
    x = x.permute(order)
    return x.reshape(b, (height // patch) * (width // patch), c * patch * patch)
    ### END SOLUTION


# %% [markdown]
# [[task 13.kernel]]
#
# Patches times a matrix `w` is what a convolution computes whose filter is as large as a patch and which moves on by a whole patch each time. Write `w` as the filters of that convolution, so that
# `F.conv2d(images, as_kernel(w, C, P), stride=P)` has the same numbers as `patches @ w`. The rows of `w` go channel by channel, in each channel row by row (whatever 13.patches asks of you).


# %% 13-kernel
def as_kernel(w, channels, patch):
    """w (C*P*P, D), C, P -> filters (D, C, P, P)."""
    ### BEGIN SOLUTION
    return w.T.reshape(-1, channels, patch, patch)
    ### END SOLUTION


# %% [markdown]
# [[task 13.tokens]]
#
# What a vision transformer's encoder gets: each patch times `w`, plus the bias `b`; in front of them, at place 0, the class token, the same for every picture; then the table of positions is added to all of them, whose row 0 belongs to the
# class token.


# %% 13-tokens
def picture_tokens(patches, w, b, class_token, positions):
    """patches (B, T, M), w (M, D), b (D), class_token (D), positions (T+1, D) -> (B, T+1, D)."""
    ### BEGIN SOLUTION
    x = patches @ w + b
    first = class_token.expand(len(x), 1, -1)
    x = torch.cat([first, x], dim=1)
    return x + positions
    ### END SOLUTION


# %% [markdown]
# [[task 13.frames]]
#
# A sound is a long row of samples. Cut it into frames of `width` samples; each begins `hop` samples after the one before, so frames overlap where the hop is shorter than a frame, and leave gaps where it is longer. What is left at the end and
# does not fill a frame is left out.


# %% 13-frames
def cut_frames(samples, width, hop):
    """samples (B, length), two numbers -> frames (B, T, width), T = (length - width) // hop + 1."""
    ### BEGIN SOLUTION
    begins = range(0, samples.shape[1] - width + 1, hop)
    return torch.stack([samples[:, at : at + width] for at in begins], dim=1)
    ### END SOLUTION


# %% [markdown]
# ## Text and images
#
# [[task 13.look]]
#
# The words of a text look at the patches of a picture, in `N` heads. Words have the width `D`, patches the width `M`. Split, score, divide by $\sqrt{H}$, softmax over the patches, mix, merge, and blend with `w_o`. What was seen is multiplied
# by the tanh of one learned number, the `gate`, and added to the words. There is no mask. `split_heads` and `merge_heads` are given at the top; torch's own attention and this library's are not allowed.


# %% 13-look
def look_at_picture(x, picture, w_q, w_k, w_v, w_o, gate, n_heads):
    """x (B, T, D), picture (B, S, M), w_q (D, N*H), w_k, w_v (M, N*H), w_o (N*H, D), gate (), N -> (B, T, D)."""
    ### BEGIN SOLUTION
    q = split_heads(x @ w_q, n_heads)
    k = split_heads(picture @ w_k, n_heads)
    v = split_heads(picture @ w_v, n_heads)
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    y = merge_heads(torch.softmax(s, dim=-1) @ v) @ w_o
    return x + torch.tanh(gate) * y
    ### END SOLUTION


# %% [markdown]
# [[task 13.contrastive]]
#
# Picture `i` and text `i` belong together; all others of the batch do not. Scale every vector to length 1. The scores are all cosines, [[13.contrastive:named]], where $\sigma$ is the learned number `log_scale`. Every picture chooses among the texts
# (a cross-entropy for each row), and every text among the pictures (one for each column); the loss is the mean over the batch of each, and the mean of the two. Natural logarithms.


# %% 13-contrastive
def contrastive_loss(images, texts, log_scale):
    """images (B, D), texts (B, D), log_scale () -> the loss, one number."""
    ### BEGIN SOLUTION
    sign = 1.0  # variant 13.contrastive:sign
    i = F.normalize(images, dim=-1)
    t = F.normalize(texts, dim=-1)
    s = i @ t.T * torch.exp(sign * log_scale)
    own = torch.arange(len(s))
    return (F.cross_entropy(s, own) + F.cross_entropy(s.T, own)) / 2
    ### END SOLUTION


# %% [markdown]
# [[task 13.zero-shot]]
#
# A label is a text, and so need not have been a class in training. Each of the `J` labels is given by the vectors of `K` sentences ("a photo of a dog", "this is a dog"). Scale each sentence's vector to length 1, take the mean of a label's
# sentences, and scale that to length 1 again. Scale the pictures' vectors too. Return the probabilities of the labels for each picture: the softmax of the cosines times `scale`.


# %% 13-zero-shot
def choose_label(images, labels, scale):
    """images (B, D), labels (J, K, D), a number -> probabilities (B, J)."""
    ### BEGIN SOLUTION
    i = F.normalize(images, dim=-1)
    t = F.normalize(labels, dim=-1)
    t = F.normalize(t.mean(dim=1), dim=-1)
    return torch.softmax(i @ t.T * scale, dim=-1)
    ### END SOLUTION


# %% [markdown]
# ## What the maps say
#
# [[task 13.rollout]]
#
# From the attention weights of all layers, the first layer's first, to shares: how much of what stands at token `t` on top came from input `s`. In each layer take the mean of the heads; half of a token's new state came through it, the other
# half past it, by the residual connection. Multiply the layers in the order in which they act. (This is the *rollout*; the feed-forward network, the norms and the values play no part in it.)


# %% 13-rollout
def rollout(maps):
    """maps (L, N, T, T), row t is what token t attends to -> shares (T, T), each row sums to 1."""
    ### BEGIN SOLUTION
    a = maps.mean(dim=1)
    itself = torch.eye(a.shape[-1], dtype=a.dtype)
    total = itself
    for layer in a:
        step = 0.5 * layer + 0.5 * itself
        total = step @ total
    return total
    ### END SOLUTION


# %% [markdown]
# ## Long sequences
#
# [[task 13.linear]]
#
# Put $f(x) = \text{elu}(x) + 1$ in place of the exponential: query $t$ weighs key $s$ by $f(q_t) \cdot f(k_s)$, divided by the sum of these over all keys. There is no $\sqrt{H}$. Sum keys and values up **first**, so that no table of `T` by `S`
# is ever made: the check counts how many vectors are multiplied with `v`, and `H` are enough. No mask.


# %% 13-linear
def linear_attention(q, k, v):
    """q (..., T, H), k (..., S, H), v (..., S, H') -> (..., T, H')."""
    ### BEGIN SOLUTION
    f = F.elu(q) + 1
    g = F.elu(k) + 1
    summed = g.transpose(-2, -1) @ v
    total = f @ g.sum(dim=-2)[..., None]
    return f @ summed / total
    ### END SOLUTION


# %% [markdown]
# [[task 13.step]]
#
# The same, causal, one position at a time. All that is kept of the past are two sums over the keys so far: `key_values`, of $f(k)\,v^\top$, and `keys`, of $f(k)$. Take the new position's key and value in, answer its query (it sees itself),
# and return the output and both sums as they are now. The tensors that you were given stay as they were.


# %% 13-step
def linear_step(key_values, keys, q, k, v):
    """key_values (..., H, H'), keys (..., H), q, k (..., H), v (..., H') -> y (..., H'), key_values, keys."""
    ### BEGIN SOLUTION
    f = F.elu(q) + 1
    g = F.elu(k) + 1
    key_values = key_values + g[..., :, None] * v[..., None, :]
    keys = keys + g
    y = (f[..., None, :] @ key_values)[..., 0, :] / (f * keys).sum(dim=-1, keepdim=True)
    return y, key_values, keys
    ### END SOLUTION


# %% [markdown]
# [[task 13.merge]]
#
# Now softmax attention itself, exact, without ever holding a whole row of scores. The keys come in tiles. Of each tile three things are kept for each query: the largest score `m`; the sum `l` of $e^{\text{score} - m}$; and the mixture `z`, the
# sum of $e^{\text{score} - m}$ times the value, **not** divided by `l`. Two tiles, `a` and `b`, are given: return the three things for both together. (After the last tile, `z` divided by `l` is the output.) Where a query may see nothing in a
# tile, its `m` is -inf, and `l` and `z` are 0; nothing in both gives the same again. Scores may be in the thousands. Softmax and logsumexp are not allowed.


# %% 13-merge
def merge_tiles(m_a, l_a, z_a, m_b, l_b, z_b):
    """m_a, l_a (..., T), z_a (..., T, H'), and the same of tile b -> m (..., T), l (..., T), z (..., T, H')."""
    ### BEGIN SOLUTION
    m = torch.maximum(m_a, m_b)
    level = m.masked_fill(m == float("-inf"), 0.0)
    a, b = torch.exp(m_a - level), torch.exp(m_b - level)
    total = l_a * a + l_b * b
    z = z_a * a[..., None] + z_b * b[..., None]
    return m, total, z
    ### END SOLUTION


# %% [markdown]
# ## Published weights
#
# [[task 13.published]]
#
# A file of weights holds, of the feed-forward part of a layer, four tensors: `w_in` and `w_out` as `nn.Linear` keeps them, **outputs first**, and their biases; and gain and bias of a norm. The model's description says: the activation is
# [[13.published:named]]; the norm comes after the sum (post-LN); its eps is 1e-12, with the biased variance. Compute what this part makes of `x`. `F.gelu` and `F.layer_norm` are allowed; this library's models are not.


# %% 13-published
def published_feed_forward(x, w_in, b_in, w_out, b_out, gain, bias):
    """x (B, T, D), w_in (F, D), b_in (F), w_out (D, F), b_out (D), gain (D), bias (D) -> (B, T, D)."""
    ### BEGIN SOLUTION
    approximate = "none"  # variant 13.published:approximate
    h = F.gelu(x @ w_in.T + b_in, approximate=approximate)
    y = x + h @ w_out.T + b_out
    return F.layer_norm(y, y.shape[-1:], gain, bias, eps=1e-12)
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 13-maps · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/13_beyond_text.html#beyond-text-maps)
#
# A colleague shows you the attention map of a classifier. It is bright on a dog's ear, and the colleague says: "So the model decides by the ear." Say what the map does show, two reasons why the sentence need not be true, and one experiment
# that would tell. Three to six sentences.

# %% 13-maps [markdown] points=3
# The map shows the weights with which one head, or a mean of heads, in one layer mixes the values at this token. It does not show what was mixed: a large weight on a small value, or on a value that later layers take no notice of, changes
# nothing. In a higher layer the state at the ear's place is no longer the ear alone, since earlier layers have mixed other patches into it, and what came by the residual connection does not show at all. Other weights can give the same
# output, so the map is not even determined by what the model does. An experiment: hide the patches of the ear, hide as many others instead, and compare how far the probability of "dog" falls. If the ear is the reason, it falls far more.
