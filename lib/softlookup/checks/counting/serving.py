"""Tasks on a model that writes: what fits in memory, and how fast a step can be."""

from softlookup.checks.counting.page import PAGE, meta, plain
from softlookup.checks.counting.products import shared
from softlookup.checks.draws import Rng
from softlookup.checks.known import known
from softlookup.checks.task import Case, Task


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
    one = n_layers * 2 * meta(n_kv_heads, context, head_width, size=size).nbytes
    room = memory * 10**9 - meta(n_parameters, size=size).nbytes
    held, step = 0, 1 << 40
    while step:
        if (held + step) * one <= room:
            held += step
        step >>= 1
    return held


EACH = "each = 2 * size * n_layers * n_kv_heads * head_width * context"
FREE = "free = memory * 10**9 - size * n_parameters"
LAST = "return max(0, int(free // each))"

CACHE = Task(
    id="12.cache",
    name="largest_batch",
    title="How many fit",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="counting-cache",
    returns=("sequences",),
    cases=_fit_cases,
    oracle=_fit,
    frame="plain",
    variants=({"kind": "half precision, two bytes", "size": 2}, {"kind": "float32, four bytes", "size": 4}),
    mistakes=(
        known(
            "query-heads",
            (EACH, EACH.replace("n_kv_heads", "n_heads")),
            says="The cache is sized by the query heads: it keeps keys and values, of which there are K heads.",
            number=83,
        ),
        known(
            "keys-alone",
            (EACH, EACH.replace("2 * size", "size")),
            says="Only keys are counted: values are kept as well.",
        ),
        known(
            "elements-for-bytes",
            (EACH, EACH.replace("size * ", "")),
            (FREE, FREE.replace("size * ", "")),
            says="Numbers are counted as if each were a byte: each takes two or four.",
            number=80,
        ),
        known(
            "weights-one-byte",
            (FREE, FREE.replace("size * ", "")),
            says="The weights are counted with one byte each: each takes two or four.",
            number=80,
        ),
        known(
            "wrong-giga",
            ("10**9", "2**30"),
            says="GB are read as GiB: a GB is 10^9 bytes, a GiB 2^30, seven percent more.",
        ),
        known("weights-forgotten", (FREE, "free = memory * 10**9"), says="The weights lie in the same memory."),
        known(
            "layers-forgotten",
            (" * n_layers", ""),
            says="One layer's keys and values are counted: every layer has its own.",
        ),
        known(
            "one-token",
            (" * context", ""),
            says="The keys and values of one token are counted: S tokens are kept.",
        ),
        known(
            "fraction",
            (LAST, "return max(0, free / each)"),
            says="This is no whole number: part of a sequence is none.",
        ),
        known(
            "to-the-nearest",
            (LAST, "return max(0, round(free / each))"),
            says="The number is rounded to the nearest: the last sequence has to fit as a whole.",
        ),
        known(
            "byte-to-spare",
            (LAST, "return max(0, int((free - 1) // each))"),
            says="Where the last sequence fits to the byte, it is left out: it fits.",
        ),
        known(
            "one-at-least",
            (LAST, LAST.replace("max(0,", "max(1,")),
            says="One sequence is promised where not even one fits: then it is 0.",
        ),
        known(
            "rounded-up",
            (LAST, "return max(0, -int(-free // each))"),
            says="The number is rounded up: the last sequence does not fit as a whole.",
        ),
        known(
            "below-zero",
            (LAST, "return int(free // each)"),
            says="The result is below zero where the weights alone do not fit: then it is 0.",
        ),
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
        (int(rng.integers(2, 30)), 10**9, int(rng.integers(10**6, 10**8)), 3 * 10**9, 50.0, float(rng.integers(1, 4))),
    )


def _step(
    batch: int, weight_bytes: int, cache_bytes: int, token_flops: int, gb_per_s: float, tflop_per_s: float
) -> tuple[float, float]:
    """From the attainable rate: the smaller of peak and bandwidth times intensity."""
    flops, moved = batch * token_flops, weight_bytes + batch * cache_bytes
    attainable = min(tflop_per_s * 1e12, gb_per_s * 1e9 * (flops / moved))
    return flops / attainable, attainable / token_flops


MOVING = "moving_s = (weight_bytes + batch * cache_bytes) / (gb_per_s * 1e9)"

STEP = Task(
    id="12.step",
    name="decode_step",
    title="The least time of a step",
    points=3,
    minutes=8,
    difficulty=2,
    page=PAGE,
    anchor="counting-step",
    returns=("seconds", "tokens a second"),
    cases=_step_cases,
    oracle=_step,
    frame="plain",
    mistakes=(
        known(
            "one-after-the-other",
            ("max(moving_s, computing_s)", "moving_s + computing_s"),
            says="The two times are added: moving and computing go on at once, and the longer one decides.",
        ),
        known(
            "smaller-of-both",
            ("max(", "min("),
            says="The shorter time is taken: neither can be undercut, so the longer one decides.",
        ),
        known(
            "moving-alone",
            ("max(moving_s, computing_s)", "moving_s"),
            says="Only the bytes are looked at: with a large batch it is the operations that take longer.",
        ),
        known(
            "computing-alone",
            ("max(moving_s, computing_s)", "computing_s"),
            says="Only the operations are looked at: with a small batch it is the bytes that take longer.",
        ),
        shared(
            "pair-swapped",
            ("return step_s, batch / step_s", "return batch / step_s, step_s"),
            says="The two numbers have changed places: the seconds come first.",
        ),
        known(
            "weights-forgotten",
            ("(weight_bytes + batch * cache_bytes)", "(batch * cache_bytes)"),
            says="The weights are missing: each step reads them once.",
        ),
        known(
            "weights-for-each",
            ("(weight_bytes + batch *", "(batch * weight_bytes + batch *"),
            says="The weights are read once for each sequence: the batch shares them.",
            number=84,
        ),
        known(
            "one-cache",
            ("batch * cache_bytes", "cache_bytes"),
            says="One cache is read for the whole batch: each sequence has its own, and nobody else can use it.",
            number=84,
        ),
        known(
            "cache-forgotten", (" + batch * cache_bytes", ""), says="The caches are missing: each step reads them all."
        ),
        known(
            "one-token-computed",
            ("computing_s = batch *", "computing_s ="),
            says="The operations of one token are counted: there is one for each sequence.",
        ),
        known(
            "one-sequence",
            ("batch / step_s", "1 / step_s"),
            says="The tokens of one sequence are counted: each step writes one for every sequence.",
        ),
        known("bits", (MOVING, MOVING.replace("(gb_per_s", "(gb_per_s / 8")), says="GB/s are gigabytes, not gigabits."),
        known(
            "wrong-giga",
            ("1e9", "2**30"),
            says="GB/s is read as GiB/s: a data sheet's GB are 10^9 bytes.",
        ),
        known(
            "giga-for-tera",
            ("1e12", "1e9"),
            says="The peak is read as GFLOP/s: a TFLOP/s is 10^12 operations a second.",
        ),
    ),
)
