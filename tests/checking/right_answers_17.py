"""Chapter 17: right answers written otherwise: loops, numpy, einsum."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def lens_torch(states, gain, w_out, eps):
    return F.rms_norm(states, gain.shape, gain, eps) @ w_out


def lens_loop(states, gain, w_out, eps):
    logits = torch.empty(*states.shape[:2], w_out.shape[1])
    for i, layer in enumerate(states):
        for t, x in enumerate(layer):
            logits[i, t] = w_out.T @ (gain * x * torch.rsqrt((x @ x) / len(x) + eps))
    return logits


def lens_numpy(states, gain, w_out, eps):
    x = states.numpy()
    return (x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * gain.numpy()) @ w_out.numpy()


def attribute_einsum(z, w_o, x, gain, w_out, token, eps):
    read = gain * w_out[:, token] * torch.rsqrt(x[-1].square().mean() + eps)
    return torch.einsum("nh,nhd,d->n", z[:, -1], w_o.unflatten(0, (len(z), -1)), read)


def attribute_loop(z, w_o, x, gain, w_out, token, eps):
    last, parts = x[-1], []
    for head, rows in zip(z, w_o.split(z.shape[2]), strict=True):
        added = head[-1] @ rows
        parts.append(sum(added * gain * w_out[:, token]) / math.sqrt(float(last @ last) / len(last) + eps))
    return parts


def attribute_back(z, w_o, x, gain, w_out, token, eps):
    read = (gain * w_out.T[token] / (x[-1].pow(2).mean() + eps) ** 0.5) @ w_o.T
    return (z[:, -1] * read.view(len(z), -1)).sum(-1)


def difference_together(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    parts = torch.cat((embedding[None], attention, feed_forward))
    x = parts.sum(dim=0)
    differences = parts @ (gain * (w_out[:, token] - w_out[:, other]) / (x.square().mean() + eps).sqrt())
    n = len(attention)
    return differences[0], differences[1 : n + 1], differences[n + 1 :]


def difference_logits(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    x = embedding + attention.sum(0) + feed_forward.sum(0)

    def logits(part):
        return (part * torch.rsqrt(x.square().mean() + eps) * gain) @ w_out

    return [logits(part)[..., token] - logits(part)[..., other] for part in (embedding, attention, feed_forward)]


def difference_numpy(embedding, attention, feed_forward, gain, w_out, token, other, eps):
    e, a, f, g, w = (tensor.numpy().astype(float) for tensor in (embedding, attention, feed_forward, gain, w_out))
    x = e.copy()
    for i in range(len(a)):
        x += a[i] + f[i]
    read = g * (w[:, token] - w[:, other]) / np.sqrt(np.mean(x**2) + eps)
    return float(e @ read), a @ read, f @ read


def silence_addends(z, w_o, b_o, head):
    n, _, h = z.shape
    added = torch.einsum("nth,nhd->ntd", z, w_o.unflatten(0, (n, h)))
    silent = added.sum(dim=0) - added[head] + b_o
    return silent, silent + added[head].mean(dim=0)


def silence_mask(z, w_o, b_o, head):
    keep = (torch.arange(len(z)) != head)[:, None, None]
    zeros, means = z * keep, torch.where(keep, z, z.mean(dim=1, keepdim=True))
    return tuple(torch.cat(list(heads), dim=-1) @ w_o + b_o for heads in (zeros, means))


def silence_numpy(z, w_o, b_o, head):
    results = []
    for value in (0.0, z[head].numpy().mean(0)):
        x = z.numpy().copy()
        x[head] = value
        results.append(np.hstack(list(x)) @ w_o.numpy() + b_o.numpy())
    return results


def induction_diagonal(weights):
    half = weights.shape[-1] // 2
    return weights.diagonal(1 - half, dim1=1, dim2=2)[:, 1:].mean(dim=-1)


def induction_loop(weights):
    n, t, _ = weights.shape
    p = t // 2
    return [sum(float(weights[i, p + j, j + 1]) for j in range(p)) / p for i in range(n)]


def induction_rows(weights):
    p = weights.shape[1] // 2
    return torch.einsum("npp->n", weights[:, p:, 1 : p + 1]) / p


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


def patch_batched(clean, corrupted, mixes, weights, read):
    n_layers, t = len(mixes), len(clean)
    good, bad, rows = clean, corrupted, []
    for i in range(n_layers):
        eye = torch.eye(t, dtype=torch.bool)[:, :, None]
        x = torch.where(eye, good[None], bad[None])  # a copy for each position
        for j in range(i, n_layers):
            x = x + torch.tanh(mixes[j] @ x @ weights[j])
        rows.append(x[:, -1] @ read)
        good, bad = (y + torch.tanh(mixes[i] @ y @ weights[i]) for y in (good, bad))
    clean_result, corrupted_result = good[-1] @ read, bad[-1] @ read
    return (torch.stack(rows) - corrupted_result) / (clean_result - corrupted_result)


def patch_numpy(clean, corrupted, mixes, weights, read):
    clean, corrupted, mixes, weights, read = (x.numpy() for x in (clean, corrupted, mixes, weights, read))

    def onward(x, i):
        return x if i == len(mixes) else onward(x + np.tanh(mixes[i] @ x @ weights[i]), i + 1)

    def entering(x, i):
        for j in range(i):
            x = x + np.tanh(mixes[j] @ x @ weights[j])
        return x

    clean_result, corrupted_result = (float(onward(x, 0)[-1] @ read) for x in (clean, corrupted))
    shares = np.zeros((len(mixes), len(clean)))
    for i, t in np.ndindex(*shares.shape):
        x = entering(corrupted, i).copy()
        x[t] = entering(clean, i)[t]
        shares[i, t] = (onward(x, i)[-1] @ read - corrupted_result) / (clean_result - corrupted_result)
    return shares


def probe_rows(states, labels, shown, ridge):
    x = torch.cat((states, torch.ones_like(states[:, :1])), dim=1)
    y = torch.where(labels == 1, 1.0, -1.0).to(x.dtype)
    more = math.sqrt(ridge) * torch.eye(x.shape[1], dtype=x.dtype)
    w = torch.linalg.lstsq(torch.cat((x[shown], more)), torch.cat((y[shown], 0 * more[0]))[:, None]).solution[:, 0]
    return w, ((x[~shown] @ w > 0) == (y[~shown] > 0)).double().mean()


def probe_numpy(states, labels, shown, ridge):
    states, labels, shown = (x.numpy() for x in (states, labels, shown))
    x, y = np.c_[states, np.ones(len(states))], np.where(labels, 1.0, -1.0)
    train, left = np.flatnonzero(shown), np.flatnonzero(~shown)
    w = np.linalg.inv(x[train].T @ x[train] + ridge * np.eye(x.shape[1])) @ x[train].T @ y[train]
    return w, np.mean(np.sign(x[left] @ w) == y[left])


def probe_kernel(states, labels, shown, ridge):
    x = F.pad(states, (0, 1), value=1.0)
    seen = x[shown]
    a = torch.linalg.solve(
        seen @ seen.T + ridge * torch.eye(len(seen), dtype=x.dtype), 2.0 * labels[shown].double() - 1
    )
    w = seen.T @ a
    return w, (((x @ w) > 0).long() == labels)[~shown].double().mean()


def selectivity_numpy(words, labels, drawn, predicted, control_predicted, held_out):
    control = drawn.numpy()[words.numpy()]
    hits = predicted.numpy() == labels.numpy(), control_predicted.numpy() == control
    real, by_heart = (hit[held_out.numpy()].mean() for hit in hits)
    return control, real, by_heart, real - by_heart


def selectivity_loop(words, labels, drawn, predicted, control_predicted, held_out):
    control = [int(drawn[w]) for w in words]
    places = [i for i in range(len(words)) if held_out[i]]
    real = sum(int(predicted[i] == labels[i]) for i in places) / len(places)
    by_heart = sum(int(control_predicted[i] == control[i]) for i in places) / len(places)
    return control, real, by_heart, real - by_heart


def selectivity_errors(words, labels, drawn, predicted, control_predicted, held_out):
    control = torch.gather(drawn, 0, words)
    n = held_out.sum()
    wrong = ((predicted != labels) & held_out).sum() / n
    control_wrong = ((control_predicted != control) & held_out).sum() / n
    return control, 1 - wrong, 1 - control_wrong, control_wrong - wrong


def shared_gram(w):
    gram = w.T @ w
    squares = gram.diagonal()
    rows = torch.where(squares[:, None] > 0, gram.square() / squares[:, None], torch.zeros_like(gram))
    whole = rows.sum(dim=1)
    return squares.sqrt(), whole - squares, torch.where(whole > 0, squares / whole, whole)


def shared_loop(w):
    lengths, met, dimensions = [], [], []
    for i in range(w.shape[1]):
        length = math.sqrt(sum(float(x) ** 2 for x in w[:, i]))
        unit = w[:, i] / length if length else w[:, i]
        others = sum(float(unit @ w[:, j]) ** 2 for j in range(w.shape[1]) if j != i)
        lengths.append(length)
        met.append(others)
        dimensions.append(length**2 / (length**2 + others) if length else 0.0)
    return lengths, met, dimensions


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


def autoencoder_loop(h, w_encoder, b_encoder, directions, b_decoder, price):
    latents, again, total = [], [], 0.0
    for x in h:
        a = torch.relu(w_encoder.T @ (x - b_decoder) + b_encoder)
        y = b_decoder + sum(a[i] * directions[i] / directions[i].norm() for i in range(len(a)))
        total = total + (y - x) @ (y - x) + price * a.abs().sum()
        latents.append(a)
        again.append(y)
    return torch.stack(latents), torch.stack(again), total / len(h)


def autoencoder_numpy(h, w_encoder, b_encoder, directions, b_decoder, price):
    h, we, be, d, bd = (x.numpy() for x in (h, w_encoder, b_encoder, directions, b_decoder))
    a = np.maximum((h - bd) @ we + be, 0)
    y = a @ (d / np.linalg.norm(d, axis=1)[:, None]) + bd
    return a, y, float(np.mean(np.sum((y - h) ** 2, 1) + price * a.sum(1)))


def top_k_ranks(h, w_encoder, b_encoder, directions, b_decoder, k):
    latents = ((h - b_decoder) @ w_encoder + b_encoder).clamp(min=0)
    left, right = latents[:, :, None], latents[:, None, :]
    earlier = torch.ones(latents.shape[1], latents.shape[1]).tril(-1).bool()
    ranks = ((right > left) | ((right == left) & earlier)).sum(dim=2)
    codes = torch.where(ranks < k, latents, 0.0)
    again = codes @ directions + b_decoder
    return codes, again, (again - h).pow(2).mean() / h.var(dim=0, correction=0).mean()


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
    "17.lens": [lens_torch, lens_loop, lens_numpy],
    "17.attribute-heads": [attribute_einsum, attribute_loop, attribute_back],
    "17.difference": [difference_together, difference_logits, difference_numpy],
    "17.silence": [silence_addends, silence_mask, silence_numpy],
    "17.induction": [induction_diagonal, induction_loop, induction_rows],
    "17.patch": [patch_beside, patch_batched, patch_numpy],
    "17.probe": [probe_rows, probe_numpy, probe_kernel],
    "17.selectivity": [selectivity_numpy, selectivity_loop, selectivity_errors],
    "17.superposition": [shared_gram, shared_loop, shared_numpy],
    "17.autoencoder": [autoencoder_torch, autoencoder_loop, autoencoder_numpy],
    "17.top-k-codes": [top_k_ranks, top_k_loop, top_k_numpy],
}
