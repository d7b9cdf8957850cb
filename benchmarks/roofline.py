"""This machine's roof, and how well it predicts: ``softlookup bench roofline``.

A point's prediction is made with the roof as it was in the same moment: the roof's stream and the large product are
timed right before and after it, in every round. What is kept is the median over the rounds, with quartiles.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any
from weakref import WeakKeyDictionary

from benchmarks import compiled
from benchmarks.clock import (
    Timed,
    last_cache_bytes,
    machine_words,
    memory_bytes,
    note,
    spread,
    stolen_s,
    timed,
)
from benchmarks.harness import benchmark, one_thread
from benchmarks.roofline_left_out import left_out
from benchmarks.roofline_points import (
    QUICK_SHAPES,
    SHAPES,
    Point,
    gpu_stream_points,
    product_point,
    stream_points,
)
from benchmarks.ways import operands, ways
from softlookup.roofline.launch import LaunchFit, fit_launch
from softlookup.roofline.streams import CHAIN, FUSED, TORCH_TWO, Stream


@dataclass(frozen=True)
class _Plan:
    """The sizes of a bench; the defaults are those of the whole run on a CPU."""

    n: int = 1 << 25
    longer: int = 3 << 24
    shapes: tuple[tuple[int, int, int], ...] = SHAPES
    roof_size: int = 1536
    dtypes: tuple[str, ...] = ("float32", "float64")
    slow_dtypes: tuple[str, ...] = ("bfloat16", "float16", "int8")
    slow_size: int = 384
    rounds: int = 9
    least_s: float = 0.02


_QUICK = _Plan(1 << 14, 1 << 15, QUICK_SHAPES, 48, slow_size=16, rounds=2, least_s=0.0)
_GPU = _Plan(n=1 << 28, roof_size=8192, dtypes=("float32", "tf32", "bfloat16", "float16"), slow_dtypes=())
_GPU_QUICK = _Plan(1 << 20, 1 << 20, QUICK_SHAPES, 256, _GPU.dtypes, (), 16, 2, 0.0)


@dataclass
class _Clock:
    """Times calls on one device, and keeps count of what was disturbed."""

    wait: Callable[[], object] | None
    least_s: float = 0.0
    tries: int = 0
    points: int = 0
    disturbed: int = 0
    repeats: WeakKeyDictionary[Callable[[], object], int] = field(default_factory=WeakKeyDictionary)

    def __call__(self, call: Callable[[], object]) -> float:
        known = self.repeats.get(call)
        if known is None:  # once for warmth, once for length
            call()
            once: Timed = timed(call, wait=self.wait)
            known = self.repeats[call] = max(1, round(self.least_s / max(once.seconds, 1e-7)))
        timing = timed(call, repeats=known, wait=self.wait)
        self.points += 1
        self.tries += timing.tries
        self.disturbed += not timing.quiet
        return timing.seconds


@dataclass(frozen=True)
class Quartiles:
    """What ``n`` values spread over."""

    median: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class PassTimes(Quartiles):
    """Seconds of one way to compute E, and the bytes that it moves."""

    bytes: int


@dataclass(frozen=True)
class PredictedPoint:
    """A stream or product: seconds predicted and measured, and the quotient measured / predicted."""

    name: str
    kind: str
    dtype: str
    flops: int
    bytes: int
    predicted_s: float
    measured_s: float
    ratio: float
    ratio_low: float
    ratio_high: float
    touched_ratio: float


@dataclass(frozen=True)
class StreamErrors:
    """How far measured times of streams lie from predicted ones, by bytes moved and by bytes touched."""

    median: float
    touched: float
    n: int


@dataclass(frozen=True)
class ProductErrors:
    """The same of products."""

    median: float
    n: int


@dataclass(frozen=True)
class PredictionErrors:
    """Medians over the grid, as fractions of the predicted time."""

    streams: StreamErrors
    products: ProductErrors


@dataclass(frozen=True)
class ClockNoise:
    """How many points were timed, in how many tries, how many of these were disturbed, and stolen seconds."""

    points: int
    tries: int
    disturbed: int
    stolen_s: float | None


@dataclass(frozen=True)
class RooflineResult:
    """The roof in bytes/s and FLOP/s, points beside their predictions, three passes against one, what is left out."""

    ratio: float
    ratio_of: str
    machine: str
    memory_bytes: int | None
    last_cache_bytes: int | None
    stream_over_cache: float | None
    compiler: str
    bandwidth: Quartiles
    rates: dict[str, Quartiles]
    points: list[PredictedPoint]
    errors: PredictionErrors
    launch: LaunchFit
    fused: dict[str, dict[str, Quartiles]]
    left_out: dict[str, Any]
    noise: ClockNoise
    rounds: int
    seconds: float


@benchmark("roofline", _Plan(), quick=_QUICK, cuda=_GPU, cuda_quick=_GPU_QUICK)
def bench_roofline(plan: _Plan, *, device: str = "cpu") -> RooflineResult:
    """Measure this machine's roof, three passes against one, and a grid of streams and products beside predictions.

    On "cpu" (one thread) or a CUDA device; if there is none such it is a ValueError, "there is no device cuda here;
    wanted cpu".

    ``bandwidth`` (bytes/s, of the stream a + 3 b) and ``rates`` (FLOP/s of a large product, by kind of number) with
    median and quartiles; ``points`` with predicted and measured seconds and the ratio of the two, median and quartiles
    over the rounds; ``errors``, the median over the grid of how far measured lies from predicted; ``launch``, the time
    to start an operation, fitted to half of the points and judged by the others; ``fused``, times of E = D + (A + B) *
    C in passes and in one; ``left_out``, an example of each thing that the roof does not know. ``ratio`` is how much
    quicker one pass was than three, in compiled code (in numpy where there is no compiler).
    """
    import torch

    gpu = device != "cpu"
    if gpu and not (device.split(":")[0] == "cuda" and torch.cuda.is_available()):
        raise ValueError(f"there is no device {device} here; wanted cpu{' or cuda' * torch.cuda.is_available()}")
    begun_s, stolen_before = time.perf_counter(), stolen_s()

    def wait() -> None:
        torch.cuda.synchronize(device)

    clock = _Clock(wait if gpu else None, plan.least_s)
    with one_thread():
        if gpu:
            roof_stream, streams = gpu_stream_points(plan.n, device)
        else:
            roof_stream, streams = stream_points(plan.n, plan.longer)
        square = (plan.roof_size,) * 3
        roofs = {dtype: product_point(square, dtype, device) for dtype in plan.dtypes}
        products = [product_point(shape, dtype, device) for dtype in plan.dtypes for shape in plan.shapes]
        stream_rows, bandwidths, _ = _against_roof(clock, plan.rounds, streams, roof_stream, {})
        product_rows, more, rates = _against_roof(clock, plan.rounds, products, roof_stream, roofs)
        least = min(point.n_bytes for point in streams)
        del streams, products
        for dtype in plan.slow_dtypes:
            rate = _slow_rate(clock, plan, dtype)
            if rate is not None:
                rates[dtype] = rate
        fused = {} if gpu else _fused(clock, plan)
        aside = {} if gpu else left_out(clock, quick=plan is _QUICK)
    stolen_after = stolen_s()
    cache = None if gpu else last_cache_bytes()
    headline = fused.get("C") or fused.get("numpy")
    stream_errors = note(median=_error(stream_rows), touched=_error(stream_rows, "touched_ratio"))
    product_errors = note(median=_error(product_rows))
    lost_s = None if stolen_after is None or stolen_before is None else stolen_after - stolen_before
    return RooflineResult(
        ratio=headline["gain"].median if headline else _error(product_rows),
        ratio_of="time of three passes / of one" if headline else "median error of predicted times of products",
        machine=machine_words(device),
        memory_bytes=torch.cuda.get_device_properties(device).total_memory if gpu else memory_bytes(),
        last_cache_bytes=cache,
        stream_over_cache=None if not cache else round(least / cache, 2),
        compiler="a GPU needs none here" if gpu else _compiler_words(),
        bandwidth=quartiles(bandwidths + more),
        rates={dtype: quartiles(values) for dtype, values in rates.items()},
        points=[*stream_rows, *product_rows],
        errors=PredictionErrors(
            StreamErrors(**stream_errors, n=len(stream_rows)), ProductErrors(**product_errors, n=len(product_rows))
        ),
        launch=_launch([*stream_rows, *product_rows]),
        fused=fused,
        left_out=aside,
        noise=ClockNoise(**note(points=clock.points, tries=clock.tries, disturbed=clock.disturbed, stolen_s=lost_s)),
        rounds=plan.rounds,
        seconds=round(time.perf_counter() - begun_s, 1),
    )


def _launch(rows: list[PredictedPoint]) -> LaunchFit:
    fit = fit_launch([asdict(row) for row in rows])
    return LaunchFit(**note(**asdict(fit)))


def quartiles(values: list[float]) -> Quartiles:
    """The spread of values, rounded to four digits."""
    return Quartiles(**note(**spread(values)))


def _against_roof(
    clock: _Clock, rounds: int, points: list[Point], stream: Point, products: dict[str, Point]
) -> tuple[list[PredictedPoint], list[float], dict[str, list[float]]]:
    """Time every point in every round between two measurements of the roof, and predict it with their mean."""
    bandwidths: list[float] = []
    rates: dict[str, list[float]] = {dtype: [] for dtype in products}
    times: dict[str, list[tuple[float, float, float]]] = {point.name: [] for point in points}

    def roof(dtype: str) -> tuple[float, float]:
        bandwidth = stream.n_bytes / clock(stream.call)
        bandwidths.append(bandwidth)
        if dtype not in products:
            return bandwidth, float("inf")
        rate = products[dtype].n_flops / clock(products[dtype].call)
        rates[dtype].append(rate)
        return bandwidth, rate

    for _ in range(rounds):
        before = None
        for i, point in enumerate(points):
            if before is None or point.dtype != points[i - 1].dtype:
                before = roof(point.dtype)
            measured = clock(point.call)
            after = roof(point.dtype)
            bandwidth, rate = ((a + b) / 2 for a, b in zip(before, after, strict=True))
            work = point.n_flops / rate
            touched = point.touched_bytes / (bandwidth * stream.touched_bytes / stream.n_bytes)
            times[point.name].append((max(work, point.n_bytes / bandwidth), max(work, touched), measured))
            before = after
    return [_row(point, times[point.name]) for point in points], bandwidths, rates


def _row(point: Point, times: list[tuple[float, float, float]]) -> PredictedPoint:
    ratio = spread([measured / predicted for predicted, _, measured in times])
    numbers = note(
        flops=point.n_flops,
        bytes=point.n_bytes,
        predicted_s=median(predicted for predicted, _, _ in times),
        measured_s=median(measured for _, _, measured in times),
        ratio=ratio["median"],
        ratio_low=ratio["low"],
        ratio_high=ratio["high"],
        touched_ratio=median(measured / touched for _, touched, measured in times),
    )
    return PredictedPoint(point.name, point.kind, point.dtype, **numbers)


def _error(rows: list[PredictedPoint], field_name: str = "ratio") -> float:
    return float(median(abs(getattr(row, field_name) - 1) for row in rows))


def _slow_rate(clock: _Clock, plan: _Plan, dtype: str) -> list[float] | None:
    """The rate of a kind of number that this processor may have no unit for; None where torch has no product."""
    import torch

    size = (plan.slow_size,) * 3
    try:
        if dtype == "int8":
            left, right = (torch.randint(-9, 9, size[:2], dtype=torch.int8) for _ in range(2))
            call: Callable[[], object] = lambda: torch._int_mm(left, right)  # noqa: E731
            call()
        else:
            call = product_point(size, dtype).call
            call()
    except RuntimeError:
        return None
    return [2 * plan.slow_size**3 / clock(call) for _ in range(plan.rounds)]


def _fused(clock: _Clock, plan: _Plan) -> dict[str, dict[str, Quartiles]]:
    """Three passes and one in turn, in each way that there is, on the same arrays."""
    by_way: dict[str, dict[str, Quartiles]] = {}
    counted: dict[tuple[str, str], Stream] = {("torch", "fused"): TORCH_TWO}
    for way, calls in ways(operands(plan.n)).items():
        times: dict[str, list[float]] = {kind: [] for kind in calls}
        for _ in range(plan.rounds):
            for kind, call in calls.items():
                times[kind].append(clock(call))
        gains = [slow / quick for slow, quick in zip(times["chain"], times["fused"], strict=True)]
        by_way[way] = {"gain": quartiles(gains)}
        if "fused_around" in times:
            around = [slow / quick for slow, quick in zip(times["fused"], times["fused_around"], strict=True)]
            by_way[way]["around"] = quartiles(around)
        for kind, seconds in times.items():
            stream = counted.get((way, kind), CHAIN if kind == "chain" else FUSED)
            by_way[way][kind] = PassTimes(**note(**spread(seconds)), bytes=stream.n_bytes(plan.n))
    return by_way


def _compiler_words() -> str:
    try:
        compiled.loops()
    except compiled.NoCompiler as missing:
        return str(missing)
    return "found"
