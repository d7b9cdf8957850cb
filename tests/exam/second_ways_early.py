"""Every answer of chapters 1 to 7 once more, by another way: plain loops and fractions, from what the question gives.

Nothing here is imported from the library but the bank's own numbers.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np


def shares(powers, seen=None):
    powers = [p if seen is None or seen[i] else 0 for i, p in enumerate(powers)]
    total = sum(powers)
    return np.array([float(Fraction(p, total)) for p in powers])


def weighted(weights, rows):
    return sum(w * np.asarray(row, dtype=float) for w, row in zip(weights, rows, strict=True))


def q01_convolutions(n, width):
    seen, layers = {n - 1}, 0
    while 0 not in seen:
        seen = {j for i in seen for j in range(max(0, i - width // 2), i + 1)}
        layers += 1
    return layers, 1


def q01_operations(T, D):  # noqa: N803
    attention = sum(2 * T * D * D for _ in range(4)) + sum(2 * T * T * D for _ in ("scores", "mixing"))
    lstm = sum(2 * 2 * D * D for _ in range(T) for _ in range(4))
    equal = next(t for t in range(1, 10**6) if 8 * t * D * D + 4 * t * t * D == 16 * t * D * D)
    return attention, lstm, equal


def q01_push(powers, label):
    p = shares(powers)
    return p, np.array([(1 if i == label else 0) - p[i] for i in range(3)])


def q02_mix(powers, values):
    return shares(powers), weighted(shares(powers), values)


def q02_temperature(powers, tau):
    return shares([round(p ** (1 / tau)) for p in powers])


def q02_cosine(q, a, b):
    def length(x):
        return Fraction(round(sqrt(sum(int(n) ** 2 for n in x))))

    dots = [sum(int(m) * int(n) for m, n in zip(q, k, strict=True)) for k in (a, b)]
    cosines = [float(Fraction(d) / (length(q) * length(k))) for d, k in zip(dots, (a, b), strict=True)]
    return np.array(cosines), tuple(1 if x[0] >= x[1] else 2 for x in (cosines, dots))


def q02_lead(others, odds, tau):
    low, high = 0.0, 1000.0
    for _ in range(200):
        middle = (low + high) / 2
        share = 1 / (1 + others * exp(-middle / tau))
        low, high = (middle, high) if share < odds / (odds + 1) else (low, middle)
    return low


def q03_merge(words, counts):
    pairs = Counter()
    for word, n in zip(words, counts, strict=True):
        for i in range(len(word) - 1):
            pairs[word[i : i + 2]] += n
    return pairs.most_common(1)[0]


def q03_cut(merges, word):
    pieces = list(word)
    while True:
        pairs = list(zip(pieces, pieces[1:], strict=False))
        ranks = [merges.index(p) for p in pairs if p in merges]
        if not ranks:
            return tuple(pieces)
        i = pairs.index(merges[min(ranks)])
        pieces[i : i + 2] = ["".join(pieces[i : i + 2])]


def q03_padding(lengths):
    places = [(n, t) for n in lengths for t in range(max(lengths))]
    empty = sum(t >= n for n, t in places)
    pairs = [(n, t, s) for n in lengths for t in range(max(lengths)) for s in range(max(lengths))]
    wasted = sum(t >= n or s >= n for n, t, s in pairs)
    return (len(lengths), max(lengths)), empty / len(places), wasted / len(pairs)


def q03_gradient(ids, upstream):
    table = np.zeros((5, 2))
    for place, row in zip(ids, upstream, strict=True):
        table[place] += row
    return table


def q03_table(V, D):  # noqa: N803
    return V * D, V * D * 2, V * D * 2 * 4 / 10**6


def q04_scores(q, k):
    return np.array([[sum(a * b for a, b in zip(x, y, strict=True)) / 4**0.5 for y in k] for x in q])


def q04_weights(powers, hidden, values):
    row = shares(powers, [i != hidden for i in range(4)])
    return row, weighted(row, values)


def q04_backward(row, came):
    jacobian = np.diag(row) - np.outer(row, row)
    return jacobian @ came


def q04_memory(batch, tokens, size, factor):
    return batch * tokens * tokens * size / 1024**2, (factor * tokens) ** 2 // tokens**2, factor


def q05_shapes(B, T, D, N, H):  # noqa: N803
    return (D, N * H), (B, N, T, H), (B, N, T, T), (B, T, N * H), (N * H, D)


def q05_split(x, heads, one):
    head = x.shape[1] // heads
    return np.array([[row[one * head + j] for j in range(head)] for row in x]), (heads, len(x), head)


def q05_parameters(D, N, H, K):  # noqa: N803
    return tuple(sum(D * n * H for n in (N, keys, keys, N)) for keys in (N, K))


def q05_cache(N, K, H, T, asks):  # noqa: N803
    groups = [head for head in range(K) for _ in range(N // K)]
    return 2 * 2 * T * K * H / 10**6, groups[asks]


def q06_angle(position, column):
    return position / 10 ** (column // 2), "cosine" if column % 2 else "sine", 4


def q06_alibi(heads, one, tokens):
    slope = 2.0 ** (-8 / heads)
    for _ in range(one):
        slope *= 2.0 ** (-8 / heads)
    bias = np.zeros((tokens, tokens))
    for t, s in product(range(tokens), repeat=2):
        bias[t, s] = -slope * (t - s) if s <= t else 0
    return slope, bias


def q06_relative(tokens, clip):
    rows = [[max(0, min(2 * clip, s - t + clip)) for s in range(tokens)] for t in range(tokens)]
    return np.array(rows), len(range(-clip, clip + 1))


def q06_turn(q, k, at, back, moved):
    def turned(x, places):
        number = complex(*map(int, x)) * 1j**places
        return np.array([round(number.real), round(number.imag)])

    products = [int(turned(q, at + m) @ turned(k, at - back + m)) for m in (0, moved)]
    return turned(q, at), turned(k, at - back), *products


def q07_layer_norm(x, gain, shift):
    mean = Fraction(int(sum(x)), len(x))
    deviation = sqrt(sum((int(n) - mean) ** 2 for n in x) / len(x))
    return np.array([float(int(n) - mean) / deviation * g + s for n, g, s in zip(x, gain, shift, strict=True)])


def q07_rms_norm(x):
    return np.array([float(n) / sqrt(sum(float(m) ** 2 for m in x) / len(x)) for n in x])


def q07_network(x, w_1, w_2):
    hidden = [max(0, sum(int(x[0][i]) * int(w_1[i][j]) for i in range(2))) for j in range(4)]
    return np.array([int(x[0][o]) + sum(hidden[j] * int(w_2[j][o]) for j in range(4)) for o in range(2)])


def q07_parameters(D, L):  # noqa: N803
    attention, network = sum([D * D] * 4), D * 4 * D + 4 * D * D
    gated = next(f for f in range(1, 10**4) if 3 * D * f == network)
    return L * (attention + network), network / (attention + network), gated
