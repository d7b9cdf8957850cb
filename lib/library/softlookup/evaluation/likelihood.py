"""Scores from log-probabilities: bits per byte of a text, and a choice among continuations."""

import math

import numpy as np
from numpy.typing import ArrayLike

from softlookup.evaluation.checked import row_of_numbers


def bits_per_byte(log_probs: ArrayLike, text: str) -> float:
    """Say how well a model predicts a text, in a unit that does not depend on the tokenizer.

    Args:
        log_probs: Natural logarithms of the probabilities of the text's tokens (T,), in nats, none above 0.
        text: The text that these tokens are.

    Returns:
        Bits for each byte of the text in UTF-8.

    Raises:
        ValueError: If the text is empty, or a log-probability is above 0 or not finite.

    Source: Gao et al. 2020 (The Pile), section 3.1.

    >>> bits_per_byte([math.log(1 / 4), math.log(1 / 16)], "né")
    2.0
    """
    nats = -row_of_numbers(log_probs, "log_probs")
    if nats.min() < 0:
        place = int(nats.argmin())
        raise ValueError(f"log_probs[{place}] is {-nats[place]:.6g}; wanted are logarithms of probabilities, at most 0")
    if not text:
        raise ValueError("the text is empty; wanted is one of a byte or more")
    return float(nats.sum() / math.log(2) / len(text.encode()))


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
