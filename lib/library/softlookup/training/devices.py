"""One run on several processes, a device for each: torch's engines, and what a rank does differently.

A process is a rank of torch's process group. Every rank makes the same batches and takes a share of each. Weights are
whole on every rank (DistributedDataParallel), cut (fully_shard, ZeRO stage 3), or computed with in parts (grid.py); the
gradient is that of all shares.
"""

import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing import get_context, start_processes

from softlookup.model.parts.layers import Layer
from softlookup.training.data import Batch

_LAST_WORDS_S = 5.0
"""How long processes may take to end once one has failed, so that the first to fail is known by its exit status."""

Work = Callable[[torch.device, Callable[[Any], None]], Any]


class RankLostError(RuntimeError):
    """A rank's process that ended before the run did; the message names the rank."""


def share_of(batch: Batch, rank: int, world: int) -> tuple[Batch, float]:
    """Give a rank's rows of a batch, every world-th from its number on, padded as they were, and 1.0.

    Where there are fewer rows than ranks, a rank without any gets the first row and 0.0, the weight of its loss: all
    ranks have to take part in a step's messages.
    """
    if rank >= len(batch.target_ids):
        rows, weight = slice(0, 1), 0.0
    else:
        rows, weight = slice(rank, None, world), 1.0
    source = None if batch.source_ids is None else batch.source_ids[rows]
    return Batch(batch.target_ids[rows], source, batch.pad_id), weight


def on_grid(model: nn.Module) -> bool:
    """Tell whether grid.cut_layers has divided a model's layers among ranks."""
    mesh = getattr(next(model.parameters()), "device_mesh", None)
    return mesh is not None and mesh.ndim == 2


def place_of(model: nn.Module) -> tuple[int, int]:
    """Give the number of this rank's share of a batch, from 0, and how many shares there are.

    On a grid, the ranks of a row compute with the same rows of the batch; elsewhere each has other ones.
    """
    if not on_grid(model):
        return dist.get_rank(), dist.get_world_size()
    mesh: Any = getattr(next(model.parameters()), "device_mesh")  # noqa: B009  a DTensor has it
    return mesh.get_local_rank(0), mesh.size(0)


class SharedLoss(nn.Module):
    """The summed loss of this rank's share, such that the mean of all ranks' gradients is that of the whole batch.

    The model is whole, or cut by shard or grid.cut_layers; ``objective`` takes (model, batch, epsilon) to the sum of
    losses over a batch's labels.
    """

    def __init__(self, model: nn.Module, objective: Callable[[nn.Module, Batch, float], Tensor]) -> None:
        super().__init__()
        self.model, self.objective = model, objective
        self.share, self.shares = place_of(model)

    def forward(self, batch: Batch, epsilon: float) -> Tensor:
        """Give the loss of the share times the number of shares: engines take means, and the loss is a sum."""
        rank_batch, weight = share_of(batch, self.share, self.shares)
        loss: Tensor = self.objective(self.model, rank_batch, epsilon)
        return loss * (weight * self.shares)


def joined(model: nn.Module, objective: Callable[[nn.Module, Batch, float], Tensor]) -> nn.Module:
    """Give the loss of a rank's share, whose backward pass leaves the gradient of the whole batch on the model.

    ``objective`` as in SharedLoss. The model is on this rank's device; one that shard has cut sends its own messages,
    one that grid.cut_layers has cut needs grid.add_gradients after the backward pass.
    """
    loss = SharedLoss(model, objective)
    if any(hasattr(parameter, "full_tensor") for parameter in model.parameters()):
        return loss
    return nn.parallel.DistributedDataParallel(loss)


def shard(model: nn.Module) -> None:
    """Cut a model's weights among all ranks, layer by layer, each gathered where it computes; before its optimizer.

    It is the same on all ranks; call it by its forward method from now on.

    Source: Rajbhandari et al. 2020 (ZeRO, stage 3); Zhao et al. 2023 (FSDP).
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(next(model.parameters()).device.type, (dist.get_world_size(),))
    for part in [part for part in model.modules() if isinstance(part, Layer)] + [model]:
        # The outermost part too: after a validation pass its weights would otherwise stay whole.
        fully_shard(part, mesh=mesh, reshard_after_forward=True)


@contextmanager
def own_dropout(device: torch.device, share_index: int) -> Iterator[None]:
    """Draw other random numbers for each share of a batch in a block, from a seed that all ranks draw alike.

    After the block the generators are the same on all ranks again: one state of them continues the run.
    """
    seed = int(torch.randint(2**31, ()))
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed + share_index)
        yield


def mean_over_ranks(value: Tensor) -> Tensor:
    """Give the mean of a number over all ranks, the same on each."""
    total = value.detach().clone()
    dist.all_reduce(total)
    return total / dist.get_world_size()


def agreed(value: float) -> float:
    """Give rank 0's number on all ranks: what is decided by it is decided alike."""
    on_cards = dist.get_backend() == "nccl"
    tensor = torch.tensor(value, dtype=torch.float64, device="cuda" if on_cards else "cpu")
    dist.broadcast(tensor, 0)
    return float(tensor)


def run_on_ranks(rank_function: Work, world: int, device: str, hear: Callable[[Any], None]) -> Any:
    """Run a function on several processes of this machine, with gloo between CPUs and nccl between GPUs.

    nccl has not been tried: no machine with two GPUs was at hand.

    ``rank_function`` can be pickled, and is called on each of ``world`` ranks with its device and with tell; ``hear``
    is called here with what rank 0 tells, in its order, and ends the processes if it raises. ``device`` is cpu, or cuda
    for a GPU each. Gives what rank 0 returned, or raises what a rank raised first; RankLostError if a process is killed
    or ends before all have.
    """
    context = get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    threads = max(1, torch.get_num_threads() // world)
    with tempfile.TemporaryDirectory() as folder:
        store = (Path(folder) / "store").as_uri()
        arguments = (rank_function, world, device, store, threads, writer, context.Lock())
        started = start_processes(_rank, arguments, nprocs=world, join=False, start_method="spawn")
        writer.close()
        try:
            return _result(reader, started.processes, hear)
        finally:
            for process in started.processes:
                process.kill()
                process.join()
            reader.close()


def _result(reader: Connection, processes: list[Any], hear: Callable[[Any], None]) -> Any:
    while True:
        running = [process.sentinel for process in processes if process.exitcode is None]
        if reader in wait([reader, *running]):
            try:
                message_type, content = reader.recv()
            except EOFError:
                for process in processes:
                    process.join(_LAST_WORDS_S)
                raise _lost(processes) from None
            if message_type == "end":
                return content
            if message_type == "error":
                _raise(content, processes)
            hear(content)
        elif any(process.exitcode for process in _ended(processes, 0.0)):
            raise _lost(processes)


def _ended(processes: list[Any], seconds: float) -> list[Any]:
    """Wait until a process has ended, for some seconds at most; give those that have, whose exit status is there."""
    ready = wait([process.sentinel for process in processes], seconds)
    ended = [process for process in processes if process.sentinel in ready]
    for process in ended:
        # The system closes a process's files, and with them its sentinel, before the exit status can be read.
        process.join()
    return ended


def _raise(error: Exception, processes: list[Any]) -> None:
    """Raise what a rank raised, unless that was only the loss of another one."""
    until, running = time.monotonic() + _LAST_WORDS_S, processes
    while isinstance(error, RuntimeError) and running and (remaining_s := until - time.monotonic()) > 0:
        ended = _ended(running, remaining_s)
        if any(process.exitcode < 0 for process in ended):
            raise _lost(processes) from error
        running = [process for process in running if process not in ended]
    raise error


def _lost(processes: list[Any]) -> RankLostError:
    ended = {rank: process.exitcode for rank, process in enumerate(processes) if process.exitcode}
    # Those that a signal ended come first: others fail because they are gone.
    rank, status = min(ended.items(), key=lambda item: item[1], default=(0, 0))
    how = f"was killed ({signal.Signals(-status).name})" if status < 0 else f"ended with status {status}"
    return RankLostError(f"Rank {rank} of {len(processes)} {how}, and the others were stopped.")


def _rank(
    rank: int, rank_function: Work, world: int, device: str, store: str, threads: int, writer: Connection, lock: Any
) -> None:
    """One process, from its start to its end."""
    torch.set_num_threads(threads)
    if sys.platform in ("linux", "darwin"):  # all ranks are here, whatever the machine's name resolves to
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
    on_cards = device == "cuda"
    rank_device = torch.device(device, rank) if on_cards else torch.device(device)
    if on_cards:
        torch.cuda.set_device(rank_device)
    dist.init_process_group(
        "nccl" if on_cards else "gloo",
        init_method=store,
        rank=rank,
        world_size=world,
        device_id=rank_device if on_cards else None,
    )

    def send(message_type: str, content: Any) -> None:
        with lock:
            writer.send((message_type, content))

    def tell(content: Any) -> None:
        if rank == 0:
            send("told", content)

    try:
        result = rank_function(rank_device, tell)
    except Exception as error:
        error.add_note(f"On rank {rank}:\n{traceback.format_exc()}")
        send("error", error)
        raise SystemExit(1) from None
    dist.barrier()
    if rank == 0:
        send("end", result)
    dist.destroy_process_group()
