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
# # Capstone · Your own mini-transformer
#
# You have written all parts of a transformer. Here you put them together into a model that computes correctly, learns and translates. **Copy your parts.** In the folder of the course, this command copies the code that you wrote in the
# notebooks of chapters 5 and 8 into this one, cell by cell; it does not change cells that you have already filled in:
#
# `softlookup assemble`
#
# Parts that were right there are right here, and cost you no time. Three things are new: the loss, some training steps, and generation. [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. If a part is not right yet, the
# check of a later part uses a correct one in its place where it can. The page for this notebook is *Capstone* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 90-run | Your own run (graded by a person) | 30 | ●●○ | 5 |
#
# **Letters.** `B` sentences in a batch, `T` and `S` positions of target and source, `D` model width, `N` heads, `F` hidden width, `V` words, `L` layers. Masks are boolean, and True means may attend.

# %% 90-setup
import math

import torch
from torch import nn
from torch.nn import functional as F

from softlookup import check, hint

# %% [markdown]
# ## Your parts
#
# [[task 90.split]]
#
# Split `x` into heads: `(..., T, N*H)` becomes `(..., N, T, H)`. Head `i` gets the columns of the slice `i*H : (i+1)*H` of every token.


# %% 90-split from 05-split

# %% [markdown]
# [[task 90.merge]]
#
# Merge the heads again, the inverse of the split: the heads of each token are concatenated, head 0 first.


# %% 90-merge from 05-merge

# %% [markdown]
# [[task 90.causal]]
#
# Return the causal mask of `T` queries and `S` keys, `S` at least `T`, as a boolean tensor. The queries are the newest tokens, so query `t` stands at position `S - T + t`. Each may attend to its own position and to all earlier ones.


# %% 90-causal from 08-causal

# %% [markdown]
# [[task 90.padding]]
#
# Return the padding mask: True where a token is real, with four axes so that it broadcasts to scores `(B, N, T, S)`.


# %% 90-padding from 08-padding

# %% [markdown]
# [[task 90.masked-softmax]]
#
# Compute attention weights from scores and a mask of any shape that broadcasts to them, along the last axis. Scores may be in the thousands. Where the mask is False, the weight is exactly 0; a fully masked row is zeros, never NaN. Gradients must flow, and the result has the dtype of the scores.


# %% 90-masked-softmax from 08-masked-softmax

# %% [markdown]
# [[task 90.cross-attention]]
#
# Compute attention in `N` heads from `x` to `memory`: split into heads, compute the scores, divide by $\sqrt{H}$, mask, apply the softmax, mix the values, merge the heads, and multiply by `w_o`. The mask has any shape that
# broadcasts to `(B, N, T, S)`: it may have fewer axes, or differ between heads. If all keys of a query are masked, its mixed values are zeros. Scores may be in the tens of thousands.


# %% 90-cross-attention from 08-cross-attention

# %% [markdown]
# The next cell is given, as in chapter 8.


# %% 90-parts from 08-parts

# %% [markdown]
# [[task 90.decoder-layer]]
#
# Write the decoder layer with the norm first, $x + \text{part}(\text{norm}(x))$ three times: self-attention with `mask`, cross-attention to `memory` with `memory_mask`, then the feed-forward network. Name the parts `attention`, `cross` and
# `feed_forward`, and the norms `norm_1`, `norm_2` and `norm_3`.


# %% 90-decoder-layer from 08-decoder-layer

# %% [markdown]
# [[task 90.transformer]]
#
# Write the whole model, from ids to logits, for sentences of any length. **Embed** both sides: rows of the parameter `embedding` `(V, D)` times $\sqrt{D}$, plus `sinusoidal` positions. **Encoder**: `L` layers in `encoder` (a `nn.ModuleList`), then
# `encoder_norm`; the source's padding is masked. **Decoder**: `L` layers in `decoder`, then `decoder_norm`; self-attention is causal and has no other mask, cross-attention attends to the encoder's output, whose padding is masked. **Logits**:
# dot products with the rows of `embedding`. The norms are `nn.LayerNorm(D)`. There are no other parameters.


# %% 90-transformer from 08-transformer

# %% [markdown]
# ## Training steps
#
# [[task 90.loss]]
#
# Compute the loss of a batch, in nats per word. With label smoothing, the target distribution spreads $\varepsilon$ evenly over **all** `V` words, the right one included ($\varepsilon/V$ each), and gives the right word $1 - \varepsilon$ in
# addition. Take the cross-entropy with this distribution at every position where the label is a real word, and return the mean over all these positions of the batch together.


# %% 90-loss
def translation_loss(logits, labels, pad_id, eps):
    """logits (B, T, V), labels (B, T), two numbers -> the loss, one number."""
    ### BEGIN SOLUTION
    log_p = F.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, labels[..., None])[..., 0]
    losses = -(1 - eps) * own - eps * log_p.mean(dim=-1)
    real = labels != pad_id
    return losses[real].mean()
    ### END SOLUTION


# %% [markdown]
# The next cell is given. It puts weights into a model and reads them out again, **in the alphabetical order of their names**, so that the order is the same for everybody.


# %% 90-given
def with_weights(model, weights):
    """A model and weights, in the order of their names -> the model with copies of these weights, in their dtype."""
    model = model.to(weights[0].dtype)
    with torch.no_grad():
        for (_, own), given in zip(sorted(model.named_parameters()), weights, strict=True):
            own.copy_(given)
    return model


def weights_of(model):
    """A model -> all its weights in the order of their names, as one vector."""
    return torch.cat([own.detach().flatten() for _, own in sorted(model.named_parameters())])


# %% [markdown]
# [[task 90.train]]
#
# Make some training steps from given weights, with one batch per step. Make a `Transformer` and put the weights into it (`with_weights`). `source[step]` is the batch's `(B, S)`; `target[step]` holds its rows `(B, T + 1)`, each beginning with
# the start token: the decoder's **input** is a row without its last id, its **labels** are the row without its first. The loss is `translation_loss` with eps = 0.1. Each step is a step of Adam, written out: for the gradient $g$ of every
# weight keep the running means $m \leftarrow 0.9\,m + 0.1\,g$ and $v \leftarrow 0.98\,v + 0.02\,g^2$, both 0 at first; in step $k = 1, 2, \dots$ subtract from the weight
# $\text{rate} \cdot \frac{m / (1 - 0.9^k)}{\sqrt{v / (1 - 0.98^k)} + 10^{-9}}$, with the rate of that step. (`torch.autograd.grad(loss, weights)` gives the gradients; torch's own Adam is allowed too, with betas (0.9, 0.98) and eps 1e-9.) Return the losses, each computed before its step, and all weights after
# the last step (`weights_of`).


# %% 90-train
def train_steps(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, source, target, rates, *weights):
    """Six numbers, source (K, B, S), target (K, B, T+1), rates (K), weights -> losses (K), all weights in a vector."""
    ### BEGIN SOLUTION
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    own = list(model.parameters())
    m, v = [torch.zeros_like(w) for w in own], [torch.zeros_like(w) for w in own]
    losses = []
    for k, (ids, rows, rate) in enumerate(zip(source, target, rates, strict=True), start=1):
        logits = model(ids, rows[:, :-1])
        loss = translation_loss(logits, rows[:, 1:], pad_id, 0.1)
        losses.append(loss.detach())
        grads = torch.autograd.grad(loss, own)
        with torch.no_grad():
            for i, g in enumerate(grads):
                m[i] = 0.9 * m[i] + (1 - 0.9) * g
                v[i] = 0.98 * v[i] + (1 - 0.98) * g * g
                up, root = m[i] / (1 - 0.9**k), (v[i] / (1 - 0.98**k)).sqrt()
                own[i] -= rate * up / (root + 1e-9)
    return torch.stack(losses), weights_of(model)
    ### END SOLUTION


# %% [markdown]
# ## Greedy translation
#
# [[task 90.greedy]]
#
# Translate greedily: begin each sentence with the start token, and append the most likely next word repeatedly, at most `longest` words. Any word may be written, the pad and the start token included; a sentence ends with the end token alone, and padding follows it. Return the generated ids, **without** the
# start token and **with** the end token, padded to `longest` positions. (During generation, the decoder may read the padding after the end of a row: its output there is not used.)


# %% 90-greedy
def write_greedily(
    vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id, start_id, end_id, longest, source, *weights
):
    """Nine numbers, source (B, S), the weights -> ids (B, longest)."""
    ### BEGIN SOLUTION
    model = with_weights(Transformer(vocab_size, d_model, n_heads, d_hidden, n_layers, pad_id), weights)
    written = torch.full((len(source), 1), start_id)
    ended = torch.zeros(len(source), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(longest):
            best = model(source, written)[:, -1].argmax(dim=-1)
            best = torch.where(ended, pad_id, best)
            ended = ended | (best == end_id)
            written = torch.cat([written, best[:, None]], dim=1)
    return written[:, 1:]
    ### END SOLUTION


# %% [markdown]
# ## Your own run
#
# Task 90-run · difficulty ●●○ · about 30 minutes, mostly waiting · 5 points, graded by a person · [read in the book](../../_build/html/book/13_beyond_text_capstone.html#beyond-text-capstone-run)
#
# Now train your model for real, on English and French sentences that a small grammar generates. Put this line into a cell of your own. It shows its progress; you may interrupt it at any time, and the same line continues where it stopped:
#
# `from softlookup.training.own_run import train_own; run = train_own(Transformer, translation_loss, "my_run", minutes=10); run.plot("curve.png")`
#
# **Hand in the plot** as a picture in the cell below: open that cell for editing, and paste the picture (copied from your own cell's output) or drag the file `curve.png` into it. Add the losses at the beginning, after a tenth of the run, and
# at the end; three sentences with your model's translations (`run.translate("The car is green.")`), at least one of them wrong; and, in two to four sentences, what the curve shows and what you would try next.

# %% 90-run [markdown] points=5
# (The plot goes here.) The first loss is near the logarithm of the number of words, which is the loss of a model that knows nothing; it falls steeply while the model learns which words are common, then more slowly while it learns which French word
# translates which English one. At the end it stays above 0, since label smoothing keeps the model from being quite certain. Short sentences come out right early; wrong translations mostly have the right words in the wrong order, or the wrong
# gender, which depends on a word further away. Next I would train longer with a falling learning rate, and check whether the validation loss still follows the training loss; if it does not, I would use a smaller model or dropout.
