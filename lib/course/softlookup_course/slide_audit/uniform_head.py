"""Lecture 004, five tokens from X to an output of 0.50 everywhere; and the shapes of one head."""

from typing import Any

import numpy as np

from softlookup_course.slide_audit.identity_head import sums_to_one as sums_to_one

X = np.array([[0.5, 0.8, 0.3], [0.2, 0.6, 0.9], [0.7, 0.4, 0.1], [0.3, 0.9, 0.5], [0.6, 0.2, 0.8]])
Q = np.array([[0.6, 0.4, 0.5], [0.3, 0.7, 0.2], [0.5, 0.3, 0.6], [0.4, 0.8, 0.3], [0.7, 0.2, 0.4]])
K = np.array([[0.4, 0.6, 0.3], [0.5, 0.4, 0.7], [0.3, 0.5, 0.4], [0.6, 0.3, 0.5], [0.2, 0.7, 0.6]])
V = np.array([[0.7, 0.3, 0.5], [0.4, 0.6, 0.2], [0.6, 0.4, 0.7], [0.5, 0.7, 0.3], [0.3, 0.5, 0.8]])

SCORES = np.array(
    [
        [0.67, 0.71, 0.58, 0.69, 0.64],
        [0.52, 0.49, 0.44, 0.51, 0.53],
        [0.61, 0.67, 0.54, 0.63, 0.56],
        [0.68, 0.73, 0.59, 0.69, 0.70],
        [0.50, 0.58, 0.48, 0.55, 0.48],
    ]
)
WEIGHTS = np.array(
    [
        [0.189, 0.204, 0.176, 0.201, 0.190],
        [0.203, 0.199, 0.192, 0.201, 0.205],
        [0.194, 0.205, 0.188, 0.199, 0.194],
        [0.197, 0.208, 0.185, 0.197, 0.203],
        [0.196, 0.208, 0.189, 0.201, 0.196],
    ]
)
OUTPUT = np.full((5, 3), 0.50)


def least_largest_error(x: np.ndarray, column: np.ndarray) -> float:
    """How far x @ w, of x (T, D) with T = D + 2, must miss a column of T numbers, whatever w is.

    A row that x turns to zero turns the column into a sum of errors alone; the tightest bound has T - 1 numbers.
    """
    nulls = np.linalg.svd(x.T)[2][x.shape[1] :]
    bounds = []
    for token in range(len(x)):
        blend = nulls[0] * nulls[1, token] - nulls[1] * nulls[0, token]
        bounds.append(abs(blend @ column) / np.abs(blend).sum())
    return float(max(bounds))


def turned_round(scores: np.ndarray, weights: np.ndarray) -> int:
    """Count pairs in the rows whose weights stand in the other order than their scores."""
    pairs = np.sign(scores[:, :, None] - scores[:, None, :]) * np.sign(weights[:, :, None] - weights[:, None, :])
    return int((pairs < 0).sum()) // 2


def projections() -> dict[str, Any]:
    errors = {
        name: [least_largest_error(X, column) for column in printed.T]
        for name, printed in zip("QKV", (Q, K, V), strict=True)
    }
    for name, printed in zip("QKV", (Q, K, V), strict=True):
        fitted = X @ np.linalg.lstsq(X, printed, rcond=None)[0]  # another way to choose w misses by no less
        assert (np.abs(fitted - printed).max(axis=0) >= np.array(errors[name]) - 1e-9).all()
    text = "; ".join(f"{name}: {', '.join(f'{error:.2f}' for error in row)}" for name, row in errors.items())
    return {"errors": errors, "said": text}
