"""Lecture 004, how a transformer is trained: rates, precision, and a table of sizes."""

from typing import Any

import numpy as np
import torch

from softlookup import model

BASE = {"d_model": 512, "n_layers": 6, "n_heads": 8, "d_hidden": 2048, "dropout": 0.1}
"""The slide's base model."""

LARGE = {"d_model": 1024, "n_layers": 12, "n_heads": 16, "d_hidden": 4096, "dropout": 0.1}
"""The slide's large model, with the fewest layers that it allows."""

BIG = {"d_model": 1024, "n_layers": 6, "n_heads": 16, "d_hidden": 4096, "dropout": 0.3}
"""The big model of the paper's table 3."""

BERT_LARGE = {"d_model": 1024, "n_layers": 24, "n_heads": 16, "d_hidden": 4096, "dropout": 0.1}
"""BERT's larger model, section 3 and appendix A.2 of its paper."""

PAPER_VOCABULARY, PAPER_MILLIONS = 37_000, {"base": 65, "big": 213}
WARMUP = 4000


def millions(d_model: int, n_layers: int, n_heads: int, d_hidden: int) -> float:
    """Parameters of an encoder-decoder with the vocabulary of the paper, in millions."""
    sizes = model.Config(PAPER_VOCABULARY, d_model=d_model, n_layers=n_layers, n_heads=n_heads, d_hidden=d_hidden)
    with torch.device("meta"):  # shapes, and no numbers
        whole = model.Transformer(sizes)
    return sum(parameter.numel() for parameter in whole.parameters()) / 1e6


def sizes(of: dict[str, Any]) -> dict[str, int]:
    """What ``millions`` asks for, of a model."""
    return {name: of[name] for name in ("d_model", "n_layers", "n_heads", "d_hidden")}


def near(counted: float, published: float) -> bool:
    """Whether two counts are the same up to what the paper leaves open, such as the exact vocabulary."""
    return abs(counted / published - 1) < 0.05


def smoothing() -> dict[str, Any]:
    target = model.label_smoothing(torch.zeros(1, 1, dtype=torch.long), PAPER_VOCABULARY, 0.1)[0, 0].double()
    floor = float(-(target * target.log()).sum())
    return {"floor": floor}


def clipping() -> dict[str, Any]:
    norms, turned = [], 0.0
    for size in (0.1, 1.0, 1000.0):
        weight = torch.nn.Parameter(torch.zeros(20, dtype=torch.float64))
        weight.grad = torch.from_numpy(np.random.default_rng(0).normal(size=20)) * size
        before = weight.grad.clone()
        torch.nn.utils.clip_grad_norm_([weight], 1.0)
        norms.append((float(before.norm()), float(weight.grad.norm())))
        turned = max(turned, 1 - float(torch.cosine_similarity(before, weight.grad, dim=0)))
    capped = all(after <= 1 + 1e-6 and (before > 1 or np.isclose(after, before)) for before, after in norms)
    text = ", ".join(f"{before:.4g} becomes {after:.4g}" for before, after in norms)
    return {"capped": capped, "said": text, "turned": turned}


def batch_size() -> dict[str, Any]:
    budget, width, sizes, rates = 4096, 16, (4, 32, 256, 4096), (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    losses = dict.fromkeys(sizes, 0.0)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        true_weights, x = rng.normal(size=width), rng.normal(size=(budget, width)) * np.linspace(0.2, 1.0, width)
        y = x @ true_weights + 0.5 * rng.normal(size=budget)
        for size in sizes:
            losses[size] += min(left_over(x, y, true_weights, size, rate) for rate in rates) / 5
    text = ", ".join(f"{size}: {loss:.3f}" for size, loss in losses.items())
    return {"losses": losses, "budget": budget, "said": text, "rates": rates, "sizes": sizes}


def left_over(x: np.ndarray, y: np.ndarray, true_weights: np.ndarray, size: int, rate: float) -> float:
    """How far off the answers of a linear model are that has read all examples once, in batches of a size."""
    w = np.zeros_like(true_weights)
    for start in range(0, len(x), size):
        some, labels = x[start : start + size], y[start : start + size]
        w = w - rate * some.T @ (some @ w - labels) / len(some)
    return float(((x @ (w - true_weights)) ** 2).mean())
