"""The same function of one rank on real processes, with torch.distributed: on gloo, or on nccl with a card for each.

nccl has not been tried: no machine with two cards was at hand.
"""

import contextlib
import datetime
import inspect
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from softlookup.ranks.in_process import as_results
from softlookup_inside.ranks.names import EVERYTHING, offered
from softlookup_inside.ranks.returning import NoResult

_JOIN_S = 5.0
"""How long a process may take to end once it has been told to."""


class ProcessError(Exception):
    """A rank that ends with an exception, ends its process, or does not end in time; the message says which."""


def run_on_torch(
    function: Callable[..., Any], inputs: Sequence[Sequence[Any]], seconds: float = 60.0
) -> list[tuple[np.ndarray, ...]]:
    """Run a program on real processes, one for each rank, which talk to each other on this machine alone.

    Args:
        function: What one rank does: takes the rank's inputs, then ``dist``. It returns an array, several, or None.
            Where the system cannot fork, it must stand in a file.
        inputs: The inputs of each rank.
        seconds: How long all of it may take.

    Returns:
        The results of each rank.

    Raises:
        ProcessError: If a rank raises, ends its process, or does not end in time. All processes have ended then.
        ImportError: If torch is not installed.
    """
    if find_spec("torch") is None:
        raise ImportError("torch is not installed, and real processes talk to each other by torch.distributed")
    world = len(inputs)
    # A function of a notebook can be handed to a fork alone; macOS forks, but its own libraries do not bear it.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pipes = [context.Pipe() for _ in inputs]
    with tempfile.TemporaryDirectory() as folder:
        arguments = [(function, args, rank, world, folder, seconds) for rank, args in enumerate(inputs)]
        processes = [
            context.Process(target=_rank, args=(pipe[1], *some), daemon=True)  # type: ignore[attr-defined]
            for pipe, some in zip(pipes, arguments, strict=True)
        ]
        try:
            with warnings.catch_warnings():
                # The child uses one thread of torch's, and none of the notebook's.
                warnings.filterwarnings("ignore", message=".*fork.*", category=DeprecationWarning)
                for process in processes:
                    process.start()
            for _, end in pipes:
                end.close()
            return _gathered([here for here, _ in pipes], seconds)
        finally:
            for here, _ in pipes:
                here.close()  # which ends the process, unless it is at work
            for process in processes:
                if process.pid is not None:
                    _end(process)


def _end(process: Any) -> None:
    process.join(0.2)
    if process.is_alive():
        process.terminate()
        process.join(_JOIN_S)
    if process.is_alive():
        process.kill()
        process.join()
    process.close()


def _gathered(pipes: Sequence[Any], seconds: float) -> list[tuple[np.ndarray, ...]]:
    """The results of all ranks, as they come."""
    until = time.monotonic() + seconds
    results: dict[int, tuple[np.ndarray, ...]] = {}
    while len(results) < len(pipes):
        running = [pipe for rank, pipe in enumerate(pipes) if rank not in results]
        ready = wait(running, max(0.0, until - time.monotonic()))
        if not ready:
            late = ", ".join(str(rank) for rank in range(len(pipes)) if rank not in results)
            raise ProcessError(f"after {seconds:g} s these ranks have not ended: {late}. Do they wait for each other?")
        for rank in [rank for rank, pipe in enumerate(pipes) if pipe in ready]:
            try:
                error, arrays = pipes[rank].recv()
            except (EOFError, ConnectionError):
                raise ProcessError(f"the process of rank {rank} has ended without a result") from None
            if error:
                raise ProcessError(f"rank {rank} raises {error}")
            results[rank] = arrays
    return [results[rank] for rank in range(len(pipes))]


def _rank(
    pipe: Connection,
    function: Callable[..., Any],
    args: Sequence[Any],
    rank: int,
    world: int,
    folder: str,
    seconds: float,
) -> None:
    """One rank's process: from the first to the last message."""
    import torch
    from torch import distributed

    torch.set_num_threads(1)
    on_cards = torch.cuda.is_available() and torch.cuda.device_count() >= world
    device = torch.device("cuda", rank) if on_cards else torch.device("cpu")
    if sys.platform in ("linux", "darwin"):
        os.environ["GLOO_SOCKET_IFNAME"] = "lo" if sys.platform == "linux" else "lo0"
    try:
        distributed.init_process_group(
            "nccl" if on_cards else "gloo",
            init_method=(Path(folder) / "store").as_uri(),
            rank=rank,
            world_size=world,
            timeout=datetime.timedelta(seconds=seconds),
        )
        result = function(*args, TorchDist(device))
        message: tuple[str, tuple[np.ndarray, ...]] = ("", as_results(result))
    except BaseException as error:
        text = str(error).strip()
        message = (f"{type(error).__name__}: {text.splitlines()[0][:300]}" if text else type(error).__name__, ())
    with contextlib.suppress(EOFError, OSError):
        pipe.send(message)
        # Others may still be talking to this one: it stays until all have ended.
        pipe.recv()
    # No clearing up: a peer that is gone already would make it wait.
    os._exit(0)


class TorchDist:
    """What a rank calls, on torch.distributed: the same names as ``inside.dist.Dist``, for numpy arrays and tensors.

    ``device`` is where the tensors of messages lie.
    """

    def __init__(self, device: Any) -> None:
        from torch import distributed

        self._distributed, self._device = distributed, device

    def __getattr__(self, name: str) -> Any:
        if name not in offered(EVERYTHING):
            raise AttributeError(f"dist has no {name!r}")
        function = getattr(self._distributed, name)
        return function if inspect.isclass(function) and name != "P2POp" else partial(self._call, name, function)

    def _call(self, name: str, function: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        """Call torch with tensors in place of arrays; what it fills is put into the arrays once it has ended."""
        tensors: list[tuple[Any, np.ndarray]] = []
        torch_args, torch_keywords = self._on_device(args, tensors), self._on_device(keywords, tensors)
        with warnings.catch_warnings():
            # torch 2.13 has begun to rename some; those before it know these names alone.
            warnings.filterwarnings("ignore", message=".*is deprecated", category=FutureWarning)
            result = function(*torch_args, **torch_keywords)
        if name == "P2POp":
            return TorchMessage(result, tensors)
        if name == "batch_isend_irecv":
            messages = args[0] if args else keywords["p2p_op_list"]
            # nccl gives one handle for all messages.
            of_all = [pair for message in messages for pair in message.tensors]
            return [TorchPending(handle, of_all) for handle in result]
        if hasattr(result, "wait"):
            return TorchPending(result, tensors)
        _back(tensors)
        return NoResult(name) if result is None else result

    def _on_device(self, value: Any, tensors: list[tuple[Any, np.ndarray]]) -> Any:
        """Arguments as torch takes them; arrays and their tensors are added to a list."""
        if isinstance(value, list | tuple):
            return type(value)([self._on_device(item, tensors) for item in value])
        if isinstance(value, dict):
            return {key: self._on_device(item, tensors) for key, item in value.items()}
        if isinstance(value, TorchMessage):
            return value.message
        if isinstance(value, partial):  # dist.isend or dist.irecv, in a P2POp
            return value.args[1]
        if not isinstance(value, np.ndarray):
            return value
        import torch

        if not value.flags.c_contiguous:
            raise ValueError("an array of a message is not in one piece in memory: take np.ascontiguousarray")
        tensor = torch.from_numpy(value if value.flags.writeable else value.copy()).to(self._device)
        if self._device.type != "cpu":
            tensors.append((tensor, value))
        return tensor


class TorchMessage:
    """A message of ``batch_isend_irecv``.

    ``message`` is torch's; ``tensors`` lie on a card, each with the array that it is for.
    """

    def __init__(self, message: Any, tensors: list[tuple[Any, np.ndarray]]) -> None:
        self.message, self.tensors = message, tensors


class TorchPending:
    """A message on its way.

    ``handle`` is what torch.distributed gave; ``tensors`` lie on a card, each with the array that it is for.
    """

    def __init__(self, handle: Any, tensors: list[tuple[Any, np.ndarray]]) -> None:
        self._handle, self._tensors = handle, tensors

    def wait(self, *timeout: Any) -> bool:
        """Wait until the message has arrived, or as long as torch's ``timeout`` says."""
        self._handle.wait(*timeout)
        _back(self._tensors)
        return True

    def is_completed(self) -> bool:
        """Whether the message has arrived."""
        return self._handle.is_completed() and self.wait()


def _back(tensors: Sequence[tuple[Any, np.ndarray]]) -> None:
    """Put what a card received into the arrays; on the CPU both are the same memory."""
    for tensor, array in tensors:
        if array.flags.writeable:
            array[...] = tensor.cpu().numpy()
