"""A training step as two launches: a GPU's work recorded once for each shape of batch, and replayed.

A step of a small model is some thousand kernels, and a GPU finishes most of them sooner than a CPU asks for the next.
Here all that a step asks for is recorded as a CUDA graph, with every tensor in its place for good: the numbers of a
batch are written where the next replay reads them. There are two graphs, so that the loss can be looked at before the
weights change: one that leaves the gradients, and the optimizer's step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from softlookup_inside.torch_internals import copy_each

MOST = 256  # shapes that are recorded
_WARM = 2  # steps of a shape before it is recorded, in which libraries and compilers make ready what they need

Result = TypeVar("Result")


@runtime_checkable
class StepRecorder(Protocol):
    """What a step is recorded with: CUDA graphs, or what stands in for them."""

    def aside(self, work: Callable[[], Result]) -> Result:
        """Do the work as it is, where recordings are made."""
        ...

    def record(self, work: Callable[[], Result]) -> tuple[Callable[[], None], Result]:
        """Record the work; give what replays it, and what it returns, whose numbers only a replay brings."""
        ...


class GraphRecorder:
    """Records a GPU's work as CUDA graphs, on one stream and in memory that all share: no two of them run at once.

    Args:
        device: The GPU.

    Source: the PyTorch documentation, "CUDA semantics", on CUDA graphs.
    """

    def __init__(self, device: torch.device) -> None:
        self._stream, self._pool = torch.cuda.Stream(device), torch.cuda.graph_pool_handle()
        number = torch.cuda.current_device() if device.index is None else device.index
        self._generator = torch.cuda.default_generators[number]
        self._broken: Any = None

    def aside(self, work: Callable[[], Result]) -> Result:
        """Do the work as it is, on the stream of recordings: autograd remembers where a parameter was first used.

        Args:
            work: What is done.

        Returns:
            What it returned.
        """
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            result = work()
        torch.cuda.current_stream().wait_stream(self._stream)
        return result

    def record(self, work: Callable[[], Result]) -> tuple[Callable[[], None], Result]:
        """Record the work as a graph, without doing it.

        Args:
            work: What is recorded. It may not wait for a number of the GPU.

        Returns:
            What replays it, and what the work returned.

        Raises:
            RuntimeError: If the work cannot be recorded, or there is no memory for it.
        """
        before = self._generator.clone_state()
        graph = torch.cuda.CUDAGraph()
        try:
            # Another thread may make the next batch meanwhile, which is no part of the recording.
            with torch.cuda.graph(graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"):
                result = work()
        except RuntimeError:
            # A recording that breaks off leaves the generator waiting for its end: dropout would fail from now on.
            self._generator.graphsafe_set_state(before)
            self._broken = graph  # torch's allocator still knows it
            raise
        return graph.replay, result


def recorder_for(device: torch.device) -> StepRecorder | None:
    """Give what records steps on a device.

    Args:
        device: Where steps are done.

    Returns:
        A GraphRecorder on a GPU; None elsewhere, where there is nothing to record.
    """
    return GraphRecorder(device) if device.type == "cuda" else None


@dataclass
class _Recording:
    """What replays the first half for a shape, and where it reads and writes."""

    inputs: list[Tensor]
    replay: Callable[[], None]
    outputs: tuple[Tensor, ...]


class CapturedStep:
    """Two halves of a step, replayed as CUDA graphs where a batch of the same shape came before.

    The first steps of a shape are done as they are, and so are all without a recorder. Where a recording fails, this
    step and all after it are done as they are.

    Args:
        gradients: A function of a batch's tensors that leaves gradients in the parameters, in place of those that were
            there, and returns tensors: the loss, say. It may not wait for a number of the GPU.
        apply: A function that changes the weights by the gradients.
        parameters: Where gradients are left.
        recorder: What recorder_for gives.
        note: Told in a line if a recording has failed.

    Cost: the memory of the largest step, and one copy of the gradients, which all shapes leave in the same place.

    Source: the PyTorch documentation, "CUDA semantics", on capturing whole networks.
    """

    def __init__(
        self,
        gradients: Callable[..., tuple[Tensor, ...]],
        apply: Callable[[], None],
        parameters: Sequence[nn.Parameter],
        recorder: StepRecorder | None,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._gradients, self._apply, self._parameters = gradients, apply, list(parameters)
        self._recorder, self._note = recorder, note
        self._counts: dict[tuple[Any, ...], int] = {}
        self._recorded: dict[tuple[Any, ...], _Recording] = {}
        self._learning: list[nn.Parameter] = []  # those that get a gradient
        self._places: list[Tensor] = []  # where recorded steps leave it
        self._replay_apply: Callable[[], None] | None = None
        self._is_replayed = False

    def gradients(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Do the first half of a step.

        Args:
            *inputs: The batch's tensors, all on one device.

        Returns:
            What the function returned; of a recorded step in memory that the next step with such a shape writes over.
        """
        self._is_replayed = False
        if self._recorder is None:
            return self._gradients(*inputs)
        key = tuple((tensor.shape, tensor.dtype) for tensor in inputs)
        if key not in self._recorded:
            self._counts[key] = self._counts.get(key, 0) + 1
            if self._counts[key] <= _WARM or len(self._recorded) == MOST:
                return self._recorder.aside(lambda: self._gradients(*inputs))
            try:
                self._recorded[key] = self._record(self._recorder, inputs)
            except RuntimeError as error:
                self._stop_recording(error)
                return self._gradients(*inputs)
        recording, self._is_replayed = self._recorded[key], True
        for place, tensor in zip(recording.inputs, inputs, strict=True):
            place.copy_(tensor)
        recording.replay()
        self._hand_over()
        return recording.outputs

    def apply(self) -> None:
        """Do the second half, with the gradients that the first has left."""
        if not self._is_replayed or self._recorder is None:
            self._apply()
            return
        if self._replay_apply is None:  # recorded now, when the optimizer has what it keeps
            try:
                self._replay_apply, _ = self._recorder.record(self._apply)
            except RuntimeError as error:
                self._stop_recording(error)
                self._apply()
                return
        self._replay_apply()

    def _record(self, recorder: StepRecorder, inputs: Sequence[Tensor]) -> _Recording:
        places = [tensor.clone() for tensor in inputs]
        for parameter in self._parameters:
            parameter.grad = None
        replay, outputs = recorder.record(lambda: self._gradients_in_place(places))
        return _Recording(places, replay, outputs)

    def _gradients_in_place(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Compute the gradients, and leave them where the recorded second half reads them, whatever the shape."""
        outputs = self._gradients(*inputs)
        gradients = {parameter: parameter.grad for parameter in self._parameters if parameter.grad is not None}
        if not self._places:
            self._learning, self._places = [*gradients], [torch.empty_like(grad) for grad in gradients.values()]
        copy_each(self._places, [*gradients.values()])
        self._hand_over()
        return outputs

    def _hand_over(self) -> None:
        for parameter, gradient in zip(self._learning, self._places, strict=True):
            parameter.grad = gradient

    def _stop_recording(self, error: RuntimeError) -> None:
        self._recorder, self._is_replayed, self._replay_apply = None, False, None
        self._recorded.clear()
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        self._note(f"a step could not be recorded ({reason}): all steps are done unrecorded from now on")


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
