"""Chapter 20, scores of models: right answers written otherwise: loops, exact whole numbers, logarithms, sorting."""

import math

import numpy as np


def bits_in_base_two(log_probs, text):
    return float(np.mean(-np.asarray(log_probs) * np.log2(np.e))) * len(log_probs) / len(bytes(text, "utf-8"))


def bits_by_a_loop(log_probs, text):
    total = 0.0
    for log_prob in log_probs:
        total -= log_prob
    return total / (math.log(2) * sum(len(letter.encode("utf-8")) for letter in text))


def bits_from_a_dot_product(log_probs, text):
    weights = np.full(len(log_probs), 1 / np.frombuffer(text.encode("utf8"), np.uint8).size)
    return -(weights @ log_probs) / np.log(2.0)


def pass_at_k_by_subsets(n, c, k):
    return sum(1 - math.comb(n - int(correct), k) / math.comb(n, k) for correct in c) / len(c)


def pass_at_k_of_chen(n, c, k):
    def estimate(correct):
        if n - correct < k:
            return 1.0
        return 1.0 - np.prod(1.0 - k / np.arange(n - correct + 1, n + 1))

    return np.mean([estimate(correct) for correct in c])


def interval_by_loops(first, second, draws):
    means = []
    for row in draws:
        means.append(sum(second[i] - first[i] for i in row) / len(row))
    return [float(np.mean(second) - np.mean(first)), np.quantile(means, 0.025), np.quantile(means, 0.975)]


def interval_of_two_means(first, second, draws):
    gaps = np.take(second, draws).mean(-1) - np.take(first, draws).mean(-1)
    ends = np.percentile(gaps, (2.5, 97.5))
    return np.concatenate(([np.mean(second - first)], ends))


def contaminated_by_slices(problem, documents, n):
    words = problem.lower().split()
    texts = [document.lower().split() for document in documents]
    hits = total = 0
    for start in range(len(words) - n + 1):
        total += 1
        gram = words[start : start + n]
        hits += any(text[i : i + n] == gram for text in texts for i in range(len(text) - n + 1))
    return hits / total if total else 0.0


def contaminated_by_strings(problem, documents, n):
    words = problem.lower().split()
    whole = "\n".join(" " + " ".join(document.lower().split()) + " " for document in documents)
    grams = [" ".join(["", *words[i : i + n], ""]) for i in range(max(0, len(words) - n + 1))]
    return float(np.mean([gram in whole for gram in grams])) if grams else 0.0


def choose_by_loops(log_probs, lengths):
    chosen = []
    for scores, sizes in zip(log_probs, lengths, strict=True):
        per_byte = [score / size for score, size in zip(scores, sizes, strict=True)]
        chosen.append([list(scores).index(max(scores)), per_byte.index(max(per_byte))])
    return np.array(chosen)


def choose_the_least_bits(log_probs, lengths):
    return np.stack([-log_probs, -log_probs / lengths]).argmin(axis=2).T


def choose_by_sorting(log_probs, lengths):
    columns = [np.argsort(-scores, axis=1, kind="stable")[:, 0] for scores in (log_probs, log_probs / lengths)]
    return np.column_stack(columns)


SCORES = {
    "20.bits-per-byte": (bits_in_base_two, bits_by_a_loop, bits_from_a_dot_product),
    "20.pass-at-k": (pass_at_k_by_subsets, pass_at_k_of_chen),
    "20.paired": (interval_by_loops, interval_of_two_means),
    "20.contamination": (contaminated_by_slices, contaminated_by_strings),
    "20.choice": (choose_by_loops, choose_the_least_bits, choose_by_sorting),
}
