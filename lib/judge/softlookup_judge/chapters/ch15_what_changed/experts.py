"""Tasks on parts of new layers: experts that are routed to, and per-layer embeddings."""

import math
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.chapters.oracles import torch


def _routed(rng: Rng, tokens: int, width: int, experts: int, k: int) -> tuple[np.ndarray, ...]:
    """Tokens, a router and a bias that changes the choice, no two sums nearly equal, some scores large."""
    while True:
        x, w = normal(rng, tokens, width), normal(rng, width, experts)
        bias = (0.5 * rng.uniform(-1, 1, experts)).astype("float32")
        gates = 1 / (1 + np.exp(-(x.astype("float64") @ w)))
        chosen, plain = (np.argsort(-scores, axis=1)[:, :k] for scores in (gates + bias, gates))
        gaps = np.diff(np.sort(gates + bias, axis=1), axis=1).min()
        if (
            gaps > 2e-3
            and (np.sort(chosen) != np.sort(plain)).any()
            and (np.sort(chosen) == np.sort(plain)).all(1).any()
        ):
            return x, w, bias


def _route_cases(rng: Rng) -> list[Case]:
    def case(label: str, tokens: int, width: int, experts: int, k: int, factor: float) -> Case:
        return Case(label, (*_routed(rng, tokens, width, experts, k), k, factor))

    x, w, bias = _routed(rng, 4, 3, 5, 2)
    return [
        case("T = 5, E = 6, two of them", 5, 4, 6, 2, 1.0),
        case("T = E = 4, two of them, factor 2.5", 4, 3, 4, 2, 2.5),
        case("T = 7, E = 8, three of them, factor 1.8", 7, 5, 8, 3, 1.8),
        case("one of five, factor 0.5", 6, 4, 5, 1, 0.5),
        Case("one token", (x[:1], w, bias, 2, 1.5)),
        Case("every gate plus its bias is below 0", (x, w, bias - np.float32(2), 2, 1.5)),
        Case("all five of five", (x, w, bias, 5, 1.2)),
    ]


@graded("15.route", _route_cases, cuts=False)
def _route(x: Any, w_router: Any, bias: Any, k: int, factor: float) -> Any:
    """Token by token, by sorting."""
    rows = []
    for scores in (x @ w_router).tolist():
        gates = [1 / (1 + math.exp(-score)) for score in scores]
        sums = [gate + shift for gate, shift in zip(gates, bias.tolist(), strict=True)]
        best = sorted(range(len(gates)), key=sums.__getitem__)[-k:]
        total = math.fsum(gates[e] for e in best)
        rows.append([factor * gates[e] / total if e in best else 0.0 for e in range(len(gates))])
    return torch.tensor(rows, dtype=torch.float64)


def _mixture_cases(rng: Rng) -> list[Case]:
    def case(label: str, tokens: int, experts: int, width: int, hidden: int, chosen: int, scale: float = 1.0) -> Case:
        weights = rng.uniform(0.1, 0.7, (tokens, experts))
        for row in weights:
            row[rng.permutation(experts)[chosen:]] = 0
        matrices = (
            normal(rng, experts + 1, width, hidden),
            normal(rng, experts + 1, width, hidden),
            normal(rng, experts + 1, hidden, width),
        )
        return Case(label, (normal(rng, tokens, width, scale=scale), weights.astype("float32"), *matrices))

    without = case("a token that no expert took but the shared one", 3, 4, 4, 3, 2)
    without.args[1][1] = 0
    return [
        case("T = 4, E = 5, two chosen", 4, 5, 3, 6, 2),
        case("T = 3, E = 4, one chosen", 3, 4, 5, 2, 1),
        case("T = E = D = F = 3", 3, 3, 3, 3, 2),
        case("large numbers", 2, 3, 4, 5, 2, 4.0),
        case("one token, experts of width 1", 1, 4, 3, 1, 2),
        case("three chosen of six", 3, 6, 4, 3, 3),
        without,
    ]


@graded("15.experts", _mixture_cases, cuts=False)
def _mixture(x: Any, weights: Any, w_gate: Any, w_up: Any, w_down: Any) -> Any:
    """Expert by expert, on the tokens that it was chosen for."""
    y = torch.zeros_like(x)
    for e in range(len(w_gate)):
        expert_weights = weights[:, e] if e < weights.shape[1] else torch.ones(len(x), dtype=x.dtype)
        routed = expert_weights.nonzero()[:, 0]
        gate = torch.nn.functional.linear(x[routed], w_gate[e].T)
        inner = gate / (1 + (-gate).exp()) * torch.nn.functional.linear(x[routed], w_up[e].T)
        y = y.index_add(0, routed, torch.nn.functional.linear(inner, w_down[e].T) * expert_weights[routed, None])
    return y


def _table_cases(rng: Rng) -> list[Case]:
    def case(label: str, t: int, d: int, width: int, layers: int, layer: int, eps: float = 1e-6) -> Case:
        vocabulary = t + 4
        while True:
            x, w_gate = (1.3 * normal(rng, t, d) + 0.4).astype("float32"), normal(rng, d, width)
            # A GELU far below 0 has few digits in float32; where a row has no other, the norm would magnify the error.
            if ((x @ w_gate).max(axis=1) > 1).all():
                break
        ids = rng.permutation(vocabulary)[:t]
        table = normal(rng, vocabulary, layers * width, scale=0.8)
        gain = rng.uniform(0.4, 1.8, d).astype("float32")
        return Case(label, (x, ids, table, layer, w_gate, normal(rng, width, d), gain, eps))

    return [
        case("T = 5, D = 6, three layers of width 4", 5, 6, 4, 3, 1),
        case("the first layer", 4, 6, 3, 4, 0),
        case("the last layer", 3, 5, 2, 4, 3),
        case("T = D = width = layers", 4, 4, 4, 4, 2),
        case("one token", 1, 8, 3, 2, 1),
        case("a large eps", 4, 7, 5, 3, 2, 0.8),
    ]


@graded("15.per-layer", _table_cases, frame="numpy", cuts=False)
def _table_step(x: Any, ids: Any, table: Any, layer: int, w_gate: Any, w_out: Any, gain: Any, eps: float) -> Any:
    """Token by token, with torch's GELU and norm; the row is scaled at last."""
    from torch.nn.functional import gelu, rms_norm

    x, table, w_gate, w_out, gain = (torch.as_tensor(value) for value in (x, table, w_gate, w_out, gain))
    width = w_gate.shape[1]
    rows = []
    for state, token in zip(x, ids.tolist(), strict=True):
        row = table[token].unflatten(0, (-1, width))[layer]
        through = gelu(state @ w_gate, approximate="tanh") * row
        rows.append(state + rms_norm(through @ w_out * width**0.5, gain.shape, gain, eps))
    return torch.stack(rows).numpy()
