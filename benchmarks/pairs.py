"""Pictures and captions in one space, and labels that were never seen: ``softlookup bench pairs``.

Two small encoders are trained on pairs alone. Then each picture is given to the label that is nearest: labels seen in
training, pairs of known words that training never put together, and a colour whose word it never read.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from torch import Tensor

from benchmarks.harness import benchmark
from benchmarks.kept_runs import KeptRuns
from benchmarks.train_small import train_small
from softlookup.model.whole.contrastive import ImageTextPair
from softlookup.model.whole.weights import save_weights
from softlookup.training.pictures import (
    NEW_COLOUR,
    SHAPES,
    TEMPLATES,
    Thing,
    draw,
    encode,
    kept_back,
    known_colours,
    small_pair,
    training_things,
)

TESTS = ("seen", "never_together", "new_word")
"""What is asked: pairs of colour and shape of the training, pairs that were kept back, and a new colour."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    steps: int = 600
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    rate: float = 3e-3
    test_pictures: int = 20


_QUICK = _Plan(steps=2, seeds=(1, 2), test_pictures=1)


def train_pair(pair: ImageTextPair, seed: int, steps: int, rate: float = 3e-3) -> list[float]:
    """Train on batches in which every thing of the training stands once, so that no caption is there twice.

    The pair is changed; ``seed`` draws pictures and captions, ``rate`` is the highest one. It gives the loss of each
    step, in nats.
    """
    rng = np.random.default_rng(seed)
    things = training_things()
    optimiser = torch.optim.AdamW(pair.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)

    def loss() -> Tensor:
        captions = [thing.caption(int(rng.integers(len(TEMPLATES)))) for thing in things]
        return pair.loss(draw(things, rng), encode(captions))

    return train_small(pair, loss, steps, schedule)


def labels_of(colours: Sequence[str]) -> list[Thing]:
    """One label for each colour and shape."""
    return [Thing(colour, shape) for colour in colours for shape in SHAPES]


def asked_of(test: str) -> tuple[list[Thing], list[Thing]]:
    """What the pictures of one of TESTS say, and the labels to choose among; each thing is one of them."""
    labels = labels_of(known_colours())
    hidden = set(kept_back())
    if test == "seen":
        return [label for label in labels if (label.colour, label.shape) not in hidden], labels
    if test == "never_together":
        return [label for label in labels if (label.colour, label.shape) in hidden], labels
    new = labels_of((NEW_COLOUR,))
    return new, labels + new


@torch.no_grad()
def share_right(pair: ImageTextPair, test: str, per_thing: int, rng: np.random.Generator) -> float:
    """Let trained encoders choose a label for new pictures of one of TESTS: the share that got their own."""
    things, labels = asked_of(test)
    shown = [thing for thing in things for _ in range(per_thing)]
    chosen = pair.classify(draw(shown, rng), encode([label.caption() for label in labels])).argmax(dim=-1)
    return sum(labels[i] == thing for i, thing in zip(chosen.tolist(), shown, strict=True)) / len(shown)


@dataclass(frozen=True)
class PairRun:
    """One training: the share of right labels by test, the mean loss of each twentieth in nats, the learnt scale."""

    right: dict[str, float]
    loss: list[float]
    scale: float


@dataclass(frozen=True)
class PairsResult:
    """Shares of right labels by test and seed, their medians and those of chance, losses by seed, and the sizes."""

    ratio: float
    ratio_of: str
    right: dict[str, list[float]]
    median: dict[str, float]
    chance: dict[str, float]
    loss: dict[str, list[float]]
    scale: list[float]
    weights_of_seed: int
    parameters: int
    batch: int
    steps: int
    seeds: tuple[int, ...]
    rate: float
    test_pictures: int
    threads: int


@benchmark("pairs", _Plan(), quick=_QUICK)
def bench_pairs(
    plan: _Plan,
    *,
    runs_file: Path | None = None,
    weights: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> PairsResult:
    """Train the pair with each seed, and let it choose labels.

    The pair with the median share on labels never put together is written to ``weights``. ``right`` holds for each test
    and seed the share of right labels, ``chance`` one over the number of labels, ``loss`` the mean of every twentieth
    part of each run. ``ratio`` is the median share right on pairs that training never put together, over that on pairs
    it did.
    """
    runs = KeptRuns(runs_file, repr(plan), say)
    results = [PairRun(**runs.do(f"seed {seed}", partial(_record, plan, seed))) for seed in plan.seeds]
    right = {test: [run.right[test] for run in results] for test in TESTS}
    middle = {test: median(right[test]) for test in TESTS}
    never = right["never_together"]
    chosen = plan.seeds[min(range(len(never)), key=lambda i: abs(never[i] - middle["never_together"]))]
    if weights is not None:
        save_weights(_run(plan, chosen)[1], weights)
    runs.done()
    return PairsResult(
        ratio=middle["never_together"] / max(middle["seen"], 1e-9),
        ratio_of="share of right labels, pairs of words never put together / pairs of the training",
        right=right,
        median=middle,
        chance={test: 1 / len(asked_of(test)[1]) for test in TESTS},
        loss={str(seed): run.loss for seed, run in zip(plan.seeds, results, strict=True)},
        scale=[run.scale for run in results],
        weights_of_seed=chosen,
        parameters=sum(p.numel() for p in small_pair().parameters()),
        batch=len(training_things()),
        **asdict(plan),
        threads=torch.get_num_threads(),
    )


def _record(plan: _Plan, seed: int) -> PairRun:
    return _run(plan, seed)[0]


def _run(plan: _Plan, seed: int) -> tuple[PairRun, ImageTextPair]:
    torch.manual_seed(seed)
    pair = small_pair()
    losses = train_pair(pair, seed, plan.steps, plan.rate)
    pair.eval()
    rng = np.random.default_rng(10_000 + seed)
    part = max(1, plan.steps // 20)
    right = {test: round(share_right(pair, test, plan.test_pictures, rng), 5) for test in TESTS}
    loss = [round(float(np.mean(losses[i : i + part])), 4) for i in range(0, len(losses), part)]
    return PairRun(right, loss, round(pair.scale().item(), 3)), pair
