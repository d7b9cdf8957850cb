"""Tasks on numbers that are set once: stretched rotary speeds, a step of Muon, and a learning rate."""

import math
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng, normal
from softlookup_judge.data.published import described


def _yarn_cases(rng: Rng) -> list[Case]:
    length = int(rng.integers(3000, 9000))
    sizes = {
        "H = 64, four times": (64, 10_000.0, 4.0, 4096, 32.0, 1.0),
        "H = 128, a larger base, eight times": (128, 150_000.0, 8.0, 4096, 32.0, 1.0),
        "H = 16, twice": (16, 10_000.0, 2.0, length, 24.0, 2.0),
        "H = 32, a base of 500,000, sixteen times": (32, 500_000.0, 16.0, 8192, 40.0, 0.5),
        "a short text: not even the first pair keeps its speed": (32, 10_000.0, 4.0, 128, 32.0, 1.0),
        "a long text: even the last pair keeps some of its speed": (16, 1_000.0, 8.0, 60_000, 64.0, 2.0),
    }
    return [Case(label, args, frame="numpy") for label, args in sizes.items()]


def _yarn(
    head_width: int, base: float, factor: float, trained_length: int, fast_turns: float, slow_turns: float
) -> Any:
    """By the logarithm of each pair's turns, in which the pairs are equally far apart."""
    speeds, blended = [base ** (-2 * i / head_width) for i in range(head_width // 2)], []
    for speed in speeds:
        turns = trained_length * speed / (2 * math.pi)
        share = math.log(fast_turns / turns) / math.log(fast_turns / slow_turns)
        share = min(1.0, max(0.0, share))
        blended.append(speed * (1 - share * (1 - 1 / factor)))
    return np.array(blended), np.float64(math.log(factor) / 10 + 1)


YARN = described("15.yarn", cases=_yarn_cases, oracle=_yarn, frame="numpy")


def _muon_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, rows: int, columns: int, momentum: float, decay: float, rate: float = 0.02, first: bool = False
    ) -> Case:
        weight, gradient, average = (normal(rng, rows, columns, dtype="float64") for _ in range(3))
        # torch adds 1e-7 to the norm: who does it, too, is right
        return Case(label, (weight, gradient, average * (not first), rate, momentum, decay), tolerance=1e-6)

    return [
        case("5 by 3", 5, 3, 0.95, 0.1),
        case("3 by 6", 3, 6, 0.9, 0.2),
        case("4 by 4, the first step", 4, 4, 0.95, 0.1, first=True),
        case("8 by 2, a rate of 0.3", 8, 2, 0.8, 0.5, 0.3),
        case("1 by 5, a rate of 0.001, no decay", 1, 5, 0.9, 0.0, 0.001),
        case("3 by 2, no momentum", 3, 2, 0.0, 0.1, 0.1),
    ]


def _muon(weight: Any, gradient: Any, average: Any, rate: float, momentum: float, weight_decay: float) -> Any:
    """The polynomial on the singular values themselves."""
    import torch

    average = average.lerp(gradient, 1 - momentum)
    u, s, vt = torch.linalg.svd(average.lerp(gradient, 1 - momentum), full_matrices=False)
    s = s / s.square().sum().sqrt()
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s.pow(3) + 2.0315 * s.pow(5)
    step = (u * s) @ vt * max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
    return weight - rate * weight_decay * weight - rate * step, average


MUON = described("15.muon", cases=_muon_cases, oracle=_muon, cuts=False)


def _schedule_cases(rng: Rng) -> list[Case]:
    peak = float(rng.uniform(1e-3, 9e-3))
    plans = {
        "in the warm-up": (7, 0.01, 10, 20, 5),
        "the last step of the warm-up": (10, 0.02, 10, 20, 5),
        "on the plateau": (15, 0.004, 10, 20, 5),
        "the last step of the plateau": (30, 0.01, 10, 20, 5),
        "the plateau behind its length": (24, 0.03, 10, 20, 8),
        "falling": (33, 0.01, 10, 20, 8),
        "the last step": (38, 0.01, 10, 20, 8),
        "after the end": (60, 0.01, 10, 20, 8),
        "a drawn peak, falling": (117, peak, 20, 90, 30),
        "the first step": (1, peak, 7, 9, 4),
        "nothing between warm-up and decay": (11, 0.01, 10, 0, 4),
        "the same, at the peak": (10, 0.03, 10, 0, 4),
        "a warm-up and a decay of one step": (1, 0.02, 1, 0, 1),
    }
    return [Case(label, args, frame="plain") for label, args in plans.items()]


def _schedule(step: int, peak: float, warmup: int, stable: int, decay: int) -> Any:
    """Between the corners of the curve."""
    corners = np.cumsum([0, warmup, stable, decay])
    return np.interp(step, corners, [0.0, peak, peak, 0.0])


SCHEDULE = described("15.schedule", cases=_schedule_cases, oracle=_schedule, frame="plain")
