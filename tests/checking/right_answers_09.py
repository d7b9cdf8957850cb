"""Chapter 9: right answers written otherwise: loops, numpy, other functions of torch, other orders."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def shift_loops(ids, pad_id):
    rows = ids.tolist()
    return [row[:-1] for row in rows], [[-100 if i == pad_id else i for i in row[1:]] for row in rows]


def shift_numpy(ids, pad_id):
    labels = ids.numpy()[:, 1:].copy()
    labels[labels == pad_id] = -100
    return ids[:, :-1].numpy(), labels


def entropy_logsumexp(logits, labels, pad_id):
    real = (labels != pad_id).to(logits.dtype)
    right = torch.gather(logits, 2, labels.unsqueeze(2)).squeeze(2)
    return ((logits.logsumexp(2) - right) * real).sum() / real.sum()


def perplexity_average(losses, tokens):
    return math.exp(np.average(losses.numpy().astype(float), weights=tokens.numpy()))


def perplexity_dot(losses, tokens):
    shares = tokens.double() / tokens.sum()
    return torch.dot(losses.double(), shares).exp().to(losses.dtype)


def smoothed_distribution(logits, labels, pad_id):
    n_words = logits.shape[-1]
    target = F.one_hot(labels, n_words).to(logits.dtype) * 0.9 + 0.1 / n_words
    loss = -(target * logits.log_softmax(-1)).sum(-1)
    real = labels != pad_id
    return (loss * real).sum() / real.sum()


def smoothed_logsumexp(logits, labels, pad_id):
    real = labels != pad_id
    scores, ids = logits[real], labels[real]
    right = scores[torch.arange(len(ids)), ids]
    return (torch.logsumexp(scores, 1) - 0.9 * right - 0.1 * scores.mean(1)).mean()


def rate_numpy(done, d_model, warmup):
    step = np.float64(done + 1)
    return np.minimum(np.power(step, -0.5), step * np.power(float(warmup), -1.5)) / np.sqrt(d_model)


def rate_peak(done, d_model, warmup):
    there = (done + 1) / warmup
    return torch.tensor(d_model * warmup, dtype=torch.float64).rsqrt() * min(there, there**-0.5)


def adam_numpy(w, g, m, v, step, rate, beta_1, beta_2, eps):
    w, g, m, v = (tensor.numpy().astype(np.float64) for tensor in (w, g, m, v))
    m += (1 - beta_1) * (g - m)
    v += (1 - beta_2) * (g * g - v)
    return w - rate * (m / (1 - beta_1**step)) / (np.sqrt(v / (1 - beta_2**step)) + eps), m, v


def adam_in_place(w, g, m, v, step, rate, beta_1, beta_2, eps):
    m = m.clone().mul_(beta_1).add_(g, alpha=1 - beta_1)
    v = v.clone().mul_(beta_2).addcmul_(g, g, value=1 - beta_2)
    return w - rate * (m / (1 - beta_1**step)) / ((v / (1 - beta_2**step)) ** 0.5 + eps), m, v


def clip_norms(g_1, g_2, g_3, max_norm):
    norm = torch.stack([g_1.norm(), g_2.norm(), g_3.norm()]).norm().item()
    factor = min(1.0, max_norm / norm) if norm else 1.0
    return g_1 * factor, g_2 * factor, g_3 * factor, norm


def clip_numpy(g_1, g_2, g_3, max_norm):
    gradients = [g.numpy() for g in (g_1, g_2, g_3)]
    norm = math.hypot(*(float(n) for g in gradients for n in g.ravel()))
    return (*(g / max(1.0, norm / max_norm) for g in gradients), norm)


def accumulate_groups(w, gradients, tokens, every, rate):
    rows = []
    for begin in range(0, len(gradients), every):
        group = slice(begin, begin + every)
        rows += [w] * (len(tokens[group]) - 1)
        w = w - rate * gradients[group].sum(0) / tokens[group].sum()
        rows.append(w)
    return torch.stack(rows)


def accumulate_numpy(w, gradients, tokens, every, rate):
    w, rows = w.numpy().astype(float), []
    sums, counts = gradients.numpy().cumsum(0, dtype=float), tokens.numpy().cumsum()
    last, had = np.zeros_like(w), 0
    for i in range(len(sums)):
        if (i + 1) % every == 0 or i == len(sums) - 1:
            w = w - rate * (sums[i] - last) / (counts[i] - had)
            last, had = sums[i], counts[i]
        rows.append(w)
    return np.stack(rows)


def dropout_where(x, u, p, training):
    return torch.where(u < p, 0.0, x / (1 - p)).to(x.dtype) if training else x


def dropout_ceiling(x, u, p, training):
    mask = (~(u < p)).to(x.dtype) if training else torch.ones_like(x)
    return x.mul(mask).div(1 - p if training else 1)


def first_numpy(z, after_relu):
    z = z.numpy()
    return z * np.sqrt(2 / (len(z) if after_relu else sum(z.shape))).astype(z.dtype)


def first_root(z, after_relu):
    return math.sqrt(2) * z * (z.shape[0] if after_relu else sum(z.shape)) ** -0.5


def bytes_table(parameters, activations, recipe):
    table = {"float32": (16, 4), "autocast": (16, 2), "master": (16, 2)}
    return tuple(size * n for size, n in zip(table[recipe], (parameters, activations), strict=True))


def bytes_dtypes(parameters, activations, recipe):
    half, whole = torch.float16.itemsize, torch.float32.itemsize
    per_parameter = {"master": 2 * half + 3 * whole}.get(recipe, 4 * whole)
    return np.array(per_parameter * parameters), np.array((whole if recipe == "float32" else half) * activations)


def count_sums(vocab_size, d_model, d_hidden, n_layers):
    each = [12 * d_model * d_model, 4 * d_model * d_hidden, 2 * (d_hidden + d_model), 10 * d_model]
    return vocab_size * d_model + n_layers * sum(each)


def count_modules(vocab_size, d_model, d_hidden, n_layers):
    with torch.device("meta"):
        table = torch.nn.Embedding(vocab_size, d_model)
        think = torch.nn.Sequential(torch.nn.Linear(d_model, d_hidden), torch.nn.Linear(d_hidden, d_model))
        matrix, norm = torch.nn.Linear(d_model, d_model, bias=False), torch.nn.LayerNorm(d_model)
    n = [sum(p.numel() for p in part.parameters()) for part in (table, think, matrix, norm)]
    return n[0] + n_layers * (2 * n[1] + 12 * n[2] + 5 * n[3])


def train_torch(w, ids, pad_id, rate, steps):
    w, losses = w.clone(), []
    for _ in range(steps):
        leaf = w.requires_grad_(True)
        loss = F.cross_entropy(leaf[ids[:, :-1]].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=pad_id)
        (gradient,) = torch.autograd.grad(loss, leaf)
        losses.append(loss.item())
        w = (leaf - rate * gradient).detach()
    return w, torch.tensor(losses, dtype=w.dtype)


def leak_at_random(model, ids, n_words):
    draws = torch.Generator().manual_seed(1)
    for place in range(ids.shape[1]):
        other = ids.clone()
        other[:, place:] = torch.randint(n_words, other[:, place:].shape, generator=draws)
        if not torch.equal(model(other)[:, :place], model(ids)[:, :place]):
            return True
    return False


def leak_by_prefixes(model, ids, n_words):
    whole = model(ids)
    return any(
        not torch.allclose(model(ids[:, :t]), whole[:, :t], atol=3e-5, rtol=1e-6) for t in range(1, ids.shape[1])
    )


def labels_by_order(loss_of, n_words):
    order = torch.arange(n_words) * 5 % n_words if n_words % 5 else torch.arange(n_words)
    following = torch.empty_like(order).scatter(0, order, order.roll(-1))
    ids = torch.stack([order[:-2], order[1:-1]])
    return loss_of(lambda inputs: torch.eye(n_words)[following[inputs]] * 50, ids).item() > 0.1


def labels_recorded(loss_of, n_words):
    ids = torch.tensor([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]])

    def model(inputs):
        return 20.0 * (torch.arange(n_words) == inputs[..., None] + 1)

    return np.asarray(float(loss_of(model, ids)) > 0.05)


def padding_in_front(loss_of, n_words):
    values = []
    for front in (0, 1, 6):
        for pad_id in (0, 3):
            words = torch.tensor([[1, 2, 4], [4, 1, 2]])
            scores = torch.sin(torch.arange(2 * 3 * n_words)).reshape(2, 3, n_words)
            labels = torch.cat([torch.full((2, front), pad_id), words], 1)
            logits = torch.cat([5.0 * torch.ones(2, front, n_words).cumsum(-1), scores], 1)
            values.append(float(loss_of(logits, labels, pad_id)))
    return max(values) - min(values) > 1e-5


def padding_by_tokens(loss_of, n_words):
    for pad_id in (n_words - 1, 0):
        logits = torch.randn(1, 6, n_words)
        labels = torch.tensor([[1, 2, 3, pad_id, pad_id, pad_id]])
        expected = loss_of(logits[:, :3], labels[:, :3], pad_id)
        if not torch.isclose(loss_of(logits, labels, pad_id), expected, atol=1e-6):
            return 1
    return 0


def dropout_many(model, x):
    model.train(False)
    return len({tuple(model(x).flatten().tolist()) for _ in range(4)}) > 1


def dropout_rows(model, x):
    model.eval()
    return (model(x) - model(x)).abs().max().item() != 0.0


RIGHT = {
    "09.shift": [shift_loops, shift_numpy],
    "09.cross-entropy": [entropy_logsumexp],
    "09.perplexity": [perplexity_average, perplexity_dot],
    "09.smoothed-loss": [smoothed_distribution, smoothed_logsumexp],
    "09.warmup": [rate_numpy, rate_peak],
    "09.adam": [adam_numpy, adam_in_place],
    "09.clip": [clip_norms, clip_numpy],
    "09.accumulate": [accumulate_groups, accumulate_numpy],
    "09.dropout": [dropout_where, dropout_ceiling],
    "09.initialise": [first_numpy, first_root],
    "09.bytes": [bytes_table, bytes_dtypes],
    "09.count": [count_sums, count_modules],
    "09.train": [train_torch],
    "09.find-leak": [leak_at_random, leak_by_prefixes],
    "09.find-shift": [labels_by_order, labels_recorded],
    "09.find-padding": [padding_in_front, padding_by_tokens],
    "09.find-dropout": [dropout_many, dropout_rows],
}
