"""Tasks on batches: who gains from one, and from which size on."""

from fractions import Fraction

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.ch12_counting.counts import meta, plain, product_flops
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _decode_cases(rng: Rng) -> list[Case]:
    drawn = tuple(int(rng.integers(low, low + 20)) for low in (2, 30, 60, 90))
    return plain(
        "B, S, D, F, N, K, H, bytes_per_number",
        (1, 1000, 4096, 11008, 32, 32, 128, 2),
        (64, 1000, 4096, 11008, 32, 32, 128, 2),
        (64, 1000, 4096, 14336, 32, 8, 128, 2),
        (3, 7, 5, 11, 6, 2, 4, 1),
        (*drawn, 6, 3, 8, 4),
    )


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

    def intensity(count: int, left: tuple[int, ...], right: tuple[int, ...], out: tuple[int, ...]) -> float:
        moved = sum(meta(*shape, size=bytes_per_number).nbytes for shape in (left, right, out))
        return count * product_flops((left, right)) / (count * moved)

    group = n_heads // n_kv_heads
    return intensity(1, (batch, d_model), (d_model, d_hidden), (batch, d_hidden)), intensity(
        batch * n_kv_heads, (group, head_width), (head_width, context), (group, context)
    )


DECODE = described("12.decode", cases=_decode_cases, oracle=_decode, frame="plain")


def _ridge_cases(rng: Rng) -> list[Case]:
    t = int(rng.integers(2, 9))
    return plain(
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


def _ridge(n_tokens: int, d_model: int, d_hidden: int, bytes_per_number: int, ridge: float) -> int:
    """Doubled until it is enough, then closed in from both sides; in fractions, since ties count."""
    exact = Fraction(ridge)

    def enough(batch: int) -> bool:
        rows = batch * n_tokens
        return 2 * rows * d_model * d_hidden >= exact * bytes_per_number * (
            rows * d_model + d_model * d_hidden + rows * d_hidden
        )

    high = 1
    while not enough(high):
        high *= 2
        if high > 1 << 60:
            return 0
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


RIDGE = described("12.ridge", cases=_ridge_cases, oracle=_ridge, frame="plain")
