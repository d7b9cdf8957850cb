"""What a batch gains in a dense layer and in self-attention: ``softlookup bench batching``.

The lecture's sizes, h = 4096 with s = 50 and s = 1000, when a prompt is read (the initial stage) and when one token is
written after s others (the auto-regressive stage). The dense layer is one matrix (4096, 4096); attention is scores and
mixing in 32 heads of width 128, one after the other, the scores written in between. Predictions are made with the roof
as it was in the same moment.
"""

import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.clock import last_cache_bytes, machine_words, note
from benchmarks.harness import benchmark, one_thread
from benchmarks.roofline import _against_roof, _Clock, quartiles
from benchmarks.roofline_points import PRODUCT, Point, gpu_stream_points, product_point, stream_points
from softlookup.roofline.operations import total
from softlookup.roofline.sizes import TransformerSizes

INITIAL, WRITING = "initial", "auto-regressive"


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run on a CPU."""

    width: int = 4096
    heads: int = 32
    lengths: tuple[int, ...] = (50, 1000)
    initial: tuple[tuple[int, ...], ...] = ((1, 2, 4, 8, 16), (1, 2))
    writing: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    writing_attention: tuple[tuple[int, ...], ...] = ((1, 4, 16, 64, 256), (1, 2, 4, 8, 16))
    dtype: str = "float32"
    roof_size: int = 1536
    n: int = 1 << 25
    rounds: int = 5
    least_s: float = 0.02
    cached_too: bool = False  # whether points that fit into a cache count in the error


_QUICK = _Plan(
    64,
    2,
    (5, 20),
    ((1, 2), (1,)),
    (1, 4),
    ((1, 2), (1, 2)),
    roof_size=48,
    n=1 << 14,
    rounds=2,
    least_s=0.0,
    cached_too=True,
)
_GPU = _Plan(
    initial=((1, 2, 4, 8, 16, 32, 64), (1, 2, 4, 8, 16)),
    writing=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
    writing_attention=((1, 4, 16, 64, 256, 1024), (1, 4, 16, 64, 256)),
    dtype="bfloat16",
    roof_size=8192,
    n=1 << 28,
)


@dataclass(frozen=True)
class BatchPoint:
    """A part of the model at one batch size.

    Attributes:
        part: "dense" or "attention".
        stage: "initial" or "auto-regressive".
        s: Tokens that there are.
        batch: Sequences side by side.
        flops: Its operations.
        bytes: What it moves.
        intensity: Operations for each byte.
        predicted_s: Seconds by the roof.
        measured_s: Seconds by the clock.
        ratio: The median of measured over predicted seconds.
        ratio_low: Its lower quartile.
        ratio_high: Its upper quartile.
        cached: Whether its bytes fit into the last cache.
    """

    part: str
    stage: str
    s: int
    batch: int
    flops: float
    bytes: float
    intensity: float
    predicted_s: float
    measured_s: float
    ratio: float
    ratio_low: float
    ratio_high: float
    cached: bool


@dataclass(frozen=True)
class Gain:
    """How many times more operations a second a part reaches with the largest batch than with the smallest.

    Attributes:
        part: "dense" or "attention".
        stage: "initial" or "auto-regressive".
        s: Tokens that there are.
        gain: The ratio of operations a second.
        batches: The ratio of batch sizes.
    """

    part: str
    stage: str
    s: int
    gain: float
    batches: float


@benchmark("batching", _Plan(), quick=_QUICK, cuda=_GPU)
def bench_batching(plan: _Plan, *, device: str = "cpu") -> dict[str, Any]:
    """Time a dense layer and self-attention over batch sizes, beside what the roof predicts.

    On "cpu" (one thread, float32) or a CUDA device (bfloat16); torch's own RuntimeError if there is no such device.
    ``points`` holds each ``BatchPoint`` and ``gains`` each ``Gain``; ``bandwidth`` and ``rate`` are the roof's.
    ``ratio`` is the gain of the dense layer when writing, over the one of attention at the longest s.
    """
    import torch

    gpu = torch.device(device).type != "cpu"
    begun_s = time.perf_counter()
    clock = _Clock((lambda: torch.cuda.synchronize(device)) if gpu else None, plan.least_s)
    rows, bandwidths, rates = [], [], []
    cache = None if gpu else last_cache_bytes()
    with one_thread():
        stream = (gpu_stream_points(plan.n, device) if gpu else stream_points(plan.n, plan.n))[0]
        roof = {plan.dtype: product_point((plan.roof_size,) * 3, plan.dtype, device)}
        for case in _cases(plan):
            point = _dense(plan, device, *case[1:]) if case[0] == "dense" else _attention(plan, device, *case[1:])
            (row,), widths, rates_by_dtype = _against_roof(clock, plan.rounds, [point], stream, roof)
            bandwidths += widths
            rates += rates_by_dtype[plan.dtype]
            part, stage, s, batch = case
            names = ("flops", "bytes", "predicted_s", "measured_s", "ratio", "ratio_low", "ratio_high")
            timing = {name: getattr(row, name) for name in names}
            cached = bool(cache and point.n_bytes < cache)
            intensity = note(intensity=point.n_flops / point.n_bytes)
            rows.append(BatchPoint(part, stage, s, batch, **timing, **intensity, cached=cached))
            del point
    gains = _gains(rows)
    dense, attention = (
        next(gain.gain for gain in reversed(gains) if (gain.part, gain.stage) == (part, WRITING))
        for part in ("dense", "attention")
    )
    return {
        "ratio": float(f"{dense / attention:.4g}"),
        "ratio_of": "gain in operations a second from the smallest to the largest batch when writing, "
        "dense layer / attention",
        "machine": machine_words(device),
        "last_cache_bytes": cache,
        "dtype": plan.dtype,
        "width": plan.width,
        "heads": plan.heads,
        "bandwidth": quartiles(bandwidths),
        "rate": quartiles(rates),
        "points": rows,
        "gains": gains,
        "error": note(median=median(abs(row.ratio - 1) for row in rows if not row.cached or plan.cached_too)),
        "noise": note(points=clock.points, tries=clock.tries, disturbed=clock.disturbed),
        "rounds": plan.rounds,
        "seconds": round(time.perf_counter() - begun_s, 1),
    }


def _cases(plan: _Plan) -> list[tuple[str, str, int, int]]:
    """Part, stage, s and batch of every point."""
    cases = [("dense", WRITING, 1, batch) for batch in plan.writing]
    for s, batches in zip(plan.lengths, plan.initial, strict=True):
        cases += [(part, INITIAL, s, batch) for part in ("dense", "attention") for batch in batches]
    for s, batches in zip(plan.lengths, plan.writing_attention, strict=True):
        cases += [("attention", WRITING, s, batch) for batch in batches]
    return cases


def _dense(plan: _Plan, device: str, stage: str, s: int, batch: int) -> Point:
    rows = batch * (s if stage == INITIAL else 1)
    return product_point((rows, plan.width, plan.width), plan.dtype, device)


def _attention(plan: _Plan, device: str, stage: str, s: int, batch: int) -> Point:
    import torch

    from softlookup.roofline.layer_operations import Kernels

    kind: Any = getattr(torch, plan.dtype)
    h, t = plan.width // plan.heads, s if stage == INITIAL else 1
    q, k, v = (torch.randn(batch * plan.heads, n, h, device=device).to(kind) for n in (t, s, s))
    scores, mixed = (torch.empty(batch * plan.heads, t, n, device=device, dtype=kind) for n in (s, h))
    sizes = TransformerSizes("layer", D=plan.width, N=plan.heads, F=plan.width, V=1, L=1)
    steps = Kernels(sizes, batch, t, q.element_size()).attention(s, new_keys=0)
    counted = total(step for step in steps if step.name in ("scores", "mix"))
    turned = k.transpose(1, 2)

    def call() -> None:
        torch.bmm(q, turned, out=scores)
        torch.bmm(scores, v, out=mixed)

    touched = counted.bytes + (scores.nbytes + mixed.nbytes if device == "cpu" else 0)
    name = f"attention {stage}, s = {s}, B = {batch}"
    return Point(name, PRODUCT, plan.dtype, counted.product_flops, counted.bytes, touched, call)


def _gains(rows: list[BatchPoint]) -> list[Gain]:
    """How many times more operations a second the largest batch of each series reaches than the smallest."""
    series: dict[tuple[str, str, int], list[BatchPoint]] = {}
    for row in rows:
        series.setdefault((row.part, row.stage, row.s), []).append(row)
    made = []
    for (part, stage, s), points in series.items():
        first, last = ((row.flops / row.measured_s, row.batch) for row in (points[0], points[-1]))
        made.append(Gain(part, stage, s, **note(gain=last[0] / first[0], batches=last[1] // first[1])))
    return made
