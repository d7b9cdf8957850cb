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
# # 20 · After pre-training
#
# You will write what turns a language model into an assistant: the text of a conversation, the labels and the loss of supervised fine-tuning, packed batches, a low-rank adapter, and distillation. All in numpy.
#
# [How a task works](../../_build/html/book/00_before_you_start_running.html#before-check): write your answer, run the check below it as often as you like. The chapter is *After pre-training* in the book.
#
# | task | what you write | minutes | difficulty | points |
# |---|---|---|---|---|
# [[tasks-table]]
#
# **Letters.** `B` examples in a batch, `T` tokens, `V` tokens of the vocabulary, `D` and `F` the widths before and after a linear layer, `r` the rank of an adapter.

# %% 20-setup
import numpy as np

from softlookup import check, hint

# %% [markdown]
# ## Supervised fine-tuning

# %% [markdown]
# [[task 20.template]]
#
# Write a conversation as the text that a chat model reads. `messages` is a list of dictionaries, each with a `"role"` (`"system"`, `"user"` or `"assistant"`) and a `"content"`, in the order in which they were said. Each message becomes `[[20.template:start]]`, its role, a line end, its content exactly as it is, `[[20.template:end]]`, and a line end. If `add_generation_prompt` is true, the text goes on with what an answer of the assistant begins with: `[[20.template:start]]assistant` and a line end, whatever the last message was. Nothing is added that is not in `messages`, and there may be no message at all.


# %% 20-template
def chat_text(messages, add_generation_prompt):
    """A list of dictionaries with "role" and "content", True or False -> text."""
    ### BEGIN SOLUTION
    start = "<|im_start|>"  # variant 20.template:start
    end = "<|im_end|>"  # variant 20.template:end
    text = ""
    for message in messages:
        text += f"{start}{message['role']}\n{message['content']}{end}\n"
    if add_generation_prompt:
        text += f"{start}assistant\n"
    return text
    ### END SOLUTION


# %% [markdown]
# [[task 20.loss-mask]]
#
# Make the inputs and the labels of one training example. `ids` are the tokens of a whole conversation, and `is_answer` is `True` for each token that the assistant wrote, the end token of its turns included. The **inputs** are all tokens but the last one. The **label** of an input is the token that follows it, if the assistant wrote **that** token, and [[20.loss-mask:ignored]] if it did not: this number tells the loss to ignore the position. Inputs and labels have T - 1 entries each. There may be several answers in an example, or none.


# %% 20-loss-mask
def targets(ids, is_answer):
    """ids (T,) integers, is_answer (T,) booleans, T >= 2 -> inputs (T - 1,), labels (T - 1,), integers."""
    ### BEGIN SOLUTION
    ignored = -100  # variant 20.loss-mask:ignored
    labels = np.where(is_answer[1:], ids[1:], ignored)
    return ids[:-1], labels
    ### END SOLUTION


# %% [markdown]
# [[task 20.sft-loss]]
#
# Return the loss of supervised fine-tuning: the mean cross-entropy, in nats, over **all** labelled tokens of the batch. Where a label is -100, the position has no label and does not count; any other label is the id of the right token. Labels are shifted already. A row may have no label at all, but the batch has at least one. Logits may be in the thousands, so compute the logarithm of the softmax without overflow, row by row.


# %% 20-sft-loss
def sft_loss(logits, labels):
    """logits (B, T, V), labels (B, T) integers -> the loss, a number."""
    ### BEGIN SOLUTION
    shifted = logits - logits.max(axis=-1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    counted = labels != -100
    rows, right_ids = log_p[counted], labels[counted]
    losses = -rows[np.arange(len(rows)), right_ids]
    return losses.mean()
    ### END SOLUTION


# %% [markdown]
# ## Packing

# %% [markdown]
# [[task 20.packed]]
#
# Short examples are put one behind the other into one row of `T` tokens, so that nothing is spent on padding. `lengths` says how many tokens each example has, at least one. Return the position of each token, counted from 0 in **its own** example, and the mask: `True` in row `t` and column `s` where token `t` may attend to token `s`. A token attends to itself and to earlier tokens of its own example.


# %% 20-packed
def packed(lengths):
    """lengths (E,) integers with the sum T -> positions (T,) integers, may_attend (T, T) booleans."""
    ### BEGIN SOLUTION
    example = np.repeat(np.arange(len(lengths)), lengths)
    begins = np.cumsum(lengths) - lengths
    t = np.arange(len(example))
    positions = t - begins[example]
    is_same = example[:, None] == example[None, :]
    may_attend = is_same & (t[:, None] >= t[None, :])
    return positions, may_attend
    ### END SOLUTION


# %% [markdown]
# ## Fewer weights, a smaller model

# %% [markdown]
# [[task 20.lora]]
#
# A linear layer with the frozen weights `w` gets a low-rank adapter: `a` has `r` rows, `b` has `r` columns, and only these two are trained. The adapter adds $\frac{\alpha}{r}\, x A^\top B^\top$ to the output $x W^\top$. Return the output `y`, and `merged`: one matrix with which a plain layer gives the same output, $x\,\mathtt{merged}^\top = y$. Change none of the inputs. All vectors are rows.


# %% 20-lora
def lora(x, w, a, b, alpha):
    """x (..., D), w (F, D), a (r, D), b (F, r), alpha, a number -> y (..., F), merged (F, D)."""
    ### BEGIN SOLUTION
    scale = alpha / len(a)
    y = x @ w.T + scale * (x @ a.T @ b.T)
    merged = w + scale * (b @ a)
    return y, merged
    ### END SOLUTION


# %% [markdown]
# [[task 20.distill]]
#
# A small model, the student, learns to predict the next token as a large model, the teacher, does. Both logits are divided by the temperature `tau` before the softmax. Return `tau` squared times the mean over the tokens of $\mathrm{KL}(\text{teacher} \,\|\, \text{student})$: with the teacher's probabilities $p$ and the student's $q$, both at `tau`, the divergence of a token is $\sum_v p_v \,(\log p_v - \log q_v)$, in nats. Logits may be in the thousands.


# %% 20-distill
def distill_loss(student, teacher, tau):
    """student (T, V) and teacher (T, V), logits, tau > 0 -> the loss, a number."""
    ### BEGIN SOLUTION
    q, p = student / tau, teacher / tau
    q, p = q - q.max(axis=-1, keepdims=True), p - p.max(axis=-1, keepdims=True)
    log_q = q - np.log(np.exp(q).sum(axis=-1, keepdims=True))
    log_p = p - np.log(np.exp(p).sum(axis=-1, keepdims=True))
    divergence = (np.exp(log_p) * (log_p - log_q)).sum(axis=-1)
    return tau**2 * divergence.mean()
    ### END SOLUTION
