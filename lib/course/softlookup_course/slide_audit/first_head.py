"""Lecture 004, five tokens of width three by hand: queries, keys, values, and what was made of them."""

import numpy as np
from numpy.typing import ArrayLike

X = np.array([[1.0, 0.5, 0.2], [0.3, 1.2, 0.8], [0.7, 0.4, 1.1], [1.5, 0.9, 0.3], [0.6, 1.3, 0.7]])
W_Q = np.array([[1.0, 0.0, 0.5], [0.5, 1.0, 0.0], [0.0, 0.5, 1.0]])
W_K = np.array([[0.8, 0.2, 0.3], [0.3, 0.9, 0.1], [0.2, 0.1, 0.8]])
W_V = np.array([[1.0, 0.3, 0.2], [0.2, 1.0, 0.4], [0.1, 0.3, 1.0]])

QUERIES = [[1.10, 0.60, 0.70], [1.14, 0.95, 0.95], [1.25, 0.90, 1.45], [1.95, 0.90, 1.05], [1.31, 1.30, 1.00]]


KEYS = [[1.01, 0.47, 0.46], [0.64, 1.29, 0.26], [0.98, 0.63, 1.09], [1.53, 1.14, 0.69], [1.01, 1.29, 0.74]]
VALUES = [[1.12, 0.56, 0.54], [0.62, 1.41, 1.12], [0.89, 0.74, 1.40], [1.71, 1.02, 0.90], [0.89, 1.49, 1.22]]


def lost_products(printed: ArrayLike, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Say of each printed cell which forgotten product of its sum explains it: x (T, D), w (D, H) give (T, D, H)."""
    printed_cells = np.asarray(printed, dtype=float)
    products = x[:, :, None] * w
    short = (x @ w)[:, None, :] - products
    return (np.abs(short - printed_cells[:, None, :]) < 0.005 * (1 + 1e-6)) & (products > 0.005)
