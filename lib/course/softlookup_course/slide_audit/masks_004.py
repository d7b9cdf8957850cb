"""Lecture 004, how masks are written down, applied and joined."""

from typing import Any

import numpy as np

import softlookup as sl

WORDS = np.array([1, 1, 1, 0, 0])
"""The slide's padding mask: 1 at real tokens."""

TICKS = np.tril(np.ones((5, 5), dtype=int))
"""The slide's look-ahead mask: 1 for a tick, 0 for a cross."""


def minus_infinity() -> dict[str, Any]:
    weights = sl.reference.softmax(np.array([0.0, 1.0, -np.inf]))
    with np.errstate(invalid="ignore"):
        nothing = np.exp(np.full(2, -np.inf)) / np.exp(np.full(2, -np.inf)).sum()
    return {"nothing": nothing, "weights": weights}
