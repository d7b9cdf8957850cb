"""Every answer of chapters 8 to 20 once more, by another way; and the table of all of them."""

import re
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import exp, floor, log, log2, sqrt
from typing import Any

import numpy as np
import second_ways_early
from second_ways_early import shares


def q08_combine(ids):
    mask = np.array([[int(s <= t and ids[s] != 0) for s in range(5)] for t in range(5)])
    return mask, sum(not row.any() for row in mask)


def q08_cached(kept, new):
    rows = [[int(s <= kept + t) for s in range(kept + new)] for t in range(new)]
    return np.array(rows), tuple(kept + t for t in range(new))


def q08_softmax(first, second, hidden):
    return np.stack([shares(first, [i != hidden for i in range(3)]), np.zeros(len(second))])


def q08_labels(words):
    inputs, targets = np.zeros((2, 5), dtype=int), np.zeros((2, 5), dtype=int)
    for row, sentence in enumerate(words):
        for place, (now, then) in enumerate(zip([1, *sentence], [*sentence, 2], strict=True)):
            inputs[row, place], targets[row, place] = now, then
    return inputs, targets, int((targets != 0).sum())


def q08_cross(B, N, T, S):  # noqa: N803
    return (B, N, T, S), (B, 1, 1, S)


def q09_perplexity(powers, padded):
    chance = 1.0
    for power in powers:
        chance *= 0.5**power
    return -log2(chance) / 4, chance ** (-1 / 4)


def q09_warm_up(warm, early, late):
    def rate(step):
        return min(step**-0.5, step * warm**-1.5)

    return rate(early) / rate(warm), rate(late) / rate(warm)


def q09_clip(one, other, bound):
    factor = bound / sqrt(sum(n * n for n in (*one, *other)))
    return factor, np.array(one) * factor, np.array(other) * factor


def q09_smoothing(V, eps, label):  # noqa: N803
    return np.array([(1 - eps) * (i == label) + eps / V for i in range(V)])


def q09_bytes(billions, recipes):
    each = {"master": 2 + 2 + 4 + 4 + 4, "half": 2 + 2 + 2 + 2, "autocast": 4 + 4 + 4 + 4, "sgd": 4 + 4, "float32": 16}
    return tuple(float(billions * each[recipe]) for recipe in recipes)


def q09_adam(gradient, rate):
    m, v = 0.1 * gradient, 0.001 * gradient.astype(float) ** 2
    return -rate * (m / (1 - 0.9)) / np.sqrt(v / (1 - 0.999))


def q10_top_p(shares, p):
    left, chosen = Fraction(p).limit_denominator(20), set()
    for i in sorted(range(5), key=lambda i: -shares[i]):
        if left <= 0:
            break
        chosen.add(i)
        left -= Fraction(int(shares[i]), 20)
    return np.array([float(shares[i]) if i in chosen else 0.0 for i in range(5)]) / sum(
        float(shares[i]) for i in chosen
    )


def q10_draw(shares, u):
    line = [token for token, share in enumerate(shares) for _ in range(10 * int(share))]
    return line[floor(round(u * 100))], max(range(4), key=lambda i: shares[i])


def q10_temperature(square, tau):
    return square, square ** (1 / tau)


def q10_beam(totals, steps):
    candidates = sorted(
        ((int(totals[i]) + int(steps[i][j]), "XY"[i] + "abc"[j]) for i in range(2) for j in range(3)), reverse=True
    )
    return tuple(name for _, name in candidates[:2]), tuple(total for total, _ in candidates[:2])


def q10_penalty(short, long, a, b):
    first, second = a * 6 / (5 + short), b * 6 / (5 + long)
    return first, second, "first" if first > second else "second"


def q10_cache(L, N, K, H, B, S, prompt, written):  # noqa: N803
    mebibytes = sum(2 * 2 * B * S * H for _ in range(L) for _ in range(K)) / 1024**2
    text, without, with_one = prompt, 0, 0
    for step in range(written):
        without += text
        with_one += text if step == 0 else 1
        text += 1
    return mebibytes, without, with_one


def q11_intensity(formula, size):
    right = formula.split("=")[1]
    ops = right.count("+") + right.count("\\cdot") + right.count("^2") + right.count("a x")
    numbers = len(set(right) & set("xzuv")) + 1
    return ops / (numbers * size)


def q11_attainable(bandwidth, peak, low, high):
    return peak / bandwidth, min(peak, bandwidth * low), min(peak, bandwidth * high)


def q11_time(bandwidth, peak, flops, data):
    times = {"operations": flops / peak / 1e12 * 1e3, "memory": data / bandwidth / 1e12 * 1e3}
    longest = max(times, key=times.__getitem__)
    return round(times[longest], 9), longest


def q11_fuse(steps, size):
    passes = [step.split("=") for step in steps.split(", \\quad ")]
    apart = sum(len(set(right) & set("xyzwuv")) + 1 for _, right in passes)
    outside = {letter for _, right in passes for letter in right} & set("xyzw")
    return apart * size, (len(outside) + 1) * size, 1


def q11_product(tokens, side):
    ops, moved = 2 * tokens * side**2, 2 * (2 * tokens * side + side**2)
    many = 10**12
    return ops, moved, ops / moved, round(2 * many * side**2 / (2 * (2 * many * side + side**2)), 3)


def q12_model(D, L, V):  # noqa: N803
    weights = sum(4 * D * D + D * 4 * D + 4 * D * D for _ in range(L)) + V * D
    return weights, weights + weights, 3 * (weights + weights)


def q12_days(billions, trillions, devices, peak, share):
    work = 6 * billions * trillions * 1e21
    return work, work / (devices * peak * share * 1e12) / 3600


def q12_fits(memory, billions, L, K, H, S, N):  # noqa: N803
    left, each, count = memory * 10**9 - billions * 2 * 10**9, 2 * 2 * S * L * K * H, 0
    while (count + 1) * each <= left:
        count += 1
    return count


def q12_step(billions, giga, cache, batch):
    single, many = ((2 * billions + cache * n) / giga for n in (1, batch))
    return single * 1e3, many * 1e3, batch / many


def q12_pairs(tokens, kept, wide):
    def ops(seen):
        return sum(2 * wide + 2 * wide for _ in range(seen))

    behind = sum(kept + t + 1 for t in range(tokens))
    return ops(tokens * tokens), ops(sum(range(1, tokens + 1))), ops(behind)


def q13_patches(down, across, side, channels, width):
    def count(size):
        return len(range(0, down, size)) * len(range(0, across, size))

    numbers = channels * side * side
    return (count(side), numbers), numbers * width, count(side) + 1, count(side // 2) ** 2 // count(side) ** 2


def q13_frames(hop, width, seconds):
    starts = [s for s in range(0, 16_000 * seconds, hop) if s + width <= 16_000 * seconds]
    return len(starts), len(set(range(width)) & set(range(hop, hop + width)))


def q13_merge(top, totals, mixed):
    powers = [n * t for n, t in zip(totals, top, strict=True)]
    return sum(powers) / max(top), sum(m * t for m, t in zip(mixed, top, strict=True)) / sum(powers)


def q13_rollout(maps):
    answer = np.zeros((2, 2))
    for t, middle, s in product(range(2), repeat=3):
        late, early = ((a[i, j] + (i == j)) / 2 for a, i, j in ((maps[1], t, middle), (maps[0], middle, s)))
        answer[t, s] += late * early
    return answer


def q13_linear(q, keys, values):
    weights = [sum(int(a) * int(b) for a, b in zip(q, k, strict=True)) for k in keys]
    out = sum(w * int(v) for w, v in zip(weights, values, strict=True)) / sum(weights)
    state = sum(np.asarray(k) * int(v) for k, v in zip(keys, values, strict=True))
    return state, sum(np.asarray(k) for k in keys), out


def q15_route(gates, bias, factor):
    order = sorted(range(4), key=lambda i: gates[i] + bias[i])[-2:]
    weights = np.zeros(4)
    for i in order:
        weights[i] = factor * gates[i] / sum(gates[j] for j in order)
    return weights


def q15_accept(p, q):
    drawn = [b / 10 * (1 - min(1, a / b)) for a, b in zip(p, q, strict=True)]
    more = [max(0, a - b) for a, b in zip(p, q, strict=True)]
    return 1 - sum(drawn), np.array([excess / sum(more) for excess in more])


def q15_block(weights):
    scale = 1
    while 8 * scale <= max(abs(w) for w in weights):
        scale *= 2
    codes = [sign * code for code in (0, 0.5, 1, 1.5, 2, 3, 4, 6) for sign in (1, -1)]
    return np.array([scale * min(codes, key=lambda code: abs(w / scale - code)) for w in weights])


def q15_windows(layers, every, window, length):
    lengths = [length if layer % every == every - 1 else min(window, length) for layer in range(layers)]
    return sum(lengths), layers * length


def q16_latency(arrival, times):
    between = sorted(b - a for a, b in pairwise(times))

    def least(percent):
        return next(x for x in between if 100 * sum(y <= x for y in between) >= percent * len(between))

    return times[0] - arrival, least(50), least(95)


def q16_admit(free, layers, kv_heads, width, size, prompt, new):
    token = sum(2 * width for _ in ("key", "value") for _ in range(layers * kv_heads))
    blocks, fit = int(Fraction(free, size * token)), 0
    while (fit + 1) * len(range(0, prompt + new, size)) <= blocks:
        fit += 1
    return blocks, fit


def q16_schedule(budget, left, first, second):
    tokens = [0] * 5
    for i, many in enumerate((1, 1, left, first, second)):
        for _ in range(many):
            if sum(tokens) < budget:
                tokens[i] += 1
    return np.array(tokens)


def q16_draft(half, k, cost):
    a = Fraction(str(half))
    tokens, steps = (1 - a ** (k + 1)) / (1 - a), k * Fraction(str(cost)) + 1
    return tuple(float(x) for x in (tokens, steps, tokens / steps))


def q16_money(price, rate, share):
    seconds = 1_000_000 / rate
    return price * (seconds / 3600) / share


def q17_attribute(embedding, head, network, column):
    total = [int(a) + int(b) + int(c) for a, b, c in zip(embedding, head, network, strict=True)]
    rms = (sum(x * x for x in total) / len(total)) ** 0.5
    return tuple(sum(int(w) * x / rms for w, x in zip(column, part, strict=True)) for part in (total, head))


def q17_induction(weights):
    text = "abcabc"
    after = [[s for s in range(1, t + 1) if text[s - 1] == text[t] and s <= t][0] for t in (3, 4, 5)]
    return sum(weights[row][s] for row, s in enumerate(after)) / len(after)


def q17_patched(clean, corrupted, patched):
    (top, low), (bad_top, bad_low), (new_top, new_low) = clean, corrupted, patched
    return ((new_top - bad_top) - (new_low - bad_low)) / ((top - bad_top) - (low - bad_low))


def q17_selectivity(n, right, control):
    return sum(1 / n for _ in range(right)) - sum(1 / n for _ in range(control))


def q17_autoencoder(state, length, below, price):
    latents = [max(0, x) for x in (length, -below)]
    rows = ((0.6, 0.8), (0.8, -0.6))
    back = [sum(a * row[i] for a, row in zip(latents, rows, strict=True)) for i in range(2)]
    return sum((x - y) ** 2 for x, y in zip(state, back, strict=True)) + price * sum(latents)


def q18_tile(m, n, k, width, chip):
    side = max(2**i for i in range(12) if 4**i * (2 * width + 4) <= chip)
    read = sum(side * k * 2 * width for _ in range(0, m, side) for _ in range(0, n, side))
    return side, read


def q18_online(old, total, tile):
    return total * Fraction(2) ** (old - max(tile)) + sum(Fraction(2) ** (x - max(tile)) for x in tile)


def q19_ring(ranks, size):
    travelled = [
        0
    ] * ranks  # blocks that rank r has sent; block b starts at rank b and travels twice round, less 2 hops
    for block in range(ranks):
        for hop in range(2 * ranks - 2):
            travelled[(block + hop) % ranks] += 1
    return size * travelled[0] / ranks, travelled[0]


def q19_bubble(stages, micro, piece):
    ends = [[0] * (micro + 1) for _ in range(stages + 1)]
    for stage in range(1, stages + 1):
        for batch in range(1, micro + 1):
            ends[stage][batch] = piece + max(ends[stage - 1][batch], ends[stage][batch - 1])
    return ends[-1][-1], ends[-1][-1] - piece * micro


def q20_adapter(rows, columns, rank):
    b, a = np.ones((rows, rank)), np.ones((rank, columns))
    return b.size + a.size, (np.zeros((rows, columns)) + b @ a).size


def q20_pass_at_k(samples, correct, k):
    subsets = list(combinations([1] * correct + [0] * (samples - correct), k))
    return Fraction(sum(any(subset) for subset in subsets), len(subsets))


def q20_advantages(group, correct):
    rewards = np.array([1.0] * correct + [0.0] * (group - correct))
    scaled = (rewards - rewards.mean()) / rewards.std()
    return scaled[0], scaled[-1]


def q20_margin(chosen, rejected, chosen_reference, rejected_reference, beta):
    odds_now, odds_before = exp(chosen) / exp(rejected), exp(chosen_reference) / exp(rejected_reference)
    return log((odds_now / odds_before) ** beta)


def q16_masked(go, home, here):
    texts = {("go", "home"): go * home, ("go", "away"): go - go * home}
    texts |= {("stay", "here"): (1 - go) * here, ("stay", "away"): (1 - go) * (1 - here)}
    weights = {text: p for text, p in texts.items() if text[1] != "away"}
    begins = sum(p for text, p in texts.items() if text[0] == "stay") / sum(texts.values())
    return 1 - weights["go", "home"] / sum(weights.values()), begins


def by_question(space: dict[str, Any]) -> dict[str, Any]:
    """The functions of a module by the question that they answer: ``q10_top_p`` answers 10/top-p."""
    names = [name for name in space if re.match(r"q\d\d_", name)]
    return {name[1:].replace("_", "/", 1).replace("_", "-"): space[name] for name in names}


SECOND = by_question(vars(second_ways_early)) | by_question(globals())
"""The id of each question with numbers, and its answer from what was drawn, by another way."""
