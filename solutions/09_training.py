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
# You will cut sentences into inputs and labels, write the losses, a step of Adam, gradient clipping, gradient accumulation and dropout, count the memory
# and parameters of a training run, train a small model, and write four tests that find a broken run.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *Training* in the
# book.
#
# **Letters.** `B` sentences in a batch, `T` positions, `V` words, `D` model width, `F` hidden width, `L` layers. **Logarithms** are natural, losses are
# in nats. **Padding** with `pad_id`, an id of the vocabulary, is on the right of a row; `pad_id` is never a word, and no row is padding alone.
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
# Make the inputs and labels of a decoder. Sentences come with their start and end tokens, padded on the right with `pad_id`. The inputs are all ids but the last; the label at each position is the **next** id. Where the next id is padding, the label is **[[09.shift:ignore]]**, which losses leave out. (The inputs keep their padding.)


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
# Compute the loss from logits: the mean of $-\log p$ of the right words, over all tokens of the batch that are not padding (here the labels hold `pad_id` itself). Return one number. Logits may be hundreds apart, within a position and between positions, and gradients must flow. (`log_softmax` is allowed.)


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
# Compute the perplexity of a data set that was read in `M` batches. For each batch you are given the mean loss of its tokens, in nats, and its number of tokens (whole numbers of at least 1). Return one number for the whole set.


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
# Compute the same loss with label smoothing, $\varepsilon =$ [[09.smoothed-loss:epsilon]]. In the target distribution, $\varepsilon$ is spread evenly over all `V` words, the right one included ($\varepsilon / V$ each), and the right word gets the remaining $1 - \varepsilon$ in addition. A token's loss is therefore $-(1 - \varepsilon) \log p_y - \varepsilon \cdot \text{mean}_j \log p_j$. Padding is left out as before.


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
# Compute the learning rate of the paper's schedule, $D^{-0.5} \cdot \min(\text{step}^{-0.5}, \text{step} \cdot \text{warmup}^{-1.5})$, where the first step is number 1. Your function gets the number of steps that are already **done**, which is 0 before the first step, and returns the rate of the next step.


# %% 09-warmup
def learning_rate(done, d_model, warmup):
    """three integers -> the rate of the next step."""
    ### BEGIN SOLUTION
    step = done + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ### END SOLUTION


# %% [markdown]
# [[task 09.adam]]
#
# Compute one step of Adam. `m` becomes $\beta_1 m + (1 - \beta_1) g$; `v` is updated in the same way with $g^2$ and $\beta_2$. Both started at zero, so each is divided by $1 - \beta^{\text{step}}$ before it is used (the first step is number 1). Then subtract from `w` the rate times the corrected `m`, divided by (the root of the corrected `v`, plus `eps`). Return the new `w`, and the new `m` and `v` **uncorrected**, as the next step needs them.


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
# Clip the gradients of three parameters by their global norm, which is the norm of **all their numbers together**. If it is above `max_norm`, multiply all three gradients by the one factor that reduces it to `max_norm` exactly, even where both are about a millionth (which torch adds to the norm); otherwise leave them unchanged. Return the three gradients, and the norm before clipping. All gradients may be zero; `max_norm` is above 0.


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
# Train with gradient accumulation: `M` small batches come one after the other. For each batch you are given the gradient of the **sum** of its tokens' losses, and its number of tokens (at least 1). After every `every` batches make one step of plain gradient descent: `w` minus `rate` times the mean gradient per token, over all tokens of the group. If batches are left over at the end, they form a smaller group, which makes a step too. Return the value of `w` after each batch.


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
# Apply dropout to `x`. For each number of `x` you are given a random number `u` from 0 to 1. In training, numbers with `u` below `p` become 0, and the others are divided by $1 - p$. At inference (`training` is False), return `x` unchanged. The result has the dtype of `x`, whatever the dtype of `u` is; gradients must flow. (`p` is below 1.)


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
# Scale `z`, whose numbers have mean 0 and variance 1, to the initial weights of a matrix of shape `(in, out)` that is used as `x @ w`. Their variance is Xavier's, $2 / (\text{in} + \text{out})$, or He's, $2 / \text{in}$, if `x` is the output of a ReLU.


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
# How many bytes does training with Adam need? Return two numbers: the bytes of the **states** (weights, gradients, Adam's two averages, any copy of the weights), and the bytes of the **activations**. A number takes 4 bytes in float32 and 2 in half precision. There are three recipes. `float32`: everything is in float32. `autocast`: parameters, gradients and Adam's averages are in float32, and all activations are counted in half precision (leave out the half-precision copies of the weights, which are made for the products and saved until the backward pass). `master`: weights and gradients are in half precision, with a float32 master copy of the weights; Adam's averages are in float32, activations in half precision.


# %% 09-bytes
def training_bytes(parameters, activations, recipe):
    """two integers, a string -> two integers."""
    ### BEGIN SOLUTION
    each = 2 + 2 + 4 + 4 + 4 if recipe == "master" else 4 + 4 + 4 + 4
    return each * parameters, (4 if recipe == "float32" else 2) * activations
    ### END SOLUTION


# %% [markdown]
# [[task 09.count]]
#
# Count the parameters of the paper's encoder-decoder with `L` layers on each side. Attention has four matrices `(D, D)` and no biases; the feed-forward network has biases. Each part has a norm with gain and bias (two in an encoder layer, three in a decoder layer); no norm follows the stacks. There is **one** embedding table for source, target and output. Positions are not learned.


# %% 09-count
def transformer_parameters(vocab_size, d_model, d_hidden, n_layers):
    """V, D, F, L -> an integer."""
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
# Train the smallest language model: the logits for the next word are a row of the table `w`, chosen by the current word. Make `steps` steps (at least one) of plain gradient descent on the cross-entropy of **all sentences at once**, padding left out (`ids` as in the first task; your `cross_entropy` expects `pad_id` as the label of padding). Return the table after the last step, and the loss at the beginning of each step. `w` itself must not change.


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
TRAIN = False  # Write True to train a whole translator on sentences of a generated grammar, with progress bar and loss curve, in one to two minutes.
if TRAIN:  # You may interrupt it; it continues when you run this cell again.
    from softlookup.training.live import watch_grammar_run

    print(watch_grammar_run("grammar-run").translate("A young child closes the big white window.").text)

# %% [markdown]
# ## It trains, but it is wrong
#
# In the last four tasks **you write the test**. It gets pieces of training runs, and in each of these runs the loss goes down nicely. Some pieces are correct, some are broken. Your test may call them but not read their code. Return True for a broken one.
#
# [[task 09.find-leak]]
#
# Return True if `model` leaks: if any token can change an output at an **earlier** position. `model(ids)` gives logits `(B, T, V)` for ids `(B, T)`. Your test may use only ids and logits. It may pass its own ids to the model, from 0 to `n_words` - 1, in as many rows as you like, but no longer than the rows you are given. Without a leak, earlier outputs do not change, except for rounding in the last digits.


# %% 09-find-leak
def leaks(model, ids, n_words):
    """a function, ids (B, T), a number -> True if the future leaks."""
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
# Return True if the labels are wrong. `loss_of(model, ids)` cuts ids `(B, T)` into inputs and labels, calls `model(inputs)` for logits `(B, t, V)`, and returns the mean cross-entropy. Correct labels are the tokens that **follow** in the same sentence, and nothing else. You choose the ids (at least two different rows of three or more, from 0 to `n_words` - 1; `n_words` is 8 or more) **and the model**: any function from inputs to logits, which must accept whatever part of `ids` it is given.


# %% 09-find-shift
def labels_are_wrong(loss_of, n_words):
    """a function, a number -> True if the labels are wrong."""
    ### BEGIN SOLUTION
    ids = torch.arange(n_words - 2) + torch.tensor([[0], [1]])
    return bool(loss_of(lambda inputs: 30.0 * torch.nn.functional.one_hot((inputs + 1) % n_words, n_words), ids) > 0.01)
    ### END SOLUTION


# %% [markdown]
# [[task 09.find-padding]]
#
# Return True if padding counts in the loss. `loss_of(logits, labels, pad_id)` returns a sum or a mean over the tokens of a batch. A correct loss depends neither on the amount of padding nor on the logits at padding, whatever the id of padding is. You choose logits `(B, T, V)`, labels `(B, T)` and `pad_id`; ids are from 0 to `n_words` - 1.


# %% 09-find-padding
def counts_padding(loss_of, n_words):
    """a function, a number -> True if padding counts."""
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
# Return True if `model` still drops numbers at inference. It has `train()` and `eval()` like torch's modules (and none of their other methods), and `model(x)` gives a tensor like `x`. You may get it in either mode.


# %% 09-find-dropout
def drops_in_use(model, x):
    """a model, x (B, D) -> True if it drops numbers at inference."""
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
# No model can predict the next word that well: a good model of real sentences stays above one nat per token. So the answer must be in the input. Either the labels are the inputs, not shifted, and the model copies; or the mask leaks, and each position sees the token that it has to predict. Validation has the same fault, so it does not reveal the error. First I change a later token and check whether an earlier output changes; then I give the loss a model that always predicts the next token, and check whether its loss is near 0. Letting the model generate shows it as well: a model that only copies generates rubbish.
