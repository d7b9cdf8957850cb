"""Tasks on one step of the optimiser: the learning rate, and Adam."""

from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _rate_cases(rng: Rng) -> list[Case]:
    sizes = (
        (3999, 512, 4000),
        (0, 512, 4000),
        (99_999, 512, 4000),
        (3999, 1024, 4000),
        (10, 64, 100),
        (int(rng.integers(200, 900)), 256, 150),
    )
    return [Case(f"{d:,} steps done, D = {w}, warm-up {u}", (d, w, u), frame="plain") for d, w, u in sizes]


def _rate(done: int, d_model: int, warmup: int) -> float:
    """The peak, times how far up or down the curve is."""
    step = done + 1
    peak = (d_model * warmup) ** -0.5
    return peak * (step / warmup if step < warmup else (warmup / step) ** 0.5)


RATE = described("09.warmup", cases=_rate_cases, oracle=_rate, frame="plain", forbids=("softlookup.model",))


def _adam_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, shape: tuple[int, ...], step: int, *more: float, first: bool = False, dtype: str = "float32"
    ) -> Case:
        m, v = normal(rng, *shape, dtype=dtype), rng.uniform(0.1, 2, shape).astype(dtype)
        if first:
            m, v = np.zeros_like(m), np.zeros_like(v)
        w, g = normal(rng, *shape, dtype=dtype), normal(rng, *shape, dtype=dtype)
        return Case(label, (w, g, m, v, step, *more))

    return [
        case("the first step, with the paper's numbers", (3, 2), 1, 0.05, 0.9, 0.98, 1e-9, first=True),
        case("the seventh step", (4,), 7, 0.1, 0.8, 0.95, 1e-8),
        case("a large eps", (2, 3), 3, 0.2, 0.9, 0.98, 0.4),
        case("a square matrix", (3, 3), 2, 0.05, 0.7, 0.9, 1e-3),
        case("the hundredth step in float64", (5,), 100, 0.01, 0.9, 0.999, 1e-8, dtype="float64"),
    ]


def _adam(w: Any, g: Any, m: Any, v: Any, step: int, rate: float, beta_1: float, beta_2: float, eps: float) -> Any:
    """Torch's own Adam, in the middle of a run."""
    import torch

    weight = torch.nn.Parameter(w.clone())
    weight.grad = g.clone()
    optimiser = torch.optim.Adam([weight], lr=rate, betas=(beta_1, beta_2), eps=eps, foreach=False)
    optimiser.state[weight] = {
        "step": torch.tensor(float(step - 1)),
        "exp_avg": m.clone(),
        "exp_avg_sq": v.clone(),
    }
    optimiser.step()
    state = optimiser.state[weight]
    return weight, state["exp_avg"], state["exp_avg_sq"]


ADAM = described("09.adam", cases=_adam_cases, oracle=_adam, forbids=("torch.optim", "softlookup.model"))
