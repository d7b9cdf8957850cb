"""Averages of weights: along a run as it goes, and over its last checkpoints."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import get_ema_multi_avg_fn

from softlookup.model.weights import RUN_KIND, CheckpointError, fill, model_tensors, read_tensors


class MovingAverage:
    """The weights of a run, averaged with a memory that fades: steadier than the last ones, and often better.

    After each step, average <- d * average + (1 - d) * weights. With warm-in d begins low and rises to the decay,
    d = min(decay, (1 + n) / (10 + n)) at the n-th update: else the random weights of the beginning would linger.

    Args:
        model: Whose weights; the average begins at them, on their device.
        decay: How much of the average stays at each step: 0.999 remembers some 1000 steps.
        warm_in: Whether the decay rises to its value.

    Raises:
        ValueError: If decay is not between 0 (the last weights alone) and 1.

    Cost: one more copy of the weights, in float32 at least; half precision would not move by a thousandth.

    Source: Polyak & Juditsky 1992 (averaging); the warm-in is that of TensorFlow's ExponentialMovingAverage.
    """

    def __init__(self, model: nn.Module, decay: float = 0.999, *, warm_in: bool = True) -> None:
        if not 0.0 <= decay < 1.0:
            raise ValueError(f"decay is {decay}; wanted at least 0 and below 1")
        self.decay, self.warm_in, self.updates = decay, warm_in, 0
        self.tensors = {name: _wide(tensor) for name, tensor in model_tensors(model).items()}

    def update(self, model: nn.Module) -> None:
        """Take the weights of one more step in.

        Args:
            model: The model after the step.

        Raises:
            ValueError: If its tensors are not those that the average began with.
        """
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
        """Give a model the averaged weights.

        Args:
            model: To be overwritten.

        Raises:
            CheckpointError: If names or shapes differ.
        """
        fill(model_tensors(model), self.tensors, "the average")

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[None]:
        """Lend a model the averaged weights for the length of a block; its own come back after it.

        Args:
            model: To be overwritten and put back.

        Yields:
            Nothing.
        """
        original = {name: tensor.detach().clone() for name, tensor in model_tensors(model).items()}
        self.copy_to(model)
        try:
            yield
        finally:
            fill(model_tensors(model), original, "the model's own weights")


def mean_of_checkpoints(paths: Sequence[str | Path]) -> dict[str, Tensor]:
    """Average the weights of several files, such as the last states of a run.

    Args:
        paths: Files of save_checkpoint or save_weights, of one model.

    Returns:
        Weights by name in their own dtype, the sums being made in float64; numbers that are no floats are
        the last file's.

    Raises:
        ValueError: If there are no paths.
        CheckpointError: If a file is damaged, or its names or shapes are not those of the first.

    Cost: two copies of the weights in memory, however many files.

    Source: Vaswani et al. 2017, section 6.1 (the last 5 checkpoints).
    """
    if not paths:
        raise ValueError("there are no checkpoints to average; wanted at least one")
    first = _weights_of(paths[0])
    sums = {name: torch.zeros_like(t, dtype=_summed_in(t)) for name, t in first.items()}
    for path in paths:
        latest = _weights_of(path)
        checkpoint = {name: torch.empty_like(t, dtype=_summed_in(t)) for name, t in first.items()}
        fill(checkpoint, latest, path)
        for name, tensor in checkpoint.items():
            sums[name] += tensor
    return {
        name: (sums[name] / len(paths)).to(tensor.dtype) if tensor.is_floating_point() else latest[name]
        for name, tensor in first.items()
    }


def load_mean(model: nn.Module, paths: Sequence[str | Path]) -> None:
    """Give a model the mean of several files' weights.

    Args:
        model: To be filled. Nothing is changed unless everything fits.
        paths: See mean_of_checkpoints.

    Raises:
        ValueError: If there are no paths.
        CheckpointError: If a file is damaged, or does not fit the others or the model.
    """
    fill(model_tensors(model), mean_of_checkpoints(paths), f"the mean of {len(paths)} checkpoints")


def _wide(tensor: Tensor) -> Tensor:
    tensor = tensor.detach().clone()
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32)) if tensor.is_floating_point() else tensor


def _summed_in(tensor: Tensor) -> torch.dtype:
    return torch.float64 if tensor.is_floating_point() else tensor.dtype


def _weights_of(path: str | Path) -> dict[str, Tensor]:
    tensors, header = read_tensors(path)
    if header.get("kind") == RUN_KIND:
        return {name.removeprefix("model/"): t for name, t in tensors.items() if name.startswith("model/")}
    if not tensors:
        raise CheckpointError(f"{path} holds no tensors")
    return tensors
