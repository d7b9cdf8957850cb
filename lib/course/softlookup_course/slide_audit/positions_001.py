"""Lectures 000 to 002, positions: what absolute and rotary ones are good for, and a table of the RoFormer paper."""

from typing import Any

import numpy as np

import softlookup as sl
from softlookup_course.slide_audit.operations import draw_normal

TASKS = ("MRPC", "SST-2", "QNLI", "STS-B", "QQP", "MNLI m", "MNLI mm")
BERT = np.array([88.9, 93.5, 90.5, 85.8, 71.2, 84.6, 83.4])
ROFORMER = np.array([89.5, 90.7, 88.0, 87.0, 86.4, 80.2, 79.8])
"""The table as lecture 001 prints it."""
FIRST = "I walk my dog every day".split()
SECOND = "every single day I walk my dog".split()


def by_task(gains: np.ndarray) -> np.ndarray:
    """One number for each of six tasks: MNLI, which has two columns (matched and mismatched), by its better one."""
    return np.append(gains[:5], gains[5:].max())


def mnli_column(gains: np.ndarray) -> str:
    """Which of MNLI's two columns ``by_task`` takes."""
    return ("MNLI matched", "MNLI mismatched")[int(gains[5:].argmax())]


def rotary_score(q: np.ndarray, k: np.ndarray, m: int, n: int) -> float:
    """The dot product of a query at place m and a key at place n, both turned."""
    return float(sl.reference.rotary(q[None], offset=m)[0] @ sl.reference.rotary(k[None], offset=n)[0])


def turned_by_place() -> dict[str, Any]:
    w_q, w_k, x, y = draw_normal((2, 2), (2, 2), 2, 2)
    theta = 1.0  # the first pair's

    def turned(w: np.ndarray, token: np.ndarray, m: int) -> np.ndarray:
        c, s = np.cos(m * theta), np.sin(m * theta)
        return np.asarray(np.array([[c, -s], [s, c]]) @ w @ token)

    scores = np.array([turned(w_q, x, 5 + m) @ turned(w_k, y, m) for m in range(40)])
    shifted_scores = np.array([rotary_score(w_q @ x, w_k @ y, 5 + m, m) for m in range(40)])
    return {"ours": shifted_scores, "scores": scores}


def both_move() -> dict[str, Any]:
    spreads, added = [], []
    for seed in range(5):
        q, k = draw_normal(64, 64, seed=seed)
        waves = sl.reference.sinusoidal(64, 64)
        spreads.append(np.ptp([rotary_score(q, k, m + 5, m) for m in range(40)]))
        added.append(np.ptp([(q + waves[m + 5]) @ (k + waves[m]) for m in range(40)]))
    return {"added": added, "spreads": spreads}


DEV = np.array([88.85, 92.32, 90.66, 88.48, 87.49, 83.91, 84.10])
"""BERT on the validation data, from the documentation of transformers (its example for GLUE)."""
