"""Norm after each sublayer or before it, with a warm-up or without: ``softlookup bench norms``.

Small encoders learn to sort. The task is made on the spot, so nothing is read; both orders see the same weights'
draws, the same sequences, the same optimizer and rates. What is kept is the loss, and which runs learned at all.
"""

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from benchmarks.harness import benchmark
from benchmarks.train_small import train_small
from softlookup.model.parts.config import Config
from softlookup.model.whole.language import EncoderLM

ORDERS = ("post", "pre")
"""Norm after the sum, as in the paper, or before the sublayer."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    width: int = 32
    n_heads: int = 4
    hidden: int = 128
    depths: tuple[int, ...] = (2, 6, 12)
    warmups: tuple[int, ...] = (0, 100)
    rates: tuple[float, ...] = (1e-3, 3e-3)
    seeds: tuple[int, ...] = (1, 2, 3)
    steps: int = 300
    batch: int = 32
    length: int = 10
    values: int = 16
    kept_every: int = 10


_QUICK = _Plan(width=8, n_heads=2, hidden=16, depths=(1, 2), warmups=(0, 2), seeds=(1, 2), steps=6, kept_every=2)
_LAST = 50
"""Over how many steps the loss is averaged at the end of a run."""


@dataclass(frozen=True)
class NormRun:
    """One training.

    Attributes:
        order: One of ORDERS.
        depth: L.
        warmup: Steps of the warm-up.
        rate: The learning rate.
        seed: Draws weights and sequences.
        loss: The mean of the last steps, in nats for each token.
        curve: The mean of each ten steps.
    """

    order: str
    depth: int
    warmup: int
    rate: float
    seed: int
    loss: float
    curve: list[float]


@benchmark("norms", _Plan(), quick=_QUICK)
def bench_norms(plan: _Plan, *, device: str = "cpu") -> dict[str, Any]:
    """Train small encoders with the norm after and before each sublayer.

    ``runs`` holds each ``NormRun``. ``ratio`` is the median final loss of post-LN over that of pre-LN at the greatest
    depth and rate, without a warm-up.
    """
    begun = time.process_time()
    runs = [
        _run(plan, order, depth, warmup, rate, seed, torch.device(device))
        for depth in plan.depths
        for rate in plan.rates
        for warmup in plan.warmups
        for seed in plan.seeds
        for order in ORDERS
    ]

    def final(order: str) -> float:
        hardest = (order, plan.depths[-1], plan.warmups[0], plan.rates[-1])
        return median(run.loss for run in runs if (run.order, run.depth, run.warmup, run.rate) == hardest)

    return {
        "ratio": final("post") / final("pre"),
        "ratio_of": f"final loss post-LN / pre-LN, {plan.depths[-1]} layers, rate {plan.rates[-1]:g}, no warm-up",
        "task": f"sort {plan.length} numbers out of {plan.values}; guessing costs {guessing(plan):.2f} nats",
        "guessing": guessing(plan),
        "width": plan.width,
        "heads": plan.n_heads,
        "hidden": plan.hidden,
        "batch": plan.batch,
        "steps": plan.steps,
        "depths": list(plan.depths),
        "warmups": list(plan.warmups),
        "rates": list(plan.rates),
        "seeds": list(plan.seeds),
        "kept_every": plan.kept_every,
        "runs": runs,
        "cpu_seconds": round(time.process_time() - begun, 1),
    }


def guessing(plan: _Plan, draws: int = 20_000) -> float:
    """Say what it costs, in mean nats, to know the place of a number, and nothing of the sequence.

    Frequencies are counted on ``draws`` sequences.
    """
    _, sorted_ids = _sequences(plan, draws, torch.Generator().manual_seed(0))
    counts = F.one_hot(sorted_ids, plan.values).double().mean(dim=0)
    return float(torch.special.entr(counts).sum(dim=-1).mean())


def model_of(plan: _Plan, pre_norm: bool, depth: int, seed: int) -> EncoderLM:
    """Make one encoder of L layers, without dropout; a seed draws the same numbers for both orders of the norms."""
    torch.manual_seed(seed)
    return EncoderLM(
        Config(
            vocab_size=plan.values + 1,  # id 0 is the padding, which does not occur
            d_model=plan.width,
            n_heads=plan.n_heads,
            n_layers=depth,
            d_hidden=plan.hidden,
            max_length=plan.length,
            pre_norm=pre_norm,
            dropout=0.0,
            tied=False,
            start_id=0,
            end_id=0,
        )
    )


def _run(plan: _Plan, order: str, depth: int, warmup: int, rate: float, seed: int, device: torch.device) -> NormRun:
    model = model_of(plan, order == "pre", depth, seed).to(device)
    adam = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98), eps=1e-9)
    rise = LambdaLR(adam, lambda step: min(1.0, (step + 1) / warmup) if warmup else 1.0)
    draws = torch.Generator().manual_seed(1000 + seed)

    def sorting_loss() -> Tensor:
        ids, sorted_ids = (part.to(device) for part in _sequences(plan, plan.batch, draws))
        return F.cross_entropy(model(ids + 1).flatten(0, 1), sorted_ids.flatten() + 1)

    losses = train_small(model, sorting_loss, plan.steps, rise, clip=None)
    curve = [sum(losses[i : i + plan.kept_every]) / plan.kept_every for i in range(0, plan.steps, plan.kept_every)]
    last = losses[-_LAST:]
    loss = round(sum(last) / len(last), 4)
    return NormRun(order, depth, warmup, rate, seed, loss, [round(value, 3) for value in curve])


def _sequences(plan: _Plan, count: int, draws: torch.Generator) -> tuple[Tensor, Tensor]:
    """Some sequences of numbers, and the same in order."""
    ids = torch.randint(plan.values, (count, plan.length), generator=draws)
    return ids, ids.sort(dim=-1).values
