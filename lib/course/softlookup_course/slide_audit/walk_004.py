"""Lecture 004, a sentence of eight tokens and width four walks through an encoder."""

import re
from typing import Any

import numpy as np
import torch

from softlookup import model, reference
from softlookup_course.slide_audit.operations import draw_normal

SENTENCE = "I love deep learning very much!"
CUT = re.findall(r"\w+|[^\w\s]", SENTENCE)
SOURCE = ("I", "love", "deep", "learning", "very", "much", "!", "<PAD>")
EMBEDDED = np.array(
    [
        [0.2, 0.5, -0.3, 0.8],
        [0.1, -0.4, 0.6, 0.3],
        [-0.5, 0.2, 0.4, -0.1],
        [0.3, 0.7, -0.2, 0.5],
        [0.4, -0.3, 0.1, 0.6],
        [-0.2, 0.5, 0.3, -0.4],
        [0.6, 0.1, -0.5, 0.2],
        [0.0, 0.0, 0.0, 0.0],
    ]
)
PLACES = np.array(
    [
        [0.00, 1.00, 0.00, 1.00],
        [0.84, 0.54, 0.01, 1.00],
        [0.91, -0.42, 0.02, 1.00],
        [0.14, -0.99, 0.03, 1.00],
        [-0.76, -0.65, 0.04, 1.00],
        [-0.96, 0.28, 0.05, 1.00],
        [-0.28, 0.96, 0.06, 1.00],
        [0.66, 0.75, 0.07, 0.99],
    ]
)
SUM = np.array(
    [
        [0.20, 1.50, -0.30, 1.80],
        [0.94, 0.14, 0.61, 1.30],
        [0.41, -0.22, 0.42, 0.90],
        [0.44, -0.29, -0.17, 1.50],
        [-0.36, -0.95, 0.14, 1.60],
        [-1.16, 0.78, 0.35, 0.60],
        [0.32, 1.06, -0.44, 1.20],
        [0.66, 0.75, 0.07, 0.99],
    ]
)
SCORES = np.array([[2.3, 0.8, 1.2, 1.5], [0.8, 2.1, 0.9, 1.3], [1.2, 0.9, 2.5, 1.1], [1.5, 1.3, 1.1, 2.2]])
WEIGHTS = np.array([[0.35, 0.08, 0.12, 0.15], [0.10, 0.31, 0.11, 0.16], [0.13, 0.09, 0.41, 0.12]])
WIDTH, HEADS, HIDDEN, LAYERS = 4, 2, 16, 6


def input_rows() -> np.ndarray:
    """What truly enters the encoder: the embeddings and the places, unrounded."""
    return EMBEDDED + reference.sinusoidal(len(SOURCE), WIDTH)


def feed_forward_shapes() -> dict[str, Any]:
    x, w_1, w_2 = np.ones(WIDTH), np.ones((WIDTH, HIDDEN)), np.ones((HIDDEN, WIDTH))
    try:
        left = (w_2 @ reference.relu(w_1 @ x)).shape == x.shape
    except ValueError:
        left = False
    right = (reference.relu(x @ w_1) @ w_2).shape == x.shape
    turned = (w_2.T @ reference.relu(w_1.T @ x)).shape == x.shape
    return {"left": left, "right": right, "turned": turned, "w_1": w_1}


def post_norm() -> dict[str, Any]:
    x, [w] = input_rows(), draw_normal((WIDTH, WIDTH))
    stated = reference.layer_norm(x + x @ w, np.ones(WIDTH), np.zeros(WIDTH))
    sublayer = model.Residual(model.Config(100, d_model=WIDTH, n_heads=HEADS, dropout=0.0)).double()
    with torch.no_grad():
        computed = sublayer(torch.from_numpy(x)[None, :], lambda rows: rows @ torch.from_numpy(w))[0].numpy()
    return {"ours": computed, "stated": stated}
