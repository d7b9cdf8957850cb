"""Lecture 004, slides around heads: recurrence beside attention, the formulas, many heads side by side."""

from typing import Any

import numpy as np
import torch
from torch import nn

from softlookup import reference

PAPER_WIDTH, PAPER_HEADS = 512, 8


def writing_graph(tokens: int) -> np.ndarray:
    """Draw how a text is written: each new token needs the output before it, and that needs all tokens so far."""
    needs = np.zeros((2 * tokens, 2 * tokens), dtype=bool)
    for t in range(tokens):
        token, out = 2 * t, 2 * t + 1
        needs[out, : token + 1 : 2] = True
        if t:
            needs[token, token - 1] = True
    return needs


def three_products() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(5, 7)), rng.normal(size=(7, 3))
    q = reference.project(x, w)
    with torch.no_grad():
        layer = nn.Linear(7, 3, bias=False, dtype=torch.float64)
        layer.weight.copy_(torch.from_numpy(w.T.copy()))
        gap = np.abs(layer(torch.from_numpy(x)).numpy() - q).max()
    one = np.abs(x[2] @ w - q[2]).max()
    return {"gap": gap, "one": one, "q": q, "w": w, "x": x}


def formula() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    q, k, v = rng.normal(size=(3, 6, 4))
    raised = np.exp(q @ k.T / np.sqrt(k.shape[1]))
    ours = raised / raised.sum(axis=1, keepdims=True) @ v
    in_torch = [torch.from_numpy(one) for one in (q, k, v)]
    theirs = nn.functional.scaled_dot_product_attention(in_torch[0], in_torch[1], in_torch[2]).numpy()
    gap = np.abs(ours - theirs).max()
    return {"gap": gap}


def parameters() -> dict[str, Any]:
    D, N = PAPER_WIDTH, PAPER_HEADS
    heads = sum(np.empty((D, D // N)).size for _ in range(3 * N))
    large = sum(np.empty((D, D)).size for _ in range(3))
    layers = [
        sum(p.numel() for p in nn.MultiheadAttention(D, n, bias=False, device="meta").parameters()) for n in (1, N)
    ]
    return {"N": N, "heads": heads, "large": large, "layers": layers}


def side_by_side() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    D, N, H = 12, 3, 4
    x, (w_q, w_k, w_v, w_o) = rng.normal(size=(5, D)), rng.normal(size=(4, D, D)) / np.sqrt(D)
    cut = [slice(i * H, (i + 1) * H) for i in range(N)]
    heads = [reference.one_head(x, w_q[:, c], w_k[:, c], w_v[:, c]) for c in cut]
    by_hand = np.concatenate(heads, axis=-1) @ w_o
    layer = nn.MultiheadAttention(D, N, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate([w_q.T, w_k.T, w_v.T])))
        layer.out_proj.weight.copy_(torch.from_numpy(w_o.T.copy()))
        tokens = torch.from_numpy(x)[None]
        theirs = layer(tokens, tokens, tokens, need_weights=False)[0][0].numpy()
    gap = np.abs(by_hand - theirs).max()
    return {"gap": gap}
