"""What all benchmarks have in common: the sizes that they run with, and what they ran on.

A benchmark is a function that gives a record: a frozen dataclass, or plain values by name, whose fields become keys of
JSON in their order. ``benchmark`` picks its sizes (whole or quick, by the device), and adds to its record the name, the
machine, how busy that was, and torch's version.
"""

import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any

ADDED = ("bench", "device", "machine", "load_average", "torch", "cores_of_the_machine")
"""Fields that tell where a record comes from; records that were kept before have some of them."""

ROOT = Path(__file__).resolve().parents[1]
"""The checkout: what a benchmark runs in a process of its own finds this package there."""

Measure = Callable[..., dict[str, Any]]


def benchmark(
    name: str, whole: Any = None, *, quick: Any = None, cuda: Any = None, cuda_quick: Any = None
) -> Callable[[Callable[..., Any]], Measure]:
    """Make a benchmark of a function: one that takes ``quick`` in place of sizes.

    ``name`` is what the record calls it. ``whole`` are the sizes of the whole run, which the function takes first, None
    where it takes none; ``quick`` those of a run of seconds, which shows the record's shape and measures nothing worth
    keeping; ``cuda`` and ``cuda_quick`` those of both on a GPU, where they are others.

    Arguments that several benchmarks have: ``device`` is where to compute, ``runs_file`` where runs are kept as they
    are done, so that an interrupted bench goes on from there, and ``say`` takes a line about each.
    """

    def made(measure: Callable[..., Any]) -> Measure:
        @wraps(measure)
        def run(*args: Any, **options: Any) -> dict[str, Any]:
            device = str(options.get("device", "cpu"))
            if whole is not None:
                on_gpu = device != "cpu"
                if options.pop("quick", False):
                    sizes = cuda_quick if on_gpu and cuda_quick is not None else quick
                else:
                    sizes = cuda if on_gpu and cuda is not None else whole
                args = (sizes, *args)
            busy = load()
            record = measure(*args, **options)
            return {"bench": name, **surroundings(device), "load_average": busy, **plain(record)}

        return run

    return made


def plain(value: Any) -> Any:
    """What JSON can hold: the fields of dataclasses by name, lists in place of tuples."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(entry) for name, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def measured(record: Mapping[str, Any]) -> set[str]:
    """The fields of a record that a benchmark itself gives: kept records and new ones have the same."""
    return set(record) - set(ADDED)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch compute on so many threads, at least 1."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def one_thread() -> AbstractContextManager[None]:
    """Let torch compute on one thread: then the clock of the thread tells a disturbed time."""
    return threads(1)


def load() -> float | None:
    """How busy the machine was in the last minute, where the system tells: processes that run or wait to run."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def surroundings(device: str) -> dict[str, Any]:
    """What a measurement was made on, without the names of anybody."""
    facts: dict[str, Any] = {"device": device, "machine": machine(device)}
    if "torch" in sys.modules:
        facts["torch"] = sys.modules["torch"].__version__
    return facts


def machine(device: str = "cpu") -> str:
    """Say which processor and system this is, how many cores may be used of those that there are, and which GPU.

    All of it is in one line, with the number of torch's threads and Python's version.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    description = f"{platform.machine()}, {platform.system()}, {cores} cores of {os.cpu_count()}"
    if "torch" in sys.modules:
        torch = sys.modules["torch"]
        description += f", {torch.get_num_threads()} threads"
        if torch.device(device).type == "cuda":
            return f"{description}, Python {platform.python_version()}, {torch.cuda.get_device_name(device)}"
    return f"{description}, Python {platform.python_version()}"
