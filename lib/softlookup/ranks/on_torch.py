"""The same function of one rank on real processes, with torch.distributed: on gloo, or on nccl with a card for each.

nccl has not been tried: no machine with two cards was at hand.
"""

import contextlib
import datetime
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

_JOIN_S = 5.0
"""How long a process may take to end once it has been told to."""

_COLLECTIVES = ("all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single")
"""Collectives with an output and an input."""


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
        many = () if result is None else result if isinstance(result, tuple) else (result,)
        message: tuple[str, tuple[np.ndarray, ...]] = ("", tuple(map(np.array, many)))
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
    """What a rank calls, on torch.distributed: the same methods as ``inside.dist.Dist``, for the same numpy arrays.

    Args:
        device: Where the tensors of messages lie.
    """

    def __init__(self, device: Any) -> None:
        from torch import distributed

        self._distributed, self._device = distributed, device

    def get_rank(self, group: Any = None) -> int:
        """The rank's number, from 0; in a group its number there, or -1 outside of it."""
        return self._distributed.get_rank(group)

    def get_world_size(self, group: Any = None) -> int:
        """How many ranks there are, or belong to a group."""
        return self._distributed.get_world_size(group)

    def new_group(self, ranks: Sequence[int]) -> Any:
        """Make a group of ranks; waits until all ranks of the world have called it, also those outside of the group."""
        return self._distributed.new_group(sorted(ranks))

    def send(self, array: np.ndarray, dst: int) -> None:
        """Send an array."""
        self._distributed.send(self._tensor(array), dst)

    def recv(self, array: np.ndarray, src: int) -> int:
        """Receive into an array."""
        tensor = self._tensor(array)
        self._distributed.recv(tensor, src)
        self._back(tensor, array)
        return src

    def isend(self, array: np.ndarray, dst: int) -> "TorchPending":
        """Send an array, and go on."""
        tensor = self._tensor(array)
        return TorchPending(self._distributed.isend(tensor, dst), lambda: tensor)

    def irecv(self, array: np.ndarray, src: int) -> "TorchPending":
        """Receive into an array, which is filled when ``wait`` ends."""
        tensor = self._tensor(array)
        return TorchPending(self._distributed.irecv(tensor, src), lambda: self._back(tensor, array))

    def broadcast(self, array: np.ndarray, src: int, group: Any = None) -> None:
        """Fill the array of all ranks with that of ``src``, a rank of the world."""
        tensor = self._tensor(array)
        self._distributed.broadcast(tensor, src, group=group)
        self._back(tensor, array)

    def all_reduce(self, array: np.ndarray, group: Any = None) -> None:
        """Replace the array of all ranks by their sum."""
        tensor = self._tensor(array)
        self._distributed.all_reduce(tensor, group=group)
        self._back(tensor, array)

    def barrier(self, group: Any = None) -> None:
        """Wait until all ranks have come here."""
        self._distributed.barrier(group)

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name not in _COLLECTIVES:
            raise AttributeError(f"dist has no {name!r}")

        def collective(output: np.ndarray, input: np.ndarray, group: Any = None) -> None:
            tensor = self._tensor(output)
            with warnings.catch_warnings():
                # torch 2.13 has begun to rename them; those before it know these names alone.
                warnings.filterwarnings("ignore", message=".*is deprecated", category=FutureWarning)
                getattr(self._distributed, name)(tensor, self._tensor(input), group=group)
            self._back(tensor, output)

        return collective

    def _tensor(self, array: np.ndarray) -> Any:
        import torch

        if not array.flags.c_contiguous:
            raise ValueError("an array of a message is not in one piece in memory: take np.ascontiguousarray")
        return torch.from_numpy(array if array.flags.writeable else array.copy()).to(self._device)

    def _back(self, tensor: Any, array: np.ndarray) -> None:
        """Put what a card received into the array; on the CPU both are the same memory."""
        if self._device.type != "cpu":
            array[...] = tensor.cpu().numpy()


class TorchPending:
    """A message on its way.

    Args:
        work: What torch.distributed gave.
        end: What is done when it has arrived.
    """

    def __init__(self, work: Any, end: Callable[[], Any]) -> None:
        self._work, self._end = work, end

    def wait(self) -> None:
        """Wait until the message has arrived."""
        self._work.wait()
        self._end()
