"""Lecture 004, five tokens whose queries, keys and values are the tokens themselves: scores, weights, outputs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import softlookup as sl

X = np.array([[1.0, 0.5, 0.2], [0.8, 1.2, 0.3], [0.6, 0.9, 1.1], [1.1, 0.4, 0.7], [0.9, 0.7, 0.8]])

SCORES = np.array(
    [
        [1.29, 1.46, 1.48, 1.35, 1.41],
        [1.46, 2.17, 1.89, 1.61, 1.69],
        [1.48, 1.89, 2.38, 1.69, 1.91],
        [1.35, 1.61, 1.69, 1.66, 1.63],
        [1.41, 1.69, 1.91, 1.63, 1.94],
    ]
)
SCALED = np.array(
    [
        [0.74, 0.84, 0.85, 0.78, 0.81],
        [0.84, 1.25, 1.09, 0.93, 0.98],
        [0.85, 1.09, 1.37, 0.98, 1.10],
        [0.78, 0.93, 0.98, 0.96, 0.94],
        [0.81, 0.98, 1.10, 0.94, 1.12],
    ]
)
WEIGHTS = np.array(
    [
        [0.182, 0.204, 0.207, 0.192, 0.198],
        [0.170, 0.279, 0.222, 0.173, 0.186],
        [0.162, 0.206, 0.272, 0.184, 0.208],
        [0.188, 0.213, 0.224, 0.219, 0.215],
        [0.178, 0.212, 0.239, 0.204, 0.244],
    ]
)
OUTPUT = np.array([[0.87, 0.74, 0.59], [0.83, 0.88, 0.58], [0.83, 0.78, 0.68], [0.88, 0.73, 0.63], [0.84, 0.78, 0.70]])


def true_weights() -> np.ndarray:
    """What the weights should be, all the way from X."""
    return sl.reference.attention_weights(X, X)


def common_divisor(raised: ArrayLike, printed: ArrayLike, decimals: int = 3) -> tuple[np.ndarray, float, float]:
    """Which cells of a printed row one divisor explains, at most, and the least and largest such divisor."""
    top, printed_cells, half = np.asarray(raised, dtype=float), np.asarray(printed, dtype=float), 0.5 * 10.0**-decimals
    least, largest = top / (printed_cells + half), top / (printed_cells - half)
    fits = [(least <= start) & (start <= largest) for start in least]
    best = max(fits, key=lambda fit: int(fit.sum()))
    return best, float(least[best].max()), float(largest[best].min())


def sums_to_one(weights: np.ndarray) -> np.ndarray:
    """Say of each row whether rounding to three places can explain how far its sum is from 1."""
    return np.asarray(np.abs(weights.sum(axis=-1) - 1) <= weights.shape[-1] * 0.0005 + 1e-9)


def small_gradients() -> dict[str, Any]:
    keys, draws, seeds = 8, 100, 3
    sentences, holds = [], True
    for width in (64, 512):
        least, mean = np.empty((2, seeds)), np.empty((2, seeds))
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            q, k = rng.normal(size=(draws, width, 1)), rng.normal(size=(draws, keys, width))
            scores = (k @ q)[..., 0]
            for way, by in enumerate((np.sqrt(width), 1.0)):
                a = sl.reference.softmax(scores / by)
                to_query = np.linalg.norm((a[:, :, None] * (np.eye(keys) - a[:, None, :])) @ k / by, axis=(1, 2))
                least[way, seed], mean[way, seed] = np.percentile(to_query, 10), to_query.mean()
        holds = holds and bool((least[0] > 10 * least[1]).all())
        low, high = least.mean(axis=1), mean.mean(axis=1)
        sentences.append(
            f"Width {width}: one query in ten has a gradient below {low[0]:.2f} with the divisor, and below "
            f"{low[1]:.1g} without; the mean over all queries is {high[0]:.2f} and {high[1]:.2f}."
        )
    return {"holds": holds, "said": " ".join(sentences)}
