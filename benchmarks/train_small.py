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
    """Train for some steps.

    Args:
        model: What learns; it is changed.
        loss: Draws a batch and gives its mean loss.
        steps: How many batches.
        rates: Schedules, each with the optimizer whose rate it sets.
        clip: The longest gradient of all weights together; None leaves it as it is.
        after: Called after each step.

    Returns:
        The loss of each step.
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
