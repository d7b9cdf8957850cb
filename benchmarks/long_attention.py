"""Full, tiled, local and linear attention as texts grow: ``softlookup bench long-attention``.

The same queries, keys and values go through each. Times are the median of some calls (on a CPU the time of the
processor, with one thread), memory is what was held at most beyond what was there before. Where two must give equal
numbers, it is said how far apart they are.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.harness import benchmark, one_thread
from softlookup.model.parts.attention import scaled_dot_product_attention
from softlookup.model.parts.linear_attention import linear_attention
from softlookup.model.parts.masks import window_mask

WAYS = ("full", "tiled", "torch", "local", "linear")
"""The square written out; tiles of keys; torch's own; a window; linear attention."""


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run on a CPU."""

    lengths: tuple[int, ...] = (256, 512, 1024, 2048, 4096, 8192)
    heads: int = 4
    head_width: int = 32
    window: int = 128
    block: int = 512
    calls: int = 3
    most_bytes: int = 10**9


_QUICK = _Plan(lengths=(16, 64), window=8, block=16, calls=1)
_CUDA = _Plan(lengths=(512, 1024, 2048, 4096, 8192, 16384, 32768), most_bytes=50 * 10**9, calls=9)


@dataclass(frozen=True)
class LongAttentionResult:
    """Seconds and bytes by way and length, None where it did not fit; ``apart`` is a largest difference by way."""

    ratio: float
    ratio_of: str
    lengths: tuple[int, ...]
    seconds: dict[str, list[float | None]]
    bytes: dict[str, list[int | None]]
    apart: dict[str, float]
    heads: int
    head_width: int
    window: int
    block: int
    calls: int
    dtype: str
    threads: int


def ways_of(plan: _Plan) -> dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]]:
    """What is compared: each from queries, keys and values (1, N, T, H) to outputs of the same shape."""
    return {
        "full": _written_out,
        "tiled": lambda q, k, v: _tiled(q, k, v, plan.block),
        "torch": torch.nn.functional.scaled_dot_product_attention,
        "local": lambda q, k, v: _local(q, k, v, plan.window),
        "linear": lambda q, k, v: linear_attention(q, k, v),
    }


def _written_out(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention as in the formula, with the whole square of weights in memory."""
    return torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v


def _tiled(q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
    """Attention a tile of keys at a time: each query keeps its largest score, a sum, and the values mixed so far."""
    largest = q.new_full((*q.shape[:-1], 1), -math.inf)
    total, mixed = torch.zeros_like(largest), torch.zeros_like(q)
    for k_tile, v_tile in zip(k.split(block, dim=-2), v.split(block, dim=-2), strict=True):
        scores = q @ k_tile.mT / math.sqrt(q.shape[-1])
        level = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        raised, shrink = torch.exp(scores - level), torch.exp(largest - level)
        total = total * shrink + raised.sum(dim=-1, keepdim=True)
        mixed = mixed * shrink + raised @ v_tile
        largest = level
    return mixed / total


def _local(q: Tensor, k: Tensor, v: Tensor, width: int) -> Tensor:
    """Attention to the last keys, in blocks as wide as the window: each sees itself and the block before it."""
    length = q.shape[-2]
    n_blocks = -(-length // width)
    filled = n_blocks * width - length
    blocks = F.pad(q, (0, 0, 0, filled)).unflatten(-2, (n_blocks, width))
    k, v = (F.pad(x, (0, 0, width, filled)).unfold(-2, 2 * width, width).mT for x in (k, v))
    query = torch.arange(n_blocks * width, device=q.device).view(n_blocks, width, 1)
    key = query[:, :1] + torch.arange(2 * width, device=q.device) - width
    near = (query - key >= 0) & (query - key < width) & (key >= 0)
    return scaled_dot_product_attention(blocks, k, v, near[None, None]).flatten(-3, -2)[..., :length, :]


@benchmark("long-attention", _Plan(), quick=_QUICK, cuda=_CUDA)
@torch.no_grad()
def bench_long(plan: _Plan, *, device: str = "cpu") -> LongAttentionResult:
    """Measure time and memory of one call of each kind of attention, at growing lengths.

    ``seconds`` and ``bytes`` hold a number for each way and length, None where it would not fit; ``apart`` the largest
    difference between ways that must agree. ``ratio`` is the time of full attention over that of linear attention at
    the longest text that both were given.
    """
    with one_thread():
        return _measured(plan, device)


def _measured(plan: _Plan, device: str) -> LongAttentionResult:
    torch.manual_seed(0)
    seconds: dict[str, list[float | None]] = {way: [] for way in WAYS}
    peak_bytes: dict[str, list[int | None]] = {way: [] for way in WAYS}
    for length in plan.lengths:
        q, k, v = (torch.randn(1, plan.heads, length, plan.head_width, device=device) for _ in range(3))
        for way, run in ways_of(plan).items():
            # The square is there twice: scores and weights.
            if way == "full" and 2 * 4 * plan.heads * length**2 > plan.most_bytes:
                seconds[way].append(None)
                peak_bytes[way].append(None)
                continue
            # The first call is not timed: it warms up.
            peak_bytes[way].append(_held_bytes(partial(run, q, k, v), device))
            seconds[way].append(_median_s(partial(run, q, k, v), plan.calls, device))
    both = [i for i, time_s in enumerate(seconds["full"]) if time_s is not None][-1]
    full_s, linear_s = seconds["full"][both], seconds["linear"][both]
    assert full_s is not None and linear_s is not None
    return LongAttentionResult(
        ratio=full_s / linear_s,
        ratio_of=f"time of full / linear attention, {plan.lengths[both]} tokens",
        lengths=plan.lengths,
        seconds=seconds,
        bytes=peak_bytes,
        apart=_apart(plan, device),
        heads=plan.heads,
        head_width=plan.head_width,
        window=plan.window,
        block=plan.block,
        calls=plan.calls,
        dtype="float32",
        threads=torch.get_num_threads(),
    )


def _apart(plan: _Plan, device: str) -> dict[str, float]:
    """Largest differences, in float64: tiles and torch's own from the square, a window from the square with a mask.

    Linear attention stands beside them: it is another attention, and its difference is no rounding.
    """
    length = min(1000, plan.lengths[-1])
    q, k, v = (
        torch.randn(1, plan.heads, length, plan.head_width, device=device, dtype=torch.float64) for _ in range(3)
    )
    whole = _written_out(q, k, v)
    near = window_mask(length, plan.window).to(device)
    ways = ways_of(plan)
    return {
        "tiled": float((ways["tiled"](q, k, v) - whole).abs().max()),
        "torch": float((ways["torch"](q, k, v) - whole).abs().max()),
        "local": float((ways["local"](q, k, v) - scaled_dot_product_attention(q, k, v, near)).abs().max()),
        "linear": float((ways["linear"](q, k, v) - whole).abs().max()),
    }


def _median_s(call: Callable[[], Tensor], calls: int, device: str) -> float:
    # On a CPU the time of the processor, so that what else the machine does counts for less.
    now = time.perf_counter if device == "cuda" else time.process_time
    took = []
    for _ in range(calls):
        _wait(device)
        begun_s = now()
        call()
        _wait(device)
        took.append(now() - begun_s)
    return median(took)


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def _held_bytes(call: Callable[[], Tensor], device: str) -> int | None:
    """Say how much memory a call held at most, beyond what was there before; None where the system does not tell."""
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        call()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before
    status, reset = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    try:
        reset.write_text("5", encoding="ascii")  # the most that was held begins anew
    except OSError:
        return None
    before = _kilobytes(status, "VmRSS")
    call()
    return max(0, _kilobytes(status, "VmHWM") - before) * 1024


def _kilobytes(status: Path, name: str) -> int:
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith(name + ":"))
    return int(line.split()[1])
