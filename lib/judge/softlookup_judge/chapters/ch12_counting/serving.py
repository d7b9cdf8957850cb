"""Tasks on a model that writes: what fits in memory, how fast a step is, and which batch pays."""

from fractions import Fraction

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.cases import graded, sized
from softlookup_judge.chapters.ch12_counting.counts import meta, product_flops
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.chapters.oracles import least_enough


def _fit_cases(rng: Rng, number_format: str, size: int) -> list[Case]:
    return sized(
        "memory, parameters, L, N, K, H, S",
        (80, 6_738_415_616, 32, 32, 32, 128, 4096),
        (80, 8_030_261_248, 32, 32, 8, 128, 8000),
        (80, 68_976_648_192, 80, 64, 8, 128, 4096),
        (24, 6_738_415_616, 32, 32, 32, 128, 2048),
        (80, 7_000_000_000, 20, 32, 8, 125, 500),  # the last sequence fits to the byte
        (40, 7_000_000_000, 24, 32, 4, 64, int(rng.integers(300, 900))),
        (int(rng.integers(5, 9)), 10**9, 16, 12, 4, 64, int(rng.integers(200, 400))),
    )


@graded(
    "12.cache",
    _fit_cases,
    frame="plain",
    variants=(
        {"number_format": "half precision, two bytes", "size": 2},
        {"number_format": "float32, four bytes", "size": 4},
        {"number_format": "FP8, one byte", "size": 1},
        {"number_format": "float64, eight bytes", "size": 8},
    ),
)
def _fit(
    memory: int,
    n_parameters: int,
    n_layers: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    context: int,
    number_format: str,
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


def _step_cases(rng: Rng) -> list[Case]:
    return sized(
        "B, weight bytes, cache bytes, operations for a token, GB/s, TFLOP/s",
        (1, 13_476_831_232, 524_288_000, 13_738_442_752, 2039.0, 312.0),
        (64, 13_476_831_232, 524_288_000, 13_738_442_752, 2039.0, 312.0),
        (512, 13_476_831_232, 10_000_000, 13_738_442_752, 2039.0, 312.0),
        (1000, 2_000_000, 3, 10**6, 100.0, 0.05),
        (4, 10**6, 10, 10**9, 100.0, 0.5),
        (8, 10**9, 10**8, 10**9, 900.0, 100.0),
        (int(rng.integers(2, 30)), 10**9, int(rng.integers(10**6, 10**8)), 3 * 10**9, 50.0, float(rng.integers(1, 4))),
    )


@graded("12.step", _step_cases, frame="plain")
def _step(
    batch: int, weight_bytes: int, cache_bytes: int, token_flops: int, gb_per_s: float, tflop_per_s: float
) -> tuple[float, float]:
    """From the attainable rate: the smaller of peak and bandwidth times intensity."""
    flops, moved = batch * token_flops, weight_bytes + batch * cache_bytes
    attainable = min(tflop_per_s * 1e12, gb_per_s * 1e9 * (flops / moved))
    return flops / attainable, attainable / token_flops


def _decode_cases(rng: Rng) -> list[Case]:
    random_sizes = tuple(int(rng.integers(low, low + 20)) for low in (2, 30, 60, 90))
    return sized(
        "B, S, D, F, N, K, H, bytes_per_number",
        (1, 1000, 4096, 11008, 32, 32, 128, 2),
        (64, 1000, 4096, 11008, 32, 32, 128, 2),
        (64, 1000, 4096, 14336, 32, 8, 128, 2),
        (3, 7, 5, 11, 6, 2, 4, 1),
        (*random_sizes, 6, 3, 8, 4),
    )


@graded("12.decode", _decode_cases, frame="plain")
def _decode(
    batch: int,
    context: int,
    d_model: int,
    d_hidden: int,
    n_heads: int,
    n_kv_heads: int,
    head_width: int,
    bytes_per_number: int,
) -> tuple[float, float]:
    """One sequence and one shared head after the other: from the shapes of tensors."""

    def intensity(count: int, a: tuple[int, ...], b: tuple[int, ...], out: tuple[int, ...]) -> float:
        moved = sum(meta(*shape, size=bytes_per_number).nbytes for shape in (a, b, out))
        return count * product_flops((a, b)) / (count * moved)

    group = n_heads // n_kv_heads
    return intensity(1, (batch, d_model), (d_model, d_hidden), (batch, d_hidden)), intensity(
        batch * n_kv_heads, (group, head_width), (head_width, context), (group, context)
    )


def _ridge_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(2, 9))
    return sized(
        "T, D, F, bytes_per_number, ridge",
        (1, 4096, 4096, 2, 153.01),
        (50, 4096, 4096, 2, 153.01),
        (100, 4096, 11008, 2, 161.24),
        (1, 4096, 11008, 4, 20.13),
        (1, 128, 128, 2, 161.24),
        (t, int(rng.integers(500, 900)), 1000, 2, 30.07),
        (3, 40, 50, 1, 38.52),
        (1000, 4096, 4096, 2, 153.01),  # one sequence is enough
        (4, 64, 64, 2, 16.0),  # 8 sequences lie on the ridge itself
        (1, 64, 64, 2, 32.0),  # which no batch reaches, though every larger one comes nearer
        (1, 64, 64, 2, 31.87),
    )


@graded("12.ridge", _ridge_cases, frame="plain")
def _ridge(n_tokens: int, d_model: int, d_hidden: int, bytes_per_number: int, ridge: float) -> int:
    """By trying, in exact fractions, since ties count."""
    exact = Fraction(ridge)

    def enough(batch: int) -> bool:
        rows = batch * n_tokens
        return 2 * rows * d_model * d_hidden >= exact * bytes_per_number * (
            rows * d_model + d_model * d_hidden + rows * d_hidden
        )

    return least_enough(enough)
