"""Lecture 004, what layers are made of, and eight tokens in training beside three written one by one."""

from itertools import product
from typing import Any

import numpy as np
import torch

from softlookup import model, reference
from softlookup_course.slide_audit.operations import largest_gap

WORDS = ("I", "love", "deep", "learning", "and", "AI", "research", "!")
EMBEDDINGS = np.array(
    [
        [0.2, 0.5, -0.1, 0.3],
        [0.8, -0.2, 0.4, 0.1],
        [-0.3, 0.6, 0.2, 0.5],
        [0.4, 0.1, -0.5, 0.7],
        [0.1, -0.4, 0.3, -0.2],
        [0.9, 0.3, -0.1, 0.6],
        [-0.2, 0.7, 0.4, -0.3],
        [0.5, -0.1, 0.6, 0.2],
    ]
)
STATES = np.array(
    [
        [0.25, 0.48, -0.12, 0.35],
        [0.52, 0.15, 0.18, 0.28],
        [0.18, 0.42, 0.08, 0.45],
        [0.38, 0.22, -0.15, 0.58],
        [0.22, -0.08, 0.25, 0.12],
        [0.68, 0.28, 0.05, 0.52],
        [0.15, 0.55, 0.32, -0.08],
        [0.42, 0.18, 0.48, 0.25],
    ]
)
WRITTEN = {2: [0.52, 0.15, 0.18, 0.28], 3: [0.18, 0.42, 0.08, 0.45], 4: [0.38, 0.22, -0.15, 0.58]}
"""The last state of each step of writing, by the number of tokens that are read for it."""

SEEDS = range(5)


def layer_of(seed: int, *, causal: bool = True, rows: np.ndarray = EMBEDDINGS) -> np.ndarray:
    """One layer with weights drawn at random: attention and the sum with what came in."""
    width = rows.shape[1]
    w_q, w_k, w_v = np.random.default_rng(seed).normal(size=(3, width, width))
    mask = reference.causal_mask(len(rows)) if causal else None
    return rows + reference.one_head(rows, w_q, w_k, w_v, mask)


def sublayers() -> dict[str, Any]:
    sizes = model.Config(100, d_model=4, n_heads=2, n_layers=1, d_hidden=16)
    layers = [model.Layer(sizes, cross=cross) for cross in (True, False)]
    decoder, encoder = (sum(isinstance(part, model.Residual) for part in layer.modules()) for layer in layers)
    return {"decoder": decoder, "encoder": encoder}


def one_pass() -> dict[str, Any]:
    good = 0
    for seed in SEEDS:
        before = layer_of(seed)
        for position in range(len(WORDS)):
            other = EMBEDDINGS.copy()
            other[position] += 1
            moved = ~np.isclose(layer_of(seed, rows=other), before).all(axis=1)
            good += bool((moved == (np.arange(len(WORDS)) >= position)).all()) and before.shape == STATES.shape
    return {"good": good}


def same_states() -> dict[str, Any]:
    gaps = {True: 0.0, False: 0.0}
    for causal, seed, n in product(gaps, SEEDS, WRITTEN):
        whole, start = layer_of(seed, causal=causal), layer_of(seed, causal=causal, rows=EMBEDDINGS[:n])
        gaps[causal] = max(gaps[causal], largest_gap(whole[n - 1], start[-1]))
    return {"gaps": gaps}


def one_to_one() -> dict[str, Any]:
    torch.manual_seed(0)
    whole = model.DecoderLM(model.Config(100, d_model=4, n_heads=2, n_layers=1, d_hidden=16)).eval()
    ids = torch.arange(4, 4 + max(WRITTEN))[None, :]
    with torch.no_grad():
        text, last = whole(ids)[0, -1], whole(ids[:, -1:])[0, -1]
        _, state = whole.step(ids[:, :-1])
        cached, _ = whole.step(ids[:, -1:], state)
    return {"text": text.numpy(), "last": last.numpy(), "cached": cached[0].numpy()}
