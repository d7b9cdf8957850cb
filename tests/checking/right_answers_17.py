"""Chapter 17: right answers written otherwise: loops, numpy, einsum."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def lens_torch(states, gain, w_out, eps):
    return F.rms_norm(states, gain.shape, gain, eps) @ w_out


def lens_numpy(states, gain, w_out, eps):
    x = states.numpy()
    return (x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gain.numpy()) @ w_out.numpy()


def attribute_loop(z, w_o, x, gain, w_out, token, eps):
    last, parts = x[-1], []
    for head, rows in zip(z, w_o.split(z.shape[2]), strict=True):
        added = head[-1] @ rows
        parts.append(sum(added * gain * w_out[:, token]) / math.sqrt(float(last @ last) / len(last) + eps))
    return parts


def difference_logits(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    x = embedding + attention.sum(0) + feed_forward.sum(0)

    def logits(part):
        return (part * torch.rsqrt(x.square().mean() + eps) * gain) @ w_out

    return [logits(part)[..., token] - logits(part)[..., other] for part in (embedding, attention, feed_forward)]


def silence_addends(z, w_o, b_o, head):
    n, _, h = z.shape
    added = torch.einsum("nth,nhd->ntd", z, w_o.unflatten(0, (n, h)))
    silent = added.sum(dim=0) - added[head] + b_o
    return silent, silent + added[head].mean(dim=0)


def silence_mask(z, w_o, b_o, head):
    keep = (torch.arange(len(z)) != head)[:, None, None]
    zeros, means = z * keep, torch.where(keep, z, z.mean(dim=1, keepdim=True))
    return tuple(torch.cat(list(heads), dim=-1) @ w_o + b_o for heads in (zeros, means))


def induction_loop(weights):
    n, t, _ = weights.shape
    p = t // 2
    return [sum(float(weights[i, p + j, j + 1]) for j in range(p)) / p for i in range(n)]


def patch_beside(clean, corrupted, mixes, weights, read):
    def answer(x, source, at=None, position=None):
        for i, (mix, weight) in enumerate(zip(mixes, weights, strict=True)):
            if i == at:
                x = torch.where(torch.arange(len(x))[:, None] == position, source, x)
            x, source = (y + torch.tanh(mix @ y @ weight) for y in (x, source))
        return x[-1] @ read

    clean_result, corrupted_result = answer(clean, clean), answer(corrupted, clean)
    rows = [[answer(corrupted, clean, i, t) for t in range(len(clean))] for i in range(len(mixes))]
    return (torch.stack([torch.stack(row) for row in rows]) - corrupted_result) / (clean_result - corrupted_result)


def probe_numpy(states, labels, shown, ridge):
    states, labels, shown = (x.numpy() for x in (states, labels, shown))
    x, y = np.c_[states, np.ones(len(states))], np.where(labels, 1.0, -1.0)
    train, left = np.flatnonzero(shown), np.flatnonzero(~shown)
    w = np.linalg.inv(x[train].T @ x[train] + ridge * np.eye(x.shape[1])) @ x[train].T @ y[train]
    return w, np.mean(np.sign(x[left] @ w) == y[left])


def selectivity_numpy(words, labels, drawn, predicted, control_predicted, held_out):
    control = drawn.numpy()[words.numpy()]
    hits = predicted.numpy() == labels.numpy(), control_predicted.numpy() == control
    real, by_heart = (hit[held_out.numpy()].mean() for hit in hits)
    return control, real, by_heart, real - by_heart


def shared_gram(w):
    gram = w.T @ w
    squares = gram.diagonal()
    rows = torch.where(squares[:, None] > 0, gram.square() / squares[:, None], torch.zeros_like(gram))
    whole = rows.sum(dim=1)
    return squares.sqrt(), whole - squares, torch.where(whole > 0, squares / whole, whole)


def shared_numpy(w):
    w = w.numpy()
    lengths = np.linalg.norm(w, axis=0)
    units = np.divide(w, lengths, out=np.zeros_like(w), where=lengths > 0)
    squares = (units.T @ w) ** 2
    met = squares.sum(1) - np.diag(squares)
    return lengths, met, np.divide(lengths**2, squares.sum(1), out=np.zeros_like(lengths), where=lengths > 0)


def autoencoder_torch(h, w_encoder, b_encoder, directions, b_decoder, price):
    rows = F.normalize(directions, dim=1)
    latents = F.linear(h - b_decoder, w_encoder.T, b_encoder).clamp(min=0)
    again = torch.addmm(b_decoder, latents, rows)
    return latents, again, ((again - h).pow(2).sum() + price * latents.sum()) / len(h)


def autoencoder_numpy(h, w_encoder, b_encoder, directions, b_decoder, price):
    h, we, be, d, bd = (x.numpy() for x in (h, w_encoder, b_encoder, directions, b_decoder))
    a = np.maximum((h - bd) @ we + be, 0)
    y = a @ (d / np.linalg.norm(d, axis=1)[:, None]) + bd
    return a, y, float(np.mean(np.sum((y - h) ** 2, 1) + price * a.sum(1)))


def top_k_loop(h, w_encoder, b_encoder, directions, b_decoder, k):
    codes, again = [], []
    for x in h:
        before = (w_encoder.T @ (x - b_decoder) + b_encoder).tolist()
        chosen = sorted(range(len(before)), key=lambda i: -before[i])[:k]
        code = torch.tensor([max(0.0, y) if i in chosen else 0.0 for i, y in enumerate(before)], dtype=h.dtype)
        codes.append(code)
        again.append(torch.einsum("a,ad->d", code, directions) + b_decoder)
    errors = sum((x - y) @ (x - y) for x, y in zip(h, again, strict=True))
    distances = (h * h).sum() - h.sum(dim=0).square().sum() / len(h)
    return torch.stack(codes), torch.stack(again), errors / distances


def top_k_numpy(h, w_encoder, b_encoder, directions, b_decoder, k):
    h, we, be, d, bd = (x.numpy() for x in (h, w_encoder, b_encoder, directions, b_decoder))
    a = np.maximum((h - bd) @ we + be, 0)
    np.put_along_axis(a, np.argsort(-a, axis=1, kind="stable")[:, k:], 0, axis=1)
    y = a @ d + bd
    return a, y, float(np.linalg.norm(y - h) ** 2 / np.linalg.norm(h - h.mean(0)) ** 2)


RIGHT = {
    "17.lens": [lens_torch, lens_numpy],
    "17.attribute-heads": [attribute_loop],
    "17.difference": [difference_logits],
    "17.silence": [silence_addends, silence_mask],
    "17.induction": [induction_loop],
    "17.patch": [patch_beside],
    "17.probe": [probe_numpy],
    "17.selectivity": [selectivity_numpy],
    "17.superposition": [shared_gram, shared_numpy],
    "17.autoencoder": [autoencoder_torch, autoencoder_numpy],
    "17.top-k-codes": [top_k_loop, top_k_numpy],
}
