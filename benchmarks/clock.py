"""Timing on a machine that others use too: a roof is measured beside every point, and what was disturbed is left out.

On a CPU the clock on the wall is compared with the time that this thread was really given. Where the two differ,
somebody else had the processor, and the try does not count. Nothing shows who shared the memory; that is what
measuring the roof in between is for.
"""

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

WAITED_AT_MOST = 0.02
"""A try counts if no more than this share of its time went to somebody else."""
TRIES = 8
"""How often a point is tried in one round before a disturbed time is taken."""


@dataclass(frozen=True)
class Timed:
    """One time of one computation.

    Attributes:
        seconds: On the wall.
        waited: The share of it in which this thread had no processor; 0 on a GPU, where it cannot be known.
        tries: How often it was tried.
    """

    seconds: float
    waited: float
    tries: int

    @property
    def quiet(self) -> bool:
        """Whether the processor was ours."""
        return self.waited <= WAITED_AT_MOST


def timed(call: Callable[[], object], *, repeats: int = 1, wait: Callable[[], object] | None = None) -> Timed:
    """Time a computation, again and again until the processor was ours, but not for ever.

    The call works in this thread alone, ``repeats`` times in one go, where it is too short for the clock; ``wait``
    waits for the device (None: a CPU). Gives the first undisturbed time, for one call, or the least disturbed of all
    tries. ValueError if repeats is below 1.
    """
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}, wanted 1 or more")
    best: Timed | None = None
    for n_try in range(1, TRIES + 1):
        if wait is not None:
            wait()
        own_s, begun_s = time.thread_time(), time.perf_counter()
        for _ in range(repeats):
            call()
        if wait is not None:
            wait()
        wall_s, used_s = time.perf_counter() - begun_s, time.thread_time() - own_s
        waited = 0.0 if wait is not None else max(0.0, 1 - used_s / wall_s)
        now = Timed(wall_s / repeats, waited, n_try)
        if best is None or now.waited < best.waited:
            best = now
        if now.quiet:
            break
    assert best is not None
    return Timed(best.seconds, best.waited, n_try)


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles, and how many values there were; ValueError if there is none."""
    if not values:
        raise ValueError("got no values; wanted at least one")
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    return {"median": middle, "low": low, "high": high, "n": len(values)}


def last_cache_bytes() -> int | None:
    """Size of the largest cache that Linux names for the first processor; None where it names none."""
    sizes = []
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = file.read_text().strip()
        unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
        digits = text.rstrip("KM")
        if digits.isdigit():
            sizes.append(int(digits) * unit)
    return max(sizes, default=None)


def memory_bytes() -> int:
    """The machine's main memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def stolen_s() -> float | None:
    """Seconds since boot in which the host gave this virtual machine's processors to others; None where unknown."""
    file = Path("/proc/stat")
    if not file.is_file():
        return None
    fields = file.read_text().split("\n", 1)[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK") if len(fields) > 8 else None


def machine_words(device: str = "cpu") -> str:
    """What a measurement was made on, without the names of anybody."""
    if device != "cpu":
        import torch

        return torch.cuda.get_device_name(device)
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.is_file() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or platform.machine()}, one core of {os.cpu_count()}"


def note(**values: Any) -> dict[str, Any]:
    """Round floats to four digits, so that a record stays short."""
    return {key: float(f"{value:.4g}") if isinstance(value, float) else value for key, value in values.items()}
