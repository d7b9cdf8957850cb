"""Handwritten digits of 8 by 8 pixels, which come with scikit-learn, and a small vision transformer that reads them."""

from dataclasses import dataclass

import numpy as np
import torch
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


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """Say which share of pictures is read rightly.

    The share is from 0 to 1; the model, from pictures to logits, is left in its evaluation mode.
    """
    model.eval()
    return float((model(images).argmax(dim=-1) == labels).double().mean())
