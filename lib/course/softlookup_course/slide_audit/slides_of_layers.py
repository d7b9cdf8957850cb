"""Lecture 004, slides around the layer: how heads are cut, what they cost, dropout, and where the norm stands."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from softlookup import model, reference
from softlookup_course.slide_audit.slides_of_heads import PAPER_HEADS as PAPER_HEADS
from softlookup_course.slide_audit.slides_of_heads import PAPER_WIDTH

X = np.array(
    [
        [0.2, 0.5, 0.1, 0.8],
        [0.3, 0.7, 0.4, 0.2],
        [0.6, 0.1, 0.9, 0.5],
        [0.4, 0.8, 0.3, 0.7],
        [0.7, 0.2, 0.6, 0.4],
        [0.5, 0.6, 0.2, 0.9],
        [0.8, 0.3, 0.5, 0.1],
        [0.1, 0.9, 0.7, 0.6],
    ]
)
LISTED_QUERY_MATRIX = (4, 2)
USED_QUERY_MATRIX = (2, 2)


def moved_queries(split_first: bool, seed: int) -> np.ndarray:
    """How far each head's queries move as one number of a token changes, (2, 4), with the input split first or not."""
    rng = np.random.default_rng(seed)
    whole, small = rng.normal(size=(4, 4)), rng.normal(size=(2, 2, 2))

    def queries(x: np.ndarray) -> np.ndarray:
        if not split_first:
            return reference.split_heads(x @ whole, 2)
        return np.asarray(reference.split_heads(x, 2) @ small)

    moved = np.empty((2, 4))
    for column in range(4):
        changed = X.copy()
        changed[0, column] += 1
        moved[:, column] = np.abs(queries(changed) - queries(X)).max(axis=(1, 2))
    return moved


def counted(heads: int, width: int | None = None, tokens: int = 100) -> tuple[int, int]:
    """A layer's operations in products, and its scores; ``width`` is a head's, None if heads share the model's."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        layer = model.MultiHeadAttention(PAPER_WIDTH, heads, head_width=width)
        with FlopCounterMode(display=False) as counter:
            _, weights = layer(torch.zeros(1, tokens, PAPER_WIDTH), return_weights=True)
    return counter.get_total_flops(), weights.numel()


def norm_after() -> dict[str, Any]:
    spread = {}
    for first in (False, True):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True, norm_first=first)
            out = layer(3 * torch.randn(2, 5, 16)).detach()
        spread[first] = (out.var(dim=-1, unbiased=False) - 1).abs().max().item()
    return {"spread": spread}


def last_to_first(pre_norm: bool, seed: int) -> float:
    """How large the gradient of the last layer's W1 is, beside the first layer's, before any training."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        sizes = model.Config(20, d_model=32, n_heads=4, n_layers=8, d_hidden=64, dropout=0.0, tied=False)
        lm = model.EncoderLM(replace(sizes, pre_norm=pre_norm))
        ids, labels = torch.randint(4, 20, (2, 4, 8))
        nn.functional.cross_entropy(lm(ids).flatten(0, 1), labels.flatten()).backward()
    first, *_, last = (layer.feed_forward.w_1.grad for layer in lm.encoder.each())
    assert first is not None and last is not None
    return float(last.norm() / first.norm())
