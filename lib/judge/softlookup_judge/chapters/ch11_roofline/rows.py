"""The task that asks how many rows have to meet a matrix before operations are the limit."""

from fractions import Fraction

from softlookup_inside.asking.case import Case
from softlookup_judge.chapters.draws import Rng
from softlookup_judge.data.published import described


def _cases(rng: Rng) -> list[Case]:
    width = int(rng.integers(40, 90)) * 64
    rows = (
        (8, 8, 4, 1.0),
        (4096, 4096, 2, 161.25),
        (4096, 16384, 2, 153.0),
        (512, 2048, 2, 153.0),
        (256, 128, 4, 9.5),
        (64, 64, 2, 161.25),
        (width, 3 * width, 1, 300.5),
        (1024, 1024, 2, 509.5),
        (512, 2048, 2, 0.5),
        (2, 2, 1, 1.89),
        (2, 2, 1, 2.0),
        (2, 2, 1, 2.125),
    )
    return [Case(f"(D, F, bytes, ridge) = {row}", row, frame="plain") for row in rows]


def _oracle(d: int, f: int, bytes_per_number: int, ridge: float) -> int:
    """Found by trying, in exact fractions: doubling until it is enough, then halving the distance."""
    edge = Fraction(ridge)

    def enough(t: int) -> bool:
        return Fraction(2 * t * d * f, (t * d + d * f + t * f) * bytes_per_number) >= edge

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


ROWS = described("11.rows", cases=_cases, oracle=_oracle, frame="plain")
