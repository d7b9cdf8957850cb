"""Tasks on a model that writes: what fits in memory, and how fast a step can be."""

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch12_counting.counts import meta, plain
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _fit_cases(rng: Rng, kind: str, size: int) -> list[Case]:
    return plain(
        "memory, parameters, L, N, K, H, S",
        (80, 6_738_415_616, 32, 32, 32, 128, 4096),
        (80, 8_030_261_248, 32, 32, 8, 128, 8000),
        (80, 68_976_648_192, 80, 64, 8, 128, 4096),
        (24, 6_738_415_616, 32, 32, 32, 128, 2048),
        (80, 7_000_000_000, 20, 32, 8, 125, 500),  # the last sequence fits to the byte
        (40, 7_000_000_000, 24, 32, 4, 64, int(rng.integers(300, 900))),
        (int(rng.integers(5, 9)), 10**9, 16, 12, 4, 64, int(rng.integers(200, 400))),
    )


def _fit(
    memory: int,
    n_parameters: int,
    n_layers: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    context: int,
    kind: str,
    size: int,
) -> int:
    """Caches as torch would hold them, taken off one size after the other until nothing more fits."""
    cache_bytes = n_layers * 2 * meta(n_kv_heads, context, head_width, size=size).nbytes
    room = memory * 10**9 - meta(n_parameters, size=size).nbytes
    count, step = 0, 1 << 40
    while step:
        if (count + step) * cache_bytes <= room:
            count += step
        step >>= 1
    return count


CACHE = described(
    "12.cache",
    cases=_fit_cases,
    oracle=_fit,
    frame="plain",
    variants=(
        {"kind": "half precision, two bytes", "size": 2},
        {"kind": "float32, four bytes", "size": 4},
        {"kind": "FP8, one byte", "size": 1},
        {"kind": "float64, eight bytes", "size": 8},
    ),
)


def _step_cases(rng: Rng) -> list[Case]:
    return plain(
        "B, weight bytes, cache bytes, operations for a token, GB/s, TFLOP/s",
        (1, 13_476_831_232, 524_288_000, 13_738_442_752, 2039.0, 312.0),
        (64, 13_476_831_232, 524_288_000, 13_738_442_752, 2039.0, 312.0),
        (512, 13_476_831_232, 10_000_000, 13_738_442_752, 2039.0, 312.0),
        (1000, 2_000_000, 3, 10**6, 100.0, 0.05),
        (4, 10**6, 10, 10**9, 100.0, 0.5),
        (8, 10**9, 10**8, 10**9, 900.0, 100.0),
        (int(rng.integers(2, 30)), 10**9, int(rng.integers(10**6, 10**8)), 3 * 10**9, 50.0, float(rng.integers(1, 4))),
    )


def _step(
    batch: int, weight_bytes: int, cache_bytes: int, token_flops: int, gb_per_s: float, tflop_per_s: float
) -> tuple[float, float]:
    """From the attainable rate: the smaller of peak and bandwidth times intensity."""
    flops, moved = batch * token_flops, weight_bytes + batch * cache_bytes
    attainable = min(tflop_per_s * 1e12, gb_per_s * 1e9 * (flops / moved))
    return flops / attainable, attainable / token_flops


STEP = described("12.step", cases=_step_cases, oracle=_step, frame="plain")
