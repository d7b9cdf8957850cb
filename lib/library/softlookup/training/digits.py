"""Handwritten digits of 8 by 8 pixels, which come with scikit-learn, and a small vision transformer that reads them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from softlookup.model.whole.vision import ViT

SPLIT_SEED = 13
"""Draws which pictures are kept for the test; the same for every model and every seed of training."""
N_TEST = 360
SIDE = 8
"""Pixels of a side."""


@dataclass(frozen=True, eq=False)
class Digits:
    """Pictures (B, 1, 8, 8) from 0 (paper) to 1 (ink), and which digit each shows."""

    train_images: Tensor
    train_labels: Tensor
    test_images: Tensor
    test_labels: Tensor


def load_digits() -> Digits:
    """Read the 1797 pictures and part them: 360 to test on, drawn with seed 13, the others to learn from.

    The same 13 people wrote both parts, so the test says nothing of other people's hands. ModuleNotFoundError if
    scikit-learn is not installed.

    Source: Alpaydin & Kaynak 1998, the test part of their data, as scikit-learn gives it.
    """
    try:
        from sklearn.datasets import load_digits as read
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "the digits come with the package scikit-learn: install it with `pip install scikit-learn`", name=error.name
        ) from error

    dataset = read()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(dataset.target))
    images = torch.from_numpy((dataset.images[order] / 16).astype("float32"))[:, None]
    labels = torch.from_numpy(dataset.target[order].astype("int64"))
    return Digits(images[N_TEST:], labels[N_TEST:], images[:N_TEST], labels[:N_TEST])


def digit_vit() -> ViT:
    """Make the small vision transformer: patches of 2 by 2 pixels, so 16 tokens and a class token."""
    return ViT(SIDE, 2, 10, channels=1, d_model=48, n_heads=4, n_layers=2, d_hidden=96, dropout=0.1)


def shifted(images: Tensor, chance: torch.Generator) -> Tensor:
    """Move half of the pictures by up to one pixel in both directions, with paper coming in from outside.

    Pictures are (B, 1, height, width); the draws come from ``chance``.
    """
    height, width = images.shape[2:]
    around = F.pad(images, (1, 1, 1, 1))
    down, across = (torch.randint(3, (len(images),), generator=chance) for _ in range(2))
    rows = (down[:, None] + torch.arange(height))[:, None, :, None]
    columns = (across[:, None] + torch.arange(width))[:, None, None, :]
    moved = around[torch.arange(len(images))[:, None, None, None], 0, rows, columns]
    stays = (torch.rand(len(images), generator=chance) < 0.5).to(images.device)
    return torch.where(stays[:, None, None, None], images, moved)


def train_on_digits(
    model: nn.Module,
    digits: Digits,
    *,
    seed: int,
    epochs: int,
    batch: int = 64,
    rate: float = 3e-3,
    seen: Callable[[Tensor], Tensor] = lambda images: images,
) -> Iterator[float]:
    """Train on the digits, and give the loss of each epoch.

    ``model`` goes from pictures to logits; ``seed`` draws batches, shifts and dropout; ``rate`` is the highest learning
    rate; ``seen`` is done to the pictures before the model sees them, such as a fixed shuffling of pixels. The loss is
    a mean, in nats.
    """
    torch.manual_seed(seed)
    chance = torch.Generator().manual_seed(seed)
    steps = epochs * (len(digits.train_images) // batch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps)
    model.train()
    for _ in range(epochs):
        order = torch.randperm(len(digits.train_images), generator=chance)
        losses = []
        for first in range(0, len(order) - batch + 1, batch):
            rows = order[first : first + batch]
            logits = model(seen(shifted(digits.train_images[rows], chance)))
            loss = F.cross_entropy(logits, digits.train_labels[rows])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            losses.append(loss.item())
        yield sum(losses) / len(losses)
    model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Say which share of pictures is read rightly.

    The share is from 0 to 1; the model, from pictures to logits, is left in its evaluation mode.
    """
    model.eval()
    return float((model(images).argmax(dim=-1) == labels).double().mean())
