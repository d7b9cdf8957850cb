"""Lecture 004, slides of positions: what attention sees of order, and sinusoids by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from softlookup import model, reference
from softlookup_course.slide_audit.operations import draw_normal, largest_gap
from softlookup_course.slide_audit.walk_004 import PLACES

X = np.array(
    [
        [0.5, -0.3, 0.8, -0.2],
        [-0.1, 0.7, 0.2, 0.4],
        [0.9, -0.5, -0.3, 0.6],
        [0.3, 0.4, -0.7, 0.1],
        [-0.6, 0.2, 0.5, -0.4],
        [0.7, -0.8, 0.1, 0.3],
        [-0.2, 0.6, -0.4, 0.8],
        [0.4, -0.1, 0.9, -0.5],
    ]
)
PE_AGAIN = PLACES  # the walk-through prints the table once more
PE = PLACES.copy()
PE[4, 1] = -0.66  # the one cell in which the two tables differ
SUM = np.array(
    [
        [0.50, 0.70, 0.80, 0.80],
        [0.74, 1.24, 0.21, 1.40],
        [1.81, -0.92, -0.28, 1.60],
        [0.44, -0.59, -0.67, 1.10],
        [-1.36, -0.46, 0.54, 0.60],
        [-0.26, -0.52, 0.15, 1.30],
        [-0.48, 1.56, -0.34, 1.80],
        [1.06, 0.65, 0.97, 0.49],
    ]
)
TRUE_PE = reference.sinusoidal(8, 4)


def random_head(seed: int, width: int = 4) -> Callable[..., np.ndarray]:
    """One head with random matrices, as a function of the tokens and perhaps a mask."""
    w_q, w_k, w_v = np.random.default_rng(seed).normal(size=(3, width, width))
    return lambda x, mask=None: reference.one_head(x, w_q, w_k, w_v, mask)


def invariant() -> dict[str, Any]:
    alike, still, mean, masked = [], [], [], []
    for seed in range(10):
        rng, head = np.random.default_rng(100 + seed), random_head(seed)
        x, order = rng.normal(size=(6, 4)), rng.permutation(6)
        before, after, causal = head(x), head(x[order]), reference.causal_mask(6)
        alike.append(largest_gap(after, before[order]))
        still.append(largest_gap(after, before))
        mean.append(largest_gap(after.mean(axis=0), before.mean(axis=0)))
        masked.append(largest_gap(head(x[order], causal), head(x, causal)[order]))
    assert max(alike) < 1e-10 and max(mean) < 1e-10 and min(masked) > 1e-3
    return {"alike": alike, "masked": masked, "mean": mean, "still": still}


def must_be_added() -> dict[str, Any]:
    q, k, v = draw_normal((6, 4), (6, 4), (6, 4))
    order = np.array([2, 5, 0, 1, 3, 4])

    def turned(some: np.ndarray) -> np.ndarray:
        w = reference.attention_weights(reference.rotary(q[some]), reference.rotary(k[some]))
        return np.asarray(w @ v[some])

    def sloped(some: np.ndarray) -> np.ndarray:
        return np.asarray(reference.softmax(q[some] @ k[some].T / 2 + reference.alibi_bias(8, 6, 6)[0]) @ v[some])

    ways = {"rotary": turned, "ALiBi": sloped}
    return {"gaps": {name: largest_gap(way(order), way(np.arange(6))[order]) for name, way in ways.items()}}


def distances() -> dict[str, Any]:
    biases = {}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        q = torch.randn(1, 2, 1, 4, dtype=torch.float64).expand(1, 2, 7, 4)  # the same query everywhere
        for name, part in (("T5", model.T5Bias(2)), ("Transformer-XL", model.TransformerXLBias(2, 4, 8))):
            for parameter in part.parameters():
                parameter.normal_()
            biases[name] = part.double()(q, q).numpy()[0]
    moved = {name: largest_gap(bias[:, 1:, 1:], bias[:, :-1, :-1]) for name, bias in biases.items()}
    spread = min(np.ptp(bias[:, 3], axis=-1).min() for bias in biases.values())
    return {"moved": moved, "spread": spread}
