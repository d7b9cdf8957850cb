"""A choice among continuations, by their log-probabilities."""

import numpy as np
from numpy.typing import ArrayLike


def choose(log_probs: ArrayLike, lengths: ArrayLike) -> np.ndarray:
    """Choose a continuation of each problem by its log-probability, and by its log-probability per byte.

    Args:
        log_probs: Log-probabilities of C continuations of each of P problems, summed over their tokens (P, C), in
            nats; minus infinity where a continuation is impossible.
        lengths: Their lengths in bytes (P, C).

    Returns:
        Two indices for each problem (P, 2): the highest sum, and the highest sum per byte. Of equal scores the first.

    Raises:
        ValueError: If the shapes differ or are not (P, C), a length is not positive, or a log-probability is NaN or
            above 0.

    Source: Brown et al. 2020 (GPT-3), section 2.4; Gao 2021 (Multiple Choice Normalization in LM Evaluation).

    >>> choose([[-6.0, -8.0]], [[4, 16]]).tolist()
    [[0, 1]]
    """
    sums_PC, lengths_PC = np.asarray(log_probs, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    if sums_PC.ndim != 2 or sums_PC.shape != lengths_PC.shape or sums_PC.size == 0:
        raise ValueError(f"log_probs is {sums_PC.shape} and lengths {lengths_PC.shape}; wanted are two arrays (P, C)")
    if not (lengths_PC > 0).all():
        raise ValueError(f"the smallest length is {lengths_PC.min():g} bytes; wanted are lengths above 0")
    if not (sums_PC <= 0).all():
        raise ValueError(f"the largest log-probability is {sums_PC.max():.6g}; wanted are numbers that are at most 0")
    return np.stack([sums_PC.argmax(axis=1), (sums_PC / lengths_PC).argmax(axis=1)], axis=1)
