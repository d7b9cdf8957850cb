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
# You will cut images and sounds into tokens, let a text attend to an image, map images and texts into one space and classify by labels that were never
# seen in training, trace attention through all layers, avoid the T x T score matrix in two ways, and run a part of a published model.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Beyond text* in the
# book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 13-maps | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` images, sounds or texts in a batch, `T` tokens or query positions, `S` key positions, `D` model width, `N` heads, `H` the width of one head, `F` the hidden width of the feed-forward network, `L` layers, `C`
# channels of an image, `P` the side of a patch in pixels, `M` numbers of a patch. A vector is a row, so a projection is `x @ w`. Head `i` has the columns `i*H` to `(i+1)*H - 1`.

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
# Cut each image into square patches of `patch` by `patch` pixels, and flatten each patch into one row of numbers. The patches are in reading order: the top row from left to right, then the next. Inside a patch the numbers go
# **[[13.patches:wording]]**. `patch` divides height and width; images need not be square.


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
# Write the matrix `w` as the filters of a convolution. Multiplying patches by `w` is the same as a convolution whose filters are as large as a patch and whose stride is one patch: `F.conv2d(images, as_kernel(w, C, P), stride=P)` has the same
# numbers as `patches @ w`. The rows of `w` go channel by channel, in each channel row by row (whatever order your 13.patches uses).


# %% 13-kernel
def as_kernel(w, channels, patch):
    """w (C*P*P, D), C, P -> filters (D, C, P, P)."""
    ### BEGIN SOLUTION
    return w.T.reshape(-1, channels, patch, patch)
    ### END SOLUTION


# %% [markdown]
# [[task 13.tokens]]
#
# Compute the input of a vision transformer's encoder. Each patch is multiplied by `w`, and the bias `b` is added; the class token, the same for every image, is put in front of the patches, at position 0; then the position table is added to
# all tokens. Its row 0 belongs to the class token.


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
# Cut a sound, which is a long row of samples, into frames of `width` samples. Each frame begins `hop` samples after the previous one, so frames overlap if the hop is shorter than a frame, and leave gaps if it is longer. Samples at the end
# that do not fill a frame are dropped. There is at least one frame.


# %% 13-frames
def cut_frames(samples, width, hop):
    """samples (B, length), two integers -> frames (B, T, width), T = (length - width) // hop + 1."""
    ### BEGIN SOLUTION
    begins = range(0, samples.shape[1] - width + 1, hop)
    return torch.stack([samples[:, at : at + width] for at in begins], dim=1)
    ### END SOLUTION


# %% [markdown]
# ## Text and images
#
# [[task 13.look]]
#
# Compute gated cross-attention from the words of a text to the patches of an image, in `N` heads. Words have the width `D`, patches the width `M`. Split into heads, compute the scores, divide by $\sqrt{H}$, apply the softmax over the
# patches, mix the values, merge the heads, and multiply by `w_o`. Multiply the result by the tanh of one learned number, the `gate`, and add it to the words. There is no mask. `split_heads` and `merge_heads` are given at the top.


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
# Compute the contrastive loss of a batch in which image `i` and text `i` belong together, and all other pairs do not. Scale every vector to length 1; its length lies between 0.00001 and 100,000. The scores are all cosines, [[13.contrastive:wording]], where $\sigma$ is the learned number
# `log_scale`. Every image chooses among the texts (a cross-entropy for each row), and every text among the images (one for each column). Take the mean over the batch of each, and return the mean of these two. Logarithms are natural.


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
# Classify images by labels that are texts, and so need not have been classes in training. Each of the `J` labels is given by the vectors of `K` sentences ("a photo of a dog", "this is a dog"). Scale each sentence's vector to length 1 (its length lies between 0.00001 and 100,000), take
# the mean of a label's sentences, and scale that to length 1 again. Scale the images' vectors to length 1 too. Return the probabilities of the labels for each image: the softmax over the labels of the cosines times `scale`.


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
# Compute the *attention rollout* from the attention weights of all layers, given from the first layer to the last: the fraction of the final state at token `t` that comes from input `s`. In each layer take the mean over the heads; half of a
# token's new state comes through this attention, the other half through the residual connection. Multiply the layers in the order in which they act. (The feed-forward network, the norms and the values play no part in the rollout.)


# %% 13-rollout
def rollout(maps):
    """maps (L, N, T, T), row t holds the weights of query t -> fractions (T, T), each row sums to 1."""
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
# Compute linear attention: $f(x) = \text{elu}(x) + 1$ replaces the exponential, so that query $t$ gives key $s$ the weight $f(q_t) \cdot f(k_s)$, divided by the sum of these products over all keys. There is no $\sqrt{H}$ and no mask. Sum
# over keys and values **first**, so that no `T` x `S` matrix is ever made: the check counts how many vectors are multiplied by `v`, and `H` are enough.


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
# Compute one step of causal linear attention, one position at a time. Only two sums over the keys so far are kept of the past: `key_values`, of $f(k)\,v^\top$, and `keys`, of $f(k)$. Add the new position's key and value to the sums, then
# compute the output for its query (a position attends to itself). Return the output and both updated sums. The tensors that you are given must not change.


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
# Compute exact softmax attention without ever holding a whole row of scores. The keys come in tiles. For each tile, three things are kept for each query: the largest score `m`; the sum `l` of $e^{\text{score} - m}$; and `z`, the sum of
# $e^{\text{score} - m}$ times the value, **not** divided by `l`. You are given two tiles, `a` and `b`: return the same three things for both tiles together. (After the last tile, `z` divided by `l` is the output.) If a query may attend to no
# key of a tile, its `m` is -inf, and `l` and `z` are 0; if it may attend to no key of either tile, return the same values again. Scores may be in the thousands.


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
# Compute the feed-forward part of a published model for `x`. A file of weights holds, for this part of a layer: `w_in` and `w_out` as `nn.Linear` stores them, **outputs first**, and their biases; and gain and bias of a norm. According to the
# model's description, the activation function is [[13.published:wording]]; the norm comes after the residual sum, of `x` and the network's output (post-LN); its eps is 1e-12, with the biased variance. `F.gelu` and `F.layer_norm` are allowed; this library's models are not.


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
# A colleague shows you the attention map of a classifier. It is bright on a dog's ear, and the colleague says: "So the model decides by the ear." Say what the map does show, give two reasons why the sentence need not be true, and describe one
# experiment that would test it. Three to six sentences.

# %% 13-maps [markdown] points=3
# The map shows the weights with which one head, or the mean of several heads, in one layer mixes the values at this token. It does not show what was mixed: a large weight on a small value, or on a value that later layers ignore, changes
# nothing. In a higher layer the state at the ear's position no longer represents the ear alone, since earlier layers have mixed other patches into it, and the contribution of the residual connection is not visible at all. Other weights can
# give the same output, so the map is not even determined by what the model does. An experiment: mask the patches of the ear, then mask equally many others instead, and compare how far the probability of "dog" falls. If the ear is the reason,
# it falls far more in the first case.
