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
# # 9 · Training
#
# You will cut sentences into inputs and labels, write the losses, a step of Adam, clipping, accumulation and dropout, count what a training run needs,
# train a little model, and write four tests that find a broken run.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it, as often as you like. The chapter is *Training* in the
# book.
#
# **Letters.** `B` sentences in a batch, `T` positions, `V` words, `D` model width, `F` hidden width, `L` layers. **Logarithms** are natural, losses in
# nats; `pad_id` fills up rows behind, and is never a word.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
# | 09-curve | In your own words (graded by a person) | 8 | ●●○ | 3 |

# %% 09-setup
import math

import torch

from softlookup import check, hint

# %% [markdown]
# [[task 09.shift]]
#
# Sentences come with their start and end tokens, filled up behind with `pad_id`. A decoder is given all ids but the last, and at each place has to say the **next** one. Where that is padding, the label is **[[09.shift:ignore]]**, which losses leave out. (The inputs stay as they are.)


# %% 09-shift
def inputs_and_labels(ids, pad_id):
    """ids (B, T), a number -> inputs and labels, both (B, T-1)."""
    ### BEGIN SOLUTION
    ignore = -100  # variant 09.shift:ignore
    inputs, labels = ids[:, :-1], ids[:, 1:]
    return inputs, torch.where(labels == pad_id, ignore, labels)
    ### END SOLUTION


# %% [markdown]
# [[task 09.cross-entropy]]
#
# From logits to one number: the mean of $-\log p$ of the right words, over all tokens of the batch that are no padding (here the labels hold `pad_id` itself). Logits may be hundreds apart, within a position and from one position to the next, and gradients must flow. torch's own losses are not allowed; `log_softmax` is.


# %% 09-cross-entropy
def cross_entropy(logits, labels, pad_id):
    """logits (B, T, V), labels (B, T), a number -> one number."""
    ### BEGIN SOLUTION
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, labels[..., None])[..., 0]
    return -right[labels != pad_id].mean()
    ### END SOLUTION


# %% [markdown]
# [[task 09.perplexity]]
#
# A set was read in `M` batches. Of each you have the mean loss of its tokens, in nats, and how many tokens it had. Return the perplexity of the whole set.


# %% 09-perplexity
def perplexity(losses, tokens):
    """losses (M,), tokens (M,) -> one number."""
    ### BEGIN SOLUTION
    mean = (losses * tokens).sum() / tokens.sum()
    return torch.exp(mean)
    ### END SOLUTION


# %% [markdown]
# [[task 09.smoothed-loss]]
#
# The same loss with label smoothing of [[09.smoothed-loss:epsilon]]: a share $\varepsilon$ of what is wanted is spread evenly over all `V` words, the right one among them ($\varepsilon / V$ each), and $1 - \varepsilon$ stays with the right one. So a token's loss is $-(1 - \varepsilon) \log p_y - \varepsilon \cdot \text{mean}_j \log p_j$. Padding is left out as before.


# %% 09-smoothed-loss
def smoothed_loss(logits, labels, pad_id):
    """logits (B, T, V), labels (B, T), a number -> one number."""
    ### BEGIN SOLUTION
    epsilon = 0.1  # variant 09.smoothed-loss:epsilon
    log_p = torch.log_softmax(logits, dim=-1)
    right = log_p.gather(-1, labels[..., None])[..., 0]
    every = log_p.mean(dim=-1)
    loss = -(1 - epsilon) * right - epsilon * every
    return loss[labels != pad_id].mean()
    ### END SOLUTION


# %% [markdown]
# [[task 09.warmup]]
#
# The paper's curve, $D^{-0.5} \cdot \min(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})$, where the first step is number 1. Your function is told how many steps have been **done**: 0 before the first.


# %% 09-warmup
def learning_rate(done, d_model, warmup):
    """three whole numbers -> the rate of the step that comes next."""
    ### BEGIN SOLUTION
    step = done + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ### END SOLUTION


# %% [markdown]
# [[task 09.adam]]
#
# One step of Adam. `m` becomes $\beta_1 m + (1 - \beta_1) g$, and `v` the same of $g^2$ with $\beta_2$. Both began at zero, so each is divided by $1 - \beta^{\text{step}}$ before it is used (the first step is number 1). Then `w` loses rate times the corrected `m` over (the root of the corrected `v`, plus `eps`). Return the new `w`, and `m` and `v` **uncorrected**, as the next step needs them.


# %% 09-adam
def adam_step(w, g, m, v, step, rate, beta_1, beta_2, eps):
    """four tensors of one shape, five numbers -> w, m, v."""
    ### BEGIN SOLUTION
    m = beta_1 * m + (1 - beta_1) * g
    v = beta_2 * v + (1 - beta_2) * g**2
    m_hat = m / (1 - beta_1**step)
    v_hat = v / (1 - beta_2**step)
    return w - rate * m_hat / (torch.sqrt(v_hat) + eps), m, v
    ### END SOLUTION


# %% [markdown]
# [[task 09.clip]]
#
# Three parameters have three gradients. Take the norm of **all their numbers together**. If it is above `max_norm`, multiply all three by the one factor that brings it there; else leave them. Return the three, and the norm that they had before. All may be zero.


# %% 09-clip
def clip(g_1, g_2, g_3, max_norm):
    """three tensors, a number -> three tensors and a number."""
    ### BEGIN SOLUTION
    gradients = (g_1, g_2, g_3)
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    factor = torch.clamp(max_norm / norm, max=1.0)
    return (*(g * factor for g in gradients), norm)
    ### END SOLUTION


# %% [markdown]
# [[task 09.accumulate]]
#
# `M` small batches come one after the other. Of each you have the gradient of the **sum** of its tokens' losses, and its number of tokens. After every `every` batches make one step of plain descent: `w` minus `rate` times the mean gradient of a token, over all tokens of the group. What is left at the end makes a smaller group, and a step too. Return what `w` is after each batch.


# %% 09-accumulate
def accumulate(w, gradients, tokens, every, rate):
    """w (D,), gradients (M, D), tokens (M,), two numbers -> (M, D)."""
    ### BEGIN SOLUTION
    total, count, after = torch.zeros_like(w), 0, []
    for i in range(len(gradients)):
        total, count = total + gradients[i], count + tokens[i]
        if (i + 1) % every == 0 or i + 1 == len(gradients):
            w = w - rate * total / count
            total, count = torch.zeros_like(w), 0
        after.append(w)
    return torch.stack(after)
    ### END SOLUTION


# %% [markdown]
# [[task 09.dropout]]
#
# For each number of `x` a number `u` from 0 to 1 was drawn. In training, numbers with `u` below `p` become 0, and the others are divided by $1 - p$. In use (`training` is False), `x` comes back as it is. The result has the dtype of `x`; gradients must flow. (`p` is below 1.)


# %% 09-dropout
def dropout(x, u, p, training):
    """x and u of one shape, a number, True or False -> like x."""
    ### BEGIN SOLUTION
    if not training:
        return x
    return x * (u >= p) / (1 - p)
    ### END SOLUTION


# %% [markdown]
# [[task 09.initialise]]
#
# `z` holds numbers of mean 0 and variance 1. Scale them to the first weights of a matrix `(in, out)`, used as `x @ w`: Xavier's variance $2 / (\text{in} + \text{out})$, or He's, $2 / \text{in}$, if `x` comes out of a ReLU.


# %% 09-initialise
def first_weights(z, after_relu):
    """z (in, out), True or False -> (in, out)."""
    ### BEGIN SOLUTION
    n_in, n_out = z.shape
    variance = 2 / n_in if after_relu else 2 / (n_in + n_out)
    return z * math.sqrt(variance)
    ### END SOLUTION


# %% [markdown]
# [[task 09.bytes]]
#
# How many bytes does a run with Adam hold? Return two numbers: for the **states** (weights, gradients, what Adam keeps, any copy), and for the **activations**. A number takes 4 bytes in float32 and 2 in half precision. Recipe `float32`: everything in float32. `autocast`: parameters, gradients and Adam's averages in float32, activations counted in half precision, all of them (the half-precision copies of the weights, which are made for the products and saved until the backward pass, are left aside). `master`: weights and gradients in half precision, a float32 master copy of the weights, Adam's averages in float32, activations in half.


# %% 09-bytes
def training_bytes(parameters, activations, recipe):
    """two whole numbers, a text -> two whole numbers."""
    ### BEGIN SOLUTION
    each = 2 + 2 + 4 + 4 + 4 if recipe == "master" else 4 + 4 + 4 + 4
    return each * parameters, (4 if recipe == "float32" else 2) * activations
    ### END SOLUTION


# %% [markdown]
# [[task 09.count]]
#
# The paper's encoder-decoder, `L` layers on each side: attention without biases (four matrices `(D, D)`), a feed-forward network with biases, a norm with gain and shift for each part (two in an encoder's layer, three in a decoder's), none behind the stacks; **one** table of embeddings for source, target and output. Positions are not learned.


# %% 09-count
def transformer_parameters(vocab_size, d_model, d_hidden, n_layers):
    """V, D, F, L -> a whole number."""
    ### BEGIN SOLUTION
    attention = 4 * d_model**2
    hidden = 2 * d_model * d_hidden + d_hidden + d_model
    norm = 2 * d_model
    encoder = attention + hidden + 2 * norm
    decoder = 2 * attention + hidden + 3 * norm
    return vocab_size * d_model + n_layers * (encoder + decoder)
    ### END SOLUTION


# %% [markdown]
# [[task 09.train]]
#
# The smallest language model: its logits for the next word are the row of the word before, in a table `w`. Train it: so many steps of plain gradient descent on the cross-entropy of **all sentences at once**, padding left out (`ids` as in the first task; your `cross_entropy` takes `pad_id` as label). Return the table after the last step, and the loss that each step began with. `w` itself must not change.


# %% 09-train
def train(w, ids, pad_id, rate, steps):
    """w (V, V), ids (B, T), three numbers -> w (V, V), losses (steps,)."""
    ### BEGIN SOLUTION
    w, losses = w.clone().requires_grad_(True), []
    for _ in range(steps):
        loss = cross_entropy(w[ids[:, :-1]], ids[:, 1:], pad_id)
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w -= rate * w.grad
        losses.append(loss.detach())
    return w.detach(), torch.stack(losses)
    ### END SOLUTION


# %% 09-live
TRAIN = False  # Write True to train a whole translator on sentences of a generated grammar, with bar and curve, in one to two minutes.
if TRAIN:  # It may be interrupted, and goes on when you run this cell again.
    from softlookup.training.live import watch_grammar_run

    print(watch_grammar_run("grammar-run").translate("A young child closes the big white window.").text)

# %% [markdown]
# ## It trains, but it is wrong
#
# In the last four tasks **you write the test**. It is handed pieces of training runs, each of which lets the loss go down nicely. Some are sound, some are broken, and you see only what they do: call them, and do not look inside. Return True for a broken one.
#
# [[task 09.find-leak]]
#
# `model(ids)` gives logits `(B, T, V)` for ids `(B, T)`. Say whether it leaks: whether any token can change an output at an **earlier** place. Your test may attend to nothing else than ids and logits. You may hand over ids of your own, from 0 to `n_words` - 1, in as many rows as you like, but no longer than those you are given.


# %% 09-find-leak
def leaks(model, ids, n_words):
    """something to call, ids (B, T), a number -> True if the future leaks."""
    ### BEGIN SOLUTION
    before = model(ids)
    for place in range(1, ids.shape[1]):
        other = ids.clone()
        other[:, place] = (other[:, place] + 1) % n_words
        if (model(other) - before)[:, :place].abs().max() > 1e-6:
            return True
    return False
    ### END SOLUTION


# %% [markdown]
# [[task 09.find-shift]]
#
# `loss_of(model, ids)` cuts ids `(B, T)` into inputs and labels, calls `model(inputs)` for logits `(B, t, V)`, and returns the mean cross-entropy. Sound labels are the tokens that **follow** in the same sentence, and nothing else. You choose the ids (at least two different rows of three or more, from 0 to `n_words` - 1; `n_words` is 8 or more) **and the model**: any function from inputs to logits, which has to answer whatever part of `ids` it is handed.


# %% 09-find-shift
def labels_are_wrong(loss_of, n_words):
    """something to call, a number -> True if the labels are wrong."""
    ### BEGIN SOLUTION
    ids = torch.arange(n_words - 2) + torch.tensor([[0], [1]])
    return bool(loss_of(lambda inputs: 30.0 * torch.nn.functional.one_hot((inputs + 1) % n_words, n_words), ids) > 0.01)
    ### END SOLUTION


# %% [markdown]
# [[task 09.find-padding]]
#
# `loss_of(logits, labels, pad_id)` gives a loss, a sum or a mean over the tokens of a batch. Sound ones do not care how much padding there is, nor what the logits say there, whatever id padding has. You make logits `(B, T, V)` and labels `(B, T)`; ids are from 0 to `n_words` - 1.


# %% 09-find-padding
def counts_padding(loss_of, n_words):
    """something to call, a number -> True if padding counts."""
    ### BEGIN SOLUTION
    for pad_id in (0, n_words - 1):
        logits = torch.randn(2, 7, n_words)
        labels = torch.randint(1, n_words - 1, (2, 7))
        labels[:, 4:] = pad_id
        shorter = loss_of(logits[:, :4], labels[:, :4], pad_id)
        if abs(loss_of(logits, labels, pad_id) - shorter) > 1e-5:
            return True
    return False
    ### END SOLUTION


# %% [markdown]
# [[task 09.find-dropout]]
#
# `model` has `train()` and `eval()` like torch's modules (and nothing else of theirs), and `model(x)` gives a tensor like `x`. It may be handed over in either state. Say whether it still drops numbers in use.


# %% 09-find-dropout
def drops_in_use(model, x):
    """a model, x (B, D) -> True if it drops in use."""
    ### BEGIN SOLUTION
    model.eval()
    first, second = model(x), model(x)
    return not torch.equal(first, second)
    ### END SOLUTION


# %% [markdown]
# ## In your own words
#
# Task 09-curve · difficulty ●●○ · about 8 minutes · 3 points, graded by a person · [read in the book](../../_build/html/book/09_training.html#training-wrong)
#
# A friend shows you a training loss that falls to 0.02 nats a token within a hundred steps, on real sentences. The validation loss does the same. What do you suspect, and which two tests do you run first? Three to six sentences.

# %% 09-curve [markdown] points=3
# Nobody can know the next word that well: a good model of real sentences stays above one nat for each token. So the answer is in the input. Either the labels are the inputs, not shifted, and the model copies; or the mask leaks, and each place sees the token that it is to predict. Validation has the same fault, so it is no witness. First I change a later token and look whether an earlier output moves; then I hand the loss a model that says the next token, and see whether it is praised. Letting the model write by itself shows it as well: a model that only copies writes rubbish.
