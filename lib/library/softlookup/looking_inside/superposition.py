"""The toy model of superposition: more features than dimensions, and how sparsity lets them share.

Letters of its own: I models trained side by side, M features. D is the width that they share.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


def sparse_features(
    shape: Sequence[int], sparsity: float | Tensor, *, generator: torch.Generator
) -> Float[Tensor, "..."]:
    """Draw features that are zero most of the time, else uniform between 0 and 1, each by itself.

    Args:
        shape: Of the tensor.
        sparsity: The probability of a zero, or one for each model, of a shape that spreads over the tensor.
        generator: Where the luck comes from; the features are made on its device.

    Returns:
        The features.

    Source: Elhage et al. 2022.
    """
    values, chances = (torch.rand(tuple(shape), generator=generator, device=generator.device) for _ in range(2))
    return values * (chances >= sparsity)


@dataclass(frozen=True)
class Superposition:
    """Toy models trained at several sparsities, side by side.

    Attributes:
        sparsities: The probability of a zero, one for each model.
        w: What compresses M features to D numbers, (I, D, M): column m is feature m's direction.
        b: What is added before the ReLU, (I, M).
        loss: The mean squared error, weighted by importance, over the last tenth of training, (I,).
    """

    sparsities: tuple[float, ...]
    w: Float[Tensor, "I D M"]
    b: Float[Tensor, "I M"]
    loss: Float[Tensor, " I"]

    @property
    def norms(self) -> Float[Tensor, "I M"]:
        """The length of each feature's direction: about 1 if it is represented, about 0 if it was given up."""
        return self.w.norm(dim=1)

    @property
    def interference(self) -> Float[Tensor, "I M"]:
        """How much of the other features shows along each: the sum of squares of their dot products with its direction.

        0 means a dimension of its own.
        """
        units = self.w / self.norms.clamp_min(1e-8)[:, None]
        products_IMM = (units.mT @ self.w).square()
        return products_IMM.sum(dim=2) - products_IMM.diagonal(dim1=1, dim2=2)

    def represented(self, least: float = 0.5) -> list[int]:
        """Count the features whose directions are longer than a given length.

        Args:
            least: The length.

        Returns:
            The count in each model.
        """
        return (self.norms > least).sum(dim=1).tolist()


def train_superposition(
    n_features: int,
    width: int,
    sparsities: Sequence[float],
    *,
    importance: float = 0.9,
    steps: int = 3000,
    batch: int = 512,
    rate: float = 3e-3,
    seed: int = 0,
) -> Superposition:
    """Train x -> ReLU(W^T W x + b) to give x back, one model for each sparsity.

    Args:
        n_features: M.
        width: D, fewer than the features.
        sparsities: The probability that a feature is zero.
        importance: Feature m's squared error counts importance^m.
        steps: Steps of AdamW; the rate falls to zero along a cosine.
        batch: Examples in each step, new ones each time.
        rate: The learning rate at first.
        seed: Where the luck comes from.

    Returns:
        The models.

    Raises:
        ValueError: If a size is below 1, the width is not below the number of features, there is no sparsity, or one
            is outside [0, 1).

    Cost: 20 features, 5 dimensions, 5 sparsities: about 2 s on one core.

    Source: Elhage et al. 2022 (Toy Models of Superposition), section "Demonstrating Superposition".
    """
    if min(n_features, width, steps, batch) < 1 or width >= n_features:
        raise ValueError(
            f"got {n_features} features, width {width}, {steps} steps of {batch}; wanted sizes from 1 on, and a width "
            "below the number of features"
        )
    if not sparsities or not all(0 <= sparsity < 1 for sparsity in sparsities):
        raise ValueError(f"sparsities are {tuple(sparsities)}; wanted one or more, each at least 0 and below 1")
    generator = torch.Generator().manual_seed(seed)
    zeros_I11 = torch.tensor(list(sparsities), dtype=torch.float32)[:, None, None]
    counts_M = importance ** torch.arange(n_features)
    w_IDM = torch.randn(len(sparsities), width, n_features, generator=generator) / n_features**0.5
    b_I1M = torch.zeros(len(sparsities), 1, n_features)
    parameters = [w_IDM.requires_grad_(), b_I1M.requires_grad_()]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.0)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    last = []
    for step in range(steps):
        x_IBM = sparse_features((len(sparsities), batch, n_features), zeros_I11, generator=generator)
        out_IBM = torch.relu(x_IBM @ w_IDM.mT @ w_IDM + b_I1M)
        loss_I = ((out_IBM - x_IBM).square() * counts_M).mean(dim=(1, 2))
        optimizer.zero_grad()
        loss_I.sum().backward()
        optimizer.step()
        falling.step()
        if step >= steps - max(1, steps // 10):
            last.append(loss_I.detach())
    return Superposition(
        tuple(float(sparsity) for sparsity in sparsities),
        w_IDM.detach(),
        b_I1M.detach()[:, 0],
        torch.stack(last).mean(dim=0),
    )
