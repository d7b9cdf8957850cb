"""Tasks on numbers: stretched rotary speeds, a step of Muon, a learning rate, and weights of four bits."""

import math
from typing import Any

import numpy as np

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded
from softlookup_judge.chapters.draws import Rng, doubles, normal
from softlookup_judge.chapters.oracles import torch


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
    return [Case(label, args) for label, args in sizes.items()]


@graded("15.yarn", _yarn_cases, frame="numpy")
def _yarn(
    head_width: int, base: float, factor: float, trained_length: int, fast_turns: float, slow_turns: float
) -> Any:
    """By the logarithm of each pair's turns, in which the pairs are equally far apart."""
    speeds, blended = [base ** (-2 * i / head_width) for i in range(head_width // 2)], []
    for speed in speeds:
        turns = trained_length * speed / (2 * math.pi)
        blend = math.log(fast_turns / turns) / math.log(fast_turns / slow_turns)
        blend = min(1.0, max(0.0, blend))
        blended.append(speed * (1 - blend * (1 - 1 / factor)))
    return np.array(blended), np.float64(math.log(factor) / 10 + 1)


def _muon_cases(rng: Rng) -> list[Case]:
    def case(
        label: str, rows: int, columns: int, momentum: float, decay: float, rate: float = 0.02, first: bool = False
    ) -> Case:
        weight, gradient, average = (doubles(rng, rows, columns) for _ in range(3))
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


@graded("15.muon", _muon_cases, cuts=False)
def _muon(weight: Any, gradient: Any, average: Any, rate: float, momentum: float, weight_decay: float) -> Any:
    """The polynomial on the singular values themselves."""
    average = average.lerp(gradient, 1 - momentum)
    u, s, vt = torch.linalg.svd(average.lerp(gradient, 1 - momentum), full_matrices=False)
    s = s / s.square().sum().sqrt()
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s.pow(3) + 2.0315 * s.pow(5)
    step = (u * s) @ vt * max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
    return weight - rate * weight_decay * weight - rate * step, average


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
    return [Case(label, args) for label, args in plans.items()]


@graded("15.schedule", _schedule_cases, frame="plain")
def _schedule(step: int, peak: float, warmup: int, stable: int, decay: int) -> Any:
    """Between the corners of the curve."""
    corners = np.cumsum([0, warmup, stable, decay])
    return np.interp(step, corners, [0.0, peak, peak, 0.0])


CODES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The absolute values of e2m1 in the order of their bits: an even place ends in a 0."""


def _block_cases(rng: Rng) -> list[Case]:
    def case(label: str, rows: int, columns: int, block: int, *, scale: float = 1.0, part: str = "core") -> Case:
        w = normal(rng, rows, columns, scale=scale)
        w.reshape(rows, -1, block)[:, :, 0] *= 4  # scales that differ from block to block
        return Case(label, (w, block), part=part)

    ties = np.array([4, 0.25, -0.75, 1.25, 1.75, -2.5, 3.5, 5, -0.25, 0.75, -1.25, -1.75, 2.5, -3.5, -5, 4.5])
    outlier, zeros = case("one weight of 60", 4, 12, 4), case("a block of zeros", 3, 8, 4)
    outlier.args[0][1, 5] = 60.0
    zeros.args[0][1, 4:] = 0.0
    powers = np.array([[8.0, 3, -1, 0.5, 7, 6.5, -2, 1]])
    # The logarithm of such a number, rounded to float32, is that of the power.
    largest = np.nextafter(np.array([8, -0.5, 2**-9], "float32"), np.float32(0))
    just_below = (largest[:, None] * np.array([1, 0.4, -0.33, 0.07], "float32")).reshape(1, -1)
    negative = -np.abs(normal(rng, 3, 6)) - 0.1
    return [
        case("M = 4, D = 8, blocks of 4", 4, 8, 4),
        case("M = 6, D = 6, blocks of 3", 6, 6, 3),
        case("blocks of 32, as in models", 3, 64, 32, scale=0.02),
        outlier,
        zeros,
        Case("negative weights alone", (negative.astype("float32"), 3)),
        Case("halfway between neighbours", (np.stack([ties, ties / 8]), 8), part="ties"),
        Case("the largest is a power of two, and 7 times one", (powers, 4)),
        Case("the largest is just below a power of two", (just_below, 4)),
    ]


@graded("15.block-scales", _block_cases, frame="numpy", parts={"core": 0.8, "ties": 0.2}, cuts=False)
def _block_scaled(w: Any, block: int) -> Any:
    """Number by number: scales by doubling and halving, codes by their distance."""
    back = np.zeros(w.shape)
    for i, row in enumerate(np.asarray(w, dtype=np.float64).tolist()):
        for start in range(0, len(row), block):
            largest = max(abs(x) for x in row[start : start + block])
            if largest == 0:
                continue
            scale = 1.0
            while largest < 4 * scale:
                scale /= 2
            while largest >= 8 * scale:
                scale *= 2
            for at in range(start, start + block):
                size = abs(row[at]) / scale
                nearest = min(range(len(CODES)), key=lambda code: (abs(size - CODES[code]), code % 2))
                back[i, at] = np.copysign(CODES[nearest] * scale, row[at])
    return back
