"""A training step as two launches: a GPU's work recorded once for each shape of batch, and replayed.

A step of a small model is some thousand kernels, and a GPU finishes most of them sooner than a CPU asks for the next.
Here all that a step asks for is recorded as a CUDA graph, with every tensor in its place for good: the numbers of a
batch are written where the next replay reads them. There are two graphs, so that the loss can be looked at before the
weights change: one that leaves the gradients, and the optimizer's step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

MOST = 64  # shapes that are recorded; each keeps its gradients
_WARM = 2  # steps of a shape before it is recorded, in which libraries and compilers make ready what they need


@dataclass
class _Recording:
    """Two graphs, and where what they read and write lies."""

    inputs: list[Tensor]
    gradients: Any
    apply: Any
    outputs: tuple[Tensor, ...]
    left: list[Tensor | None]


class CapturedStep:
    """Two halves of a step, replayed as CUDA graphs where a batch of the same shape came before.

    The first steps of a shape are done as they are, and so are all on a CPU.

    Args:
        gradients: A function of a batch's tensors that leaves gradients in the parameters, in place of those that were
            there, and returns tensors: the loss, say. It may not wait for a number of the GPU.
        apply: A function that changes the weights by the gradients.
        parameters: Where gradients are left.

    Cost: the memory of one step, and one copy of the gradients for each shape recorded.

    Source: the PyTorch documentation, "CUDA semantics", on capturing whole networks.
    Book: 09_training_more.html#training-more-gpu.
    """

    def __init__(
        self,
        gradients: Callable[..., tuple[Tensor, ...]],
        apply: Callable[[], None],
        parameters: Sequence[nn.Parameter],
    ) -> None:
        self._gradients, self._apply, self._parameters = gradients, apply, list(parameters)
        self._counts: dict[tuple[Any, ...], int] = {}
        self._recorded: dict[tuple[Any, ...], _Recording] = {}
        self._now: _Recording | None = None
        self._beside: Any = None

    def gradients(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Do the first half of a step.

        Args:
            *inputs: The batch's tensors, all on one device.

        Returns:
            What the function returned; on a GPU in memory that the next call with such a shape writes over.
        """
        self._now = None
        if not inputs[0].is_cuda:
            return self._gradients(*inputs)
        key = tuple((tensor.shape, tensor.dtype) for tensor in inputs)
        if key not in self._recorded:
            self._counts[key] = self._counts.get(key, 0) + 1
            if self._counts[key] <= _WARM or len(self._recorded) == MOST:
                return self._beside_others(lambda: self._gradients(*inputs))
            self._recorded[key] = self._record(inputs)
        self._now = recording = self._recorded[key]
        for place, tensor in zip(recording.inputs, inputs, strict=True):
            place.copy_(tensor)
        recording.gradients.replay()
        for parameter, gradient in zip(self._parameters, recording.left, strict=True):
            parameter.grad = gradient
        return recording.outputs

    def apply(self) -> None:
        """Do the second half, with the gradients that the first has left."""
        if self._now is None:
            self._apply()
            return
        if self._now.apply is None:  # recorded now, when the optimizer has what it keeps
            self._now.apply = torch.cuda.CUDAGraph()
            with self._recording(self._now.apply):
                self._apply()
        self._now.apply.replay()

    def _record(self, inputs: Sequence[Tensor]) -> _Recording:
        places = [tensor.clone() for tensor in inputs]
        for parameter in self._parameters:
            parameter.grad = None
        graph = torch.cuda.CUDAGraph()
        with self._recording(graph):
            outputs = self._gradients(*places)
        return _Recording(places, graph, None, outputs, [parameter.grad for parameter in self._parameters])

    def _recording(self, graph: Any) -> Any:
        """Record into memory that all recordings share, since no two of them run at once."""
        first = next(iter(self._recorded.values()), None)
        pool = None if first is None else first.gradients.pool()
        # Another thread may make the next batch meanwhile, which is no part of the recording.
        return torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local")

    def _beside_others(self, work: Callable[[], tuple[Tensor, ...]]) -> tuple[Tensor, ...]:
        """Work on another stream, as recordings do: autograd remembers where a parameter was first used."""
        if self._beside is None:
            self._beside = torch.cuda.Stream()
        self._beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._beside):
            outputs = work()
        torch.cuda.current_stream().wait_stream(self._beside)
        return outputs


def make_capturable(optimizer: Optimizer) -> None:
    """Let an optimizer's step be recorded: its counts and rates become numbers on the device.

    Args:
        optimizer: One of torch's that knows ``capturable``, as Adam and AdamW do. Off a GPU it stays as it is.

    Raises:
        ValueError: If it knows no such thing.
    """
    for group in optimizer.param_groups:
        if "capturable" not in group:
            raise ValueError(f"a step of {type(optimizer).__name__} cannot be recorded; wanted Adam or AdamW")
        device = group["params"][0].device
        if device.type == "cuda":
            group["capturable"] = True
            group["lr"] = torch.as_tensor(group["lr"], dtype=torch.float32).to(device)


def set_rate(optimizer: Optimizer, rate: float) -> None:
    """Set the learning rate of all groups, in place where it is a number on the device.

    Args:
        optimizer: Any of torch's.
        rate: The learning rate.
    """
    for group in optimizer.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
