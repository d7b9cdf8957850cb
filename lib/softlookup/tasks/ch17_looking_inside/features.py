"""Tasks on features: how they share dimensions, and a sparse autoencoder."""

from typing import Any

import numpy as np

from softlookup.checking.inside.case import Case
from softlookup.checking.published import described
from softlookup.tasks.draws import Rng, normal


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
