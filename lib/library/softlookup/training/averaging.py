"""An average of weights along a run."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from softlookup.model.whole.weights import fill, model_tensors


class MovingAverage:
    """The weights of a run, averaged with a memory that fades: steadier than the last ones, and often better.

    After each step, average <- d * average + (1 - d) * weights. With warm-in d begins low and rises to the decay,
    d = min(decay, (1 + n) / (10 + n)) at the n-th update: else the random weights of the beginning would linger.

    The average begins at the model's weights, on their device; a decay of 0.999 remembers some 1000 steps. ValueError
    if it is not between 0 (the last weights alone) and 1.

    Cost: one more copy of the weights, in float32 at least; half precision would not move by a thousandth.

    Source: Polyak & Juditsky 1992 (averaging); the warm-in is that of TensorFlow's ExponentialMovingAverage.
    """

    def __init__(self, model: nn.Module, decay: float = 0.999, *, warm_in: bool = True) -> None:
        if not 0.0 <= decay < 1.0:
            raise ValueError(f"decay is {decay}; wanted at least 0 and below 1")
        self.decay, self.warm_in, self.updates = decay, warm_in, 0
        self.tensors = {name: _wide(tensor) for name, tensor in model_tensors(model).items()}

    def update(self, model: nn.Module) -> None:
        """Take the weights of one more step in; they have to be those of the model that the average began with."""
        self.updates += 1
        decay = self.decay
        if self.warm_in:
            decay = min(decay, (1 + self.updates) / (10 + self.updates))
        current = model_tensors(model)
        if current.keys() != self.tensors.keys():
            raise ValueError(f"the model's tensors have changed: {sorted(current.keys() ^ self.tensors.keys())}")
        means = [name for name, average in self.tensors.items() if average.is_floating_point()]
        with torch.no_grad():
            # All at once: a GPU would wait for as many launches as there are tensors.
            if means:
                averages = [self.tensors[name] for name in means]
                values = [current[name].to(self.tensors[name].dtype) for name in means]
                get_ema_multi_avg_fn(decay)(averages, values, None)
            for name in self.tensors.keys() - set(means):  # a count has no mean
                self.tensors[name].copy_(current[name])

    def copy_to(self, model: nn.Module) -> None:
        """Overwrite a model with the averaged weights; CheckpointError if names or shapes differ."""
        fill(model_tensors(model), self.tensors, "the average")

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[None]:
        """Lend a model the averaged weights for the length of a block; its own come back after it."""
        original = {name: tensor.detach().clone() for name, tensor in model_tensors(model).items()}
        self.copy_to(model)
        try:
            yield
        finally:
            fill(model_tensors(model), original, "the model's own weights")


def _wide(tensor: Tensor) -> Tensor:
    tensor = tensor.detach().clone()
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32)) if tensor.is_floating_point() else tensor
