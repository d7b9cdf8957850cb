"""Tasks on features: how they share dimensions, and sparse autoencoders with L1 and with TopK."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _shared_cases(rng: Rng) -> list[Case]:
    five = np.array([[np.cos(a), np.sin(a)] for a in 2 * np.pi * np.arange(5) / 5]).T
    gone = normal(rng, 3, 5, dtype="float64")
    gone[:, 2] = 0
    return [
        Case("five directions in a plane, a pentagon", (five,)),
        Case("D = 3, M = 6", (normal(rng, 3, 6, dtype="float64"),)),
        Case("D = M = 4", (normal(rng, 4, 4, dtype="float64", scale=0.6),)),
        Case("one dimension for four features", (normal(rng, 1, 4, dtype="float64"),)),
        Case("two features at right angles", (np.diag([1.0, 2.0]),)),
        Case("a feature that was given up", (gone,), part="zero"),
        Case("opposite features", (np.array([[1.0, -0.8, 0.0], [0.0, 0.0, 1.5]]),)),
        Case("long and short ones", (normal(rng, 5, 7, dtype="float64") * np.linspace(0.2, 3, 7),)),
    ]


def _shared(w: Any) -> Any:
    """Pair by pair."""
    import torch

    columns, rows = list(w.T), []
    for i, column in enumerate(columns):
        length = float(column @ column) ** 0.5
        products = [float(column @ other) / length if length else 0.0 for other in columns]
        others = sum(p * p for j, p in enumerate(products) if j != i)
        rows.append((length, others, length**2 / (length**2 + others) if length else 0.0))
    return tuple(torch.tensor(x, dtype=torch.float64) for x in zip(*rows, strict=True))


SUPERPOSITION = described(
    "17.superposition", cases=_shared_cases, oracle=_shared, parts={"core": 0.8, "zero": 0.2}, cuts=False
)


def _autoencoder_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, d: int, a: int, price: float, scale: float = 1.0) -> Case:
        lengths = rng.uniform(0.4, 2.5, (a, 1)).astype("float32")
        inputs = normal(rng, m, d, scale=scale), normal(rng, d, a), normal(rng, a, scale=0.5)
        return Case(label, (*inputs, normal(rng, a, d) * lengths, normal(rng, d), price))

    return [
        case("M = 4, D = 3, A = 6", 4, 3, 6, 0.1),
        case("M = D = A = 4", 4, 4, 4, 0.5),
        case("one state", 1, 5, 8, 0.2),
        case("no price", 5, 2, 7, 0.0),
        case("large states, a high price", 6, 4, 9, 2.0, 3.0),
    ]


def _autoencoder(h: Any, w_encoder: Any, b_encoder: Any, directions: Any, b_decoder: Any, price: float) -> Any:
    """State by state, latent by latent."""
    import torch

    latents, again, losses = [], [], []
    for state in h:
        active = [max(0.0, float((state - b_decoder) @ w_encoder[:, i] + b_encoder[i])) for i in range(len(directions))]
        whole = b_decoder.clone()
        for strength, row in zip(active, directions, strict=True):
            whole = whole + strength / float(row @ row) ** 0.5 * row
        latents.append(torch.tensor(active, dtype=h.dtype))
        again.append(whole)
        losses.append(float((whole - state) @ (whole - state)) + price * sum(active))
    return torch.stack(latents), torch.stack(again), torch.tensor(sum(losses) / len(losses), dtype=h.dtype)


AUTOENCODER = described("17.autoencoder", cases=_autoencoder_cases, oracle=_autoencoder, cuts=False)


def _top_k_cases(rng: Rng) -> list[Case]:
    def case(label: str, m: int, d: int, a: int, k: int, bias: float = 0.0, scale: float = 1.0) -> Case:
        inputs = normal(rng, m, d, scale=scale), normal(rng, d, a), normal(rng, a, scale=0.5) + np.float32(bias)
        return Case(label, (*inputs, normal(rng, a, d), normal(rng, d), k))

    steps = np.arange(3, dtype="float32")
    h = np.stack((steps, 2 - steps, steps + 1, 1 - steps), axis=1)  # whole numbers: ties are exact
    w_encoder = np.tile(np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype="float32"), (1, 3))
    tied = (h, w_encoder, np.ones(6, dtype="float32"), normal(rng, 6, 4), np.zeros(4, dtype="float32"))
    return [
        case("M = 6, D = 3, A = 8, k = 2", 6, 3, 8, 2, 1.0),
        case("M = D = A = 5, k = 3", 5, 5, 5, 3),
        case("only the largest", 4, 2, 7, 1),
        case("fewer than k are above 0", 5, 3, 9, 6, -1.5),
        case("all latents", 3, 4, 6, 6),
        case("states of one number", 7, 1, 4, 2),
        case("large states", 8, 4, 10, 3, 0.0, 4.0),
        Case("equal latents", (*tied, 2), part="ties"),
        Case("equal latents, k = 4", (*tied, 4), part="ties"),
    ]


def _top_k(h: Any, w_encoder: Any, b_encoder: Any, directions: Any, b_decoder: Any, k: int) -> Any:
    """State by state: a latent is active if it is above 0 and fewer than k come before it."""
    import torch

    latents, again = [], []
    for state in h:
        before = [float((state - b_decoder) @ w_encoder[:, i] + b_encoder[i]) for i in range(len(directions))]
        ahead = [sum((y, -j) > (x, -i) for j, y in enumerate(before)) for i, x in enumerate(before)]
        active = [x if x > 0 and n < k else 0.0 for x, n in zip(before, ahead, strict=True)]
        latents.append(torch.tensor(active, dtype=h.dtype))
        again.append(b_decoder + sum(x * row for x, row in zip(active, directions, strict=True)))
    missed = sum(float((x - y) @ (x - y)) for x, y in zip(h, again, strict=True))
    return torch.stack(latents), torch.stack(again), missed / (len(h) * float(h.var(dim=0, correction=0).sum()))


TOP_K = described("17.top-k-codes", cases=_top_k_cases, oracle=_top_k, parts={"core": 0.85, "ties": 0.15}, cuts=False)
