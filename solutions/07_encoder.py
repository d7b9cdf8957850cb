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
# # 7 · The encoder
#
# You will build an encoder from its parts: the residual stream, the norms, the feed-forward network and its newer variants, one sublayer, the whole layer with
# padding, and the stack. You have written attention already; a function for it is given below.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer and run the check below it, as often as you like.
# The chapter in the book is *The encoder*.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 07-refined | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `B` sequences in a batch, `T` tokens, `D` model width, `N` heads, `F` hidden width, `L` layers. **Weights.** A token is a row, so a linear layer is
# `x @ w + b`: `w_1` is `(D, F)`, `w_2` is `(F, D)`.
#
# **Norms.** The features of a token are the last axis. The variance is a mean over all `D` of them, not over `D - 1`. `eps` is added to the variance, inside the
# root; where a function takes no `eps`, it is `1e-5`.
#
# **Masks.** A mask `(B, T)` says which tokens are real: `True` is a token, `False` is padding, and every sequence has at least one real token.
#
# **Leading axes.** Where a docstring writes `(..., D)`, there may be any number of leading axes. Count axes from the end.
#
# **Gradients and dtypes.** Gradients must flow to tokens and weights, except in `layer_norm_backward`, which computes them itself. Write `y = y + b` rather than
# `y += b`: autograd raises an error where a tensor that it still needs was changed in place. A result has the dtype of the inputs.

# %% 07-setup
import math

import torch
from torch import nn

from softlookup import check, hint


def self_attention(x, w_q, w_k, w_v, w_o, n_heads, may_look=None):
    """x (B, T, D), four matrices (D, D), may_look True where a query may attend (B, N, T, T) -> (B, T, D)."""
    heads = [(x @ w).unflatten(-1, (n_heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v)]
    q, k, v = heads
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if may_look is not None:
        scores = scores.masked_fill(~may_look, float("-inf"))
    a = torch.softmax(scores, dim=-1)
    if may_look is not None:
        a = a.masked_fill(~may_look, 0.0)
    return (a @ v).transpose(1, 2).flatten(2) @ w_o


# %% [markdown]
# ## Residual connection, norms, feed-forward network
#
# [[task 07.residual]]
#
# Send tokens through layers with residual connections: every layer **adds** its output to its input. Here the output of a layer is `relu(x @ w)`, and each layer
# has its own matrix, `w[0]` for the first. `x` has shape `(..., T, D)`, `w` has `(L, D, D)`. Apply all layers, the first one first, and return the result, shape
# `(..., T, D)`.


# %% 07-residual
def through_layers(x, w):
    """x (..., T, D), w (L, D, D), a matrix for each layer -> (..., T, D)."""
    ### BEGIN SOLUTION
    for w_l in w:
        x = x + torch.relu(x @ w_l)
    return x
    ### END SOLUTION


# %% [markdown]
# [[task 07.layer-norm]]
#
# Normalise each token to mean 0 and variance 1, independently of the other tokens; then multiply by the gain and add the shift. `x` has shape `(..., D)`, `gain`
# and `shift` have `(D,)`; return the shape of `x`. `eps` is added to the variance, inside the root.
# The mean may be thousands of times as large as the deviations from it, here and in `layer_norm_backward`.


# %% 07-layer-norm
def layer_norm(x, gain, shift, eps):
    """x (..., D), gain (D), shift (D), a number eps -> (..., D)."""
    ### BEGIN SOLUTION
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = centred.square().mean(dim=-1, keepdim=True)
    y = centred / torch.sqrt(variance + eps)
    return y * gain + shift
    ### END SOLUTION


# %% [markdown]
# [[task 07.rms-norm]]
#
# RMSNorm subtracts no mean. Divide each token of `x`, shape `(..., D)`, by the root of the mean of its squares (`eps` is added to that mean, inside the root),
# and apply the gain, shape `(D,)`. Return the shape of `x`. Note the convention: `gain` holds **[[07.rms-norm:wording]]**.


# %% 07-rms-norm
def rms_norm(x, gain, eps):
    """x (..., D), gain (D), a number eps -> (..., D)."""
    ### BEGIN SOLUTION
    base = 0.0  # variant 07.rms-norm:base
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x / torch.sqrt(mean_square + eps) * (base + gain)
    ### END SOLUTION


# %% [markdown]
# [[task 07.layer-norm-backward]]
#
# Write the backward pass through `layer_norm` by hand. `g`, shape `(T, D)`, is the gradient of a loss with respect to its result; `x` has the same shape. Return
# the gradients with respect to `x`, `gain` and `shift`, in this order, with shapes `(T, D)`, `(D,)` and `(D,)`. A hint: every number of
# a token affects its mean and its variance, so two terms are subtracted from a token's gradient. All tokens use the same gain and shift.


# %% 07-layer-norm-backward
def layer_norm_backward(g, x, gain, eps):
    """g (T, D), x (T, D), gain (D), a number eps -> dx (T, D), dgain (D), dshift (D)."""
    ### BEGIN SOLUTION
    mean = x.mean(dim=-1, keepdim=True)
    root = torch.sqrt((x - mean).square().mean(dim=-1, keepdim=True) + eps)
    y = (x - mean) / root
    h = g * gain
    share = (h * y).mean(dim=-1, keepdim=True)
    dx = (h - h.mean(dim=-1, keepdim=True) - y * share) / root
    return dx, (g * y).sum(dim=0), g.sum(dim=0)
    ### END SOLUTION


# %% [markdown]
# [[task 07.feed-forward]]
#
# Write the feed-forward network: widen each token, set negative numbers to 0, narrow it again; both steps have a bias. `x` has shape `(..., T, D)`, and so has
# the result. No token affects another.


# %% 07-feed-forward
def feed_forward(x, w_1, b_1, w_2, b_2):
    """x (..., T, D), w_1 (D, F), b_1 (F), w_2 (F, D), b_2 (D) -> (..., T, D)."""
    ### BEGIN SOLUTION
    hidden = torch.relu(x @ w_1 + b_1)
    return hidden @ w_2 + b_2
    ### END SOLUTION


# %% [markdown]
# [[task 07.gelu]]
#
# GELU multiplies each number by the probability that a standard normal variable is below it, $x \, \Phi(x)$. Return it **twice**, each time in the shape of `x`:
# exactly, with the error function; and with the tanh that GPT-2 uses instead,
# $\tfrac{1}{2} x \left(1 + \tanh\left(\sqrt{2/\pi}\,(x + 0.044715\,x^3)\right)\right)$. (`torch.erf` is allowed.)


# %% 07-gelu
def gelu(x):
    """x, any shape -> x * Phi(x), and the same with tanh; both of x's shape."""
    ### BEGIN SOLUTION
    exact = x * (1 + torch.erf(x / math.sqrt(2))) / 2
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    by_tanh = x * (1 + torch.tanh(inner)) / 2
    return exact, by_tanh
    ### END SOLUTION


# %% [markdown]
# [[task 07.swiglu]]
#
# Write a gated network: three matrices, and here no biases. Each hidden number of `x @ w_1` is multiplied by a gate, which is Swish of the same number of
# `x @ w_gate`; no activation function is applied to `x @ w_1` itself. Then `w_2` narrows the products. `x` has shape `(..., T, D)`, `w_gate` and `w_1` have
# `(D, F)`, `w_2` has `(F, D)`; return the shape of `x`. Swish is $z \cdot \sigma(\beta z)$, where $\sigma$ is the sigmoid; here **$\beta$ = [[07.swiglu:beta]]**. Numbers in
# `x` may be in the thousands.


# %% 07-swiglu
def swiglu(x, w_gate, w_1, w_2):
    """x (..., T, D), w_gate and w_1 (D, F), w_2 (F, D) -> (..., T, D)."""
    ### BEGIN SOLUTION
    beta = 1.0  # variant 07.swiglu:beta
    z = x @ w_gate
    gate = z * torch.sigmoid(beta * z)
    return (gate * (x @ w_1)) @ w_2
    ### END SOLUTION


# %% [markdown]
# ## Sublayer and layer
#
# [[task 07.sublayer]]
#
# Write one complete sublayer: the feed-forward network, the residual connection, and one LayerNorm (eps is `1e-5`). `x` has shape `(..., T, D)`, and so has the
# result. The order is [[07.sublayer:asked]].


# %% 07-sublayer
def sublayer(x, w_1, b_1, w_2, b_2, gain, shift):
    """x (..., T, D), the network's weights, gain (D), shift (D) -> (..., T, D)."""
    ### BEGIN SOLUTION
    norm_first = False  # variant 07.sublayer:norm_first
    inside = layer_norm(x, gain, shift, 1e-5) if norm_first else x
    y = x + feed_forward(inside, w_1, b_1, w_2, b_2)
    return y if norm_first else layer_norm(y, gain, shift, 1e-5)
    ### END SOLUTION


# %% [markdown]
# [[task 07.parameters]]
#
# How many parameters does an encoder of `L` layers have, without embeddings? Each layer has attention (four square matrices `(D, D)`, all heads together), a
# feed-forward network of hidden width `F` (two matrices; three if it is gated), and a LayerNorm with gain and shift for each of its two sublayers. Where `bias`
# is `True`, each of these matrices has a bias, one number for each column. With `pre_norm`, one more LayerNorm follows the last layer. Return a whole number.


# %% 07-parameters
def encoder_parameters(d_model, d_hidden, n_layers, gated, bias, pre_norm):
    """The sizes D, F, L, and three booleans -> a whole number."""
    ### BEGIN SOLUTION
    wide = 2 if gated else 1
    attention = 4 * d_model**2
    hidden = (wide + 1) * d_model * d_hidden
    biases = 4 * d_model + wide * d_hidden + d_model if bias else 0
    norm = 2 * d_model
    last = norm if pre_norm else 0
    return n_layers * (attention + hidden + biases + 2 * norm) + last
    ### END SOLUTION


# %% [markdown]
# [[task 07.encoder-layer]]
#
# Write the whole encoder layer, as a function of its weights. The first sublayer is self-attention (call `self_attention` from the first cell; its `may_look` is
# a mask that broadcasts to the scores `(B, N, T, T)`). The second sublayer is your feed-forward network with ReLU. Each has its residual connection and its own
# LayerNorm with eps `1e-5`.
#
# `attention`, shape `(4, D, D)`, holds `w_q, w_k, w_v, w_o`; `norms`, shape `(4, D)`, holds `gain_1, shift_1, gain_2, shift_2`. `mask`, shape `(B, T)`, is `True`
# for real tokens: no token may attend to padding. Where `pre_norm` is `True`, the norm comes before the sublayer, otherwise after the sum. Return the shape of
# `x`, `(B, T, D)`. The rows of padding are computed as all others are. The result equals that of torch's `nn.TransformerEncoderLayer` with these weights.


# %% 07-encoder-layer
def encoder_layer(x, attention, w_1, b_1, w_2, b_2, norms, n_heads, pre_norm, mask=None):
    """x (B, T, D), attention (4, D, D), w_1 (D, F), b_1 (F), w_2 (F, D), b_2 (D), norms (4, D), mask (B, T) -> (B, T, D)."""
    ### BEGIN SOLUTION
    w_q, w_k, w_v, w_o = attention
    gain_1, shift_1, gain_2, shift_2 = norms
    may_look = None if mask is None else mask[:, None, None, :]

    def look(x):
        return self_attention(x, w_q, w_k, w_v, w_o, n_heads, may_look)

    def think(x):
        return feed_forward(x, w_1, b_1, w_2, b_2)

    if pre_norm:
        x = x + look(layer_norm(x, gain_1, shift_1, 1e-5))
        return x + think(layer_norm(x, gain_2, shift_2, 1e-5))
    x = layer_norm(x + look(x), gain_1, shift_1, 1e-5)
    return layer_norm(x + think(x), gain_2, shift_2, 1e-5)
    ### END SOLUTION


# %% [markdown]
# [[task 07.pooling]]
#
# Compute one vector for each sequence: the mean over its **real** tokens. An encoder returns a vector for every token, also for padding: `x` has shape
# `(B, T, D)`, and `mask`, shape `(B, T)`, is `True` for real tokens. Return shape `(B, D)`. Padding may be anywhere in a row, and its (finite) numbers must not
# affect the result.


# %% 07-pooling
def mean_of_real(x, mask):
    """x (B, T, D), mask (B, T), True for real tokens -> (B, D)."""
    ### BEGIN SOLUTION
    kept = x.masked_fill(~mask[..., None], 0.0)
    count = mask.sum(dim=1, keepdim=True)
    return kept.sum(dim=1) / count
    ### END SOLUTION


# %% [markdown]
# ## The stack
#
# [[task 07.encoder]]
#
# Now write the class, as a model contains it. From `x`, shape `(B, T, D)`, it computes the output of all layers, in the same shape. Its parameters have the names
# and shapes of your layer's weights, each with a leading axis for the layers: `attention` `(L, 4, D, D)`, `w_1` `(L, D, F)`, `b_1` `(L, F)`, `w_2` `(L, F, D)`,
# `b_2` `(L, D)`, `norms` `(L, 4, D)`. With `pre_norm` there are two more, `gain` and `shift` `(D)`: one last LayerNorm (eps `1e-5`) after all layers. Without it
# there are no others. Make each with `nn.Parameter(torch.empty(...))`: the check replaces the weights with its own. `mask` is as in the layer. The result equals
# that of torch's `nn.TransformerEncoder`.


# %% 07-encoder
class Encoder(nn.Module):
    """x (B, T, D), mask (B, T) or None -> (B, T, D)."""

    def __init__(self, d_model, n_heads, d_hidden, n_layers, pre_norm):
        super().__init__()
        ### BEGIN SOLUTION
        self.n_heads, self.pre_norm = n_heads, pre_norm
        self.attention = nn.Parameter(torch.empty(n_layers, 4, d_model, d_model))
        self.w_1 = nn.Parameter(torch.empty(n_layers, d_model, d_hidden))
        self.b_1 = nn.Parameter(torch.empty(n_layers, d_hidden))
        self.w_2 = nn.Parameter(torch.empty(n_layers, d_hidden, d_model))
        self.b_2 = nn.Parameter(torch.empty(n_layers, d_model))
        self.norms = nn.Parameter(torch.empty(n_layers, 4, d_model))
        if pre_norm:
            self.gain = nn.Parameter(torch.empty(d_model))
            self.shift = nn.Parameter(torch.empty(d_model))
        ### END SOLUTION

    def forward(self, x, mask=None):
        ### BEGIN SOLUTION
        for i in range(len(self.w_1)):
            hidden = self.w_1[i], self.b_1[i], self.w_2[i], self.b_2[i]
            x = encoder_layer(x, self.attention[i], *hidden, self.norms[i], self.n_heads, self.pre_norm, mask)
        if self.pre_norm:
            x = layer_norm(x, self.gain, self.shift, 1e-5)
        return x
        ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 07-refined · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/07_encoder.html#encoder-refined)
#
# Remove the encoder's layers one after the other, from the top. Say what is left of a token's vector with pre-LN, and why the answer is not so simple with
# post-LN; then say one thing that a plot of cosines from layer to layer shows, and one that it does not show. Write three to six sentences.

# %% 07-refined [markdown] points=3
# With pre-LN, the vector after layer l is the embedding plus everything that the sublayers up to there have added, so removing layers from the top removes the
# last terms of a sum and leaves the others unchanged; the last norm brings the rest to the scale that the output head expects. With post-LN, the sum is
# normalised again after every sublayer, so the contribution of an early layer is shrunk and rotated by the norms that follow, and the layers above expect exactly
# that. A plot of cosines shows how much of a vector's direction is new after each layer, and that the same word drifts apart in different sentences. It does not
# show which of the changes the model uses, nor what they mean: to find out, one has to change a vector and see whether the output follows. Cosines also depend on
# a few large features that all tokens share.
