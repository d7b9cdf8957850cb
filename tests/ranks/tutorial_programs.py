"""Programs in the style of PyTorch's tutorials, on tensors and on numpy arrays: each is what one rank does.

Each takes an array ``x`` of 4 numbers that differs between ranks, and returns arrays or tensors.
"""

from typing import Any

import numpy as np
import torch


def blocking(x: Any, dist: Any) -> Any:
    tensor = torch.zeros(1)
    if dist.get_rank() == 0:
        tensor += 1
        dist.send(tensor=tensor, dst=1)
    elif dist.get_rank() == 1:
        dist.recv(tensor=tensor, src=0)
    return tensor


def not_blocking(x: Any, dist: Any) -> Any:
    tensor, request = torch.zeros(1), None
    if dist.get_rank() == 0:
        tensor += 1
        request = dist.isend(tensor=tensor, dst=1)
    elif dist.get_rank() == 1:
        request = dist.irecv(tensor=tensor, src=0)
    if request is not None:
        request.wait()
    return tensor


def gradient_averaging(x: Any, dist: Any) -> Any:
    torch.manual_seed(1234)
    model = torch.nn.Linear(4, 1)
    model(torch.as_tensor(x, dtype=torch.float32)).sum().backward()
    size = float(dist.get_world_size())
    for param in model.parameters():
        dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)
        param.grad.data /= size
    return tuple(param.grad for param in model.parameters())


def ring_all_reduce(x: Any, dist: Any) -> Any:
    """The tutorial's ring, with its two buffers."""
    send, recv = torch.zeros_like(torch.as_tensor(x)), torch.zeros(4, dtype=torch.float64)
    rank, size = dist.get_rank(), dist.get_world_size()
    send_buff, recv_buff, accum = torch.as_tensor(x).clone(), torch.as_tensor(x).clone(), torch.as_tensor(x).clone()
    left, right = ((rank - 1) + size) % size, (rank + 1) % size
    for i in range(size - 1):
        if i % 2 == 0:
            send_req = dist.isend(send_buff, right)
            dist.recv(recv_buff, left)
            accum[:] += recv_buff[:]
        else:
            send_req = dist.isend(recv_buff, right)
            dist.recv(send_buff, left)
            accum[:] += send_buff[:]
        send_req.wait()
    return accum, send, recv


def ring_of_batches(x: Any, dist: Any) -> Any:
    rank, world = dist.get_rank(), dist.get_world_size()
    received = torch.zeros(4, dtype=torch.float64)
    operations = [
        dist.P2POp(dist.isend, torch.as_tensor(x), (rank + 1) % world),
        dist.P2POp(dist.irecv, received, peer=(rank - 1) % world),
    ]
    for request in dist.batch_isend_irecv(operations):
        request.wait()
    return received


def scatter_and_gather(x: Any, dist: Any) -> Any:
    rank, world = dist.get_rank(), dist.get_world_size()
    part = np.zeros(2)
    dist.scatter(part, [np.arange(2.0) + 10 * other for other in range(world)] if rank == 1 else None, src=1)
    gathered = [np.zeros(2) for _ in range(world)] if rank == 0 else None
    dist.gather(part + rank, gather_list=gathered, dst=0)
    return (part, *(gathered or ()))


def reductions(x: Any, dist: Any) -> Any:
    results = []
    for op in (dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT, dist.ReduceOp.AVG, dist.ReduceOp.SUM):
        array = np.array(x)
        dist.all_reduce(array, op=op)
        part = np.zeros(4 // dist.get_world_size())
        dist.reduce_scatter_single(part, np.array(x), op)
        results += [array, part]
    total = np.array(x)
    dist.reduce(total, dst=1, op=dist.ReduceOp.SUM)
    return (*results, total if dist.get_rank() == 1 else np.array(x))


def lists(x: Any, dist: Any) -> Any:
    rank, world = dist.get_rank(), dist.get_world_size()
    everything = [torch.zeros(4, dtype=torch.float64) for _ in range(world)]
    dist.all_gather(everything, torch.as_tensor(x))
    parts = list(torch.as_tensor(x).chunk(world))
    exchanged = [torch.zeros_like(part) for part in parts]
    dist.all_to_all(exchanged, parts)
    reduced = torch.zeros_like(parts[0])
    dist.reduce_scatter(reduced, parts)
    return (*everything, *exchanged, reduced, np.array(rank))


def all_at_once(x: Any, dist: Any) -> Any:
    arrays = [np.array(x) + step for step in range(3)]
    works = [dist.all_reduce(array, async_op=True) for array in arrays]
    gathered = np.zeros(4 * dist.get_world_size())
    work = dist.all_gather_into_tensor(gathered, np.array(x), async_op=True)
    for each in works:
        each.wait()
    while not work.is_completed():
        pass
    dist.barrier()
    return (*arrays, gathered)


def unequal_parts(x: Any, dist: Any) -> Any:
    """Rank r sends one row to rank 0 and the rest of its rows to the last rank, as experts do."""
    rank, world = dist.get_rank(), dist.get_world_size()
    rows = np.arange(8.0).reshape(4, 2) + np.array(x)[0]
    sizes = [1] + [0] * (world - 2) + [3]
    arrive = world if rank == 0 else 3 * world if rank == world - 1 else 0
    received = np.zeros((arrive, 2))
    dist.all_to_all_single(
        received, rows, output_split_sizes=[arrive // world] * world, input_split_sizes=sizes, group=None
    )
    return received


def groups(x: Any, dist: Any) -> Any:
    group = dist.new_group([0, 1])
    array, spread = np.array(x), np.array(x)
    if dist.get_rank() < 2:
        dist.all_reduce(array, group=group)
        dist.broadcast(spread, group_src=1, group=group)
    return array, spread, np.array(dist.get_process_group_ranks(group)), np.array(dist.get_global_rank(group, 1))


TUTORIALS = (
    *(blocking, not_blocking, gradient_averaging, ring_all_reduce, ring_of_batches, scatter_and_gather, reductions),
    *(lists, all_at_once, unequal_parts, groups),
)


def all_tutorials(x: Any, dist: Any) -> tuple[np.ndarray, ...]:
    """All of them, one after the other, so that two processes are started once."""
    results: list[np.ndarray] = []
    for program in TUTORIALS:
        result = program(x, dist)
        results += [np.asarray(torch.as_tensor(each)) for each in (result if isinstance(result, tuple) else (result,))]
    return tuple(results)
