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
# # 17 · Looking inside
#
# You will write the instruments with which trained models are examined: the logit lens, the split of a logit into what heads and layers have added, a head that is silenced, the induction score, activation patching, probes with their control task, and the two toy models of shared dimensions.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Looking inside* in the
# book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 17-claim | In your own words (graded by a person) | 8 | ●●○ | 3 |
#
# **Letters.** `T` positions, `D` the width of the residual stream, `N` heads, `H` the width of one head, `L` layers, `V` words of the vocabulary. Letters of this notebook's own: `M` states or features, `A` latents of an autoencoder.

# %% 17-setup
import math

import numpy as np
import torch

from softlookup import check, hint

# %% [markdown]
# ## Reading the residual stream

# %% [markdown]
# [[task 17.lens]]
#
# Say what a model would answer if it stopped after each layer. `states[0]` holds the vectors that enter the first layer, and `states[i]` those that leave layer `i - 1`. The model ends with an RMSNorm and a matrix: a vector is divided by the root of the mean of its squares (`eps` is added to that mean), multiplied by `gain`, and then by `w_out`. Apply both to **every** state. Return logits, no probabilities.


# %% 17-lens
def lens(states, gain, w_out, eps):
    """states (L + 1, T, D), gain (D,), w_out (D, V), a number -> logits (L + 1, T, V)."""
    ### BEGIN SOLUTION
    normed = states / (states.square().mean(dim=-1, keepdim=True) + eps).sqrt() * gain
    return normed @ w_out
    ### END SOLUTION


# %% [markdown]
# [[task 17.attribute-heads]]
#
# Split what one layer's attention adds to a logit among its heads. `z` is what each head gives, and `w_o` the matrix behind them: head `i` meets the rows from `i * H` up to `(i + 1) * H` (not included). `x` is the **last** state of the model, behind which stand an RMSNorm with `gain` and `eps` and the matrix `w_out`, as in 17.lens. Hold the norm's divisor at what it is for `x`; then the logit of `token` is a sum, and each head has a part of it. Return the parts of all heads at the **last position**.


# %% 17-attribute-heads
def head_contributions(z, w_o, x, gain, w_out, token, eps):
    """z (N, T, H), w_o (N H, D), x (T, D), gain (D,), w_out (D, V), a whole number, a number -> (N,)."""
    ### BEGIN SOLUTION
    n_heads, _, width = z.shape
    scale = 1 / (x[-1].square().mean() + eps).sqrt()
    read = scale * gain * w_out[:, token]
    parts = [z[i, -1] @ w_o[i * width : (i + 1) * width] for i in range(n_heads)]
    return torch.stack(parts) @ read
    ### END SOLUTION


# %% [markdown]
# [[task 17.difference]]
#
# Split the difference of two logits, that of `token` minus that of `other`, into what each part of a model has added. At one position, `embedding` is what enters the first layer; row `i` of `attention` and of `feed_forward` is what layer `i` has added. The last state is the sum of **all** of these. Norm and matrix are those of 17.lens; hold the norm's divisor at what it is for the last state. Return the embedding's part, those of the attention layers and those of the feed-forward networks.


# %% 17-difference
def difference_by_part(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    """embedding (D,), attention, feed_forward (L, D), gain (D,), w_out (D, V), ids, a number -> number, (L,), (L,)."""
    ### BEGIN SOLUTION
    x = embedding + (attention + feed_forward).sum(dim=0)
    scale = 1 / (x.square().mean() + eps).sqrt()
    read = scale * gain * (w_out[:, token] - w_out[:, other])
    return embedding @ read, attention @ read, feed_forward @ read
    ### END SOLUTION


# %% [markdown]
# ## Heads

# %% [markdown]
# [[task 17.silence]]
#
# Take one head out of an attention layer, in two ways: put **zeros** in place of what it gives at all positions, or put the **mean over the positions** of what it gives. `z` is what each head gives. The layer's output is the heads side by side, in their order, times `w_o`, plus `b_o`, which belongs to no head and stays. Return both outputs, and leave `z` as it is.


# %% 17-silence
def without_head(z, w_o, b_o, head):
    """z (N, T, H), w_o (N H, D), b_o (D,), a whole number -> outputs (T, D), (T, D)."""

    ### BEGIN SOLUTION
    def combined(z):
        return z.transpose(0, 1).flatten(1) @ w_o + b_o

    silent, mean = z.clone(), z.clone()
    silent[head] = 0
    mean[head] = z[head].mean(dim=0)
    return combined(silent), combined(mean)
    ### END SOLUTION


# %% [markdown]
# [[task 17.induction]]
#
# Score each head of a layer as an induction head. The text is a block of random tokens, twice, so the second half of the positions repeats the first. The score of a head is its mean weight from each position of the **second** copy to the position **behind** the same token in the first copy (for the last position that is where the second copy begins).


# %% 17-induction
def induction_scores(weights):
    """weights (N, T, T), a row for each query; T is even -> scores (N,)."""
    ### BEGIN SOLUTION
    half = weights.shape[-1] // 2
    queries = torch.arange(half, 2 * half)
    return weights[:, queries, queries - half + 1].mean(dim=-1)
    ### END SOLUTION


# %% [markdown]
# [[task 17.patch]]
#
# Patch activations: which of them carry the answer? A small model turns the vectors `x` of `T` positions layer by layer into `x + tanh(mixes[i] @ x @ weights[i])`; its answer is the dot product of the **last** position's vector, after the last layer, with `read`. Run it on `clean` and on `corrupted` inputs. Then, for each layer `i` and position `t`, run it on the corrupted input again with **one** vector replaced: the one that **enters** layer `i` at position `t` is taken from the clean run. Return the share of the answer that comes back, (patched - corrupted) / (clean - corrupted).


# %% 17-patch
def recovered(clean, corrupted, mixes, weights, read):
    """clean, corrupted (T, D), mixes (L, T, T), weights (L, D, D), read (D,) -> shares (L, T)."""

    ### BEGIN SOLUTION
    def run(x, begin=0):
        states = [x]
        for mix, weight in zip(mixes[begin:], weights[begin:], strict=True):
            states.append(states[-1] + torch.tanh(mix @ states[-1] @ weight))
        return states, states[-1][-1] @ read

    kept, wanted = run(clean)
    seen, got = run(corrupted)
    shares = clean.new_zeros(len(mixes), len(clean))
    for layer in range(len(mixes)):
        for position in range(len(clean)):
            x = seen[layer].clone()
            x[position] = kept[layer][position]
            shares[layer, position] = (run(x, layer)[1] - got) / (wanted - got)
    return shares
    ### END SOLUTION


# %% [markdown]
# ## Probes

# %% [markdown]
# [[task 17.probe]]
#
# Fit a linear probe and say how often it is right. Put a 1 behind each state, for a bias. Fit a vector `w` on the states where `shown` is True: it has the smallest sum of squared errors against targets of +1 (where the label is 1) and -1 (where it is 0), plus `ridge` times the sum of the squares of `w`, bias included. That is the solution of $(X^\top X + \text{ridge} \cdot I)\, w = X^\top y$. The probe says 1 where a state's product with `w` is above 0 (none is exactly 0). Return `w`, and the share of right answers on the states that were **not** shown.


# %% 17-probe
def linear_probe(states, labels, shown, ridge):
    """states (M, D), labels of 0 and 1 (M,), shown (M,), a number -> w (D + 1,), a number."""
    ### BEGIN SOLUTION
    x = torch.cat((states, torch.ones_like(states[:, :1])), dim=1)
    targets = 2.0 * labels - 1
    products = x[shown].mT @ x[shown] + ridge * torch.eye(x.shape[1], dtype=x.dtype)
    w = torch.linalg.solve(products, x[shown].mT @ targets[shown].to(x.dtype))
    right = (x[~shown] @ w > 0) == (labels[~shown] == 1)
    return w, right.double().mean()
    ### END SOLUTION


# %% [markdown]
# [[task 17.selectivity]]
#
# Say what a probe's accuracy is worth. In the control task every **word** has a random class, `drawn[word]`, wherever it stands. One probe was trained on the real `labels` and gives `predicted`; another was trained on the control's labels and gives `control_predicted`. Each is measured against **its own** labels, on the places where `held_out` is True. Return the control's labels for all places, both accuracies, and the selectivity: accuracy minus that of the control.


# %% 17-selectivity
def selectivity(words, labels, drawn, predicted, control_predicted, held_out):
    """words, labels (M,), drawn (V,), predicted, control_predicted, held_out (M,) -> labels (M,), three numbers."""
    ### BEGIN SOLUTION
    control = drawn[words]
    accuracy = (predicted == labels)[held_out].double().mean()
    by_heart = (control_predicted == control)[held_out].double().mean()
    return control, accuracy, by_heart, accuracy - by_heart
    ### END SOLUTION


# %% [markdown]
# ## Features

# %% [markdown]
# [[task 17.superposition]]
#
# Measure how features share dimensions. Column `i` of `w` is feature `i`'s direction $W_i$. Return for each feature its length $\lVert W_i \rVert$; its **interference**, the sum over all **other** features of $(\hat W_i \cdot W_j)^2$, where $\hat W_i$ has the same direction and the length 1; and how many **dimensions** it has to itself, $\lVert W_i \rVert^2 / \sum_j (\hat W_i \cdot W_j)^2$, where the sum is over all features, itself included. A feature may have length 0: then all three are 0.


# %% 17-superposition
def shared_dimensions(w):
    """w (D, M) -> lengths (M,), interference (M,), dimensions (M,)."""
    ### BEGIN SOLUTION
    lengths = w.norm(dim=0)
    units = w / lengths.clamp(min=1e-12)
    squares = (units.mT @ w).square()
    interference = squares.sum(dim=1) - squares.diagonal()
    dimensions = lengths.square() / squares.sum(dim=1).clamp(min=1e-12)
    return lengths, interference, dimensions
    ### END SOLUTION


# %% [markdown]
# [[task 17.autoencoder]]
#
# Compute a sparse autoencoder and its loss. First bring each row of `directions` to the length 1 (none has the length 0). The latents are the ReLU of `(h - b_decoder) @ w_encoder + b_encoder`; the reconstruction is the latents times the directions, plus `b_decoder`. A state's loss is the **sum** of its squared errors plus `price` times the **sum** of its latents; return the mean over all states.


# %% 17-autoencoder
def autoencoder(h, w_encoder, b_encoder, directions, b_decoder, price):
    """h (M, D), w_encoder (D, A), b_encoder (A,), directions (A, D), b_decoder (D,), a number -> (M, A), (M, D), a number."""
    ### BEGIN SOLUTION
    directions = directions / directions.norm(dim=1, keepdim=True)
    latents = torch.relu((h - b_decoder) @ w_encoder + b_encoder)
    again = latents @ directions + b_decoder
    loss = (again - h).square().sum(dim=1) + price * latents.sum(dim=1)
    return latents, again, loss.mean()
    ### END SOLUTION


# %% [markdown]
# [[task 17.top-k-codes]]
#
# Compute a TopK autoencoder. The latents are the ReLU of `(h - b_decoder) @ w_encoder + b_encoder`, of which **each state** keeps its `k` largest (at most `A`); the others become 0. Of equal latents, the one with the lower index is kept first (a stable sort leaves their order). The reconstruction is the latents times `directions`, plus `b_decoder`. Return also the variance that it **misses**: the sum of all squared errors divided by the sum of the squared distances of all states from their mean.


# %% 17-top-k-codes
def top_k_codes(h, w_encoder, b_encoder, directions, b_decoder, k):
    """h (M, D), w_encoder (D, A), b_encoder (A,), directions (A, D), b_decoder (D,), a number -> (M, A), (M, D), a number."""
    ### BEGIN SOLUTION
    latents = torch.relu((h - b_decoder) @ w_encoder + b_encoder)
    chosen = latents.sort(dim=1, descending=True, stable=True).indices[:, :k]
    codes = torch.zeros_like(latents).scatter(1, chosen, latents.gather(1, chosen))
    again = codes @ directions + b_decoder
    missed = (again - h).square().sum() / (h - h.mean(dim=0)).square().sum()
    return codes, again, missed
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 17-claim · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/17_looking_inside.html#looking-inside-patterns)
#
# Somebody reports: "In layer 5, head 2 gives nine tenths of its weight from the verb to its subject. So the model finds the subject of a verb with this head, and it uses it to choose between *is* and *are*." Which parts of this are shown, and which are not? Describe an experiment that could show the claim to be wrong: what is changed, what is measured, and what it is compared with. Five to eight sentences.

# %% 17-claim [markdown] points=3
# Shown is one thing: from where this head reads, on the sentences that were looked at. The weight does not say what is read, since that is the value's, nor whether the vector that the head writes is long enough to matter, nor whether later layers use it. The head might attend to the nearest noun, or to the token behind the first word, which is the same place in these sentences; so one needs sentences in which the subject is not the nearest noun. The claim about *is* and *are* is one about a cause, and needs an intervention: take pairs of sentences that differ in the number of the subject alone ("The boat near the trees ..." and "The boats near the trees ..."), and put what the head gives in the one into a run on the other. Measured is the difference of the logits of *is* and *are*, and the share of it that comes back. It is compared with the same patch for the other heads of the layer, and with silencing this head and as many others, by their means rather than by zeros. If nothing comes back, the claim is wrong as it stands; if silencing alone changes nothing, another head may do the same work, so that several have to be silenced together. (That a weight does not show what is used; an intervention on pairs that differ in one thing; a difference of logits; and a comparison with other heads are enough for full points.)
