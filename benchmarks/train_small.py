"""One loop for the small models that several benchmarks train."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler


def train_small(
    model: nn.Module,
    loss: Callable[[], Tensor],
    steps: int,
    *rates: LRScheduler,
    clip: float | None = 1.0,
    after: Callable[[], None] | None = None,
) -> list[float]:
    """Train a model for some steps, and give the loss of each.

    ``loss`` draws a batch and gives its mean loss; ``rates`` are schedules, each with the optimizer whose rate it sets;
    ``clip`` is the longest gradient of all weights together, None leaves it as it is; ``after`` is called after each
    step.
    """
    losses = []
    for _ in range(steps):
        step_loss = loss()
        for rate in rates:
            rate.optimizer.zero_grad()
        step_loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for rate in rates:
            rate.optimizer.step()
            rate.step()
        losses.append(step_loss.item())
        if after is not None:
            after()
    return losses
