"""Lecture 004, what is claimed of attention: order, paths, cost, quality, and what it is used for."""

from typing import Any

import numpy as np

from softlookup import reference
from softlookup_course.slide_audit.operations import draw_normal, largest_gap

SEEDS = range(5)


def recurrence_knows_order() -> dict[str, Any]:
    moved, head_gaps = [], []
    for seed in SEEDS:
        x, w_x, w_h, w_q, w_k, w_v = draw_normal(*[(4, 4)] * 6, seed=seed)
        turned = x[[1, 0, 2, 3]]
        states = [reference.recurrent_states(rows, w_x, w_h)[-1] for rows in (x, turned)]
        heads = [reference.one_head(rows, w_q, w_k, w_v) for rows in (x, turned)]
        moved.append(largest_gap(states[0], states[1]))
        head_gaps.append(largest_gap(heads[0][[1, 0, 2, 3]], heads[1]))
    return {"kept": head_gaps, "moved": moved}


def adding() -> dict[str, Any]:
    words, positions = (grid.ravel() for grid in np.meshgrid(np.arange(30), np.arange(20)))
    read = {}
    for width in (8, 128):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(30, width))[words] + reference.sinusoidal(20, width)[positions]
        fitted = rng.random(len(words)) < 0.5
        read[width] = [_probe(x, labels, fitted) for labels in (words, positions)]
    return {"read": read}


def _probe(x: np.ndarray, labels: np.ndarray, fitted: np.ndarray) -> float:
    """How often a linear map, fitted to some rows, names the labels of the others."""
    with_one = np.hstack([x, np.ones((len(x), 1))])
    w = np.linalg.lstsq(with_one[fitted], np.eye(labels.max() + 1)[labels[fitted]], rcond=None)[0]
    return float(((with_one[~fitted] @ w).argmax(axis=1) == labels[~fitted]).mean())
