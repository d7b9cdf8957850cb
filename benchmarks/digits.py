"""A small vision transformer on handwritten digits, beside a convolution: ``softlookup bench digits``.

The transformer is trained with five seeds and what stands beside it with one, on pictures as they are and on
pictures whose 64 pixels were shuffled, all in the same way. The test pictures are the same for all.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.harness import benchmark
from benchmarks.kept_runs import KeptRuns
from softlookup.model.whole.weights import save_weights
from softlookup.training.digits import N_TEST, SIDE, SPLIT_SEED, accuracy, digit_vit, load_digits

SHUFFLE_SEED = 64
"""Draws the one shuffling of pixels that all shuffled runs share."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run."""

    epochs: int = 80
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    other_seeds: int = 1
    batch: int = 128
    rate: float = 4e-3


_QUICK = _Plan(epochs=1, seeds=(1, 2), other_seeds=1, batch=256)


def convolution() -> nn.Sequential:
    """A small convolutional network, with about as many weights as the transformer."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(128, 10),
    )


def shuffle_pixels(images: Tensor) -> Tensor:
    """Put the pixels of every picture into another order, the same for all."""
    order = torch.randperm(SIDE * SIDE, generator=torch.Generator().manual_seed(SHUFFLE_SEED))
    return images.flatten(1)[:, order].view_as(images)


def shifted(images: Tensor, chance: torch.Generator) -> Tensor:
    """Move half of the pictures by up to one pixel in both directions, with paper coming in from outside."""
    height, width = images.shape[2:]
    around = F.pad(images, (1, 1, 1, 1))
    down, across = (torch.randint(3, (len(images),), generator=chance) for _ in range(2))
    rows = (down[:, None] + torch.arange(height))[:, None, :, None]
    columns = (across[:, None] + torch.arange(width))[:, None, None, :]
    moved = around[torch.arange(len(images))[:, None, None, None], 0, rows, columns]
    stays = (torch.rand(len(images), generator=chance) < 0.5).to(images.device)
    return torch.where(stays[:, None, None, None], images, moved)


ARMS: dict[str, tuple[Callable[[], nn.Module], Callable[[Tensor], Tensor]]] = {
    "vit": (digit_vit, lambda images: images),
    "convolution": (convolution, lambda images: images),
    "convolution_shuffled": (convolution, shuffle_pixels),
    "vit_shuffled": (digit_vit, shuffle_pixels),
}
"""What is trained, and what is done to its pictures."""


@dataclass(frozen=True)
class DigitRun:
    """One training: the share of test pictures read right, and the mean loss of each epoch in nats."""

    accuracy: float
    losses: list[float]


@dataclass(frozen=True)
class DigitsResult:
    """Accuracy by model and seed, the transformer's losses by seed, and the sizes."""

    ratio: float
    ratio_of: str
    accuracy: dict[str, list[float]]
    median: dict[str, float]
    losses: dict[str, list[float]]
    weights_of_seed: int
    parameters: dict[str, int]
    split_seed: int
    shuffle_seed: int
    test_pictures: int
    train_pictures: int
    epochs: int
    seeds: tuple[int, ...]
    other_seeds: int
    batch: int
    rate: float
    threads: int


@benchmark("digits", _Plan(), quick=_QUICK)
def bench_digits(
    plan: _Plan,
    *,
    runs_file: Path | None = None,
    weights: Path | None = None,
    say: Callable[[str], None] | None = None,
) -> DigitsResult:
    """Train each model with each seed, and read the test pictures.

    The transformer with the median accuracy is written to ``weights``. ``accuracy`` holds a share for each model and
    seed, ``losses`` the transformer's loss in each epoch. ``ratio`` is the median share of errors, transformer over
    convolution.
    """
    runs = KeptRuns(runs_file, repr(plan), say)
    results = {
        arm: [
            DigitRun(**runs.do(f"{arm}, seed {seed}", partial(_run, plan, arm, seed)))
            for seed in (plan.seeds if arm == "vit" else plan.seeds[: plan.other_seeds])
        ]
        for arm in ARMS
    }
    shares = {arm: [run.accuracy for run in arm_runs] for arm, arm_runs in results.items()}
    middle = {arm: median(accuracies) for arm, accuracies in shares.items()}
    chosen = plan.seeds[min(range(len(plan.seeds)), key=lambda i: abs(shares["vit"][i] - middle["vit"]))]
    if weights is not None:
        model = digit_vit()
        _train(plan, model, ARMS["vit"][1], chosen)
        save_weights(model, weights)
    runs.done()
    return DigitsResult(
        ratio=(1 - middle["vit"]) / max(1 - middle["convolution"], 1 / N_TEST),
        ratio_of="share of errors, vision transformer / convolution, median of the seeds",
        accuracy=shares,
        median=middle,
        losses={str(seed): run.losses for seed, run in zip(plan.seeds, results["vit"], strict=True)},
        weights_of_seed=chosen,
        parameters={arm: sum(p.numel() for p in make().parameters()) for arm, (make, _) in ARMS.items()},
        split_seed=SPLIT_SEED,
        shuffle_seed=SHUFFLE_SEED,
        test_pictures=N_TEST,
        train_pictures=len(load_digits().train_labels),
        **asdict(plan),
        threads=torch.get_num_threads(),
    )


def _train(plan: _Plan, model: nn.Module, seen: Callable[[Tensor], Tensor], seed: int) -> list[float]:
    """Train on the digits; the seed draws the batches, the shifts and the dropout. Give each epoch's mean loss."""
    digits = load_digits()
    torch.manual_seed(seed)
    chance = torch.Generator().manual_seed(seed)
    steps = plan.epochs * (len(digits.train_images) // plan.batch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=plan.rate, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, plan.rate, total_steps=steps)
    model.train()
    epochs = []
    for _ in range(plan.epochs):
        order = torch.randperm(len(digits.train_images), generator=chance)
        losses = []
        for first in range(0, len(order) - plan.batch + 1, plan.batch):
            rows = order[first : first + plan.batch]
            logits = model(seen(shifted(digits.train_images[rows], chance)))
            loss = F.cross_entropy(logits, digits.train_labels[rows])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        epochs.append(sum(losses) / len(losses))
    return epochs


def _run(plan: _Plan, arm: str, seed: int) -> DigitRun:
    make, seen = ARMS[arm]
    torch.manual_seed(1000 + seed)
    model = make()
    losses = _train(plan, model, seen, seed)
    digits = load_digits()
    share = accuracy(model, seen(digits.test_images), digits.test_labels)
    return DigitRun(round(share, 5), [round(loss, 4) for loss in losses])
