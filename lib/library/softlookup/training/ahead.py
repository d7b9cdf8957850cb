"""Batches made and moved while the step before them computes."""

from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor

import torch

from softlookup.training.data import Batch

_WAITING = 3  # batches that are ready, or being made


def ahead(batches: Iterator[Batch], device: torch.device) -> Generator[tuple[Batch, int], None, None]:
    """Give batches on a device, with how many labels of each count.

    For a GPU they are made by a thread, and copied from pinned memory: neither the CPU nor the GPU waits for the copy.

    The labels are counted before a batch is moved.
    """
    if device.type != "cuda":
        for batch in batches:
            yield batch.to(device), batch.tokens
        return

    def next_one() -> tuple[Batch, int] | None:
        batch = next(batches, None)
        return None if batch is None else (batch.to(device, pinned=True), batch.tokens)

    with ThreadPoolExecutor(max_workers=1) as thread:
        waiting = deque(thread.submit(next_one) for _ in range(_WAITING))
        while (ready := waiting.popleft().result()) is not None:
            waiting.append(thread.submit(next_one))
            yield ready
