"""Lecture 004, slides around heads: recurrence beside attention, the formulas, many heads side by side."""

from typing import Any

import numpy as np
import torch
from torch import nn

from softlookup import reference
from softlookup_course.slide_audit.operations import draw_normal, largest_gap

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
    x, w = draw_normal((5, 7), (7, 3))
    q = reference.project(x, w)
    with torch.no_grad():
        layer = nn.Linear(7, 3, bias=False, dtype=torch.float64)
        layer.weight.copy_(torch.from_numpy(w.T.copy()))
        gap = largest_gap(layer(torch.from_numpy(x)).numpy(), q)
    return {"gap": gap, "one": largest_gap(x[2] @ w, q[2]), "q": q, "w": w, "x": x}


def formula() -> dict[str, Any]:
    q, k, v = draw_normal((6, 4), (6, 4), (6, 4))
    raised = np.exp(q @ k.T / np.sqrt(k.shape[1]))
    by_formula = raised / raised.sum(axis=1, keepdims=True) @ v
    in_torch = [torch.from_numpy(array) for array in (q, k, v)]
    by_torch = nn.functional.scaled_dot_product_attention(in_torch[0], in_torch[1], in_torch[2]).numpy()
    return {"gap": largest_gap(by_formula, by_torch)}


def parameters() -> dict[str, Any]:
    layers = [nn.MultiheadAttention(PAPER_WIDTH, heads, bias=False, device="meta") for heads in (1, PAPER_HEADS)]
    single, several = (sum(p.numel() for p in layer.parameters()) for layer in layers)
    return {"one": single, "several": several}


def side_by_side() -> dict[str, Any]:
    D, N, H = 12, 3, 4
    x, *w = draw_normal((5, D), *[(D, D)] * 4)
    w_q, w_k, w_v, w_o = (matrix / np.sqrt(D) for matrix in w)
    cut = [slice(i * H, (i + 1) * H) for i in range(N)]
    heads = [reference.one_head(x, w_q[:, c], w_k[:, c], w_v[:, c]) for c in cut]
    by_hand = np.concatenate(heads, axis=-1) @ w_o
    layer = nn.MultiheadAttention(D, N, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.from_numpy(np.concatenate([w_q.T, w_k.T, w_v.T])))
        layer.out_proj.weight.copy_(torch.from_numpy(w_o.T.copy()))
        tokens = torch.from_numpy(x)[None]
        by_torch = layer(tokens, tokens, tokens, need_weights=False)[0][0].numpy()
    return {"gap": largest_gap(by_hand, by_torch)}
