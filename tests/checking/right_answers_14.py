"""Chapter 14: right answers written otherwise: loops, whole units, einsum, torch, sets of pairs."""

import math

import numpy as np
import torch


def agrees_apart(printed, true, places):
    return np.abs(np.asarray(printed) - np.asarray(true)) <= 0.5 / 10**places * (1 + 1e-9)


def agrees_written(printed, true, places):
    shown, right = np.asarray(printed), np.asarray(true)
    same = [f"{a:.{places}f}" == f"{b:.{places}f}" for a, b in zip(shown.ravel(), right.ravel(), strict=True)]
    return np.array(same).reshape(shown.shape)


def rows_torch(weights, places):
    w = torch.from_numpy(weights)
    most = w.shape[-1] * 0.5 * 10**-places
    return ((w.sum(-1) - 1).abs() > most + 1e-9) | (w.amin(-1) < 0)


def rows_bounds(weights, places):
    half = 0.5 / 10**places
    low, high = (weights - half).sum(-1), (weights + half).sum(-1)
    return ~((low <= 1 + 1e-9) & (high >= 1 - 1e-9)) | np.any(weights < 0, axis=-1)


def checksum_ones(x, w, printed, places):
    t, h = printed.shape
    off = printed - x @ w
    rows, columns = np.abs(off @ np.ones(h)), np.abs(np.ones(t) @ off)
    return np.outer(rows > h * 0.5 / 10**places, columns > t * 0.5 / 10**places)


def place_torch(q, k, claimed):
    scores = torch.from_numpy(q) @ torch.from_numpy(k).T
    claimed_scores = scores.gather(1, torch.from_numpy(claimed)[:, None])
    return 1 + (scores > claimed_scores).sum(1)


def rank_torch(scores, width, places):
    values = torch.linalg.svdvals(torch.from_numpy(scores)).tolist()
    most = 10**-places / 2 * scores.size**0.5
    return min(len(values), width), any(value > most for value in values[width:])


def rank_count(scores, width, places):
    limit = 0.5 * 10.0**-places * math.sqrt(scores.size)
    largest = min(list(scores.shape) + [width])
    return largest, int(np.linalg.matrix_rank(scores, tol=limit)) > largest


def hypothesis_loop(printed, candidates, places):
    best = most = -1
    for i, candidate in enumerate(candidates):
        count = int((np.abs(printed - candidate) <= 0.5 / 10**places * (1 + 1e-9)).sum())
        if count > most:
            best, most = i, count
    return best, most


def hypothesis_at_once(printed, candidates, places):
    counts = (np.round(candidates, places) == np.round(printed, places)).sum(axis=(1, 2))
    return counts.argmax(), counts.max()


def mixed_torch(q, k, v, printed, places):
    q, k, v, printed = map(torch.from_numpy, (q, k, v, printed))
    s = q @ k.T
    made = [
        torch.nn.functional.scaled_dot_product_attention(q, k, v),
        s.softmax(-1) @ v,
        (s / q.shape[1] ** 0.5).softmax(0) @ v,
        torch.zeros_like(s).softmax(-1) @ v,
    ]
    fits = [bool(((output - printed).abs() <= 0.5 / 10**places * (1 + 1e-9)).all()) for output in made]
    return fits.index(True) if any(fits) else 4


def split_reshaped(x, w, printed, places):
    n, t, h = printed.shape
    whole = (x @ w).reshape(t, n, h).transpose(1, 0, 2)
    verdicts = []
    for i in range(n):
        part = w[i * h : (i + 1) * h, i * h : (i + 1) * h]
        options = (whole[i], x[:, i * h : (i + 1) * h] @ part)
        fits = [np.array_equal(np.round(option, places), np.round(printed[i], places)) for option in options]
        verdicts.append(fits.index(True) if True in fits else 2)
    return verdicts


def split_torch(x, w, printed, places):
    n, _, h = printed.shape
    x, w, printed = map(torch.from_numpy, (x, w, printed))
    blocks = torch.block_diag(*[torch.ones(h, h, dtype=w.dtype)] * n)
    half = 0.5 / 10**places * (1 + 1e-9)
    fits = [((torch.stack((x @ m).split(h, 1)) - printed).abs() <= half).all(-1).all(-1) for m in (w, w * blocks)]
    return torch.where(fits[0], 0, torch.where(fits[1], 1, 2))


def moved_torch(before, after, order):
    a, b = torch.from_numpy(before), torch.from_numpy(after)
    moves = len(a) == len(order) and torch.allclose(a.index_select(0, torch.from_numpy(order)), b)
    return torch.allclose(a, b), moves


def scores_strings(printed, published, places):
    sets = []
    for row, reports in zip(np.round(printed, places).tolist(), np.round(published, places).tolist(), strict=True):
        sets.append(reports.index(row) if row in reports else 2)
    return sets, sum(a > b for a, b in zip(published[0][0], published[1][0], strict=True))


def scores_torch(printed, published, places):
    printed, published = torch.from_numpy(printed), torch.from_numpy(published)
    fits = torch.round(published, decimals=places).isclose(printed[:, None]).all(-1)
    sets = [0 if a else 1 if b else 2 for a, b in fits.tolist()]
    return sets, int(published[0, 0].gt(published[1, 0]).sum())


def polarity_largest(mask, weights):
    mask_values = np.broadcast_to(mask, weights.shape)[weights > 0]
    if mask_values.all():
        return 1
    return -1 if mask_values.any() else 0


def polarity_products(mask, weights):
    if np.all(weights * (1 - mask) == 0):
        return 1
    return 0 if np.all(weights * mask == 0) else -1


def leaks_turned(first, second, joined, one_means_look):
    hidden = [(mask == 0) if one_means_look else (mask == 1) for mask in (first, second, joined)]
    return (hidden[0] | hidden[1]) & ~hidden[2]


def quotient_table(peaks, bandwidths, printed):
    table = np.round(np.outer(peaks, 1 / np.array(bandwidths)) * 1000)
    cells = np.argwhere(table == printed)
    return tuple(cells[0]) if len(cells) else (-1, -1)


def quotient_next(peaks, bandwidths, printed):
    pairs = ((i, j) for i in range(len(peaks)) for j in range(len(bandwidths)))
    return next((p for p in pairs if round(1e3 * peaks[p[0]] / bandwidths[p[1]]) == printed), (-1, -1))


def intensity_numpy(flops, loads, stores, size, printed, places):
    moved = np.array([size, 1]) * (loads + stores)
    fits = np.abs(flops / moved - printed) <= 0.5 / 10**places * (1 + 1e-9)
    return np.argmax([*fits, True]), flops / moved[0]


def intensity_written(flops, loads, stores, size, printed, places):
    true = flops / ((loads + stores) * size)
    shown = [f"{true:.{places}f}", f"{true * size:.{places}f}", f"{printed:.{places}f}"]
    return shown.index(shown[2]), true


def conventions_numpy(products, printed):
    ratio = np.array(printed) / np.prod(products, axis=1)
    kinds = np.where(ratio == 2, 2, np.where(ratio == 1, 1, 0))
    return kinds, bool((kinds != kinds[0]).any())


def conventions_torch(products, printed):
    adds = torch.tensor(products).prod(dim=1)
    count = torch.tensor(printed)
    kinds = 2 * (count == 2 * adds).int() + (count == adds).int()
    return kinds, len(kinds.unique()) != 1


RIGHT = {
    "14.printed": [agrees_apart, agrees_written],
    "14.rows": [rows_torch, rows_bounds],
    "14.checksum": [checksum_ones],
    "14.place": [place_torch],
    "14.rank": [rank_torch, rank_count],
    "14.hypothesis": [hypothesis_loop, hypothesis_at_once],
    "14.uniform": [mixed_torch],
    "14.split": [split_reshaped, split_torch],
    "14.moved": [moved_torch],
    "14.scores": [scores_strings, scores_torch],
    "14.polarity": [polarity_largest, polarity_products],
    "14.leaks": [leaks_turned],
    "14.balance": [quotient_table, quotient_next],
    "14.intensity": [intensity_numpy, intensity_written],
    "14.conventions": [conventions_numpy, conventions_torch],
}
