"""Functions of earlier tasks that the judge lends: called in a submission, computed outside, gradients too."""

import contextlib
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from softlookup_inside.asking.answers import is_tensor
from softlookup_inside.sandbox import frames

Ask = Callable[[dict[str, Any], list[np.ndarray]], tuple[dict[str, Any], list[np.ndarray]]]


def stand_in(task_id: str, ask: Ask, in_torch: bool = False) -> Callable[..., Any]:
    """Make what stands in for an earlier task's function, gradients too; ``in_torch``: numbers give tensors."""

    def call(*args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        tensors = [value for value in values if is_tensor(value)]
        if not tensors:
            result = _asked(task_id, ask, args, kwargs)
            return (
                _in_torch(result) if in_torch and not any(isinstance(value, np.ndarray) for value in values) else result
            )
        import torch

        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            return _traced(task_id, ask, args, kwargs)
        return _in_torch(_asked(task_id, ask, _plain(args), _plain_named(kwargs)))

    return call


def _asked(
    task_id: str, ask: Ask, args: Sequence[Any], kwargs: dict[str, Any], upstream: Sequence[np.ndarray] | None = None
) -> Any:
    arrays: list[np.ndarray] = []
    try:
        header = {
            "call": task_id,
            "args": frames.plain(list(args), arrays),
            "named": frames.plain(dict(kwargs), arrays),
            "upstream": None if upstream is None else frames.plain(list(upstream), arrays),
        }
    except frames.FrameError as error:
        raise TypeError(
            f"the function of task {task_id} was given something else than arrays and numbers: {error}"
        ) from None
    with _without_alarms():
        reply, back = ask(header, arrays)
    if "raised" in reply:
        raise RuntimeError(str(reply["raised"]))
    return frames.value_of(reply.get("result"), back)


@contextlib.contextmanager
def _without_alarms() -> Iterator[None]:
    """Let the time limit wait for the judge's answer, which has a deadline: half of one would stay on the line."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _plain(args: Sequence[Any]) -> list[Any]:
    return [value.detach().cpu().numpy() if is_tensor(value) else value for value in args]


def _plain_named(kwargs: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(kwargs, _plain(list(kwargs.values())), strict=True))


def _in_torch(result: Any) -> Any:
    import torch

    if isinstance(result, tuple):
        return tuple(_in_torch(item) for item in result)
    return torch.from_numpy(result) if isinstance(result, np.ndarray) else result


def _traced(task_id: str, ask: Ask, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The same with a gradient: the way back asks the judge once more."""
    import torch

    names = list(kwargs)
    values = [*args, *kwargs.values()]
    many: list[bool] = []

    class StandInFunction(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            plain = _plain(inputs)
            ctx.plain = plain
            result = _asked(task_id, ask, plain[: len(args)], dict(zip(names, plain[len(args) :], strict=True)))
            many.append(isinstance(result, tuple))
            return _in_torch(result)

        @staticmethod
        def backward(ctx: Any, *upstream: Any) -> Any:
            plain = ctx.plain
            back = _asked(
                task_id,
                ask,
                plain[: len(args)],
                dict(zip(names, plain[len(args) :], strict=True)),
                [gradient.detach().numpy() for gradient in upstream],
            )
            return tuple(_in_torch(gradient) for gradient in back)

    return StandInFunction.apply(*values)
